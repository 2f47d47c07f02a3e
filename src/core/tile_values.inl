// What the heads of eight candidates are worth at most; included by tile_kernels.inl.

// Puts one vector where another was that is lower, and gives that one back.
inline void exchange(Int8 better, Float8& kept, Float8& given) {
    const Float8 before = kept;
    kept = better ? given : kept;
    given = better ? before : given;
}

// What heads are worth that are the mean of their labels: few labels are sorted, of many it is summed up how far they are
// above some thresholds.
class LabelMeans {
   public:
    // `weighs`: heads that are more often wrong than right are found out, where labels are sorted.
    LabelMeans(const Lengths& lengths, std::size_t labels, bool weighs)
        : lengths_(lengths), sorts_(labels <= Lengths::MOST_SORTED), weighs_(weighs) {}

    bool sorts() const { return sorts_; }
    void add(Float8 h, Float8 surplus) {
        for (std::size_t j = 0; !sorts_ && j < THRESHOLDS; ++j) {
            above_[j] += higher(h - lengths_.thresholds[j], Float8{});
            counts_[j] -= h > all(lengths_.thresholds[j]);
        }
        if (!sorts_) return;
        for (std::size_t i = 0; i < count_; ++i) {
            const Int8 better = h > sorted_[i];
            exchange(better, sorted_[i], h);
            if (weighs_) exchange(better, surplus_[i], surplus);
        }
        sorted_[count_] = h;
        surplus_[count_++] = surplus;
    }

    Float8 highest = all(-std::numeric_limits<float>::infinity());  // no head is worth more
    Float8 shortest = all(std::numeric_limits<float>::infinity());  // the best head has at least so many labels
    Float8 cut = all(-std::numeric_limits<float>::infinity());       // labels below this do not matter to that
    Int8 is_wrong = {};  // where labels are sorted: the best head has less right than wrong

    // After all labels: what heads are worth, if their best label is worth `best`.
    void compare(Float8 best) { sorts_ ? compare_sorted() : compare_many(best); }

   private:
    void compare_sorted() {
        const Float8 nothing = all(-std::numeric_limits<float>::infinity());
        Float8 values[Lengths::MOST_SORTED], sum = {}, surplus = {};
        for (std::size_t k = 0; k < count_; ++k) {
            sum += sorted_[k];
            values[k] = sum * lengths_.of_each[k];
            highest = higher(highest, values[k]);
        }
        const Float8 nearly = highest * (1 - 1e-5f);
        sum = Float8{};
        if (weighs_) is_wrong = ~is_wrong;
        for (std::size_t k = 0; k < count_; ++k) {
            sum += sorted_[k];
            surplus += surplus_[k];
            // Of labels that are worth the same any may come first.
            const Int8 is_clear = k + 1 < count_ ? sorted_[k + 1] < sorted_[k] * (1 - 1e-6f) : ~Int8{};
            if (weighs_) is_wrong &= (values[k] < nearly) | ((surplus < Float8{}) & is_clear);
            // No longer head can be the best.
            const Int8 is_last = sum * (lengths_.highest_above[k + 1] / float(k + 1)) < nearly;
            cut = (cut == nothing) & is_last ? sorted_[k] * (1 - 1e-5f) : cut;
        }
    }
    void compare_many(Float8 best) {
        Float8 reached = all(-std::numeric_limits<float>::infinity());
        for (std::size_t j = 0; j < THRESHOLDS; ++j)  // all labels above a threshold
            for (int i = 0; i < 8; ++i)
                if (const std::int32_t length = counts_[j][i]; length > 0)
                    reached[i] = std::max(reached[i], (float(length) * lengths_.thresholds[j] + above_[j][i]) * lengths_.of_each[std::size_t(length - 1)]);
        const Float8 nearly = reached * (1 - 1e-5f);
        cut = lower(best, all(lengths_.thresholds[THRESHOLDS - 1])) * (1 - 1e-5f);
        for (std::size_t k = 0; k < lengths_.share.size(); ++k) {
            Float8 mean = best;
            for (std::size_t j = 0; j < THRESHOLDS; ++j) mean = lower(mean, lengths_.thresholds[j] + above_[j] * lengths_.share[k]);
            const Float8 value = mean * lengths_.lift[k];
            highest = higher(highest, value);
            shortest = value >= nearly ? lower(shortest, all(float(lengths_.length[k]))) : shortest;
        }
    }

    const Lengths& lengths_;
    const bool sorts_, weighs_;
    std::size_t count_ = 0;
    Float8 sorted_[Lengths::MOST_SORTED], surplus_[Lengths::MOST_SORTED], above_[THRESHOLDS] = {};
    Int8 counts_[THRESHOLDS] = {};
};

// The same where counts are summed up: those of the best labels, one after the other, and of all labels above shares of the best one.
// With more labels a quotient can only fall.
class LabelQuotients {
   public:
    LabelQuotients(Float8 best, std::size_t labels) : best_(best), steps_(labels <= 2 * SORTED ? 0 : STEPS) {
        for (std::size_t j = 0; j < STEPS; ++j) thresholds_[j] = best * SHARES[j];
        std::fill_n(sorted_, SORTED, all(-std::numeric_limits<float>::infinity()));
    }

    void add(const LabelValues& label) {
        unclear_ |= label.is_unclear;
        usable_ -= label.h > all(-std::numeric_limits<float>::infinity());
        if (!any(label.h > thresholds_[STEPS - 1])) return;
        for (std::size_t j = 0; j < steps_; ++j) {
            const Int8 is_above = label.h > thresholds_[j];
            numerators_[j] += is_above ? label.ratio.numerator : Float8{};
            denominators_[j] += is_above ? label.ratio.denominator : Float8{};
            counts_[j] -= is_above;
        }
        sort_in(label.h > thresholds_[STEPS - 1] ? label.h : all(-std::numeric_limits<float>::infinity()), label.ratio);
    }

    // `most_labels`: no head has more.
    Float8 highest(const Lengths& lengths, Int8 most_labels) const {
        Float8 most = all(-std::numeric_limits<float>::infinity()), value = best_;
        Ratio sum{};
        for (std::size_t k = 0; k < std::min(SORTED, lengths.of_each.size()); ++k) {
            sum = {sum.numerator + ratios_[k].numerator, sum.denominator + ratios_[k].denominator};
            // Of labels that are worth the same any may come first: then the quotient without them is the bound.
            value = sorted_[k] > (k + 1 < SORTED ? sorted_[k + 1] : next_) ? sum.value() : value;
            most = most_labels > std::int32_t(k) ? higher(most, value * (lengths.of_each[k] * float(k + 1))) : most;
        }
        Int8 length = most_labels < std::int32_t(SORTED) ? most_labels : Int8{} + std::int32_t(SORTED);
        for (std::size_t j = 0; j <= steps_; ++j) {
            const Int8 next = j < steps_ ? most_of(counts_[j], length) : most_labels;
            // The highest lift of heads longer than the one, up to the other.
            Float8 lift = {};
            for (int i = 0; i < 8; ++i)
                lift[i] = std::min(lengths.highest_above[std::size_t(length[i])], lengths.highest_up_to[std::size_t(next[i])]);
            most = next > length ? higher(most, value * lift) : most;
            if (j < steps_) value = counts_[j] > 0 ? lower(value, Ratio{numerators_[j], denominators_[j]}.value()) : value;
            length = next;
        }
        return unclear_ ? all(std::numeric_limits<float>::infinity()) : most;
    }
    Float8 lowest_threshold() const { return thresholds_[STEPS - 1]; }
    Int8 usable() const { return usable_; }

   private:
    void sort_in(Float8 h, Ratio ratio) {
        if (!any(h > sorted_[SORTED - 1])) {
            next_ = higher(next_, h);
            return;
        }
        for (std::size_t i = 0; i < SORTED; ++i) {
            const Int8 better = h > sorted_[i];
            exchange(better, sorted_[i], h);
            exchange(better, ratios_[i].numerator, ratio.numerator);
            exchange(better, ratios_[i].denominator, ratio.denominator);
        }
        next_ = higher(next_, h);
    }

    static constexpr float SHARES[] = {0.96f, 0.92f, 0.87f, 0.82f, 0.76f, 0.70f, 0.63f, 0.56f, 0.48f, 0.40f};
    static constexpr std::size_t STEPS = std::size(SHARES), SORTED = 8;
    Float8 best_, thresholds_[STEPS];
    const std::size_t steps_;  // none for few labels
    Float8 numerators_[STEPS] = {}, denominators_[STEPS] = {};
    Int8 counts_[STEPS] = {}, unclear_ = {}, usable_ = {};
    Float8 sorted_[SORTED], next_ = all(-std::numeric_limits<float>::infinity());  // values of the best labels, and the best that has no place there
    Ratio ratios_[SORTED] = {};
};

template <class Cell>
void tile_values(const Scoring& s, const LaneTotals& totals, const Lengths& lengths, const void* cells, const std::int32_t* covered,
                 bool other_side, float needed, TileValues& found) {
    const Cell* tile = static_cast<const Cell*>(cells);
    const Float8 nothing = all(-std::numeric_limits<float>::infinity()), zero = {};
    const Int8 rows = other_side ? totals.rows - load<Int8>(covered) : load<Int8>(covered);
    const Float8 many = higher(all(1), floats(rows) * 0.25f);  // pairs
    Float8 best = nothing, of_best = zero, surplus = zero, gain = zero, cut = nothing, value;
    Int8 bearable = {};  // labels that are not wrong by as many pairs
    const bool averages = s.averages && s.lift > 1;  // or else no head is worth more than its best label
    const bool asks_half = s.asks_head && s.right == 1 && s.wrong == 1;
    LabelMeans means(lengths, totals.active.size(), asks_half && s.quotient.top[2] != 0);  // without TN such heads are worth little
    with_quotient(s.quotient, [&](auto&& quotient) {
        const auto each_label = [&](auto&& use) {
            for (std::uint32_t lane : totals.active) {
                const SlotCounts own = counts_of(tile[lane]), c = other_side ? other_side_of(own, totals, lane) : own;
                use(label_values(s, c, rows, totals.present[lane], totals.absent[lane], quotient));
            }
        };
        each_label([&](const LabelValues& v) {
            const Int8 usable = v.h > nothing, higher_up = v.h > best * 1.000001f, close = ~higher_up & (v.h >= best * 0.999999f);
            of_best = higher_up ? v.surplus : (close ? higher(of_best, v.surplus) : of_best);
            best = higher(best, v.h);
            surplus += (usable & (v.surplus > zero)) ? v.surplus : zero;
            if (s.additive) gain += v.h > zero ? v.h : zero;
            if (!averages) return;
            means.add(v.h, v.surplus);
            bearable -= usable & (v.surplus > -many);
        });
        value = best > zero ? best * s.lift : best;
        if (s.sums && s.lift > 1 && std::popcount(bits_of(value >= all(needed))) >= 3) {  // fewer are looked at sooner
            LabelQuotients quotients(best, totals.active.size());
            each_label([&](const LabelValues& v) { quotients.add(v); });
            // A label below the thresholds that becomes precise would make heads longer unseen.
            const Int8 most_labels = s.asks_labels ? Int8{} + std::int32_t(totals.active.size()) : quotients.usable();
            const Float8 highest = quotients.highest(lengths, most_labels);
            cut = (best > zero) & (highest < value) ? quotients.lowest_threshold() : nothing;
            value = best > zero ? lower(value, highest) : value;
        }
    });
    if (s.additive)
        value = gain > zero ? gain : nothing;
    // Without a lift the best head is of labels as good as the best one.
    Int8 fails = !s.additive && !s.longer && s.asks_head ? (of_best < -s.margin) & (best > zero) : Int8{};
    cut = fails ? best * (1 - 1e-5f) : cut;
    if (averages && any(value >= all(needed))) {
        means.compare(best);
        value = best > zero ? lower(value, means.highest) : value;
        cut = best > zero ? means.cut : nothing;
        // Short heads of many labels are soon looked at exactly, which tells more about later looks.
        if (asks_half && means.sorts()) {
            fails |= means.is_wrong & (best > zero);
        } else if (asks_half) {
            fails |= (means.shortest >= all(12)) & (surplus < (means.shortest - floats(bearable)) * many * (1 - 1e-5f));
            cut = fails ? nothing : cut;  // every label matters to that
        }
    }
    store(found.value, value > nothing ? value + (value > zero ? value : -value) * 3e-6f + 1e-30f : nothing);
    store(found.best, best);
    store(found.cut, cut);
    store(found.fails, fails);
    const Float8 lacking = -(surplus + of_best) - s.margin;
    store(found.lacking, (s.asks_head & (of_best < zero) & (lacking > zero) & (best > nothing)) ? lacking : zero);
}
