#include "block_counts.hpp"

#include <algorithm>
#include <stdexcept>

#include "kernels.hpp"

namespace plurule {
namespace {

// Four counters of 16 bits in a word: so many rows at most before they are written down.
constexpr std::size_t CHUNK = (std::size_t(1) << 16) - 1;

class BlockCounter {
   public:
    BlockCounter(const std::vector<CodedColumn>& columns, const CountedRows& counted, double* sums)
        : columns_(columns), counted_(counted), sums_(sums), lanes_(3 * counted.labels.size() + 1) {}

    void count() {
        for (std::size_t begin = 0; begin < counted_.rows.size(); begin += CHUNK) {
            const auto rows = counted_.rows.subspan(begin, std::min(CHUNK, counted_.rows.size() - begin));
            if (counted_.weights) {
                for (std::size_t label = 0; label < counted_.labels.size(); ++label) add_weighted(rows, label);
            } else if (all_labels()) {
                add_all(rows);
            } else {
                for (std::size_t label = 0; label < counted_.labels.size(); ++label) add_packed(rows, label);
            }
        }
        if (!counted_.row_starts.empty()) add_listed();
    }

   private:
    // More than a few labels are added as vectors of lanes.
    bool all_labels() const { return !counted_.whole && counted_.labels.size() > 2 && counted_.labels.size() * 2 > counted_.width; }

    std::uint8_t state_of(std::uint32_t row, std::size_t label) const {
        const std::uint8_t* states = counted_.states + std::size_t(row) * counted_.width;
        const std::uint8_t state = states[counted_.labels[label]];
        if (!counted_.whole || state & (OPEN_PRESENT | OPEN_ABSENT)) return state;
        bool open = false;
        for (std::int32_t other : counted_.labels) open |= (states[other] & (OPEN_PRESENT | OPEN_ABSENT)) != 0;
        return std::uint8_t(state | (!open ? 0 : state & PRESENT ? OPEN_PRESENT : OPEN_ABSENT));
    }

    // Calls a function with the codes of every column, as they are, and the sums of its first slot.
    template <class Add>
    void for_columns(Add&& add) {
        double* sums = sums_;
        for (const CodedColumn& column : columns_) {
            if (column.codes == nullptr) {
                // what its rows list is added for itself
            } else if (column.bytes == 1)
                add(static_cast<const std::uint8_t*>(column.codes), column.slots, sums);
            else
                add(static_cast<const std::uint16_t*>(column.codes), column.slots, sums);
            sums += column.slots * lanes_;
        }
    }

    // Codes of one byte need not be looked at beforehand: there is room for every one of them.
    template <class Code>
    static std::size_t room_for(const Code*, std::size_t slots) {
        return sizeof(Code) == 1 ? std::max<std::size_t>(slots, 256) : slots;
    }

    template <class Counts>
    static void expect_nothing_beyond(const Counts& counts, std::size_t slots) {
        if (std::any_of(counts.begin() + std::ptrdiff_t(slots), counts.end(), [](auto count) { return count != 0; }))
            throw std::invalid_argument(CODE_BEYOND);
    }

    void add_packed(std::span<const std::uint32_t> rows, std::size_t label) {
        words_.resize(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const std::uint64_t state = state_of(rows[i], label);
            words_[i] = (state & 1) | (state >> 1 & 1) << 16 | (state >> 2 & 1) << 32 | std::uint64_t(1) << 48;
        }
        const std::size_t n = counted_.labels.size();
        for_columns([&](const auto* codes, std::size_t slots, double* sums) {
            counts_.assign(room_for(codes, slots), 0);
            for (std::size_t i = 0; i < rows.size(); ++i) counts_[codes[rows[i]]] += words_[i];
            expect_nothing_beyond(counts_, slots);
            for (std::size_t slot = 0; slot < slots; ++slot) {
                double* to = sums + slot * lanes_;
                for (std::size_t lane = 0; lane < 3; ++lane) to[lane * n + label] += double(counts_[slot] >> 16 * lane & 0xffff);
                if (label == 0) to[3 * n] += double(counts_[slot] >> 48);
            }
        });
    }

    void add_weighted(std::span<const std::uint32_t> rows, std::size_t label) {
        states_.resize(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) states_[i] = state_of(rows[i], label);
        const std::size_t n = counted_.labels.size();
        for_columns([&](const auto* codes, std::size_t, double* sums) {
            for (std::size_t i = 0; i < rows.size(); ++i) {
                double* to = sums + codes[rows[i]] * lanes_;
                const double weight = counted_.weights[rows[i]];
                for (std::size_t lane = 0; lane < 3; ++lane) to[lane * n + label] += states_[i] >> lane & 1 ? weight : 0.0;
                if (label == 0) to[3 * n] += weight;
            }
        });
    }

    void add_all(std::span<const std::uint32_t> rows) {
        const std::size_t n = counted_.labels.size(), width = counted_.width;
        for_columns([&](const auto* codes, std::size_t slots, double* sums) {
            sizes_.assign(room_for(codes, slots), 0);
            for (std::uint32_t row : rows) ++sizes_[codes[row]];
            expect_nothing_beyond(sizes_, slots);
            vectors_.assign(slots * 3 * width, 0);
            if constexpr (sizeof(*codes) == 1)
                kernels().add_states_by_code(rows.data(), rows.size(), codes, counted_.states, width, 3 * width, vectors_.data());
            else
                for (const std::uint32_t& row : rows)
                    kernels().add_states(&row, 1, counted_.states, width, vectors_.data() + codes[row] * 3 * width);
            for (std::size_t slot = 0; slot < slots; ++slot) {
                double* to = sums + slot * lanes_;
                for (std::size_t lane = 0; lane < 3; ++lane)
                    for (std::size_t label = 0; label < n; ++label)
                        to[lane * n + label] += vectors_[(slot * 3 + lane) * width + std::size_t(counted_.labels[label])];
                to[3 * n] += double(sizes_[slot]);
            }
        });
    }

    // Sparse columns: what a row contributes is added to the slots that it lists.
    void add_listed() {
        const std::size_t n = counted_.labels.size();
        std::vector<std::size_t> lanes;
        for (std::uint32_t row : counted_.rows) {
            lanes.assign(1, 3 * n);
            for (std::size_t label = 0; label < n; ++label) {
                const std::uint8_t state = state_of(row, label);
                for (std::size_t lane = 0; lane < 3; ++lane)
                    if (state >> lane & 1) lanes.push_back(lane * n + label);
            }
            const double weight = counted_.weights ? counted_.weights[row] : 1.0;
            for (std::int64_t i = counted_.row_starts[row]; i < counted_.row_starts[row + 1]; ++i) {
                double* to = sums_ + counted_.listed[std::size_t(i)] * lanes_;
                for (std::size_t lane : lanes) to[lane] += weight;
            }
        }
    }

    const std::vector<CodedColumn>& columns_;
    const CountedRows& counted_;
    double* sums_;
    std::size_t lanes_;
    std::vector<std::uint64_t> words_, counts_;
    std::vector<std::uint8_t> states_;
    std::vector<std::int32_t> vectors_, sizes_;
};

}  // namespace

void count_block(const std::vector<CodedColumn>& columns, const CountedRows& counted, double* sums) {
    BlockCounter(columns, counted, sums).count();
}

}  // namespace plurule
