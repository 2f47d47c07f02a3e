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

    Bodies bodies;
    Finding finding;  // about the last body that was searched
    const HeadSearch& search() const { return search_; }
    // Whether what is asked about a head is asked about all bodies of an attribute at once.
    bool takes_many() const { return takes_many_; }

    // Whether some label of a body is as precise as asked, without which no head is.
    bool can_be_precise(const std::vector<double>& counters) const;
    // Adds a body to those that are searched next, if it may have a head.
    void add(const Place& place, const std::vector<double>& counters);
    // Whether it is time to search, lest there be too many values at a time.
    bool is_full() const { return !takes_many_ && bodies.size() * state_.width >= MOST_VALUES; }
    // Calls found(place, head) for the bodies added that have a head; gives up early where nothing can reach `floor`.
    template <class Found>
    void search(double floor, Found&& found) {
        find(floor);
        for (std::size_t body = 0; body < bodies.size(); ++body)
            if (heads_[body].value > NOTHING) found(bodies.places[body], heads_[body]);
        bodies.clear();
    }

    // The values of the labels of a body that was searched alone, best first.
    std::vector<double> label_values() const;

   private:
    static constexpr std::size_t MOST_VALUES = 4096;
    void find(double floor);
    void best_first(double floor);
    void choose_signs(std::size_t body);
    void value_units();
    bool is_hopeless(std::size_t body, double floor);
    LabelHeads labels_of(std::size_t body) const;

    const State& state_;
    const Options& options_;
    const std::function<void()> check_stop_;  // called now and then where a search takes long
    const bool takes_sets_, takes_many_;
    HeadSearch search_;
    LabelSets sets_;
    std::vector<double> h_;  // bodies × lanes: values of the labels with their signs, -inf where they may not be in the head
    std::vector<double> unit_value_, unit_tp_;  // the same of units, where labels go together
    std::vector<double> highest_;               // per body: the value of its best label
    std::vector<FoundHead> heads_;
};

}  // namespace plurule
