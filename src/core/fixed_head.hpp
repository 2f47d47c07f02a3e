// Refining a body under a fixed head: only the counts of its labels matter, over the instances still covered.
#pragma once
#include <memory>
#include <vector>

#include "options.hpp"
#include "ranking.hpp"
#include "refinement_bounds.hpp"
#include "state.hpp"

namespace plurule {

// Per row, blocks of four lanes: right, wrong (both where covered), absent, present (left over where not covered).
// One block with everything summed, or one per label where values are averaged; example-based heuristics have a block of
// their own behind the summed one. The last lane is the weight of the row.
template <class Count>
class FixedHead {
   public:
    // `pack`: counts are kept in words where they fit, for `visit_packed`.
    FixedHead(const State& state, const Options& options, const std::vector<Assignment>& head, const std::vector<Row>& rows,
              bool pack = false)
        : options_(options), head_(head) {
        per_label_ = options.averages_labels && !options.example_based;
        blocks_ = options.example_based ? 2 : per_label_ ? head.size() : 1;
        lanes_ = (4 * blocks_ + 1 + 7) / 8 * 8;
        weight_lane_ = 4 * blocks_;
        packed_ = pack && std::is_same_v<Count, std::int32_t> && !options.example_based && options.heuristic.formula != Formula::custom &&
                  state.n_rows * head.size() < PackedCounts::LIMIT;
        if (packed_)
            words_.resize(blocks_ * state.n_rows);
        else
            of_rows_.resize(state.n_rows * lanes_);
        n_rows_ = state.n_rows;
        is_quotient_ = as_quotient(options.heuristic, quotient_);
        absent_.assign(blocks_, 0);
        present_.assign(blocks_, 0);
        std::vector<Count> lanes(lanes_);
        for (Row row : state.training.rows) {
            fill(state, row, lanes);
            for (std::size_t b = 0; b < blocks_; ++b) {
                absent_[b] += double(lanes[4 * b + 2]);
                present_[b] += double(lanes[4 * b + 3]);
            }
        }
        for (Row row : rows) {
            fill(state, row, lanes);
            if (packed_)
                for (std::size_t b = 0; b < blocks_; ++b)
                    words_[b * n_rows_ + row] = PackedCounts::pack(std::uint64_t(lanes[4 * b]), std::uint64_t(lanes[4 * b + 1]),
                                                                   std::uint64_t(lanes[4 * b + 3]));
            else
                std::copy(lanes.begin(), lanes.end(), of_rows_.begin() + std::ptrdiff_t(std::size_t(row) * lanes_));
        }
        lift_ = options.refine_against_lifted ? 1.0 : options.lift[head.size() - 1];
    }

    std::size_t lanes() const { return lanes_; }
    bool packed() const { return packed_; }

    struct Workspace {
        std::vector<std::int32_t> counts, covered, tp, fp;
        std::vector<double> values;
        std::vector<std::uint32_t> found;
        std::vector<Count> total, running, other;
        // Of sparse attributes: what is summed up per slot, the slots with a row, and the candidates they give.
        struct Spot {
            std::uint32_t attribute;
            Place place;
        };
        std::vector<std::uint64_t> sums, sum, rest;
        std::vector<std::int32_t> hits;
        std::vector<std::uint32_t> touched;
        std::vector<Spot> spots;
        GroupedRows listed;
    };

    // What is known of the attributes from condition to condition, where this head allows it; of a rule worth `value`.
    std::unique_ptr<RefinementBounds> bounds(std::size_t attributes, const std::vector<Row>& rows, double value) const {
        if (!packed_ || !one_quotient()) return nullptr;
        return std::make_unique<RefinementBounds>(quotient_, block(0), options_.min_coverage, words_, attributes, rows, unlifted(value));
    }
    double unlifted(double value) const { return value / lift_; }

    // What some rows sum to, per block.
    std::vector<std::uint64_t> packed_total(const std::vector<Row>& rows) const {
        std::vector<std::uint64_t> total(blocks_, 0);
        for (std::size_t b = 0; b < blocks_; ++b)
            for (Row row : rows) total[b] += words_[b * n_rows_ + row];
        return total;
    }

    // All candidates of an attribute at once: offer(place, value, tp, fp) for those that are admissible and reach `floor`.
    // `codes`: of the rows, where the groups are only measured; or null. `total_words`: the sums of the rows.
    template <class Offer>
    void visit_packed(const Candidates& candidates, const GroupedRows& grouped, const std::uint8_t* codes,
                      const std::vector<Row>& rows, const std::vector<std::uint64_t>& total_words, double floor, Workspace& work,
                      Offer&& offer) const {
        const std::size_t slots = candidates.slots;
        work.counts.resize(3 * slots);
        work.covered.resize(2 * slots);
        std::int32_t* lanes[3] = {work.counts.data(), work.counts.data() + slots, work.counts.data() + 2 * slots};
        const std::int32_t* covered = work.covered.data();
        count_rows(candidates, grouped, std::int32_t(rows.size() - grouped.missing.size()), work.covered.data());
        const auto count_block = [&](std::size_t b, auto&& use) {
            const std::uint64_t* words = words_.data() + b * n_rows_;
            count_sides(
                candidates, grouped, 3, lanes,
                [&](const GroupSpan& span, bool cumulative) {
                    codes ? count_coded(span, grouped, codes, rows, words, cumulative, lanes)
                          : kernels().count_words(span, words, cumulative, lanes);
                },
                [&](std::int32_t* total) {
                    std::uint64_t sum = total_words[b];
                    for (Row row : grouped.missing) sum -= words[row];
                    for (int lane = 0; lane < 3; ++lane) total[lane] = PackedCounts::get(sum, lane);
                },
                use);
        };
        const auto offer_at = [&](Slot slot, double value, std::int32_t tp, std::int32_t fp) {
            Place place;
            if (!admissible(value, floor, tp, fp, covered[slot.side * slots + slot.group]) || !candidates.place_of(slot, place)) return;
            offer(place, value, double(tp), double(fp));
        };
        if (one_quotient())
            return count_block(0, [&](std::size_t side) {
                each_reaching(floor, slots, lanes, covered + side * slots, work,
                              [&](std::size_t g, double value) { offer_at(Slot{g, side}, value, lanes[0][g], lanes[1][g]); });
            });
        begin_values(2 * slots, work);
        for (std::size_t b = 0; b < blocks_; ++b)
            count_block(b, [&](std::size_t side) { add_values(b, slots, lanes, covered + side * slots, side * slots, work); });
        for (std::size_t side = 0; side < (candidates.nominal ? 1 : 2); ++side)
            for (std::size_t g = 0; g <= grouped.groups(); ++g) {
                const std::size_t at = side * slots + g;
                offer_at(Slot{g, side}, mean_value(work.values[at]), work.tp[at], work.fp[at]);
            }
    }

    // All candidates of all sparse attributes at once, from the values that the rows list: offer(attribute, place, value, tp, fp).
    template <class Allowed, class Offer>
    void visit_sparse(const Prepared& prepared, const std::vector<Row>& rows, const std::vector<std::uint64_t>& total_words, double floor,
                      Workspace& work, Allowed&& is_allowed, Offer&& offer) const {
        sum_slots(prepared.sparse, rows, work);
        const std::size_t slots = (2 * work.touched.size() + 1 + 7) / 8 * 8;
        work.counts.assign(3 * blocks_ * slots, 0);
        work.covered.assign(slots, 0);
        work.spots.clear();
        lay_out_spots(prepared, std::int32_t(rows.size()), total_words, slots, work, is_allowed);
        for (std::uint32_t slot : work.touched) {
            work.hits[slot] = 0;
            std::fill_n(work.sums.begin() + std::ptrdiff_t(slot * blocks_), blocks_, 0);
        }
        const auto lanes_of = [&](std::size_t b, std::int32_t* lanes[3]) {
            for (std::size_t lane = 0; lane < 3; ++lane) lanes[lane] = work.counts.data() + (3 * b + lane) * slots;
        };
        const auto offer_at = [&](std::size_t i, double value, std::int32_t tp, std::int32_t fp) {
            if (i < work.spots.size() && admissible(value, floor, tp, fp, work.covered[i]))
                offer(work.spots[i].attribute, work.spots[i].place, value, double(tp), double(fp));
        };
        std::int32_t* lanes[3];
        lanes_of(0, lanes);
        if (one_quotient())
            return each_reaching(floor, slots, lanes, work.covered.data(), work,
                                 [&](std::size_t i, double value) { offer_at(i, value, lanes[0][i], lanes[1][i]); });
        begin_values(slots, work);
        for (std::size_t b = 0; b < blocks_; ++b) {
            lanes_of(b, lanes);
            add_values(b, slots, lanes, work.covered.data(), 0, work);
        }
        for (std::size_t i = 0; i < work.spots.size(); ++i) offer_at(i, mean_value(work.values[i]), work.tp[i], work.fp[i]);
    }

    // The same, candidate by candidate, where counts are not packed. `total`: over all rows in scope.
    template <class Offer>
    void visit_counted(const Attribute& attribute, const GroupedRows& grouped, std::size_t n_rows, const std::vector<Count>& total,
                       Workspace& work, Offer&& offer) const {
        work.total = total;
        if (!grouped.missing.empty()) {
            work.running.assign(lanes_, Count(0));
            add(grouped.missing.data(), grouped.missing.size(), work.running.data());
            for (std::size_t i = 0; i < work.total.size(); ++i) work.total[i] -= work.running[i];
        }
        struct Waiting {
            Place place;
            double tp, fp;
        };
        std::vector<Waiting> waiting;
        std::vector<double> counts[4];
        const bool custom = options_.heuristic.formula == Formula::custom;
        visit_candidates(
            attribute, grouped, work.total, n_rows,
            [&](std::size_t group, Count* sums) { add(grouped.begin(group), grouped.size(group), sums); },
            [&](const Place& place, const std::vector<Count>& sums) {
                if (!admissible(sums)) return;
                if (custom) {
                    append_counts(sums, counts);
                    waiting.push_back({place, tp(sums), fp(sums)});
                } else {
                    offer(place, value(sums), tp(sums), fp(sums));
                }
            },
            work.running, work.other);
        if (waiting.empty()) return;
        std::vector<double> values(counts[0].size());
        options_.custom(counts[0].data(), counts[1].data(), counts[2].data(), counts[3].data(), values.size(), values.data());
        for (std::size_t i = 0; i < waiting.size(); ++i)
            offer(waiting[i].place, combine(values.data() + i * values_per_candidate()), waiting[i].tp, waiting[i].fp);
    }

    void add(const Row* rows, std::size_t count, Count* sums) const {
        if constexpr (std::is_same_v<Count, double>)
            kernels().add_weighted_lanes(rows, count, of_rows_.data(), lanes_, sums);
        else
            kernels().add_lanes(rows, count, of_rows_.data(), lanes_, sums);
    }

    double tp(const std::vector<Count>& sums) const { return pairs(sums, 0); }
    double fp(const std::vector<Count>& sums) const { return pairs(sums, 1); }

    // Whether the head may stand on a body with these counts at all.
    bool admissible(const std::vector<Count>& sums) const {
        const double right = tp(sums);
        return right > 0 && options_.min_precision.met(right, fp(sums)) && (!options_.is_additive() || value(sums) > 0) &&
               double(sums[weight_lane_]) >= options_.min_coverage;
    }

    double value(const std::vector<Count>& sums) const {
        double value = 0;
        if (per_label_) {
            for (std::size_t b = 0; b < blocks_; ++b) value += block_value(sums, b);
            value /= double(head_.size());
        } else {
            value = block_value(sums, blocks_ - 1);
        }
        return lifted(value);
    }

    // The four counts of each block that is evaluated, appended to arrays (for heuristics written in Python).
    void append_counts(const std::vector<Count>& sums, std::vector<double> (&counts)[4]) const {
        for (std::size_t b = per_label_ ? 0 : blocks_ - 1; b < blocks_; ++b) {
            counts[0].push_back(double(sums[4 * b]));
            counts[1].push_back(double(sums[4 * b + 1]));
            counts[2].push_back(absent_[b] - double(sums[4 * b + 2]));
            counts[3].push_back(present_[b] - double(sums[4 * b + 3]));
        }
    }
    std::size_t values_per_candidate() const { return per_label_ ? blocks_ : 1; }
    double combine(const double* values) const {
        double value = values[0];
        for (std::size_t i = 1; i < values_per_candidate(); ++i) value += values[i];
        if (per_label_) value /= double(head_.size());
        return lifted(value);
    }

   private:
    // Whether a candidate with these counts may stand, and reaches `floor`.
    bool admissible(double value, double floor, std::int32_t tp, std::int32_t fp, std::int32_t covered) const {
        return value >= floor && tp > 0 && options_.min_precision.met(double(tp), double(fp)) && (!options_.is_additive() || value > 0) &&
               covered >= options_.min_coverage;
    }
    double mean_value(double sum) const { return lifted(per_label_ ? sum / double(head_.size()) : sum); }

    // The slots of a head of one quotient that may reach `floor`, with their values.
    template <class Give>
    void each_reaching(double floor, std::size_t slots, const std::int32_t* const* lanes, const std::int32_t* covered, Workspace& work,
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

    static void begin_values(std::size_t slots, Workspace& work) {
        work.tp.assign(slots, 0);
        work.fp.assign(slots, 0);
        work.values.assign(slots, 0.0);
    }
    void add_values(std::size_t b, std::size_t slots, const std::int32_t* const* lanes, const std::int32_t* covered, std::size_t at,
                    Workspace& work) const {
        kernels().add_values(options_.heuristic, block(b), slots, lanes, covered, work.values.data() + at, work.tp.data() + at,
                             work.fp.data() + at);
    }

    // What the rows sum to in each slot.
    void sum_slots(const SparseRows& index, const std::vector<Row>& rows, Workspace& work) const {
        work.hits.resize(index.n_slots());
        work.sums.resize(index.n_slots() * blocks_);
        work.touched.clear();
        for (Row row : rows)
            for (std::uint32_t slot : index.slots_of(row)) {
                if (work.hits[slot]++ == 0) work.touched.push_back(slot);
                for (std::size_t b = 0; b < blocks_; ++b) work.sums[slot * blocks_ + b] += words_[b * n_rows_ + row];
            }
        std::sort(work.touched.begin(), work.touched.end());
    }

    // The candidates of the slots that were touched, with their counts.
    template <class Allowed>
    void lay_out_spots(const Prepared& prepared, std::int32_t n_rows, const std::vector<std::uint64_t>& total, std::size_t slots,
                       Workspace& work, Allowed&& is_allowed) const {
        Place place;
        const auto push = [&](std::uint32_t a, std::int32_t covered, auto&& word_of) {
            const std::size_t at = work.spots.size();
            work.spots.push_back({a, place});
            work.covered[at] = covered;
            for (std::size_t b = 0; b < blocks_; ++b)
                for (std::size_t lane = 0; lane < 3; ++lane) work.counts[(3 * b + lane) * slots + at] = PackedCounts::get(word_of(b), int(lane));
        };
        const SparseRows& index = prepared.sparse;
        auto untouched = index.nominal().begin();
        for (std::size_t first = 0, last; first < work.touched.size(); first = last) {
            const std::uint32_t a = index.attribute_of(work.touched[first]);
            for (last = first; last < work.touched.size() && index.attribute_of(work.touched[last]) == a;) ++last;
            while (untouched != index.nominal().end() && (*untouched == a || (*untouched < a && !is_allowed(*untouched)))) ++untouched;
            if (!is_allowed(a)) continue;
            const std::size_t groups = last - first;
            work.listed.ids.resize(groups);
            work.listed.ends.resize(groups);
            std::uint32_t end = 0;
            for (std::size_t g = 0; g < groups; ++g) {
                work.listed.ids[g] = prepared.grouped[a].ids[work.touched[first + g] - index.first_slot(a)];
                work.listed.ends[g] = end += std::uint32_t(work.hits[work.touched[first + g]]);
            }
            const Candidates candidates(prepared.attributes[a], work.listed, std::size_t(n_rows));
            std::int32_t covered = 0;
            const auto begin = [&] {
                covered = 0;
                work.sum.assign(blocks_, 0);
            };
            const auto visit = [&](std::size_t g) {
                const std::uint32_t slot = work.touched[first + g];
                covered += work.hits[slot];
                for (std::size_t b = 0; b < blocks_; ++b) work.sum[b] += work.sums[slot * blocks_ + b];
                if (candidates.place_of(Slot{g, 0}, place)) push(a, covered, [&](std::size_t b) { return work.sum[b]; });
                if (candidates.place_of(candidates.nominal ? Slot{groups, 0} : Slot{g, 1}, place))
                    push(a, n_rows - covered, [&](std::size_t b) { return total[b] - work.sum[b]; });
            };
            from_both_ends(candidates, groups, begin, visit);
        }
        // Where no row lists a value, all have the same: the first of these attributes stands for all of them.
        while (untouched != index.nominal().end() && !is_allowed(*untouched)) ++untouched;
        if (untouched == index.nominal().end()) return;
        place = Place{prepared.attributes[*untouched].rest, 0, false};
        push(*untouched, n_rows, [&](std::size_t b) { return total[b]; });
    }

    static void count_coded(const GroupSpan& span, const GroupedRows& grouped, const std::uint8_t* codes, const std::vector<Row>& rows,
                            const std::uint64_t* words, bool cumulative, std::int32_t* const* lanes) {
        if (span.first == span.last) return;
        std::uint64_t by_code[256] = {}, sum = 0;
        for (Row row : rows) by_code[codes[row]] += words[row];
        for (std::uint32_t g = span.first; g < span.last; ++g) {
            sum = (cumulative ? sum : 0) + by_code[grouped.ids[g]];
            for (int lane = 0; lane < 3; ++lane) lanes[lane][g] = PackedCounts::get(sum, lane);
        }
    }

    bool one_quotient() const { return blocks_ == 1 && is_quotient_ && lift_ > 0; }
    FixedBlock block(std::size_t b) const { return {per_label_ ? 1 : std::int32_t(head_.size()), present_[b], absent_[b]}; }
    double lifted(double value) const { return options_.refine_against_lifted ? value : value * lift_; }

    // Rows that each candidate covers, first the parts, then the rests; `n_rows` are in scope.
    static void count_rows(const Candidates& candidates, const GroupedRows& grouped, std::int32_t n_rows, std::int32_t* covered) {
        const std::size_t groups = grouped.groups(), slots = candidates.slots;
        const std::int32_t listed = std::int32_t(grouped.listed());
        std::fill(covered + groups, covered + slots, 0);
        if (candidates.nominal) {
            for (std::size_t g = 0; g < groups; ++g) covered[g] = std::int32_t(grouped.size(g));
            covered[groups] = n_rows - listed;
            return;
        }
        for (std::size_t g = 0; g < candidates.split; ++g) covered[g] = std::int32_t(grouped.ends[g]);
        for (std::size_t g = candidates.split; g < groups; ++g) covered[g] = listed - std::int32_t(g ? grouped.ends[g - 1] : 0);
        for (std::size_t g = 0; g < slots; ++g) covered[slots + g] = n_rows - covered[g];
    }

    double pairs(const std::vector<Count>& sums, std::size_t lane) const {
        if (!per_label_) return double(sums[lane]);
        double total = 0;
        for (std::size_t b = 0; b < blocks_; ++b) total += double(sums[4 * b + lane]);
        return total;
    }

    double block_value(const std::vector<Count>& sums, std::size_t b) const {
        return value_of(options_.heuristic, double(sums[4 * b]), double(sums[4 * b + 1]),
                        absent_[b] - double(sums[4 * b + 2]), present_[b] - double(sums[4 * b + 3]));
    }

    void fill(const State& state, Row row, std::vector<Count>& lanes) const {
        std::fill(lanes.begin(), lanes.end(), Count(0));
        const Count weight = Count(state.weight(row));
        bool some_open = false, all_right = true, any_present = false;
        for (const auto& [label, sign] : head_) {
            const std::size_t pair = state.at(row, std::size_t(label));
            some_open |= state.predicted[pair] == OPEN;
            all_right &= (state.truth[pair] != 0) == (sign != 0);
            any_present |= state.truth[pair] != 0;
        }
        for (std::size_t i = 0; i < head_.size(); ++i) {
            const std::size_t pair = state.at(row, std::size_t(head_[i].label));
            const bool present = state.truth[pair] != 0;
            Count* block = lanes.data() + (per_label_ ? 4 * i : 0);
            if (options_.whole_instances ? some_open : state.predicted[pair] == OPEN)
                block[present == (head_[i].sign != 0) ? 0 : 1] += weight;
            block[present ? 3 : 2] += weight;
        }
        if (options_.example_based && some_open) {
            lanes[4 + (all_right ? 0 : 1)] = weight;
            lanes[4 + (any_present ? 3 : 2)] = weight;
        }
        lanes[weight_lane_] = weight;
    }

    const Options& options_;
    std::vector<Assignment> head_;
    bool per_label_ = false;
    std::size_t blocks_ = 1, lanes_ = 8, weight_lane_ = 4;
    bool packed_ = false;
    std::size_t n_rows_ = 0;
    std::vector<Count> of_rows_;
    Quotient quotient_{};
    bool is_quotient_ = false;
    std::vector<std::uint64_t> words_;  // per block and row: right, wrong, present
    std::vector<double> absent_, present_;
    double lift_ = 1;
};

}  // namespace plurule
