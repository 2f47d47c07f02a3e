// Bodies of the kernels; included by one source file per instruction set, inside its own namespace.
// Vectors of 8 lanes are written with the compiler's vector types, which fall back to narrower instructions.

typedef std::int32_t Int8 __attribute__((vector_size(32)));
typedef std::uint8_t Byte8 __attribute__((vector_size(8)));

typedef long long V4 __attribute__((vector_size(32)));

template <class V, class T>
inline V load(const T* from) {
    V v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
}
template <class V, class T>
inline void store(T* to, V v) {
    __builtin_memcpy(to, &v, sizeof v);
}

// Lanes by number: 0 to 7 are those of a, 8 to 15 those of b. GCC has the name of clang since version 12.
template <int... LANES>
inline Int8 pick(Int8 a, Int8 b) {
#if __has_builtin(__builtin_shufflevector)
    return __builtin_shufflevector(a, b, LANES...);
#else
    return __builtin_shuffle(a, b, Int8{LANES...});
#endif
}

// Eight bytes as numbers; GCC takes them apart one by one if left to itself.
inline Int8 widened(const std::uint8_t* from) {
#ifdef __AVX2__
    return (Int8)_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
#else
    return __builtin_convertvector(load<Byte8>(from), Int8);
#endif
}

inline bool any(Int8 mask) {
#ifdef __AVX2__
    return !__builtin_ia32_ptestz256((V4)mask, (V4)mask);
#endif
    const V4 v = (V4)mask;
    return (v[0] | v[1] | v[2] | v[3]) != 0;
}

void add_states(const std::uint32_t* rows, std::size_t count, const std::uint8_t* states, std::size_t width,
                std::int32_t* counters) {
    const Int8 one = {1, 1, 1, 1, 1, 1, 1, 1};
    for (std::size_t lane = 0; lane < width; lane += 8) {
        Int8 open_present = load<Int8>(counters + lane);
        Int8 open_absent = load<Int8>(counters + width + lane);
        Int8 present = load<Int8>(counters + 2 * width + lane);
        for (std::size_t i = 0; i < count; ++i) {
            const Int8 state = widened(states + std::size_t(rows[i]) * width + lane);
            open_present += state & one;
            open_absent += (state >> 1) & one;
            present += state >> 2;
        }
        store(counters + lane, open_present);
        store(counters + width + lane, open_absent);
        store(counters + 2 * width + lane, present);
    }
}

void add_states_by_code(const std::uint32_t* rows, std::size_t count, const std::uint8_t* codes, const std::uint8_t* states,
                        std::size_t width, std::size_t block, std::int32_t* counters) {
    const Int8 one = {1, 1, 1, 1, 1, 1, 1, 1};
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint8_t* from = states + std::size_t(rows[i]) * width;
        std::int32_t* to = counters + codes[rows[i]] * block;
        for (std::size_t lane = 0; lane < width; lane += 8) {
            const Int8 state = widened(from + lane);
            store(to + lane, load<Int8>(to + lane) + (state & one));
            store(to + width + lane, load<Int8>(to + width + lane) + ((state >> 1) & one));
            store(to + 2 * width + lane, load<Int8>(to + 2 * width + lane) + (state >> 2));
        }
    }
}

void add_weighted_states(const std::uint32_t* rows, std::size_t count, const std::uint8_t* codes, const std::uint8_t* states,
                         std::size_t width, const double* weights, double* counters) {
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint8_t* state = states + std::size_t(rows[i]) * width;
        double* to = counters + (codes ? codes[rows[i]] * (3 * width + 1) : 0);
        const double weight = weights ? weights[rows[i]] : 1.0;
        for (std::size_t lane = 0; lane < width; ++lane) {
            to[lane] += state[lane] & OPEN_PRESENT ? weight : 0;
            to[width + lane] += state[lane] & OPEN_ABSENT ? weight : 0;
            to[2 * width + lane] += state[lane] & PRESENT ? weight : 0;
        }
        to[3 * width] += weight;
    }
}

template <Formula F>
void evaluate_as(HeuristicFormula h, const double* __restrict tp, const double* __restrict fp, const double* __restrict tn,
                 const double* __restrict fn, std::size_t count, double* __restrict value) {
    const HeuristicFormula known{F, h.parameter, h.shrinkage};
    for (std::size_t i = 0; i < count; ++i) value[i] = value_of(known, tp[i], fp[i], tn[i], fn[i]);
}

void evaluate(HeuristicFormula h, const double* tp, const double* fp, const double* tn, const double* fn,
              std::size_t count, double* value) {
    const auto as = [&]<Formula... F>() { ((h.formula == F ? evaluate_as<F>(h, tp, fp, tn, fn, count, value) : void()), ...); };
    as.template operator()<Formula::f_measure, Formula::accuracy, Formula::precision, Formula::recall, Formula::laplace,
                           Formula::m_estimate, Formula::relative_accuracy, Formula::gain>();
}

void keep_usable(const UsableLabels& labels, const double* __restrict tp, const double* __restrict fp,
                 const double* __restrict penalty, std::size_t width, double* __restrict h, double* highest, double* surplus) {
    const double nothing = -std::numeric_limits<double>::infinity();
    typedef double Double4 __attribute__((vector_size(32)));
    Double4 most = {nothing, nothing, nothing, nothing}, sum = {};
    for (std::size_t lane = 0; lane < width; lane += 4) {
        const Double4 right = load<Double4>(tp + lane), wrong = load<Double4>(fp + lane);
        const Double4 needed = labels.precision * (right + wrong), value = load<Double4>(h + lane) + load<Double4>(penalty + lane);
        const V4 usable = (right > 0) & (right >= needed - labels.tolerance * needed) & (value > labels.least);
        const Double4 kept = usable ? value : Double4{nothing, nothing, nothing, nothing};
        store(h + lane, kept);
        most = kept > most ? kept : most;
        const Double4 above = labels.right * right - labels.wrong * wrong;
        sum += above > 0 ? above : Double4{};
    }
    *highest = std::max(std::max(most[0], most[1]), std::max(most[2], most[3]));
    *surplus = sum[0] + sum[1] + sum[2] + sum[3];
}

void confusion(const double* __restrict counters, double covered, const double* __restrict present_in_training,
               const double* __restrict absent_in_training, std::size_t width, double* __restrict tp, double* __restrict fp,
               double* __restrict tn, double* __restrict fn) {
    for (std::size_t label = 0; label < width; ++label) {
        const double present = counters[2 * width + label];
        tp[label] = counters[label];
        fp[label] = counters[width + label];
        fn[label] = present_in_training[label] - present;
        tn[label] = absent_in_training[label] - (covered - present);
    }
}

template <bool CUMULATIVE, bool SUMS_FIT>
void count_words_as(const GroupSpan& span, RowWords words, std::int32_t* const lanes[3]) {
    std::uint64_t sum = 0;
    std::int32_t sums[3] = {};
    for (std::uint32_t step = 0; step < span.last - span.first; ++step) {
        const std::uint32_t group = span.descending ? span.last - 1 - step : span.first + step;
        for (std::uint32_t i = group ? span.ends[group - 1] : 0; i < span.ends[group]; ++i) {
            const std::uint64_t word = words[span.rows[i]];
            if (SUMS_FIT)
                sum += word;
            else
                for (int lane = 0; lane < 3; ++lane) sums[lane] += PackedCounts::get(word, lane);
        }
        for (int lane = 0; lane < 3; ++lane) {
            lanes[lane][group] = SUMS_FIT ? PackedCounts::get(sum, lane) : sums[lane];
            if (!CUMULATIVE) sums[lane] = 0;
        }
        if (!CUMULATIVE) sum = 0;
    }
}

void count_words(const GroupSpan& span, const RowWords& words, bool cumulative, bool sums_fit, std::int32_t* const lanes[3]) {
    if (sums_fit)
        cumulative ? count_words_as<true, true>(span, words, lanes) : count_words_as<false, true>(span, words, lanes);
    else
        cumulative ? count_words_as<true, false>(span, words, lanes) : count_words_as<false, false>(span, words, lanes);
}

void scan(const std::uint32_t* rows, std::size_t count, const std::int32_t* of_rows, std::int32_t* highest, std::int32_t* lowest) {
    const Int8 zero = {};
    Int8 sum = zero, most = zero + std::numeric_limits<std::int32_t>::min(), least = zero + std::numeric_limits<std::int32_t>::max();
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const std::uint32_t* r = rows + i;
        Int8 x = {of_rows[r[0]], of_rows[r[1]], of_rows[r[2]], of_rows[r[3]], of_rows[r[4]], of_rows[r[5]], of_rows[r[6]], of_rows[r[7]]};
        x += pick<0, 8, 9, 10, 11, 12, 13, 14>(zero, x);
        x += pick<0, 0, 8, 9, 10, 11, 12, 13>(zero, x);
        x += pick<0, 0, 0, 0, 8, 9, 10, 11>(zero, x);
        x += sum;
        sum = pick<7, 7, 7, 7, 7, 7, 7, 7>(x, x);
        most = x > most ? x : most;
        least = x < least ? x : least;
    }
    *highest = most[0];
    *lowest = least[0];
    for (int lane = 1; lane < 8; ++lane) {
        *highest = std::max(*highest, most[lane]);
        *lowest = std::min(*lowest, least[lane]);
    }
    for (std::int32_t last = sum[0]; i < count; ++i) {
        last += of_rows[rows[i]];
        *highest = std::max(*highest, last);
        *lowest = std::min(*lowest, last);
    }
}

typedef float Float8 __attribute__((vector_size(32)));

// No division: the numerator is compared with `floor` times the denominator. Roundings are made up for by a lower floor.
std::size_t reaching(const Quotient& q, const FixedBlock& block, double floor, std::size_t slots, const std::int32_t* const lanes[3],
                     const std::int32_t* covered, std::uint32_t* found) {
    const float least = float(floor - 1e-5 * (1 + (floor < 0 ? -floor : floor)));
    float weight[4];
    for (int i = 0; i < 4; ++i) weight[i] = float(q.top[i]) - least * float(q.bottom[i]);
    const float constant = float(q.top_constant) - least * float(q.bottom_constant);
    const float present_in_training = float(block.present), absent_in_training = float(block.absent), labels = float(block.labels);
    // What is rounded away is small beside the counts that it comes from.
    const float slack = 1e-6f * (present_in_training + absent_in_training + 1);
    std::size_t count = 0;
    for (std::size_t at = 0; at < slots; at += 8) {
        const auto number = [&](const std::int32_t* from) { return __builtin_convertvector(load<Int8>(from + at), Float8); };
        const Float8 present = number(lanes[2]);
        const Float8 fn = present_in_training - present, tn = absent_in_training - (labels * number(covered) - present);
        const Float8 surplus = weight[0] * number(lanes[0]) + weight[1] * number(lanes[1]) + weight[2] * tn + weight[3] * fn + constant;
        const Int8 reached = surplus >= Float8{} - slack;
        if (!any(reached)) continue;
        for (std::uint32_t i = 0; i < 8; ++i) {
            found[count] = std::uint32_t(at) + i;
            count += reached[i] != 0;
        }
    }
    return count;
}

void add_values(HeuristicFormula h, const FixedBlock& block, std::size_t slots, const std::int32_t* const lanes[3],
                const std::int32_t* covered, double* values, std::int32_t* tp_sum, std::int32_t* fp_sum) {
    constexpr std::size_t CHUNK = 64;
    double tp[CHUNK], fp[CHUNK], tn[CHUNK], fn[CHUNK], value[CHUNK];
    for (std::size_t at = 0; at < slots; at += CHUNK) {
        const std::size_t count = std::min(CHUNK, slots - at);
        for (std::size_t i = 0; i < count; ++i) {
            const std::int32_t present = lanes[2][at + i];
            tp[i] = double(lanes[0][at + i]);
            fp[i] = double(lanes[1][at + i]);
            fn[i] = block.present - double(present);
            tn[i] = block.absent - double(block.labels * covered[at + i] - present);
            tp_sum[at + i] += lanes[0][at + i];
            fp_sum[at + i] += lanes[1][at + i];
        }
        evaluate(h, tp, fp, tn, fn, count, value);
        for (std::size_t i = 0; i < count; ++i) values[at + i] += value[i];
    }
}

inline Float8 all(float value) { return Float8{} + value; }
inline Float8 higher(Float8 a, Float8 b) { return a > b ? a : b; }

const Kernels table = {add_states,  add_states_by_code, add_weighted_states, evaluate, keep_usable, confusion,
                       count_words, scan,               reaching,            add_values};
