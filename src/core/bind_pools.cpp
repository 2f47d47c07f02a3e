// Selecting from a pool of bodies, from Python.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <tuple>

#include "bindings.hpp"
#include "pool_rows.hpp"

using namespace nb::literals;

namespace plurule {
namespace {

using Sums = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using NewSums = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using GivenPrice = std::tuple<double, double, bool, double, double, bool, double>;
using GivenTaking = std::tuple<std::uint32_t, std::uint32_t, Numbers>;
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
    std::vector<GivenTaking> asked;
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

// Marks of rows are given as bits, the lowest of a byte first.
RowBits row_bits(const Labels& bytes, std::size_t n_rows, const char* what) {
    expect_length(bytes.shape(1), (n_rows + 7) / 8, what);
    for (std::size_t line = 0; n_rows % 8 && line < bytes.shape(0); ++line)
        if (bytes.data()[(line + 1) * bytes.shape(1) - 1] >> n_rows % 8) throw std::invalid_argument("marks of rows that are not there");
    return {bytes.data(), bytes.shape(0), bytes.shape(1)};
}

void make_rows(PoolRows* made, std::size_t n_rows, const Labels& holds, const Labels& open, const Labels& present,
               std::optional<Doubles> weights) {
    expect_length(present.shape(0), open.shape(0), "the labels of what is present");
    std::vector<double> kept;
    if (weights) {
        expect_length(weights->size(), n_rows, "the weights");
        kept.assign(weights->data(), weights->data() + n_rows);
    }
    new (made) PoolRows(n_rows, row_bits(holds, n_rows, "what holds"), row_bits(open, n_rows, "what is open"),
                        row_bits(present, n_rows, "what is present"), std::move(kept));
}

void take_from(const PoolRows& rows, const std::vector<GivenTaking>& given, NewSums sums) {
    expect_length(sums.shape(0), given.size(), "the sums");
    expect_length(sums.shape(1), 2, "the sums of a taking");
    expect_length(sums.shape(2), rows.n_bodies(), "the bodies of the sums");
    std::vector<PoolSelection::Taking> asked;
    for (const auto& [body, label, before] : given) {
        const bool known = body < rows.n_bodies() && std::ranges::all_of(before, [&](auto other) { return other < rows.n_bodies(); });
        if (!known || label >= rows.n_labels()) throw std::invalid_argument("a taking of a body or label that is not there");
        asked.push_back({body, label, before});
    }
    without_gil([&] { rows.take(asked, sums.data()); });
}

}  // namespace

void bind_pools(nb::module_& m) {
    nb::class_<PoolSelection>(m, "PoolSelection")
        .def("__init__", &make_selection, "n_conditions"_a, "sums"_a, "rarity"_a, "barred"_a.none(), "hierarchy"_a, "prices"_a,
             "n_rules"_a, "most_known"_a)
        .def("choose", &choose)
        .def("take", &take, "taken"_a)
        .def("chosen", &chosen);
    nb::class_<PoolRows>(m, "PoolRows")
        .def("__init__", &make_rows, "n_rows"_a, "holds"_a, "open"_a, "present"_a, "weights"_a.none())
        .def("take", &take_from, "asked"_a, "sums"_a);
}

}  // namespace plurule
