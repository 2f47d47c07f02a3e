// The best heads of candidate bodies, from the counts of what they cover; one per thread.
#pragma once
#include <functional>
#include <vector>

#include "bodies.hpp"
#include "count_table.hpp"
#include "head_search.hpp"
#include "label_sets.hpp"

namespace plurule {

class HeadFinder {
   public:
    HeadFinder(const State& state, const Options& options, std::function<void()> check_stop);

    const HeadSearch& search() const { return search_; }
    // Whether all bodies of an attribute are better searched at once: sets of labels, and heuristics that are asked about many counts.
    bool takes_many() const { return takes_sets_ || options_.is_custom() || options_.example_based; }

    // Before bodies that refine one with these conditions; `tested_lane`: those of the labels among them.
    void start(const std::vector<Condition>& refined, const std::vector<std::uint8_t>& tested_lane) { bodies_.start(refined, tested_lane); }
    // Before bodies with a condition on an attribute (-1: on none); `own_lane`: that of the label that it is, or -1.
    void begin(std::int32_t attribute, std::int32_t own_lane, Bodies::SumRows sum_rows = {}) {
        bodies_.begin(attribute, own_lane, std::move(sum_rows));
    }
    bool may_have_head(const Place& place, double covered) const { return bodies_.may_have_head(place, covered); }
    // Whether some label is as precise as asked, without which no head can be; most bodies have none.
    bool can_be_precise(const std::vector<double>& counters) const;
    // Adds a body to those that are searched next, if it may have a head.
    void add(const Place& place, const std::vector<double>& counters);
    // Calls found(place, head) for the bodies added that have a head; gives up early where nothing can reach `floor`.
    template <class Found>
    void search(double floor, Found&& found) {
        find(floor);
        for (std::size_t body = 0; body < bodies_.size(); ++body)
            if (heads_[body].value > NOTHING) found(bodies_.places[body], heads_[body]);
        bodies_.clear();
    }

    Finding finding;  // about the last body
    // The values of the labels of a body that was searched alone, best first.
    std::vector<double> label_values() const;

   private:
    struct Outlook {
        double highest;  // value of the best label
        double surplus;  // sum of TP - FP over the labels where it is above 0
    };

    void find(double floor);
    void best_first(double floor);
    void choose_signs(std::size_t body);
    void value_units();
    void join_labels(std::size_t body, const LaneHead& labels);
    bool is_hopeless(std::size_t body, double floor);
    double deficit_of_best(std::size_t body) const;
    LabelHeads labels_of(std::size_t body) const;

    const State& state_;
    const Options& options_;
    const bool takes_sets_;
    Bodies bodies_;
    HeadSearch search_;
    LabelSets sets_;
    std::vector<double> h_;  // bodies × lanes: values of the labels with their signs, -inf where they may not be in the head
    std::vector<double> unit_value_, unit_tp_;  // the same of units, where labels go together
    std::vector<Outlook> outlooks_;             // per body
    std::vector<FoundHead> heads_;
};

}  // namespace plurule
