// What the heads of eight candidates are worth; included by kernels.inl.
//
// Single precision is enough to leave most candidates out: no value given here is below the one that doubles would give.
// Differences beyond NEAR are real; smaller ones are left to an exact look.

constexpr float NEAR = 1e-6f;

// One label of each candidate (in every lane the same one, or another), with its better sign.
struct LabelValue {
    Float8 h;            // 0: it may not be in the head
    Float8 top, bottom;  // of the quotient h
    Float8 surplus;      // right × TP - wrong × FP: not below 0 where it is precise enough
    Int8 unclear;        // present and absent are too near to tell which is better
};

template <bool F_LIKE>
struct LabelValues {
    const BoundScoring& s;
    const float* matrices;

    // Label number i in all lanes.
    LabelValue of(std::size_t i) const {
        const float* at = matrices + i * MATRIX;
        return value(load<Float8>(at), load<Float8>(at + 8), load<Float8>(at + 16), F_LIKE ? Float8{} : load<Float8>(at + 24));
    }
    // In each lane the label of that number.
    LabelValue of(Int8 i) const {
        const Int8 at = i * std::int32_t(MATRIX) + Int8{0, 1, 2, 3, 4, 5, 6, 7};
        return value(gather(matrices, at), gather(matrices + 8, at), gather(matrices + 16, at),
                     F_LIKE ? Float8{} : gather(matrices + 24, at));
    }

   private:
    static Float8 gather(const float* from, Int8 at) {
#ifdef __AVX2__
        return (Float8)_mm256_i32gather_ps(from, (__m256i)at, 4);
#else
        Float8 found;
        for (int i = 0; i < 8; ++i) found[i] = from[at[i]];
        return found;
#endif
    }
    LabelValue of_sign(Float8 right, Float8 wrong, Float8 tn, Float8 fn) const {
        LabelValue v;
        v.top = s.top[0] * right;
        v.bottom = s.bottom[0] * right + s.bottom[1] * wrong + s.bottom[3] * fn + s.bottom_constant;
        if (!F_LIKE) {
            v.top += s.top[1] * wrong + s.top[2] * tn + s.top[3] * fn + s.top_constant;
            v.bottom += s.bottom[2] * tn;
        }
        v.surplus = s.right * right - s.wrong * wrong;
        Int8 usable = right > Float8{};
        if (s.checks_labels) usable &= v.surplus >= -s.rounding * (right + wrong);
        v.h = usable ? v.top / (v.bottom + 1e-30f) : Float8{};
        v.unclear = Int8{};
        return v;
    }
    [[gnu::always_inline]] LabelValue value(Float8 tp, Float8 fp, Float8 fn, Float8 tn) const {
        LabelValue v = of_sign(tp, fp, tn, fn);
        if (!s.absence) return v;
        const LabelValue absent = of_sign(fp, tp, tn, fn);
        const Int8 better = absent.h > v.h, near = (absent.h >= v.h * (1 - NEAR)) & (v.h >= absent.h * (1 - NEAR));
        v.unclear = near & (tp != fp) & (v.h > Float8{});
        v.surplus = near ? higher(v.surplus, absent.surplus) : better ? absent.surplus : v.surplus;
        v.top = better ? absent.top : v.top;
        v.bottom = better ? absent.bottom : v.bottom;
        v.h = higher(v.h, absent.h);
        return v;
    }
};

// The sum of all labels that gain; notes of each label whether it may gain by one of the candidates. An error of a label is
// relative to its counts, |error| <= 4e-7 × (TP + FP); that of a sum of n numbers is at most n × 2^-24 of it. Where it is not
// clear whether a label gains, or with which sign, that matters to the surplus alone, which then lies between `least` and `most`.
inline void value_sum(const BoundScoring& s, float* matrices, std::size_t n, Int8 usable, Valued& found) {
    Float8 gain = {}, mass = {}, least = {}, most = {};
    for (std::size_t i = 0; i < n; ++i) {
        const Float8 tp = load<Float8>(matrices + i * MATRIX), fp = load<Float8>(matrices + i * MATRIX + 8);
        const Float8 error = 4e-7f * (tp + fp);
        const auto of_sign = [&](Float8 right, Float8 wrong, Float8& own) {
            own = s.right * right - s.wrong * wrong;
            Int8 may_be = right > Float8{};
            if (s.checks_labels) may_be &= own >= -s.rounding * (tp + fp);
            return may_be ? s.top[0] * right + s.top[1] * wrong : -all(3e38f);
        };
        Float8 own;
        Float8 h = of_sign(tp, fp, own), other = own;
        if (s.absence) {
            Float8 of_absence;
            const Float8 absent = of_sign(fp, tp, of_absence);
            const Int8 near = (absent >= h - 2 * error) & (h >= absent - 2 * error), better = absent > h;
            other = near | better ? of_absence : own;
            own = better & ~near ? of_absence : own;
            h = higher(h, absent);
        }
        const Int8 gains = h > error, may_gain = h >= -error;
        gain += gains ? h : Float8{};
        matrices[i * MATRIX + OF_VALUE] = any(may_gain) ? 1.0f : 0.0f;
        least += gains ? lower(own, other) : (may_gain ? lower(lower(own, other), Float8{}) : Float8{});
        most += gains ? higher(own, other) : (may_gain ? higher(higher(own, other), Float8{}) : Float8{});
        mass += may_gain ? tp + fp : Float8{};
    }
    const Float8 error = 4e-7f * mass + gain * (6e-8f * float(n)), rounding = s.rounding * mass;
    const Float8 value = (gain * (1 + NEAR) + error) * s.highest_lift;
    usable &= (gain + error > Float8{}) & (mass > Float8{});
    const bool takes_all = s.several && s.highest_lift == 1 && !s.coarse;  // labels that gain: then the head is known
    if (takes_all && s.checks_head) usable &= most >= -rounding;
    Int8 sure = takes_all ? error < gain * 5e-4f : Int8{};
    if (s.checks_head) sure &= least >= rounding;
    store(found.value, usable ? value : -all(1));
    store(found.sure, usable & sure);
}

// Keys of labels that sort as their values do, the number of the label in the lowest bits. Values are near each other if they
// differ in at most one unit above those bits.
struct Keys {
    static constexpr std::size_t MOST = 34;
    int bits;
    std::int32_t low;
    std::size_t count = 0;
    Int8 best[MOST];  // descending

    explicit Keys(std::size_t labels) : bits(std::max(6, int(std::bit_width(labels)))), low((1 << bits) - 1) {}
    // The highest keys below some others, at most so many.
    void find(const float* matrices, std::size_t labels, Int8 below, std::size_t most) {
        count = 0;
        for (std::size_t i = 0; i < labels; ++i) {
            const Float8 h = load<Float8>(matrices + i * MATRIX + OF_VALUE);
            Int8 key = ((Int8)h & ~low) | std::int32_t(i);
            key = ((h > Float8{}) & (key < below)) ? key : Int8{};
            if (count == most && !any(key > best[most - 1])) continue;
            if (count < most) best[count++] = Int8{};
            for (std::size_t k = 0; k < count; ++k) {
                const Int8 more = key > best[k] ? key : best[k];
                key = key > best[k] ? best[k] : key;
                best[k] = more;
            }
        }
    }
    Int8 some(std::size_t k) const { return best[k] != Int8{}; }
    Int8 near(std::size_t k) const { return ((best[k] >> bits) - (best[k + 1] >> bits) <= 1) & some(k + 1); }
    float unit() const { return float(1 << bits) * 0x1p-22f; }  // relative, of two values that are near each other
};

// The best head by growing it label by label, best first: h_k is the value of the first k labels, without a lift.
// Where the labels k and k + 1 are near each other, either may come first. Then h_k is bounded
//   by the mean plus the difference, where values are averaged;
//   by the higher of both quotients, where counts are summed and these two are near no other;
//   or else by h_j of the last j < k where the order is clear: labels worth less never raise a quotient.
// Most heads are short: labels are put in order a few at a time, as long as a longer head may be the best and reach the floor.
template <class Labels>
inline void value_prefixes(const BoundScoring& s, const Labels& labels, std::size_t n, Float8 best, Float8 margin, float floor,
                           Int8 unclear, Int8 usable, Valued& found) {
    constexpr std::size_t FEW = 8, MANY = 128,
                          AHEAD = 2;  // labels in order: at first, at most, and behind those that are looked at
    Keys keys(n);
    Float8 top = {}, bottom = {}, sum = {}, surplus = {}, clear_h = best, value = {}, of_head = {}, left = {};
    Int8 sure = {}, doubt = {}, done = ~usable, below = Int8{} + std::numeric_limits<std::int32_t>::max();
    const auto label_at = [&](std::size_t k) { return labels.of(keys.some(k) & (keys.best[k] & keys.low)); };
    const auto doubt_at = [&](std::size_t k) { return k + 1 < keys.count ? keys.near(k) : Int8{}; };
    std::size_t length = 0;
    for (std::size_t few = FEW; length < std::min(n, MANY) && any(~done); few = std::min(2 * few, Keys::MOST - AHEAD)) {
        keys.find(labels.matrices, n, below, few + AHEAD);
        if (keys.count == 0) break;
        LabelValue v = {}, next = label_at(0);
        for (std::size_t k = 0; k < std::min(few, keys.count) && any(~done); ++k) {
            const Int8 some = keys.some(k);
            const bool last = k + 1 == keys.count;
            v = next;
            if (!last) next = label_at(k + 1);
            top += some ? v.top : Float8{};
            bottom += some ? v.bottom : Float8{};
            sum += some ? v.h : Float8{};
            surplus += some ? v.surplus : Float8{};
            const Int8 before = std::exchange(doubt, doubt_at(k));
            const Int8 alone = last ? Int8{} : doubt & ~before & ~doubt_at(k + 1);
            Float8 h;
            if (s.averages) {
                h = sum * (1.0f / float(length + 1)) * (1 + keys.unit());
            } else {
                const Float8 quotient = top / (bottom + 1e-30f);
                const Float8 other = (top - v.top + next.top) / (bottom - v.bottom + next.bottom + 1e-30f);
                clear_h = doubt ? clear_h : quotient;
                h = alone ? higher(quotient, other) : clear_h;
            }
            const Int8 open = some & ~done;
            const Float8 lifted = h * s.lift[length];
            const Int8 better = open & (lifted > value * (1 + NEAR)), near = open & ~better & (lifted >= value * (1 - NEAR));
            const Int8 same = alone & (v.top == next.top) & (v.bottom == next.bottom) & (v.surplus == next.surplus);
            sure = better ? ~doubt | same : (near ? Int8{} : sure);
            of_head = better ? surplus : of_head;
            value = better | near ? higher(value, lifted) : value;
            left = some ? h * s.lift_above[length] : Float8{};
            done |= ~some | (left < value * (1 - 10 * NEAR)) | (higher(value, left) * (1 + 20 * NEAR) < all(floor));
            ++length;
            below = keys.best[k];
        }
    }
    // Labels that were not put in order: h_k never rises.
    const Int8 goes_on = length < n ? ~done : Int8{};
    value = goes_on ? higher(value, left) : value;
    sure &= ~goes_on & ~unclear;
    value = lower(unclear ? all(3e38f) : value * (1 + 20 * NEAR), best * s.highest_lift * (1 + 10 * NEAR));
    if (s.checks_head) {
        usable &= ~(sure & (of_head < -margin));
        sure &= of_head >= margin;
    }
    store(found.value, usable ? value : -all(1));
    store(found.sure, usable & sure);
}

template <bool F_LIKE>
void value_as(const BoundScoring& s, float* matrices, std::size_t n, Float8 covered, float floor, Int8 usable, Valued& found) {
    constexpr std::size_t MOST_LABELS = 4096;
    const LabelValues<F_LIKE> labels{s, matrices};
    Float8 best = {}, of_best = all(-3e38f), gained = {};
    Int8 unclear = {};
    for (std::size_t i = 0; i < n; ++i) {
        const LabelValue v = labels.of(i);
        store(matrices + i * MATRIX + OF_VALUE, v.h);
        const Int8 better = v.h > best * (1 + NEAR), near = v.h >= best * (1 - NEAR);
        of_best = better ? v.surplus : near ? higher(of_best, v.surplus) : of_best;
        best = higher(best, v.h);
        gained += higher(v.surplus, Float8{});
        unclear |= v.unclear;
    }
    // No head is worth more than its best label times the highest lift. The best label is in every head: others must make up for
    // what it lacks, surplus(head) <= surplus(best) + sum of the surpluses above 0.
    const Float8 margin = covered * (s.rounding * float(n)), most = best * s.highest_lift * (1 + 10 * NEAR);
    usable &= (best > Float8{}) & (most >= all(floor));
    if (s.checks_head && !s.coarse) usable &= (of_best >= -margin) | (of_best + gained >= -margin);
    if (!any(usable) || s.coarse || n > MOST_LABELS || !s.several) {
        // Without a lift the labels of a head are as good as its best.
        if (!s.several && !s.coarse && s.checks_head) usable &= of_best >= -margin;
        store(found.value, usable ? most : -all(1));
        store(found.sure, s.checks_head || s.coarse || s.several ? Int8{} : usable);
        return;
    }
    value_prefixes(s, labels, n, best, margin, floor, unclear, usable, found);
}

void value(const BoundScoring& s, float* matrices, std::size_t labels, const float* covered, std::size_t candidates,
           float least_covered, float floor, Valued& found) {
    const Float8 covers = load<Float8>(covered);
    const Int8 usable =
        (covers > Float8{}) & (covers >= all(least_covered)) & (Int8{0, 1, 2, 3, 4, 5, 6, 7} < std::int32_t(candidates));
    found.some = found.labels = any(usable);
    if (!found.some) return;
    if (s.additive)
        value_sum(s, matrices, labels, usable, found);
    else if (s.f_like)
        value_as<true>(s, matrices, labels, covers, floor, usable, found);
    else
        value_as<false>(s, matrices, labels, covers, floor, usable, found);
    found.some = any(load<Float8>(found.value) >= higher(all(floor), Float8{}));
}
