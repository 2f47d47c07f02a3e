// A training run: separate and conquer as far as asked for.
#pragma once
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "growing.hpp"

namespace plurule {

// What is to be learned.
struct Target {
    std::size_t n_labels = 0;
    std::shared_ptr<const std::uint8_t> labels;  // rows × labels, 0 or 1
    std::vector<double> weights;                 // per row; empty: every row counts 1
};

class Run {
   public:
    Run(std::shared_ptr<const Prepared> prepared, std::shared_ptr<const Target> target, Options options, const State::Start& start,
        std::size_t n_threads);
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    // Learns until there are that many rules, or nothing is left to learn. `between_tasks` is called now and then, `learned` after each
    // rule; not to be used again where one of them threw.
    void learn(std::size_t n_rules, const std::function<void()>& between_tasks, const std::function<void()>& learned);

    const Prepared& prepared() const { return *prepared_; }
    const std::vector<LearnedRule>& rules() const { return rules_; }
    // Per label: the weight of the absent and of the present pairs that no rule decided.
    std::vector<std::pair<double, double>> undecided() const;
    // The share of pairs that are decided.
    double decided() const;

   private:
    bool conquer(const GrowingRule& found);
    std::vector<Assignment> completed(std::vector<Assignment> head) const;
    bool decides_groups(const std::vector<Assignment>& head) const;
    double weight_unfinished(const std::vector<Row>& rows, const std::vector<std::int32_t>& decided) const;

    std::shared_ptr<const Prepared> prepared_;
    std::shared_ptr<const Target> target_;
    Options options_;
    State state_;
    Threads threads_;
    std::unique_ptr<RuleGrower> grower_;
    std::vector<LearnedRule> rules_;
    std::size_t open_ = 0;  // pairs
    bool ended_ = false;
};

}  // namespace plurule
