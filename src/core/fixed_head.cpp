#include "fixed_head.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace plurule {

namespace {

// Calls visit(number) for the bits that are set, ascending.
template <class Visit>
void for_each_bit(const std::vector<std::uint64_t>& words, Visit&& visit) {
    for (std::size_t word = 0; word < words.size(); ++word)
        for (std::uint64_t left = words[word]; left; left &= left - 1) visit(word * 64 + std::size_t(std::countr_zero(left)));
}

std::uint64_t packed(const HeadSum& sum) {
    return std::uint64_t(sum[0]) | std::uint64_t(sum[1]) << 16 | std::uint64_t(sum[2]) << 32 | std::uint64_t(sum[3]) << 48;
}

HeadSum unpacked(std::uint64_t word) {
    return {double(word & 0xffff), double(word >> 16 & 0xffff), double(word >> 32 & 0xffff), double(word >> 48)};
}

void set_bit(std::vector<std::uint64_t>& words, std::size_t number) { words[number / 64] |= std::uint64_t(1) << number % 64; }

}  // namespace

FixedHead::FixedHead(const State& state, const Options& options, const std::vector<Assignment>& head,
                     const std::vector<Row>& rows)
    : state_(state),
      options_(options),
      required_(state.required),
      n_labels_(head.size()),
      n_terms_(options.averages_labels ? head.size() : 1),
      labels_of_term_(options.averages_labels ? 1.0 : double(head.size())),
      absent_(n_terms_, 0),
      present_(n_terms_, 0) {
    screens_ = as_quotient(options.heuristic, quotient_) && (n_terms_ == 1 || options.heuristic.formula == Formula::accuracy);
    const double most = state.total_weight * labels_of_term_;
    // A row contributes four numbers of 16 bits.
    const bool is_real = state.number == Number::real || most >= 0x1p31 || labels_of_term_ >= 0x1p16;
    number_ = is_real ? Number::real : most < 0x1p16 ? Number::narrow : Number::wide;
    for (std::size_t i = 0; state.weights && number_ == Number::wide && i < rows.size(); ++i)
        if (state.weight(rows[i]) * labels_of_term_ >= 0x1p16) number_ = Number::real;
    number_ == Number::real ? real_.resize(4 * n_terms_ * state.n_rows) : packed_.resize(n_terms_ * state.n_rows);
    for (std::size_t i = 0; i < head.size(); ++i) {
        const double present = state.labels[std::size_t(head[i].label)].present;
        absent_[n_terms_ > 1 ? i : 0] += state.weight_of_rows - present;
        present_[n_terms_ > 1 ? i : 0] += present;
    }
    for (Row row : rows) {
        const double weight = state.weight(row);
        some_weigh_nothing_ |= weight == 0;
        bool some_open = false;  // then the instance counts with all labels of the head
        for (const Assignment& assigned : head)
            some_open |= (state.byte(row, std::size_t(assigned.label)) & (OPEN_PRESENT | OPEN_ABSENT)) != 0;
        Sum sum{0, 0, 0, weight};
        for (std::size_t i = 0; i < head.size(); ++i) {
            const bool present = state.byte(row, std::size_t(head[i].label)) & PRESENT;
            if (some_open) sum[present == (head[i].sign != 0) ? 0 : 1] += weight;
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
        packed_[at] = packed(sum);
}

FixedHead::Sum FixedHead::contribution(std::size_t term, Row row) const {
    const std::size_t at = term * state_.n_rows + row;
    return number_ == Number::real ? Sum{real_[4 * at], real_[4 * at + 1], real_[4 * at + 2], real_[4 * at + 3]}
                                   : unpacked(packed_[at]);
}

// A sum as the kernels write it.
FixedHead::Sum FixedHead::sum_at(const std::vector<std::uint8_t>& sums, std::size_t at) const {
    if (number_ == Number::narrow) {
        std::uint64_t word;
        std::memcpy(&word, sums.data() + sizeof word * at, sizeof word);
        return unpacked(word);
    }
    if (number_ == Number::wide) {
        std::int32_t numbers[4];
        std::memcpy(numbers, sums.data() + sizeof numbers * at, sizeof numbers);
        return {double(numbers[0]), double(numbers[1]), double(numbers[2]), double(numbers[3])};
    }
    Sum sum;
    std::memcpy(sum.data(), sums.data() + sizeof sum * at, sizeof sum);
    return sum;
}

void FixedHead::put(const Sum& sum, std::uint8_t* to) const {
    if (number_ == Number::narrow) {
        const std::uint64_t word = packed(sum);
        std::memcpy(to, &word, sizeof word);
    } else if (number_ == Number::wide) {
        const std::int32_t numbers[4] = {std::int32_t(sum[0]), std::int32_t(sum[1]), std::int32_t(sum[2]), std::int32_t(sum[3])};
        std::memcpy(to, numbers, sizeof numbers);
    } else {
        std::memcpy(to, sum.data(), sizeof sum);
    }
}

// Scores of rows for the floor as it is now.
void FixedHead::score_rows(const std::vector<Row>& rows, Workspace& work, double floor) const {
    if (floor == work.floor && !work.row_scores.empty()) return;
    work.floor = floor;
    work.screen = screen_for(floor);
    work.row_scores.assign(rows.size(), 0);
    for (std::size_t term = 0; term < n_terms_; ++term)
        for (std::size_t i = 0; i < rows.size(); ++i) work.row_scores[i] += work.screen.score(contribution(term, rows[i]));
}

// Whether a candidate of a dense attribute may reach the floor. The score of a split is the sum of those of the rows up to it;
// `work.scores` has it for every value that some row has.
template <class Code>
bool FixedHead::may_reach(std::size_t a, const Code* codes, const std::vector<Row>& rows, Workspace& work,
                          RefinementSink& sink) const {
    const Attribute& attribute = state_.attribute(a);
    const std::size_t values = std::size_t(attribute.values);
    const bool is_long = values > 256 && values > 4 * rows.size();
    score_rows(rows, work, sink.floor());
    if (work.scores.size() <= values) work.scores.resize(values + 1);  // one for missing values
    double* const scores = work.scores.data();
    if (is_long)
        for (Row row : rows) scores[codes[row]] = 0;
    else
        std::fill_n(scores, values + 1, 0.0);
    for (std::size_t i = 0; i < rows.size(); ++i) scores[codes[rows[i]]] += work.row_scores[i];
    double up_to = 0, lowest = 0, highest = NOTHING;
    const auto look_at = [&](std::size_t value) {
        up_to = attribute.nominal ? scores[value] : up_to + scores[value];
        scores[value] = up_to;
        lowest = std::min(lowest, up_to);
        highest = std::max(highest, up_to);
    };
    if (is_long) {
        mark_values(codes, values, rows, work);
        for_each_bit(work.has_row, look_at);
    } else {
        for (std::size_t value = 0; value < values; ++value) look_at(value);
    }
    return highest >= work.screen.least || (!attribute.nominal && up_to - lowest >= work.screen.least);
}

// Marks the values that some row has.
template <class Code>
void FixedHead::mark_values(const Code* codes, std::size_t values, const std::vector<Row>& rows, Workspace& work) const {
    work.has_row.assign(values / 64 + 1, 0);
    for (Row row : rows)
        if (codes[row] < values) set_bit(work.has_row, codes[row]);
}

void FixedHead::visit(std::size_t a, const std::vector<Row>& rows, Workspace& work, RefinementSink& sink) const {
    const RefineKernels& kernel = kernels().refine[int(number_)];
    const std::size_t values = std::size_t(state_.attribute(a).values), stride = values + 1;  // one for missing values
    const std::size_t bytes = n_terms_ * stride * kernel.bytes;
    const bool scored = screens_ && 4 * values > rows.size();  // few values are scored by their sums
    if (work.sums.size() < bytes) work.sums.resize(bytes);
    state_.with_codes(a, [&](const auto* codes) {
        if (scored && !may_reach(a, codes, rows, work, sink)) return;
        std::memset(work.sums.data(), 0, bytes);
        const auto sums_of = [&](std::size_t term) { return work.sums.data() + term * stride * kernel.bytes; };
        for (std::size_t term = 0; term < n_terms_; ++term)
            kernel.add[code_kind(sizeof *codes)](codes, rows.data(), rows.size(), contributions(term), sums_of(term));
        work.values.clear();
        if (scored || some_weigh_nothing_) {
            mark_values(codes, values, rows, work);
            for_each_bit(work.has_row, [&](std::size_t value) { work.values.push_back(std::int32_t(value)); });
        }
        for (std::size_t value = 0; !scored && !some_weigh_nothing_ && value < values; ++value)
            if (sum_at(work.sums, value)[3] > 0) work.values.push_back(std::int32_t(value));
        for (std::size_t term = 0; term < n_terms_; ++term)
            for (std::size_t i = 0; i < work.values.size(); ++i)
                std::memmove(sums_of(term) + i * kernel.bytes, sums_of(term) + std::size_t(work.values[i]) * kernel.bytes,
                             kernel.bytes);
        value_groups(a, stride, scored, work, sink);
    });
    finish(work, sink);
}

// Values the candidates of an attribute from what groups of rows contribute, each with one of `work.values`. The sums of one term
// are `stride` sums behind those of the one before. `scored`: the scores of values are known.
void FixedHead::value_groups(std::size_t a, std::size_t stride, bool scored, Workspace& work, RefinementSink& sink) const {
    const RefineKernels& kernel = kernels().refine[int(number_)];
    const bool nominal = state_.attribute(a).nominal;
    const std::size_t groups = work.values.size();
    if (groups == 0) return;
    work.totals.assign(n_terms_, Sum{});
    for (std::size_t term = 0; term < n_terms_; ++term) {
        if (!nominal) kernel.cumulate(work.sums.data() + term * stride * kernel.bytes, groups);
        for (std::size_t g = nominal ? 0 : groups - 1; g < groups; ++g)
            work.totals[term] = work.totals[term] + sum_at(work.sums, term * stride + g);
    }
    const Screen screen = scored ? work.screen : screen_for(sink.floor());
    const auto score_at = [&](std::size_t g) {
        if (scored) return work.scores[std::size_t(work.values[g])];
        double score = 0;
        for (std::size_t term = 0; term < n_terms_; ++term) score += screen.score(sum_at(work.sums, term * stride + g));
        return score;
    };
    const double of_all = nominal || !screens_ ? 0 : score_at(groups - 1);
    for (std::size_t g = 0; g < (nominal ? groups : groups - 1); ++g) {
        const double score = screens_ ? score_at(g) : 0;
        const Split split{work.values[g], nominal ? 0 : work.values[g + 1], false};
        if (!screens_ || score >= screen.least) add_candidate(a, split, g, stride, false, work);
        if (!nominal && (!screens_ || of_all - score >= screen.least))
            add_candidate(a, {split.below, split.above, true}, g, stride, true, work);
    }
    if (!options_.is_custom()) finish(work, sink);
}

FixedHead::Screen FixedHead::screen_for(double floor) const {
    const Quotient& q = quotient_;
    const bool has_floor = std::isfinite(floor);
    double weight[4];  // of TP, FP, TN, FN
    for (int i = 0; i < 4; ++i) weight[i] = has_floor ? q.top[i] - floor * q.bottom[i] : 0.0;
    double constant = has_floor ? q.top_constant - floor * q.bottom_constant : 0.0;
    for (std::size_t term = 0; term < n_terms_; ++term) constant += weight[2] * absent_[term] + weight[3] * present_[term];
    Screen screen{{weight[0], weight[1], weight[2] - weight[3], -weight[2] * labels_of_term_}, 0};
    double largest = std::fabs(constant);
    for (double of : screen.of) largest += std::fabs(of) * state_.total_weight * double(n_labels_);
    screen.least = -constant - 1e-9 * (largest + state_.total_weight + 1);
    return screen;
}

// A candidate that is valued with others: heuristics written in Python are slow to call.
void FixedHead::add_candidate(std::size_t a, const Split& split, std::size_t group, std::size_t stride, bool other_side,
                              Workspace& work) const {
    const auto sum_of = [&](std::size_t term) {
        const Sum own = sum_at(work.sums, term * stride + group);
        return other_side ? work.totals[term] - own : own;
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

void FixedHead::finish(Workspace& work, RefinementSink& sink) const {
    if (work.waiting.empty()) return;
    const auto& [tp, fp, tn, fn] = work.counts;
    work.evaluated.resize(tp.size());
    options_.evaluate(tp.data(), fp.data(), tn.data(), fn.data(), tp.size(), work.evaluated.data());
    for (std::size_t i = 0; i < work.waiting.size(); ++i) {
        double value = work.evaluated[i * n_terms_];
        for (std::size_t term = 1; term < n_terms_; ++term) value += work.evaluated[i * n_terms_ + term];
        if (options_.averages_labels) value /= double(n_labels_);
        const auto& candidate = work.waiting[i];
        if (options_.is_additive() && value <= 0) continue;
        if (value >= sink.floor()) sink.offer(candidate.attribute, candidate.split, value, candidate.tp, candidate.fp);
    }
    work.waiting.clear();
    for (auto& counts : work.counts) counts.clear();
}

// --- sparse attributes

void FixedHead::visit_sparse(const std::vector<Row>& rows, Workspace& work, RefinementSink& sink) const {
    const RefineKernels& kernel = kernels().refine[int(number_)];
    const SparseValues& sparse = state_.columns.sparse;
    std::vector<std::uint8_t>& sums = work.sparse_sums;
    const std::size_t every = sparse.n_slots(), stride = n_terms_ * kernel.bytes;  // behind the slots: all rows
    if (sums.size() < (every + 1) * stride) sums.assign((every + 1) * stride, 0);
    for (std::size_t term = 0; term < n_terms_; ++term)
        kernel.add_listed(sparse.lists(), rows.data(), rows.size(), contributions(term), stride, every,
                          sums.data() + term * kernel.bytes);
    list_touched(rows, work);
    std::vector<std::uint32_t> counts;  // rows per slot, where a part of them has no weight
    if (some_weigh_nothing_) {
        counts.assign(every, 0);
        for (Row row : rows)
            for (std::uint32_t slot : sparse.slots_of(row)) ++counts[slot];
    }
    const Sum total = sum_at(sums, every * n_terms_);
    Screen screen = screen_for(sink.floor());
    std::size_t next = 0;
    bool all_usual = false;  // some attribute was visited that all rows have the usual value of
    for (const std::uint32_t a : sparse.attributes()) {
        const Attribute& attribute = state_.attribute(a);
        const std::size_t first = next, end = sparse.end_slot(a);
        while (next < work.touched.size() && work.touched[next] < end) ++next;
        // All that have only their usual value are worth the same: the first stands for them, but in a wide beam.
        if (first == next && (!attribute.nominal || (all_usual && options_.beam_width == 1))) continue;
        if (!options_.is_allowed(a)) continue;
        all_usual |= first == next;
        if (screens_ && n_terms_ == 1 && next == first + 1) {  // two groups of rows: most attributes end here
            const double score = screen.score(sum_at(sums, work.touched[first]));
            if (score < screen.least && screen.score(total) - score < screen.least) continue;
            screen = screen_for(sink.floor());
        }
        std::vector<Sum>& usual = work.usual;
        usual.clear();
        std::size_t listed = 0;
        for (std::size_t term = 0; term < n_terms_; ++term) {
            usual.push_back(sum_at(sums, every * n_terms_ + term));
            for (std::size_t i = first; i < next; ++i)
                usual[term] = usual[term] - sum_at(sums, work.touched[i] * n_terms_ + term);
        }
        for (std::size_t i = first; some_weigh_nothing_ && i < next; ++i) listed += counts[work.touched[i]];
        const bool some_usual = some_weigh_nothing_ ? listed < rows.size() : usual[0][3] > 0;
        work.values.clear();
        for (std::size_t i = first; i < next; ++i) work.values.push_back(sparse.value_of(work.touched[i]));
        const auto place = std::lower_bound(work.values.begin(), work.values.end(), attribute.usual) - work.values.begin();
        if (some_usual) work.values.insert(work.values.begin() + place, attribute.usual);
        const std::size_t groups = work.values.size();
        if (work.sums.size() < n_terms_ * groups * kernel.bytes) work.sums.resize(n_terms_ * groups * kernel.bytes);
        std::uint8_t* to = work.sums.data();
        for (std::size_t term = 0; term < n_terms_; ++term)
            for (std::size_t g = 0, i = first; g < groups; ++g, to += kernel.bytes)
                put(some_usual && std::ptrdiff_t(g) == place ? usual[term] : sum_at(sums, work.touched[i++] * n_terms_ + term),
                    to);
        value_groups(a, groups, false, work, sink);
    }
    finish(work, sink);
    for (std::uint32_t slot : work.touched) std::memset(sums.data() + slot * stride, 0, stride);
    std::memset(sums.data() + every * stride, 0, stride);
}

// The slots that some row lists, ascending: marked where that takes less than looking at all of them.
void FixedHead::list_touched(const std::vector<Row>& rows, Workspace& work) const {
    const SparseValues& sparse = state_.columns.sparse;
    work.touched.clear();
    std::size_t entries = 0;
    for (Row row : rows) entries += sparse.slots_of(row).size();
    if (entries >= sparse.n_slots() && !some_weigh_nothing_) {
        for (std::uint32_t slot = 0; slot < sparse.n_slots(); ++slot)
            if (sum_at(work.sparse_sums, slot * n_terms_)[3] > 0) work.touched.push_back(slot);
        return;
    }
    work.has_row.assign(sparse.n_slots() / 64 + 1, 0);
    for (Row row : rows)
        for (std::uint32_t slot : sparse.slots_of(row)) set_bit(work.has_row, slot);
    for_each_bit(work.has_row, [&](std::size_t slot) { work.touched.push_back(std::uint32_t(slot)); });
}

}  // namespace plurule
