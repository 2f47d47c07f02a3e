// Where separate-and-conquer stands: which instances are in training, and which pairs are open.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels.hpp"

namespace plurule {

constexpr std::int8_t OPEN = -1;
constexpr std::uint8_t UNDECIDED = 2;  // the code of a label as an attribute, beside absent (0) and present (1)

// A label, seen as an attribute: rows that no rule decided have no value.
inline const Attribute& label_attribute() {
    static const Attribute attribute{true, 2, -1, true, {}, {}};
    return attribute;
}

// Weights of the pairs of one label in training.
struct LabelWeights {
    double open_present = 0, open_absent = 0, present = 0;
    std::size_t open = 0;  // pairs, whatever they weigh
};

struct State {
    const RankedColumns& columns;
    std::size_t n_rows, n_labels;
    const double* weights;      // null: every instance counts 1
    double total_weight = 0;    // of all instances
    std::vector<Row> rows;      // E, ascending
    double weight_of_rows = 0;  // of E
    std::vector<std::uint8_t> head_labels;
    std::vector<std::uint8_t> set_aside;               // per label: it may not be in heads any more
    std::vector<LabelWeights> labels;                  // per label, over E
    std::vector<LabelWeights> removed;                    // over all other instances, as they were when they left
    std::vector<std::vector<std::uint8_t>> predicted;  // per label that occurs in heads: what the rules say of each row
    MinPrecision required;                                // of candidates, for now
    // Rows × width: what each pair contributes; behind the labels one that every row in training has, whose positives are the
    // coverage.
    std::size_t width;
    std::vector<std::uint8_t> bytes;
    Number number = Number::narrow;         // in which sums over rows of one label are exact

    // What rules given beforehand predict, which rows they leave in training, which labels they speak of; null: no rules.
    struct Start {
        const std::int8_t* predicted;
        const std::uint8_t* in_training;
        const std::uint8_t* head_labels;
    };

    State(const RankedColumns& columns, const std::uint8_t* truth, std::size_t n_labels, const double* weights,
          const Start& start)
        : columns(columns),
          n_rows(columns.n_rows),
          n_labels(n_labels),
          weights(weights),
          width((n_labels + 1 + LANES - 1) / LANES * LANES) {
        head_labels.assign(n_labels, 0);
        set_aside.assign(n_labels, 0);
        predicted.resize(n_labels);
        labels.resize(n_labels);
        removed.resize(n_labels);
        if (start.head_labels) std::copy_n(start.head_labels, n_labels, head_labels.begin());
        bytes.assign(n_rows * width, 0);
        std::vector<Row> others;
        for (Row row = 0; row < n_rows; ++row) {
            total_weight += weight(row);
            std::uint8_t* to = bytes.data() + std::size_t(row) * width;
            const std::uint8_t* present = truth + at(row, 0);
            for (std::size_t label = 0; label < n_labels; ++label)
                to[label] = present[label] ? PRESENT | OPEN_PRESENT : OPEN_ABSENT;
            for (std::size_t label = 0; start.predicted && label < n_labels; ++label)
                if (start.predicted[at(row, label)] != OPEN) to[label] &= PRESENT;
            to[n_labels] = PRESENT;
            (start.in_training && !start.in_training[row] ? others : rows).push_back(row);
        }
        choose_number();
        weight_of_rows = count_rows(rows, 1, labels);
        count_rows(others, 1, removed);
        clear_bytes(others);
        for (std::size_t label = 0; start.predicted && label < n_labels; ++label) {
            if (!head_labels[label]) continue;
            predicted[label].resize(n_rows);
            for (Row row = 0; row < n_rows; ++row) {
                const std::int8_t said = start.predicted[at(row, label)];
                predicted[label][row] = said == OPEN ? UNDECIDED : std::uint8_t(said);
            }
        }
    }

    double weight(Row row) const { return weights ? weights[row] : 1.0; }
    double weight_of(const std::vector<Row>& some) const {
        if (!weights) return double(some.size());
        double sum = 0;
        for (Row row : some) sum += weights[row];
        return sum;
    }
    std::size_t at(Row row, std::size_t label) const { return std::size_t(row) * n_labels + label; }
    // Attributes, and behind them the labels.
    std::size_t n_attributes() const { return columns.attributes.size(); }
    const Attribute& attribute(std::size_t a) const { return a < n_attributes() ? columns.attributes[a] : label_attribute(); }
    // use(codes) for a dense attribute, or a label that occurs in heads.
    template <class Use>
    decltype(auto) with_codes(std::size_t a, Use&& use) const {
        if (a >= n_attributes()) return use(predicted[a - n_attributes()].data());
        return columns.codes[a].with(use);
    }

    // Whether a label can be in heads.
    bool is_searched(std::size_t label) const { return labels[label].open > 0 && !set_aside[label]; }

    // What a pair of an instance in training contributes.
    std::uint8_t byte(Row row, std::size_t label) const { return bytes[std::size_t(row) * width + label]; }
    RowStates states_of(std::size_t strip) const { return {bytes.data() + strip * LANES, width, weights}; }

    // Adds what some rows weigh to the labels, `sign` times; gives what they weigh themselves.
    double count_rows(const std::vector<Row>& some, double sign, std::vector<LabelWeights>& to) const {
        const CountKernels& kernel = kernels().count[int(number)];
        const std::int32_t only_column = 0;
        double covered = 0, sums[3];
        for (std::size_t strip = 0; strip < width / LANES; ++strip) {
            double numbers[CELL] = {};  // or smaller ones
            kernel.sum(some.data(), some.size(), states_of(strip), numbers);
            for (std::size_t lane = 0; lane < LANES && strip * LANES + lane <= n_labels; ++lane) {
                kernel.gather(numbers, &only_column, 1, lane, sums);
                const std::size_t label = strip * LANES + lane;
                if (label == n_labels) covered = sums[2];
                if (label == n_labels) continue;
                to[label].open_present += sign * sums[0];
                to[label].open_absent += sign * sums[1];
                to[label].present += sign * sums[2];
                if (!weights) to[label].open += std::size_t(std::int64_t(sign * (sums[0] + sums[1])));
            }
        }
        for (std::size_t i = 0; weights && i < some.size(); ++i)
            for (std::size_t label = 0; label < n_labels; ++label)
                if (byte(some[i], label) & (OPEN_PRESENT | OPEN_ABSENT)) to[label].open += std::size_t(std::int64_t(sign));
        return covered;
    }

    // Instances leave training.
    void remove(const std::vector<Row>& leaving) {
        weight_of_rows -= count_rows(leaving, -1, labels);
        count_rows(leaving, 1, removed);
        clear_bytes(leaving);
        std::erase_if(rows, [&](Row row) { return byte(row, n_labels) == 0; });
    }

    // Decides a pair of an instance in training that is open.
    void close(Row row, std::size_t label) {
        std::uint8_t& of_pair = bytes[std::size_t(row) * width + label];
        (of_pair & PRESENT ? labels[label].open_present : labels[label].open_absent) -= weight(row);
        of_pair &= PRESENT;
        --labels[label].open;
    }

   private:
    void clear_bytes(const std::vector<Row>& some) {
        for (Row row : some) std::fill_n(bytes.begin() + std::ptrdiff_t(std::size_t(row) * width), width, std::uint8_t(0));
    }
    void choose_number() {
        bool whole = total_weight < 0x1p31;
        for (Row row = 0; weights && whole && row < n_rows; ++row) whole = weights[row] == double(std::int32_t(weights[row]));
        number = !whole ? Number::real : total_weight < 0x1p16 ? Number::narrow : Number::wide;
    }
};

}  // namespace plurule
