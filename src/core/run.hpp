// A training run: separate and conquer as far as asked for, to be continued or forked.
#pragma once
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "learner.hpp"

namespace plurule {

// What is to be learned.
struct Target {
    std::size_t n_labels = 0;
    std::shared_ptr<const std::uint8_t> labels;  // rows × labels, 0 or 1
    std::vector<double> weights;       // per row; empty: every row counts 1
};

class Run {
   public:
    // Called between tasks, to stop the work by throwing; and after each rule.
    struct Callbacks {
        std::function<void()> between_tasks;
        std::function<void(const LearnedRule&)> learned;
    };

    Run(std::shared_ptr<const Prepared> prepared, std::shared_ptr<const Target> target, Options options, const State::Start& start,
        std::size_t n_threads);
    // Goes on from where the other run is, independently of it.
    Run(const Run& other);
    Run& operator=(const Run&) = delete;

    // Learns until there are that many rules, or nothing is left to learn. Not to be used again where a callback threw.
    void learn(std::size_t n_rules, const Callbacks& callbacks);

    const Prepared& prepared() const { return *prepared_; }
    const State& state() const { return *state_; }
    const std::vector<LearnedRule>& rules() const { return rules_; }
    bool ended() const { return ended_; }
    // Per label: the weight of the absent and of the present pairs that no rule decided.
    std::vector<std::pair<double, double>> undecided() const;
    // The share of pairs that are decided.
    double decided() const;

   private:
    std::shared_ptr<const Prepared> prepared_;
    std::shared_ptr<const Target> target_;
    Options options_;
    std::unique_ptr<State> state_;
    Threads threads_;
    std::unique_ptr<Learner> learner_;
    std::vector<LearnedRule> rules_;
    std::size_t open_before_ = 0, closed_ = 0;
    bool ended_ = false;
};

}  // namespace plurule
