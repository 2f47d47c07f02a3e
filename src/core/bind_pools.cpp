// Selecting from a pool of bodies, from Python.
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bindings.hpp"
#include "pool_selection.hpp"

using namespace nb::literals;

namespace plurule {
namespace {

using Sums = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using GivenPrice = std::tuple<double, double, bool, double, double, bool, double>;
using Hierarchy = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

void make_selection(PoolSelection* made, const Doubles& n_conditions, const Sums& sums, const Doubles& rarity,
                    std::optional<Labels> barred, Hierarchy hierarchy, const std::vector<GivenPrice>& prices, std::size_t n_rules,
                    std::size_t most_known) {
    const std::size_t n_labels = rarity.size(), n_bodies = n_conditions.size();
    if (n_bodies == 0) throw std::invalid_argument("a pool has the empty body at least");
    expect_length(sums.shape(0), 2, "the sums of a pool");
    expect_length(sums.shape(1), n_labels, "the labels of the sums");
    expect_length(sums.shape(2), n_bodies, "the bodies of the sums");
    if (barred) expect_length(barred->shape(0), n_labels, "the labels of what is barred");
    if (barred) expect_length(barred->shape(1), n_bodies, "the bodies of what is barred");
    for (const auto& [below, above] : hierarchy)
        if (below >= n_labels || above >= n_labels) throw std::invalid_argument("the hierarchy has a label that is not there");
    PoolFacts facts{{n_conditions.data(), n_conditions.data() + n_bodies}, {rarity.data(), rarity.data() + n_labels}, {}, std::move(hierarchy)};
    if (barred) facts.barred.assign(barred->data(), barred->data() + barred->size());
    std::vector<Price> asked;
    for (const GivenPrice& price : prices)
        asked.push_back(std::apply([](auto... values) { return Price{values...}; }, price));
    new (made) PoolSelection(std::move(facts), sums.data(), asked, n_rules, most_known);
}

auto choose(PoolSelection& selection) {
    std::vector<std::tuple<std::uint32_t, std::uint32_t, Numbers>> asked;
    for (auto& [body, label, before] : selection.choose()) asked.emplace_back(body, label, std::move(before));
    return asked;
}

void take(PoolSelection& selection, const Sums& taken) {
    expect_length(taken.shape(0), selection.n_asked(), "what is taken");
    expect_length(taken.shape(1), 2, "the sums of what is taken");
    expect_length(taken.shape(2), selection.n_bodies(), "the bodies of what is taken");
    selection.take(taken.data());
}

auto chosen(const PoolSelection& selection) {
    std::vector<std::vector<std::tuple<std::uint32_t, Numbers, bool>>> found;
    for (const auto& choices : selection.chosen()) {
        found.emplace_back();
        for (const auto& [body, head, last] : choices) found.back().emplace_back(body, head, last);
    }
    return found;
}

}  // namespace

void bind_pools(nb::module_& m) {
    nb::class_<PoolSelection>(m, "PoolSelection")
        .def("__init__", &make_selection, "n_conditions"_a, "sums"_a, "rarity"_a, "barred"_a.none(), "hierarchy"_a, "prices"_a,
             "n_rules"_a, "most_known"_a)
        .def("choose", &choose)
        .def("take", &take, "taken"_a)
        .def("chosen", &chosen);
}

}  // namespace plurule
