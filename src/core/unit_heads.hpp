// Head searches over units: anti-monotone and exhaustive, and every search where instances are judged as a whole, or where labels
// must, or must not, go together.
#pragma once
#include <map>
#include <vector>

#include "label_sets.hpp"

namespace plurule {

class UnitHeadSearch : public LabelSets {
   public:
    using LabelSets::LabelSets;

    // Gives the found heads through found(candidate, value, tp, fp, head).
    template <class Found>
    void search(const std::vector<std::uint8_t>& tested_lane, std::int32_t own_lane, const SumRows& sum_rows, Found&& found) {
        if (places.empty()) return;
        sum_rows_ = &sum_rows;
        choose_units(tested_lane, own_lane);
        results_.assign(places.size(), Result{});
        if (options_.head_search == HeadSearchKind::exhaustive || options_.head_search == HeadSearchKind::anti_monotone)
            keep_best();
        else
            from_single_units();
        for (std::size_t c = 0; c < places.size(); ++c) {
            Result& result = results_[c];
            if (!std::isfinite(result.value) || !state_.asked.met(result.tp, result.fp)) continue;
            std::sort(result.head.begin(), result.head.end());
            std::vector<Assignment> assignments;
            for (const auto& [lane, sign] : result.head) assignments.push_back({state_.label_of_lane[lane], sign});
            found(c, result.value, result.tp, result.fp, std::move(assignments));
        }
    }

   private:
    struct Result {
        double value = NOTHING, tp = 0, fp = 0;
        Head head;
    };

    // --- from single units, best first: single, decomposable, relaxed

    struct Sums {
        double tp = 0, fp = 0, tn = 0, fn = 0, h = 0, count = 0;
    };

    void from_single_units() {
        check_stop_();
        choose_signs();
        value_units();
        find_clashes();
        // Heuristics written in Python are asked once about all beginnings of all heads.
        if (options_.heuristic.formula == Formula::custom && !options_.averages_labels) return from_batch();
        for (std::size_t c = 0; c < places.size(); ++c) {
            Sums sums;
            sort_units(c);
            search_in_order(c, [&](double& plain) {
                if (!take_next()) return false;
                add(c, sums);
                plain = options_.averages_labels ? sums.h / sums.count
                                                 : value_of(options_.heuristic, sums.tp, sums.fp, sums.tn, sums.fn);
                return true;
            });
        }
    }

    void from_batch() {
        std::vector<std::vector<std::uint32_t>> taken(places.size());
        std::vector<double> counts[4];
        for (std::size_t c = 0; c < places.size(); ++c) {
            Sums sums;
            sort_units(c);
            while (take_next()) {
                add(c, sums);
                const double of_head[4] = {sums.tp, sums.fp, sums.tn, sums.fn};
                for (int j = 0; j < 4; ++j) counts[j].push_back(of_head[j]);
            }
            taken[c] = taken_;
        }
        std::vector<double> plain_values(counts[0].size());
        if (!plain_values.empty()) values(counts[0], counts[1], counts[2], counts[3], plain_values);
        const double* first = plain_values.data();
        for (std::size_t c = 0; c < places.size(); ++c) {
            taken_ = taken[c];
            std::size_t k = 0;
            search_in_order(c, [&](double& plain) {
                if (k == taken_.size()) return false;
                plain = first[k++];
                return true;
            });
            first += taken[c].size();
        }
    }

    // next(plain) takes one more unit and says what the head of all units so far is worth; false if there is none.
    template <class Next>
    void search_in_order(std::size_t c, Next&& next) {
        double plain = NOTHING;
        if (options_.head_search == HeadSearchKind::relaxed) {
            relaxed(c, next);
        } else if (options_.head_search == HeadSearchKind::single) {
            if (next(plain)) finish(c, 1, unit_value_[c * units_.size() + taken_[0]]);
        } else {
            while (next(plain)) continue;
            if (!taken_.empty()) finish(c, taken_.size(), plain);
        }
    }

    template <class Next>
    void relaxed(std::size_t c, Next&& next) {
        reached_.clear();
        double best = NOTHING;
        std::size_t length = 0;
        for (double plain; next(plain);) {
            length += units_[taken_[reached_.size()]].size();
            reached_.push_back(plain * options_.lift[length - 1]);
            best = std::max(best, reached_.back());
            if (plain * highest_left_[length - 1] < floor_of_ties(best)) break;
        }
        std::size_t kept = reached_.size();
        while (kept > 0 && !(std::isfinite(reached_[kept - 1]) && reached_[kept - 1] >= floor_of_ties(best))) --kept;
        if (kept) finish(c, kept, reached_[kept - 1]);
    }

    // Per label the better of present and absent (present on a tie), as by itself; beside others one without true
    // positives is predicted as present.
    void choose_signs() {
        const std::size_t count = places.size(), width = state_.width;
        h_.assign(count * width, NOTHING);
        sign_.assign(count * width, 1);
        label_values(1, present_h_);
        if (options_.predict_absence) label_values(0, absent_h_);
        for (const Unit& unit : units_)
            for (std::uint32_t label : unit)
                for (std::size_t c = 0; c < count; ++c) {
                    const auto usable_h = [&](std::int8_t sign, double h) {
                        const Signed s{label, sign};
                        return right(c, s) > 0 && may_be_beside_others(c, s) ? h : NOTHING;
                    };
                    const std::size_t at = c * width + label;
                    h_[at] = usable_h(1, present_h_[at]);
                    if (options_.predict_absence)
                        if (const double absent = usable_h(0, absent_h_[at]); floor_of_ties(absent) > h_[at]) {
                            h_[at] = absent;
                            sign_[at] = 0;
                        }
                    if (!std::isfinite(h_[at]) && unit.size() > 1 && may_be_beside_others(c, {label, 1})) h_[at] = present_h_[at];
                }
    }

    // The values of all labels (candidates × lanes), each by itself.
    void label_values(std::int8_t sign, std::vector<double>& h) {
        h.assign(tp.size(), NOTHING);
        if (!options_.example_based) {
            values(sign ? tp : fp, sign ? fp : tp, tn, fn, h);
            return;
        }
        for (const Unit& unit : units_)
            for (std::uint32_t label : unit) {
                check_stop_();
                evaluate({{label, sign}});
                for (std::size_t c = 0; c < places.size(); ++c) h[c * state_.width + label] = value_[c];
            }
    }

    // Value and true positives of the units; no value where a unit may not be in the head.
    void value_units() {
        unit_value_.assign(places.size() * units_.size(), NOTHING);
        unit_tp_.assign(places.size() * units_.size(), 0);
        for (std::size_t u = 0; u < units_.size(); ++u) {
            if (units_[u].size() == 1)
                value_label(u);
            else
                value_group(u);
        }
    }
    void value_label(std::size_t u) {
        const std::uint32_t label = units_[u][0];
        for (std::size_t c = 0; c < places.size(); ++c) {
            const std::size_t at = c * state_.width + label;
            if (std::isfinite(h_[at]) && (!options_.is_additive() || h_[at] > 0)) unit_value_[c * units_.size() + u] = h_[at];
            unit_tp_[c * units_.size() + u] = right(c, {label, sign_[at]});
        }
    }
    void value_group(std::size_t u) {
        const std::size_t width = state_.width;
        std::map<Head, std::vector<std::size_t>> by_head;
        for (std::size_t c = 0; c < places.size(); ++c) {
            Head head;
            for (std::uint32_t label : units_[u]) head.push_back({label, sign_[c * width + label]});
            by_head[head].push_back(c);
        }
        for (const auto& [head, candidates] : by_head) {
            check_stop_();
            evaluate(head);
            for (std::size_t c : candidates) {
                bool usable = tp_[c] > 0 && std::isfinite(value_[c]) && adds_value(tp_[c], fp_[c]);
                for (const Signed& s : head) usable = usable && std::isfinite(h_[c * width + s.lane]);
                if (usable) unit_value_[c * units_.size() + u] = value_[c];
                unit_tp_[c * units_.size() + u] = tp_[c];
            }
        }
    }

    void find_clashes() {
        clashing_.assign(units_.size(), {});
        for (std::uint32_t u = 0; u < units_.size(); ++u)
            for (std::uint32_t other = 0; other < units_.size(); ++other)
                if (clash_in_head(units_[u], units_[other])) clashing_[u].push_back(other);
        highest_left_.assign(options_.lift.size(), NOTHING);
        for (std::size_t k = options_.lift.size(); k-- > 1;)
            highest_left_[k - 1] = std::max(highest_left_[k], options_.lift[k]);
    }

    // Puts the units of a candidate in order, best first; for the decomposable search only those as good as the best.
    void sort_units(std::size_t c) {
        const double* value = unit_value_.data() + c * units_.size();
        const double* right = unit_tp_.data() + c * units_.size();
        order_.clear();
        for (std::uint32_t u = 0; u < units_.size(); ++u)
            if (value[u] > NOTHING) order_.push_back(u);
        std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) { return value[a] > value[b]; });
        // Values equal within the tolerance form one group, led by the highest of them.
        for (std::size_t begin = 0, end; begin < order_.size(); begin = end) {
            const double floor = floor_of_ties(value[order_[begin]]);
            for (end = begin + 1; end < order_.size() && value[order_[end]] >= floor;) ++end;
            std::sort(order_.begin() + std::ptrdiff_t(begin), order_.begin() + std::ptrdiff_t(end),
                      [&](std::uint32_t a, std::uint32_t b) { return right[a] != right[b] ? right[a] > right[b] : a < b; });
            if (options_.head_search == HeadSearchKind::decomposable) order_.resize(end);
        }
        taken_.clear();
        next_ = 0;
        barred_.assign(units_.size(), 0);
    }

    // Takes the next unit in order that clashes with none before it.
    bool take_next() {
        while (next_ < order_.size() && barred_[order_[next_]]) ++next_;
        if (next_ == order_.size()) return false;
        taken_.push_back(order_[next_++]);
        for (std::uint32_t other : clashing_[taken_.back()]) barred_[other] = 1;
        return true;
    }

    // Adds the counts of the unit that was taken last.
    void add(std::size_t c, Sums& sums) const {
        for (std::uint32_t label : units_[taken_.back()]) {
            const std::size_t at = c * state_.width + label;
            sums.tp += right(c, {label, sign_[at]});
            sums.fp += wrong(c, {label, sign_[at]});
            sums.tn += tn[at];
            sums.fn += fn[at];
            sums.h += h_[at];
            sums.count += 1;
        }
    }

    // The head of the first units taken.
    void finish(std::size_t c, std::size_t n_units, double value) {
        Result& result = results_[c];
        result.value = value;
        for (std::size_t k = 0; k < n_units; ++k)
            for (std::uint32_t label : units_[taken_[k]]) {
                const Signed s{label, sign_[c * state_.width + label]};
                result.head.push_back(s);
                result.tp += right(c, s);
                result.fp += wrong(c, s);
            }
    }

    // --- over sets of units: exhaustive, anti-monotone

    // The best of all heads: more labels, then more TP, then the first in label order.
    void keep_best() {
        std::vector<double> best(places.size(), NOTHING);
        every_head([&](const Head&, std::size_t c) { best[c] = std::max(best[c], value_[c]); });
        every_head([&](const Head& head, std::size_t c) {
            Result& result = results_[c];
            if (!(value_[c] >= floor_of_ties(best[c])) || head.size() < result.head.size()) return;
            const bool wins = head.size() > result.head.size() || tp_[c] > result.tp ||
                              (tp_[c] == result.tp && in_order(head, result.head));
            if (wins) result = {value_[c], tp_[c], fp_[c], head};
        });
    }

    struct Alive {
        std::vector<std::uint32_t> chosen;  // units
        std::vector<std::uint8_t> mask;     // per candidate: whether the search goes on from here
        std::vector<double> values;

        bool is_dead() const { return std::find(mask.begin(), mask.end(), 1) == mask.end(); }
    };

    // Breadth-first: visit(head, candidate). The anti-monotone search goes on from a head only where all that it contains are as good
    // as the best.
    template <class Visit>
    void every_head(Visit&& visit) {
        const bool cut = options_.head_search == HeadSearchKind::anti_monotone;
        const std::size_t count = places.size();
        std::map<Head, Alive> alive{{Head{}, {{}, std::vector<std::uint8_t>(count, 1), {}}}};
        std::vector<double> best(count, NOTHING);
        while (!alive.empty()) {
            std::map<Head, Alive> reached;
            for (const auto& [shorter, known] : alive)
                for (std::uint32_t u = known.chosen.empty() ? 0 : known.chosen.back() + 1; u < units_.size(); ++u) {
                    if (clashes_with_some(u, known.chosen)) continue;
                    every_sign(units_[u], [&, &shorter = shorter, &known = known](const Head& unit) {
                        Alive next{known.chosen, known.mask, {}};
                        Head head = shorter;
                        head.insert(head.end(), unit.begin(), unit.end());
                        std::sort(head.begin(), head.end());
                        if (cut) keep_common(alive, head, next);
                        next.chosen.push_back(u);
                        for (std::size_t c = 0; c < count; ++c) next.mask[c] = next.mask[c] && fits(unit, c);
                        if (next.is_dead()) return;
                        evaluate(head);
                        for (std::size_t c = 0; c < count; ++c) {
                            if (!next.mask[c] || !std::isfinite(value_[c])) {
                                value_[c] = NOTHING;
                                continue;
                            }
                            if (!cut) value_[c] *= options_.lift[head.size() - 1];
                            best[c] = std::max(best[c], value_[c]);
                            visit(head, c);
                        }
                        if (cut) next.values = value_;
                        reached.emplace(std::move(head), std::move(next));
                    });
                }
            alive = std::move(reached);
            if (!cut) continue;
            for (auto& [head, known] : alive)
                for (std::size_t c = 0; c < count; ++c) known.mask[c] = known.values[c] > NOTHING && known.values[c] >= floor_of_ties(best[c]);
            std::erase_if(alive, [](const auto& entry) { return entry.second.is_dead(); });
            expect_few(alive);
        }
    }

    // Leaves the candidates for which all heads without one of the units chosen before are alive.
    void keep_common(const std::map<Head, Alive>& alive, const Head& head, Alive& next) const {
        for (std::uint32_t left_out : next.chosen) {
            Head part;
            for (const Signed& s : head)
                if (std::find(units_[left_out].begin(), units_[left_out].end(), s.lane) == units_[left_out].end()) part.push_back(s);
            const auto shorter = alive.find(part);
            for (std::size_t c = 0; c < next.mask.size(); ++c) next.mask[c] = next.mask[c] && shorter != alive.end() && shorter->second.mask[c];
        }
    }

    // The number of heads that are equally good grows beyond all bounds where labels are equal almost everywhere.
    void expect_few(const std::map<Head, Alive>& alive) const {
        if (alive.size() <= MOST_HEADS) return;
        std::vector<std::size_t> heads(places.size(), 0);
        for (const auto& [head, known] : alive)
            for (std::size_t c = 0; c < heads.size(); ++c) heads[c] += known.mask[c];
        if (std::any_of(heads.begin(), heads.end(), [](std::size_t n) { return n > MOST_HEADS; })) throw TooManyHeads();
    }

    // Calls visit(head) for a unit with every choice of signs.
    template <class Visit>
    void every_sign(const Unit& unit, Visit&& visit) {
        Head head;
        for (std::uint32_t lane : unit) head.push_back({lane, 1});
        for (;;) {
            check_stop_();
            visit(head);
            if (!options_.predict_absence) return;
            std::size_t i = head.size();
            while (i > 0 && head[i - 1].sign == 0) head[--i].sign = 1;
            if (i == 0) return;
            head[i - 1].sign = 0;
        }
    }

    // Whether a unit with these signs may be in a head of a candidate.
    bool fits(const Head& unit, std::size_t c) const {
        double tp_of_unit = 0, fp_of_unit = 0;
        for (const Signed& s : unit) {
            if (!may_be_beside_others(c, s)) return false;
            tp_of_unit += right(c, s);
            fp_of_unit += wrong(c, s);
        }
        return tp_of_unit > 0 && adds_value(tp_of_unit, fp_of_unit);
    }

    bool clashes_with_some(std::uint32_t u, const std::vector<std::uint32_t>& chosen) const {
        return std::any_of(chosen.begin(), chosen.end(), [&](std::uint32_t other) { return clash_in_head(units_[u], units_[other]); });
    }

    std::vector<std::vector<std::uint32_t>> clashing_;  // per unit: those that it must not go with
    std::vector<Result> results_;
    std::vector<double> present_h_, absent_h_;  // candidates × lanes
    std::vector<double> h_;                     // the same with the sign of each label
    std::vector<std::int8_t> sign_;
    std::vector<double> unit_value_, unit_tp_;  // candidates × units
    std::vector<double> highest_left_, reached_;
    std::vector<std::uint32_t> order_, taken_;  // units of the candidate that is searched
    std::vector<std::uint8_t> barred_;
    std::size_t next_ = 0;
};

}  // namespace plurule
