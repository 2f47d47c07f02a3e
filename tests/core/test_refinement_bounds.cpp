// Bounds of refinements from lists that still hold rows which are not covered any more.
#include <doctest/doctest.h>

#include <random>

#include "refinement_bounds.hpp"

using namespace plurule;

TEST_CASE("rows that are not covered add nothing: lists bound refinements alike, cut out or as they are") {
    std::mt19937 random(7);
    for (int round = 0; round < 300; ++round) {
        const std::size_t n_rows = 4 + random() % 60;
        const std::vector<std::uint64_t> words{PackedCounts::pack(0, 1, 0), PackedCounts::pack(1, 0, 1)};
        std::vector<std::uint16_t> of_rows;
        GroupedRows all, kept;
        std::vector<Row> covered;
        std::vector<std::uint8_t> keep;
        for (Row row = 0; row < n_rows; ++row) {
            of_rows.push_back(random() % 2);
            keep.push_back(random() % 3 != 0);
            if (keep.back()) covered.push_back(row);
            all.rows.push_back(row);
        }
        std::shuffle(all.rows.begin(), all.rows.end(), random);
        for (std::uint32_t end = 1; end <= n_rows; ++end) {
            all.ends.push_back(end);
            all.ids.push_back(std::int32_t(end));
        }
        kept.assign_kept(all, keep.data());
        Quotient quotient{};
        as_quotient({Formula::f_measure, 0.25}, quotient);
        RefinementBounds bounds(quotient, {1, double(n_rows), double(n_rows)}, 0, {words, of_rows.data()}, {0, 1}, covered, 0.3, n_rows);
        bounds.look_at(covered, 0.3, {});
        bounds.scan(0, all, keep, covered.size());
        bounds.scan(1, kept, keep, covered.size());
        CHECK(bounds.highest(0) == bounds.highest(1));
    }
}
