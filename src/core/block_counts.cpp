#include "block_counts.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "kernels.hpp"

namespace plurule {
namespace {

constexpr const char* CODE_BEYOND = "a column of a block holds a code beyond its slots";

// A row of states for the kernels: the labels to count, and behind them one that every row has, whose positives are the coverage.
void write_states(const CountedRows& counted, std::uint32_t row, std::uint8_t* to) {
    const std::size_t n = counted.labels.size();
    std::uint8_t open = 0;
    for (std::size_t i = 0; i < n; ++i) open |= to[i] = counted.states[row * counted.width + std::size_t(counted.labels[i])];
    for (std::size_t i = 0; counted.whole && open & (OPEN_PRESENT | OPEN_ABSENT) && i < n; ++i)
        to[i] = to[i] & PRESENT ? OPEN_PRESENT | PRESENT : OPEN_ABSENT;
    to[n] = PRESENT;
}

void check_codes(const CodedColumn& column, std::span<const std::uint32_t> rows) {
    const auto check = [&](const auto* codes) {
        if (std::any_of(rows.begin(), rows.end(), [&](std::uint32_t row) { return codes[row] >= column.slots; })) throw std::invalid_argument(CODE_BEYOND);
    };
    column.bytes == 1 ? check(static_cast<const std::uint8_t*>(column.codes)) : check(static_cast<const std::uint16_t*>(column.codes));
}

// What the counted rows list of the sparse columns.
std::vector<std::span<const std::uint32_t>> listed_slots(const CountedRows& counted, std::size_t slots) {
    std::vector<std::span<const std::uint32_t>> listed;
    for (std::uint32_t row : counted.rows) {
        const std::size_t begin = std::size_t(counted.row_starts[row]), end = std::size_t(counted.row_starts[row + 1]);
        listed.push_back(counted.listed.subspan(begin, end - begin));
        for (std::uint32_t slot : listed.back())
            if (slot >= slots) throw std::invalid_argument(CODE_BEYOND);
    }
    return listed;
}

}  // namespace

void count_block(const std::vector<CodedColumn>& columns, const CountedRows& counted, double* sums) {
    const std::size_t n = counted.labels.size(), stride = (n + 1 + LANES - 1) / LANES * LANES, n_rows = counted.rows.size();
    const Number number = counted.weights ? Number::real : n_rows < 1 << 16 ? Number::narrow : Number::wide;
    const CountKernels& kernel = kernels().count[int(number)];
    std::size_t slots = 0;
    for (const CodedColumn& column : columns) {
        if (column.codes) check_codes(column, counted.rows);
        slots += column.slots;
    }
    const std::uint32_t behind = counted.rows.empty() ? 0 : *std::max_element(counted.rows.begin(), counted.rows.end()) + 1;
    std::vector<std::uint8_t> states(behind * stride), cells(slots * CELL * kernel.bytes);
    for (std::uint32_t row : counted.rows) write_states(counted, row, states.data() + row * stride);
    std::vector<std::span<const std::uint32_t>> listed;
    if (!counted.row_starts.empty()) listed = listed_slots(counted, slots);
    for (std::size_t first = 0; first <= n; first += LANES) {
        const RowStates strip{states.data() + first, stride, counted.weights};
        std::fill(cells.begin(), cells.end(), std::uint8_t(0));
        std::uint8_t* to = cells.data();
        for (const CodedColumn& column : columns) {
            if (column.codes) kernel.add[code_kind(column.bytes)](column.codes, counted.rows.data(), n_rows, strip, to);
            to += column.slots * CELL * kernel.bytes;
        }
        if (!listed.empty()) kernel.add_listed(listed.data(), 0, counted.rows.data(), n_rows, strip, cells.data());
        for (std::size_t slot = 0; slot < slots; ++slot)
            for (std::size_t label = first; label <= std::min(n, first + LANES - 1); ++label) {
                const std::int32_t cell = std::int32_t(slot);
                double numbers[3];
                kernel.gather(cells.data(), &cell, 1, label - first, numbers);
                double* row = sums + slot * (3 * n + 1);
                for (std::size_t kind = 0; kind < 3 && label < n; ++kind) row[kind * n + label] += numbers[kind];
                if (label == n) row[3 * n] += numbers[2];
            }
    }
}

}  // namespace plurule
