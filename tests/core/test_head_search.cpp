// The worked example of the paper (figure 1), and the order of labels.
#include <doctest/doctest.h>

#include <cmath>

#include "head_search.hpp"

using namespace plurule;

namespace {

SingleLabelHeads heads(const std::vector<double>& tp, const std::vector<double>& fp) {
    SingleLabelHeads singles;
    singles.resize(tp.size());
    for (std::size_t i = 0; i < tp.size(); ++i) {
        singles.tp[i] = tp[i];
        singles.fp[i] = fp[i];
        singles.tn[i] = singles.fn[i] = 0;
        singles.sign[i] = 1;
        singles.h[i] = tp[i] > 0 ? tp[i] / (tp[i] + fp[i]) : NOTHING;
    }
    return singles;
}

Options precision_with_lift(double k, std::size_t labels) {
    Options options;
    options.heuristic = {Formula::precision, 0};
    for (std::size_t length = 1; length <= labels; ++length) options.lift.push_back(1 + k * std::log(double(length)));
    return options;
}

}  // namespace

TEST_CASE("the head of the paper's example has its two best labels") {
    const Options options = precision_with_lift(0.14, 4);
    HeadSearch search(options);
    FoundHead found;
    REQUIRE(search.search(heads({2, 2, 1, 0}, {1, 1, 2, 3}), 4, NOTHING, found));
    CHECK(found.lanes == std::vector<std::uint32_t>{0, 1});
    CHECK(found.value == doctest::Approx(2.0 / 3 * (1 + 0.14 * std::log(2.0))));
    CHECK(found.tp == 4);
    CHECK(found.fp == 2);
}

TEST_CASE("a head of too low precision is not allowed, unless less is asked for") {
    const Options options = precision_with_lift(0, 2);
    FoundHead found;
    REQUIRE(HeadSearch(options).search(heads({1, 0}, {2, 3}), 2, NOTHING, found));
    CHECK(!MinPrecision{0.5}.met(found.tp, found.fp));
    CHECK(MinPrecision{1.0 / 3}.met(found.tp, found.fp));
}

TEST_CASE("labels of equal value come in the order of their true positives, then of the labels") {
    const SingleLabelHeads singles = heads({1, 3, 2, 3, 4}, {1, 3, 2, 3, 1});
    BestFirst order;
    order.start(singles, 5);
    for (std::int32_t expected : {4, 1, 3, 2, 0, -1}) CHECK(order.next() == expected);
}
