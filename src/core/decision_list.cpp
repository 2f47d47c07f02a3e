#include "decision_list.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "kernels.hpp"
#include "threads.hpp"

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#define PLURULE_AVX2 __attribute__((target("avx2")))
#endif

namespace plurule {
namespace {

constexpr std::size_t BLOCK = 512;
constexpr std::size_t WORDS = BLOCK / 64;
using Bits = std::array<std::uint64_t, WORDS>;
using Wanted = std::uint8_t;  // a bit per word
static_assert(WORDS == 8);

// Which of the values of a block satisfy a condition, for the words that are wanted; a comparison with NaN is false.
template <class T>
void compare_baseline(const T* values, Test test, T limit, Wanted wanted, Bits& bits) {
    for (std::size_t word = 0; word < WORDS; ++word) {
        if (!(wanted >> word & 1)) continue;
        const T* x = values + word * 64;
        std::uint64_t result = 0;
        for (std::size_t byte = 0; byte < 8; ++byte) {
            std::uint8_t holds[8];
            for (std::size_t i = 0; i < 8; ++i) {
                const T value = x[byte * 8 + i];
                holds[i] = test == Test::at_most ? value <= limit : test == Test::above ? value > limit : value == limit;
            }
            std::uint64_t spread;
            std::memcpy(&spread, holds, sizeof spread);
            if constexpr (std::endian::native == std::endian::big) spread = __builtin_bswap64(spread);
            // Gathers the lowest bit of each of the eight bytes.
            result |= ((spread * 0x0102040810204080ull) >> 56) << (byte * 8);
        }
        bits[word] = result;
    }
}

#ifdef PLURULE_AVX2
template <int predicate>
PLURULE_AVX2 void compare_floats(const float* values, float limit, Wanted wanted, Bits& bits) {
    const __m256 limits = _mm256_set1_ps(limit);
    for (std::size_t word = 0; word < WORDS; ++word) {
        if (!(wanted >> word & 1)) continue;
        std::uint64_t result = 0;
        for (std::size_t i = 0; i < 8; ++i) {
            const __m256 x = _mm256_loadu_ps(values + word * 64 + i * 8);
            result |= std::uint64_t(std::uint32_t(_mm256_movemask_ps(_mm256_cmp_ps(x, limits, predicate)))) << (8 * i);
        }
        bits[word] = result;
    }
}

template <int predicate>
PLURULE_AVX2 void compare_doubles(const double* values, double limit, Wanted wanted, Bits& bits) {
    const __m256d limits = _mm256_set1_pd(limit);
    for (std::size_t word = 0; word < WORDS; ++word) {
        if (!(wanted >> word & 1)) continue;
        std::uint64_t result = 0;
        for (std::size_t i = 0; i < 16; ++i) {
            const __m256d x = _mm256_loadu_pd(values + word * 64 + i * 4);
            result |= std::uint64_t(std::uint32_t(_mm256_movemask_pd(_mm256_cmp_pd(x, limits, predicate)))) << (4 * i);
        }
        bits[word] = result;
    }
}

PLURULE_AVX2 void compare_codes(const std::int32_t* codes, std::int32_t code, Wanted wanted, Bits& bits) {
    const __m256i same = _mm256_set1_epi32(code);
    for (std::size_t word = 0; word < WORDS; ++word) {
        if (!(wanted >> word & 1)) continue;
        std::uint64_t result = 0;
        for (std::size_t i = 0; i < 8; ++i) {
            const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + word * 64 + i * 8));
            const __m256 equal = _mm256_castsi256_ps(_mm256_cmpeq_epi32(x, same));
            result |= std::uint64_t(std::uint32_t(_mm256_movemask_ps(equal))) << (8 * i);
        }
        bits[word] = result;
    }
}

const bool HAS_AVX2 = has_avx2();
#endif

void compare(const float* values, Test test, float limit, Wanted wanted, Bits& bits) {
#ifdef PLURULE_AVX2
    if (HAS_AVX2)
        return test == Test::at_most ? compare_floats<_CMP_LE_OQ>(values, limit, wanted, bits)
                                     : compare_floats<_CMP_GT_OQ>(values, limit, wanted, bits);
#endif
    compare_baseline(values, test, limit, wanted, bits);
}

void compare(const double* values, Test test, double limit, Wanted wanted, Bits& bits) {
#ifdef PLURULE_AVX2
    if (HAS_AVX2)
        return test == Test::at_most ? compare_doubles<_CMP_LE_OQ>(values, limit, wanted, bits)
                                     : compare_doubles<_CMP_GT_OQ>(values, limit, wanted, bits);
#endif
    compare_baseline(values, test, limit, wanted, bits);
}

void compare(const std::int32_t* codes, Test test, std::int32_t code, Wanted wanted, Bits& bits) {
#ifdef PLURULE_AVX2
    if (HAS_AVX2) return compare_codes(codes, code, wanted, bits);
#endif
    compare_baseline(codes, test, code, wanted, bits);
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
        : list_(list), columns_(columns), values_(columns.size() * BLOCK), copied_(columns.size()),
          bits_(list.conditions.size()), tested_(list.conditions.size()), open_(list.n_labels), present_(list.n_labels) {}

    void decide(std::size_t first, std::size_t count, DecisionsOut out) {
        first_ = first;
        count_ = count;
        std::fill(copied_.begin(), copied_.end(), 0);
        std::fill(tested_.begin(), tested_.end(), 0);
        Bits going_on;
        for (std::size_t word = 0; word < WORDS; ++word) {
            const std::size_t rows = count > word * 64 ? std::min<std::size_t>(64, count - word * 64) : 0;
            going_on[word] = rows == 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << rows) - 1;
        }
        std::fill(open_.begin(), open_.end(), going_on);
        std::fill(present_.begin(), present_.end(), Bits{});
        const std::size_t pairs = count * list_.n_labels;
        std::fill_n(out.predicted + first * list_.n_labels, pairs, std::int8_t(-1));
        if (out.decided_by) std::fill_n(out.decided_by + first * list_.n_labels, pairs, -1);
        for (std::size_t position = 0; position < list_.rules.size(); ++position) {
            const ListRule& rule = list_.rules[position];
            Bits covered = going_on;
            if (!covers(rule, covered)) continue;
            Bits decided{};
            for (const ListAssignment& assignment : rule.head) {
                for (std::size_t word = 0; word < WORDS; ++word) {
                    const std::uint64_t newly = covered[word] & open_[assignment.label][word];
                    open_[assignment.label][word] &= ~newly;
                    if (assignment.present) present_[assignment.label][word] |= newly;
                    decided[word] |= newly;
                    for (std::uint64_t rest = newly; rest; rest &= rest - 1) {
                        const std::size_t row = first + word * 64 + std::size_t(std::countr_zero(rest));
                        const std::size_t at = row * list_.n_labels + assignment.label;
                        out.predicted[at] = assignment.present;
                        if (out.decided_by) out.decided_by[at] = std::int32_t(position);
                    }
                }
            }
            if (rule.stop) {
                std::uint64_t any = 0;
                for (std::size_t word = 0; word < WORDS; ++word) any |= going_on[word] &= ~decided[word];
                if (!any) break;
            }
        }
        for (std::size_t i = 0; out.going_on && i < count; ++i) out.going_on[first + i] = going_on[i / 64] >> (i % 64) & 1;
    }

   private:
    // Leaves the rows that the body of a rule covers; whether there is one.
    bool covers(const ListRule& rule, Bits& rows) {
        std::uint64_t any = 0;
        for (const std::uint64_t word : rows) any |= word;
        for (std::size_t i = 0; any && i < rule.body.size(); ++i) {
            const ListCondition& condition = list_.conditions[rule.body[i]];
            any = 0;
            if (condition.test == Test::label_present || condition.test == Test::label_absent) {
                const Bits &open = open_[condition.index], &present = present_[condition.index];
                const std::uint64_t flip = condition.test == Test::label_absent ? ~std::uint64_t(0) : 0;
                for (std::size_t word = 0; word < WORDS; ++word)
                    any |= rows[word] &= (present[word] ^ flip) & ~open[word];
            } else {
                const Bits& holds = test(rule.body[i], rows);
                for (std::size_t word = 0; word < WORDS; ++word) any |= rows[word] &= holds[word];
            }
        }
        return any != 0;
    }

    const Bits& test(std::uint32_t position, const Bits& rows) {
        Bits& bits = bits_[position];
        Wanted wanted = 0;
        for (std::size_t word = 0; word < WORDS; ++word) wanted |= Wanted(rows[word] != 0) << word;
        wanted &= ~tested_[position];
        if (!wanted) return bits;
        tested_[position] |= wanted;
        const ListCondition& condition = list_.conditions[position];
        const ColumnView::Kind kind = columns_[condition.index].kind;
        if (kind == ColumnView::Kind::float32)
            compare(values<float>(condition.index), condition.test, as_float(condition.threshold), wanted, bits);
        else if (kind == ColumnView::Kind::float64)
            compare(values<double>(condition.index), condition.test, condition.threshold, wanted, bits);
        else
            compare(values<std::int32_t>(condition.index), condition.test, condition.code, wanted, bits);
        return bits;
    }

    template <class T>
    const T* values(std::uint32_t index) {
        T* values = reinterpret_cast<T*>(&values_[index * BLOCK]);
        if (!copied_[index]) {
            copied_[index] = 1;
            copy_values(columns_[index], first_, count_, values);
            std::fill(values + count_, values + BLOCK, T(0));
        }
        return values;
    }

    const DecisionList& list_;
    const std::vector<ColumnView>& columns_;
    std::size_t first_ = 0, count_ = 0;
    std::vector<double> values_;  // per column, room for a block of the widest kind
    std::vector<std::uint8_t> copied_;
    std::vector<Bits> bits_;  // per condition
    std::vector<Wanted> tested_;  // the words of it that are known
    std::vector<Bits> open_, present_;  // per label
};

}  // namespace

void decide(const DecisionList& list, const std::vector<ColumnView>& columns, std::size_t first, std::size_t last,
            DecisionsOut out) {
    Block block(list, columns);
    for (std::size_t row = first; row < last; row += BLOCK)
        block.decide(row, std::min(BLOCK, last - row), out);
}

void decide(const DecisionList& list, const std::vector<ColumnView>& columns, std::size_t n_rows, DecisionsOut out,
            std::size_t n_threads) {
    const std::size_t blocks = (n_rows + BLOCK - 1) / BLOCK;
    n_threads = std::clamp<std::size_t>(n_threads, 1, std::max<std::size_t>(1, blocks));
    std::vector<std::size_t> parts(n_threads);
    std::iota(parts.begin(), parts.end(), 0);
    Threads threads(n_threads);
    const Threads::Session session(threads, [] {});
    threads.run(parts, false, [&](std::size_t part, std::size_t) {
        const std::size_t first = blocks * part / n_threads * BLOCK;
        const std::size_t last = std::min(n_rows, blocks * (part + 1) / n_threads * BLOCK);
        decide(list, columns, first, last, out);
    });
}

}  // namespace plurule
