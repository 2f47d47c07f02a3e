#include "decision_list.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "threads.hpp"

namespace plurule {
namespace {

constexpr std::size_t BLOCK = 512;
constexpr std::size_t WORDS = BLOCK / 64;
using Bits = std::array<std::uint64_t, WORDS>;  // a bit per row of a block
using Wanted = std::uint8_t;                    // a bit per word
static_assert(WORDS == 8);

// Which bit of a word a row has, and which row a bit is of: as in a square of eight by eight that is turned over. So nothing is
// to be moved between the lanes of vectors.
constexpr std::size_t turned(std::size_t i) { return i % 8 * 8 + i / 8; }

// Which of 64 values satisfy a comparison. Vectors are of 16 bytes, which every processor has; wider ones gain nothing here.
template <class T, class Holds>
inline std::uint64_t compare(const T* values, Holds&& holds) {
    constexpr std::size_t LANES = 16 / sizeof(T);
    typedef T Values __attribute__((vector_size(16)));
    typedef std::uint8_t Bytes __attribute__((vector_size(LANES)));
    std::uint64_t bits;
    for (std::size_t lane = 0; lane < 8; lane += LANES) {
        decltype(Values{} == Values{}) marks = {};
        for (std::size_t i = 0; i < 8; ++i) {
            Values x;
            std::memcpy(&x, values + 8 * i + lane, sizeof x);
            marks |= holds(x) & (1 << i);
        }
        const Bytes bytes = __builtin_convertvector(marks, Bytes);
        std::memcpy(reinterpret_cast<char*>(&bits) + lane, &bytes, sizeof bytes);
    }
    return std::endian::native == std::endian::little ? bits : __builtin_bswap64(bits);
}

// The same for the words of a block that are wanted. A comparison with NaN is false.
template <class T>
void compare(const T* values, Test test, T limit, Wanted wanted, Bits& bits) {
    const auto each_word = [&](auto&& holds) {
        for (std::size_t word = 0; word < WORDS; ++word)
            if (wanted >> word & 1) bits[word] = compare(values + word * 64, holds);
    };
    if (test == Test::at_most)
        each_word([=](auto x) { return x <= limit; });
    else if (test == Test::above)
        each_word([=](auto x) { return x > limit; });
    else
        each_word([=](auto x) { return x == limit; });
}

// The largest float that is not above a threshold: floats lie on the same side of it as of the threshold.
float as_float(double threshold) {
    const float rounded = float(threshold);
    return double(rounded) > threshold ? std::nextafterf(rounded, -std::numeric_limits<float>::infinity()) : rounded;
}

template <class T>
void copy_values(const ColumnView& column, std::size_t first, std::size_t count, T* values) {
    if (column.sparse) {
        std::fill_n(values, count, T(0));
        const std::int32_t* end = column.rows + column.listed;
        const std::int32_t* row = std::lower_bound(column.rows, end, std::int32_t(first));
        for (; row != end && std::size_t(*row) < first + count; ++row)
            std::memcpy(&values[std::size_t(*row) - first], column.values + (row - column.rows) * column.stride, sizeof(T));
        return;
    }
    const char* at = column.values + std::int64_t(first) * column.stride;
    if (column.stride == std::int64_t(sizeof(T)))
        std::memcpy(values, at, count * sizeof(T));
    else
        for (std::size_t i = 0; i < count; ++i, at += column.stride) std::memcpy(values + i, at, sizeof(T));
}

// The rows of one block: values are copied and conditions tested when a rule first asks for them.
class Block {
   public:
    Block(const DecisionList& list, const std::vector<ColumnView>& columns)
        : list_(list), columns_(columns), values_(columns.size() * BLOCK), copied_(columns.size()), bits_(list.conditions.size()),
          tested_(list.conditions.size()), decided_(list.n_labels) {
        for (std::size_t bit = 0; bit < 64; ++bit) places_[bit] = turned(bit) * list.n_labels;
    }

    void decide(std::size_t first, std::size_t count, DecisionsOut out) {
        first_ = first;
        count_ = count;
        std::fill(copied_.begin(), copied_.end(), 0);
        std::fill(tested_.begin(), tested_.end(), 0);
        std::fill(decided_.begin(), decided_.end(), std::array<Bits, 2>{});
        const std::size_t pairs = count * list_.n_labels;
        std::fill_n(out.predicted + first * list_.n_labels, pairs, std::int8_t(-1));
        if (out.decided_by) std::fill_n(out.decided_by + first * list_.n_labels, pairs, -1);
        Bits going_on;
        going_on.fill(~std::uint64_t(0));
        for (std::size_t i = count; i < BLOCK; ++i) going_on[i / 64] &= ~(std::uint64_t(1) << turned(i % 64));
        for (std::size_t position = 0; position < list_.rules.size(); ++position) {
            const ListRule& rule = list_.rules[position];
            Bits covered = going_on;
            if (!covers(rule, covered)) continue;
            const Bits decided = apply(rule, std::int32_t(position), covered, out);
            if (!rule.stop) continue;
            std::uint64_t any = 0;
            for (std::size_t word = 0; word < WORDS; ++word) any |= going_on[word] &= ~decided[word];
            if (!any) break;
        }
        for (std::size_t i = 0; out.going_on && i < count; ++i) out.going_on[first + i] = going_on[i / 64] >> turned(i % 64) & 1;
    }

   private:
    // Leaves the rows that the body of a rule covers; whether there is one.
    bool covers(const ListRule& rule, Bits& rows) {
        std::uint64_t any = 0;
        for (const std::uint64_t word : rows) any |= word;
        for (std::size_t i = 0; any && i < rule.body.size(); ++i) {
            const ListCondition& condition = list_.conditions[rule.body[i]];
            const Bits& holds = condition.on_label() ? decided_[condition.index][condition.test == Test::label_present]
                                                     : test(rule.body[i], rows);
            any = 0;
            for (std::size_t word = 0; word < WORDS; ++word) any |= rows[word] &= holds[word];
        }
        return any != 0;
    }

    // Decides the open labels of a head for the rows that are covered; gives the rows that have one.
    Bits apply(const ListRule& rule, std::int32_t position, const Bits& covered, DecisionsOut out) {
        Bits decided{};
        for (const auto& [label, present] : rule.head)
            for (std::size_t word = 0; word < WORDS; ++word) {
                auto& [absent_rows, present_rows] = decided_[label];
                const std::uint64_t newly = covered[word] & ~(absent_rows[word] | present_rows[word]);
                decided_[label][present][word] |= newly;
                decided[word] |= newly;
                const std::size_t begin = (first_ + word * 64) * list_.n_labels + label;
                for (std::uint64_t rest = newly; rest; rest &= rest - 1) {
                    const std::size_t at = begin + places_[std::size_t(std::countr_zero(rest))];
                    out.predicted[at] = present;
                    if (out.decided_by) out.decided_by[at] = position;
                }
            }
        return decided;
    }

    // Which rows satisfy a condition on a column, for the words that have some of these rows.
    const Bits& test(std::uint32_t position, const Bits& rows) {
        Bits& bits = bits_[position];
        Wanted wanted = 0;
        for (std::size_t word = 0; word < WORDS; ++word) wanted |= Wanted(rows[word] != 0) << word;
        wanted &= ~tested_[position];
        if (!wanted) return bits;
        tested_[position] |= wanted;
        const auto& [test, index, value] = list_.conditions[position];
        const ColumnView::Kind kind = columns_[index].kind;
        if (kind == ColumnView::Kind::float32)
            compare(values<float>(index), test, as_float(value), wanted, bits);
        else if (kind == ColumnView::Kind::float64)
            compare(values<double>(index), test, value, wanted, bits);
        else
            compare(values<std::int32_t>(index), test, std::int32_t(value), wanted, bits);
        return bits;
    }

    template <class T>
    const T* values(std::uint32_t index) {
        T* values = reinterpret_cast<T*>(&values_[index * BLOCK]);
        if (!std::exchange(copied_[index], 1)) copy_values(columns_[index], first_, count_, values);
        return values;
    }

    const DecisionList& list_;
    const std::vector<ColumnView>& columns_;
    std::size_t first_ = 0, count_ = 0;
    std::array<std::size_t, 64> places_;  // of the rows of a word in a matrix, by their bits
    std::vector<double> values_;  // per column, room for a block of the widest kind; old ones remain behind the end of the table
    std::vector<std::uint8_t> copied_;
    std::vector<Bits> bits_;  // per condition
    std::vector<Wanted> tested_;  // the words of it that are known
    std::vector<std::array<Bits, 2>> decided_;  // per label: the rows where it is absent, and present
};

}  // namespace

void decide(const DecisionList& list, const std::vector<ColumnView>& columns, std::size_t n_rows, DecisionsOut out,
            std::size_t n_threads) {
    const std::size_t blocks = (n_rows + BLOCK - 1) / BLOCK;
    std::vector<std::size_t> parts(std::clamp<std::size_t>(n_threads, 1, std::max<std::size_t>(1, blocks)));
    std::iota(parts.begin(), parts.end(), 0);
    Threads threads(parts.size());
    const Threads::Session session(threads, [] {});
    threads.run(parts, false, [&](std::size_t part, std::size_t) {
        Block block(list, columns);
        for (std::size_t b = blocks * part / parts.size(); b < blocks * (part + 1) / parts.size(); ++b)
            block.decide(b * BLOCK, std::min(BLOCK, n_rows - b * BLOCK), out);
    });
}

}  // namespace plurule
