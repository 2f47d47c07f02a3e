// The loops that the time goes into. Compiled once for any processor and once for AVX2; `kernels()` gives the
// fastest set that this processor can run. All of them add up integers or exact doubles, so the results do not
// depend on which one runs.
#pragma once
#include <cstddef>
#include <cstdint>

namespace plurule {

// What one label of one instance contributes, as bits of a byte. All zero: not in training.
enum : std::uint8_t { OPEN_PRESENT = 1, OPEN_ABSENT = 2, PRESENT = 4 };

// How a heuristic is computed from a confusion matrix.
enum class Formula : int { f_measure, accuracy, precision, recall, laplace, m_estimate, relative_accuracy, custom };

struct HeuristicFormula {
    Formula formula;
    double parameter;  // beta² or m
    double shrinkage = 0;  // of the F-measure: added to its denominator
};

// What has to hold of sums of scores: one test, two tests, or two tests that one and the same lane must pass.
enum class Tests : int { one, two, two_on_one_lane };

// Rows of one attribute, group after group.
struct GroupSpan {
    const std::uint32_t* rows;
    const std::uint32_t* ends;  // end of each group in rows
    std::uint32_t first, last;  // groups [first, last) to visit
    bool descending;
};

struct Kernels {
    // Adds the score rows of each group to `running` in turn. A side passes a test if any of its lanes does: the part
    // added up so far where running >= 0, the rest where running <= limit. Of two tests each has half of the lanes.
    // flags[group] gets 1 where the part passes all tests and 2 where the rest does. Gives whether any flag was set.
    bool (*flag_groups)(const GroupSpan&, const std::int16_t* scores, std::size_t lanes, Tests tests,
                        std::int32_t* running, const std::int32_t* limit, std::uint8_t* flags);
    // running[lane] += sum of score rows.
    void (*add_scores)(const std::uint32_t* rows, std::size_t count, const std::int16_t* scores, std::size_t lanes,
                       std::int32_t* running);
    // Whether sums that started at `start` pass all tests: in each, some lane with start + sum >= 0.
    bool (*passes)(const std::int32_t* sums, const std::int32_t* start, std::size_t lanes, Tests tests);
    // Three blocks of `width` counters: open present, open absent, present.
    void (*add_states)(const std::uint32_t* rows, std::size_t count, const std::uint8_t* states, std::size_t width,
                       std::int32_t* counters);
    void (*add_weighted_states)(const std::uint32_t* rows, std::size_t count, const std::uint8_t* states,
                                std::size_t width, const double* weights, double* counters);
    // running[lane] += lanes of the rows (int32 and double).
    void (*add_lanes)(const std::uint32_t* rows, std::size_t count, const std::int32_t* lanes_of_rows, std::size_t lanes,
                      std::int32_t* running);
    void (*add_weighted_lanes)(const std::uint32_t* rows, std::size_t count, const double* lanes_of_rows,
                               std::size_t lanes, double* running);
    // Values of many confusion matrices; tp, fp, tn, fn and the result are arrays of `count`.
    void (*evaluate)(HeuristicFormula, const double* tp, const double* fp, const double* tn, const double* fn,
                     std::size_t count, double* value);
    // Takes out (-inf) the labels that may not be in a head: those with a penalty of -inf, and those without TP >= 1 (with
    // `constrained`, TP >= FP too). Gives the highest value and the sum of all TP - FP above 0.
    void (*keep_usable)(const double* tp, const double* fp, const double* penalty, bool constrained, std::size_t width,
                        double* h, double* highest, double* surplus);
    // Confusion matrices of every label predicted present, from counters of the covered instances.
    void (*confusion)(const std::int32_t* counters, std::int32_t covered, const double* present_in_training,
                      const double* absent_in_training, std::size_t width, double* tp, double* fp, double* tn, double* fn);
    void (*weighted_confusion)(const double* counters, double covered, const double* present_in_training,
                               const double* absent_in_training, std::size_t width, double* tp, double* fp, double* tn,
                               double* fn);
};

const Kernels& baseline_kernels();
const Kernels* avx2_kernels();  // null where the processor or the compiler has none

inline const Kernels& kernels() {
    static const Kernels& chosen = avx2_kernels() ? *avx2_kernels() : baseline_kernels();
    return chosen;
}

// One quotient, 0/0 = 0.
static inline double ratio(double numerator, double denominator) { return denominator != 0 ? numerator / denominator : 0.0; }

// The value of one confusion matrix. The order of operations is that of the reference engine.
static inline double value_of(HeuristicFormula h, double tp, double fp, double tn, double fn) {
    switch (h.formula) {
        case Formula::f_measure: {
            const double right = (1 + h.parameter) * tp;
            return ratio(right, right + h.parameter * fn + fp + h.shrinkage);
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
        case Formula::custom:
            break;
    }
    return 0.0;
}

}  // namespace plurule
