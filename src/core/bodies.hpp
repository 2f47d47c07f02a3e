// Candidate bodies whose heads are searched together: those of one attribute, or one by itself.
#pragma once
#include <functional>
#include <vector>

#include "rule.hpp"
#include "options.hpp"
#include "state.hpp"
#include "units.hpp"

namespace plurule {

class Bodies {
   public:
    // Sums four values per row over the rows that each body covers; given as rows × 4, returned as bodies × 4.
    using SumRows = std::function<void(const std::vector<double>&, std::vector<double>&)>;

    Bodies(const State& state, const Options& options) : units(state, options), state_(state), options_(options) {}

    // Before bodies that refine one with these conditions.
    void start(const std::vector<Condition>& refined);
    // Before those with a condition on an attribute (-1: on none; from n_attributes on: labels). Only for heuristics that judge
    // instances as a whole, rows are summed.
    void begin(std::int32_t attribute, SumRows sum_rows = {});
    // Whether a body that covers so much, with the condition at this place, may have a head.
    bool may_have_head(const Place& place, double covered) const {
        return covered >= options_.min_coverage && !options_.directions.bars_all(attribute_, place);
    }
    // `counters`: open present, open absent, present, one lane per label each; then the weight covered.
    void add(const Place& place, const std::vector<double>& counters);
    void clear() { places.clear(); }

    const Units units;
    std::vector<Place> places;           // one per body
    std::vector<double> tp, fp, tn, fn;  // bodies × lanes, for the sign of each label
    std::vector<std::int8_t> sign;       // present at first
    std::vector<double> h[2];            // what labels are worth as heads of their own, predicted absent, present

    std::size_t size() const { return places.size(); }
    std::size_t width() const { return state_.width; }
    std::size_t at(std::size_t body, std::size_t lane) const { return body * state_.width + lane; }
    double right(std::size_t body, const SignedLane& s) const { return (s.sign == sign[at(body, s.lane)] ? tp : fp)[at(body, s.lane)]; }
    double wrong(std::size_t body, const SignedLane& s) const { return (s.sign == sign[at(body, s.lane)] ? fp : tp)[at(body, s.lane)]; }

    // Whether no body may have a label in its head.
    bool bars(std::uint32_t lane) const { return barred_[lane]; }
    // The same per lane: -inf, or 0.
    const double* penalty() const { return penalty_.data(); }
    // Whether the directions of attributes do not allow a label in the head of a body.
    bool bars(std::size_t body, const SignedLane& s) const { return options_.directions.by_label && direction_bars(places[body], s); }
    bool is_precise(double right, double wrong) const { return !state_.asked.of_label || state_.asked.met(right, wrong); }
    // Whether a label may be in the head of a body beside others.
    bool allows(std::size_t body, const SignedLane& s) const {
        return !bars(s.lane) && !bars(body, s) && is_precise(right(body, s), wrong(body, s));
    }
    // Whether what is predicted with these counts, a label or what goes together with it, may be in a head for its value.
    bool adds_value(double right, double wrong) const {
        return !options_.is_additive() || value_of(options_.heuristic, right, wrong, 0, 0) > 0;
    }

    // Values every label as a head of its own.
    void value_labels();
    // What one head is worth for all bodies, without a lift.
    struct Worth {
        std::vector<double> value, tp, fp;
    };
    const Worth& evaluate(const LaneHead& head);

   private:
    void value_instances(const LaneHead& head);
    bool direction_bars(const Place& place, const SignedLane& s) const;
    std::int32_t label_of(std::int32_t attribute) const { return attribute - std::int32_t(state_.training.attributes.size()); }
    void bar_labels();

    const State& state_;
    const Options& options_;
    std::vector<Condition> refined_;
    std::int32_t attribute_ = -1;
    std::vector<std::uint8_t> barred_;
    SumRows sum_rows_;
    std::vector<double> penalty_;
    Worth worth_;
    std::vector<double> tn_, fn_;  // of one head
};

}  // namespace plurule
