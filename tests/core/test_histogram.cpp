// The histogram, after any pairs and rows were taken out, is what counting row by row gives; and bounds are not below exact values.
#include <algorithm>
#include <doctest/doctest.h>

#include <random>

#include "heads.hpp"
#include "histogram.hpp"

using namespace plurule;

namespace {

struct Problem {
    std::mt19937 random;
    RankedColumns columns;
    std::vector<std::uint8_t> truth;
    std::vector<double> weights;
    std::size_t n_labels;

    explicit Problem(unsigned seed, int kind) : random(seed), n_labels(1 + random() % 20) {
        const std::size_t n = columns.n_rows = 20 + random() % 60;
        std::vector<SparseValues::Column> sparse;
        for (std::size_t a = 0; a < 6; ++a) {
            Attribute& attribute = columns.attributes.emplace_back();
            Codes& codes = columns.codes.emplace_back();
            attribute.values = std::int32_t(a == 0 ? 50 + random() % 400 : 2 + random() % 12);
            attribute.nominal = a % 3 == 1;
            attribute.lowest.resize(std::size_t(attribute.values));
            if (a % 3 == 2) {  // sparse
                attribute.usual = std::int32_t(random() % unsigned(attribute.values));
                SparseValues::Column column{a, {}, {}};
                for (Row row = 0; row < n; ++row)
                    if (const std::int32_t value = std::int32_t(random() % unsigned(attribute.values)); random() % 4 == 0 && value != attribute.usual) {
                        column.rows.push_back(row);
                        column.values.push_back(value);
                    }
                sparse.push_back(column);
                continue;
            }
            std::vector<std::int32_t> ranks;
            for (Row row = 0; row < n; ++row) ranks.push_back(random() % 6 ? std::int32_t(random() % unsigned(attribute.values)) : -1);
            attribute.some_missing = true;
            codes.assign(ranks, attribute.values);
        }
        columns.sparse = SparseValues(n, columns.attributes, sparse);
        for (std::size_t pair = 0; pair < n * n_labels; ++pair) truth.push_back(random() % 3 == 0);
        for (std::size_t row = 0; row < n && kind > 0; ++row) weights.push_back(kind == 1 ? 1 + random() % 3 : double(random() % 64) / 8);
        if (kind == 3)
            for (double& weight : weights) weight = std::floor(weight) * 5000;
    }
    // The value that a row has of an attribute, or -1.
    std::int32_t value(Row row, std::size_t a) const {
        const Attribute& attribute = columns.attributes[a];
        if (attribute.sparse()) return columns.sparse.values_of(a, columns.n_rows, attribute.usual)[row];
        const std::int32_t code = columns.codes[a].with([&](const auto* codes) { return std::int32_t(codes[row]); });
        return code < attribute.values ? code : -1;
    }
};

void check(const Problem& p, const State& state, const Histogram& histogram, const Cells& cells) {
    std::vector<std::int32_t> columns;
    for (std::size_t label = 0; label < p.n_labels; ++label)
        if (state.is_searched(label)) columns.push_back(std::int32_t(label));
    columns.push_back(std::int32_t(p.n_labels));
    std::vector<double> found(3 * columns.size());
    for (const SlotRange& range : histogram.ranges()) {
        if (range.kind == SlotRange::Kind::labels) continue;
        for (std::size_t slot = range.first_slot(); slot < range.first_slot() + range.n_slots; ++slot) {
            std::size_t a;
            Split split;
            if (!histogram.split_of(cells, range, slot, false, state.rows.size(), a, split)) continue;
            histogram.gather(cells, slot, columns.data(), columns.size(), found.data());
            std::vector<double> expected(found.size(), 0.0);
            for (Row row : state.rows) {
                const std::int32_t value = p.value(row, a);
                if (value < 0 || !split.covers(p.columns.attributes[a].nominal, value)) continue;
                for (std::size_t c = 0; c < columns.size(); ++c) {
                    const std::uint8_t byte = state.bytes[row * state.width + std::size_t(columns[c])];
                    for (int kind = 0; kind < 3; ++kind) expected[3 * c + std::size_t(kind)] += byte >> kind & 1 ? state.weight(row) : 0.0;
                }
            }
            CHECK(found == expected);
        }
    }
}

}  // namespace

TEST_CASE("pairs and rows are taken out of the histogram as if it had been counted without them") {
    for (unsigned seed = 0; seed < 40; ++seed) {
        Problem p(seed, int(seed % 4));
        State state(p.columns, p.truth.data(), p.n_labels, p.weights.empty() ? nullptr : p.weights.data(), {});
        Threads threads(1);
        const Threads::Session session(threads, [] {});
        Histogram histogram(state, {0, 1, 2, 3, 4, 5}, false, threads);
        histogram.start();
        check(p, state, histogram, *histogram.kept());
        for (int round = 0; round < 3; ++round) {
            std::vector<Row> some;
            for (Row row : state.rows)
                if (p.random() % (round == 2 ? 16 : 4) == 0) some.push_back(row);
            std::vector<std::int32_t> labels;
            for (std::size_t label = 0; label < p.n_labels; ++label)
                if (p.random() % 2) labels.push_back(std::int32_t(label));
            histogram.close(some, labels, true);
            for (Row row : some)
                for (std::int32_t label : labels)
                    if (state.byte(row, std::size_t(label)) & (OPEN_PRESENT | OPEN_ABSENT)) state.close(row, std::size_t(label));
            check(p, state, histogram, *histogram.kept());
            std::vector<Row> removed(some.begin(), some.begin() + std::ptrdiff_t(some.size() / 2));
            histogram.remove(removed, true);
            state.remove(removed);
            check(p, state, histogram, *histogram.kept());
            Cells counted;
            const std::int32_t coverage = std::int32_t(p.n_labels);
            for (const SlotRange& range : histogram.ranges()) {
                histogram.count(range, state.rows, counted, 0);
                for (std::size_t slot = range.first_slot(); slot < range.first_slot() + range.n_slots; ++slot) {
                    double again[3], kept[3];
                    histogram.gather(counted, slot, &coverage, 1, again);
                    histogram.gather(*histogram.kept(), slot, &coverage, 1, kept);
                    CHECK(std::equal(again, again + 3, kept));
                }
            }
        }
    }
}

TEST_CASE("labels of heads that reach the floor and are precise are relevant") {
    for (unsigned seed = 0; seed < 60; ++seed) {
        Problem p(seed, 0);
        State state(p.columns, p.truth.data(), p.n_labels, nullptr, {});
        Threads threads(1);
        const Threads::Session session(threads, [] {});
        Histogram histogram(state, {0, 1, 3, 4}, false, threads);
        histogram.start();
        std::vector<std::int32_t> columns;
        Totals totals;
        const auto add = [&](double tp, double fp, double present, double all_present) {
            totals.tp.push_back(tp);
            totals.fp.push_back(fp);
            totals.present.push_back(present);
            for (double sum : {tp, fp, present, all_present, state.weight_of_rows - all_present}) totals.whole.push_back(std::int32_t(sum));
        };
        for (std::size_t label = 0; label < p.n_labels; ++label) {
            columns.push_back(std::int32_t(label));
            add(state.labels[label].open_present, state.labels[label].open_absent, state.labels[label].present, state.labels[label].present);
        }
        columns.push_back(std::int32_t(p.n_labels));
        add(0, 0, state.weight_of_rows, state.weight_of_rows);
        BoundScoring scoring{};
        scoring.top[0] = scoring.bottom[0] = 1.25f;
        scoring.bottom[1] = 1;
        scoring.bottom[3] = 0.25f;
        scoring.f_like = scoring.checks_head = true;
        scoring.right = scoring.wrong = 1;
        const float every = 0.1f * float(1 + seed % 4), best = 2 * every;
        std::vector<std::uint32_t> places(p.n_labels);
        std::vector<double> counts(3 * columns.size());
        for (const SlotRange& range : histogram.ranges())
            for (std::size_t group = range.first_group; group < range.first_group + range.groups(); ++group) {
                const std::size_t n = histogram.relevant(*histogram.kept(), group, columns, totals, false, scoring, every, best, places.data());
                std::vector<std::uint8_t> expected(p.n_labels, 0);
                bool some = false;
                const std::size_t first = group * LANES, end = std::min(first + LANES, range.first_slot() + range.n_slots);
                for (std::size_t slot = first; slot < end; ++slot) {
                    histogram.gather(*histogram.kept(), slot, columns.data(), columns.size(), counts.data());
                    bool precise = false, good = false;
                    for (std::size_t label = 0; label < p.n_labels; ++label) {
                        const double tp = counts[3 * label], fp = counts[3 * label + 1], fn = state.labels[label].present - counts[3 * label + 2];
                        const double h = tp == 0 ? 0 : 1.25 * tp / (1.25 * tp + 0.25 * fn + fp);
                        expected[label] |= h >= every * (1 + 1e-6);
                        precise |= h >= every * (1 + 1e-6) && tp >= fp;
                        good |= h >= best * (1 + 1e-6);
                    }
                    some |= precise && good;
                }
                if (!some) continue;
                for (std::size_t label = 0; label < p.n_labels; ++label)
                    CHECK((!expected[label] || std::count(places.begin(), places.begin() + std::ptrdiff_t(n), label) == 1));
            }
    }
}
