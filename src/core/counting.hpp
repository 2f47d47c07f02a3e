// Counting, apart from deciding: what instances contribute to the candidates that cover them.
//
// Counts of blocks of rows are whole numbers that add up, in any order and wherever they were made. Decisions are made
// from the sums alone, so it does not matter how rows are shared out: over attributes, threads, or machines.
#pragma once
#include <vector>

#include "kernels.hpp"
#include "state.hpp"

namespace plurule {

template <class Count>
class RowCounter {
   public:
    explicit RowCounter(const State& state) : state_(state) {}

    // Open present, open absent, present, one lane per label each; then the weight of the rows.
    std::size_t lanes() const { return 3 * state_.width + 1; }

    void add(const Row* rows, std::size_t count, Count* counters) const {
        const Kernels& k = kernels();
        if constexpr (std::is_same_v<Count, double>) {
            k.add_weighted_states(rows, count, state_.bytes.data(), state_.width, state_.weights, counters);
            for (std::size_t i = 0; i < count; ++i) counters[lanes() - 1] += state_.weight(rows[i]);
        } else {
            k.add_states(rows, count, state_.bytes.data(), state_.width, counters);
            counters[lanes() - 1] += Count(count);
        }
    }
    void add(const GroupedRows& rows, std::size_t group, Count* counters) const {
        add(rows.begin(group), rows.size(group), counters);
    }

    // Each row into the block of lanes of its code.
    void add_by_code(const Row* rows, std::size_t count, const std::uint8_t* codes, Count* blocks) const {
        if constexpr (std::is_same_v<Count, double>) {
            for (std::size_t i = 0; i < count; ++i) add(rows + i, 1, blocks + codes[rows[i]] * lanes());
        } else {
            kernels().add_states_by_code(rows, count, codes, state_.bytes.data(), state_.width, lanes(), blocks);
            for (std::size_t i = 0; i < count; ++i) ++blocks[(codes[rows[i]] + std::size_t(1)) * lanes() - 1];
        }
    }

   private:
    const State& state_;
};

}  // namespace plurule
