// Growing a rule: a head with the first condition, then one condition after the other. Decisions are made from counts alone.
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "candidate_search.hpp"

namespace plurule {

// The weight of the open pairs that an assignment decides rightly, and wrongly.
std::pair<double, double> weight_decided(const State& state, const std::vector<Row>& rows, const Assignment& assigned);

class RuleGrower {
   public:
    RuleGrower(State& state, const Options& options, Threads& threads) : state_(state), options_(options), search_(state, options, threads) {}

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

}  // namespace plurule
