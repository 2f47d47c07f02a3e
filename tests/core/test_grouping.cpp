// Columns are sorted, ranked and grouped as their definition says.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "grouping.hpp"

using namespace plurule;

namespace {

// Whole numbers, values that differ in their last bits, and any others.
double some_value(std::mt19937& random, int kind) {
    if (kind == 0) return double(random() % 50) - 25;
    if (kind == 1) return 1 + double(random() % 1000) * std::numeric_limits<double>::epsilon();
    return std::normal_distribution<double>()(random) * (random() % 2 ? 1e-300 : 1e300);
}

}  // namespace

TEST_CASE("values are sorted, equal ones in the order of rows") {
    std::mt19937 random(3);
    for (std::size_t count : {0, 1, 500, 5000})
        for (int kind = 0; kind < 3; ++kind) {
            std::vector<std::pair<double, std::uint32_t>> expected;
            std::vector<Entry> entries;
            for (std::uint32_t at = 0; at < count; ++at) {
                expected.emplace_back(some_value(random, kind), at);
                entries.push_back(Entry::of(expected.back().first, at));
            }
            std::sort(expected.begin(), expected.end());
            sort(entries);
            for (std::size_t i = 0; i < count; ++i) CHECK(std::pair(entries[i].value(), entries[i].at) == expected[i]);
        }
    CHECK(Entry::of(-0.0, 0).key == Entry::of(0.0, 0).key);
}

TEST_CASE("columns are kept as codes, or as lists where one value is usual") {
    std::mt19937 random(4);
    for (int round = 0; round < 300; ++round) {
        const ListedRows listed{1 + random() % 40};
        const std::int32_t max_bins = random() % 2 ? 3 : 0;
        const bool mostly_zero = random() % 2, some_missing = random() % 2;
        Listed column;
        for (std::size_t at = 0; at < listed.size(); ++at)
            column.values.push_back(some_missing && random() % 9 == 0 ? std::nan("") : mostly_zero && random() % 8 ? 0.0 : double(random() % 8));
        Attribute attribute;
        Codes codes;
        SparseValues::Column kept{0, {}, {}};
        column.rank(listed, max_bins, nullptr, attribute);
        keep(listed, column.ranks, attribute, codes, kept);
        CHECK((max_bins == 0 || attribute.values <= max_bins));
        CHECK(codes.empty() == attribute.sparse());
        SparseValues sparse;
        if (attribute.sparse()) sparse = SparseValues(listed.size(), {attribute}, {kept});
        for (Row row = 0; row < listed.size(); ++row) {
            const std::int32_t rank = column.ranks[row];
            const std::int32_t found = attribute.sparse() ? sparse.values_of(0, listed.size(), attribute.usual)[row]
                                                          : codes.with([&](const auto* c) { return std::int32_t(c[row]); });
            CHECK(found == (rank < 0 ? attribute.values : rank));
            if (rank < 0) continue;
            CHECK(attribute.lowest[std::size_t(rank)] <= column.values[row]);
            CHECK(attribute.highest_of(std::size_t(rank)) >= column.values[row]);
        }
    }
}

TEST_CASE("bins of many values are those of their definition") {
    std::mt19937 random(5);
    std::cauchy_distribution<double> cauchy;
    for (int kind = 0; kind < 6; ++kind)
        for (std::int32_t max_bins : {2, 32, 255, 40'000}) {
            const ListedRows listed{40'000};
            Listed column;
            auto& values = column.values;
            std::map<double, std::size_t> held;
            double total = 0;
            for (std::uint32_t at = 0; at < listed.size(); ++at) {
                const double normal = std::normal_distribution<double>()(random);
                values.push_back(kind < 3 ? some_value(random, kind) : kind == 3 ? normal : kind == 4 ? cauchy(random) : std::round(normal * 500));
                if (random() % 9 == 0) {
                    values.back() = std::nan("");
                } else {
                    ++held[values[at]];
                    ++total;
                }
            }
            Attribute attribute;
            column.rank(listed, max_bins, nullptr, attribute);
            std::map<double, std::int32_t> expected;
            std::vector<double> lowest, highest;
            double before = 0, bin = -1;
            for (const auto& [value, count] : held) {
                const double next = held.size() > std::size_t(max_bins) ? std::floor(before * max_bins / total) : bin + 1;
                if (next != bin) lowest.push_back(value), highest.push_back(value);
                highest.back() = value;
                expected[value] = std::int32_t(lowest.size()) - 1;
                bin = next;
                before += double(count);
            }
            CHECK((attribute.lowest == lowest && attribute.values == std::int32_t(lowest.size())));
            for (std::size_t rank = 0; rank < lowest.size(); ++rank) CHECK(attribute.highest_of(rank) == highest[rank]);
            bool same = true;
            for (std::uint32_t at = 0; at < listed.size(); ++at) 
                same &= column.ranks[at] == (std::isnan(values[at]) ? MISSING : expected[values[at]]);
            CHECK(same);
        }
}
