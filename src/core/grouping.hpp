// Columns as they are given, ranked and grouped.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "values.hpp"

namespace plurule {

// The rows whose values are given one by one: all of them, or some (ascending) where the others hold 0, or the first category.
struct ListedRows {
    std::size_t n_rows;  // of the table
    bool is_sparse = false;
    std::span<const std::int32_t> some = {};

    std::size_t size() const { return is_sparse ? some.size() : n_rows; }
    Row operator[](std::size_t i) const { return is_sparse ? Row(some[i]) : Row(i); }
};

enum : std::int32_t { MISSING = -1, UNLISTED = -2 };

// A value as a whole number in the same order, and which of the listed rows it is of.
struct Entry {
    std::uint64_t key;
    std::uint32_t at;

    static Entry of(double value, std::uint32_t at);
    double value() const;
    bool operator<(const Entry& other) const { return key != other.key ? key < other.key : at < other.at; }
};

void sort(std::vector<Entry>& entries);

// The listed rows of a column. What it takes is used again for the next column.
struct Listed {
    std::vector<double> values;      // numeric; NaN: missing; never -0
    std::vector<std::int32_t> ranks;  // or categories; below 0: MISSING, UNLISTED
    std::vector<Entry> entries;

    // Ranks the values, in bins where there are more than `max_bins` different ones (0: never). Weights (or null) only matter for
    // bins.
    void rank(const ListedRows& rows, std::int32_t max_bins, const double* weights, Attribute& attribute);
};

// Keeps the ranks or categories of a column: as codes, or where one value is usual and nothing is missing, as a list of the other
// rows. `attribute.usual` is what unlisted rows have, and then the usual value, or -1.
void keep(const ListedRows& listed, const std::vector<std::int32_t>& ranks, Attribute& attribute, Codes& codes,
          SparseValues::Column& column);

}  // namespace plurule
