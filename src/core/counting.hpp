// Counting, apart from deciding: what instances contribute to the candidates that cover them.
//
// Counts of blocks of rows are whole numbers that add up, in any order and wherever they were made. Decisions are made
// from the sums alone, so it does not matter how rows are shared out: over attributes, threads, or machines.
#pragma once
#include <vector>

#include "kernels.hpp"
#include "state.hpp"

namespace plurule {

class RowCounter {
   public:
    explicit RowCounter(const State& state) : state_(state) {}

    // Open present, open absent, present, one lane per label each; then the weight of the rows.
    std::size_t lanes() const { return 3 * state_.width + 1; }

    // Rows that count 1.
    void add(const Row* rows, std::size_t count, std::int32_t* counters) const {
        kernels().add_states(rows, count, state_.bytes.data(), state_.width, counters);
        counters[lanes() - 1] += std::int32_t(count);
    }
    // Each row into the block of lanes of its code.
    void add_by_code(const std::vector<Row>& rows, const std::uint8_t* codes, std::int32_t* blocks) const {
        kernels().add_states_by_code(rows.data(), rows.size(), codes, state_.bytes.data(), state_.width, lanes(), blocks);
        for (Row row : rows) ++blocks[(codes[row] + std::size_t(1)) * lanes() - 1];
    }

    // The same for rows of any weight.
    void add(const Row* rows, std::size_t count, double* counters) const {
        kernels().add_weighted_states(rows, count, nullptr, state_.bytes.data(), state_.width, state_.weights, counters);
    }
    void add_by_code(const std::vector<Row>& rows, const std::uint8_t* codes, double* blocks) const {
        kernels().add_weighted_states(rows.data(), rows.size(), codes, state_.bytes.data(), state_.width, state_.weights, blocks);
    }

    template <class Number>
    void add(const GroupedRows& rows, std::size_t group, Number* counters) const {
        add(rows.begin(group), rows.size(group), counters);
    }

   private:
    const State& state_;
};

}  // namespace plurule
