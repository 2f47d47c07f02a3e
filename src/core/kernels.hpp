// The loops that the time goes into. Compiled once for any processor and once for AVX2; `kernels()` gives the fastest set that
// this processor can run. Counts are whole numbers or doubles that add up exactly, so the results do not depend on which one
// runs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "options.hpp"

namespace plurule {

// What one label of one instance contributes, as bits of a byte. All zero: not in training.
enum : std::uint8_t { OPEN_PRESENT = 1, OPEN_ABSENT = 2, PRESENT = 4 };

constexpr std::size_t LANES = 8;                // numbers that one instruction works on
constexpr std::size_t CELL = 3 * LANES;         // of a histogram: TP, FP and positives of eight slots
constexpr std::int32_t NO_LABEL = -1;

// Numbers of a histogram: whole ones in 16 bits (sums below 2^16) or 32, or doubles.
enum class Number : int { narrow, wide, real };

// State bytes of rows: those of eight labels from `bytes + row × stride` on.
struct RowStates {
    const std::uint8_t* bytes;
    std::size_t stride;
    const double* weights;  // null: every row counts 1
};

// Per column, the last of which is the coverage.
struct Totals {
    std::vector<double> tp, fp, present;                        // over the rows in scope that have a value
    std::vector<double> present_in_training, absent_in_training;
    std::vector<std::int32_t> whole;  // the same five of each column as whole numbers, where they are
    int kinds = 4;  // that a candidate needs: TP, FP, FN, TN
    std::size_t size() const { return tp.size(); }
    double covered() const { return present.back(); }
};
constexpr std::size_t OF_VALUE = 4 * LANES,
                      MATRIX = OF_VALUE + LANES;  // TP, FP, FN, TN of eight candidates, and what the label is worth

// How eight candidates are valued at once, in single precision: see values.inl.
struct BoundScoring {
    float top[4], top_constant, bottom[4], bottom_constant;  // the heuristic as a quotient, of TP, FP, TN, FN
    bool f_like;       // the numerator is a multiple of TP, and TN are in neither
    bool absence;      // labels may be predicted absent
    bool averages;     // a head is worth the mean of its labels times its lift, or else the quotient of their summed counts
    bool additive;     // a head is worth the sum of its labels with a value above 0
    bool several;      // a head may be worth more than its best label
    bool coarse;       // only the best label times the highest lift: not every set of labels may be a head
    bool checks_head, checks_labels;  // for a minimum precision: right × TP >= wrong × FP
    float right, wrong;
    float rounding;    // of a surplus, relative to the counts; 0: exact
    std::vector<float> lift, lift_above;  // per length less 1: of heads so long; the highest of longer heads
    float highest_lift;
};

// Histograms are made in two steps: `add` sums up slot by slot, eight labels at a time (slots × 3 × 8 labels); `fold` turns that
// over and adds it to the cells (groups of eight slots × columns × 3 × 8 slots).
struct CountKernels {
    std::size_t bytes;  // of a number
    // Each row to the slot of its code; by the bytes of a code: 1, 2, 4.
    void (*add[3])(const void* codes, const std::uint32_t* rows, std::size_t count, const RowStates&, void* sums);
    // Each row to the slots that it lists, each less `first`.
    void (*add_listed)(const std::span<const std::uint32_t>* slots, std::uint32_t first, const std::uint32_t* rows,
                       std::size_t count, const RowStates&, void* sums);
    // All rows to one slot.
    void (*sum)(const std::uint32_t* rows, std::size_t count, const RowStates&, void* sums);
    // Sums from one slot to the next, from the first to the last or the other way.
    void (*cumulate)(void* sums, std::size_t count, bool descending);
    // `columns`: eight, NO_LABEL where nothing is to be added; `kinds`: 2 without positives, or 3.
    void (*fold)(const void* sums, std::size_t groups, const std::int32_t* columns, int kinds, bool subtract,
                 std::size_t n_columns, void* cells);
    // The same as `add`, `cumulate` and `fold` for few rows and many slots: between the slots of rows, all have the same sums.
    // `workspace` has room for all slots.
    void (*fold_few[3])(const void* codes, std::size_t slots, const std::uint32_t* rows, std::size_t count, const RowStates&,
                        const std::int32_t* columns, int kinds, bool subtract, std::size_t n_columns, void* workspace,
                        void* cells);
    // Eight candidates as floats: TP, FP, FN and TN of the columns at some places; the last of `columns` is the coverage.
    // Differences are exact.
    void (*load)(const void* group, const std::vector<std::int32_t>& columns, std::span<const std::uint32_t> places,
                 const Totals&, bool other_side, float* matrices, float* covered);
    // Per group: bits of the sides (own, other) on which a label, predicted as present, may be as precise as required by one of
    // eight candidates.
    void (*find_precise)(const void* cells, std::size_t groups, std::size_t n_columns, const std::vector<std::int32_t>& columns,
                         const Totals&, const BoundScoring&, std::uint8_t* sides);
    // Writes of the labels at some places whether they may be as precise as required, predicted as present, by one of eight
    // candidates; gives whether one of them may also be worth `every`.
    bool (*rate_labels)(const void* group, const std::vector<std::int32_t>& columns, std::span<const std::uint32_t> places,
                        const Totals&, bool other_side, const BoundScoring&, float every, std::uint8_t* is_precise);
    // Writes the places of the labels that may be in heads of eight candidates: those that may be worth `every` by one of them.
    // None, if every candidate is without a label of these that may be as precise as required (but with absence), or without one
    // that may be worth `best`. h >= f where top - f × bottom >= 0. Gives how many.
    std::size_t (*relevant)(const void* group, const std::vector<std::int32_t>& columns, const Totals&, bool other_side,
                            const BoundScoring&, float every, float best, std::uint32_t* places);
    // TP, FP and positives of some columns at one slot of a group.
    void (*gather)(const void* group, const std::int32_t* columns, std::size_t count, std::size_t lane, double* to);
};

// What is found out about eight candidates.
struct Valued {
    float value[LANES];         // no head is worth more; below 0: there is none
    std::int32_t sure[LANES];   // a head is worth that, or nearly
    bool some;                  // of them may have a head
    bool labels;                // their labels were looked at
};

// Where the contributions of rows under a fixed head are summed up: four numbers of 16 bits in a word; in 32 bits each; or
// doubles.
struct RefineKernels {
    std::size_t bytes;  // of a sum
    // Each row to the sum of its code; by the bytes of a code.
    void (*add[3])(const void* codes, const std::uint32_t* rows, std::size_t count, const void* contributions, void* sums);
    // Each row to the slots that it lists, and to slot `every`; sums are `stride` bytes apart.
    void (*add_listed)(const SlotLists& listed, const std::uint32_t* rows, std::size_t count, const void* contributions,
                       std::size_t stride, std::size_t every, void* sums);
    // Sums from one group to the next.
    void (*cumulate)(void* sums, std::size_t groups);
};

struct Kernels {
    CountKernels count[3];    // by Number
    RefineKernels refine[3];  // by Number
    // Values up to eight candidates from the matrices of their labels (`load`), if they cover something and at least
    // `least_covered`. What does not reach `floor` need not be valued.
    void (*value)(const BoundScoring&, float* matrices, std::size_t labels, const float* covered, std::size_t candidates,
                  float least_covered, float floor, Valued&);
    // How many bits of a line, of which words of eight bytes begin at some offsets, are also in masks.
    std::uint64_t (*count_bits)(const std::uint8_t* line, const std::uint32_t* offsets, const std::uint64_t* masks,
                                std::size_t count);
    // Values of many confusion matrices; tp, fp, tn, fn and the result are arrays of `count`.
    void (*evaluate)(HeuristicFormula, const double* tp, const double* fp, const double* tn, const double* fn, std::size_t count,
                     double* value);
};

bool has_avx2();  // has this processor AVX2, and is it not switched off by the environment variable PLURULE_NO_AVX2?
const Kernels& baseline_kernels();
const Kernels* avx2_kernels();  // null without AVX2

inline const Kernels& kernels() {
    static const Kernels& chosen = avx2_kernels() ? *avx2_kernels() : baseline_kernels();
    return chosen;
}
inline void Options::evaluate(const double* tp, const double* fp, const double* tn, const double* fn, std::size_t count,
                              double* values) const {
    if (is_custom())
        custom(tp, fp, tn, fn, count, values);
    else
        kernels().evaluate(heuristic, tp, fp, tn, fn, count, values);
}
inline std::size_t code_kind(std::size_t bytes) { return bytes / 2; }  // 1, 2, 4 -> 0, 1, 2

}  // namespace plurule
