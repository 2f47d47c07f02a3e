#include "block_counts.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "kernels.hpp"

namespace plurule {
namespace {

constexpr const char* CODE_BEYOND = "a column of a block holds a code beyond its slots";

// What rows contribute is written down once for all columns, and then added, as vectors of lanes, wherever the rows fall: in numbers
// of 16 bits where rows count 1, and in doubles where they have weights.
template <class Number>
class BlockCounter {
   public:
    BlockCounter(const std::vector<CodedColumn>& columns, const CountedRows& counted)
        : columns_(columns), counted_(counted), lanes_(3 * counted.labels.size() + 1), padded_((lanes_ + 7) / 8 * 8),
          slots_(std::accumulate(columns.begin(), columns.end(), std::size_t(0), [](std::size_t n, const CodedColumn& c) { return n + c.slots; })),
          at_once_(std::max<std::size_t>(1, IN_CACHE / padded_)), states_(counted.labels.size()), contributed_(at_once_ * padded_) {}

    void count(double* sums) {
        for (std::size_t begin = 0; begin < counted_.rows.size(); begin += MOST_ROWS) {
            count(counted_.rows.subspan(begin, std::min(MOST_ROWS, counted_.rows.size() - begin)));
            for (std::size_t slot = 0; slot < slots_; ++slot)
                for (std::size_t lane = 0; lane < lanes_; ++lane) sums[slot * lanes_ + lane] += double(counts_[slot * padded_ + lane]);
        }
    }

   private:
    // Before they are written down: as many as counters of 16 bits can hold, or all.
    static constexpr std::size_t MOST_ROWS = sizeof(Number) == 2 ? 0xffff : std::size_t(-1);
    static constexpr std::size_t IN_CACHE = (1 << 16) / sizeof(Number);

    void count(std::span<const std::uint32_t> rows) {
        counts_.assign(slots_ * padded_, 0);
        for (std::size_t begin = 0; begin < rows.size(); begin += at_once_) {
            const auto some = rows.subspan(begin, std::min(at_once_, rows.size() - begin));
            for (std::size_t i = 0; i < some.size(); ++i) write_down(some[i], &contributed_[i * padded_]);
            std::size_t first = 0;
            for (const CodedColumn& column : columns_) {
                if (column.bytes == 1)
                    add(static_cast<const std::uint8_t*>(column.codes), first, column.slots, some);
                else if (column.codes)
                    add(static_cast<const std::uint16_t*>(column.codes), first, column.slots, some);
                first += column.slots;
            }
            if (!counted_.row_starts.empty()) add_listed(some);
        }
    }

    // What a row contributes to the slots that it falls into.
    void write_down(std::uint32_t row, Number* __restrict to) {
        const std::size_t n = counted_.labels.size();
        std::uint8_t* __restrict states = states_.data();
        std::uint8_t open = 0;
        for (std::size_t i = 0; i < n; ++i) open |= states[i] = counted_.states[row * counted_.width + std::size_t(counted_.labels[i])];
        if (counted_.whole && open & (OPEN_PRESENT | OPEN_ABSENT))
            for (std::size_t i = 0; i < n; ++i) states[i] = states[i] & PRESENT ? OPEN_PRESENT | PRESENT : OPEN_ABSENT;
        const Number weight = counted_.weights ? Number(counted_.weights[row]) : Number(1);
        for (std::size_t i = 0; i < n; ++i) {
            to[i] = states[i] & OPEN_PRESENT ? weight : 0;
            to[n + i] = states[i] & OPEN_ABSENT ? weight : 0;
            to[2 * n + i] = states[i] & PRESENT ? weight : 0;
        }
        to[3 * n] = weight;
    }

    template <class Code>
    void add(const Code* codes, std::size_t first, std::size_t slots, std::span<const std::uint32_t> rows) {
        auto add_rows = [=, from = contributed_.data(), to = counts_.data() + first * padded_](auto padded) mutable {
            for (std::uint32_t row : rows) {
                if (codes[row] >= slots) throw std::invalid_argument(CODE_BEYOND);
                add_lanes(from, to + codes[row] * padded, padded);
                from += padded;
            }
        };
        constexpr std::integral_constant<std::size_t, 8> FEW;  // one or two labels, the most frequent case, are faster by a fixed number
        padded_ == FEW ? add_rows(FEW) : add_rows(padded_);
    }

    // Sparse columns: what a row contributes is added to the slots that it lists.
    void add_listed(std::span<const std::uint32_t> rows) {
        for (std::size_t i = 0; i < rows.size(); ++i)
            for (std::int64_t j = counted_.row_starts[rows[i]]; j < counted_.row_starts[rows[i] + 1]; ++j) {
                const std::size_t slot = counted_.listed[std::size_t(j)];
                if (slot >= slots_) throw std::invalid_argument(CODE_BEYOND);
                add_lanes(&contributed_[i * padded_], &counts_[slot * padded_], padded_);
            }
    }

    static void add_lanes(const Number* __restrict from, Number* __restrict to, std::size_t lanes) {
        typedef Number Lanes __attribute__((vector_size(16)));
        for (std::size_t lane = 0; lane < lanes; lane += 16 / sizeof(Number)) {
            Lanes sum, more;
            std::memcpy(&sum, to + lane, sizeof sum);
            std::memcpy(&more, from + lane, sizeof more);
            sum += more;
            std::memcpy(to + lane, &sum, sizeof sum);
        }
    }

    const std::vector<CodedColumn>& columns_;
    const CountedRows& counted_;
    std::size_t lanes_, padded_, slots_, at_once_;
    std::vector<Number> counts_;       // slots × lanes
    std::vector<std::uint8_t> states_;  // of a row, per label
    std::vector<Number> contributed_;  // some rows × lanes
};

}  // namespace

void count_block(const std::vector<CodedColumn>& columns, const CountedRows& counted, double* sums) {
    if (counted.weights)
        BlockCounter<double>(columns, counted).count(sums);
    else
        BlockCounter<std::uint16_t>(columns, counted).count(sums);
}

}  // namespace plurule
