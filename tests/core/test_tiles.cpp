// The kernels agree with plain loops, and bounds hold whatever is closed.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "tiles.hpp"

using namespace plurule;

TEST_CASE("slots are counted as by hand, cumulative or each by itself") {
    std::mt19937 random(3);
    for (int round = 0; round < 100; ++round) {
        const std::size_t n_rows = 1 + random() % 60, lanes = 1 + random() % 20, stride = (lanes + 7) / 8 * 8;
        std::vector<std::uint32_t> words(2 * n_rows * stride, 0), rows, ends;
        const auto at = [&](std::size_t row, std::size_t lane) { return 2 * (row * stride + lane - lane % 8) + lane % 8; };
        for (std::size_t row = 0; row < n_rows; ++row) {
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                words[at(row, lane)] = random() % 3 ? (random() % 2 ? 1u : 1u << 16) : 0u;
                words[at(row, lane) + 8] = random() % 2;
            }
            rows.push_back(std::uint32_t(row));
            if (random() % 2 || row + 1 == n_rows) ends.push_back(std::uint32_t(row + 1));
        }
        std::shuffle(rows.begin(), rows.end(), random);
        for (bool cumulative : {false, true}) {
            std::vector<NarrowCell> cells((ends.size() + TILE - 1) / TILE * lanes);
            const GroupSpan span{rows.data(), ends.data(), 0, std::uint32_t(ends.size()), false};
            tile_kernels(false).count(span, cumulative, words.data(), stride, lanes, cells.data());
            for (std::size_t g = 0; g < ends.size(); ++g)
                for (std::size_t lane = 0; lane < lanes; ++lane) {
                    std::uint32_t pair = 0, positives = 0;
                    for (std::size_t i = cumulative || !g ? 0 : ends[g - 1]; i < ends[g]; ++i) {
                        pair += words[at(rows[i], lane)];
                        positives += words[at(rows[i], lane) + 8];
                    }
                    const NarrowCell& cell = cells[g / TILE * lanes + lane];
                    CHECK(cell.tp(g % TILE) == std::int32_t(pair & 0xffff));
                    CHECK(cell.fp(g % TILE) == std::int32_t(pair >> 16));
                    CHECK(cell.present[g % TILE] == positives);
                }
        }
    }
}

TEST_CASE("the highest and lowest sum over the first rows are those of a plain loop") {
    std::mt19937 random(4);
    for (int round = 0; round < 200; ++round) {
        const std::size_t count = 1 + random() % 40;
        std::vector<std::uint32_t> rows;
        std::vector<std::int32_t> of_rows(50);
        for (std::int32_t& number : of_rows) number = std::int32_t(random() % 200) - 100;
        for (std::size_t i = 0; i < count; ++i) rows.push_back(random() % 50);
        std::int32_t highest, lowest, sum = 0, most = std::numeric_limits<std::int32_t>::min(), least = std::numeric_limits<std::int32_t>::max();
        for (std::uint32_t row : rows) {
            sum += of_rows[row];
            most = std::max(most, sum);
            least = std::min(least, sum);
        }
        for (const Kernels* k : {&baseline_kernels(), &kernels()}) {
            k->scan(rows.data(), count, of_rows.data(), &highest, &lowest);
            CHECK(highest == most);
            CHECK(lowest == least);
        }
    }
}
