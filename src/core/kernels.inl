// Bodies of the kernels; included by one source file per instruction set, inside its own namespace.
// Vectors of eight lanes are written with the compiler's vector types, which fall back to narrower instructions.

typedef float Float8 __attribute__((vector_size(32)));
typedef std::int32_t Int8 __attribute__((vector_size(32)));
typedef std::uint8_t Byte8 __attribute__((vector_size(8)));
typedef std::uint16_t UShort8 __attribute__((vector_size(16)));
typedef double Double8 __attribute__((vector_size(64)));
typedef long long Long4 __attribute__((vector_size(32)));
typedef std::uint16_t UShort4 __attribute__((vector_size(8)));
typedef std::int32_t Int4 __attribute__((vector_size(16)));
typedef double Double4 __attribute__((vector_size(32)));

template <class V, class T>
inline V load(const T* from) {
    V v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
}
template <class V, class T>
inline void store(T* to, const V& v) {
    __builtin_memcpy(to, &v, sizeof v);
}

inline Float8 all(float value) { return Float8{} + value; }
inline Float8 floats(Int8 numbers) { return __builtin_convertvector(numbers, Float8); }
inline Float8 higher(Float8 a, Float8 b) { return a > b ? a : b; }
inline Float8 lower(Float8 a, Float8 b) { return a < b ? a : b; }
inline bool any(Int8 mask) {
#ifdef __AVX2__
    return !__builtin_ia32_ptestz256((Long4)mask, (Long4)mask);
#else
    const Long4 v = (Long4)mask;
    return (v[0] | v[1] | v[2] | v[3]) != 0;
#endif
}

// Eight bytes as numbers; GCC takes them apart one by one if left to itself.
inline Int8 wide_bytes(const std::uint8_t* from) {
#ifdef __AVX2__
    return (Int8)_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
#else
    return __builtin_convertvector(load<Byte8>(from), Int8);
#endif
}
inline UShort8 narrow_bytes(const std::uint8_t* from) {
#ifdef __AVX2__
    return (UShort8)_mm_cvtepu8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
#else
    return __builtin_convertvector(load<Byte8>(from), UShort8);
#endif
}

// --- counting

// Adds what a row contributes: TP, FP and positives of eight labels.
template <class N>
inline void add_states(N* to, const std::uint8_t* bytes, const double* weights, std::uint32_t row) {
    if constexpr (sizeof(N) == 2) {
        const UShort8 states = narrow_bytes(bytes);
        UShort8 parts[3] = {states & 1, (states >> 1) & 1, states >> 2};
        for (int k = 0; k < 3; ++k)
            store(to + 8 * k, load<UShort8>(to + 8 * k) + (weights ? parts[k] * N(weights[row]) : parts[k]));
    } else {
        const Int8 states = wide_bytes(bytes);
        const Int8 parts[3] = {states & 1, (states >> 1) & 1, states >> 2};
        for (int k = 0; k < 3; ++k) {
            if constexpr (sizeof(N) == 4) {
                store(to + 8 * k, load<Int8>(to + 8 * k) + (weights ? parts[k] * N(weights[row]) : parts[k]));
            } else {
                for (int i = 0; i < 8; ++i) to[8 * k + i] += parts[k][i] ? (weights ? weights[row] : 1.0) : 0.0;
            }
        }
    }
}

template <class N, class Code>
void add_rows(const void* given, const std::uint32_t* rows, std::size_t count, const RowStates& states, void* to) {
    const Code* codes = static_cast<const Code*>(given);
    N* sums = static_cast<N*>(to);
    for (std::size_t i = 0; i < count; ++i)
        add_states(sums + codes[rows[i]] * CELL, states.bytes + rows[i] * states.stride, states.weights, rows[i]);
}

template <class N>
void add_listed(const std::span<const std::uint32_t>* slots, std::uint32_t first, const std::uint32_t* rows, std::size_t count,
                const RowStates& states, void* to) {
    N* sums = static_cast<N*>(to);
    for (std::size_t i = 0; i < count; ++i)
        for (std::uint32_t slot : slots[i])
            add_states(sums + (slot - first) * CELL, states.bytes + rows[i] * states.stride, states.weights, rows[i]);
}

// Eight labels are a word. Without weights, 255 rows can be summed up in its bytes.
template <class N>
void sum_rows(const std::uint32_t* rows, std::size_t count, const RowStates& states, void* to) {
    constexpr std::uint64_t ONES = 0x0101010101010101;
    constexpr std::size_t AT_ONCE = 255;
    N* sums = static_cast<N*>(to);
    if (states.weights) {
        for (std::size_t i = 0; i < count; ++i) add_states(sums, states.bytes + rows[i] * states.stride, states.weights, rows[i]);
        return;
    }
    for (std::size_t first = 0; first < count; first += AT_ONCE) {
        std::uint64_t some[3] = {};
        for (std::size_t i = first; i < std::min(count, first + AT_ONCE); ++i) {
            const std::uint64_t word = load<std::uint64_t>(states.bytes + rows[i] * states.stride);
            for (int k = 0; k < 3; ++k) some[k] += word >> k & ONES;
        }
        std::uint8_t counts[CELL];
        store(counts, some);
        for (std::size_t i = 0; i < CELL; ++i) sums[i] += N(counts[i]);
    }
}

template <class N>
void cumulate(void* to, std::size_t count, bool descending) {
    N* sums = static_cast<N*>(to);
    for (std::size_t i = 1; i < count; ++i) {
        N* at = sums + (descending ? count - 1 - i : i) * CELL;
        const N* before = descending ? at + CELL : at - CELL;
        for (std::size_t j = 0; j < CELL; ++j) at[j] += before[j];
    }
}

// Eight vectors as the rows of a matrix: its transpose.
inline void transpose(UShort8* m) {
#if __has_builtin(__builtin_shufflevector)
#define PLURULE_ZIP(a, b, x0, x1, x2, x3, x4, x5, x6, x7) __builtin_shufflevector(a, b, x0, x1, x2, x3, x4, x5, x6, x7)
#else
#define PLURULE_ZIP(a, b, x0, x1, x2, x3, x4, x5, x6, x7) __builtin_shuffle(a, b, UShort8{x0, x1, x2, x3, x4, x5, x6, x7})
#endif
    UShort8 t[8];
    for (int step = 0; step < 3; ++step) {  // three times: the first half is zipped with the second
        for (int i = 0; i < 4; ++i) {
            t[2 * i] = PLURULE_ZIP(m[i], m[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
            t[2 * i + 1] = PLURULE_ZIP(m[i], m[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
        }
        for (int i = 0; i < 8; ++i) m[i] = t[i];
    }
#undef PLURULE_ZIP
}

template <class N>
struct VectorOf;  // eight numbers
template <>
struct VectorOf<std::uint16_t> {
    using type = UShort8;
};
template <>
struct VectorOf<std::int32_t> {
    using type = Int8;
};
template <>
struct VectorOf<double> {
    using type = Double8;
};

// Adds eight numbers to others, or subtracts them.
template <class N, class V>
inline void change(N* at, const V& by, bool subtract) {
    store(at, subtract ? load<V>(at) - by : load<V>(at) + by);
}

template <class N>
inline void fold_group(const N* sums, const std::int32_t* columns, int kinds, bool subtract, N* cells) {
    for (int k = 0; k < kinds; ++k) {
        typename VectorOf<N>::type m[8];
        if constexpr (sizeof(N) == 2) {
            for (std::size_t i = 0; i < 8; ++i) m[i] = load<UShort8>(sums + i * CELL + 8 * k);
            transpose(m);
        } else {
            for (std::size_t i = 0; i < 8; ++i)
                for (int lane = 0; lane < 8; ++lane) m[lane][i] = sums[i * CELL + 8 * k + lane];
        }
        for (int lane = 0; lane < 8; ++lane)
            if (columns[lane] != NO_LABEL) change(cells + std::size_t(columns[lane]) * CELL + 8 * k, m[lane], subtract);
    }
}

template <class N>
void fold(const void* from, std::size_t groups, const std::int32_t* columns, int kinds, bool subtract, std::size_t n_columns,
          void* to) {
    for (std::size_t group = 0; group < groups; ++group)
        fold_group(static_cast<const N*>(from) + group * LANES * CELL, columns, kinds, subtract,
                   static_cast<N*>(to) + group * n_columns * CELL);
}

template <class N, class Code>
void fold_few(const void* given, std::size_t slots, const std::uint32_t* rows, std::size_t count, const RowStates& states,
              const std::int32_t* columns, int kinds, bool subtract, std::size_t n_columns, void* workspace, void* to) {
    const Code* codes = static_cast<const Code*>(given);
    const std::size_t groups = (slots + LANES - 1) / LANES;
    N* sums = static_cast<N*>(workspace);
    std::vector<std::uint8_t> has_row(groups, 0);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t code = codes[rows[i]], group = code / LANES;
        if (code >= slots) continue;  // missing
        if (!std::exchange(has_row[group], 1)) std::fill_n(sums + group * LANES * CELL, LANES * CELL, N(0));
        add_states(sums + code * CELL, states.bytes + rows[i] * states.stride, states.weights, rows[i]);
    }
    N none[CELL] = {};
    const N* before = none;     // sums up to the slot before
    std::size_t places[CELL];   // of those that are not 0, in the cells of a group
    typename VectorOf<N>::type numbers[CELL];
    std::size_t some = 0;
    for (std::size_t group = 0; group < groups; ++group) {
        N* cells = static_cast<N*>(to) + group * n_columns * CELL;
        if (!has_row[group]) {
            for (std::size_t i = 0; i < some; ++i) change(cells + places[i], numbers[i], subtract);
            continue;
        }
        N* own = sums + group * LANES * CELL;
        for (std::size_t slot = 0; slot < LANES; ++slot, before = own, own += CELL)
            for (std::size_t j = 0; j < CELL; ++j) own[j] += before[j];
        fold_group(sums + group * LANES * CELL, columns, kinds, subtract, cells);
        some = 0;
        for (int k = 0; k < kinds; ++k)
            for (int lane = 0; lane < 8; ++lane) {
                const N sum = before[8 * k + lane];
                if (columns[lane] == NO_LABEL || sum == 0) continue;
                places[some] = std::size_t(columns[lane]) * CELL + std::size_t(8 * k);
                numbers[some++] = typename VectorOf<N>::type{} + sum;
            }
    }
}

// Whole numbers are subtracted as such, doubles as doubles.
inline Int8 numbers(const std::uint16_t* cell) {
#ifdef __AVX2__
    return (Int8)_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(cell)));
#else
    return __builtin_convertvector(load<UShort8>(cell), Int8);
#endif
}
inline Int8 numbers(const std::int32_t* cell) { return load<Int8>(cell); }
inline Double8 numbers(const double* cell) { return load<Double8>(cell); }

// Eight candidates: what they count in each column, the last of which is the coverage. Differences are exact.
template <class N>
struct Eight {
    const void* group;
    const std::vector<std::int32_t>& columns;
    const Totals& totals;
    bool other_side;

    using V = decltype(numbers(static_cast<const N*>(nullptr)));
    // TP, FP or positives.
    V count(std::size_t c, int kind) const {
        const V own = numbers(static_cast<const N*>(group) + std::size_t(columns[c]) * CELL + kind * int(LANES));
        return other_side ? total(c, kind) - own : own;
    }
    V covered() const { return count(columns.size() - 1, 2); }
    V missed(std::size_t c) const { return total(c, 3) - count(c, 2); }
    V rejected(std::size_t c) const { return total(c, 4) - (covered() - count(c, 2)); }

   private:
    auto total(std::size_t c, int kind) const {
        if constexpr (sizeof(N) == sizeof(double)) {
            const std::vector<double>* of_kind[5] = {&totals.tp, &totals.fp, &totals.present, &totals.present_in_training,
                                                     &totals.absent_in_training};
            return (*of_kind[kind])[c];
        } else {
            return totals.whole[5 * c + std::size_t(kind)];
        }
    }
};

template <class N>
void load_matrices(const void* group, const std::vector<std::int32_t>& columns, std::span<const std::uint32_t> places,
                   const Totals& totals, bool other_side, float* to, float* to_covered) {
    const Eight<N> eight{group, columns, totals, other_side};
    const auto write = [](float* at, const auto& numbers) { store(at, __builtin_convertvector(numbers, Float8)); };
    write(to_covered, eight.covered());
    for (const std::uint32_t c : places) {
        write(to, eight.count(c, 0));
        write(to + LANES, eight.count(c, 1));
        if (totals.kinds > 2) write(to + 2 * LANES, eight.missed(c));
        if (totals.kinds > 3) write(to + 3 * LANES, eight.rejected(c));
        to += MATRIX;
    }
}

// Lanes in which a label, predicted as present, may be as precise as required.
inline Int8 are_precise(const BoundScoring& s, Float8 tp, Float8 fp) {
    return (tp > Float8{}) & (s.right * tp - s.wrong * fp >= -s.rounding * (tp + fp));
}

template <class N>
void find_precise(const void* cells, std::size_t groups, std::size_t n_columns, const std::vector<std::int32_t>& columns,
                  const Totals& totals, const BoundScoring& s, std::uint8_t* sides) {
    for (std::size_t group = 0; group < groups; ++group) {
        const void* at = static_cast<const N*>(cells) + group * n_columns * CELL;
        const Eight<N> own{at, columns, totals, false}, other{at, columns, totals, true};
        Int8 on_own = {}, on_other = {};
        for (std::size_t c = 0; c + 1 < columns.size(); ++c) {
            on_own |= are_precise(s, __builtin_convertvector(own.count(c, 0), Float8),
                                  __builtin_convertvector(own.count(c, 1), Float8));
            on_other |= are_precise(s, __builtin_convertvector(other.count(c, 0), Float8),
                                    __builtin_convertvector(other.count(c, 1), Float8));
        }
        sides[group] = std::uint8_t(any(on_own) | any(on_other) << 1);
    }
}

// top - f × bottom, or a little more: each weight is raised by more than single precision can lose of what it is multiplied with.
struct Score {
    float right, wrong, rejected, missed, constant;

    Score(const BoundScoring& s, float f)
        : right(weight(s.top[0], s.bottom[0], f)),
          wrong(weight(s.top[1], s.bottom[1], f)),
          rejected(weight(s.top[2], s.bottom[2], f)),
          missed(weight(s.top[3], s.bottom[3], f)),
          constant(weight(s.top_constant, s.bottom_constant, f)) {}
    Float8 of(Float8 tp, Float8 fp, Float8 others) const { return right * tp + wrong * fp + others; }
    static float weight(float top, float bottom, float f) { return top - f * bottom + 4e-6f * (top + f * bottom); }
};

// Lanes in which a label may be worth what a score is for.
inline Int8 may_be_worth(const BoundScoring& s, const Score& score, Float8 tp, Float8 fp, Float8 fn, Float8 tn) {
    const Float8 others = score.missed * fn + score.rejected * tn + score.constant;
    Int8 may_be = (tp > Float8{}) & (score.of(tp, fp, others) >= Float8{});
    if (s.absence) may_be |= (fp > Float8{}) & (score.of(fp, tp, others) >= Float8{});
    return may_be;
}

template <class N>
bool rate_labels(const void* group, const std::vector<std::int32_t>& columns, std::span<const std::uint32_t> places,
                 const Totals& totals, bool other_side, const BoundScoring& s, float every, std::uint8_t* is_precise) {
    const Score least(s, every);
    const Eight<N> eight{group, columns, totals, other_side};
    Int8 some = {};
    for (const std::uint32_t c : places) {
        const Float8 tp = __builtin_convertvector(eight.count(c, 0), Float8),
                     fp = __builtin_convertvector(eight.count(c, 1), Float8);
        const Int8 precise = are_precise(s, tp, fp);
        *is_precise = any(precise);
        if (*is_precise++) {
            const Float8 fn = __builtin_convertvector(eight.missed(c), Float8),
                         tn = s.f_like ? Float8{} : __builtin_convertvector(eight.rejected(c), Float8);
            some |= precise & may_be_worth(s, least, tp, fp, fn, tn);
        }
    }
    return any(some);
}

template <class N>
std::size_t relevant(const void* group, const std::vector<std::int32_t>& columns, const Totals& totals, bool other_side,
                     const BoundScoring& s, float every, float best, std::uint32_t* places) {
    const Score least(s, every), most(s, best);
    const Eight<N> eight{group, columns, totals, other_side};
    const bool needs_precision = s.checks_head && !s.absence;
    Int8 precise = {}, good = {};
    std::size_t count = 0;
    for (std::size_t c = 0; c + 1 < columns.size(); ++c) {
        const Float8 tp = __builtin_convertvector(eight.count(c, 0), Float8),
                     fp = __builtin_convertvector(eight.count(c, 1), Float8);
        const Float8 fn = __builtin_convertvector(eight.missed(c), Float8),
                     tn = s.f_like ? Float8{} : __builtin_convertvector(eight.rejected(c), Float8);
        const Int8 in_heads = may_be_worth(s, least, tp, fp, fn, tn);
        if (!any(in_heads)) continue;
        places[count++] = std::uint32_t(c);
        good |= may_be_worth(s, most, tp, fp, fn, tn);
        precise |= needs_precision ? in_heads & are_precise(s, tp, fp) : ~Int8{};
    }
    return any(good & precise) ? count : 0;
}

template <class N>
void gather(const void* group, const std::int32_t* columns, std::size_t count, std::size_t lane, double* to) {
    for (std::size_t c = 0; c < count; ++c)
        for (std::size_t k = 0; k < 3; ++k)
            *to++ = double(static_cast<const N*>(group)[std::size_t(columns[c]) * CELL + k * LANES + lane]);
}

// --- refining

template <class Sum>
inline Sum contribution(const void* contributions, std::uint32_t row) {
    if constexpr (sizeof(Sum) == 8)
        return static_cast<const std::uint64_t*>(contributions)[row];
    else if constexpr (sizeof(Sum) == 16)
        return __builtin_convertvector(load<UShort4>(static_cast<const std::uint64_t*>(contributions) + row), Sum);
    else
        return load<Sum>(static_cast<const double*>(contributions) + 4 * std::size_t(row));
}

template <class Sum>
inline void add_to(void* sums, std::size_t at, const Sum& more) {
    char* sum = static_cast<char*>(sums) + at;
    store(sum, load<Sum>(sum) + more);
}

template <class Sum, class Code>
void add_contributions(const void* given, const std::uint32_t* rows, std::size_t count, const void* contributions, void* sums) {
    const Code* codes = static_cast<const Code*>(given);
    for (std::size_t i = 0; i < count; ++i)
        add_to(sums, std::size_t(codes[rows[i]]) * sizeof(Sum), contribution<Sum>(contributions, rows[i]));
}

template <class Sum>
void add_to_slots(const SlotLists& listed, const std::uint32_t* rows, std::size_t count, const void* contributions,
                  std::size_t stride, std::size_t every, void* sums) {
    Sum all = {};
    for (std::size_t i = 0; i < count; ++i) {
        const Sum more = contribution<Sum>(contributions, rows[i]);
        for (std::size_t at = listed.ends[rows[i]]; at < listed.ends[rows[i] + 1]; ++at)
            add_to(sums, listed.slots[at] * stride, more);
        all += more;
    }
    add_to(sums, every * stride, all);
}

template <class Sum>
void cumulate_sums(void* sums, std::size_t groups) {
    Sum sum = {};
    for (std::size_t at = 0; at < groups * sizeof(Sum); at += sizeof(Sum)) {
        add_to(sums, at, sum);
        sum = load<Sum>(static_cast<char*>(sums) + at);
    }
}

// --- heuristics

std::uint64_t count_bits(const std::uint8_t* line, const std::uint32_t* offsets, const std::uint64_t* masks, std::size_t count) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t word = load<std::uint64_t>(line + offsets[i]);
        sum += std::uint64_t(
            __builtin_popcountll((std::endian::native == std::endian::little ? word : __builtin_bswap64(word)) & masks[i]));
    }
    return sum;
}

template <Formula F>
void evaluate_as(HeuristicFormula h, const double* __restrict tp, const double* __restrict fp, const double* __restrict tn,
                 const double* __restrict fn, std::size_t count, double* __restrict value) {
    const HeuristicFormula known{F, h.parameter};
    for (std::size_t i = 0; i < count; ++i) value[i] = value_of(known, tp[i], fp[i], tn[i], fn[i]);
}

void evaluate(HeuristicFormula h, const double* tp, const double* fp, const double* tn, const double* fn, std::size_t count,
              double* value) {
    const auto as = [&]<Formula... F>() { ((h.formula == F ? evaluate_as<F>(h, tp, fp, tn, fn, count, value) : void()), ...); };
    as.template operator()<Formula::f_measure, Formula::accuracy, Formula::precision, Formula::recall, Formula::laplace,
                           Formula::m_estimate, Formula::relative_accuracy, Formula::gain>();
}

#include "values.inl"

template <class N>
constexpr CountKernels count_kernels = {sizeof(N),
                                        {add_rows<N, std::uint8_t>, add_rows<N, std::uint16_t>, add_rows<N, std::uint32_t>},
                                        add_listed<N>,
                                        sum_rows<N>,
                                        cumulate<N>,
                                        fold<N>,
                                        {fold_few<N, std::uint8_t>, fold_few<N, std::uint16_t>, fold_few<N, std::uint32_t>},
                                        load_matrices<N>,
                                        find_precise<N>,
                                        rate_labels<N>,
                                        relevant<N>,
                                        gather<N>};
template <class Sum>
constexpr RefineKernels refine_kernels = {
    sizeof(Sum),
    {add_contributions<Sum, std::uint8_t>, add_contributions<Sum, std::uint16_t>, add_contributions<Sum, std::uint32_t>},
    add_to_slots<Sum>,
    cumulate_sums<Sum>};

const Kernels table = {{count_kernels<std::uint16_t>, count_kernels<std::int32_t>, count_kernels<double>},
                       {refine_kernels<std::uint64_t>, refine_kernels<Int4>, refine_kernels<Double4>},
                       value,
                       count_bits, evaluate};
