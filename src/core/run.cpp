#include "run.hpp"

#include <algorithm>
#include <utility>

#include "memory.hpp"

namespace plurule {

Run::Run(std::shared_ptr<const Prepared> prepared, std::shared_ptr<const Target> target, Options options, const State::Start& start,
         std::size_t n_threads)
    : prepared_(std::move(prepared)), target_(std::move(target)), options_(std::move(options)),
      state_(*prepared_, target_->labels.get(), target_->n_labels, target_->weights.empty() ? nullptr : target_->weights.data(), start),
      threads_(n_threads) {
    for (const auto* labels : {&state_.labels, &state_.gone})
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
            if (is_left[label] && state_.byte(row, label) & (options_.predict_absence ? OPEN_PRESENT | OPEN_ABSENT : OPEN_PRESENT)) {
                unfinished += state_.weight(row);
                break;
            }
    return unfinished;
}

std::vector<std::pair<double, double>> Run::undecided() const {
    std::vector<LabelWeights> labels = state_.gone;
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
