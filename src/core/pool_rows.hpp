// Rows with what the bodies of a pool cover there, summed up without looking at rows that do not count.
#pragma once
#include "pool_selection.hpp"

namespace plurule {

// Lines of marks, one bit for each row; there may be more bits than rows, which are 0.
struct RowBits {
    RowBits(const std::uint8_t* bytes, std::size_t n_lines, std::size_t n_bytes);  // the lowest bit of a byte comes first
    const std::uint64_t* line(std::size_t number) const { return words.data() + number * n_words; }

    std::size_t n_lines, n_words;
    std::vector<std::uint64_t> words;
};

class PoolRows {
   public:
    // `holds`: by body; `open` and `present`: by label, the pairs that are still to be decided, and that have the label. Weights
    // of rows are whole multiples of a unit, so that sums are exact; there are none if every row counts 1. It is faster if rows of
    // the same weight are neighbours.
    PoolRows(std::size_t n_rows, RowBits holds, RowBits open, RowBits present, std::vector<double> weights);

    // The weight of the open pairs that cover updates share with each body: of those that have the label, and of all.
    // Adds to updates × (those, all) × bodies.
    void take(const std::vector<PoolSelection::CoverUpdate>& asked, double* sums) const;

    // Selects from the pool until nothing more is chosen.
    void select(PoolSelection& selection) const;

    std::size_t n_bodies() const { return holds_.n_lines; }
    std::size_t n_labels() const { return open_.n_lines; }

   private:
    void add(const std::vector<std::uint64_t>& rows, double* sums) const;

    RowBits holds_, open_, present_;
    std::size_t stride_;
    std::vector<std::uint8_t> held_;  // rows × bodies, each row filled up to whole blocks
    std::vector<double> weights_;
};

}  // namespace plurule
