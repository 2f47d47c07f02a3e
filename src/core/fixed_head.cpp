#include "fixed_head.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <unordered_map>

namespace plurule {

namespace {

constexpr std::size_t MOST_WORDS = std::numeric_limits<std::uint16_t>::max() + std::size_t(1);
constexpr std::size_t FEW_LABELS = 50;  // have less than MOST_WORDS different words

}  // namespace

FixedHead::FixedHead(const State& state, const Options& options, const std::vector<Assignment>& head, const std::vector<Row>& rows)
    : options_(options), asked_(state.asked), head_(head), per_label_(options.averages_labels && !options.example_based), n_rows_(state.n_rows) {
    blocks_ = options.example_based ? 2 : per_label_ ? head.size() : 1;
    lanes_ = 4 * blocks_ + 1;
    most_rows_ = (PackedCounts::LIMIT - 1) / head.size();
    const bool can_differ = rows.size() <= MOST_WORDS || per_label_ || head.size() < FEW_LABELS;
    packed_ = !state.weights && !options.example_based && !options.is_custom() && most_rows_ > 0 && can_differ &&
              n_rows_ * head.size() < (std::size_t(1) << 31);
    packed_ ? which_.resize(blocks_ * n_rows_) : of_rows_.resize(n_rows_ * lanes_);
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
    std::unordered_map<std::uint64_t, std::uint16_t> numbers;
    std::array<std::uint16_t, 64> last{};  // by a few bits of their words: most rows have a word of those seen last
    const auto number_of = [&](const double* block) {
        const std::uint64_t word = PackedCounts::pack(std::uint64_t(block[0]), std::uint64_t(block[1]), std::uint64_t(block[3]));
        std::uint16_t& number = last[(word ^ word >> (PackedCounts::BITS - 2) ^ word >> (2 * PackedCounts::BITS - 4)) % last.size()];
        if (number < words_.size() && words_[number] == word) return number;
        const auto [at, is_new] = numbers.try_emplace(word, std::uint16_t(words_.size()));
        if (is_new) words_.push_back(word);
        return number = at->second;
    };
    for (Row row : rows) {
        fill(state, row, lanes);
        if (packed_)
            for (std::size_t b = 0; b < blocks_; ++b) which_[b * n_rows_ + row] = number_of(lanes.data() + 4 * b);
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

std::unique_ptr<RefinementBounds> FixedHead::bounds(const std::vector<std::size_t>& attributes, const std::vector<Row>& rows, double value, bool scans) const {
    if (!packed_ || !one_quotient()) return nullptr;
    return std::make_unique<RefinementBounds>(quotient_, block(0), options_.min_coverage, words(0), attributes, rows, unlifted(value), scans ? n_rows_ : 0);
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
    value_sides(slots, floor, work, offer_at, [&](std::size_t b, auto&& use) {
        count_sides(b, candidates, grouped, n_known, codes, scope.rows, total, work, use);
    });
}

// Offers candidates with their values. count(block, use) counts what they cover, and calls use(side, lanes) for each side.
template <class OfferAt, class Count>
void FixedHead::value_sides(std::size_t slots, double floor, Workspace& work, OfferAt&& offer_at, Count&& count) const {
    if (one_quotient())
        return count(0, [&](std::size_t side, std::int32_t* const* lanes) {
            each_reaching(floor, slots, lanes, work, [&](std::size_t g, double value) {
                offer_at(Slot{g, side}, Worth{value, double(lanes[0][g]), double(lanes[1][g])}, lanes[3][g]);
            });
        });
    for (auto* sums : {&work.tp, &work.fp, &work.covered}) sums->assign(2 * slots, 0);
    work.values.assign(2 * slots, 0.0);
    for (std::size_t b = 0; b < blocks_; ++b)
        count(b, [&](std::size_t side, std::int32_t* const* lanes) {
            const std::size_t at = side * slots;
            kernels().add_values(options_.heuristic, block(b), slots, lanes, lanes[3], work.values.data() + at, work.tp.data() + at,
                                 work.fp.data() + at);
            std::copy_n(lanes[3], slots, work.covered.begin() + std::ptrdiff_t(at));
        });
    for (std::size_t side : {0, 1})
        for (std::size_t g = 0; g < slots; ++g) {
            const std::size_t at = side * slots + g;
            offer_at(Slot{g, side}, Worth{mean_value(work.values[at]), double(work.tp[at]), double(work.fp[at])}, work.covered[at]);
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

void FixedHead::count_coded(RowWords words, const Candidates& candidates, const GroupedRows& grouped, const std::uint8_t* codes,
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
void FixedHead::each_reaching(double floor, std::size_t slots, const std::int32_t* const* lanes, Workspace& work, Give&& give) const {
    work.found.resize(slots + 8);
    const std::size_t found = kernels().reaching(quotient_, block(0), unlifted(floor), slots, lanes, lanes[3], work.found.data());
    for (std::size_t i = 0; i < found; ++i) {
        const std::size_t at = work.found[i];
        const std::int32_t present = lanes[2][at];
        give(at, mean_value(value_of(options_.heuristic, double(lanes[0][at]), double(lanes[1][at]),
                                     absent_[0] - double(block(0).labels * lanes[3][at] - present), present_[0] - double(present))));
    }
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

void FixedHead::visit_sparse(const Prepared& prepared, const std::vector<Row>& rows, const std::vector<Row>& before, const Total& total,
                             const std::function<double()>& floor, Workspace& work, const Offer& offer) const {
    sum_slots(prepared.sparse, rows, before, work);
    const std::size_t slots = (work.touched.size() + 1 + 7) / 8 * 8;
    work.first = work.last = 0;
    const auto offer_at = [&](Slot slot, const Worth& worth, std::int32_t covered) {
        std::uint32_t a;
        Place place;
        if (admissible(worth, floor(), covered) && find_sparse(prepared, slot, total.rows, work, a, place)) offer(a, place, worth);
    };
    value_sides(slots, floor(), work, offer_at, [&](std::size_t b, auto&& use) { count_slots(b, prepared, slots, total, work, use); });
}

// What the rows sum to in each slot: by what was lost since the last call, if that is less.
void FixedHead::sum_slots(const SparseRows& index, const std::vector<Row>& rows, const std::vector<Row>& before, Workspace& work) const {
    const auto is_untouched = [&](std::uint32_t slot) { return work.sums[slot * work.width + blocks_] == 0; };
    if (!before.empty() && before.size() < 2 * rows.size()) {
        for (std::size_t i = 0, kept = 0; i < before.size(); ++i)
            if (kept < rows.size() && rows[kept] == before[i])
                ++kept;
            else
                add_to_slots(before[i], true, index.slots_of(before[i]), work.sums.data());
        std::erase_if(work.touched, is_untouched);
        return;
    }
    for (std::uint32_t slot : work.touched) std::fill_n(work.sums.begin() + std::ptrdiff_t(slot * work.width), work.width, 0);
    work.touched.clear();
    work.width = blocks_ + 1;
    work.sums.resize(index.n_slots() * work.width);
    std::size_t listed = 0;
    for (Row row : rows) listed += index.slots_of(row).size();
    const bool few = listed < index.n_slots() / 8;
    for (Row row : rows) {
        for (std::uint32_t slot : index.slots_of(row))
            if (few && is_untouched(slot)) work.touched.push_back(slot);
        add_to_slots(row, false, index.slots_of(row), work.sums.data());
    }
    if (few) return std::sort(work.touched.begin(), work.touched.end());
    for (std::uint32_t slot = 0; slot < index.n_slots(); ++slot)
        if (!is_untouched(slot)) work.touched.push_back(slot);
}

void FixedHead::add_to_slots(Row row, bool lost, std::span<const std::uint32_t> slots, std::uint64_t* sums) const {
    const auto signed_of = [&](std::uint64_t number) { return lost ? -number : number; };
    if (blocks_ == 1) {
        using Pair = std::uint64_t __attribute__((vector_size(16)));
        const Pair of_row = {signed_of(words(0)[row]), signed_of(1)};
        for (std::uint32_t slot : slots) {
            Pair sum;
            std::memcpy(&sum, sums + 2 * std::size_t(slot), sizeof sum);
            sum += of_row;
            std::memcpy(sums + 2 * std::size_t(slot), &sum, sizeof sum);
        }
        return;
    }
    for (std::uint32_t slot : slots)
        for (std::size_t b = 0; b <= blocks_; ++b) sums[slot * (blocks_ + 1) + b] += signed_of(b < blocks_ ? words(b)[row] : 1);
}

// Counts what the candidates of the slots that were touched cover, as `count_sides` does, and behind them those of one that was not.
template <class Use>
void FixedHead::count_slots(std::size_t b, const Prepared& prepared, std::size_t slots, const Total& total, Workspace& work, Use&& use) const {
    const std::size_t touched = work.touched.size();
    work.counts.assign(4 * slots, 0);
    std::int32_t* lanes[4];
    for (std::size_t lane = 0; lane < 4; ++lane) lanes[lane] = work.counts.data() + lane * slots;
    for (std::size_t i = 0; i < touched; ++i) {
        const std::uint64_t* sums = work.sums.data() + work.touched[i] * work.width;
        for (int lane = 0; lane < 3; ++lane) lanes[lane][i] = PackedCounts::get(sums[b], lane);
        lanes[3][i] = std::int32_t(sums[blocks_]);
    }
    for (std::size_t first = 0, last; first < touched; first = last) {  // values of one attribute are added up from both ends
        last = first + 1;
        if (last == touched || prepared.sparse.attribute_of(work.touched[last]) != prepared.sparse.attribute_of(work.touched[first])) continue;
        const Candidates candidates = list_slots(prepared, first, total.rows, work);
        last = work.last;
        for (std::int32_t* lane : lanes) {
            std::int32_t sum = 0;
            from_both_ends(candidates, last - first, [&] { sum = 0; }, [&](std::size_t g) { lane[first + g] = sum += lane[first + g]; });
        }
    }
    use(0, lanes);
    const std::int32_t all[4] = {total.packed[b][0], total.packed[b][1], total.packed[b][2], std::int32_t(total.rows)};
    for (std::size_t lane = 0; lane < 4; ++lane)
        for (std::size_t i = 0; i < slots; ++i) lanes[lane][i] = all[lane] - lanes[lane][i];
    use(1, lanes);
}

// The candidates of the attribute of a slot that was touched; its values that were are listed, if they are not already.
Candidates FixedHead::list_slots(const Prepared& prepared, std::size_t at, std::size_t n_rows, Workspace& work) const {
    const SparseRows& index = prepared.sparse;
    const std::uint32_t a = index.attribute_of(work.touched[at]);
    if (at < work.first || at >= work.last) {
        for (work.first = at; work.first > 0 && index.attribute_of(work.touched[work.first - 1]) == a;) --work.first;
        work.listed.ids.clear();
        work.listed.ends.clear();
        std::uint64_t end = 0;
        for (work.last = work.first; work.last < work.touched.size() && index.attribute_of(work.touched[work.last]) == a; ++work.last) {
            const std::uint32_t slot = work.touched[work.last];
            work.listed.ids.push_back(prepared.grouped[a].ids[slot - index.first_slot(a)]);
            work.listed.ends.push_back(std::uint32_t(end += work.sums[slot * work.width + blocks_]));
        }
    }
    return {prepared.attributes[a], work.listed, n_rows};
}

// Whether a slot that was touched, or the one behind them, gives a candidate, and which.
bool FixedHead::find_sparse(const Prepared& prepared, Slot slot, std::size_t n_rows, Workspace& work, std::uint32_t& a, Place& place) const {
    const SparseRows& index = prepared.sparse;
    auto touched = work.touched.begin();
    const auto end = work.touched.end();
    if (slot.group < work.touched.size()) {
        a = index.attribute_of(touched[std::ptrdiff_t(slot.group)]);
        if (!is_allowed(a)) return false;
        const Candidates candidates = list_slots(prepared, slot.group, n_rows, work);
        return candidates.place_of(candidates.nominal && slot.side ? Slot{1, 0} : Slot{slot.group - work.first, slot.side}, place);
    }
    // Where no row lists a value, all have the same: the first of these attributes stands for all of them.
    for (auto at = index.nominal().begin(); slot.group == work.touched.size() && slot.side && at != index.nominal().end(); ++at) {
        while (touched != end && index.attribute_of(*touched) < *at) ++touched;
        if ((touched != end && index.attribute_of(*touched) == *at) || !is_allowed(*at)) continue;
        a = *at;
        place = Place{prepared.attributes[a].rest, 0, false};
        return true;
    }
    return false;
}

}  // namespace plurule
