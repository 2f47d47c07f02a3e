// The worked example of the paper (figure 1), and the order of labels.
#include <doctest/doctest.h>

#include <cmath>

#include "heads.hpp"

using namespace plurule;

namespace {

// Labels with so many right and wrong predictions, valued by their precision.
FoundHead best_head(const Options& options, const std::vector<double>& right, const std::vector<double>& wrong) {
    const std::size_t n = right.size();
    RankedColumns columns;
    const State state(columns, nullptr, n, nullptr, {});
    HeadFinder finder(state, options);
    std::vector<std::int32_t> labels;
    std::vector<double> counts;
    for (std::size_t i = 0; i < n; ++i) {
        labels.push_back(std::int32_t(i));
        counts.insert(counts.end(), {right[i], wrong[i], right[i]});
    }
    counts.insert(counts.end(), {0, 0, 1});
    finder.start({}, labels);
    finder.add(NO_ATTRIBUTE, {}, counts);
    FoundHead best;
    finder.search(NOTHING, [&](std::size_t, const Split&, const FoundHead& found) { best = found; });
    return best;
}

Options precision_with_lift(double k, std::size_t labels) {
    Options options;
    options.heuristic = {Formula::precision, 0};
    for (std::size_t length = 1; length <= labels; ++length) options.lift.push_back(1 + k * std::log(double(length)));
    return options;
}

}  // namespace

TEST_CASE("the head of the paper's example has its two best labels") {
    const FoundHead found = best_head(precision_with_lift(0.14, 4), {2, 2, 1, 0}, {1, 1, 2, 3});
    CHECK(found.head == std::vector<Assignment>{{0, 1}, {1, 1}});
    CHECK(found.value == doctest::Approx(0.7314).epsilon(1e-4));
}

TEST_CASE("of labels that are worth the same the one with more TP comes first") {
    Options options = precision_with_lift(0, 3);
    options.head_search = HeadSearchKind::single;
    CHECK(best_head(options, {1, 2, 2}, {0, 0, 0}).head == std::vector<Assignment>{{1, 1}});
}

TEST_CASE("a head that is wrong more often than right is none") {
    CHECK(best_head(precision_with_lift(0, 1), {2}, {2}).value == 0.5);
    CHECK(best_head(precision_with_lift(0, 1), {1}, {2}).value == NOTHING);
}
