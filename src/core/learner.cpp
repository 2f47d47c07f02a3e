#include "learner.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace plurule {

bool Learner::learn_rule(LearnedRule& rule) {
    // Shares, not products: 29/100 is 0.29 in floating point too, 0.29 * 100 is not 29.
    if (!(state_.weight_of(state_.training.rows) / state_.total_weight > options_.remaining)) return false;
    GrowingRule found;
    if (!best_rule(found)) return false;
    rule = conquer(found);
    // Weights that do not add up exactly can pretend a true positive; then nothing would ever change.
    return rule.closed > 0;
}

// --- growing a rule

// Where the minimum precision is asked of finished rules, those on the way are free of it. Labels of a finished rule that
// fail it are searched by themselves, the precision asked of every candidate, and set aside if that finds nothing.
bool Learner::best_rule(GrowingRule& best) {
    if (!options_.when_finished) return grow(best);
    while (grow(best)) {
        const std::vector<Assignment> failing = failing_labels(best);
        if (failing.empty() || grow_with_only(failing, best)) return true;
        set_aside(failing);
    }
    return false;
}
bool Learner::grow_with_only(const std::vector<Assignment>& labels, GrowingRule& best) {
    std::vector<std::uint8_t> before(state_.n_labels, 1);
    for (const Assignment& assigned : labels) before[std::size_t(assigned.label)] = 0;
    std::swap(before, state_.set_aside);
    const MinPrecision asked = std::exchange(state_.asked, options_.min_precision);
    Lanes all = std::move(static_cast<Lanes&>(state_));
    state_.rebuild();
    const bool found = grow(best);
    std::swap(before, state_.set_aside);
    state_.asked = asked;
    static_cast<Lanes&>(state_) = std::move(all);
    return found;
}

// The labels for which a finished rule does not stand: those of too low precision, where it is asked of labels and there
// are some, with those that go together with them; or else all of its head. Empty where it stands.
std::vector<Assignment> Learner::failing_labels(const GrowingRule& rule) const {
    std::vector<Assignment> failing;
    if (options_.min_precision.of_label)
        std::copy_if(rule.head.begin(), rule.head.end(), std::back_inserter(failing), [&](const Assignment& assigned) {
            return std::any_of(rule.head.begin(), rule.head.end(), [&](const Assignment& other) {
                return options_.pairs.go_together(std::size_t(assigned.label), std::size_t(other.label)) && !is_precise(rule, other);
            });
        });
    return failing.empty() && !options_.min_precision.met(rule.tp, rule.fp) ? rule.head : failing;
}

// Whether one label of a rule has the precision asked for, over its open pairs.
bool Learner::is_precise(const GrowingRule& rule, const Assignment& assigned) const {
    double right = 0, wrong = 0;
    for (Row row : rule.covered) {
        const std::size_t pair = state_.at(row, std::size_t(assigned.label));
        if (state_.open[pair]) ((state_.truth[pair] != 0) == (assigned.sign != 0) ? right : wrong) += state_.weight(row);
    }
    return options_.min_precision.met(right, wrong);
}

void Learner::set_aside(const std::vector<Assignment>& labels) {
    if (search_.table()) search_.table()->about_to_close(labels, state_.training.rows);
    for (const Assignment& assigned : labels) state_.put_aside(std::size_t(assigned.label));
    if (search_.table()) search_.table()->close(search_.is_small(state_.training.rows.size()));
}

// By value, then TP, then fewer conditions; the first on a full tie.
static GrowingRule best_of(const GrowingRule& first, const std::vector<GrowingRule>& others) {
    double highest = first.value;
    for (const GrowingRule& rule : others) highest = std::max(highest, rule.value);
    const double floor = floor_of_ties(highest);
    const GrowingRule* best = nullptr;
    const auto compare = [&](const GrowingRule& rule) {
        const auto rank = [](const GrowingRule& r) { return std::pair(-r.tp, r.body.size()); };
        if (rule.value >= floor && (!best || rank(rule) < rank(*best))) best = &rule;
    };
    compare(first);
    for (const GrowingRule& rule : others) compare(rule);
    return *best;
}

bool Learner::grow(GrowingRule& best) {
    std::vector<GrowingRule> beam = first_pass();
    if (beam.empty()) return false;
    best = best_of(beam.front(), beam);
    while (!beam.empty()) {
        beam = refine(beam);
        best = best_of(best, beam);
    }
    return true;
}

std::vector<GrowingRule> Learner::first_pass() {
    search_.first_pass();
    std::vector<GrowingRule> beam = chosen(std::vector<GrowingRule>(1));
    if (options_.fix_head && !options_.refine_against_lifted)
        for (GrowingRule& rule : beam) {
            const FixedHead head(state_, options_, rule.head, rule.covered);
            const auto [value, tp, fp] = head.worth_of(head.total_of(rule.covered));
            rule.value = value;
            rule.tp = tp;
            rule.fp = fp;
        }
    return beam;
}

std::vector<GrowingRule> Learner::refine(const std::vector<GrowingRule>& beam) {
    search_.begin_refining();
    std::vector<std::shared_ptr<Refinement>> refined(beam.size());
    for (std::size_t parent = 0; parent < beam.size(); ++parent)
        if (beam[parent].body.size() < options_.max_conditions) refined[parent] = search_.refine(beam[parent], parent);
    std::vector<GrowingRule> next = chosen(beam);
    for (std::size_t i = 0; i < next.size(); ++i) next[i].around = refined[std::size_t(parents_[i])];
    return next;
}

// The best of what all threads kept, as rules; no two the same.
std::vector<GrowingRule> Learner::chosen(const std::vector<GrowingRule>& parents) {
    std::vector<Candidate> all = search_.found();
    std::vector<GrowingRule> rules;
    std::set<decltype(GrowingRule().identity(prepared_))> seen;
    parents_.clear();
    while (rules.size() < options_.beam_width && !all.empty()) {
        Candidate best = take_best(all);
        const GrowingRule& parent = parents[std::size_t(best.parent)];
        GrowingRule rule;
        rule.body = parent.body;
        if (best.attribute >= 0) rule.body.push_back({best.attribute, best.place});
        rule.head = std::move(best.head);
        rule.value = best.value;
        rule.tp = best.tp;
        rule.fp = best.fp;
        if (options_.beam_width > 1 && !seen.insert(rule.identity(prepared_)).second) continue;
        rule.covered = best.attribute < 0 ? rows_of(parent) : covered_by(parent, rule.body.back());
        parents_.push_back(best.parent);
        rules.push_back(std::move(rule));
    }
    return rules;
}

// A rule without conditions covers all of training, which is not listed again.
const std::vector<Row>& Learner::rows_of(const GrowingRule& rule) const { return rule.body.empty() ? state_.training.rows : rule.covered; }

// The rows of a rule that also satisfy a condition.
std::vector<Row> Learner::covered_by(const GrowingRule& parent, const Condition& condition) const {
    const std::size_t a = std::size_t(condition.attribute);
    const Attribute& attr = prepared_.attribute(a);
    const Scope& scope = parent.around && !prepared_.sparse.holds(a) ? parent.around->scope : state_.training;
    const auto satisfies = [&](std::int32_t id) {
        if (attr.nominal) return id == condition.place.below;
        return condition.place.greater ? id >= condition.place.above : id <= condition.place.below;
    };
    std::vector<Row> covered;
    if (prepared_.is_packed(a)) {
        const std::vector<std::uint8_t>& codes = prepared_.codes[a];
        for (Row row : rows_of(parent))
            if (satisfies(std::int32_t(codes[row]))) covered.push_back(row);
        return covered;
    }
    const GroupedRows& rows = scope.at(a);
    const bool by_rest = attr.rest >= 0 && satisfies(attr.rest);
    std::vector<std::uint8_t> mark(state_.n_rows, by_rest ? 1 : 0);
    if (by_rest)
        for (Row row : rows.missing) mark[row] = 0;
    for (std::size_t g = 0; g < rows.groups(); ++g) {
        const std::uint8_t inside = satisfies(rows.ids[g]) ? 1 : 0;
        for (std::size_t i = g ? rows.ends[g - 1] : 0; i < rows.ends[g]; ++i) mark[rows.rows[i]] = inside;
    }
    for (Row row : rows_of(parent))
        if (mark[row]) covered.push_back(row);
    return covered;
}

// --- separating

// A head with all that it implies: others of a group are absent, ancestors of what is present are, too.
std::vector<Assignment> Learner::completed(std::vector<Assignment> head) const {
    if (options_.pairs.exclusive.empty() && options_.pairs.above.empty()) return head;
    std::vector<std::uint8_t> said(state_.n_labels, 0);
    for (const auto& [label, sign] : head) said[std::size_t(label)] = 1;
    for (std::size_t i = 0; i < head.size(); ++i)
        for (std::size_t other = 0; other < said.size(); ++other) {
            const std::int8_t sign = options_.pairs.implied(std::size_t(head[i].label), head[i].sign != 0, other, said.size());
            if (sign >= 0 && !std::exchange(said[other], 1)) head.push_back({std::int32_t(other), sign});
        }
    std::sort(head.begin(), head.end(), [](const Assignment& a, const Assignment& b) { return a.label < b.label; });
    return head;
}

// An instance must not end before it is known which label of every group is present.
bool Learner::decides_groups(const std::vector<Assignment>& head) const {
    const std::vector<std::int32_t>& exclusive = options_.pairs.exclusive;
    return std::all_of(exclusive.begin(), exclusive.end(), [&](std::int32_t group) {
        return group < 0 || std::any_of(head.begin(), head.end(), [&](const Assignment& a) {
                   return a.sign && exclusive[std::size_t(a.label)] == group;
               });
    });
}

LearnedRule Learner::conquer(const GrowingRule& found) {
    LearnedRule rule;
    rule.head = found.head;
    const std::vector<Assignment> head = completed(found.head);
    if (search_.table()) search_.table()->about_to_close(head, found.covered);
    rule.body = found.body;
    rule.tp = found.tp;
    rule.fp = found.fp;
    rule.value = found.value;
    rule.coverage = state_.weight_of(found.covered);
    for (const auto& [label, sign] : head) {
        double right = 0, wrong = 0;
        std::vector<Row> newly;
        for (Row row : found.covered) {
            const std::size_t pair = state_.at(row, std::size_t(label));
            if (!state_.open[pair]) continue;
            state_.close(pair, std::size_t(label));
            newly.push_back(row);
            ((state_.truth[pair] != 0) == (sign != 0) ? right : wrong) += state_.weight(row);
        }
        state_.head_labels[std::size_t(label)] = 1;
        if (options_.label_conditions) state_.note_predicted(std::size_t(label), sign, newly);
        rule.decided.emplace_back(right, wrong);
        rule.closed += newly.size();
    }
    double unfinished = 0;
    for (Row row : found.covered) {
        bool open = false;
        for (std::size_t label = 0; label < state_.n_labels && !open; ++label) {
            const std::size_t pair = state_.at(row, label);
            open = state_.open[pair] && (options_.predict_absence || state_.truth[pair]);
        }
        if (open) unfinished += state_.weight(row);
    }
    rule.stop = unfinished / rule.coverage <= options_.stop_threshold && decides_groups(head);
    if (rule.stop)
        remove_from_training(found.covered);
    else
        for (Row row : found.covered) state_.write_bytes(row);
    if (!drop_finished_labels()) state_.count_training();
    if (search_.table()) search_.table()->close(search_.is_small(state_.training.rows.size()));
    return rule;
}

void Learner::remove_from_training(const std::vector<Row>& rows) {
    if (search_.table()) search_.table()->about_to_remove(rows);
    std::vector<std::uint8_t> keep(state_.n_rows, 1);
    for (Row row : rows) {
        keep[row] = 0;
        state_.count_row(row, -1);
        std::fill_n(state_.bytes.begin() + std::ptrdiff_t(std::size_t(row) * state_.width), state_.width, std::uint8_t(0));
    }
    Scope& training = state_.training;
    std::erase_if(training.rows, [&](Row row) { return !keep[row]; });
    threads_.run(search_.listing(rows), search_.is_small(training.rows.size()),
                 [&](std::size_t a, std::size_t) { training.at(a).assign_kept(training.at(a), keep.data()); });
}

// Labels without an open pair in training can be in no head; leaving them out saves lanes, if there are eight of them.
bool Learner::drop_finished_labels() {
    const auto& lanes = state_.label_of_lane;
    const auto used = std::count_if(lanes.begin(), lanes.end(), [&](std::int32_t label) { return state_.is_searched(std::size_t(label)); });
    if (state_.every_label || (std::size_t(used) + 7) / 8 * 8 >= state_.width) return false;
    state_.rebuild();
    return true;
}

}  // namespace plurule
