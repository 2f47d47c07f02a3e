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
        const auto offer_if_admissible = [&](Slot slot, double value, std::int32_t tp, std::int32_t fp) {
            Place place;
            if (!(value >= floor) || tp <= 0) return;
            if (!options_.min_precision.met(double(tp), double(fp))) return;
            if (options_.is_additive() && !(value > 0)) return;
            if (!candidates.place_of(slot, place)) return;
            if (covered[slot.side * slots + slot.group] < options_.min_coverage) return;
            offer(place, value, double(tp), double(fp));
        };
        if (one_quotient()) {
            work.found.resize(slots + 8);
            count_block(0, [&](std::size_t side) {
                const std::int32_t* of_side = covered + side * slots;
                const std::size_t found =
                    kernels().reaching(quotient_, block(0), unlifted(floor), slots, lanes, of_side, work.found.data());
                for (std::size_t i = 0; i < found; ++i) {
                    const std::size_t g = work.found[i];
                    const std::int32_t present = lanes[2][g];
                    const double value = value_of(options_.heuristic, double(lanes[0][g]), double(lanes[1][g]),
                                                  absent_[0] - double(block(0).labels * of_side[g] - present),
                                                  present_[0] - double(present));
                    offer_if_admissible(Slot{g, side}, lifted(per_label_ ? value / double(head_.size()) : value), lanes[0][g], lanes[1][g]);
                }
            });
            return;
        }
        work.tp.assign(2 * slots, 0);
        work.fp.assign(2 * slots, 0);
        work.values.assign(2 * slots, 0.0);
        for (std::size_t b = 0; b < blocks_; ++b)
            count_block(b, [&](std::size_t side) {
                const std::size_t at = side * slots;
                kernels().add_values(options_.heuristic, block(b), slots, lanes, covered + at, work.values.data() + at,
                                     work.tp.data() + at, work.fp.data() + at);
            });
        for (std::size_t side = 0; side < (candidates.nominal ? 1 : 2); ++side)
            for (std::size_t g = 0; g <= grouped.groups(); ++g) {
                const std::size_t at = side * slots + g;
                const double value = per_label_ ? work.values[at] / double(head_.size()) : work.values[at];
                offer_if_admissible(Slot{g, side}, lifted(value), work.tp[at], work.fp[at]);
            }
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
