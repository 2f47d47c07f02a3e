// The histogram of the first pass: TP, FP and positives of every slot of every attribute, label by label, kept from rule to rule.
//
// Like the histograms of gradient boosting, but cumulative, so that a slot is what a condition covers, and label by label.
//   dense numeric   a slot per rank covers the rows up to it; the last one covers all that are not missing
//   dense nominal   a slot per category
//   sparse          a slot per listed value covers the rows from there on, away from the usual value
//   labels          two slots each, the rows that rules predict it absent and present for
// Numeric and sparse slots have another side: all rows with a value but those of the slot.
// Cells are groups of eight slots × columns × (TP, FP, positives) × 8. A column is a label; the last one counts rows: its positives
// are the coverage.
//
// A rule takes pairs or rows out of training: what they sum to is counted in the same way and subtracted.
#pragma once
#include <cstdint>
#include <vector>

#include "state.hpp"
#include "threads.hpp"

namespace plurule {

// Slots that are counted and looked at together: those of a dense attribute, or some of the sparse attributes or labels.
struct Part {
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
    Buffer<std::uint8_t> numbers;
    std::vector<std::uint32_t> rows;  // per slot: how many rows have its value; only of numeric and sparse ones
    std::size_t first_group = 0;
};

class Histogram {
   public:
    // `attributes`: those that a condition may be on.
    Histogram(const State& state, const std::vector<std::size_t>& attributes, bool label_conditions, Threads& threads);

    const std::vector<Part>& parts() const { return parts_; }
    // The cells of all parts over the rows in training; null where they would take too much memory.
    const Cells* kept() const { return is_kept_ ? &kept_ : nullptr; }
    std::size_t n_groups() const { return n_groups_; }
    // How often the counts of a label have changed, those of conditions on labels left out.
    std::uint32_t version(std::size_t label) const { return versions_[label]; }
    // Counts everything that is kept anew.
    void start();
    // The cells of a part over some rows, in pieces that take a bearable amount of memory: use(first group, number of groups).
    template <class Use>
    void in_pieces(const Part& part, const std::vector<Row>& rows, Cells& cells, Use&& use) const;

    // Eight candidates as floats (CountKernels::load); and TP, FP and positives of one slot as doubles.
    void load(const Cells& cells, std::size_t group, const std::vector<std::int32_t>& columns, std::span<const std::uint32_t> places,
              const Totals& totals, bool other_side, float* matrices, float* covered) const {
        kernels_.load(group_at(cells, group), columns, places, totals, other_side, matrices, covered);
    }
    // Whether one of eight candidates may have a label worth a value (CountKernels::reaches).
    bool reaches(const Cells& cells, std::size_t group, const std::vector<std::int32_t>& columns, const Totals& totals, bool other_side,
                 const Scoring& scoring, float value) const {
        return kernels_.reaches(group_at(cells, group), columns, totals, other_side, scoring, value);
    }
    void gather(const Cells& cells, std::size_t slot, const std::int32_t* columns, std::size_t count, double* to) const {
        kernels_.gather(group_at(cells, slot / LANES), columns, count, slot % LANES, to);
    }

    // Whether a slot, or its other side, gives a condition: the attribute, and where it splits. `n_rows`: over so many rows.
    bool split_of(const Cells& cells, const Part& part, std::size_t slot, bool other_side, std::size_t n_rows, std::size_t& a, Split& split) const;

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
    struct Piece {  // slots of a part, and the rows that they are counted from
        const Part& part;
        std::size_t first, last;  // slots of the part
        const std::vector<Row>& rows;
        std::vector<std::span<const std::uint32_t>> listed;  // sparse: what the rows list of the part
        bool whole = false;                                  // the rows are all that are in training: nothing is listed
    };
    std::size_t n_columns() const { return state_.n_labels + 1; }
    std::size_t group_bytes() const { return n_columns() * CELL * kernels_.bytes; }
    const std::uint8_t* group_at(const Cells& cells, std::size_t group) const { return cells.numbers.data() + (group - cells.first_group) * group_bytes(); }
    void lay_out(Part::Kind kind, std::size_t first, std::size_t n_slots);
    Piece piece_of(const Part& part, const std::vector<Row>& rows) const;
    Columns8 columns_of(std::size_t strip) const;
    bool is_wanted(std::size_t strip) const;
    void add_strips(const Piece& piece, bool subtract, std::vector<std::uint8_t>* carry, Buffer<std::uint8_t>& sums, Cells& to) const;
    void sum_up(const Piece& piece, const RowStates& states, Buffer<std::uint8_t>& sums) const;
    void fold(const Piece& piece, const Columns8& columns, int kinds, bool subtract, const Buffer<std::uint8_t>& sums, Cells& to) const;
    void count_values(const Piece& piece, int change, Cells& to) const;
    std::size_t sort_rows(const Part& part, const std::vector<Row>& rows, std::vector<Row>& sorted, std::vector<std::uint32_t>& ends) const;
    bool sparse_split(const std::uint32_t* rows, const Part& part, std::size_t slot, bool other_side, std::size_t n_rows, std::size_t& a, Split& split) const;
    std::size_t groups_at_once() const { return std::max<std::size_t>(1, BYTES_AT_ONCE / group_bytes()); }

    static constexpr std::size_t BYTES_AT_ONCE = std::size_t(1) << 23;
    const State& state_;
    Threads& threads_;
    const CountKernels& kernels_;
    std::vector<Part> parts_;
    std::size_t n_groups_ = 0;
    bool is_kept_ = true;
    Cells kept_;
    std::vector<std::uint32_t> versions_;     // per label
    std::vector<Buffer<std::uint8_t>> sums_;  // per thread
    Buffer<std::uint8_t> closed_;             // rows × 8: pairs that are closed
};

template <class Use>
void Histogram::in_pieces(const Part& part, const std::vector<Row>& rows, Cells& cells, Use&& use) const {
    Buffer<std::uint8_t> sums;
    Piece piece = piece_of(part, rows);
    cells.first_group = part.first_group;
    cells.rows.assign(part.groups() * LANES, 0);
    count_values(piece, 1, cells);
    const auto make_room = [&](std::size_t groups) { cells.numbers.assign(groups * group_bytes(), 0); };
    if (part.groups() <= groups_at_once() || !(part.kind == Part::Kind::numeric || part.kind == Part::Kind::nominal)) {
        make_room(part.groups());
        add_strips(piece, false, nullptr, sums, cells);
        return use(std::size_t(part.first_group), part.groups());
    }
    // A dense attribute of very many values: its rows in the order of values, some values at a time.
    std::vector<Row> sorted, some;
    std::vector<std::uint32_t> ends;
    std::vector<std::uint8_t> carry(state_.width / LANES * CELL * kernels_.bytes, 0);
    sort_rows(part, rows, sorted, ends);
    for (std::size_t first = 0; first < part.n_slots; first += groups_at_once() * LANES) {
        const std::size_t last = std::min<std::size_t>(part.n_slots, first + groups_at_once() * LANES), groups = (last - first + LANES - 1) / LANES;
        some.assign(sorted.begin() + (first ? ends[first - 1] : 0), sorted.begin() + ends[last - 1]);
        cells.first_group = part.first_group + first / LANES;
        make_room(groups);
        add_strips(Piece{part, first, last, some, {}, false}, false, part.kind == Part::Kind::numeric ? &carry : nullptr, sums, cells);
        use(cells.first_group, groups);
    }
}

}  // namespace plurule
