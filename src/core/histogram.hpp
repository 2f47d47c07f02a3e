// The histogram of the first pass: TP, FP and positives of every slot of every attribute, label by label, kept from rule to rule.
//
// Like the histograms of gradient boosting, but cumulative, so that a slot is what a condition covers, and label by label.
//   dense numeric   a slot per rank covers the rows up to it; the last one covers all that are not missing
//   dense nominal   a slot per category
//   sparse          a slot per listed value covers the rows from there on, away from the usual value
//   labels          two slots each, the rows that rules predict it absent and present for
// Numeric and sparse slots have another side: all rows with a value but those of the slot.
// Cells are groups of eight slots × columns × (TP, FP, positives) × 8. A column is a label; the last one counts rows: its
// positives are the coverage.
//
// A rule takes pairs or rows out of training: what they sum to is counted in the same way and subtracted.
#pragma once
#include <cstdint>
#include <vector>

#include "state.hpp"
#include "threads.hpp"

namespace plurule {

// Slots that are counted and looked at together: those of a dense attribute, or some of the sparse attributes or labels.
struct SlotRange {
    enum class Kind { numeric, nominal, sparse, labels } kind;
    std::uint32_t first;        // the attribute, or of the sparse slots or labels
    std::uint32_t first_group;  // in the table
    std::uint32_t n_slots;

    bool two_sided() const { return kind == Kind::numeric || kind == Kind::sparse; }
    std::size_t groups() const { return (n_slots + LANES - 1) / LANES; }
    std::size_t first_slot() const { return first_group * LANES; }
};

// The cells of some groups, the first of which is number `first_group` of the table.
struct Cells {
    std::vector<std::uint8_t> numbers;
    std::vector<std::uint32_t> rows;  // per slot: how many rows have its value; only of numeric and sparse ones
    std::size_t first_group = 0;
};

class Histogram {
   public:
    // `attributes`: those that a condition may be on.
    Histogram(const State& state, const std::vector<std::size_t>& attributes, bool label_conditions, Threads& threads);

    const std::vector<SlotRange>& ranges() const { return ranges_; }
    // The cells of all ranges over the rows in training; null where they would take too much memory.
    const Cells* kept() const { return is_kept_ ? &kept_ : nullptr; }
    std::size_t n_groups() const { return n_groups_; }
    // How often the counts of a label have changed, those of conditions on labels left out.
    std::uint32_t version(std::size_t label) const { return versions_[label]; }
    // Counts everything that is kept.
    void start();
    // Counts the cells of a range over some rows.
    void count(const SlotRange& range, const std::vector<Row>& rows, Cells& cells, std::size_t thread);

    // Eight candidates as floats (CountKernels::load); and TP, FP and positives of one slot as doubles.
    void load(const Cells& cells, std::size_t group, const std::vector<std::int32_t>& columns,
              std::span<const std::uint32_t> places, const Totals& totals, bool other_side, float* matrices,
              float* covered) const {
        kernels_.load(group_at(cells, group), columns, places, totals, other_side, matrices, covered);
    }
    // On which sides of the groups of a range a label may be precise (CountKernels::find_precise).
    void find_precise(const Cells& cells, const SlotRange& range, const std::vector<std::int32_t>& columns, const Totals& totals,
                      const BoundScoring& scoring, std::uint8_t* sides) const {
        kernels_.find_precise(group_at(cells, range.first_group), range.groups(), n_columns(), columns, totals, scoring, sides);
    }
    // Labels that may be precise (CountKernels::rate_labels), and those that may be in heads (CountKernels::relevant).
    bool rate_labels(const Cells& cells, std::size_t group, const std::vector<std::int32_t>& columns,
                     std::span<const std::uint32_t> places, const Totals& totals, bool other_side, const BoundScoring& scoring,
                     float every, std::uint8_t* is_precise) const {
        return kernels_.rate_labels(group_at(cells, group), columns, places, totals, other_side, scoring, every, is_precise);
    }
    std::size_t relevant(const Cells& cells, std::size_t group, const std::vector<std::int32_t>& columns, const Totals& totals,
                         bool other_side, const BoundScoring& scoring, float every, float best, std::uint32_t* places) const {
        return kernels_.relevant(group_at(cells, group), columns, totals, other_side, scoring, every, best, places);
    }
    void gather(const Cells& cells, std::size_t slot, const std::int32_t* columns, std::size_t count, double* to) const {
        kernels_.gather(group_at(cells, slot / LANES), columns, count, slot % LANES, to);
    }

    // Whether a slot, or its other side, gives a condition: the attribute, and where it splits. `n_rows`: over so many rows.
    bool split_of(const Cells& cells, const SlotRange& range, std::size_t slot, bool other_side, std::size_t n_rows,
                  std::size_t& a, Split& split) const;

    // Before pairs are closed: the open ones of some rows and labels.
    void close(const std::vector<Row>& rows, const std::vector<std::int32_t>& labels, bool alone);
    // After rules have decided a label for more rows.
    void decide(std::size_t label, std::uint8_t sign, const std::vector<Row>& rows);
    // Before rows leave training.
    void remove(const std::vector<Row>& rows, bool alone);

   private:
    struct Columns8 {
        std::int32_t label[LANES];
    };
    struct Counted {  // a range, and the rows that it is counted from
        const SlotRange& range;
        const std::vector<Row>& rows;
        std::vector<std::span<const std::uint32_t>> listed;  // sparse: what the rows list of the range
        bool whole = false;                                  // the rows are all that are in training: nothing is listed
    };
    std::size_t n_columns() const { return state_.n_labels + 1; }
    std::size_t group_bytes() const { return n_columns() * CELL * kernels_.bytes; }
    const std::uint8_t* group_at(const Cells& cells, std::size_t group) const {
        return cells.numbers.data() + (group - cells.first_group) * group_bytes();
    }
    void lay_out(SlotRange::Kind kind, std::size_t first, std::size_t n_slots);
    Counted counted(const SlotRange& range, const std::vector<Row>& rows) const;
    Columns8 columns_of(std::size_t strip) const;
    bool is_wanted(std::size_t strip) const;
    void add_strips(const Counted& counted, bool subtract, std::vector<std::uint8_t>& sums, Cells& to) const;
    void add_strip(const Counted& counted, const RowStates& states, const Columns8& columns, int kinds, bool subtract,
                   std::vector<std::uint8_t>& sums, Cells& to) const;
    void sum_up(const Counted& counted, const RowStates& states, std::vector<std::uint8_t>& sums) const;
    void fold(const SlotRange& range, const Columns8& columns, int kinds, bool subtract, const std::vector<std::uint8_t>& sums,
              Cells& to) const;
    void count_values(const Counted& counted, int change, Cells& to) const;
    bool sparse_split(const std::uint32_t* rows, const SlotRange& range, std::size_t slot, bool other_side, std::size_t n_rows,
                      std::size_t& a, Split& split) const;

    const State& state_;
    Threads& threads_;
    const CountKernels& kernels_;
    std::vector<SlotRange> ranges_;
    std::size_t n_groups_ = 0;
    bool is_kept_ = true;
    Cells kept_;
    std::vector<std::uint32_t> versions_;     // per label
    std::vector<std::vector<std::uint8_t>> sums_;  // per thread
    std::vector<std::uint8_t> closed_;             // rows × 8: pairs that are closed
};

}  // namespace plurule
