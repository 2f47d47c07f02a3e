#include <doctest/doctest.h>

#include <map>
#include <random>

#include "fixed_head.hpp"

using namespace plurule;

namespace {

struct Noted : RefinementSink {
    std::map<std::pair<std::int32_t, bool>, std::pair<double, double>> rules;
    double floor() const override { return NOTHING; }
    void offer(std::size_t, const Split& split, double, double tp, double fp) override { rules[{split.below, split.greater}] = {tp, fp}; }
};

}  // namespace

TEST_CASE("candidates under a fixed head count what counting row by row gives, in numbers of any width") {
    std::mt19937 random(6);
    for (int round = 0; round < 60; ++round) {
        const std::size_t n = 30 + random() % 40, n_labels = 3;
        const double unit = round % 3 == 0 ? 1 : round % 3 == 1 ? 4000 : 0.25;  // narrow, wide, real
        RankedColumns columns;
        columns.n_rows = n;
        Attribute& attribute = columns.attributes.emplace_back();
        attribute.values = 5;
        attribute.some_missing = true;
        std::vector<std::int32_t> ranks;
        for (std::size_t row = 0; row < n; ++row) ranks.push_back(std::int32_t(random() % 6) - 1);
        columns.codes.emplace_back().assign(ranks, attribute.values);
        std::vector<std::uint8_t> truth;
        std::vector<double> weights;
        for (std::size_t pair = 0; pair < n * n_labels; ++pair) truth.push_back(random() % 2);
        for (std::size_t row = 0; row < n; ++row) weights.push_back(unit * double(random() % 3));
        State state(columns, truth.data(), n_labels, weights.data(), {});
        state.required.threshold = 0;
        Options options;
        options.lift = {1.0, 1.0, 1.0};
        options.averages_labels = random() % 2;
        const std::vector<Assignment> head{{0, 1}, {2, 1}};
        const FixedHead fixed(state, options, head, state.rows);
        FixedHead::Workspace work;
        std::map<std::pair<std::int32_t, bool>, std::pair<double, double>> expected;
        Noted found;
        work.row_scores.clear();
        fixed.visit(0, state.rows, work, found);
        for (std::int32_t below = 0; below < 5; ++below)
            for (bool greater : {false, true}) {
                double tp = 0, fp = 0;
                bool here = false, above = false;
                for (Row row : state.rows) {
                    here |= ranks[row] == below;
                    above |= ranks[row] > below;
                    if (ranks[row] < 0 || (ranks[row] > below) != greater) continue;
                    for (const Assignment& assigned : head) (truth[row * n_labels + std::size_t(assigned.label)] ? tp : fp) += weights[row];
                }
                if (here && above && tp > 0) expected[{below, greater}] = {tp, fp};
            }
        CHECK(found.rules == expected);
    }
}
