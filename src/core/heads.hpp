// The best heads of candidate bodies, exactly, from the counts of what the bodies cover; one finder per thread.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "rule.hpp"
#include "state.hpp"

namespace plurule {

struct FoundHead {
    double value = NOTHING, tp = 0, fp = 0;  // -inf: there is none
    std::vector<Assignment> head;            // in the order of labels
};

class HeadFinder {
   public:
    HeadFinder(const State& state, const Options& options);

    // Whether no head of a body is worth more than its best label times the highest lift.
    bool never_rises() const { return never_rises_; }
    double highest_lift() const { return highest_lift_; }

    // Before bodies that refine one with these conditions; `labels`: those that may be in heads.
    void start(const std::vector<Condition>& refined, const std::vector<std::int32_t>& labels);
    // Adds a body. Counts are of the labels in order, TP and FP of open pairs and positives; behind them of the coverage.
    void add(std::size_t attribute, const Split& split, const std::vector<double>& counts);
    // Heuristics written in Python are slow to call: they are asked about many bodies at a time.
    bool is_full() const { return !options_.is_custom() || bodies_.size() * labels_.size() >= MOST_VALUES; }
    // Calls found(attribute, split, head) for the bodies added that have a head; stops early where nothing can reach `floor`.
    template <class Found>
    void search(double floor, Found&& found) {
        value_labels();
        for (std::size_t body = 0; body < bodies_.size(); ++body) {
            const FoundHead& head = find(body, floor);
            if (head.value > NOTHING) found(bodies_[body].attribute, bodies_[body].split, head);
        }
        bodies_.clear();
        for (auto* counts : {&tp_, &fp_, &tn_, &fn_}) counts->clear();
    }

   private:
    static constexpr std::size_t MOST_VALUES = 4096;
    struct Body {
        std::size_t attribute;
        Split split;
        std::size_t first_prefix;  // among those that are valued together
    };
    struct Ranked {
        double value;
        std::uint32_t at;  // among the labels
    };
    void value_labels();
    void value_custom_prefixes();
    const FoundHead& find(std::size_t body, double floor);
    void choose_signs(std::size_t body);
    bool forbids(const Body& body, std::size_t label, bool present) const;
    std::uint32_t next();
    bool find_ties();
    bool take_next();
    double value_of_taken() const;
    void relaxed(double floor);
    void finish(std::size_t length, double value);

    const State& state_;
    const Options& options_;
    std::vector<double> highest_left_;  // per length less 1: the highest lift of any longer head
    double highest_lift_ = 1;
    bool never_rises_ = false;
    std::vector<Condition> refined_;
    std::vector<std::int32_t> labels_;
    std::vector<Body> bodies_;
    std::vector<double> tp_, fp_, tn_, fn_;      // bodies × labels, predicted present
    std::vector<double> present_h_, absent_h_;  // what labels are worth as heads of their own
    std::vector<double> prefix_values_;          // of custom heuristics

    // One body.
    std::size_t body_ = 0;
    std::vector<double> h_, right_, wrong_;  // of its labels with their better sign; -inf: not in a head
    std::vector<std::uint8_t> sign_;
    std::vector<Ranked> ranked_;  // best first, once one is asked for
    std::size_t next_ = 0, ties_end_ = 0;
    std::vector<std::uint32_t> taken_;
    double sum_h_ = 0, sum_tp_ = 0, sum_fp_ = 0, sum_tn_ = 0, sum_fn_ = 0;
    std::vector<double> reached_;  // lifted values of the heads on the way
    FoundHead found_;
};

}  // namespace plurule
