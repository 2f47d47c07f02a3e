// Selecting from a pool of bodies, from Python.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "bindings.hpp"
#include "pool_rows.hpp"

using namespace nb::literals;

namespace plurule {
namespace {

using Sums = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Marks = nb::ndarray<const std::uint8_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using NewSums = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using GivenCriterion = std::tuple<double, double, bool, std::vector<double>, Numbers>;
using GivenUpdate = std::tuple<std::uint32_t, std::uint32_t, Numbers>;
using Hierarchy = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

void make_selection(PoolSelection* made, const Doubles& n_conditions, const Sums& sums, const Doubles& label_weights, double min_precision,
                    const Marks& forbidden, std::vector<Numbers> excludes, std::vector<Numbers> groups, Hierarchy hierarchy,
                    const std::vector<GivenCriterion>& criteria, std::size_t max_rules, std::size_t cache_size) {
    const std::size_t n_labels = label_weights.size(), n_bodies = n_conditions.size();
    if (n_bodies == 0) throw std::invalid_argument("a pool has the empty body at least");
    expect_length(sums.shape(0), 2, "the sums of a pool");
    expect_length(sums.shape(1), n_labels, "the labels of the sums");
    expect_length(sums.shape(2), n_bodies, "the bodies of the sums");
    expect_length(forbidden.shape(0), 2, "what is forbidden, absent and present");
    expect_length(forbidden.shape(1), n_labels, "the labels of what is forbidden");
    expect_length(forbidden.shape(2), n_bodies, "the bodies of what is forbidden");
    if (!excludes.empty()) expect_length(excludes.size(), n_labels, "the labels that exclude others");
    for (const std::vector<Numbers>* lists : {&excludes, &groups})
        for (const Numbers& others : *lists)
            if (std::ranges::any_of(others, [&](auto other) { return other >= n_labels; }))
                throw std::invalid_argument("a label that is not there");
    for (const auto& [below, above] : hierarchy)
        if (below >= n_labels || above >= n_labels) throw std::invalid_argument("the hierarchy has a label that is not there");
    const std::vector<Numbers> groups_given = groups;
    PoolFacts facts{{n_conditions.data(), n_conditions.data() + n_bodies}, {label_weights.data(), label_weights.data() + n_labels},
                    min_precision, {forbidden.data(), forbidden.data() + forbidden.size()}, std::move(excludes), std::move(groups), std::move(hierarchy)};
    std::vector<Criterion> asked;
    for (const auto& [lam, condition_price, exceptions, lift, usual] : criteria) {
        expect_length(lift.size(), n_labels, "the lift of a criterion");
        expect_length(usual.size(), groups_given.size(), "the default labels of a criterion");
        for (std::size_t group = 0; group < groups_given.size(); ++group)
            if (std::ranges::find(groups_given[group], usual[group]) == groups_given[group].end()) throw std::invalid_argument("a default label of another group");
        asked.push_back({lam, condition_price, exceptions, lift, usual});
    }
    new (made) PoolSelection(std::move(facts), sums.data(), std::move(asked), max_rules, cache_size);
}

auto choose(PoolSelection& selection) {
    std::vector<PoolSelection::CoverUpdate> requested;
    without_gil([&] { requested = selection.choose(std::numeric_limits<std::size_t>::max()); });
    std::vector<GivenUpdate> updates;
    for (auto& [body, label, before] : requested) updates.emplace_back(body, label, std::move(before));
    return updates;
}

void update(PoolSelection& selection, const Sums& covered) {
    expect_length(covered.shape(0), selection.n_requested(), "the cover updates");
    expect_length(covered.shape(1), 2, "the sums of a cover update");
    expect_length(covered.shape(2), selection.n_bodies(), "the bodies of a cover update");
    selection.update(covered.data());
}

auto chosen(const PoolSelection& selection) {
    std::vector<std::vector<std::tuple<std::uint32_t, Numbers, bool, Numbers>>> selections;
    for (const auto& choices : selection.chosen()) {
        selections.emplace_back();
        for (const auto& [body, head, is_default, decided] : choices) selections.back().emplace_back(body, head, is_default, decided);
    }
    return selections;
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

void take_from(const PoolRows& rows, const std::vector<GivenUpdate>& given, NewSums sums) {
    expect_length(sums.shape(0), given.size(), "the sums");
    expect_length(sums.shape(1), 2, "the sums of a cover update");
    expect_length(sums.shape(2), rows.n_bodies(), "the bodies of the sums");
    std::vector<PoolSelection::CoverUpdate> asked;
    for (const auto& [body, label, before] : given) {
        const bool known = body < rows.n_bodies() && std::ranges::all_of(before, [&](auto other) { return other < rows.n_bodies(); });
        if (!known || label >= rows.n_labels()) throw std::invalid_argument("a cover update of a body or label that is not there");
        asked.push_back({body, label, before});
    }
    without_gil([&] { rows.take(asked, sums.data()); });
}

void select_by(const PoolRows& rows, PoolSelection& selection) {
    expect_length(selection.n_bodies(), rows.n_bodies(), "the bodies of a selection");
    expect_length(selection.n_labels(), rows.n_labels(), "the labels of a selection");
    without_gil([&] { rows.select(selection); });
}

}  // namespace

void bind_pools(nb::module_& m) {
    nb::class_<PoolSelection>(m, "PoolSelection")
        .def("__init__", &make_selection, "n_conditions"_a.noconvert(), "sums"_a.noconvert(), "label_weights"_a.noconvert(), "min_precision"_a,
             "forbidden"_a.noconvert(), "excludes"_a, "groups"_a, "hierarchy"_a, "criteria"_a, "max_rules"_a, "cache_size"_a)
        .def("choose", &choose)
        .def("update", &update, "covered"_a.noconvert())
        .def("chosen", &chosen);
    nb::class_<PoolRows>(m, "PoolRows")
        .def("__init__", &make_rows, "n_rows"_a, "holds"_a.noconvert(), "open"_a.noconvert(), "present"_a.noconvert(), "weights"_a.none().noconvert())
        .def("take", &take_from, "asked"_a, "sums"_a.noconvert())
        .def("select", &select_by, "selection"_a);
}

}  // namespace plurule
