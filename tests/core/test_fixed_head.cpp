#include <doctest/doctest.h>

#include <numeric>

#include "fixed_head.hpp"

using namespace plurule;

namespace {

// Two million and more rows, of which the codes alternate and every third has the label.
constexpr std::size_t MANY = PackedCounts::LIMIT + 5;

Prepared codes_of(std::size_t n_rows) {
    Prepared prepared;
    prepared.n_rows = n_rows;
    prepared.attributes.resize(1);
    prepared.attributes[0].values = 3;
    prepared.attributes[0].lowest = prepared.attributes[0].highest = {0.0, 1.0, 2.0};
    prepared.grouped.resize(1);
    prepared.codes.resize(1);
    for (std::size_t row = 0; row < n_rows; ++row) prepared.codes[0].push_back(std::uint8_t(row % 2));
    return prepared;
}

}  // namespace

TEST_CASE("more rows than a packed counter can hold are counted as they are") {
    const Prepared prepared = codes_of(MANY);
    std::vector<std::uint8_t> truth(MANY);
    for (std::size_t row = 0; row < MANY; ++row) truth[row] = row % 3 == 0;
    State state(prepared, truth.data(), 1, nullptr, {});
    state.asked.threshold = 0;
    Options options;
    options.lift = {1.0};
    const FixedHead head(state, options, {{0, 1}}, state.training.rows);
    CHECK(head.packed());
    CHECK_FALSE(head.sums_fit());
    const auto [value, tp, fp] = head.worth_of(head.total_of(state.training.rows));
    CHECK(tp == double((MANY + 2) / 3));
    CHECK(tp + fp == double(MANY));

    GroupedRows measured, gathered;
    measured.measure(prepared.codes[0], state.training.rows);
    gathered.gather(prepared.codes[0], state.training.rows);
    Prepared listed = codes_of(MANY);
    listed.codes.clear();
    FixedHead::Workspace work;
    for (const auto& [table, rows] : {std::pair{&prepared, &measured}, {&listed, &gathered}}) {
        std::vector<double> found;
        head.visit(*table, 0, *rows, MANY, state.training, head.total_of(state.training.rows), 0.0, work,
                   [&](std::size_t, const Place&, const FixedHead::Worth& worth) { found.push_back(worth.tp), found.push_back(worth.fp); });
        double expected[4] = {};  // even and odd rows, right and wrong
        for (std::size_t row = 0; row < MANY; ++row) ++expected[2 * (row % 2) + !truth[row]];
        CHECK(found == std::vector<double>(expected, expected + 4));
    }
}
