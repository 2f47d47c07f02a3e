#include "fixed_head.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace plurule {

FixedHead::FixedHead(const State& state, const Options& options, const std::vector<Assignment>& head, const std::vector<Row>& rows)
    : state_(state), options_(options), asked_(state.asked), head_(head), n_terms_(options.averages_labels ? head.size() : 1),
      labels_of_term_(options.averages_labels ? 1.0 : double(head.size())), absent_(n_terms_, 0), present_(n_terms_, 0),
      lift_(options.lift[head.size() - 1]) {
    screens_ = n_terms_ == 1 && as_quotient(options.heuristic, quotient_) && lift_ > 0;
    const double most = state.total_weight * labels_of_term_;
    number_ = state.number == Number::real || most >= 0x1p31 ? Number::real : most < 0x1p16 ? Number::narrow : Number::wide;
    if (number_ == Number::wide && state.weights)
        for (Row row : rows)
            if (state.weight(row) * labels_of_term_ >= 0x1p16) number_ = Number::real;
    number_ == Number::real ? real_.resize(4 * n_terms_ * state.n_rows) : packed_.resize(n_terms_ * state.n_rows);
    for (std::size_t i = 0; i < head.size(); ++i) {
        const double present = state.labels[std::size_t(head[i].label)].present;
        absent_[n_terms_ > 1 ? i : 0] += state.weight_of_rows - present;
        present_[n_terms_ > 1 ? i : 0] += present;
    }
    for (Row row : rows) {
        const double weight = state.weight(row);
        some_weigh_nothing_ |= weight == 0;
        bool some_open = false;
        for (const Assignment& assigned : head) some_open |= (state.byte(row, std::size_t(assigned.label)) & (OPEN_PRESENT | OPEN_ABSENT)) != 0;
        Sum sum{0, 0, 0, weight};
        for (std::size_t i = 0; i < head.size(); ++i) {
            const std::uint8_t byte = state.byte(row, std::size_t(head[i].label));
            const bool present = byte & PRESENT;
            if (options.whole_instances ? some_open : (byte & (OPEN_PRESENT | OPEN_ABSENT)) != 0) sum[present == (head[i].sign != 0) ? 0 : 1] += weight;
            if (present) sum[2] += weight;
            if (n_terms_ == 1) continue;
            write(i, row, sum);
            sum = {0, 0, 0, weight};
        }
        if (n_terms_ == 1) write(0, row, sum);
    }
}

void FixedHead::write(std::size_t term, Row row, const Sum& sum) {
    const std::size_t at = term * state_.n_rows + row;
    if (number_ == Number::real)
        std::copy(sum.begin(), sum.end(), real_.begin() + std::ptrdiff_t(4 * at));
    else
        packed_[at] = std::uint64_t(sum[0]) | std::uint64_t(sum[1]) << 16 | std::uint64_t(sum[2]) << 32 | std::uint64_t(sum[3]) << 48;
}

// A sum as the kernels write it.
FixedHead::Sum FixedHead::sum_at(const Buffer<std::uint8_t>& sums, std::size_t at) const {
    if (number_ == Number::narrow) {
        std::uint64_t word;
        std::memcpy(&word, sums.data() + sizeof word * at, sizeof word);
        return {double(word & 0xffff), double(word >> 16 & 0xffff), double(word >> 32 & 0xffff), double(word >> 48)};
    }
    if (number_ == Number::wide) {
        std::uint32_t words[4];
        std::memcpy(words, sums.data() + sizeof words * at, sizeof words);
        return {double(words[0]), double(words[1]), double(words[2]), double(words[3])};
    }
    Sum sum;
    std::memcpy(sum.data(), sums.data() + sizeof sum * at, sizeof sum);
    return sum;
}

FixedHead::Worth FixedHead::worth_of(const std::vector<Row>& rows) const {
    static constexpr std::uint8_t ONE_VALUE = 0;
    const RefineKernels& kernel = kernels().refine[int(number_)];
    Buffer<std::uint8_t> sums(kernel.bytes);
    std::vector<double> value(1);
    Worth worth{0, 0, 0};
    double total = 0;
    for (std::size_t term = 0; term < n_terms_; ++term) {
        std::memset(sums.data(), 0, sums.size());
        for (Row row : rows) add_row(row, term, sums.data());
        const Sum sum = sum_at(sums, ONE_VALUE);
        const double tn = absent_[term] - absent_in(sum), fn = present_[term] - sum[2];
        options_.evaluate(&sum[0], &sum[1], &tn, &fn, 1, value.data());
        total = term == 0 ? value[0] : total + value[0];
        worth.tp += sum[0];
        worth.fp += sum[1];
    }
    worth.value = mean_value(total);
    return worth;
}

// The same as the kernels do, for one row.
void FixedHead::add_row(Row row, std::size_t term, std::uint8_t* to) const {
    static constexpr std::array<std::uint32_t, 1> ONE_SLOT{0};
    kernels().refine[int(number_)].add_listed(ONE_SLOT, contribution(term, row), 0, to);
}

// --- dense attributes

void FixedHead::visit(std::size_t a, const std::vector<Row>& rows, Workspace& work, const Offer& offer) const {
    const RefineKernels& kernel = kernels().refine[int(number_)];
    const std::size_t values = std::size_t(state_.attribute(a).values), stride = values + 1;  // one for missing values
    const std::size_t bytes = n_terms_ * stride * kernel.bytes;
    if (work.sums.size() < bytes) work.sums.resize(bytes);
    const bool is_long = values > 256 && values > 4 * rows.size(), by_rows = is_long || some_weigh_nothing_ || !screens_;
    state_.with_codes(a, [&](const auto* codes) {
        if (by_rows) {
            work.has_row.assign((stride + 63) / 64, 0);
            for (Row row : rows) work.has_row[codes[row] / 64] |= std::uint64_t(1) << codes[row] % 64;
        }
        if (is_long)  // only what is used is made zero
            for (std::size_t term = 0; term < n_terms_; ++term)
                for (Row row : rows) std::memset(work.sums.data() + (term * stride + codes[row]) * kernel.bytes, 0, kernel.bytes);
        else
            std::memset(work.sums.data(), 0, bytes);
        for (std::size_t term = 0; term < n_terms_; ++term)
            kernel.add[code_kind(sizeof *codes)](codes, rows.data(), rows.size(), contributions(term), work.sums.data() + term * stride * kernel.bytes);
    });
    if (!by_rows) return screen_values(a, values, work, offer);
    work.values.clear();
    for (std::size_t word = 0; word < work.has_row.size(); ++word)
        for (std::uint64_t left = work.has_row[word]; left; left &= left - 1) work.values.push_back(std::int32_t(word * 64 + std::size_t(std::countr_zero(left))));
    if (!work.values.empty() && std::size_t(work.values.back()) == values) work.values.pop_back();
    work.groups.clear();
    for (std::size_t term = 0; term < n_terms_; ++term)
        for (std::int32_t value : work.values) work.groups.push_back(sum_at(work.sums, term * stride + std::size_t(value)));
    value_groups(a, work, offer);
    finish(work, offer);
}

// One quotient, all values in order: what passes the screen is valued exactly.
void FixedHead::screen_values(std::size_t a, std::size_t values, Workspace& work, const Offer& offer) const {
    const RefineKernels& kernel = kernels().refine[int(number_)];
    const bool nominal = state_.attribute(a).nominal;
    Sum total{};
    if (!nominal) kernel.cumulate(work.sums.data(), values);
    for (std::size_t v = nominal ? 0 : values - 1; v < values; ++v) total = total + sum_at(work.sums, v);
    const Screen screen = screen_for(offer.floor(), total);
    const double of_all = screen.score(total);
    work.scores.resize(values);
    kernel.score(work.sums.data(), values, screen.of, work.scores.data());
    const auto value = [&](const Split& split, const Sum& sum) {
        if (!admissible(sum[0], sum[1], sum[3])) return;
        const double own = mean_value(value_of(options_.heuristic, sum[0], sum[1], absent_[0] - absent_in(sum), present_[0] - sum[2]));
        if (is_worth(own) && own >= offer.floor()) offer.take(a, split, {own, sum[0], sum[1]});
    };
    for (std::size_t v = 0; v < values; ++v) {
        const bool own_side = work.scores[v] >= screen.least, other_side = !nominal && of_all - work.scores[v] >= screen.least;
        if (!own_side && !other_side) continue;
        const Sum sum = sum_at(work.sums, v);
        if (sum[3] == (nominal || v == 0 ? 0.0 : sum_at(work.sums, v - 1)[3])) continue;  // no row has this value
        if (nominal) {
            value({std::int32_t(v), 0, false}, sum);
            continue;
        }
        if (sum[3] == total[3]) return;  // no row has a higher one
        std::size_t above = v + 1;
        while (sum_at(work.sums, above)[3] == sum[3]) ++above;
        if (own_side) value({std::int32_t(v), std::int32_t(above), false}, sum);
        if (other_side) value({std::int32_t(v), std::int32_t(above), true}, total - sum);
    }
}

// Values the candidates from what the groups of rows with one value each contribute.
void FixedHead::value_groups(std::size_t a, Workspace& work, const Offer& offer) const {
    const bool nominal = state_.attribute(a).nominal;
    const std::size_t groups = work.values.size();
    if (groups == 0 || (!nominal && groups == 1)) return;
    std::vector<Sum>& totals = work.totals;
    totals.assign(n_terms_, Sum{});
    for (std::size_t term = 0; term < n_terms_; ++term)
        for (std::size_t g = 0; g < groups; ++g) {
            totals[term] = totals[term] + work.groups[term * groups + g];
            if (!nominal) work.groups[term * groups + g] = totals[term];
        }
    const Screen screen = screen_for(offer.floor(), totals[0]);
    const double of_all = screen.score(totals[0]);
    for (std::size_t g = 0; g < (nominal ? groups : groups - 1); ++g) {
        const double score = screen.score(work.groups[g]);
        for (int greater = 0; greater < (nominal ? 1 : 2); ++greater)
            if (!screens_ || (greater ? of_all - score : score) >= screen.least)
                add_candidate(a, split_at(work, nominal, g, greater), work.groups, groups, g, greater ? totals.data() : nullptr, work);
    }
    if (!options_.is_custom()) finish(work, offer);
}

FixedHead::Screen FixedHead::screen_for(double floor, const Sum& total) const {
    const Quotient& q = quotient_;
    const double f = options_.refine_against_lifted ? floor : floor / lift_;
    const bool asks = std::isfinite(f);
    double weight[4];  // of TP, FP, TN, FN
    for (int i = 0; i < 4; ++i) weight[i] = asks ? q.top[i] - f * q.bottom[i] : 0.0;
    const double constant = (asks ? q.top_constant - f * q.bottom_constant : 0.0) + weight[2] * absent_[0] + weight[3] * present_[0];
    Screen screen{{weight[0], weight[1], weight[2] - weight[3], -weight[2] * labels_of_term_}, 0};
    double largest = std::fabs(constant);
    for (std::size_t k = 0; k < 4; ++k) largest += std::fabs(screen.of[k]) * total[k];
    screen.least = -constant - 1e-9 * (largest + state_.total_weight + 1);
    return screen;
}

// A candidate that is valued with others: heuristics written in Python are slow to call. `totals`: those of the other side of `at`.
void FixedHead::add_candidate(std::size_t a, const Split& split, const std::vector<Sum>& groups, std::size_t stride, std::size_t at,
                              const Sum* totals, Workspace& work) const {
    const auto sum_of = [&](std::size_t term) {
        Sum sum = groups[term * stride + at];
        for (std::size_t k = 0; totals && k < 4; ++k) sum[k] = totals[term][k] - sum[k];
        return sum;
    };
    double tp = 0, fp = 0;
    for (std::size_t term = 0; term < n_terms_; ++term) {
        tp += sum_of(term)[0];
        fp += sum_of(term)[1];
    }
    if (!admissible(tp, fp, sum_of(0)[3])) return;
    for (std::size_t term = 0; term < n_terms_; ++term) {
        const Sum sum = sum_of(term);
        const double matrix[4] = {sum[0], sum[1], absent_[term] - absent_in(sum), present_[term] - sum[2]};
        for (int k = 0; k < 4; ++k) work.counts[k].push_back(matrix[k]);
    }
    work.waiting.push_back({a, split, tp, fp});
}

void FixedHead::finish(Workspace& work, const Offer& offer) const {
    if (work.waiting.empty()) return;
    const auto& [tp, fp, tn, fn] = work.counts;
    work.evaluated.resize(tp.size());
    options_.evaluate(tp.data(), fp.data(), tn.data(), fn.data(), tp.size(), work.evaluated.data());
    for (std::size_t i = 0; i < work.waiting.size(); ++i) {
        double sum = work.evaluated[i * n_terms_];
        for (std::size_t term = 1; term < n_terms_; ++term) sum += work.evaluated[i * n_terms_ + term];
        const auto& candidate = work.waiting[i];
        const double value = mean_value(sum);
        if (is_worth(value) && value >= offer.floor()) offer.take(candidate.attribute, candidate.split, {value, candidate.tp, candidate.fp});
    }
    work.waiting.clear();
    for (auto& counts : work.counts) counts.clear();
}

// --- sparse attributes

void FixedHead::visit_sparse(const std::vector<Row>& rows, Workspace& work, const Offer& offer) const {
    const RefineKernels& kernel = kernels().refine[int(number_)];
    const SparseValues& sparse = state_.prepared.sparse;
    const auto is_allowed = [&](std::size_t a) { return options_.allowed_attributes.empty() || options_.allowed_attributes[a]; };
    Buffer<std::uint8_t>& sums = work.sparse_sums;
    const std::size_t every = sparse.n_slots(), term_bytes = n_terms_ * kernel.bytes;  // behind the slots: all rows
    if (sums.size() < (every + 1) * term_bytes) sums.assign((every + 1) * term_bytes, 0);
    std::size_t entries = 0;
    for (Row row : rows) entries += sparse.slots_of(row).size();
    const bool marks = entries < every || some_weigh_nothing_;
    work.has_row.assign(marks ? every / 64 + 1 : 0, 0);
    for (Row row : rows) {
        const auto slots = sparse.slots_of(row);
        for (std::size_t i = 0; marks && i < slots.size(); ++i) work.has_row[slots[i] / 64] |= std::uint64_t(1) << slots[i] % 64;
        for (std::size_t term = 0; term < n_terms_; ++term) {
            kernel.add_listed(slots, contribution(term, row), term_bytes, sums.data() + term * kernel.bytes);
            add_row(row, term, sums.data() + every * term_bytes + term * kernel.bytes);
        }
    }
    work.touched.clear();
    for (std::uint32_t slot = 0; !marks && slot < every; ++slot)
        if (sum_at(sums, slot * n_terms_)[3] > 0) work.touched.push_back(slot);
    for (std::size_t word = 0; word < work.has_row.size(); ++word)
        for (std::uint64_t left = work.has_row[word]; left; left &= left - 1) work.touched.push_back(std::uint32_t(word * 64 + std::size_t(std::countr_zero(left))));
    std::vector<std::uint32_t> counts;  // rows per slot, where a part of them has no weight
    if (some_weigh_nothing_) {
        counts.assign(sparse.n_slots(), 0);
        for (Row row : rows)
            for (std::uint32_t slot : sparse.slots_of(row)) ++counts[slot];
    }
    const Sum total = sum_at(sums, every * n_terms_);
    Screen screen = screen_for(offer.floor(), total);
    std::size_t next = 0;
    bool all_usual = false;  // some attribute was visited that all rows have the usual value of
    for (const std::uint32_t a : sparse.attributes()) {
        const Attribute& attribute = state_.attribute(a);
        const std::size_t first = next, end = sparse.end_slot(a);
        while (next < work.touched.size() && work.touched[next] < end) ++next;
        // All that have only their usual value are worth the same: the first stands for them, but in a wide beam.
        if (first == next && (!attribute.nominal || (all_usual && options_.beam_width == 1))) continue;
        if (!is_allowed(a)) continue;
        all_usual |= first == next;
        if (screens_ && next == first + 1) {  // two groups of rows: most attributes end here
            const double score = screen.score(sum_at(sums, work.touched[first]));
            if (score < screen.least && screen.score(total) - score < screen.least) continue;
            screen = screen_for(offer.floor(), total);
        }
        std::vector<Sum>& usual = work.usual;
        usual.resize(n_terms_);
        std::size_t listed = 0;
        for (std::size_t term = 0; term < n_terms_; ++term) usual[term] = sum_at(sums, every * n_terms_ + term);
        for (std::size_t i = first; i < next; ++i) {
            for (std::size_t term = 0; term < n_terms_; ++term) {
                const Sum own = sum_at(sums, work.touched[i] * n_terms_ + term);
                for (std::size_t k = 0; k < 4; ++k) usual[term][k] -= own[k];
            }
            if (some_weigh_nothing_) listed += counts[work.touched[i]];
        }
        const bool some_usual = some_weigh_nothing_ ? listed < rows.size() : usual[0][3] > 0;
        work.values.clear();
        for (std::size_t i = first; i < next; ++i) work.values.push_back(sparse.value_of(work.touched[i]));
        const auto place = std::lower_bound(work.values.begin(), work.values.end(), attribute.usual) - work.values.begin();
        if (some_usual) work.values.insert(work.values.begin() + place, attribute.usual);
        const std::size_t groups = work.values.size();
        work.groups.resize(n_terms_ * groups);
        for (std::size_t term = 0; term < n_terms_; ++term)
            for (std::size_t g = 0, i = first; g < groups; ++g)
                work.groups[term * groups + g] = some_usual && std::ptrdiff_t(g) == place ? usual[term] : sum_at(sums, work.touched[i++] * n_terms_ + term);
        value_groups(a, work, offer);
    }
    finish(work, offer);
    for (std::uint32_t slot : work.touched) std::memset(sums.data() + slot * term_bytes, 0, term_bytes);
    std::memset(sums.data() + every * term_bytes, 0, term_bytes);
}

}  // namespace plurule
