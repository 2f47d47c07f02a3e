// Rules in the making.
#pragma once
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "fixed_head.hpp"
#include "learned_rule.hpp"

namespace plurule {

// What a look for one more condition leaves for the next one.
struct Refinement {
    Scope scope;
    // Per attribute, labels behind them: whether its lists have been cut out for the scope. They hold at least the rows that are covered.
    std::vector<std::uint8_t> is_cut;
    std::shared_ptr<const FixedHead> head;  // where that stays as it is
    std::unique_ptr<RefinementBounds> bounds;      // where something is known
};

// A rule in the making, with the rows it covers.
struct GrowingRule {
    std::vector<Condition> body;
    std::vector<Assignment> head;
    double value = NOTHING, tp = 0, fp = 0;
    std::vector<Row> covered;
    std::shared_ptr<Refinement> around;  // null: the rule is the first of its kind, or is not refined

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
