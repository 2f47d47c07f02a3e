// Head searches where some labels must, or must not, go together.
//
// Everything is counted and evaluated plainly, for all candidates of one attribute at once. Every label has a lane here, and
// its number.
#pragma once
#include <map>
#include <vector>

#include "label_units.hpp"

namespace plurule {

class ConstrainedHeadSearch : public LabelUnits {
   public:
    using LabelUnits::LabelUnits;

    // As LabelSetSearch; without pairs of labels it is that.
    template <class Found>
    void search(const std::vector<std::uint8_t>& tested_lane, std::int32_t own_lane, const SumRows& sum_rows, Found&& found) {
        if (!options_.pairs.any()) return LabelSetSearch::search(tested_lane, own_lane, sum_rows, found);
        if (places.empty()) return;
        sum_rows_ = &sum_rows;
        choose_units(tested_lane, own_lane);
        results_.assign(places.size(), Result{});
        if (options_.head_search == HeadSearchKind::exhaustive)
            keep_best([this](auto&& visit) { this->every_set(visit); });
        else if (options_.head_search == HeadSearchKind::anti_monotone)
            keep_best([this](auto&& visit) { this->as_good_as_the_best(visit); });
        else
            from_single_units();
        for (std::size_t c = 0; c < places.size(); ++c) {
            Result& result = results_[c];
            if (!std::isfinite(result.value) || !options_.min_precision.met(result.tp, result.fp)) continue;
            std::sort(result.head.begin(), result.head.end());
            std::vector<Assignment> assignments;
            for (const auto& [lane, sign] : result.head) assignments.push_back({std::int32_t(lane), sign});
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
                if (clash(units_[u], units_[other])) clashing_[u].push_back(other);
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

    // The best of the heads that are visited: more labels, then more TP, then the first in label order.
    template <class Enumerate>
    void keep_best(Enumerate&& enumerate) {
        std::vector<double> best(places.size(), NOTHING);
        enumerate([&](const Head&, std::size_t c) { best[c] = std::max(best[c], value_[c]); });
        enumerate([&](const Head& head, std::size_t c) {
            Result& result = results_[c];
            if (!(value_[c] >= floor_of_ties(best[c])) || head.size() < result.head.size()) return;
            const bool wins = head.size() > result.head.size() || tp_[c] > result.tp ||
                              (tp_[c] == result.tp && in_order(head, result.head));
            if (wins) result = {value_[c], tp_[c], fp_[c], head};
        });
    }

    // Calls visit(head) for a set of units with every choice of signs.
    template <class Visit>
    void every_sign(const std::vector<std::uint32_t>& chosen, Visit&& visit) {
        Head head;
        for (std::uint32_t u : chosen)
            for (std::uint32_t label : units_[u]) head.push_back({label, 1});
        std::sort(head.begin(), head.end());
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

    bool fits(const std::vector<std::uint32_t>& chosen, const Head& head, std::size_t c) const {
        for (const Signed& s : head)
            if (!may_be_beside_others(c, s)) return false;
        for (std::uint32_t u : chosen) {
            double tp_of_unit = 0, fp_of_unit = 0;
            for (std::uint32_t label : units_[u])
                for (const Signed& s : head)
                    if (s.lane == label) {
                        tp_of_unit += right(c, s);
                        fp_of_unit += wrong(c, s);
                    }
            if (!(tp_of_unit > 0) || !adds_value(tp_of_unit, fp_of_unit)) return false;
        }
        return true;
    }

    template <class Visit>
    void every_set(Visit&& visit) {
        std::vector<std::uint32_t> chosen;
        every_set_from(0, chosen, visit);
    }
    template <class Visit>
    void every_set_from(std::uint32_t first, std::vector<std::uint32_t>& chosen, Visit&& visit) {
        for (std::uint32_t u = first; u < units_.size(); ++u) {
            if (clashes_with_some(u, chosen)) continue;
            chosen.push_back(u);
            every_sign(chosen, [&](const Head& head) {
                evaluate(head);
                for (std::size_t c = 0; c < places.size(); ++c) {
                    if (!fits(chosen, head, c) || !std::isfinite(value_[c])) continue;
                    value_[c] *= options_.lift[head.size() - 1];
                    visit(head, c);
                }
            });
            every_set_from(u + 1, chosen, visit);
            chosen.pop_back();
        }
    }
    bool clashes_with_some(std::uint32_t u, const std::vector<std::uint32_t>& chosen) const {
        return std::any_of(chosen.begin(), chosen.end(), [&](std::uint32_t other) { return clash(units_[u], units_[other]); });
    }

    static Head without(const Head& head, const Unit& unit) {
        Head part;
        for (const Signed& s : head)
            if (std::find(unit.begin(), unit.end(), s.lane) == unit.end()) part.push_back(s);
        return part;
    }

    struct Alive {
        std::vector<std::uint32_t> chosen;
        std::vector<std::uint8_t> mask;  // per candidate: as good as the best so far
    };

    // Breadth-first; goes on from a head only where all that it contains are as good as the best.
    template <class Visit>
    void as_good_as_the_best(Visit&& visit) {
        const std::size_t count = places.size();
        std::map<Head, Alive> alive{{Head{}, {{}, std::vector<std::uint8_t>(count, 1)}}};
        std::vector<double> best(count, NOTHING);
        while (!alive.empty()) {
            std::map<Head, std::pair<std::vector<std::uint32_t>, std::vector<double>>> reached;
            const auto consider = [&](const Head& head, const std::vector<std::uint32_t>& chosen) {
                std::vector<std::uint8_t> reachable(count, 1);
                for (std::uint32_t left_out : chosen) {
                    const auto shorter = alive.find(without(head, units_[left_out]));
                    for (std::size_t c = 0; c < count; ++c)
                        reachable[c] = reachable[c] && shorter != alive.end() && shorter->second.mask[c];
                }
                bool any = false;
                for (std::size_t c = 0; c < count; ++c) {
                    reachable[c] = reachable[c] && fits(chosen, head, c);
                    any |= reachable[c] != 0;
                }
                if (!any) return;
                evaluate(head);
                for (std::size_t c = 0; c < count; ++c) {
                    if (!reachable[c] || !std::isfinite(value_[c])) {
                        value_[c] = NOTHING;
                        continue;
                    }
                    best[c] = std::max(best[c], value_[c]);
                    visit(head, c);
                }
                reached.emplace(head, std::pair(chosen, value_));
            };
            for (const auto& [head, kept] : alive)
                for (std::uint32_t u = kept.chosen.empty() ? 0 : kept.chosen.back() + 1; u < units_.size(); ++u) {
                    if (clashes_with_some(u, kept.chosen)) continue;
                    auto chosen = kept.chosen;
                    chosen.push_back(u);
                    every_sign({u}, [&, &shorter = head](const Head& unit) {
                        Head longer = shorter;
                        longer.insert(longer.end(), unit.begin(), unit.end());
                        std::sort(longer.begin(), longer.end());
                        consider(longer, chosen);
                    });
                }
            alive.clear();
            for (const auto& [head, found] : reached) {
                std::vector<std::uint8_t> mask(count);
                bool any = false;
                for (std::size_t c = 0; c < count; ++c) {
                    mask[c] = found.second[c] > NOTHING && found.second[c] >= floor_of_ties(best[c]);
                    any |= mask[c] != 0;
                }
                if (any) alive.emplace(head, Alive{found.first, std::move(mask)});
            }
            std::map<Head, std::vector<std::uint8_t>> masks;
            if (alive.size() > MOST_HEADS)
                for (const auto& [head, kept] : alive) masks.emplace(head, kept.mask);
            expect_few(masks, count);
        }
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
