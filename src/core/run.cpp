#include "run.hpp"

#include <algorithm>
#include <utility>

#include "memory.hpp"

namespace plurule {

Run::Run(std::shared_ptr<const Prepared> prepared, std::shared_ptr<const Target> target, Options options, const State::Start& start,
         std::size_t n_threads)
    : prepared_(std::move(prepared)), target_(std::move(target)), options_(std::move(options)),
      state_(*prepared_, target_->labels.get(), target_->n_labels, target_->weights.empty() ? nullptr : target_->weights.data(), start),
      threads_(n_threads), open_(std::size_t(std::count(state_.open.begin(), state_.open.end(), true))) {
    state_.asked = options_.asked_of_candidates();
    grower_ = std::make_unique<RuleGrower>(*prepared_, state_, options_, threads_);
}

Run::Run(const Run& other)
    : prepared_(other.prepared_), target_(other.target_), options_(other.options_), state_(other.state_), threads_(other.threads_.most()),
      grower_(std::make_unique<RuleGrower>(*prepared_, state_, options_, threads_)), rules_(other.rules_), open_(other.open_),
      ended_(other.ended_) {}

void Run::learn(std::size_t n_rules, const std::function<void()>& between_tasks, const std::function<void()>& learned) {
    const Threads::Session session(threads_, between_tasks);
    while (!ended_ && rules_.size() < n_rules) {
        // Shares, not products: 29/100 is 0.29 in floating point too, 0.29 * 100 is not 29.
        const bool some_left = state_.weight_of(state_.training.rows) / state_.total_weight > options_.remaining;
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
    CountTable* table = grower_->search().table();
    const std::vector<Assignment> head = completed(found.head);
    if (table) table->about_to_close(head, found.covered);
    LearnedRule rule{found, state_.weight_of(found.covered), false, {}};
    std::size_t closed = 0;
    for (const Assignment& assigned : head) {
        rule.decided.push_back(weight_decided(state_, found.covered, assigned));
        closed += close(assigned, found.covered);
    }
    rule.stop = weight_unfinished(found.covered) / rule.coverage <= options_.stop_threshold && decides_groups(head);
    if (rule.stop)
        remove_from_training(found.covered);
    else
        for (Row row : found.covered) state_.write_bytes(row);
    if (!drop_finished_labels()) state_.count_training();
    if (table) table->close(grower_->search().is_small(state_.training.rows.size()));
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

// Decides the pairs that are open; how many there were.
std::size_t Run::close(const Assignment& assigned, const std::vector<Row>& rows) {
    const std::size_t label = std::size_t(assigned.label);
    std::vector<Row> newly;
    for (Row row : rows)
        if (const std::size_t pair = state_.at(row, label); state_.open[pair]) {
            state_.close(pair, label);
            newly.push_back(row);
        }
    state_.head_labels[label] = 1;
    if (options_.label_conditions) state_.note_predicted(label, assigned.sign, newly);
    return newly.size();
}

// The weight of the instances that a rule may still have something to say about.
double Run::weight_unfinished(const std::vector<Row>& rows) const {
    double unfinished = 0;
    for (Row row : rows)
        for (std::size_t pair = state_.at(row, 0); pair < state_.at(row + 1, 0); ++pair)
            if (state_.open[pair] && (options_.predict_absence || state_.truth[pair])) {
                unfinished += state_.weight(row);
                break;
            }
    return unfinished;
}

void Run::remove_from_training(const std::vector<Row>& rows) {
    CandidateSearch& search = grower_->search();
    if (search.table()) search.table()->about_to_remove(rows);
    std::vector<std::uint8_t> keep(state_.n_rows, 1);
    for (Row row : rows) {
        keep[row] = 0;
        state_.count_row(row, -1);
        std::fill_n(state_.bytes.begin() + std::ptrdiff_t(std::size_t(row) * state_.width), state_.width, std::uint8_t(0));
    }
    Scope& training = state_.training;
    std::erase_if(training.rows, [&](Row row) { return !keep[row]; });
    threads_.run(search.listing(rows), search.is_small(training.rows.size()),
                 [&](std::size_t a, std::size_t) { training.cut(a, training.at(a), keep.data()); });
}

// Labels without an open pair in training can be in no head; leaving them out saves lanes, if there are eight of them.
bool Run::drop_finished_labels() {
    const auto& lanes = state_.label_of_lane;
    const auto used = std::count_if(lanes.begin(), lanes.end(), [&](std::int32_t label) { return state_.is_searched(std::size_t(label)); });
    if (state_.every_label || (std::size_t(used) + 7) / 8 * 8 >= state_.width) return false;
    state_.rebuild();
    return true;
}

std::vector<std::pair<double, double>> Run::undecided() const {
    std::vector<std::pair<double, double>> sums(state_.n_labels);
    for (Row row = 0; row < state_.n_rows; ++row)
        for (std::size_t label = 0; label < state_.n_labels; ++label) {
            const std::size_t pair = state_.at(row, label);
            if (state_.open[pair]) (state_.truth[pair] ? sums[label].second : sums[label].first) += state_.weight(row);
        }
    return sums;
}

double Run::decided() const {
    const std::size_t pairs = state_.open.size();
    return pairs ? double(pairs - open_) / double(pairs) : 0.0;
}

}  // namespace plurule
