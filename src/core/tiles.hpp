// Tiles: the counts of eight slots, label by label, and the kernels that work on all eight at once.
//
// A slot is a group of rows that a condition covers. Where a slot has two sides, the rows on the other side are all rows in
// training but those of the slot. Values are computed in single precision, from whole numbers, and always rounded towards
// keeping a candidate: what is left is looked at exactly.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels.hpp"

namespace plurule {

constexpr std::size_t TILE = 8;
constexpr std::size_t THRESHOLDS = 6;

// TP, FP and positives of eight slots for one label: in 16 bits each where there are few rows, or in 32.
struct NarrowCell {
    std::uint32_t pair[TILE];  // TP, and FP in the upper half
    std::uint16_t present[TILE];

    static constexpr std::size_t MOST_ROWS = 1 << 15;  // fewer than that
    std::int32_t tp(std::size_t i) const { return std::int32_t(pair[i] & 0xffffu); }
    std::int32_t fp(std::size_t i) const { return std::int32_t(pair[i] >> 16); }
    void set_pair(std::size_t i, std::int32_t tp, std::int32_t fp) { pair[i] = std::uint32_t(tp) | std::uint32_t(fp) << 16; }
    void set_present(std::size_t i, std::int32_t count) { present[i] = std::uint16_t(count); }
};
struct WideCell {
    std::int32_t right[TILE], wrong[TILE], present[TILE];

    std::int32_t tp(std::size_t i) const { return right[i]; }
    std::int32_t fp(std::size_t i) const { return wrong[i]; }
    void set_pair(std::size_t i, std::int32_t tp, std::int32_t fp) { right[i] = tp, wrong[i] = fp; }
    void set_present(std::size_t i, std::int32_t count) { present[i] = count; }
};

// How labels are valued, and which may be in heads.
struct Scoring {
    Quotient quotient;
    bool absence;   // labels may be predicted absent
    bool averages;  // a head is worth the mean of its labels times its lift: bounds are kept for the mean
    bool sums;      // it is worth the quotient of their summed counts times its lift: exact in single precision, label by label
    bool additive;  // a head is worth the sum of its labels with a value above 0
    bool asks_head, asks_labels;   // for a minimum precision
    float right, wrong;  // a label has it where right × TP >= wrong × FP
    bool longer;         // a head may be worth more than one of its best labels alone
    float lift;          // the highest of all lengths
    float rise;          // how far a head can rise with one label: the highest lift per label
    float margin;        // the rounding of surpluses
};

// Per lane: what the rows in training sum to. `active` lists the lanes of labels that may be in a head.
struct LaneTotals {
    std::vector<std::int32_t> tp, fp, present, absent;
    std::vector<std::uint32_t> active;
    std::int32_t rows = 0;
};

// Bounds of the candidates of one side of a tile. A candidate is out of the way (bound -inf) while no head of it is allowed: until
// a label in play changes or the slack is used up; for good, and what is no candidate at all, where both are +inf.
struct TileBounds {
    float* bound;  // no head is worth more
    float* cut;    // a label whose value is, or was, at least this is in play
    float* slack;  // how much labels must gain in surplus before a head can be allowed
};

// "Some label reaches a value" as an inequality that is linear in the counts, with whole numbers as weights, rounded up: a side
// passes if for some lane the sum over its counts and the constant is not below 0. The same for "some label is precise", where
// the sum must be above 0.
struct Reach {
    std::int32_t tp, fp, present, covered, right, wrong;  // weights
    bool needs_right;                                     // a label without TP could pass
    float below;                                          // what fails is worth less
    float least;                                          // what reaches has a label worth at least this
    float cut;                                            // the same where heads are means; or else -inf
    float per_right;                                      // the surplus of what weighs 1
    std::vector<std::int32_t> constant;                   // per lane
    std::vector<std::int32_t> total, total_of_absence, total_right;  // per lane: constant and sum over all rows in training
};

// The same for a column whose groups are added up one after the other, without writing its counts down: what a row adds to the sum
// of a label, by its state, is a word with the score in its upper bits and the surplus of right over wrong in its lower ones.
struct Flags {
    static constexpr std::size_t MOST_VECTORS = 4;  // of eight labels, all predicted present
    struct Vector {
        std::size_t first_lane;
        std::int32_t of_state[8];
        std::int32_t least[8], most[8];  // per label: the part passes above the one, the rest below the other
        std::int32_t all_right[8];       // surplus of all rows in training
    };
    std::vector<Vector> vectors;
    int bits = 0;  // of the surplus
    bool asks_head = false, asks_labels = false;
};

// Which lengths of heads, and values between which labels, are told apart.
struct Lengths {
    static constexpr std::size_t MOST_SORTED = 32;  // labels
    std::vector<float> of_each;      // lift / length, of every length
    std::vector<std::size_t> length;  // those that are told apart where labels are not sorted,
    std::vector<float> share, lift;   // 1 / length; the highest lift from there to the next
    std::vector<float> highest_above, highest_up_to;  // per length: the highest lift of longer heads; of heads no longer
    float thresholds[THRESHOLDS];
};

// Eight candidates, valued.
struct TileValues {
    float value[TILE];    // no head is worth more; -inf: no label may be in a head
    float best[TILE];     // the value of the best label
    float cut[TILE];      // labels below this do not matter to the value
    float lacking[TILE];  // above 0: so much surplus is lacking to make up for that label
    std::int32_t fails[TILE];  // the best head has TP < FP, if it may have any label
};

// What a lane had and has, where pairs of its label were closed.
struct Closing {
    std::uint32_t lane;
    std::int32_t tp_before, fp_before;  // over all rows in training
};

struct TileKernels {
    // Counts slots of an attribute whose groups are added up one after the other, or stand for themselves, from words of the rows
    // (rows × stride, eight lanes at a time: TP, and FP in the upper half; positives). Only for narrow cells.
    void (*count)(const GroupSpan&, bool cumulative, const std::uint32_t* words, std::size_t stride, std::size_t lanes, void* cells);
    // The candidates to look at, bits 0 to 7 those of the slots, 8 to 15 of their other sides: where the bound reaches `least`, some
    // label reaches what is asked, and others make up for what it gets wrong; without a reach, by their bounds alone. What is found out about the others
    // is kept in their bounds; or, if not `keeps`, bounds are neither asked nor kept.
    std::uint32_t (*filter)(const Scoring&, const LaneTotals&, const Reach*, const void* cells, const std::int32_t* covered,
                            const TileBounds* sides, std::size_t n_sides, float least, bool keeps);
    // The groups up to which some label passes (2 × group), and those up to which it passes for the rest (2 × group + 1); how many.
    std::size_t (*flag)(const Flags&, const GroupSpan&, const std::uint8_t* states, std::size_t width, std::uint32_t* found);
    void (*values)(const Scoring&, const LaneTotals&, const Lengths&, const void* cells, const std::int32_t* covered, bool other_side,
                   float needed, TileValues&);
    // Writes the new counts of a lane; gives whether bounds may have changed, and the highest of them then.
    bool (*revise)(const Scoring&, const LaneTotals&, const Closing&, void* cells, const std::int32_t* tp, const std::int32_t* fp,
                   const std::int32_t* covered, const TileBounds* sides, std::size_t n_sides, float* best);
};

// For wide cells, or narrow ones.
const TileKernels& tile_kernels(bool wide);

}  // namespace plurule
