// The Python interface to decision lists. Sizes and indices are checked before use.
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bindings.hpp"
#include "decision_list.hpp"

using namespace nb::literals;

namespace plurule {
namespace {

using Predicted = nb::ndarray<std::int8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using DecidedBy = nb::ndarray<std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using GoingOn = nb::ndarray<bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using GivenCondition = std::tuple<int, std::uint32_t, double>;
using GivenRule = std::tuple<std::vector<std::uint32_t>, std::vector<std::pair<std::uint32_t, bool>>, bool>;

ColumnView view(const AnyColumn& values, std::size_t n_rows) {
    ColumnView column{};
    if (values.dtype() == nb::dtype<float>())
        column.kind = ColumnView::Kind::float32;
    else if (values.dtype() == nb::dtype<double>())
        column.kind = ColumnView::Kind::float64;
    else if (values.dtype() == nb::dtype<std::int32_t>())
        column.kind = ColumnView::Kind::codes;
    else
        throw std::invalid_argument("a column must hold float32, float64 or int32");
    expect(values.shape(0) == n_rows, "a column of another length than the table");
    column.values = static_cast<const char*>(values.data());
    column.stride = values.stride(0) * std::int64_t(values.itemsize());
    return column;
}

ColumnView sparse_view(const Ints& rows, const AnyColumn& values, std::size_t n_rows) {
    ColumnView column = view(values, rows.size());
    column.rows = rows.data();
    column.listed = rows.size();
    column.sparse = true;
    for (std::size_t i = 0; i < rows.size(); ++i)
        expect(rows.data()[i] >= (i ? rows.data()[i - 1] + 1 : 0) && std::size_t(rows.data()[i]) < n_rows,
               "the rows of a sparse column must be ascending and within the table");
    return column;
}

DecisionList make_list(const std::vector<GivenCondition>& conditions, const std::vector<GivenRule>& rules,
                       const std::vector<ColumnView>& columns, std::size_t n_labels) {
    DecisionList list;
    list.n_labels = n_labels;
    for (const auto& [test, index, value] : conditions) {
        expect(test >= 0 && test <= int(Test::label_present), "an unknown kind of condition");
        const ListCondition condition{Test(test), index, value};
        if (condition.on_label()) {
            expect(index < n_labels, "a condition on a label that is not there");
        } else {
            expect(index < columns.size(), "a condition on a column that is not there");
            expect((columns[index].kind == ColumnView::Kind::codes) == (condition.test == Test::equals),
                   "a condition that does not fit its column");
            expect(condition.test != Test::equals || std::fabs(value) < 1u << 31,
                   "a condition on a code that no column can hold");
        }
        list.conditions.push_back(condition);
    }
    for (const auto& [body, head, stop] : rules) {
        for (const std::uint32_t position : body) expect(position < conditions.size(), "a condition that is not there");
        for (const auto& [label, present] : head) expect(label < n_labels, "a head with a label that is not there");
        list.rules.push_back({body, head, stop});
    }
    return list;
}

void decide_table(std::size_t n_rows, const nb::list& columns, const std::vector<GivenCondition>& conditions,
                  const std::vector<GivenRule>& rules, Predicted predicted, const nb::object& decided_by,
                  const nb::object& going_on, std::size_t n_threads) {
    expect(n_rows < (std::size_t(1) << 31), "more than 2^31 rows");
    std::vector<ColumnView> views;
    std::vector<nb::object> kept;  // what the views point into
    for (const nb::handle given : columns) {
        if (nb::isinstance<nb::tuple>(given)) {
            const auto [rows, values] = nb::cast<std::tuple<Ints, AnyColumn>>(given, false);
            views.push_back(sparse_view(rows, values, n_rows));
        } else {
            views.push_back(view(nb::cast<AnyColumn>(given, false), n_rows));
        }
        kept.push_back(nb::borrow(given));
    }
    const DecisionList list = make_list(conditions, rules, views, predicted.shape(1));
    expect(predicted.shape(0) == n_rows, "decisions for another number of rows than the table has");
    DecisionsOut out{predicted.data(), nullptr, nullptr};
    if (!decided_by.is_none()) {
        const auto matrix = nb::cast<DecidedBy>(decided_by, false);
        expect(matrix.shape(0) == n_rows && matrix.shape(1) == predicted.shape(1), "two matrices of different shape");
        out.decided_by = matrix.data();
    }
    if (!going_on.is_none()) {
        const auto marks = nb::cast<GoingOn>(going_on, false);
        expect(marks.shape(0) == n_rows, "marks for another number of rows than the table has");
        out.going_on = marks.data();
    }
    without_gil([&] { decide(list, views, n_rows, out, n_threads); });
}

}  // namespace

void bind_decisions(nb::module_& m) {
    m.def("decide", &decide_table, "n_rows"_a, "columns"_a, "conditions"_a, "rules"_a, "predicted"_a.noconvert(),
          "decided_by"_a.none(), "going_on"_a.none(), "n_threads"_a);
}

}  // namespace plurule
