// Counting a block of rows: what its rows contribute to every value of every column.
//
// A block is columns of small codes, the state of its pairs and, perhaps, weights. Counts of blocks are exact, so they add up to
// those of all rows in any order. Deciding is elsewhere.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace plurule {

// One column: a code below `slots` for each row, of one byte or two.
struct CodedColumn {
    const void* codes;  // null: the column is sparse, its codes are listed row by row
    std::size_t bytes;
    std::size_t slots;
};

// The rows that count, and what each of them contributes.
struct CountedRows {
    std::span<const std::uint32_t> rows;
    const std::uint8_t* states;  // rows × width bytes of OPEN_PRESENT, OPEN_ABSENT and PRESENT
    std::size_t width;
    const double* weights;  // null: every row counts 1
    std::span<const std::int32_t> labels;  // to count
    bool whole;  // a row with one open pair among the labels counts with all of them
    std::span<const std::uint32_t> listed;     // slots among those of all columns, row by row
    std::span<const std::int64_t> row_starts;  // where those of each row begin, and end; none if no column is sparse
};

// Adds to `sums`, slots of all columns × (3 × labels + 1): open present, open absent and present of every label, and the weight of the
// rows. Counted by the kernels of the histogram. Codes are checked.
void count_block(const std::vector<CodedColumn>& columns, const CountedRows& counted, double* sums);

}  // namespace plurule
