// The loops that the time goes into. Compiled once for any processor and once for AVX2; `kernels()` gives the
// fastest set that this processor can run. All of them add up integers or exact doubles, so the results do not
// depend on which one runs.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace plurule {

// What one label of one instance contributes, as bits of a byte. All zero: not in training.
enum : std::uint8_t { OPEN_PRESENT = 1, OPEN_ABSENT = 2, PRESENT = 4 };

// How a heuristic is computed from a confusion matrix.
enum class Formula : int { f_measure, accuracy, precision, recall, laplace, m_estimate, relative_accuracy, gain, custom };

struct HeuristicFormula {
    Formula formula;
    double parameter;  // beta², m or lambda
    double shrinkage = 0;  // of the F-measure: added to its denominator
};

// h = (top · counts + top_constant) / (bottom · counts + bottom_constant), counts = tp, fp, tn, fn.
struct Quotient {
    double top[4], top_constant, bottom[4], bottom_constant;
};

// Which labels may be in a head: those with TP > 0, TP >= precision × (TP + FP) within the tolerance, a value above `least`
// and no penalty of -inf. The surplus of a label is right × TP - wrong × FP.
struct UsableLabels {
    double precision, tolerance, least, right, wrong;
};

// Rows of one attribute, group after group.
struct GroupSpan {
    const std::uint32_t* rows;
    const std::uint32_t* ends;  // end of each group in rows
    std::uint32_t first, last;  // groups [first, last) to visit
    bool descending;
};

// Three counters in one word.
struct PackedCounts {
    static constexpr int BITS = 21;
    static constexpr std::uint64_t MASK = (std::uint64_t(1) << BITS) - 1;
    static constexpr std::size_t LIMIT = std::size_t(1) << BITS;  // what a counter must stay below
    static constexpr std::uint64_t pack(std::uint64_t first, std::uint64_t second, std::uint64_t third) {
        return first | second << BITS | third << 2 * BITS;
    }
    static constexpr std::int32_t get(std::uint64_t word, int which) { return std::int32_t(word >> which * BITS & MASK); }
};

// Words of rows (see PackedCounts), of which few differ: these, and by the number of a row which of them it has.
struct RowWords {
    std::span<const std::uint64_t> different;
    const std::uint16_t* of_rows;
    std::uint64_t operator[](std::uint32_t row) const { return different[of_rows[row]]; }
};

// One label of a fixed head, or all of them summed.
struct FixedBlock {
    std::int32_t labels;
    double present, absent;  // in training
};

struct Kernels {
    // Three blocks of `width` counters: open present, open absent, present.
    void (*add_states)(const std::uint32_t* rows, std::size_t count, const std::uint8_t* states, std::size_t width,
                       std::int32_t* counters);
    // The same for each row in the block of its code.
    void (*add_states_by_code)(const std::uint32_t* rows, std::size_t count, const std::uint8_t* codes,
                               const std::uint8_t* states, std::size_t width, std::size_t block, std::int32_t* counters);
    // The same in doubles, and behind each block the weight of its rows. Without codes there is one block; without weights, rows
    // count 1.
    void (*add_weighted_states)(const std::uint32_t* rows, std::size_t count, const std::uint8_t* codes, const std::uint8_t* states,
                                std::size_t width, const double* weights, double* counters);
    // Values of many confusion matrices; tp, fp, tn, fn and the result are arrays of `count`.
    void (*evaluate)(HeuristicFormula, const double* tp, const double* fp, const double* tn, const double* fn,
                     std::size_t count, double* value);
    // Takes out (-inf) the labels that may not be in a head (see UsableLabels). Gives the highest value and the sum of all
    // surplus above 0.
    void (*keep_usable)(const UsableLabels&, const double* tp, const double* fp, const double* penalty, std::size_t width, double* h,
                        double* highest, double* surplus);
    // Confusion matrices of every label predicted present, from counters of the covered instances.
    void (*confusion)(const double* counters, double covered, const double* present_in_training, const double* absent_in_training,
                      std::size_t width, double* tp, double* fp, double* tn, double* fn);
    // Per group, from words of rows: right, wrong, present; added up from group to group where `cumulative`, in one word where all sums
    // fit.
    void (*count_words)(const GroupSpan&, const RowWords& words, bool cumulative, bool sums_fit, std::int32_t* const lanes[3]);
    // The highest and the lowest of the sums over the first rows, however many.
    void (*scan)(const std::uint32_t* rows, std::size_t count, const std::int32_t* of_rows, std::int32_t* highest, std::int32_t* lowest);
    // Writes down the slots whose value under a block reaches `floor`, or nearly; gives how many.
    std::size_t (*reaching)(const Quotient&, const FixedBlock&, double floor, std::size_t slots, const std::int32_t* const lanes[3],
                            const std::int32_t* covered, std::uint32_t* found);
    // Adds to values, tp and fp what `slots` candidates have under one block of a fixed head.
    void (*add_values)(HeuristicFormula, const FixedBlock&, std::size_t slots, const std::int32_t* const lanes[3],
                       const std::int32_t* covered, double* values, std::int32_t* tp, std::int32_t* fp);
};

bool has_avx2();  // has this processor AVX2, and is it not switched off by the environment variable PLURULE_NO_AVX2?
const Kernels& baseline_kernels();
const Kernels* avx2_kernels();  // null without AVX2

inline const Kernels& kernels() {
    static const Kernels& chosen = avx2_kernels() ? *avx2_kernels() : baseline_kernels();
    return chosen;
}

// A heuristic as a quotient of linear functions, where it is one.
inline bool as_quotient(HeuristicFormula h, Quotient& q) {
    const double s = h.parameter;
    switch (h.formula) {
        case Formula::f_measure: q = {{1 + s, 0, 0, 0}, 0, {1 + s, 1, 0, s}, h.shrinkage}; return true;
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
