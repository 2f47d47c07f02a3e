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

// The flags of one group from its lanes; sum(v) and most(v) give the v-th vector.
template <Tests T, class Sum, class Most>
inline std::uint8_t flag_of(std::size_t each, Sum&& sum, Most&& most) {
    const auto bits = [](Int8 part, Int8 rest) { return std::uint8_t((any(part) ? 1 : 0) | (any(rest) ? 2 : 0)); };
    Int8 part = {}, rest = {};
    for (std::size_t v = 0; v < each; ++v) {
        if constexpr (T == Tests::two_on_one_lane) {
            part |= (sum(v) >= 0) & (sum(each + v) >= 0);
            rest |= (sum(v) <= most(v)) & (sum(each + v) <= most(each + v));
        } else {
            part |= sum(v) >= 0;
            rest |= sum(v) <= most(v);
        }
    }
    if (!any(part | rest)) return 0;
    std::uint8_t flag = bits(part, rest);
    if (T == Tests::two) {
        part = rest = Int8{};
        for (std::size_t v = each; v < 2 * each; ++v) {
            part |= sum(v) >= 0;
            rest |= sum(v) <= most(v);
        }
        flag &= bits(part, rest);
    }
    return flag;
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
        flags[group] = flag_of<T>(N, [&](std::size_t v) { return sum[v]; }, [&](std::size_t v) { return most[v]; });
        found |= flags[group] != 0;
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
        std::uint8_t flag = std::uint8_t((any(part) ? 1 : 0) | (any(rest) ? 2 : 0));
        if (T == Tests::two) flag &= std::uint8_t((any(second_part) ? 1 : 0) | (any(second_rest) ? 2 : 0));
        flags[group] = flag;
        found |= flag != 0;
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

bool passes(const std::int32_t* sums, const std::int32_t* start, std::size_t lanes, Tests tests) {
    const auto sum = [&](std::size_t v) { return load<Int8>(sums + 8 * v) + load<Int8>(start + 8 * v); };
    const auto never = [](std::size_t) { return Int8{} + std::numeric_limits<std::int32_t>::min(); };
    const std::size_t each = lanes / 8 / (tests == Tests::one ? 1 : 2);
    switch (tests) {
        case Tests::one: return flag_of<Tests::one>(each, sum, never) & 1;
        case Tests::two: return flag_of<Tests::two>(each, sum, never) & 1;
        default: return flag_of<Tests::two_on_one_lane>(each, sum, never) & 1;
    }
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
        case Formula::relative_accuracy:
            return evaluate_as<Formula::relative_accuracy>(h, tp, fp, tn, fn, count, value);
        default:
            for (std::size_t i = 0; i < count; ++i) value[i] = value_of(h, tp[i], fp[i], tn[i], fn[i]);
    }
}

void keep_usable(const double* __restrict tp, const double* __restrict fp, const double* __restrict penalty,
                 bool constrained, std::size_t width, double* __restrict h, double* highest, double* surplus) {
    const double nothing = -std::numeric_limits<double>::infinity();
    const double weight = constrained ? 1.0 : 0.0;
    typedef double Double4 __attribute__((vector_size(32)));
    Double4 most = {nothing, nothing, nothing, nothing}, sum = {};
    for (std::size_t lane = 0; lane < width; lane += 4) {
        const Double4 right = load<Double4>(tp + lane), wrong = load<Double4>(fp + lane);
        const V4 usable = (right > 0) & (right >= weight * wrong);
        const Double4 value = load<Double4>(h + lane) + load<Double4>(penalty + lane);
        const Double4 kept = usable ? value : Double4{nothing, nothing, nothing, nothing};
        store(h + lane, kept);
        most = kept > most ? kept : most;
        const Double4 above = right - wrong;
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

const Kernels table = {flag_groups, add_scores,         passes, add_states,
                       add_weighted_states, add_lanes, add_weighted_lanes, evaluate, keep_usable,
                       confusion_of<std::int32_t>, confusion_of<double>};
