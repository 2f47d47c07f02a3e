// Heuristics, and the options of the learner as Python gives them.
#pragma once
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "values.hpp"

namespace plurule {

// How a heuristic is computed from a confusion matrix.
enum class Formula : int { f_measure, accuracy, precision, recall, laplace, m_estimate, relative_accuracy, gain, custom };

struct HeuristicFormula {
    Formula formula;
    double parameter;  // beta², m or lambda
};

// h = (top · counts + top_constant) / (bottom · counts + bottom_constant), counts = tp, fp, tn, fn.
struct Quotient {
    double top[4], top_constant, bottom[4], bottom_constant;
};

// A heuristic as a quotient of linear functions, where it is one.
inline bool as_quotient(HeuristicFormula h, Quotient& q) {
    const double s = h.parameter;
    switch (h.formula) {
        case Formula::f_measure: q = {{1 + s, 0, 0, 0}, 0, {1 + s, 1, 0, s}, 0}; return true;
        case Formula::accuracy: q = {{1, 0, 1, 0}, 0, {1, 1, 1, 1}, 0}; return true;
        case Formula::precision: q = {{1, 0, 0, 0}, 0, {1, 1, 0, 0}, 0}; return true;
        case Formula::recall: q = {{1, 0, 0, 0}, 0, {1, 0, 0, 1}, 0}; return true;
        case Formula::laplace: q = {{1, 0, 0, 0}, 1, {1, 1, 0, 0}, 2}; return true;
        case Formula::gain: q = {{1 - s, -s, 0, 0}, 0, {0, 0, 0, 0}, 1}; return true;
        default: return false;
    }
}

// One quotient, 0/0 = 0; divided in any case, so that many can be at once.
static inline double ratio(double numerator, double denominator) {
    const double quotient = numerator / (denominator != 0 ? denominator : 1.0);
    return denominator != 0 ? quotient : 0.0;
}

// The value of one confusion matrix. The order of operations is that of the reference engine.
[[gnu::always_inline]] static inline double value_of(HeuristicFormula h, double tp, double fp, double tn, double fn) {
    switch (h.formula) {
        case Formula::f_measure: {
            const double right = (1 + h.parameter) * tp;
            return ratio(right, right + h.parameter * fn + fp);
        }
        case Formula::accuracy:
            return ratio(tp + tn, tp + fp + tn + fn);
        case Formula::precision:
            return ratio(tp, tp + fp);
        case Formula::recall:
            return ratio(tp, tp + fn);
        case Formula::laplace:
            return ratio(tp + 1, tp + fp + 2);
        case Formula::m_estimate: {
            const double prior = ratio(tp + fn, tp + fp + tn + fn);
            return ratio(tp + h.parameter * prior, tp + fp + h.parameter);
        }
        case Formula::relative_accuracy: {
            const double total = tp + fp + tn + fn;
            return ratio(tp * total - (tp + fp) * (tp + fn), total * total);
        }
        case Formula::gain: {
            const double cost = h.parameter * (tp + fp), gain = tp - cost;
            return std::fabs(gain) <= 1e-12 * cost ? 0.0 : gain;
        }
        case Formula::custom:
            break;
    }
    return 0.0;
}

// The precision that is required of a rule: TP >= threshold × (TP + FP).
struct MinPrecision {
    double threshold = 0.5;
    bool of_label = false;  // of every label of a head, not only of the head as a whole

    bool is_set() const { return threshold > 0; }
    bool checks_labels() const { return of_label && is_set(); }
    // A half is exact; anything else is compared within the tolerance of the reference engine.
    double tolerance() const { return threshold == 0.5 ? 0.0 : 1e-12; }
    bool met(double tp, double fp) const {
        const double needed = threshold * (tp + fp);
        return tp >= needed - tolerance() * needed;
    }
    // How far TP is above what is needed, scaled so that it is TP - FP for a threshold of a half.
    double surplus(double tp, double fp) const { return 2 * (1 - threshold) * tp - 2 * threshold * fp; }
    // How far TP is below it; nothing where the threshold is met, however the surplus is rounded.
    double lacking(double tp, double fp) const { return met(tp, fp) ? 0.0 : -surplus(tp, fp); }
};

enum class HeadSearchKind : int { single, decomposable, relaxed };

constexpr std::size_t NO_ATTRIBUTE = std::numeric_limits<std::size_t>::max();  // of a body as it is

// Values of many confusion matrices by a heuristic written in Python.
using CustomHeuristic =
    std::function<void(const double* tp, const double* fp, const double* tn, const double* fn, std::size_t, double*)>;

// How labels are related; empty: they are not.
struct LabelPairs {
    std::vector<std::uint8_t> apart;      // labels × labels, symmetric: no rule may relate the two
    std::vector<std::int32_t>
        exclusive;  // per label; of those with the same number exactly one is present, -1: free; empty: all free
    std::vector<std::uint8_t> above;  // labels × labels: the first implies the second, its ancestor; empty: no label implies one

    bool are_apart(std::size_t a, std::size_t b, std::size_t n) const { return !apart.empty() && apart[a * n + b]; }
    bool in_line(std::size_t a, std::size_t b, std::size_t n) const { return above[a * n + b] || above[b * n + a]; }
    // What a label with this sign says about another one of `n`: 1 present, 0 absent, -1 nothing.
    std::int8_t implied(std::size_t label, bool present, std::size_t other, std::size_t n) const {
        if (present && !exclusive.empty() && exclusive[label] >= 0 && exclusive[label] == exclusive[other]) return 0;
        if (above.empty()) return -1;
        if (present) return above[label * n + other] ? 1 : -1;
        return above[other * n + label] ? 0 : -1;
    }
};

// What rules must not predict because of the attributes they test, and how; empty: they may predict anything.
struct Directions {
    std::vector<std::uint8_t> forbidden;   // attributes × (up to a value, from one on) × labels × (absent, present)
    std::vector<std::uint8_t> nominal;  // per attribute; of two categories, the second is the higher one
    std::size_t n_labels = 0;
    bool by_label = false;              // not every condition is forbidden for all labels, or for none

    bool any() const { return !forbidden.empty(); }
    bool forbids(std::size_t attribute, const Split& split, std::size_t label, bool present) const {
        if (attribute >= nominal.size()) return false;
        const bool rises = nominal[attribute] ? split.below == 1 : split.greater;
        return forbidden[(2 * attribute + rises) * 2 * n_labels + 2 * label + present];
    }
    // Whether no label may be predicted with this condition, where that is the same for all labels.
    bool forbids_all(std::size_t attribute, const Split& split) const {
        return any() && !by_label && attribute < nominal.size() && forbids(attribute, split, 0, true);
    }
};

struct Options {
    HeuristicFormula heuristic{Formula::f_measure, 0.25};
    bool averages_labels = false;  // the value of a head is the mean over its labels
    HeadSearchKind head_search = HeadSearchKind::relaxed;
    std::vector<double> lift;  // ρ(1) … ρ(n)
    MinPrecision min_precision;
    bool when_finished = false;  // min_precision binds the finished rule only, not every candidate on the way
    bool predict_absence = false;
    bool label_conditions = true;
    bool fix_head = true;
    std::size_t beam_width = 1;
    double remaining = 0.1;
    double stop_threshold = 0.01;
    std::size_t max_conditions = std::numeric_limits<std::size_t>::max();
    double min_coverage = 0;
    CustomHeuristic custom;
    std::vector<std::uint8_t> allowed_attributes;  // per attribute: rules may test it; empty: all
    LabelPairs pairs;
    Directions directions;

    // Whether there are labels that no head may have both of: what a label implies must not be absent beside it.
    bool heads_can_clash() const { return !pairs.apart.empty() || (predict_absence && !pairs.above.empty()); }
    bool clash(std::size_t a, std::size_t b, std::size_t n) const {
        return pairs.are_apart(a, b, n) || (predict_absence && !pairs.above.empty() && pairs.in_line(a, b, n));
    }
    // Values of many confusion matrices.
    void evaluate(const double* tp, const double* fp, const double* tn, const double* fn, std::size_t count,
                  double* values) const;
    MinPrecision required_of_candidates() const {
        return {when_finished ? 0.0 : min_precision.threshold, min_precision.of_label};
    }
    bool is_allowed(std::size_t attribute) const { return allowed_attributes.empty() || allowed_attributes[attribute]; }
    bool is_custom() const { return heuristic.formula == Formula::custom; }
    // A head is worth the sum of its labels, of which only those with a value above 0 are in it.
    bool is_additive() const { return heuristic.formula == Formula::gain; }
};

}  // namespace plurule
