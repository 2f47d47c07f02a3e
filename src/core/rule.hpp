// Rules: in the making, and as they were learned.
#pragma once
#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "ranking.hpp"
#include "values.hpp"

namespace plurule {

class FixedHead;

struct Condition {
    std::size_t attribute;  // from n_attributes on: labels
    Split split;
    // Equal for conditions that are the same to a reader: splits between different ranks can have one threshold.
    std::tuple<std::size_t, std::int32_t, double> identity(const Prepared& prepared) const {
        if (attribute >= prepared.attributes.size() || prepared.attributes[attribute].nominal) return {attribute, split.below, 0.0};
        return {attribute, split.greater, threshold(prepared)};
    }
    // Of a numeric attribute: halfway between the values on both sides.
    double threshold(const Prepared& prepared) const {
        const Attribute& numeric = prepared.attributes[attribute];
        return midpoint(numeric.highest_of(std::size_t(split.below)), numeric.lowest[std::size_t(split.above)]);
    }
};

struct Rule {
    std::vector<Assignment> head;  // without what it implies
    std::vector<Condition> body;
    double value = NOTHING, tp = 0, fp = 0;
};

struct LearnedRule : Rule {
    double coverage = 0;
    bool stop = false;
    std::vector<std::pair<double, double>> decided;  // per label of the head and of what it implies: weight of the pairs decided rightly, wrongly
};

// A rule in the making, with the rows it covers.
struct GrowingRule : Rule {
    std::vector<Row> covered;
    std::shared_ptr<const FixedHead> fixed;  // its head, where that stays as it is

    // Equal for rules that differ only in the order of their conditions.
    auto identity(const Prepared& prepared) const {
        std::vector<std::tuple<std::size_t, std::int32_t, double>> conditions;
        for (const Condition& c : body) conditions.push_back(c.identity(prepared));
        std::sort(conditions.begin(), conditions.end());
        conditions.erase(std::unique(conditions.begin(), conditions.end()), conditions.end());
        return std::pair(conditions, head);
    }
};

// By value, and on a tie by TP.
inline bool improves(double value, double tp, const Rule& rule) {
    const double higher = std::max(value, rule.value), lower = std::min(value, rule.value);
    return lower >= floor_of_ties(higher) ? tp > rule.tp : value > rule.value;
}

}  // namespace plurule
