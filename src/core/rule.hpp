// Rules: in the making, and as they were learned.
#pragma once
#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "fixed_head.hpp"
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
        return midpoint(numeric.highest_of(std::size_t(place.below)), numeric.lowest[std::size_t(place.above)]);
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

// What a look for one more condition leaves for the next one.
struct Refinement {
    Scope scope;
    // Per attribute, labels behind them: whether its lists have been cut out for the scope. They hold at least the rows that are covered.
    std::vector<std::uint8_t> is_cut;
    std::unique_ptr<RefinementBounds> bounds;  // where something is known
};

// A rule in the making, with the rows it covers.
struct GrowingRule : Rule {
    std::vector<Row> covered;
    std::shared_ptr<Refinement> around;      // null: the rule is the first of its kind, or is not refined
    std::shared_ptr<const FixedHead> fixed;  // its head, where that stays as it is

    // Equal for rules that differ only in the order of their conditions.
    auto identity(const Prepared& prepared) const {
        std::vector<std::tuple<std::int32_t, std::int32_t, double>> conditions;
        for (const auto& c : body) conditions.push_back(c.identity(prepared));
        std::sort(conditions.begin(), conditions.end());
        conditions.erase(std::unique(conditions.begin(), conditions.end()), conditions.end());
        return std::pair(conditions, head);
    }
};

// By value, and on a tie by TP.
inline bool improves(double value, double tp, const GrowingRule& rule) {
    const double higher = std::max(value, rule.value), lower = std::min(value, rule.value);
    return lower >= floor_of_ties(higher) ? tp > rule.tp : value > rule.value;
}

}  // namespace plurule
