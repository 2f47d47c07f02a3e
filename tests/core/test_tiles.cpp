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

TEST_CASE("groups are flagged where a plain loop finds a label that passes, for the part or for the rest") {
    std::mt19937 random(5);
    for (int round = 0; round < 200; ++round) {
        const std::size_t n_rows = 1 + random() % 60, n_vectors = 1 + random() % Flags::MOST_VECTORS, width = 8 * n_vectors;
        std::vector<std::uint8_t> states(n_rows * width);
        for (std::uint8_t& state : states) state = std::uint8_t(random() % 8);
        std::vector<std::uint32_t> rows, ends, found(2 * n_rows), expected;
        for (std::uint32_t row = 0; row < n_rows; ++row) {
            rows.push_back(row);
            if (random() % 2 || row + 1 == n_rows) ends.push_back(row + 1);
        }
        std::shuffle(rows.begin(), rows.end(), random);
        Flags flags;
        flags.bits = 12;
        flags.asks_head = random() % 2;
        flags.asks_labels = random() % 2;
        flags.vectors.resize(n_vectors);
        std::vector<std::int32_t> scores(n_vectors * 8), rights(n_vectors * 8);
        for (std::size_t v = 0; v < n_vectors; ++v) {
            flags.vectors[v].first_lane = 8 * v;
            for (int i = 0; i < 8; ++i) {
                scores[8 * v + i] = std::int32_t(random() % 21) - 10;
                rights[8 * v + i] = std::int32_t(random() % 17) - 8;
                flags.vectors[v].of_state[i] = scores[8 * v + i] * 4096 + rights[8 * v + i];
                flags.vectors[v].least[i] = (std::int32_t(random() % 200)) * 4096 - 2049;
                flags.vectors[v].most[i] = (-std::int32_t(random() % 200)) * 4096 + 2049;
                flags.vectors[v].all_right[i] = std::int32_t(random() % 100) - 50;
            }
        }
        for (std::uint32_t g = 0; g < ends.size(); ++g)
            for (std::uint32_t rest : {0u, 1u}) {
                bool reached = false, precise = false;
                for (std::size_t lane = 0; lane < width; ++lane) {
                    const Flags::Vector& vector = flags.vectors[lane / 8];
                    std::int32_t score = 0, right = 0;
                    for (std::size_t i = 0; i < ends[g]; ++i) {
                        const std::uint8_t state = states[rows[i] * width + lane];
                        score += scores[lane / 8 * 8 + state];
                        right += rights[lane / 8 * 8 + state];
                    }
                    const bool is_precise = rest ? vector.all_right[lane % 8] > right : right > 0;
                    const std::int32_t sum = score * 4096 + right;
                    precise |= is_precise;
                    reached |= (rest ? vector.most[lane % 8] > sum : sum > vector.least[lane % 8]) && (!flags.asks_labels || is_precise);
                }
                if (reached && (precise || !flags.asks_head)) expected.push_back(2 * g + rest);
            }
        const GroupSpan span{rows.data(), ends.data(), 0, std::uint32_t(ends.size()), false};
        found.resize(tile_kernels(false).flag(flags, span, states.data(), width, found.data()));
        CHECK(found == expected);
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
