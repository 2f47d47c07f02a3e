// Every candidate of an attribute is visited once, with the sums over the rows it covers.
#include <doctest/doctest.h>

#include <random>
#include <set>

#include "grouping.hpp"

using namespace plurule;

namespace {

// A column of small whole numbers, some of them missing, ranked and with its most frequent value left out.
struct Column {
    std::vector<double> values;
    Attribute attribute;
    GroupedRows grouped;

    explicit Column(std::mt19937& random) {
        const std::size_t n_rows = 1 + random() % 30;
        const bool some_missing = random() % 2;
        const ListedRows listed{n_rows};
        Listed column;
        std::vector<std::uint8_t> codes;
        for (Row row = 0; row < n_rows; ++row) {
            values.push_back(double(random() % 4) - 1);
            if (some_missing && random() % 5 == 0) values.back() = std::nan("");
        }
        column.values.assign(values.begin(), values.end());
        column.rank(listed, 0, nullptr, attribute);
        group(listed, column.ranks, false, attribute, grouped, codes);
    }
};

}  // namespace

TEST_CASE("candidates are all splits between values, counted as they cover") {
    std::mt19937 random(1);
    for (int round = 0; round < 500; ++round) {
        const Column column(random);
        std::vector<int> weight(column.values.size());
        std::vector<double> total(1, 0.0);
        std::set<double> distinct;
        for (std::size_t row = 0; row < weight.size(); ++row) {
            weight[row] = int(random() % 10);
            if (std::isnan(column.values[row])) continue;
            total[0] += weight[row];
            distinct.insert(column.values[row]);
        }
        std::set<std::pair<double, bool>> visited;
        std::vector<double> running, other;
        visit_candidates(
            column.attribute, column.grouped, total, column.values.size() - column.grouped.missing.size(),
            [&](std::size_t group, double* sums) {
                for (std::size_t i = 0; i < column.grouped.size(group); ++i) sums[0] += weight[column.grouped.begin(group)[i]];
            },
            [&](const Place& place, const std::vector<double>& sums) {
                const double below = column.attribute.highest_of(std::size_t(place.below));
                double expected = 0;
                for (std::size_t row = 0; row < weight.size(); ++row)
                    if (!std::isnan(column.values[row]) && (column.values[row] > below) == place.greater) expected += weight[row];
                CHECK(sums[0] == expected);
                CHECK(visited.emplace(below, place.greater).second);
            },
            running, other);
        CHECK(visited.size() == (distinct.empty() ? 0 : 2 * (distinct.size() - 1)));
    }
}

TEST_CASE("a threshold lies between its neighbours, however large or close they are") {
    const double largest = std::numeric_limits<double>::max();
    for (const auto& [below, above] : {std::pair{1.0, 2.0}, {-largest, largest}, {1.0, std::nextafter(1.0, 2.0)}, {0.0, 5e-324}}) {
        CHECK(midpoint(below, above) >= below);
        CHECK(midpoint(below, above) < above);
    }
}
