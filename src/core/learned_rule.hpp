// A rule as it was learned.
#pragma once
#include <tuple>
#include <utility>
#include <vector>

#include "ranking.hpp"
#include "state.hpp"

namespace plurule {

struct Condition {
    std::int32_t attribute;  // from n_attributes on: labels
    Place place;
    // Equal for conditions that are the same to a reader: splits between different ranks can have one threshold.
    std::tuple<std::int32_t, std::int32_t, double> identity(const Prepared& prepared) const {
        const std::size_t a = std::size_t(attribute);
        if (a >= prepared.attributes.size() || prepared.attributes[a].nominal) return {attribute, place.below, 0.0};
        return {attribute, place.greater, threshold(prepared)};
    }
    // Of a numeric attribute: halfway between the values on both sides.
    double threshold(const Prepared& prepared) const {
        const Attribute& numeric = prepared.attributes[std::size_t(attribute)];
        return midpoint(numeric.highest[std::size_t(place.below)], numeric.lowest[std::size_t(place.above)]);
    }
};

struct LearnedRule {
    std::vector<Assignment> head;  // without what it implies
    std::vector<Condition> body;
    double tp = 0, fp = 0, coverage = 0, value = 0;
    bool stop = false;
    std::size_t closed = 0;  // pairs that were open before
    std::vector<std::pair<double, double>> decided;  // per label of the head and of what it implies: weight of the pairs decided rightly, wrongly
};

}  // namespace plurule
