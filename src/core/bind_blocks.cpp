// Counting blocks of rows, from Python.
#include "bindings.hpp"
#include "block_counts.hpp"

namespace plurule {
namespace {

using Rows = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Slots = std::optional<Rows>;
using Starts = std::optional<AnyInts>;
using Sums = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// A column of no codes is counted elsewhere.
CodedColumn coded(const AnyColumn& column, std::size_t slots, std::size_t n_rows) {
    if (column.size() == 0) return {nullptr, 0, slots};
    expect_length(column.size(), n_rows, "a column of a block");
    const bool is_byte = column.dtype() == nb::dtype<std::uint8_t>();
    if ((!is_byte && column.dtype() != nb::dtype<std::uint16_t>()) || (n_rows > 1 && column.stride(0) != 1))
        throw std::invalid_argument("a column of a block must hold uint8 or uint16, one after the other");
    return {column.data(), is_byte ? std::size_t(1) : 2, slots};
}

// Every code that is read must be that of a slot; those that are counted without weights, in bytes, are checked as they are.
template <class Code>
void check_codes(const Code* codes, const Rows& rows, std::size_t slots) {
    std::size_t highest = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) highest = std::max<std::size_t>(highest, codes[rows.data()[i]]);
    if (highest >= slots) throw std::invalid_argument(CODE_BEYOND);
}

// The slots that rows list, of sparse columns.
void check_listed(const Rows& rows, const Rows& listed, const AnyInts& starts, std::size_t n_rows, std::size_t n_slots) {
    expect_length(starts.size(), n_rows + 1, "the starts of what rows list");
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::int64_t begin = starts.data()[rows.data()[i]], end = starts.data()[rows.data()[i] + 1];
        if (begin < 0 || begin > end || std::size_t(end) > listed.size()) throw std::invalid_argument("a row lists more than there is");
        for (std::int64_t j = begin; j < end; ++j)
            if (listed.data()[j] >= n_slots) throw std::invalid_argument(CODE_BEYOND);
    }
}

void count(const std::vector<AnyColumn>& columns, const std::vector<std::size_t>& slots, const Rows& rows, const Labels& states,
           const Ints& labels, bool whole, std::optional<Doubles> weights, Slots listed, Starts starts, Sums& sums) {
    const std::size_t n_rows = states.shape(0), width = states.shape(1);
    expect_length(slots.size(), columns.size(), "the slots of the columns");
    if (width == 0 || width % 8) throw std::invalid_argument("the states of a row must be a multiple of 8");
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows.data()[i] >= n_rows) throw std::invalid_argument("a row is beyond its block");
    for (std::size_t i = 0; i < labels.size(); ++i)
        if (labels.data()[i] < 0 || std::size_t(labels.data()[i]) >= width) throw std::invalid_argument("a label is beyond the states");
    if (weights) expect_length(weights->size(), n_rows, "the weights");
    std::size_t total = 0;
    std::vector<CodedColumn> known;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        known.push_back(coded(columns[i], slots[i], n_rows));
        total += slots[i];
    }
    expect_length(sums.shape(0), total, "the sums");
    expect_length(sums.shape(1), 3 * labels.size() + 1, "the lanes of the sums");
    if (listed && starts) check_listed(rows, *listed, *starts, n_rows, total);
    without_gil([&] {
        for (const CodedColumn& column : known)
            if (column.codes == nullptr)
                continue;
            else if (column.bytes == 2)
                check_codes(static_cast<const std::uint16_t*>(column.codes), rows, column.slots);
            else if (weights)
                check_codes(static_cast<const std::uint8_t*>(column.codes), rows, column.slots);
        CountedRows counted{{rows.data(), rows.size()}, states.data(), width, weights ? weights->data() : nullptr,
                            {labels.data(), labels.size()}, whole, {}, {}};
        if (listed && starts) {
            counted.listed = {listed->data(), listed->size()};
            counted.row_starts = {starts->data(), starts->size()};
        }
        count_block(known, counted, sums.data());
    });
}

}  // namespace

void bind_blocks(nb::module_& m) {
    m.def("count_block", &count, nb::arg("columns"), nb::arg("slots"), nb::arg("rows"), nb::arg("states"), nb::arg("labels"),
          nb::arg("whole"), nb::arg("weights").none(), nb::arg("listed").none(), nb::arg("row_starts").none(), nb::arg("sums"),
          "Add what the rows of a block contribute to every slot of every column.");
}

}  // namespace plurule
