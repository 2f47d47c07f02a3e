// Rules: in the making, as they were learned, and the candidates for the next one, of which the best are kept.
#pragma once
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "values.hpp"

namespace plurule {

constexpr double TOLERANCE = 1e-12;
constexpr double NOTHING = -std::numeric_limits<double>::infinity();

// The lowest value that counts as equal to the best.
inline double floor_of_ties(double best) { return std::isfinite(best) ? best - TOLERANCE * std::fabs(best) : best; }

struct Assignment {
    std::int32_t label;
    std::int8_t sign;  // 1 present, 0 absent
    auto operator<=>(const Assignment&) const = default;
};

class FixedHead;

struct Condition {
    std::size_t attribute;  // from n_attributes on: labels
    Split split;
    // Equal for conditions that are the same to a reader: splits between different ranks can have one threshold.
    std::tuple<std::size_t, std::int32_t, double> identity(const RankedColumns& columns) const {
        if (attribute >= columns.attributes.size() || columns.attributes[attribute].nominal) return {attribute, split.below, 0.0};
        return {attribute, split.greater, threshold(columns)};
    }
    // Of a numeric attribute: halfway between the values on both sides.
    double threshold(const RankedColumns& columns) const {
        const Attribute& numeric = columns.attributes[attribute];
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
    std::vector<std::pair<double, double>>
        decided;  // per label of the head and of what it implies: weight of the pairs decided rightly, wrongly
};

// A rule in the making, with the rows it covers.
struct GrowingRule : Rule {
    std::vector<Row> covered;
    std::shared_ptr<const FixedHead> fixed;  // its head, where that stays as it is

    // Equal for rules that differ only in the order of their conditions.
    auto identity(const RankedColumns& columns) const {
        std::vector<std::tuple<std::size_t, std::int32_t, double>> conditions;
        for (const Condition& c : body) conditions.push_back(c.identity(columns));
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

// A candidate for the next rule. Higher value, then more TP, then fewer conditions, then first in the order of candidates. Values
// within a relative tolerance of the highest count as equal to it. What is kept does not depend on the order of arrival.
struct Candidate {
    double value = NOTHING, tp = 0, fp = 0;
    std::int32_t parent = 0;
    std::size_t attribute = 0;  // from n_attributes on: labels
    Split split;
    std::int32_t conditions = 0;  // a body as it is has fewer than those it is refined to
    std::vector<Assignment> head;

    auto rank() const { return std::tuple(-tp, conditions, parent, attribute, split.order()); }
};

// Keeps what can be among the `width` best.
class Ranking {
   public:
    explicit Ranking(std::size_t width = 1) : width_(width) {}

    // Candidates below this value need not be offered.
    double floor() const { return floor_; }
    void offer(Candidate&& candidate);
    std::vector<Candidate>& kept() { return kept_; }

   private:
    void prune();

    std::size_t width_, full_ = 1;  // prune when so many are kept
    double floor_ = NOTHING;
    std::vector<Candidate> kept_;
};

// Takes the best out of some candidates.
Candidate take_best(std::vector<Candidate>& candidates);

// The highest value that any thread has found; only for a beam of one, where nothing below it can win.
class SharedBest {
   public:
    void reset() { value_.store(NOTHING, std::memory_order_relaxed); }
    double floor() const { return floor_of_ties(value_.load(std::memory_order_relaxed)); }
    void raise(double value) {
        double seen = value_.load(std::memory_order_relaxed);
        while (value > seen && !value_.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
        }
    }

   private:
    std::atomic<double> value_{NOTHING};
};

}  // namespace plurule
