#include "fixed_head.hpp"

#include <algorithm>

namespace plurule {

FixedHead::FixedHead(const State& state, const Options& options, const std::vector<Assignment>& head, const std::vector<Row>& rows)
    : options_(options), asked_(state.asked), head_(head), per_label_(options.averages_labels && !options.example_based), n_rows_(state.n_rows) {
    blocks_ = options.example_based ? 2 : per_label_ ? head.size() : 1;
    lanes_ = 4 * blocks_ + 1;
    most_rows_ = (PackedCounts::LIMIT - 1) / head.size();
    packed_ = !state.weights && !options.example_based && !options.is_custom() && most_rows_ > 0 && n_rows_ * head.size() < (std::size_t(1) << 31);
    packed_ ? words_.resize(blocks_ * n_rows_) : of_rows_.resize(n_rows_ * lanes_);
    is_quotient_ = as_quotient(options.heuristic, quotient_);
    lift_ = options.refine_against_lifted ? 1.0 : options.lift[head.size() - 1];
    absent_.assign(blocks_, 0);
    present_.assign(blocks_, 0);
    std::vector<double> lanes(lanes_);
    if (packed_) {
        for (std::size_t i = 0; i < head.size(); ++i) {
            const std::int32_t present = state.counts[std::size_t(head[i].label)].present;
            absent_[per_label_ ? i : 0] += double(state.training.rows.size()) - present;
            present_[per_label_ ? i : 0] += present;
        }
    } else {
        for (Row row : state.training.rows) {
            fill(state, row, lanes);
            for (std::size_t b = 0; b < blocks_; ++b) {
                absent_[b] += lanes[4 * b + 2];
                present_[b] += lanes[4 * b + 3];
            }
        }
    }
    for (Row row : rows) {
        fill(state, row, lanes);
        if (packed_)
            for (std::size_t b = 0; b < blocks_; ++b)
                words_[b * n_rows_ + row] =
                    PackedCounts::pack(std::uint64_t(lanes[4 * b]), std::uint64_t(lanes[4 * b + 1]), std::uint64_t(lanes[4 * b + 3]));
        else
            std::copy(lanes.begin(), lanes.end(), of_rows_.begin() + std::ptrdiff_t(std::size_t(row) * lanes_));
    }
}

void FixedHead::fill(const State& state, Row row, std::vector<double>& lanes) const {
    std::fill(lanes.begin(), lanes.end(), 0.0);
    const double weight = state.weight(row);
    bool some_open = false, all_right = true, any_present = false;
    for (const auto& [label, sign] : head_) {
        const std::size_t pair = state.at(row, std::size_t(label));
        some_open |= state.open[pair];
        all_right &= (state.truth[pair] != 0) == (sign != 0);
        any_present |= state.truth[pair] != 0;
    }
    for (std::size_t i = 0; i < head_.size(); ++i) {
        const std::size_t pair = state.at(row, std::size_t(head_[i].label));
        const bool present = state.truth[pair] != 0;
        double* block = lanes.data() + (per_label_ ? 4 * i : 0);
        if (options_.whole_instances ? some_open : state.open[pair])
            block[present == (head_[i].sign != 0) ? 0 : 1] += weight;
        block[present ? 3 : 2] += weight;
    }
    if (options_.example_based && some_open) {
        lanes[4 + (all_right ? 0 : 1)] = weight;
        lanes[4 + (any_present ? 3 : 2)] = weight;
    }
    lanes.back() = weight;
}

// --- single bodies

void FixedHead::add(const Row* rows, std::size_t count, double* sums) const {
    for (std::size_t i = 0; i < count; ++i) {
        const double* of_row = of_rows_.data() + std::size_t(rows[i]) * lanes_;
        for (std::size_t lane = 0; lane < lanes_; ++lane) sums[lane] += of_row[lane];
    }
}

FixedHead::Total FixedHead::total_of(const std::vector<Row>& rows) const {
    Total total;
    total.rows = rows.size();
    if (!packed_) {
        total.lanes.assign(lanes_, 0.0);
        add(rows.data(), rows.size(), total.lanes.data());
        return total;
    }
    for (std::size_t b = 0; b < blocks_; ++b) {
        auto& sums = total.packed.emplace_back();
        for (std::size_t begin = 0; begin < rows.size(); begin += most_rows_) {
            std::uint64_t sum = 0;
            for (std::size_t i = begin; i < std::min(rows.size(), begin + most_rows_); ++i) sum += words(b)[rows[i]];
            for (int lane = 0; lane < 3; ++lane) sums[std::size_t(lane)] += PackedCounts::get(sum, lane);
        }
    }
    return total;
}

FixedHead::Worth FixedHead::worth_of(const Total& total) const {
    std::vector<double> sums = total.lanes, counts[4];
    for (const auto& [right, wrong, present] : total.packed) {
        const double labels = per_label_ ? 1.0 : double(head_.size());
        for (double sum : {double(right), double(wrong), labels * double(total.rows) - double(present), double(present)}) sums.push_back(sum);
    }
    append_counts(sums, counts);
    std::vector<double> values;
    evaluate(counts, values);
    return {values[0], pairs(sums, 0), pairs(sums, 1)};
}

double FixedHead::pairs(const std::vector<double>& sums, std::size_t lane) const {
    double total = 0;
    for (std::size_t b = 0; b < (per_label_ ? blocks_ : 1); ++b) total += sums[4 * b + lane];
    return total;
}

// The four counts of each block that is valued, appended to arrays.
void FixedHead::append_counts(const std::vector<double>& sums, std::vector<double> (&counts)[4]) const {
    for (std::size_t b = first_valued(); b < blocks_; ++b) {
        counts[0].push_back(sums[4 * b]);
        counts[1].push_back(sums[4 * b + 1]);
        counts[2].push_back(absent_[b] - sums[4 * b + 2]);
        counts[3].push_back(present_[b] - sums[4 * b + 3]);
    }
}

// The values of candidates, all at once: heuristics written in Python are slow to call.
void FixedHead::evaluate(const std::vector<double> (&counts)[4], std::vector<double>& values) const {
    const std::size_t count = counts[0].size(), of_each = blocks_ - first_valued();
    std::vector<double> of_blocks(count);
    options_.evaluate(counts[0].data(), counts[1].data(), counts[2].data(), counts[3].data(), count, of_blocks.data());
    values.clear();
    for (std::size_t at = 0; at < count; at += of_each) {
        double sum = of_blocks[at];
        for (std::size_t i = 1; i < of_each; ++i) sum += of_blocks[at + i];
        values.push_back(mean_value(sum));
    }
}

// Whether a candidate may stand, and reaches `floor`.
bool FixedHead::admissible(const Worth& worth, double floor, double covered) const {
    return worth.value >= floor && worth.tp > 0 && asked_.met(worth.tp, worth.fp) &&
           (!options_.is_additive() || worth.value > 0) && covered >= options_.min_coverage;
}

std::unique_ptr<RefinementBounds> FixedHead::bounds(const std::vector<std::size_t>& attributes, const std::vector<Row>& rows, double value) const {
    if (!packed_ || !one_quotient()) return nullptr;
    return std::make_unique<RefinementBounds>(quotient_, block(0), options_.min_coverage, words_, attributes, rows, unlifted(value));
}

// --- the candidates of an attribute

void FixedHead::visit(const Prepared& prepared, std::size_t a, const GroupedRows& grouped, std::size_t n_known, const Scope& scope,
                      const Total& total, double floor, Workspace& work, const Offer& offer) const {
    if (!packed_) return visit_counted(prepared.attribute(a), a, grouped, n_known, total, work, offer);
    const Candidates candidates(prepared.attribute(a), grouped, n_known);
    const std::uint8_t* codes = prepared.is_packed(a) ? prepared.codes[a].data() : nullptr;
    const std::size_t slots = candidates.slots;
    const auto offer_at = [&](Slot slot, const Worth& worth, std::int32_t covered) {
        Place place;
        if (admissible(worth, floor, covered) && candidates.place_of(slot, place)) offer(a, place, worth);
    };
    if (one_quotient())
        return count_sides(0, candidates, grouped, n_known, codes, scope.rows, total, work, [&](std::size_t side, std::int32_t* const* lanes) {
            each_reaching(floor, slots, lanes, lanes[3], work, [&](std::size_t g, double value) {
                offer_at(Slot{g, side}, {value, double(lanes[0][g]), double(lanes[1][g])}, lanes[3][g]);
            });
        });
    work.covered.resize(2 * slots);
    for (auto* sums : {&work.tp, &work.fp}) sums->assign(2 * slots, 0);
    work.values.assign(2 * slots, 0.0);
    for (std::size_t b = 0; b < blocks_; ++b)
        count_sides(b, candidates, grouped, n_known, codes, scope.rows, total, work, [&](std::size_t side, std::int32_t* const* lanes) {
            add_values(b, slots, lanes, lanes[3], side * slots, work);
            std::copy_n(lanes[3], slots, work.covered.begin() + std::ptrdiff_t(side * slots));
        });
    for (std::size_t side = 0; side < (candidates.nominal ? 1 : 2); ++side)
        for (std::size_t g = 0; g <= grouped.groups(); ++g) {
            const std::size_t at = side * slots + g;
            offer_at(Slot{g, side}, {mean_value(work.values[at]), double(work.tp[at]), double(work.fp[at])}, work.covered[at]);
        }
}

// Counts what the candidates of an attribute cover, one array of slots each: right, wrong, present, rows. use(side, lanes) is
// called when the counts of a side are there.
template <class Use>
void FixedHead::count_sides(std::size_t b, const Candidates& candidates, const GroupedRows& grouped, std::size_t n_known,
                            const std::uint8_t* codes, const std::vector<Row>& rows, const Total& total, Workspace& work, Use&& use) const {
    const std::uint32_t groups = std::uint32_t(grouped.groups()), split = std::uint32_t(candidates.split);
    const std::size_t slots = candidates.slots;
    work.counts.resize(4 * slots);
    std::int32_t* lanes[4];
    for (std::size_t lane = 0; lane < 4; ++lane) {
        lanes[lane] = work.counts.data() + lane * slots;
        std::fill(lanes[lane] + groups, lanes[lane] + slots, 0);
    }
    for (std::uint32_t g = 0; g < groups; ++g) {
        const std::uint32_t before = g ? grouped.ends[g - 1] : 0;
        lanes[3][g] = std::int32_t(candidates.nominal ? grouped.ends[g] - before : g < split ? grouped.ends[g] : grouped.ends[groups - 1] - before);
    }
    const auto count = [&](std::uint32_t first, std::uint32_t last, bool descending) {
        const GroupSpan span{grouped.rows.data(), grouped.ends.data(), first, last, descending};
        kernels().count_words(span, words(b), !candidates.nominal, sums_fit(), lanes);
    };
    if (codes) {
        count_coded(words(b), candidates, grouped, codes, rows, lanes);
    } else if (candidates.nominal) {
        count(0, groups, false);
    } else {
        count(0, split, false);
        count(split, groups, true);
    }
    std::int32_t all[4] = {total.packed[b][0], total.packed[b][1], total.packed[b][2], std::int32_t(n_known)};
    for (Row row : grouped.missing)
        for (int lane = 0; lane < 3; ++lane) all[lane] -= PackedCounts::get(words(b)[row], lane);
    if (candidates.nominal) {
        for (std::size_t lane = 0; candidates.rest && lane < 4; ++lane) {
            lanes[lane][groups] = all[lane];
            for (std::size_t g = 0; g < groups; ++g) lanes[lane][groups] -= lanes[lane][g];
        }
        return use(0, lanes);
    }
    use(0, lanes);
    for (std::size_t lane = 0; lane < 4; ++lane)
        for (std::size_t g = 0; g < slots; ++g) lanes[lane][g] = all[lane] - lanes[lane][g];
    use(1, lanes);
}

void FixedHead::count_coded(const std::uint64_t* words, const Candidates& candidates, const GroupedRows& grouped, const std::uint8_t* codes,
                            const std::vector<Row>& rows, std::int32_t* const* lanes) const {
    std::int32_t of_codes[256][3] = {};
    for (std::size_t begin = 0; begin < rows.size(); begin += most_rows_) {
        std::uint64_t sums[256] = {};
        for (std::size_t i = begin; i < std::min(rows.size(), begin + most_rows_); ++i) sums[codes[rows[i]]] += words[rows[i]];
        for (std::int32_t code : grouped.ids)
            for (int lane = 0; lane < 3; ++lane) of_codes[code][lane] += PackedCounts::get(sums[code], lane);
    }
    for (int lane = 0; lane < 3; ++lane)
        for (std::size_t g = 0; g < grouped.groups(); ++g)
            lanes[lane][g] = of_codes[grouped.ids[g]][lane] + (g && !candidates.nominal ? lanes[lane][g - 1] : 0);
}

// The slots of a head of one quotient that may reach `floor`, with their values.
template <class Give>
void FixedHead::each_reaching(double floor, std::size_t slots, const std::int32_t* const* lanes, const std::int32_t* covered, Workspace& work,
                              Give&& give) const {
    work.found.resize(slots + 8);
    const std::size_t found = kernels().reaching(quotient_, block(0), unlifted(floor), slots, lanes, covered, work.found.data());
    for (std::size_t i = 0; i < found; ++i) {
        const std::size_t at = work.found[i];
        const std::int32_t present = lanes[2][at];
        give(at, mean_value(value_of(options_.heuristic, double(lanes[0][at]), double(lanes[1][at]),
                                     absent_[0] - double(block(0).labels * covered[at] - present), present_[0] - double(present))));
    }
}

void FixedHead::add_values(std::size_t b, std::size_t slots, const std::int32_t* const* lanes, const std::int32_t* covered, std::size_t at,
                           Workspace& work) const {
    kernels().add_values(options_.heuristic, block(b), slots, lanes, covered, work.values.data() + at, work.tp.data() + at,
                         work.fp.data() + at);
}

// Candidate by candidate, where counts are not packed.
void FixedHead::visit_counted(const Attribute& attribute, std::size_t a, const GroupedRows& grouped, std::size_t n_known, const Total& total,
                              Workspace& work, const Offer& offer) const {
    std::vector<double> known = total.lanes, counts[4], values;
    work.running.assign(lanes_, 0.0);
    add(grouped.missing.data(), grouped.missing.size(), work.running.data());
    for (std::size_t i = 0; i < lanes_; ++i) known[i] -= work.running[i];
    struct Waiting {
        Place place;
        double tp, fp, covered;
    };
    std::vector<Waiting> waiting;
    visit_candidates(
        attribute, grouped, known, n_known,
        [&](std::size_t group, double* sums) { add(grouped.begin(group), grouped.size(group), sums); },
        [&](const Place& place, const std::vector<double>& sums) {
            if (!(pairs(sums, 0) > 0) || sums.back() < options_.min_coverage) return;
            append_counts(sums, counts);
            waiting.push_back({place, pairs(sums, 0), pairs(sums, 1), sums.back()});
        },
        work.running, work.other);
    if (waiting.empty()) return;
    evaluate(counts, values);
    for (std::size_t i = 0; i < waiting.size(); ++i)
        if (const Worth worth{values[i], waiting[i].tp, waiting[i].fp}; admissible(worth, NOTHING, waiting[i].covered))
            offer(a, waiting[i].place, worth);
}

// --- the candidates of sparse attributes

void FixedHead::visit_sparse(const Prepared& prepared, const std::vector<Row>& rows, const Total& total, double floor, Workspace& work,
                             const std::function<bool(std::size_t)>& is_allowed, const Offer& offer) const {
    sum_slots(prepared.sparse, rows, work);
    const std::size_t slots = (2 * work.touched.size() + 1 + 7) / 8 * 8;
    work.counts.assign(3 * blocks_ * slots, 0);
    work.covered.assign(slots, 0);
    work.spots.clear();
    lay_out_spots(prepared, total, slots, work, is_allowed);
    for (std::uint32_t slot : work.touched) {
        work.hits[slot] = 0;
        std::fill_n(work.sums.begin() + std::ptrdiff_t(slot * blocks_), blocks_, 0);
    }
    std::int32_t* lanes[3];
    const auto choose_lanes = [&](std::size_t b) {
        for (std::size_t lane = 0; lane < 3; ++lane) lanes[lane] = work.counts.data() + (3 * b + lane) * slots;
    };
    const auto offer_at = [&](std::size_t i, const Worth& worth) {
        if (i >= work.spots.size() || !admissible(worth, floor, work.covered[i])) return;
        auto& [a, place, side] = work.spots[i];
        if (side >= 0) {
            const Candidates candidates(prepared.attributes[a], prepared.grouped[a], prepared.n_rows);
            candidates.place_of(candidates.nominal ? Slot{std::size_t(side), 0} : Slot{0, std::size_t(side)}, place);
        }
        offer(a, place, worth);
    };
    choose_lanes(0);
    if (one_quotient())
        return each_reaching(floor, slots, lanes, work.covered.data(), work,
                             [&](std::size_t i, double value) { offer_at(i, {value, double(lanes[0][i]), double(lanes[1][i])}); });
    for (auto* sums : {&work.tp, &work.fp}) sums->assign(slots, 0);
    work.values.assign(slots, 0.0);
    for (std::size_t b = 0; b < blocks_; ++b) {
        choose_lanes(b);
        add_values(b, slots, lanes, work.covered.data(), 0, work);
    }
    for (std::size_t i = 0; i < work.spots.size(); ++i) offer_at(i, {mean_value(work.values[i]), double(work.tp[i]), double(work.fp[i])});
}

// What the rows sum to in each slot.
void FixedHead::sum_slots(const SparseRows& index, const std::vector<Row>& rows, Workspace& work) const {
    work.hits.resize(index.n_slots());
    work.sums.resize(index.n_slots() * blocks_);
    work.touched.clear();
    for (Row row : rows)
        for (std::uint32_t slot : index.slots_of(row)) {
            if (work.hits[slot]++ == 0) work.touched.push_back(slot);
            for (std::size_t b = 0; b < blocks_; ++b) work.sums[slot * blocks_ + b] += words(b)[row];
        }
    if (work.touched.size() < index.n_slots() / 8) return std::sort(work.touched.begin(), work.touched.end());
    work.touched.clear();
    for (std::uint32_t slot = 0; slot < index.n_slots(); ++slot)
        if (work.hits[slot]) work.touched.push_back(slot);
}

// The candidates of the slots that were touched, with their counts.
void FixedHead::lay_out_spots(const Prepared& prepared, const Total& total, std::size_t slots, Workspace& work,
                              const std::function<bool(std::size_t)>& is_allowed) const {
    Place place;
    std::int32_t side = -1;
    work.sum.assign(blocks_, 0);
    // The rows that were summed up, or all others.
    const auto push = [&](std::uint32_t a, std::size_t covered, bool others) {
        const std::size_t at = work.spots.size();
        work.spots.push_back({a, place, side});
        work.covered[at] = std::int32_t(others ? total.rows - covered : covered);
        for (std::size_t b = 0; b < blocks_; ++b)
            for (std::size_t lane = 0; lane < 3; ++lane) {
                const std::int32_t sum = PackedCounts::get(work.sum[b], int(lane));
                work.counts[(3 * b + lane) * slots + at] = others ? total.packed[b][lane] - sum : sum;
            }
    };
    const SparseRows& index = prepared.sparse;
    auto untouched = index.nominal().begin();
    for (std::size_t first = 0, last; first < work.touched.size(); first = last) {
        const std::uint32_t a = index.attribute_of(work.touched[first]);
        for (last = first; last < work.touched.size() && index.attribute_of(work.touched[last]) == a;) ++last;
        while (untouched != index.nominal().end() && (*untouched == a || (*untouched < a && !is_allowed(*untouched)))) ++untouched;
        if (!is_allowed(a)) continue;
        const std::size_t groups = last - first;
        // Most attributes list one value only; where it splits is looked up where a candidate is offered.
        if (const std::uint32_t slot = work.touched[first]; index.is_only(slot) && std::size_t(work.hits[slot]) < total.rows) {
            std::copy_n(work.sums.begin() + std::ptrdiff_t(slot * blocks_), blocks_, work.sum.begin());
            for (side = 0; side < 2; ++side) push(a, std::size_t(work.hits[slot]), side == 1);
            side = -1;
            continue;
        }
        work.listed.ids.resize(groups);
        work.listed.ends.resize(groups);
        std::uint32_t end = 0;
        for (std::size_t g = 0; g < groups; ++g) {
            work.listed.ids[g] = prepared.grouped[a].ids[work.touched[first + g] - index.first_slot(a)];
            work.listed.ends[g] = end += std::uint32_t(work.hits[work.touched[first + g]]);
        }
        const Candidates candidates(prepared.attributes[a], work.listed, total.rows);
        std::size_t covered = 0;
        const auto begin = [&] {
            covered = 0;
            work.sum.assign(blocks_, 0);
        };
        const auto visit = [&](std::size_t g) {
            const std::uint32_t slot = work.touched[first + g];
            covered += std::size_t(work.hits[slot]);
            for (std::size_t b = 0; b < blocks_; ++b) work.sum[b] += work.sums[slot * blocks_ + b];
            if (candidates.place_of(Slot{g, 0}, place)) push(a, covered, false);
            if (candidates.place_of(candidates.nominal ? Slot{groups, 0} : Slot{g, 1}, place)) push(a, covered, true);
        };
        from_both_ends(candidates, groups, begin, visit);
    }
    // Where no row lists a value, all have the same: the first of these attributes stands for all of them.
    while (untouched != index.nominal().end() && !is_allowed(*untouched)) ++untouched;
    if (untouched == index.nominal().end()) return;
    place = Place{prepared.attributes[*untouched].rest, 0, false};
    work.sum.assign(blocks_, 0);
    push(*untouched, 0, true);
}

}  // namespace plurule
