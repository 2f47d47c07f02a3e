// Bodies of the tile kernels; included behind kernels.inl.

typedef std::uint16_t UShort8 __attribute__((vector_size(16)));
typedef std::uint32_t UInt8 __attribute__((vector_size(32)));

inline Float8 floats(Int8 numbers) { return __builtin_convertvector(numbers, Float8); }
inline Float8 lower(Float8 a, Float8 b) { return a < b ? a : b; }
inline Int8 most_of(Int8 a, Int8 b) { return a > b ? a : b; }

struct SlotCounts {
    Int8 tp, fp, present;
};

inline SlotCounts counts_of(const NarrowCell& cell) {
    const UInt8 pair = load<UInt8>(cell.pair);
    return {(Int8)(pair & 0xffffu), (Int8)(pair >> 16), __builtin_convertvector(load<UShort8>(cell.present), Int8)};
}
inline SlotCounts counts_of(const WideCell& cell) { return {load<Int8>(cell.right), load<Int8>(cell.wrong), load<Int8>(cell.present)}; }
inline void store_pairs(NarrowCell& cell, const SlotCounts& counts) { store(cell.pair, counts.tp | counts.fp << 16); }
inline void store_pairs(WideCell& cell, const SlotCounts& counts) {
    store(cell.right, counts.tp);
    store(cell.wrong, counts.fp);
}

// tp_weight × TP + fp_weight × FP, both weights of 16 bits.
inline Int8 weigh(const NarrowCell& cell, std::int32_t tp_weight, std::int32_t fp_weight) {
    const Int8 pair = load<Int8>(cell.pair);
#ifdef __AVX2__
    typedef short Short16 __attribute__((vector_size(32)));
    const Int8 weights = Int8{} + std::int32_t((std::uint32_t(fp_weight) << 16) | (std::uint32_t(tp_weight) & 0xffffu));
    return (Int8)__builtin_ia32_pmaddwd256((Short16)pair, (Short16)weights);
#else
    return (pair & 0xffff) * tp_weight + (Int8)((UInt8)pair >> 16) * fp_weight;
#endif
}
inline Int8 weigh(const WideCell& cell, std::int32_t tp_weight, std::int32_t fp_weight) {
    return load<Int8>(cell.right) * tp_weight + load<Int8>(cell.wrong) * fp_weight;
}
inline Int8 positives(const NarrowCell& cell) { return __builtin_convertvector(load<UShort8>(cell.present), Int8); }
inline Int8 positives(const WideCell& cell) { return load<Int8>(cell.present); }
inline Int8 right_of(const NarrowCell& cell) { return load<Int8>(cell.pair) & 0xffff; }
inline Int8 right_of(const WideCell& cell) { return load<Int8>(cell.right); }
inline Int8 wrong_of(const NarrowCell& cell) { return (Int8)(load<UInt8>(cell.pair) >> 16); }
inline Int8 wrong_of(const WideCell& cell) { return load<Int8>(cell.wrong); }

inline SlotCounts other_side_of(const SlotCounts& counts, const LaneTotals& totals, std::uint32_t lane) {
    return {totals.tp[lane] - counts.tp, totals.fp[lane] - counts.fp, totals.present[lane] - counts.present};
}

inline Float8 surplus_of(const Scoring& s, Float8 right, Float8 wrong) { return s.right * right - s.wrong * wrong; }
// Within the rounding of the weights.
inline Int8 precise(Float8 surplus, Float8 right, Float8 wrong) { return surplus >= -1e-6f * (right + wrong); }

inline std::uint32_t bits_of(Int8 mask) {
#ifdef __AVX2__
    return std::uint32_t(__builtin_ia32_movmskps256((Float8)mask));
#else
    std::uint32_t bits = 0;
    for (std::uint32_t i = 0; i < TILE; ++i) bits |= mask[i] ? 1u << i : 0u;
    return bits;
#endif
}

// The candidates of one side that are to be looked at.
inline Int8 wanted_of(const TileBounds& b, float least, bool keeps) {
    const Float8 unlimited = all(std::numeric_limits<float>::infinity()), bound = load<Float8>(b.bound);
    if (keeps) return (bound >= all(least)) & (bound > -unlimited);
    return (bound > -unlimited) | (load<Float8>(b.cut) < unlimited) | (load<Float8>(b.slack) < unlimited);
}

template <class Cell>
std::uint32_t tile_filter(const Scoring& s, const LaneTotals& totals, const Reach* given, const void* cells, const std::int32_t* covered,
                          const TileBounds* sides, std::size_t n_sides, float least, bool keeps) {
    Int8 wanted[2] = {wanted_of(sides[0], least, keeps), Int8{}};
    if (n_sides == 2) wanted[1] = wanted_of(sides[1], least, keeps);
    const std::uint32_t asked = bits_of(wanted[0]) | bits_of(wanted[1]) << 8;
    if (!asked || !given) return asked;
    const Reach& reach = *given;
    const Cell* tile = static_cast<const Cell*>(cells);
    const Int8 never = Int8{} + std::numeric_limits<std::int32_t>::min() / 2, rows = load<Int8>(covered);
    // Per side: a label reaches the value where its sum is not below this; the surplus of the best that does; what labels gain.
    const Int8 needed[2] = {-rows * reach.covered, (rows - totals.rows) * reach.covered};
    Int8 reached[2] = {}, surplus[2] = {never, never}, gained[2] = {};
    const bool by_head = s.asks_head && !s.absence, usable = reach.needs_right || s.asks_labels;
    for (std::uint32_t lane : totals.active) {
        const Cell& cell = tile[lane];
        const Int8 of_positives = positives(cell) * reach.present;
        for (int absent = 0; absent < (s.absence ? 2 : 1); ++absent) {
            const auto weighed = [&](std::int32_t right, std::int32_t wrong) { return absent ? weigh(cell, wrong, right) : weigh(cell, right, wrong); };
            const Int8 sum = weighed(reach.tp, reach.fp) + of_positives;
            const std::int32_t total = absent ? reach.total_of_absence[lane] : reach.total[lane];
            Int8 reaches[2] = {sum + reach.constant[lane] >= needed[0], total - sum >= needed[1]};
            if (usable | by_head) {
                const std::int32_t all_right = absent ? reach.right * totals.fp[lane] + reach.wrong * totals.tp[lane] : reach.total_right[lane];
                const Int8 right = weighed(reach.right, reach.wrong), rights[2] = {right, all_right - right};
                const Int8 tp = absent ? wrong_of(cell) : right_of(cell);
                const Int8 some_right[2] = {tp > 0, tp < (absent ? totals.fp[lane] : totals.tp[lane])};
                for (int side = 0; side < 2; ++side) {
                    if (usable) reaches[side] &= s.asks_labels ? rights[side] > 0 : some_right[side];
                    if (!by_head) continue;
                    surplus[side] = reaches[side] ? most_of(surplus[side], rights[side]) : surplus[side];
                    gained[side] += rights[side] > 0 ? rights[side] : Int8{};
                }
            }
            for (int side = 0; side < 2; ++side) reached[side] |= reaches[side];
        }
    }
    std::uint32_t left = 0;
    const Float8 unlimited = all(std::numeric_limits<float>::infinity());
    for (std::size_t side = 0; side < n_sides; ++side) {
        const Int8 lacking = by_head ? -(surplus[side] + gained[side]) : Int8{} - 1;  // what labels would have to make up for
        const Int8 imprecise = by_head ? wanted[side] & (gained[side] == 0) : Int8{};
        const Int8 low = wanted[side] & ~imprecise & ~reached[side], lacks = wanted[side] & ~imprecise & ~low & (lacking >= 0);
        left |= bits_of(wanted[side] & ~imprecise & ~low & ~lacks) << (8 * side);
        if (!keeps) continue;
        const TileBounds& b = sides[side];
        const Float8 bound = load<Float8>(b.bound), cut = load<Float8>(b.cut), slack = load<Float8>(b.slack);
        store(b.bound, imprecise | lacks ? -unlimited : (low ? lower(bound, all(reach.below)) : bound));
        store(b.cut, imprecise ? unlimited : (low ? all(reach.cut) : (lacks ? all(reach.least) : cut)));
        // Until some label is precise, or labels gain what is lacking.
        store(b.slack, imprecise ? all(1) : (lacks ? floats(lacking) * reach.per_right - s.margin : slack));
    }
    return left;
}

// Eight vectors as the rows of a matrix: its transpose.
inline void transpose(Int8* m) {
    const auto zip = [](Int8 a, Int8 b, bool upper) {
        return upper ? pick<2, 10, 3, 11, 6, 14, 7, 15>(a, b) : pick<0, 8, 1, 9, 4, 12, 5, 13>(a, b);
    };
    Int8 t[8], u[8];
    for (int i = 0; i < 8; i += 2) {
        t[i] = zip(m[i], m[i + 1], false);
        t[i + 1] = zip(m[i], m[i + 1], true);
    }
    for (int i = 0; i < 8; i += 4)
        for (int half = 0; half < 2; ++half) {
            u[i + 2 * half] = pick<0, 1, 8, 9, 4, 5, 12, 13>(t[i + half], t[i + 2 + half]);
            u[i + 2 * half + 1] = pick<2, 3, 10, 11, 6, 7, 14, 15>(t[i + half], t[i + 2 + half]);
        }
    for (int i = 0; i < 4; ++i) {
        m[i] = pick<0, 1, 2, 3, 8, 9, 10, 11>(u[i], u[i + 4]);
        m[i + 4] = pick<4, 5, 6, 7, 12, 13, 14, 15>(u[i], u[i + 4]);
    }
}

void tile_count(const GroupSpan& span, bool cumulative, const std::uint32_t* words, std::size_t stride, std::size_t lanes, void* cells) {
    for (std::size_t first_lane = 0; first_lane < lanes; first_lane += 8) {
        Int8 pair = {}, positive = {};
        std::uint32_t i = span.first ? span.ends[span.first - 1] : 0;
        for (std::uint32_t first = span.first; first < span.last; first += TILE) {
            Int8 of_pairs[TILE], of_present[TILE];
            for (std::uint32_t g = first; g < first + TILE; ++g) {
                if (!cumulative || g >= span.last) pair = positive = Int8{};
                for (const std::uint32_t end = g < span.last ? span.ends[g] : i; i < end; ++i) {
                    const std::uint32_t* of_row = words + 2 * (std::size_t(span.rows[i]) * stride + first_lane);
                    pair += load<Int8>(of_row);
                    positive += load<Int8>(of_row + 8);
                }
                of_pairs[g - first] = pair;
                of_present[g - first] = positive;
            }
            transpose(of_pairs);
            transpose(of_present);
            NarrowCell* tile = static_cast<NarrowCell*>(cells) + (first - span.first) / TILE * lanes + first_lane;
            for (std::size_t lane = 0; lane < 8 && first_lane + lane < lanes; ++lane) {
                store(tile[lane].pair, of_pairs[lane]);
                store(tile[lane].present, __builtin_convertvector(of_present[lane], UShort8));
            }
        }
    }
}

// Entries of a table of eight.
inline Int8 look_up(Int8 table, Int8 at) {
#ifdef __AVX2__
    return (Int8)_mm256_permutevar8x32_epi32((__m256i)table, (__m256i)at);
#else
    Int8 found;
    for (int i = 0; i < 8; ++i) found[i] = table[at[i]];
    return found;
#endif
}

template <std::size_t VECTORS>
std::size_t flag_vectors(const Flags& flags, const GroupSpan& span, const std::uint8_t* states, std::size_t width, std::uint32_t* found) {
    Int8 sums[VECTORS], of_state[VECTORS], least[VECTORS], most[VECTORS];
    for (std::size_t v = 0; v < VECTORS; ++v) {
        sums[v] = Int8{};
        of_state[v] = load<Int8>(flags.vectors[v].of_state);
        least[v] = load<Int8>(flags.vectors[v].least);
        most[v] = load<Int8>(flags.vectors[v].most);
    }
    const auto passes = [&](bool rest) {
        Int8 reached = {}, is_precise = {};
        for (std::size_t v = 0; v < VECTORS; ++v) {
            const Int8 right = sums[v] << (32 - flags.bits) >> (32 - flags.bits), all_right = load<Int8>(flags.vectors[v].all_right);
            const Int8 precise_here = rest ? all_right > right : right > 0;
            is_precise |= precise_here;
            reached |= (rest ? most[v] > sums[v] : sums[v] > least[v]) & (flags.asks_labels ? precise_here : ~Int8{});
        }
        return any(reached) && (!flags.asks_head || any(is_precise));
    };
    std::size_t count = 0;
    std::uint32_t i = 0;
    for (std::uint32_t g = 0; g < span.last; ++g) {
        for (const std::uint32_t end = span.ends[g]; i < end; ++i) {
            const std::uint8_t* of_row = states + std::size_t(span.rows[i]) * width;
            for (std::size_t v = 0; v < VECTORS; ++v)
                sums[v] += look_up(of_state[v], widened(of_row + flags.vectors[v].first_lane));
        }
        Int8 reached = {};
        for (std::size_t v = 0; v < VECTORS; ++v) reached |= (sums[v] > least[v]) | (most[v] > sums[v]);
        if (!any(reached)) continue;
        if (passes(false)) found[count++] = 2 * g;
        if (passes(true)) found[count++] = 2 * g + 1;
    }
    return count;
}

std::size_t tile_flag(const Flags& flags, const GroupSpan& span, const std::uint8_t* states, std::size_t width, std::uint32_t* found) {
    switch (flags.vectors.size()) {
        case 1: return flag_vectors<1>(flags, span, states, width, found);
        case 2: return flag_vectors<2>(flags, span, states, width, found);
        case 3: return flag_vectors<3>(flags, span, states, width, found);
        default: return flag_vectors<4>(flags, span, states, width, found);
    }
}

#include "label_values.inl"
#include "tile_values.inl"

// The highest of eight, and of eight others.
inline float highest_of(Float8 a, Float8 b) {
    const Float8 most = higher(a, b);
    float found = most[0];
    for (int i = 1; i < 8; ++i) found = std::max(found, most[i]);
    return found;
}

template <class Cell>
bool tile_revise(const Scoring& s, const LaneTotals& totals, const Closing& closing, void* cells, const std::int32_t* tp,
                 const std::int32_t* fp, const std::int32_t* covered, const TileBounds* sides, std::size_t n_sides, float* best) {
    const std::uint32_t lane = closing.lane;
    Cell& cell = static_cast<Cell*>(cells)[lane];
    const SlotCounts before = counts_of(cell), after{load<Int8>(tp), load<Int8>(fp), before.present};
    const SlotCounts closed_here{before.tp - after.tp, before.fp - after.fp, {}};
    const Float8 unlimited = all(std::numeric_limits<float>::infinity()), nothing = -unlimited, zero = {};
    const Int8 rows = load<Int8>(covered);
    store_pairs(cell, after);
    bool revised = false;
    const auto revise = [&](std::size_t side, auto&& quotient) {
        const SlotCounts now = side ? other_side_of(after, totals, lane) : after;
        SlotCounts closed = closed_here;
        if (side) {
            closed.tp = closing.tp_before - totals.tp[lane] - closed.tp;
            closed.fp = closing.fp_before - totals.fp[lane] - closed.fp;
        }
        const Int8 changed = (closed.tp | closed.fp) != 0;
        if (!any(changed)) return;
        const TileBounds& b = sides[side];
        Float8 bound = load<Float8>(b.bound);
        const Float8 cut = load<Float8>(b.cut);
        const Int8 asleep = changed & (bound == nothing);
        // With fewer TP alone no mean rises: bounds hold, but of candidates that had no head.
        if (s.averages && !s.absence && !any(closed.fp != 0) && !any(asleep)) return;
        const auto [fresh, old] = label_change(s, now, closed, side ? totals.rows - rows : rows, totals.present[lane], totals.absent[lane], quotient);
        const Float8 label = higher(old.h, fresh.h);
        const Int8 in_play = changed & (label >= cut) & (label > nothing);
        if (s.additive) {
            const auto term = [&](Float8 h) { return h > zero ? h : zero; };
            bound = in_play ? bound + (term(fresh.h) - term(old.h)) + (term(fresh.h) + term(old.h)) * 1e-6f + 1e-6f : bound;
        } else if (s.averages) {
            const Int8 was_usable = old.h > nothing;
            const Float8 rise = fresh.h - (was_usable ? old.h : fresh.h) + 1e-6f;  // as far as it can be told
            bound = (in_play & (rise > zero)) ? bound + rise * (s.rise * 1.00001f) : bound;
            bound = (in_play & ~was_usable & (fresh.h > nothing)) ? unlimited : bound;
        } else {
            // Where nothing is cut, the bound is the lift times the best label; or else that of a search, which does not hold now.
            const Float8 lifted = fresh.h * (s.lift * 1.000002f);
            bound = in_play ? (cut > nothing ? unlimited : higher(bound, fresh.h > zero ? lifted : fresh.h)) : bound;
        }
        revised = true;
        if (any(asleep)) {
            const auto gain_of = [&](const LabelValues& v) {
                return (v.h > nothing) & v.is_precise ? (v.surplus > zero ? v.surplus : zero) + 1.0f : zero;
            };
            const Float8 gained = gain_of(fresh) - gain_of(old), slack = load<Float8>(b.slack), left = gained > zero ? slack - gained : slack;
            const Int8 wakes = asleep & (in_play | (left <= zero));
            bound = wakes ? unlimited : bound;
            store(b.cut, wakes ? nothing : cut);
            store(b.slack, wakes ? unlimited : (asleep ? left : slack));
        }
        store(b.bound, bound);
    };
    with_quotient(s.quotient, [&](auto&& quotient) {
        for (std::size_t side = 0; side < n_sides; ++side) revise(side, quotient);
    });
    if (revised) *best = highest_of(load<Float8>(sides[0].bound), load<Float8>(sides[n_sides - 1].bound));
    return revised;
}

const TileKernels narrow_tiles = {tile_count, tile_filter<NarrowCell>, tile_flag, tile_values<NarrowCell>, tile_revise<NarrowCell>};
const TileKernels wide_tiles = {nullptr, tile_filter<WideCell>, tile_flag, tile_values<WideCell>, tile_revise<WideCell>};
