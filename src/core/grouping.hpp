// Columns as they are given, ranked and grouped.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "grouped_rows.hpp"

namespace plurule {

// The rows whose values are given one by one: all of them, or some (ascending) where the others hold 0, or the first category.
struct ListedRows {
    std::size_t n_rows;  // of the table
    bool is_sparse = false;
    std::span<const std::int32_t> some = {};

    std::size_t size() const { return is_sparse ? some.size() : n_rows; }
    Row operator[](std::size_t i) const { return is_sparse ? Row(some[i]) : Row(i); }
};

// Ranks or categories of the listed rows; below 0: these.
using Ranks = Buffer<std::int32_t>;
enum : std::int32_t { MISSING = -1, UNLISTED = -2 };

// A value as a whole number in the same order, and which of the listed rows it is of.
struct Entry {
    std::uint64_t key;
    std::uint32_t at;

    static Entry of(double value, std::uint32_t at);
    double value() const;
    bool operator<(const Entry& other) const { return key != other.key ? key < other.key : at < other.at; }
};

void sort(Buffer<Entry>& entries);

// Ranks values, all but those missing or unlisted, in bins where there are more than `max_bins` different ones (0: never).
// Weights (or null) only matter for bins.
void rank_numeric(const ListedRows& listed, Buffer<Entry>& entries, std::int32_t max_bins, const double* weights, Attribute& attribute,
                  Ranks& ranks);

// Groups the listed rows by their ranks or categories. The rows of the most frequent value are left unlisted where that is a good
// part of all rows. With `pack`, a table of one byte per row is made instead of lists where that says everything.
void group(const ListedRows& listed, const Ranks& ranks, bool pack, Attribute& attribute, GroupedRows& grouped,
           std::vector<std::uint8_t>& codes);

}  // namespace plurule
