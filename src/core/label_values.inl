// What the labels of eight slots are worth; included by tile_kernels.inl.

struct Ratio {
    Float8 numerator, denominator;
    Float8 value() const {  // 0/0 = 0
        const Int8 zero = denominator == Float8{};
        return zero ? Float8{} : numerator / (zero ? all(1) : denominator);
    }
};

// The value of one label of eight slots with its better sign, its surplus, and whether that is precise enough; -inf where it
// may not be in a head. Where the signs are too close to tell apart here, the surplus is the higher one.
struct LabelValues {
    Ratio ratio;
    Float8 h, surplus;
    Int8 is_precise;
    Int8 is_unclear;  // the signs are too close, but not the same
};
// One sign of a label, from the pairs it gets right and wrong.
inline LabelValues value_of_sign(const Scoring& s, Float8 right, Float8 wrong, const Ratio& ratio) {
    LabelValues v;
    v.surplus = surplus_of(s, right, wrong);
    v.is_precise = (right > Float8{}) & precise(v.surplus, right, wrong);
    v.ratio = ratio;
    v.h = (s.asks_labels ? v.is_precise : right > Float8{}) ? ratio.value() : all(-std::numeric_limits<float>::infinity());
    v.is_unclear = Int8{};
    return v;
}
inline LabelValues better_sign(LabelValues present, const LabelValues& absent, Int8 differ) {
    const Int8 better = absent.h > present.h, close = (absent.h >= present.h * 0.999999f) & (present.h >= absent.h * 0.999999f);
    present.surplus = close ? higher(present.surplus, absent.surplus) : (better ? absent.surplus : present.surplus);
    present.is_precise = close ? present.is_precise | absent.is_precise : (better ? absent.is_precise : present.is_precise);
    present.is_unclear = close & (present.h > all(-std::numeric_limits<float>::infinity())) & differ;
    present.ratio.numerator = better ? absent.ratio.numerator : present.ratio.numerator;
    present.ratio.denominator = better ? absent.ratio.denominator : present.ratio.denominator;
    present.h = better ? absent.h : present.h;
    return present;
}
// A label as it is, and as it was when `closed` more pairs of it were open.
struct LabelChange {
    LabelValues now, before;
};
template <class Values>
[[gnu::always_inline]] inline LabelChange label_change(const Scoring& s, const SlotCounts& c, const SlotCounts& closed, Int8 covered, std::int32_t present,
                                std::int32_t absent, Values&& quotient) {
    const Float8 tp = floats(c.tp), fp = floats(c.fp), fn = floats(present - c.present), tn = floats(absent - (covered - c.present));
    const Float8 right = floats(closed.tp), wrong = floats(closed.fp);
    const auto change = [&](Float8 tp, Float8 fp, Float8 right, Float8 wrong) {
        const Ratio now = quotient(tp, fp, tn, fn), more = quotient.of_pairs(right, wrong);
        return LabelChange{value_of_sign(s, tp, fp, now),
                           value_of_sign(s, tp + right, fp + wrong, {now.numerator + more.numerator, now.denominator + more.denominator})};
    };
    LabelChange found = change(tp, fp, right, wrong);
    if (s.absence) {
        const LabelChange other = change(fp, tp, wrong, right);
        found.now = better_sign(found.now, other.now, tp != fp);
        found.before = better_sign(found.before, other.before, tp + right != fp + wrong);
    }
    return found;
}
template <class Values>
inline LabelValues label_values(const Scoring& s, const SlotCounts& c, Int8 covered, std::int32_t present, std::int32_t absent,
                                Values&& quotient) {
    const Float8 tp = floats(c.tp), fp = floats(c.fp), fn = floats(present - c.present), tn = floats(absent - (covered - c.present));
    const LabelValues found = value_of_sign(s, tp, fp, quotient(tp, fp, tn, fn));
    return s.absence ? better_sign(found, value_of_sign(s, fp, tp, quotient(fp, tp, tn, fn)), tp != fp) : found;
}

// Heuristics as functions of the counts; most need few of the products. What pairs of a label add by themselves is `of_pairs`.
struct AnyQuotient {
    float top[4], bottom[4], top_constant, bottom_constant;
    explicit AnyQuotient(const Quotient& q) : top_constant(float(q.top_constant)), bottom_constant(float(q.bottom_constant)) {
        for (int i = 0; i < 4; ++i) top[i] = float(q.top[i]), bottom[i] = float(q.bottom[i]);
    }
    Ratio of_pairs(Float8 tp, Float8 fp) const { return {top[0] * tp + top[1] * fp, bottom[0] * tp + bottom[1] * fp}; }
    Ratio operator()(Float8 tp, Float8 fp, Float8 tn, Float8 fn) const {
        return {top[0] * tp + top[1] * fp + top[2] * tn + top[3] * fn + top_constant,
                bottom[0] * tp + bottom[1] * fp + bottom[2] * tn + bottom[3] * fn + bottom_constant};
    }
    bool is_f_like() const { return top[1] == 0 && top[2] == 0 && top[3] == 0 && top_constant == 0 && bottom[2] == 0; }
    bool is_accuracy() const {
        return top[0] == 1 && top[1] == 0 && top[2] == 1 && top[3] == 0 && top_constant == 0 && bottom[0] == 1 && bottom[1] == 1 &&
               bottom[2] == 1 && bottom[3] == 1 && bottom_constant == 0;
    }
};
struct FLike : AnyQuotient {
    Ratio of_pairs(Float8 tp, Float8 fp) const { return {top[0] * tp, bottom[0] * tp + bottom[1] * fp}; }
    Ratio operator()(Float8 tp, Float8 fp, Float8, Float8 fn) const {
        return {top[0] * tp, bottom[0] * tp + bottom[1] * fp + bottom[3] * fn + bottom_constant};
    }
};
struct Accuracy {
    Ratio of_pairs(Float8 tp, Float8 fp) const { return {tp, tp + fp}; }
    Ratio operator()(Float8 tp, Float8 fp, Float8 tn, Float8 fn) const { return {tp + tn, tp + fp + tn + fn}; }
};

template <class Use>
inline void with_quotient(const Quotient& q, Use&& use) {
    const AnyQuotient any(q);
    if (any.is_f_like())
        use(FLike{any});
    else if (any.is_accuracy())
        use(Accuracy{});
    else
        use(any);
}
