// Heuristics: what a confusion matrix is worth.
#pragma once
#include <cmath>

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

}  // namespace plurule
