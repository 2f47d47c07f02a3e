// Bodies of the kernels; included by one source file per instruction set, inside its own namespace.
// Vectors of 8 lanes are written with the compiler's vector types, which fall back to narrower instructions.

typedef std::int32_t Int8 __attribute__((vector_size(32)));
typedef std::int16_t Short8 __attribute__((vector_size(16)));
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

inline bool any(Int8 mask) {
#ifdef __AVX2__
    return !__builtin_ia32_ptestz256((V4)mask, (V4)mask);
#endif
    const V4 v = (V4)mask;
    return (v[0] | v[1] | v[2] | v[3]) != 0;
}

inline std::uint8_t bits(Int8 part, Int8 rest) { return std::uint8_t((any(part) ? 1 : 0) | (any(rest) ? 2 : 0)); }

// The flags of one group from what passed: all tests; and of two tests, where the second fails.
template <Tests T>
inline std::uint8_t flag_of(Int8 part, Int8 rest, Int8 second_part, Int8 second_rest) {
    if constexpr (T != Tests::two) return bits(part, rest);
    const std::uint8_t second = bits(second_part, second_rest);
    return std::uint8_t((bits(part, rest) & second) | (3 & ~second) << 2);
}

template <int N, Tests T>
bool flag_groups_n(const GroupSpan& span, const std::int16_t* scores, std::int32_t* running, const std::int32_t* limit,
                   std::uint8_t* flags) {
    constexpr int ALL = T == Tests::one ? N : 2 * N;
    Int8 sum[ALL], most[ALL];
    for (int v = 0; v < ALL; ++v) {
        sum[v] = load<Int8>(running + 8 * v);
        most[v] = load<Int8>(limit + 8 * v);
    }
    bool found = false;
    const std::uint32_t steps = span.last - span.first;
    for (std::uint32_t step = 0; step < steps; ++step) {
        const std::uint32_t group = span.descending ? span.last - 1 - step : span.first + step;
        const std::uint32_t begin = group ? span.ends[group - 1] : 0, end = span.ends[group];
        for (std::uint32_t i = begin; i < end; ++i) {
            const std::int16_t* row = scores + std::size_t(span.rows[i]) * (8 * ALL);
            for (int v = 0; v < ALL; ++v) sum[v] += __builtin_convertvector(load<Short8>(row + 8 * v), Int8);
        }
        Int8 part = {}, rest = {}, second_part = {}, second_rest = {};
        for (int v = 0; v < N; ++v) {
            Int8 at_least = sum[v] >= 0, at_most = sum[v] <= most[v];
            if constexpr (T == Tests::two_on_one_lane) {
                at_least &= sum[N + v] >= 0;
                at_most &= sum[N + v] <= most[N + v];
            } else if constexpr (T == Tests::two) {
                second_part |= sum[N + v] >= 0;
                second_rest |= sum[N + v] <= most[N + v];
            }
            part |= at_least;
            rest |= at_most;
        }
        flags[group] = flag_of<T>(part, rest, second_part, second_rest);
        found |= (flags[group] & 3) != 0;
    }
    for (int v = 0; v < ALL; ++v) store(running + 8 * v, sum[v]);
    return found;
}

void add_scores(const std::uint32_t* rows, std::size_t count, const std::int16_t* scores, std::size_t lanes,
                std::int32_t* running) {
    for (std::size_t i = 0; i < count; ++i) {
        const std::int16_t* row = scores + std::size_t(rows[i]) * lanes;
        for (std::size_t lane = 0; lane < lanes; lane += 8)
            store(running + lane, load<Int8>(running + lane) + __builtin_convertvector(load<Short8>(row + lane), Int8));
    }
}

template <Tests T>
bool flag_groups_any(const GroupSpan& span, const std::int16_t* scores, std::size_t lanes, std::int32_t* running,
                     const std::int32_t* limit, std::uint8_t* flags) {
    bool found = false;
    const std::uint32_t steps = span.last - span.first;
    const std::size_t each = lanes / 8 / (T == Tests::one ? 1 : 2);
    for (std::uint32_t step = 0; step < steps; ++step) {
        const std::uint32_t group = span.descending ? span.last - 1 - step : span.first + step;
        const std::uint32_t begin = group ? span.ends[group - 1] : 0, last = span.ends[group] - 1;
        add_scores(span.rows + begin, last - begin, scores, lanes, running);
        // The last row is added while the lanes are tested.
        const std::int16_t* row = scores + std::size_t(span.rows[last]) * lanes;
        Int8 part = {}, rest = {}, second_part = {}, second_rest = {};
        const auto add = [&](std::size_t v) {
            const Int8 sum = load<Int8>(running + 8 * v) + __builtin_convertvector(load<Short8>(row + 8 * v), Int8);
            store(running + 8 * v, sum);
            return sum;
        };
        for (std::size_t v = 0; v < each; ++v) {
            const Int8 sum = add(v);
            Int8 at_least = sum >= 0, at_most = sum <= load<Int8>(limit + 8 * v);
            if constexpr (T != Tests::one) {
                const Int8 second = add(each + v);
                const Int8 second_at_least = second >= 0, second_at_most = second <= load<Int8>(limit + 8 * (each + v));
                if constexpr (T == Tests::two_on_one_lane) {
                    at_least &= second_at_least;
                    at_most &= second_at_most;
                } else {
                    second_part |= second_at_least;
                    second_rest |= second_at_most;
                }
            }
            part |= at_least;
            rest |= at_most;
        }
        flags[group] = flag_of<T>(part, rest, second_part, second_rest);
        found |= (flags[group] & 3) != 0;
    }
    return found;
}

template <Tests T>
bool flag_groups_as(const GroupSpan& span, const std::int16_t* scores, std::size_t lanes, std::int32_t* running,
                    const std::int32_t* limit, std::uint8_t* flags) {
    switch (lanes / 8 / (T == Tests::one ? 1 : 2)) {
        case 1: return flag_groups_n<1, T>(span, scores, running, limit, flags);
        case 2: return flag_groups_n<2, T>(span, scores, running, limit, flags);
        case 3: return flag_groups_n<3, T>(span, scores, running, limit, flags);
        default: return flag_groups_any<T>(span, scores, lanes, running, limit, flags);
    }
}

bool flag_groups(const GroupSpan& span, const std::int16_t* scores, std::size_t lanes, Tests tests, std::int32_t* running,
                 const std::int32_t* limit, std::uint8_t* flags) {
    switch (tests) {
        case Tests::one: return flag_groups_as<Tests::one>(span, scores, lanes, running, limit, flags);
        case Tests::two: return flag_groups_as<Tests::two>(span, scores, lanes, running, limit, flags);
        default: return flag_groups_as<Tests::two_on_one_lane>(span, scores, lanes, running, limit, flags);
    }
}

std::uint8_t passes(const std::int32_t* sums, const std::int32_t* start, std::size_t lanes, Tests tests) {
    const auto reached = [&](std::size_t v) { return load<Int8>(sums + 8 * v) + load<Int8>(start + 8 * v) >= 0; };
    const std::size_t each = lanes / 8 / (tests == Tests::one ? 1 : 2);
    Int8 first = {}, second = {};
    for (std::size_t v = 0; v < each; ++v) {
        if (tests == Tests::two_on_one_lane) {
            first |= reached(v) & reached(each + v);
        } else {
            first |= reached(v);
            if (tests == Tests::two) second |= reached(each + v);
        }
    }
    if (tests != Tests::two) return any(first) ? 1 : 0;
    return any(second) ? (any(first) ? 1 : 0) : 4;
}

void add_states(const std::uint32_t* rows, std::size_t count, const std::uint8_t* states, std::size_t width,
                std::int32_t* counters) {
    const Int8 one = {1, 1, 1, 1, 1, 1, 1, 1};
    for (std::size_t lane = 0; lane < width; lane += 8) {
        Int8 open_present = load<Int8>(counters + lane);
        Int8 open_absent = load<Int8>(counters + width + lane);
        Int8 present = load<Int8>(counters + 2 * width + lane);
        for (std::size_t i = 0; i < count; ++i) {
            const Int8 state = __builtin_convertvector(load<Byte8>(states + std::size_t(rows[i]) * width + lane), Int8);
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
            const Int8 state = __builtin_convertvector(load<Byte8>(from + lane), Int8);
            store(to + lane, load<Int8>(to + lane) + (state & one));
            store(to + width + lane, load<Int8>(to + width + lane) + ((state >> 1) & one));
            store(to + 2 * width + lane, load<Int8>(to + 2 * width + lane) + (state >> 2));
        }
    }
}

void add_weighted_states(const std::uint32_t* rows, std::size_t count, const std::uint8_t* states, std::size_t width,
                         const double* weights, double* counters) {
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint8_t* state = states + std::size_t(rows[i]) * width;
        const double weight = weights[rows[i]];
        for (std::size_t lane = 0; lane < width; ++lane) {
            counters[lane] += state[lane] & OPEN_PRESENT ? weight : 0;
            counters[width + lane] += state[lane] & OPEN_ABSENT ? weight : 0;
            counters[2 * width + lane] += state[lane] & PRESENT ? weight : 0;
        }
    }
}

template <class T>
void add_lanes_of(const std::uint32_t* rows, std::size_t count, const T* lanes_of_rows, std::size_t lanes, T* running) {
    for (std::size_t i = 0; i < count; ++i) {
        const T* row = lanes_of_rows + std::size_t(rows[i]) * lanes;
        for (std::size_t lane = 0; lane < lanes; ++lane) running[lane] += row[lane];
    }
}

void add_lanes(const std::uint32_t* rows, std::size_t count, const std::int32_t* lanes_of_rows, std::size_t lanes,
               std::int32_t* running) {
    if (lanes == 8) {
        Int8 sum = load<Int8>(running);
        for (std::size_t i = 0; i < count; ++i) sum += load<Int8>(lanes_of_rows + std::size_t(rows[i]) * 8);
        store(running, sum);
    } else {
        add_lanes_of(rows, count, lanes_of_rows, lanes, running);
    }
}

void add_weighted_lanes(const std::uint32_t* rows, std::size_t count, const double* lanes_of_rows, std::size_t lanes,
                        double* running) {
    add_lanes_of(rows, count, lanes_of_rows, lanes, running);
}

template <Formula F>
void evaluate_as(HeuristicFormula h, const double* __restrict tp, const double* __restrict fp, const double* __restrict tn,
                 const double* __restrict fn, std::size_t count, double* __restrict value) {
    for (std::size_t i = 0; i < count; ++i) {
        double numerator, denominator;
        if constexpr (F == Formula::f_measure) {
            numerator = (1 + h.parameter) * tp[i];
            denominator = numerator + h.parameter * fn[i] + fp[i] + h.shrinkage;
        } else if constexpr (F == Formula::accuracy) {
            numerator = tp[i] + tn[i];
            denominator = tp[i] + fp[i] + tn[i] + fn[i];
        } else if constexpr (F == Formula::precision) {
            numerator = tp[i];
            denominator = tp[i] + fp[i];
        } else if constexpr (F == Formula::recall) {
            numerator = tp[i];
            denominator = tp[i] + fn[i];
        } else if constexpr (F == Formula::laplace) {
            numerator = tp[i] + 1;
            denominator = tp[i] + fp[i] + 2;
        } else if constexpr (F == Formula::gain) {
            const double cost = h.parameter * (tp[i] + fp[i]), gain = tp[i] - cost;
            numerator = std::fabs(gain) <= 1e-12 * cost ? 0.0 : gain;
            denominator = 1;
        } else {
            const double total = tp[i] + fp[i] + tn[i] + fn[i];
            numerator = tp[i] * total - (tp[i] + fp[i]) * (tp[i] + fn[i]);
            denominator = total * total;
        }
        const double quotient = numerator / (denominator != 0 ? denominator : 1.0);
        value[i] = denominator != 0 ? quotient : 0.0;
    }
}

void evaluate(HeuristicFormula h, const double* tp, const double* fp, const double* tn, const double* fn,
              std::size_t count, double* value) {
    switch (h.formula) {
        case Formula::f_measure: return evaluate_as<Formula::f_measure>(h, tp, fp, tn, fn, count, value);
        case Formula::accuracy: return evaluate_as<Formula::accuracy>(h, tp, fp, tn, fn, count, value);
        case Formula::precision: return evaluate_as<Formula::precision>(h, tp, fp, tn, fn, count, value);
        case Formula::recall: return evaluate_as<Formula::recall>(h, tp, fp, tn, fn, count, value);
        case Formula::laplace: return evaluate_as<Formula::laplace>(h, tp, fp, tn, fn, count, value);
        case Formula::gain: return evaluate_as<Formula::gain>(h, tp, fp, tn, fn, count, value);
        case Formula::relative_accuracy:
            return evaluate_as<Formula::relative_accuracy>(h, tp, fp, tn, fn, count, value);
        default:
            for (std::size_t i = 0; i < count; ++i) value[i] = value_of(h, tp[i], fp[i], tn[i], fn[i]);
    }
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

template <class T>
void confusion_of(const T* __restrict counters, T covered, const double* __restrict present_in_training,
                  const double* __restrict absent_in_training, std::size_t width, double* __restrict tp,
                  double* __restrict fp, double* __restrict tn, double* __restrict fn) {
    for (std::size_t label = 0; label < width; ++label) {
        const T present = counters[2 * width + label];
        tp[label] = double(counters[label]);
        fp[label] = double(counters[width + label]);
        fn[label] = present_in_training[label] - double(present);
        tn[label] = absent_in_training[label] - double(covered - present);
    }
}

// Adds up words of rows group by group and hands over the sums: give(group, sums...).
template <class Add, class Give>
inline void each_group(const GroupSpan& span, Add&& add, Give&& give) {
    const std::uint32_t steps = span.last - span.first;
    for (std::uint32_t step = 0; step < steps; ++step) {
        const std::uint32_t group = span.descending ? span.last - 1 - step : span.first + step;
        const std::uint32_t begin = group ? span.ends[group - 1] : 0, end = span.ends[group];
        for (std::uint32_t i = begin; i < end; ++i) add(span.rows[i]);
        give(group, std::int32_t(end - begin));
    }
}

template <bool CUMULATIVE>
void count_words_as(const GroupSpan& span, const std::uint64_t* words, std::int32_t* const lanes[3]) {
    std::uint64_t sum = 0;
    each_group(
        span, [&](std::uint32_t row) { sum += words[row]; },
        [&](std::uint32_t group, std::int32_t) {
            for (int lane = 0; lane < 3; ++lane) lanes[lane][group] = PackedCounts::get(sum, lane);
            if (!CUMULATIVE) sum = 0;
        });
}

void count_words(const GroupSpan& span, const std::uint64_t* words, bool cumulative, std::int32_t* const lanes[3]) {
    cumulative ? count_words_as<true>(span, words, lanes) : count_words_as<false>(span, words, lanes);
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

template <bool CUMULATIVE>
void count_codes_as(const GroupSpan& span, const std::uint8_t* codes, std::int32_t* const lanes[6]) {
    std::uint64_t left[16], closed[16];
    for (int code = 0; code < 16; ++code) {
        const std::uint64_t tp = code & OPEN_PRESENT ? 1 : 0, fp = code & OPEN_ABSENT ? 1 : 0, present = code & PRESENT ? 1 : 0;
        left[code] = code & CLOSES ? PackedCounts::pack(0, 0, present) : PackedCounts::pack(tp, fp, present);
        closed[code] = code & CLOSES ? PackedCounts::pack(tp, fp, 0) : 0;
    }
    std::uint64_t sum_left = 0, sum_closed = 0;
    std::int32_t sum_rows = 0;
    each_group(
        span,
        [&](std::uint32_t row) {
            sum_left += left[codes[row]];
            sum_closed += closed[codes[row]];
        },
        [&](std::uint32_t group, std::int32_t rows) {
            sum_rows += rows;
            lanes[0][group] = PackedCounts::get(sum_left, 0);
            lanes[1][group] = PackedCounts::get(sum_left, 1);
            lanes[2][group] = PackedCounts::get(sum_closed, 0);
            lanes[3][group] = PackedCounts::get(sum_closed, 1);
            lanes[4][group] = PackedCounts::get(sum_left, 2);
            lanes[5][group] = sum_rows;
            if (!CUMULATIVE) sum_left = sum_closed = 0, sum_rows = 0;
        });
}

void count_codes(const GroupSpan& span, const std::uint8_t* codes, bool cumulative, std::int32_t* const lanes[6]) {
    cumulative ? count_codes_as<true>(span, codes, lanes) : count_codes_as<false>(span, codes, lanes);
}

inline Float8 all(float value) { return Float8{} + value; }
inline Float8 higher(Float8 a, Float8 b) { return a > b ? a : b; }

template <bool SIGNS, bool AVERAGES>
float revise_as(const Revision& r, const Quotient& q, std::size_t slots, const std::int32_t* const lanes[6], const PageSide& page) {
    const Float8 any = all(std::numeric_limits<float>::infinity()), nothing = -any, zero = {}, one = all(1);
    Float8 best = nothing;
    for (std::size_t at = 0; at < slots; at += 8) {
        const auto number = [&](int lane) { return __builtin_convertvector(load<Int8>(lanes[lane] + at), Float8); };
        const Float8 tp = number(0), fp = number(1), closed_tp = number(2), closed_fp = number(3), present = number(4);
        const Float8 fn = r.present - present, tn = r.absent - (number(5) - present);
        const Float8 top_rest = float(q.top[2]) * tn + float(q.top[3]) * fn + float(q.top_constant);
        const Float8 bottom_rest = float(q.bottom[2]) * tn + float(q.bottom[3]) * fn + float(q.bottom_constant);
        const auto value = [&](Float8 right, Float8 wrong) {
            const Float8 top = float(q.top[0]) * right + float(q.top[1]) * wrong + top_rest;
            const Float8 bottom = float(q.bottom[0]) * right + float(q.bottom[1]) * wrong + bottom_rest;
            const Float8 h = bottom != zero ? top / (bottom != zero ? bottom : one) : zero;
            Int8 usable = right > zero;
            if (r.constrained) usable &= right >= wrong;
            return usable ? h : nothing;
        };
        const Float8 tp_before = tp + closed_tp, fp_before = fp + closed_fp;
        Float8 h = value(tp, fp), before = value(tp_before, fp_before);
        if constexpr (SIGNS) {
            h = higher(h, value(fp, tp));
            before = higher(before, value(fp_before, tp_before));
        }
        const Int8 changed = (closed_tp > zero) | (closed_fp > zero);
        const Int8 disturbed = changed & (higher(h, before) >= load<Float8>(page.cut + at));
        const auto gain = [&](Float8 right, Float8 wrong) {
            return (right > zero) & (right >= wrong) ? right - wrong + one : zero;
        };
        Float8 slack = load<Float8>(page.slack + at) - higher(gain(tp, fp) - gain(tp_before, fp_before), zero);
        slack = disturbed ? zero : slack;
        Float8 few = load<Float8>(page.few + at), many = load<Float8>(page.many + at);
        if constexpr (AVERAGES) {
            const Int8 was_usable = before > nothing, newly_usable = changed & ~was_usable & (h > nothing);
            Float8 rise = (h > before) & was_usable ? h - (was_usable ? before : zero) : zero;
            rise = changed ? rise + 1e-6f : zero;
            few = newly_usable & (few > nothing) ? any : few + r.lift * rise;
            many = newly_usable & (few > nothing) ? any : many + r.lift_of_many * rise;
        } else {
            few = disturbed & (few > nothing) ? any : few;
        }
        h *= 1 + 1e-6f;
        Float8 top = load<Float8>(page.top + at), rest = load<Float8>(page.rest + at);
        Int8 label = load<Int8>(page.label + at);
        const Int8 is_top = label == r.label, above = ~is_top & (h > top);
        rest = is_top ? rest : higher(rest, above ? top : h);
        top = is_top | above ? h : top;
        label = above ? Int8{} + r.label : label;
        store(page.slack + at, slack);
        store(page.few + at, few);
        store(page.many + at, many);
        store(page.top + at, top);
        store(page.rest + at, rest);
        store(page.label + at, label);
        const Float8 bound = higher(few, many), highest = r.lift * higher(top, rest);
        best = higher(best, slack > zero ? nothing : (bound < highest ? bound : highest));
    }
    float most = best[0];
    for (int i = 1; i < 8; ++i) most = best[i] > most ? best[i] : most;
    return most;
}

float revise(const Revision& r, const Quotient& q, std::size_t slots, const std::int32_t* const lanes[6], const PageSide& page) {
    if (r.signs) return r.averages ? revise_as<true, true>(r, q, slots, lanes, page) : revise_as<true, false>(r, q, slots, lanes, page);
    return r.averages ? revise_as<false, true>(r, q, slots, lanes, page) : revise_as<false, false>(r, q, slots, lanes, page);
}

const Kernels table = {flag_groups, add_scores,         passes, add_states, add_states_by_code,
                       add_weighted_states, add_lanes, add_weighted_lanes, evaluate, keep_usable,
                       confusion_of<std::int32_t>, confusion_of<double>, count_words, reaching, add_values, count_codes, revise};
