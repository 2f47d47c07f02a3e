#include "run.hpp"

namespace plurule {

Run::Run(std::shared_ptr<const Prepared> prepared, std::shared_ptr<const Target> target, Options options, const State::Start& start,
         std::size_t n_threads)
    : prepared_(std::move(prepared)), target_(std::move(target)), options_(std::move(options)), threads_(n_threads) {
    const double* weights = target_->weights.empty() ? nullptr : target_->weights.data();
    state_ = std::make_unique<State>(*prepared_, target_->labels.get(), target_->n_labels, weights, start);
    state_->asked = options_.asked_of_candidates();
    open_before_ = std::size_t(std::count(state_->open.begin(), state_->open.end(), true));
    learner_ = std::make_unique<Learner>(*prepared_, *state_, options_, threads_);
}

Run::Run(const Run& other)
    : prepared_(other.prepared_), target_(other.target_), options_(other.options_), state_(std::make_unique<State>(*other.state_)),
      threads_(other.threads_.most()), rules_(other.rules_), open_before_(other.open_before_), closed_(other.closed_),
      ended_(other.ended_) {
    learner_ = std::make_unique<Learner>(*prepared_, *state_, options_, threads_);
}

void Run::learn(std::size_t n_rules, const Callbacks& callbacks) {
    const Threads::Session session(threads_, callbacks.between_tasks);
    while (!ended_ && rules_.size() < n_rules) {
        LearnedRule rule;
        ended_ = !learner_->learn_rule(rule);
        if (ended_) break;
        closed_ += rule.closed;
        rules_.push_back(std::move(rule));
        if (callbacks.learned) callbacks.learned(rules_.back());
    }
}

std::vector<std::pair<double, double>> Run::undecided() const {
    std::vector<std::pair<double, double>> sums(target_->n_labels);
    for (Row row = 0; row < state_->n_rows; ++row)
        for (std::size_t label = 0; label < target_->n_labels; ++label) {
            const std::size_t pair = state_->at(row, label);
            if (state_->open[pair]) (state_->truth[pair] ? sums[label].second : sums[label].first) += state_->weight(row);
        }
    return sums;
}

double Run::decided() const {
    const std::size_t pairs = state_->open.size();
    return pairs ? double(pairs - open_before_ + closed_) / double(pairs) : 0.0;
}

}  // namespace plurule
