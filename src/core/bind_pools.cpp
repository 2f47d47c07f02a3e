// Selecting from a pool of bodies, from Python.
#include <algorithm>
#include <limits>
#include <map>

#include "bindings.hpp"
#include "pool.hpp"

using namespace nb::literals;

namespace plurule {
namespace {

using Sums = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Forbidden = nb::ndarray<const std::uint8_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Hierarchy = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

void make_selection(PoolSelection* made, const Doubles& n_conditions, const Sums& sums, const Doubles& label_weights,
                    double min_precision, const Forbidden& forbidden, std::vector<Numbers> excludes, std::vector<Numbers> groups,
                    Hierarchy hierarchy, std::vector<Criterion> criteria, std::size_t max_rules, std::size_t cache_size) {
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
    for (const Criterion& criterion : criteria) {
        expect_length(criterion.lift.size(), n_labels, "the lift of a criterion");
        expect_length(criterion.default_labels.size(), groups.size(), "the default labels of a criterion");
        for (std::size_t group = 0; group < groups.size(); ++group)
            if (std::ranges::find(groups[group], criterion.default_labels[group]) == groups[group].end())
                throw std::invalid_argument("a default label of another group");
    }
    PoolFacts facts{{n_conditions.data(), n_conditions.data() + n_bodies},
                    {label_weights.data(), label_weights.data() + n_labels},
                    min_precision,
                    {forbidden.data(), forbidden.data() + forbidden.size()},
                    std::move(excludes),
                    std::move(groups),
                    std::move(hierarchy)};
    new (made) PoolSelection(std::move(facts), sums.data(), std::move(criteria), max_rules, cache_size);
}

std::vector<CoverUpdate> choose(PoolSelection& selection) {
    std::vector<CoverUpdate> requested;
    without_gil([&] { requested = selection.choose(std::numeric_limits<std::size_t>::max()); });
    return requested;
}

void update(PoolSelection& selection, const Sums& covered) {
    expect_length(covered.shape(0), selection.n_requested(), "the cover updates");
    expect_length(covered.shape(1), 2, "the sums of a cover update");
    expect_length(covered.shape(2), selection.n_bodies(), "the bodies of a cover update");
    selection.update(covered.data());
}

// Equal choices are one object: criteria often choose alike.
nb::list chosen(const PoolSelection& selection) {
    std::map<Choice, nb::object> known;
    nb::list selections;
    for (std::size_t criterion = 0; criterion < selection.n_criteria(); ++criterion) {
        nb::list choices;
        for (const Choice& choice : selection.chosen(criterion)) {
            nb::object& object = known[choice];
            if (!object) object = nb::cast(choice);
            choices.append(object);
        }
        selections.append(choices);
    }
    return selections;
}

// Bits are read where they are: the array lives as long as its reader.
template <class Array>
BitLines bit_lines(const Array& array, std::size_t n_lines, std::size_t n_bytes, std::size_t n_rows, const char* what) {
    const std::uint8_t* const bytes = array.data();
    expect_length(n_bytes, (n_rows + 7) / 8, what);
    for (std::size_t line = 0; n_rows % 8 && line < n_lines; ++line)
        if (bytes[(line + 1) * n_bytes - 1] >> n_rows % 8)
            throw std::invalid_argument(std::string(what) + ": marks of rows that are not there");
    return {{bytes, [kept = array](const std::uint8_t*) {}}, n_lines, n_bytes};
}
BitLines bit_lines(const Labels& lines, std::size_t n_lines, std::size_t n_rows, const char* what) {
    expect_length(lines.shape(0), n_lines, what);
    return bit_lines(lines, n_lines, lines.shape(1), n_rows, what);
}
BitLines bit_lines(const std::optional<Labels>& lines, std::size_t n_lines, std::size_t n_rows, const char* what) {
    return lines ? bit_lines(*lines, n_lines, n_rows, what) : BitLines();
}

void make_rows(PoolRows* made, std::size_t n_rows, const Marks& rows, const Labels& holds, const Labels& present,
               std::optional<Labels> open, std::optional<Labels> predicted, std::optional<Doubles> weights) {
    expect(n_rows < std::size_t(1) << 31, "more than 2^31 rows");
    std::vector<double> kept;
    if (weights) {
        expect_length(weights->size(), n_rows, "the weights");
        expect_counts(weights->data(), n_rows, "the weights");
        kept.assign(weights->data(), weights->data() + n_rows);
    }
    const std::size_t n_labels = present.shape(0);
    new (made)
        PoolRows(n_rows, bit_lines(rows, 1, rows.size(), n_rows, "the rows that count"),
                 bit_lines(holds, holds.shape(0), n_rows, "what bodies cover"),
                 bit_lines(present, n_labels, n_rows, "what is present"), bit_lines(open, n_labels, n_rows, "what is open"),
                 bit_lines(predicted, n_labels, n_rows, "what is predicted"), std::move(kept));
}

// An array of numbers that are moved into it.
template <class... Sizes>
nb::object array_of(std::vector<double> numbers, Sizes... sizes) {
    auto* const kept = new std::vector<double>(std::move(numbers));
    const nb::capsule owner(kept, [](void* given) noexcept { delete static_cast<std::vector<double>*>(given); });
    return nb::cast(nb::ndarray<nb::numpy, double, nb::ndim<sizeof...(sizes)>>(kept->data(), {std::size_t(sizes)...}, owner));
}

// Bits of labels × rows.
nb::object bits_of(const std::vector<Words>& lines, std::size_t n_bytes) {
    auto* const kept = new std::vector<std::uint8_t>();
    const nb::capsule owner(kept, [](void* given) noexcept { delete static_cast<std::vector<std::uint8_t>*>(given); });
    for (const Words& words : lines)
        for (std::size_t i = 0; i < n_bytes; ++i) kept->push_back(std::uint8_t(words[i / 8] >> i % 8 * 8));
    return nb::cast(nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<2>>(kept->data(), {lines.size(), n_bytes}, owner));
}

nb::object cover_updates(const PoolRows& rows, const std::vector<CoverUpdate>& updates) {
    for (const auto& [body, label, before] : updates) {
        const bool is_known =
            body < rows.n_bodies() && std::ranges::all_of(before, [&](auto other) { return other < rows.n_bodies(); });
        if (!is_known || label >= rows.n_labels())
            throw std::invalid_argument("a cover update of a body or label that is not there");
    }
    std::vector<double> sums(updates.size() * 2 * rows.n_bodies());
    without_gil([&] { rows.cover_updates(updates, sums.data()); });
    return array_of(std::move(sums), updates.size(), 2, rows.n_bodies());
}

void check_labels(const PoolRows& rows, const Numbers& labels) {
    std::vector<bool> is_there(rows.n_labels());
    for (const std::uint32_t label : labels) {
        if (label >= rows.n_labels()) throw std::invalid_argument("a label that is not there");
        if (is_there[label]) throw std::invalid_argument("the same label twice");
        is_there[label] = true;
    }
}

void check_choices(const PoolRows& rows, const std::vector<Choice>& choices) {
    for (const Choice& choice : choices) {
        expect(choice.body < rows.n_bodies(), "a choice of a body that is not there");
        expect(!choice.is_default || &choice == choices.data(), "only the first choice may be the default rule");
        expect_length(choice.present.size(), choice.head.size(), "what a choice predicts as present");
        check_labels(rows, choice.head);
        check_labels(rows, choice.decided);
    }
}

// What Python reads: see _core.pyi.
struct PrefixArrays {
    nb::object tp, fp, positives;
    double weight;
    nb::object rows;
};

PrefixArrays prefix_counts(const PoolRows& rows, const std::vector<Choice>& choices, const Numbers& labels, bool by_row) {
    check_choices(rows, choices);
    check_labels(rows, labels);
    PrefixCounts counts;
    without_gil([&] { counts = rows.prefix_counts(choices, labels, by_row); });
    nb::list tables;
    for (const auto& table : counts.rows) {
        std::vector<double> numbers;
        for (const auto& line : table) numbers.insert(numbers.end(), line.begin(), line.end());
        tables.append(array_of(std::move(numbers), table.size(), 4));
    }
    const std::size_t n = labels.size(), stages = choices.size() + 1;
    return {array_of(std::move(counts.tp), stages, n), array_of(std::move(counts.fp), stages, n),
            array_of(std::move(counts.positives), n), counts.weight, nb::tuple(tables)};
}

nb::object decide(const PoolRows& rows, const std::vector<Choice>& choices) {
    check_choices(rows, choices);
    Decided decided;
    without_gil([&] { decided = rows.decide(choices); });
    return nb::make_tuple(bits_of(decided.present, rows.n_bytes()), bits_of(decided.decided, rows.n_bytes()));
}

RuleCounts rule_counts(const PoolRows& rows, const std::vector<Choice>& choices) {
    check_choices(rows, choices);
    RuleCounts counts;
    without_gil([&] { counts = rows.rule_counts(choices); });
    return counts;
}

void select_by(const PoolRows& rows, PoolSelection& selection) {
    expect_length(selection.n_bodies(), rows.n_bodies(), "the bodies of a selection");
    expect_length(selection.n_labels(), rows.n_labels(), "the labels of a selection");
    without_gil([&] { rows.select(selection); });
}

}  // namespace

void bind_pools(nb::module_& m) {
    bind_record(m, "Criterion", Field{"lam", &Criterion::lam}, Field{"condition_price", &Criterion::condition_price},
                Field{"exceptions", &Criterion::exceptions}, Field{"lift", &Criterion::lift},
                Field{"default_labels", &Criterion::default_labels});
    bind_record(m, "CoverUpdate", Field{"body", &CoverUpdate::body}, Field{"label", &CoverUpdate::label},
                Field{"before", &CoverUpdate::before});
    bind_record(m, "Choice", Field{"body", &Choice::body}, Field{"head", &Choice::head}, Field{"present", &Choice::present},
                Field{"decided", &Choice::decided}, Field{"is_default", &Choice::is_default});
    bind_fields(m, "PrefixCounts", Field{"tp", &PrefixArrays::tp}, Field{"fp", &PrefixArrays::fp},
                Field{"positives", &PrefixArrays::positives}, Field{"weight", &PrefixArrays::weight},
                Field{"rows", &PrefixArrays::rows});
    bind_record(m, "RuleCounts", Field{"decided", &RuleCounts::decided}, Field{"undecided", &RuleCounts::undecided});
    nb::class_<PoolSelection>(m, "PoolSelection")
        .def("__init__", &make_selection, "n_conditions"_a.noconvert(), "sums"_a.noconvert(), "label_weights"_a.noconvert(),
             "min_precision"_a, "forbidden"_a.noconvert(), "excludes"_a, "groups"_a, "hierarchy"_a, "criteria"_a, "max_rules"_a,
             "cache_size"_a)
        .def("choose", &choose)
        .def("update", &update, "covered"_a.noconvert())
        .def("alike", &PoolSelection::alike)
        .def("chosen", &chosen);
    nb::class_<PoolRows>(m, "PoolRows")
        .def("__init__", &make_rows, "n_rows"_a, "rows"_a.noconvert(), "holds"_a.noconvert(), "present"_a.noconvert(),
             "open"_a.none().noconvert(), "predicted"_a.none().noconvert(), "weights"_a.none().noconvert())
        .def("cover_updates", &cover_updates, "updates"_a)
        .def("prefix_counts", &prefix_counts, "choices"_a, "labels"_a, "by_row"_a)
        .def("decide", &decide, "choices"_a)
        .def("rule_counts", &rule_counts, "choices"_a)
        .def("select", &select_by, "selection"_a);
}

}  // namespace plurule
