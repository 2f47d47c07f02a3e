// How a rule is learned:
//
//     best_rule   repeat
//                     rule = grow()
//                     if precision is required of finished rules and some labels of the rule fail:
//                         rule = grow() with only those labels, precision required of every candidate
//                         if there is none: set those labels aside, and again
//     grow        beam = the best of all bodies of at most one condition, each with its own best head
//     (CandidateSearch::first_pass)
//                     leave out groups of eight candidates without a precise label (UsableLabels) value the others eight at a
//                     time from the histogram; look at the promising ones exactly            (HeadFinder)
//                 while some rule of the beam gets better by one more condition:
//                     beam = the best of those (CandidateSearch::refine)
//                         the head stays as it is: a histogram of what the covered rows contribute to it (FixedHead) or is
//                         searched again: a histogram over the covered rows                                        (Histogram)
//
// Run::conquer then closes the pairs that the rule decides, and Histogram subtracts them.
#include "run.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace plurule {

std::pair<double, double> weight_decided(const State& state, const std::vector<Row>& rows, const Assignment& assigned) {
    double right = 0, wrong = 0;
    for (Row row : rows) {
        const std::uint8_t byte = state.byte(row, std::size_t(assigned.label));
        if (byte & (assigned.sign ? OPEN_PRESENT : OPEN_ABSENT)) right += state.weight(row);
        if (byte & (assigned.sign ? OPEN_ABSENT : OPEN_PRESENT)) wrong += state.weight(row);
    }
    return {right, wrong};
}

std::optional<GrowingRule> RuleGrower::best_rule() {
    while (std::optional<GrowingRule> best = grow()) {
        const std::vector<Assignment> failing = options_.when_finished ? failing_labels(*best) : std::vector<Assignment>();
        if (failing.empty()) return best;
        if (std::optional<GrowingRule> other = grow_with_only(failing)) return other;
        for (const Assignment& assigned : failing) state_.set_aside[std::size_t(assigned.label)] = 1;
    }
    return std::nullopt;
}

// The labels for which a finished rule does not stand: those of too low precision, where it is required of labels and there are
// some; or else all of its head. Empty where it stands.
std::vector<Assignment> RuleGrower::failing_labels(const GrowingRule& rule) const {
    const MinPrecision& required = options_.min_precision;
    std::vector<Assignment> failing;
    if (required.of_label)
        std::copy_if(rule.head.begin(), rule.head.end(), std::back_inserter(failing), [&](const Assignment& assigned) {
            const auto [right, wrong] = weight_decided(state_, rule.covered, assigned);
            return !required.met(right, wrong);
        });
    return failing.empty() && !required.met(rule.tp, rule.fp) ? rule.head : failing;
}

std::optional<GrowingRule> RuleGrower::grow_with_only(const std::vector<Assignment>& labels) {
    std::vector<std::uint8_t> others(state_.n_labels, 1);
    for (const Assignment& assigned : labels) others[std::size_t(assigned.label)] = 0;
    std::swap(others, state_.set_aside);
    const MinPrecision before = std::exchange(state_.required, options_.min_precision);
    std::optional<GrowingRule> found = grow();
    std::swap(others, state_.set_aside);
    state_.required = before;
    return found;
}

// By value, then TP, then fewer conditions; the first on a full tie.
static const GrowingRule& best_of(const GrowingRule& first, const std::vector<GrowingRule>& others) {
    double highest = first.value;
    for (const GrowingRule& rule : others) highest = std::max(highest, rule.value);
    const auto rank = [floor = floor_of_ties(highest)](const GrowingRule& rule) {
        return std::tuple(rule.value < floor, -rule.tp, rule.body.size());
    };
    const GrowingRule* best = &first;
    for (const GrowingRule& rule : others)
        if (rank(rule) < rank(*best)) best = &rule;
    return *best;
}

std::optional<GrowingRule> RuleGrower::grow() {
    std::vector<GrowingRule> beam = first_pass();
    if (beam.empty()) return std::nullopt;
    GrowingRule best = best_of(beam.front(), beam);
    while (!beam.empty()) {
        beam = refine(beam);
        best = best_of(best, beam);
    }
    best.fixed.reset();  // takes memory
    return best;
}

std::vector<GrowingRule> RuleGrower::first_pass() {
    search_.first_pass();
    std::vector<GrowingRule> beam = chosen(std::vector<GrowingRule>(1));
    if (!options_.fix_head) return beam;
    for (GrowingRule& rule : beam) rule.fixed = std::make_shared<FixedHead>(state_, options_, rule.head, rule.covered);
    return beam;
}

std::vector<GrowingRule> RuleGrower::refine(const std::vector<GrowingRule>& beam) {
    search_.begin_refining();
    for (std::size_t parent = 0; parent < beam.size(); ++parent)
        if (beam[parent].body.size() < options_.max_conditions) search_.refine(beam[parent], parent);
    return chosen(beam);
}

// The best of what all threads kept, as rules; no two the same.
std::vector<GrowingRule> RuleGrower::chosen(const std::vector<GrowingRule>& parents) {
    std::vector<Candidate> all = search_.found();
    std::vector<GrowingRule> rules;
    std::set<decltype(GrowingRule().identity(state_.columns))> seen;
    while (rules.size() < options_.beam_width && !all.empty()) {
        Candidate best = take_best(all);
        const GrowingRule& parent = parents[std::size_t(best.parent)];
        GrowingRule rule{{std::move(best.head), parent.body, best.value, best.tp, best.fp}, {}, parent.fixed};
        if (best.attribute != NO_ATTRIBUTE) rule.body.push_back({best.attribute, best.split});
        if (options_.beam_width > 1 && !seen.insert(rule.identity(state_.columns)).second) continue;
        rule.covered = best.attribute == NO_ATTRIBUTE ? state_.rows : covered_by(parent, rule.body.back());
        rules.push_back(std::move(rule));
    }
    return rules;
}

// The rows of a rule that also satisfy a condition.
std::vector<Row> RuleGrower::covered_by(const GrowingRule& parent, const Condition& condition) const {
    const std::size_t a = condition.attribute;
    const Attribute& attribute = state_.attribute(a);
    std::vector<Row> covered;
    const auto keep = [&](auto&& value_of_row) {
        for (Row row : parent.body.empty() ? state_.rows : parent.covered)
            if (const std::int32_t value = value_of_row(row);
                value < attribute.values && condition.split.covers(attribute.nominal, value))
                covered.push_back(row);
    };
    if (attribute.sparse()) {
        const std::vector<std::int32_t> values = state_.columns.sparse.values_of(a, state_.n_rows, attribute.usual);
        keep([&](Row row) { return values[row]; });
    } else {
        state_.with_codes(a, [&](const auto* codes) { keep([&](Row row) { return std::int32_t(codes[row]); }); });
    }
    return covered;
}

// --- separate and conquer

Run::Run(std::shared_ptr<const RankedColumns> columns, std::shared_ptr<const Target> target, Options options,
         const State::Start& start, std::size_t n_threads)
    : columns_(std::move(columns)),
      target_(std::move(target)),
      options_(std::move(options)),
      state_(*columns_, target_->labels.get(), target_->n_labels, target_->weights.empty() ? nullptr : target_->weights.data(),
             start),
      threads_(n_threads) {
    for (const auto* labels : {&state_.labels, &state_.removed})
        for (const LabelWeights& label : *labels) open_ += label.open;
    state_.required = options_.required_of_candidates();
    grower_ = std::make_unique<RuleGrower>(state_, options_, threads_);
}

void Run::learn(std::size_t n_rules, const std::function<void()>& between_tasks, const std::function<void()>& learned) {
    const Threads::Session session(threads_, between_tasks);
    while (!ended_ && rules_.size() < n_rules) {
        // Shares, not products: 29/100 is 0.29 in floating point too, 0.29 * 100 is not 29.
        const bool some_left = state_.weight_of_rows / state_.total_weight > options_.remaining;
        const std::optional<GrowingRule> found = some_left ? grower_->best_rule() : std::nullopt;
        if (state_.n_rows >= MANY_ROWS) give_memory_back();
        // Weights that do not add up exactly can pretend a true positive; then nothing would ever change.
        ended_ = !found || !conquer(*found);
        if (state_.n_rows >= MANY_ROWS) give_memory_back();
        if (!ended_ && learned) learned();
    }
}

// Writes down what the rule predicts, and takes its instances out of training if it leaves (almost) none open. Whether any pair
// was open.
bool Run::conquer(const GrowingRule& found) {
    Histogram& histogram = grower_->search().histogram();
    const bool alone = grower_->search().is_small(state_.rows.size());
    const std::vector<Assignment> head = completed(found.head);
    LearnedRule rule{found, state_.weight_of(found.covered), false, {}};
    std::vector<std::vector<Row>> newly(head.size());  // decided
    std::vector<std::int32_t> labels;
    std::size_t closed = 0;
    for (std::size_t i = 0; i < head.size(); ++i) {
        rule.decided.push_back(weight_decided(state_, found.covered, head[i]));
        for (Row row : found.covered)
            if (state_.byte(row, std::size_t(head[i].label)) & (OPEN_PRESENT | OPEN_ABSENT)) newly[i].push_back(row);
        labels.push_back(head[i].label);
        closed += newly[i].size();
    }
    rule.stop = weight_unfinished(found.covered, labels) / rule.coverage <= options_.stop_threshold && decides_groups(head);
    rule.stop ? histogram.remove(found.covered, alone) : histogram.close(found.covered, labels, alone);
    for (std::size_t i = 0; i < head.size(); ++i) {
        const std::size_t label = std::size_t(head[i].label);
        for (Row row : newly[i]) state_.close(row, label);
        state_.head_labels[label] = 1;
    }
    for (std::size_t i = 0; options_.label_conditions && i < head.size(); ++i) {
        const std::size_t label = std::size_t(head[i].label);
        std::vector<std::uint8_t>& predicted = state_.predicted[label];
        if (predicted.empty()) predicted.assign(state_.n_rows, UNDECIDED);
        for (Row row : newly[i]) predicted[row] = std::uint8_t(head[i].sign);
        if (!rule.stop) histogram.decide(label, std::uint8_t(head[i].sign), newly[i]);
    }
    if (rule.stop) state_.remove(found.covered);
    if (closed == 0) return false;
    open_ -= closed;
    rules_.push_back(std::move(rule));
    return true;
}

// A head with all that it implies: others of a group are absent, ancestors of what is present are, too.
std::vector<Assignment> Run::completed(std::vector<Assignment> head) const {
    if (options_.pairs.exclusive.empty() && options_.pairs.above.empty()) return head;
    std::vector<std::uint8_t> said(state_.n_labels, 0);
    for (const auto& [label, sign] : head) said[std::size_t(label)] = 1;
    for (std::size_t i = 0; i < head.size(); ++i)
        for (std::size_t other = 0; other < said.size(); ++other) {
            const std::int8_t sign = options_.pairs.implied(std::size_t(head[i].label), head[i].sign != 0, other, said.size());
            if (sign >= 0 && !std::exchange(said[other], 1)) head.push_back({std::int32_t(other), sign});
        }
    std::sort(head.begin(), head.end());
    return head;
}

// An instance must not end before it is known which label of every group is present.
bool Run::decides_groups(const std::vector<Assignment>& head) const {
    const std::vector<std::int32_t>& exclusive = options_.pairs.exclusive;
    return std::all_of(exclusive.begin(), exclusive.end(), [&](std::int32_t group) {
        return group < 0 || std::any_of(head.begin(), head.end(), [&](const Assignment& a) {
                   return a.sign && exclusive[std::size_t(a.label)] == group;
               });
    });
}

// The weight of the instances that a rule may still have something to say about, once some labels are decided.
double Run::weight_unfinished(const std::vector<Row>& rows, const std::vector<std::int32_t>& decided) const {
    std::vector<std::uint8_t> is_left(state_.n_labels, 1);
    for (std::int32_t label : decided) is_left[std::size_t(label)] = 0;
    double unfinished = 0;
    for (Row row : rows)
        for (std::size_t label = 0; label < state_.n_labels; ++label)
            if (is_left[label] &&
                state_.byte(row, label) & (options_.predict_absence ? OPEN_PRESENT | OPEN_ABSENT : OPEN_PRESENT)) {
                unfinished += state_.weight(row);
                break;
            }
    return unfinished;
}

std::vector<std::pair<double, double>> Run::undecided() const {
    std::vector<LabelWeights> labels = state_.removed;
    state_.count_rows(state_.rows, 1, labels);  // again: differences of weights need not be exact
    std::vector<std::pair<double, double>> sums;
    for (const LabelWeights& label : labels) sums.emplace_back(label.open_absent, label.open_present);
    return sums;
}

double Run::decided() const {
    const std::size_t pairs = state_.n_rows * state_.n_labels;
    return pairs ? double(pairs - open_) / double(pairs) : 0.0;
}

}  // namespace plurule
