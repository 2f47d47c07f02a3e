// Counting blocks of rows, from Python.
#include "bindings.hpp"
#include "block_counts.hpp"

namespace plurule {
namespace {

using Rows = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Sums = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// A column of no codes is counted elsewhere.
CodedColumn coded(const AnyColumn& column, std::size_t slots, std::size_t n_rows) {
    if (column.size() == 0) return {nullptr, 0, slots};
    expect_length(column.size(), n_rows, "a column of a block");
    const bool is_byte = column.dtype() == nb::dtype<std::uint8_t>(), is_word = column.dtype() == nb::dtype<std::uint16_t>();
    expect((is_byte || is_word) && (n_rows <= 1 || column.stride(0) == 1),
           "a column of a block must hold uint8 or uint16, one after the other");
    return {column.data(), is_byte ? std::size_t(1) : 2, slots};
}

void count(const std::vector<AnyColumn>& columns, const std::vector<std::size_t>& slots, const Rows& rows, const Labels& states,
           const Ints& labels, bool whole, std::optional<Doubles> weights, std::optional<Rows> listed, std::optional<AnyInts> starts,
           Sums& sums) {
    const std::size_t n_rows = states.shape(0), width = states.shape(1);
    CountedRows counted{span_of(rows), states.data(), width, weights ? weights->data() : nullptr, span_of(labels), whole, {}, {}};
    for (const std::uint32_t row : counted.rows) expect(row < n_rows, "a row is beyond its block");
    for (const std::int32_t label : counted.labels) expect(label >= 0 && std::size_t(label) < width, "a label is beyond the states");
    if (weights) expect_length(weights->size(), n_rows, "the weights");
    expect_length(slots.size(), columns.size(), "the slots of the columns");
    std::size_t total = 0;
    std::vector<CodedColumn> known;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        expect(slots[i] <= sums.shape(0) - total, "more slots than sums");
        known.push_back(coded(columns[i], slots[i], n_rows));
        total += slots[i];
    }
    expect_length(sums.shape(0), total, "the sums");
    expect_length(sums.shape(1), 3 * labels.size() + 1, "the numbers of a sum");
    if (listed && starts) {
        counted.listed = span_of(*listed);
        counted.row_starts = span_of(*starts);
        expect_length(starts->size(), n_rows + 1, "the starts of what rows list");
        for (const std::uint32_t row : counted.rows) {
            const std::int64_t begin = counted.row_starts[row], end = counted.row_starts[row + 1];
            expect(begin >= 0 && begin <= end && std::size_t(end) <= listed->size(), "a row lists more than there is");
        }
    }
    without_gil([&] { count_block(known, counted, sums.data()); });
}

}  // namespace

void bind_blocks(nb::module_& m) {
    m.def("count_block", &count, nb::arg("columns").noconvert(), nb::arg("slots"), nb::arg("rows").noconvert(),
          nb::arg("states").noconvert(), nb::arg("labels").noconvert(),
          nb::arg("whole"), nb::arg("weights").none().noconvert(), nb::arg("listed").none().noconvert(),
          nb::arg("row_starts").none().noconvert(), nb::arg("sums").noconvert(),
          "Add what the rows of a block contribute to every slot of every column.");
}

}  // namespace plurule
