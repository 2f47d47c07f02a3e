// What a ranking keeps is enough to take the best of all candidates, in order.
#include <doctest/doctest.h>

#include <random>

#include "rule.hpp"

using namespace plurule;

TEST_CASE("the best of what is kept are the best of all, ties within the tolerance included") {
    std::mt19937 random(2);
    for (int round = 0; round < 300; ++round) {
        const std::size_t width = 1 + random() % 6, count = random() % 60;
        Ranking ranking(width);
        std::vector<Candidate> all;
        for (std::size_t i = 0; i < count; ++i) {
            Candidate candidate;
            candidate.value = double(random() % 4) / 3 * (1 + 1e-13 * double(random() % 20));
            candidate.tp = double(random() % 3);
            candidate.attribute = i;
            all.push_back(candidate);
            ranking.offer(std::move(candidate));
        }
        std::vector<Candidate> kept = ranking.kept();
        for (std::size_t i = 0; i < std::min(width, count); ++i) {
            REQUIRE(!kept.empty());
            CHECK(take_best(kept).attribute == take_best(all).attribute);
        }
    }
}
