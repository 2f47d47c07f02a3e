// Separate and conquer, and the growing of each rule. Decisions are made from counts alone.
#pragma once
#include <vector>

#include "candidate_search.hpp"

namespace plurule {

class Learner {
   public:
    Learner(const Prepared& prepared, State& state, const Options& options, Threads& threads)
        : prepared_(prepared), state_(state), options_(options), threads_(threads), search_(prepared, state, options_, threads) {}

    // Learns the next rule; false if there is none.
    bool learn_rule(LearnedRule& rule);

   private:
    bool best_rule(GrowingRule& best);
    bool grow_with_only(const std::vector<Assignment>& labels, GrowingRule& best);
    std::vector<Assignment> failing_labels(const GrowingRule& rule) const;
    bool is_precise(const GrowingRule& rule, const Assignment& assigned) const;
    void set_aside(const std::vector<Assignment>& labels);
    bool grow(GrowingRule& best);
    std::vector<GrowingRule> first_pass();
    std::vector<GrowingRule> refine(const std::vector<GrowingRule>& beam);
    std::vector<GrowingRule> chosen(const std::vector<GrowingRule>& parents);
    const std::vector<Row>& rows_of(const GrowingRule& rule) const;
    std::vector<Row> covered_by(const GrowingRule& parent, const Condition& condition) const;

    LearnedRule conquer(const GrowingRule& found);
    std::vector<Assignment> completed(std::vector<Assignment> head) const;
    bool decides_groups(const std::vector<Assignment>& head) const;
    void remove_from_training(const std::vector<Row>& rows);
    bool drop_finished_labels();

    const Prepared& prepared_;
    State& state_;
    const Options& options_;
    Threads& threads_;
    CandidateSearch search_;
    std::vector<std::int32_t> parents_;
};

}  // namespace plurule
