// What eight candidates are worth at most, beside the exact search for the best head of each.
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "head_search.hpp"
#include "tiles.hpp"

using namespace plurule;

namespace {

struct Problem {
    Options options;
    Scoring scoring{};
    LaneTotals totals;
    Lengths lengths;
    std::vector<NarrowCell> cells;
    std::int32_t covered[TILE];
};

// Labels from rare to frequent; what eight slots cover of them.
Problem random_problem(std::mt19937& random) {
    Problem p;
    const bool is_long = random() % 4 == 0;  // heads of many labels, most of them wrong, as accuracy has them
    const std::size_t labels = is_long ? 40 + random() % 60 : 1 + random() % (random() % 2 ? 16 : 60);
    const std::int32_t rows = 20 + std::int32_t(random() % 200);
    const bool accuracy = is_long || random() % 2;
    const double beta_squared = random() % 2 ? 0.25 : 1.0, k = is_long ? 0.3 : 0.3 * double(random() % 4) / 3;
    p.options.heuristic = accuracy ? HeuristicFormula{Formula::accuracy, 0} : HeuristicFormula{Formula::f_measure, beta_squared};
    p.options.averages_labels = accuracy || random() % 2;
    p.options.head_search = HeadSearchKind::relaxed;
    for (std::size_t length = 1; length <= labels; ++length) p.options.lift.push_back(1 + k * std::log(double(length)));
    if (random() % 3 == 0 && labels > 3) p.options.lift[2] *= 1.3;  // not monotone
    Scoring& s = p.scoring;
    as_quotient(p.options.heuristic, s.quotient);
    s.absence = p.options.predict_absence = random() % 2;
    s.averages = p.options.averages_labels;
    s.sums = !s.averages;
    s.asks_head = true;
    s.right = s.wrong = 1;
    s.lift = float(*std::max_element(p.options.lift.begin(), p.options.lift.end()));
    s.longer = s.lift > float(p.options.lift[0]);
    p.totals.rows = rows;
    p.cells.resize(labels);
    for (std::int32_t& c : p.covered) c = 1 + std::int32_t(random() % std::uint32_t(is_long ? rows / 3 : rows - 1));
    for (std::size_t lane = 0; lane < labels; ++lane) {
        const std::int32_t present = 1 + std::int32_t(random() % std::uint32_t(random() % 3 ? 1 + rows / 8 : rows));
        std::int32_t open_tp = 0, open_fp = 0;
        for (std::size_t i = 0; i < TILE; ++i) {
            const std::int32_t least = std::max(0, present - (rows - p.covered[i])), most = std::min(present, p.covered[i]);
            const std::int32_t positives = least + std::int32_t(random() % std::uint32_t(most - least + 1));
            const std::int32_t tp = random() % 2 ? positives : std::int32_t(random() % std::uint32_t(positives + 1));
            const std::int32_t negatives = p.covered[i] - positives, fp = random() % 2 ? negatives : std::int32_t(random() % std::uint32_t(negatives + 1));
            p.cells[lane].set_pair(i, tp, fp);
            p.cells[lane].set_present(i, positives);
            open_tp = std::max(open_tp, tp);
            open_fp = std::max(open_fp, fp);
        }
        p.totals.tp.push_back(std::min(present, open_tp + std::int32_t(random() % 3)));
        p.totals.fp.push_back(std::min(rows - present, open_fp + std::int32_t(random() % 3)));
        p.totals.present.push_back(present);
        p.totals.absent.push_back(rows - present);
        p.totals.active.push_back(std::uint32_t(lane));
    }
    p.lengths.highest_up_to.assign(labels + 1, 0.0f);
    p.lengths.highest_above.assign(labels + 1, 0.0f);
    for (std::size_t length = 1; length <= labels; ++length) {
        const float lift = float(p.options.lift[length - 1]);
        p.lengths.length.push_back(length);
        p.lengths.share.push_back(float(1.0 / double(length)));
        p.lengths.lift.push_back(lift);
        p.lengths.of_each.push_back(float(p.options.lift[length - 1] / double(length)));
        p.lengths.highest_up_to[length] = std::max(p.lengths.highest_up_to[length - 1], lift);
    }
    for (std::size_t length = labels; length-- > 0;)
        p.lengths.highest_above[length] = std::max(p.lengths.highest_above[length + 1], float(p.options.lift[length]));
    for (std::size_t j = 0; j < THRESHOLDS; ++j) p.lengths.thresholds[j] = 1 - float(random() % 15 + 15 * j) / 100;
    return p;
}

// The best head of a slot, or of its other side; every label with its better sign, those worth less than `least` left out.
FoundHead best_head(const Problem& p, std::size_t slot, bool other_side, double least = NOTHING) {
    const std::size_t labels = p.cells.size();
    std::vector<double> h, tp, fp, tn, fn;
    const std::vector<std::int8_t> sign(labels, 1);
    const std::int32_t covered = other_side ? p.totals.rows - p.covered[slot] : p.covered[slot];
    for (std::size_t lane = 0; lane < labels; ++lane) {
        const NarrowCell& cell = p.cells[lane];
        const std::int32_t right = other_side ? p.totals.tp[lane] - cell.tp(slot) : cell.tp(slot);
        const std::int32_t wrong = other_side ? p.totals.fp[lane] - cell.fp(slot) : cell.fp(slot);
        const std::int32_t positives = other_side ? p.totals.present[lane] - cell.present[slot] : cell.present[slot];
        fn.push_back(p.totals.present[lane] - positives);
        tn.push_back(p.totals.absent[lane] - (covered - positives));
        const auto value = [&](double r, double w) { return r > 0 ? value_of(p.options.heuristic, r, w, tn[lane], fn[lane]) : NOTHING; };
        const double present = value(right, wrong), absent = p.scoring.absence ? value(wrong, right) : NOTHING;
        const bool is_absent = floor_of_ties(absent) > present;
        h.push_back(is_absent ? absent : present);
        if (h.back() < least) h.back() = NOTHING;
        tp.push_back(is_absent ? wrong : right);
        fp.push_back(is_absent ? right : wrong);
    }
    FoundHead found;
    const State state(Prepared(), nullptr, labels, nullptr, {});
    HeadSearch(p.options).search({labels, h.data(), tp.data(), fp.data(), tn.data(), fn.data(), sign.data(), h.data(), tp.data()},
                                 Units(state, p.options), NOTHING, found);
    return found;
}

}  // namespace

TEST_CASE("no head is worth more than a tile says, and where it says that heads fail they do") {
    std::mt19937 random(11);
    int sharp = 0, heads = 0, failing = 0, cut = 0;
    for (int round = 0; round < 3000; ++round) {
        const Problem p = random_problem(random);
        for (bool other_side : {false, true}) {
            TileValues values;
            tile_kernels(false).values(p.scoring, p.totals, p.lengths, p.cells.data(), p.covered, other_side, 0.0f, values);
            for (std::size_t slot = 0; slot < TILE; ++slot) {
                const FoundHead found = best_head(p, slot, other_side);
                if (found.value == NOTHING) continue;
                CHECK(double(values.value[slot]) >= found.value);
                if (values.fails[slot]) CHECK(found.tp < found.fp);
                const FoundHead without = best_head(p, slot, other_side, values.cut[slot]);  // as if the labels below were closed
                CHECK(double(values.value[slot]) >= without.value);
                if (values.fails[slot]) CHECK(without.tp < without.fp);
                cut += values.cut[slot] > 0;
                ++heads;
                failing += values.fails[slot] != 0;
                sharp += double(values.value[slot]) < found.value * 1.05;
            }
        }
    }
    CHECK(heads > 30000);
    CHECK(sharp * 2 > heads);
    CHECK(failing > 50);
    CHECK(cut > 5000);
}

TEST_CASE("where no label gains anything, no head is worth anything") {
    std::mt19937 random(12);
    Problem p = random_problem(random);
    p.options.heuristic = {Formula::gain, 0.9};
    as_quotient(p.options.heuristic, p.scoring.quotient);
    p.scoring.averages = p.scoring.sums = p.scoring.absence = false;
    p.scoring.additive = true;
    for (NarrowCell& cell : p.cells)
        for (std::size_t slot = 0; slot < TILE; ++slot) cell.set_pair(slot, 1, 5);
    TileValues values;
    tile_kernels(false).values(p.scoring, p.totals, p.lengths, p.cells.data(), p.covered, false, 0.0f, values);
    for (float value : values.value) CHECK(value == -std::numeric_limits<float>::infinity());
}
