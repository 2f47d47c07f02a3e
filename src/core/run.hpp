// A training run: separate and conquer as far as asked for.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "candidate_search.hpp"

namespace plurule {

// The weight of the open pairs that an assignment decides rightly, and wrongly.
std::pair<double, double> weight_decided(const State& state, const std::vector<Row>& rows, const Assignment& assigned);

// Grows a rule: a head with the first condition, then one condition after the other. Decisions are made from counts alone.
class RuleGrower {
   public:
    RuleGrower(State& state, const Options& options, Threads& threads)
        : state_(state), options_(options), search_(state, options, threads) {}

    // The best rule for the open pairs of the instances still in training, if there is one.
    std::optional<GrowingRule> best_rule();

    CandidateSearch& search() { return search_; }

   private:
    std::optional<GrowingRule> grow();
    std::optional<GrowingRule> grow_with_only(const std::vector<Assignment>& labels);
    std::vector<Assignment> failing_labels(const GrowingRule& rule) const;
    std::vector<GrowingRule> first_pass();
    std::vector<GrowingRule> refine(const std::vector<GrowingRule>& beam);
    std::vector<GrowingRule> chosen(const std::vector<GrowingRule>& parents);
    std::vector<Row> covered_by(const GrowingRule& parent, const Condition& condition) const;

    State& state_;
    const Options& options_;
    CandidateSearch search_;
};

// What is to be learned.
struct Target {
    std::size_t n_labels = 0;
    std::shared_ptr<const std::uint8_t> labels;  // rows × labels, 0 or 1
    std::vector<double> weights;                 // per row; empty: every row counts 1
};

class Run {
   public:
    Run(std::shared_ptr<const RankedColumns> columns, std::shared_ptr<const Target> target, Options options,
        const State::Start& start, std::size_t n_threads);
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    // Learns until there are that many rules, or nothing is left to learn. `between_tasks` is called now and then, `learned`
    // after each rule; not to be used again where one of them threw.
    void learn(std::size_t n_rules, const std::function<void()>& between_tasks, const std::function<void()>& learned);

    const RankedColumns& columns() const { return *columns_; }
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

    std::shared_ptr<const RankedColumns> columns_;
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
