#include "grouping.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace plurule {

namespace {

constexpr std::uint64_t SIGN = std::uint64_t(1) << 63;
constexpr int DIGIT = 11, DIGITS = 3, BELOW = 64 - DIGITS * DIGIT;  // bits
constexpr std::size_t FEW = 1024;                                   // are sorted by comparing

std::size_t digit_of(const Entry& entry, int digit) { return entry.key >> (BELOW + digit * DIGIT) & ((1u << DIGIT) - 1); }

// The upper bits, digit by digit; leaves the order of those that are equal there.
void sort_upper_bits(Buffer<Entry>& entries) {
    std::vector<std::uint32_t> counts(DIGITS << DIGIT, 0);
    for (const Entry& entry : entries)
        for (int digit = 0; digit < DIGITS; ++digit) ++counts[(std::size_t(digit) << DIGIT) + digit_of(entry, digit)];
    Buffer<Entry> sorted(entries.size());
    for (int digit = 0; digit < DIGITS; ++digit) {
        std::uint32_t* next = counts.data() + (std::size_t(digit) << DIGIT);
        if (next[digit_of(entries[0], digit)] == entries.size()) continue;
        std::uint32_t sum = 0;
        for (std::size_t i = 0; i < std::size_t(1) << DIGIT; ++i) sum += std::exchange(next[i], sum);
        for (const Entry& entry : entries) sorted[next[digit_of(entry, digit)]++] = entry;
        entries.swap(sorted);
    }
}

}  // namespace

Entry Entry::of(double value, std::uint32_t at) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(value + 0.0);  // -0 is 0
    return {bits & SIGN ? ~bits : bits | SIGN, at};
}
double Entry::value() const { return std::bit_cast<double>(key & SIGN ? key ^ SIGN : ~key); }

void sort(Buffer<Entry>& entries) {
    if (entries.size() < FEW) return std::sort(entries.begin(), entries.end());
    sort_upper_bits(entries);
    const auto upper = [](const Entry& entry) { return entry.key >> BELOW; };
    for (auto begin = entries.begin(), end = begin; begin != entries.end(); begin = end) {
        bool in_order = true;
        for (end = begin + 1; end != entries.end() && upper(*end) == upper(*begin); ++end) in_order &= (end - 1)->key <= end->key;
        if (!in_order) std::sort(begin, end);
    }
}

void rank_numeric(const ListedRows& listed, Buffer<Entry>& entries, std::int32_t max_bins, const double* weights, Attribute& attribute,
                  Ranks& ranks) {
    sort(entries);
    std::size_t n_missing = 0, distinct = 0;
    for (std::int32_t rank : ranks) n_missing += rank == MISSING;
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
    const auto enter = [&](double value) {  // the next distinct value: the same rank as the one before, or a new one
        const double next_bin = binned ? std::floor(before * max_bins / total) : bin + 1;
        if (next_bin != bin) {
            ++rank;
            attribute.lowest.push_back(value);
            attribute.highest.push_back(value);
        }
        bin = next_bin;
        attribute.highest.back() = value;
    };
    const auto enter_zeros = [&] {
        enter(0.0);
        attribute.rest = rank;
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

void group(const ListedRows& listed, const Ranks& ranks, bool pack, Attribute& attribute, GroupedRows& grouped,
           std::vector<std::uint8_t>& codes) {
    std::vector<std::uint32_t> next(std::size_t(attribute.values), 0);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        if (ranks[i] == MISSING) grouped.missing.push_back(listed[i]);
        if (ranks[i] >= 0 && ranks[i] != attribute.rest) ++next[std::size_t(ranks[i])];
    }
    if (const auto most = std::max_element(next.begin(), next.end()); attribute.rest < 0 && most != next.end() && *most && std::size_t(*most) * 4 >= listed.n_rows) {
        attribute.rest = std::int32_t(most - next.begin());
        *most = 0;
    }
    if (pack && attribute.rest < 0 && grouped.missing.empty() && attribute.values <= 256) {
        codes.assign(ranks.begin(), ranks.end());
        return;
    }
    std::uint32_t end = 0;
    for (std::size_t rank = 0; rank < next.size(); ++rank) {
        const std::uint32_t size = std::exchange(next[rank], end);
        if (size == 0) continue;
        grouped.ends.push_back(end += size);
        grouped.ids.push_back(std::int32_t(rank));
    }
    grouped.rows.resize(end);
    for (std::size_t i = 0; i < ranks.size(); ++i)
        if (ranks[i] >= 0 && ranks[i] != attribute.rest) grouped.rows[next[std::size_t(ranks[i])]++] = listed[i];
}

}  // namespace plurule
