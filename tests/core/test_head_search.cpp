// The worked example of the paper (figure 1), and the order of labels.
#include <doctest/doctest.h>

#include <cmath>

#include "head_search.hpp"

using namespace plurule;

namespace {

// Labels with so many right and wrong predictions, valued by their precision.
struct Labels {
    Labels(std::vector<double> right, std::vector<double> wrong)
        : tp(std::move(right)), fp(std::move(wrong)), none(tp.size(), 0), sign(tp.size(), 1) {
        for (std::size_t i = 0; i < tp.size(); ++i) h.push_back(tp[i] > 0 ? tp[i] / (tp[i] + fp[i]) : NOTHING);
    }
    FoundHead best_head(const Options& options) const {
        const LabelHeads labels{tp.size(), h.data(), tp.data(), fp.data(), none.data(), none.data(), sign.data(), h.data(), tp.data()};
        const State state(Prepared(), nullptr, tp.size(), nullptr, {});
        FoundHead found;
        HeadSearch(options).search(labels, Units(state, options), NOTHING, found);
        return found;
    }
    std::vector<double> tp, fp, none, h;
    std::vector<std::int8_t> sign;
};

Options precision_with_lift(double k, std::size_t labels) {
    Options options;
    options.heuristic = {Formula::precision, 0};
    for (std::size_t length = 1; length <= labels; ++length) options.lift.push_back(1 + k * std::log(double(length)));
    return options;
}

}  // namespace

TEST_CASE("the head of the paper's example has its two best labels") {
    const FoundHead found = Labels({2, 2, 1, 0}, {1, 1, 2, 3}).best_head(precision_with_lift(0.14, 4));
    CHECK(found.head == LaneHead{{0, 1}, {1, 1}});
    CHECK(found.value == doctest::Approx(2.0 / 3 * (1 + 0.14 * std::log(2.0))));
    CHECK(found.tp == 4);
    CHECK(found.fp == 2);
}

TEST_CASE("a head of too low precision is not allowed, unless less is asked for") {
    const FoundHead found = Labels({1, 0}, {2, 3}).best_head(precision_with_lift(0, 2));
    REQUIRE(found.value > NOTHING);
    CHECK(!MinPrecision{0.5}.met(found.tp, found.fp));
    CHECK(MinPrecision{1.0 / 3}.met(found.tp, found.fp));
}

TEST_CASE("labels of equal value come in the order of their true positives, then of the labels") {
    const std::vector<double> value{0.5, 0.5 * (1 + 1e-13), 0.5, 0.5, 0.8, NOTHING, 0.2}, tp{1, 3, 2, 3, 4, 5, 6};
    BestFirst order;
    order.start(value.data(), tp.data(), value.size(), false);
    for (std::int32_t expected : {4, 1, 3, 2, 0, 6, -1}) CHECK(order.next() == expected);
    order.start(value.data(), tp.data(), value.size(), true);
    for (std::int32_t expected : {4, -1}) CHECK(order.next() == expected);
}
