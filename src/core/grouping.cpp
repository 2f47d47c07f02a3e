#include "grouping.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace plurule {

namespace {

constexpr std::uint64_t SIGN = std::uint64_t(1) << 63;
constexpr int DIGIT = 11, DIGITS = 3, BELOW = 64 - DIGITS * DIGIT;  // bits
constexpr std::size_t FEW = 1024;                                   // are sorted by comparing

std::size_t digit_of(const Entry& entry, int digit) { return entry.key >> (BELOW + digit * DIGIT) & ((1u << DIGIT) - 1); }

// The upper bits, digit by digit; leaves the order of those that are equal there.
void sort_upper_bits(std::vector<Entry>& entries) {
    std::vector<std::uint32_t> counts(DIGITS << DIGIT, 0);
    for (const Entry& entry : entries)
        for (int digit = 0; digit < DIGITS; ++digit) ++counts[(std::size_t(digit) << DIGIT) + digit_of(entry, digit)];
    std::vector<Entry> sorted(entries.size());
    for (int digit = 0; digit < DIGITS; ++digit) {
        std::uint32_t* next = counts.data() + (std::size_t(digit) << DIGIT);
        if (next[digit_of(entries[0], digit)] == entries.size()) continue;
        std::uint32_t sum = 0;
        for (std::size_t i = 0; i < std::size_t(1) << DIGIT; ++i) sum += std::exchange(next[i], sum);
        for (const Entry& entry : entries) sorted[next[digit_of(entry, digit)]++] = entry;
        entries.swap(sorted);
    }
}

// The bin of a value, given how many of all values are below it: as many in each as possible.
double bin_of(double below, std::int32_t max_bins, double total) { return std::floor(below * max_bins / total); }

}  // namespace

Entry Entry::of(double value, std::uint32_t at) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(value + 0.0);  // -0 is 0
    return {bits & SIGN ? ~bits : bits | SIGN, at};
}
double Entry::value() const { return std::bit_cast<double>(key & SIGN ? key ^ SIGN : ~key); }

void sort(std::vector<Entry>& entries) {
    if (entries.size() < FEW) return std::sort(entries.begin(), entries.end());
    sort_upper_bits(entries);
    const auto upper = [](const Entry& entry) { return entry.key >> BELOW; };
    for (auto begin = entries.begin(), end = begin; begin != entries.end(); begin = end) {
        bool in_order = true;
        for (end = begin + 1; end != entries.end() && upper(*end) == upper(*begin); ++end) in_order &= (end - 1)->key <= end->key;
        if (!in_order) std::sort(begin, end);
    }
}

void Listed::rank(const ListedRows& listed, std::int32_t max_bins, const double* weights, Attribute& attribute) {
    ranks.resize(values.size());
    if (values.empty() && listed.n_rows > 0) {  // no condition is on a column of zeros, so its only value is not written down
        attribute.values = 1;
        attribute.usual = 0;
        return;
    }
    std::size_t n_missing = 0, distinct = 0;
    entries.clear();
    entries.reserve(values.size());
    for (std::uint32_t i = 0; i < values.size(); ++i) {
        ranks[i] = std::isnan(values[i]) ? MISSING : UNLISTED;
        n_missing += std::isnan(values[i]);
        if (!std::isnan(values[i]) && !(listed.is_sparse && values[i] == 0)) entries.push_back(Entry::of(values[i], i));
    }
    sort(entries);
    const std::size_t zeros = listed.n_rows - entries.size() - n_missing;
    const auto weight = [&](const Entry& entry) { return weights ? weights[listed[entry.at]] : 1.0; };
    double total = double(listed.n_rows - n_missing), held_by_zero = double(zeros);
    if (weights) {
        total = 0;
        for (Row row = 0; row < listed.n_rows; ++row) total += weights[row];
        for (std::size_t i = 0; i < ranks.size(); ++i)
            if (ranks[i] == MISSING) total -= weights[listed[i]];
        held_by_zero = total;
        for (const Entry& entry : entries) held_by_zero -= weight(entry);
    }
    for (std::size_t i = 0; i < entries.size(); ++i) distinct += i == 0 || entries[i].key != entries[i - 1].key;
    const bool binned = max_bins > 0 && distinct + (zeros > 0) > std::size_t(max_bins);

    double before = 0, bin = -1;
    std::int32_t rank = -1;
    if (!binned) attribute.lowest.reserve(distinct + (zeros > 0));
    const auto enter = [&](double value) {  // the next distinct value: the same rank as the one before, or a new one
        const double next_bin = binned ? bin_of(before, max_bins, total) : bin + 1;
        if (next_bin != bin) {
            ++rank;
            attribute.lowest.push_back(value);
            if (binned) attribute.highest.push_back(value);
        }
        bin = next_bin;
        if (binned) attribute.highest.back() = value;
    };
    const auto enter_zeros = [&] {
        enter(0.0);
        attribute.usual = rank;
        before += held_by_zero;
    };
    bool zeros_entered = zeros == 0;
    const std::uint64_t zero = Entry::of(0, 0).key;
    for (std::size_t i = 0; i < entries.size();) {
        if (!zeros_entered && entries[i].key > zero) {
            enter_zeros();
            zeros_entered = true;
        }
        enter(entries[i].value());
        for (const std::uint64_t key = entries[i].key; i < entries.size() && entries[i].key == key; ++i) {
            ranks[entries[i].at] = rank;
            before += weight(entries[i]);
        }
    }
    if (!zeros_entered) enter_zeros();
    attribute.values = rank + 1;
}

void keep(const ListedRows& listed, const std::vector<std::int32_t>& ranks, Attribute& attribute, Codes& codes,
          SparseValues::Column& column) {
    thread_local std::vector<std::size_t> counts;  // the memory is used again for the next column
    counts.assign(std::size_t(attribute.values), 0);
    const std::int32_t unlisted = attribute.usual;
    const auto value_of = [&](std::size_t i) { return ranks[i] == UNLISTED ? unlisted : ranks[i]; };
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        attribute.some_missing |= ranks[i] == MISSING;
        if (value_of(i) >= 0) ++counts[std::size_t(value_of(i))];
    }
    if (unlisted >= 0) counts[std::size_t(unlisted)] += listed.n_rows - ranks.size();
    const auto most = std::max_element(counts.begin(), counts.end());
    const std::size_t others = most == counts.end() ? listed.n_rows : listed.n_rows - *most;
    const auto different = std::count_if(counts.begin(), counts.end(), [](std::size_t count) { return count > 0; });
    attribute.usual = -1;
    if (!attribute.some_missing && 4 * others <= listed.n_rows && listed.n_rows > 0 && (!attribute.nominal || different <= 2)) {
        attribute.usual = std::int32_t(most - counts.begin());
        // Rows that are not listed have the usual value: it is that of most rows.
        for (std::size_t i = 0; i < ranks.size(); ++i)
            if (value_of(i) != attribute.usual) {
                column.rows.push_back(listed[i]);
                column.values.push_back(value_of(i));
            }
        if (unlisted < 0 || unlisted == attribute.usual) return;
        column = {column.attribute, {}, {}};
        attribute.usual = -1;
    }
    if (!listed.is_sparse) return codes.assign(ranks, attribute.values);
    std::vector<std::int32_t> all(listed.n_rows);
    std::fill(all.begin(), all.end(), unlisted);
    for (std::size_t i = 0; i < ranks.size(); ++i) all[listed[i]] = value_of(i);
    codes.assign(all, attribute.values);
}

}  // namespace plurule
