// Head searches where some labels must, or must not, go together.
//
// What enters a head as one is a unit: the labels that must go together, or any other label by itself. Everything is
// counted and evaluated plainly, for all candidates of one attribute at once. Every label has a lane here, and its number.
#pragma once
#include <map>
#include <vector>

#include "label_sets.hpp"

namespace plurule {

class ConstrainedHeadSearch : public LabelSetSearch {
   public:
    using LabelSetSearch::LabelSetSearch;

    // As LabelSetSearch; without pairs of labels it is that.
    template <class Found>
    void search(const std::vector<std::uint8_t>& tested_lane, std::int32_t own_lane, const SumRows& sum_rows, Found&& found) {
        if (!options_.pairs.any()) return LabelSetSearch::search(tested_lane, own_lane, sum_rows, found);
        if (places.empty()) return;
        sum_rows_ = &sum_rows;
        choose_units(tested_lane, own_lane);
        results_.assign(places.size(), Result{});
        if (options_.head_search == HeadSearchKind::exhaustive)
            keep_best([this](auto&& visit) { every_set(visit); });
        else if (options_.head_search == HeadSearchKind::anti_monotone)
            keep_best([this](auto&& visit) { as_good_as_the_best(visit); });
        else
            from_single_units();
        for (std::size_t c = 0; c < places.size(); ++c) {
            Result& result = results_[c];
            if (!std::isfinite(result.value) || (options_.constraint != Constraint::none && result.tp < result.fp)) continue;
            std::sort(result.head.begin(), result.head.end());
            std::vector<Assignment> assignments;
            for (const auto& [lane, sign] : result.head) assignments.push_back({std::int32_t(lane), sign});
            found(c, result.value, result.tp, result.fp, std::move(assignments));
        }
    }

   private:
    using Unit = std::vector<std::uint32_t>;  // labels, ascending
    struct Result {
        double value = NOTHING, tp = 0, fp = 0;
        Head head;
    };

    // The units that may be in the head of a rule that tests these labels, in the order of their first labels.
    void choose_units(const std::vector<std::uint8_t>& tested_lane, std::int32_t own_lane) {
        std::map<std::int32_t, std::size_t> place_of_group;
        std::vector<Unit> all;
        for (std::uint32_t label = 0; label < state_.n_labels; ++label) {
            const auto [at, is_new] = place_of_group.emplace(options_.pairs.group[label], all.size());
            if (is_new) all.emplace_back();
            all[at->second].push_back(label);
        }
        Unit tested;
        for (std::uint32_t label = 0; label < state_.n_labels; ++label)
            if (tested_lane[label] || std::int32_t(label) == own_lane) tested.push_back(label);
        units_.clear();
        for (Unit& unit : all) {
            const bool tests_itself = std::any_of(unit.begin(), unit.end(), [&](std::uint32_t label) {
                return std::find(tested.begin(), tested.end(), label) != tested.end();
            });
            if (!tests_itself && !clash(unit, tested)) units_.push_back(std::move(unit));
        }
    }

    bool clash(const Unit& unit, const Unit& others) const {
        for (std::uint32_t label : unit)
            for (std::uint32_t other : others)
                if (options_.pairs.are_apart(label, other)) return true;
        return false;
    }

    double right(std::size_t c, const Signed& s) const { return (s.sign ? tp : fp)[c * state_.width + s.lane]; }
    double wrong(std::size_t c, const Signed& s) const { return (s.sign ? fp : tp)[c * state_.width + s.lane]; }
    bool may_be_beside_others(std::size_t c, const Signed& s) const {
        return options_.constraint != Constraint::label || right(c, s) >= wrong(c, s);
    }

    // --- from single units, best first: single, decomposable, relaxed

    void from_single_units() {
        choose_signs();
        value_units();
        std::vector<std::vector<std::uint32_t>> taken(places.size());
        std::vector<double> sums[4], plain;
        for (std::size_t c = 0; c < places.size(); ++c) {
            taken[c] = take_units(c);
            double running[5] = {}, count = 0;
            for (std::uint32_t u : taken[c]) {
                for (std::uint32_t label : units_[u]) {
                    const std::size_t at = c * state_.width + label;
                    const Signed s{label, sign_[at]};
                    const double add[5] = {right(c, s), wrong(c, s), tn[at], fn[at], h_[at]};
                    for (int j = 0; j < 5; ++j) running[j] += add[j];
                    ++count;
                }
                for (int j = 0; j < 4; ++j) sums[j].push_back(running[j]);
                plain.push_back(running[4] / count);
            }
        }
        const bool as_one = options_.head_search == HeadSearchKind::single;
        if (!as_one && !options_.averages_labels && !plain.empty()) values(sums[0], sums[1], sums[2], sums[3], plain);
        const double* next = plain.data();
        for (std::size_t c = 0; c < places.size(); ++c) {
            if (taken[c].empty()) continue;
            if (as_one)
                finish(c, taken[c], 1, unit_value_[c * units_.size() + taken[c][0]]);
            else if (options_.head_search == HeadSearchKind::decomposable)
                finish(c, taken[c], taken[c].size(), next[taken[c].size() - 1]);
            else
                relaxed(c, taken[c], next);
            next += taken[c].size();
        }
    }

    // Per label the better of present and absent (present on a tie), as by itself; beside others one without true
    // positives is predicted as present.
    void choose_signs() {
        const std::size_t count = places.size(), width = state_.width;
        h_.assign(count * width, NOTHING);
        sign_.assign(count * width, 1);
        for (const Unit& unit : units_)
            for (std::uint32_t label : unit) {
                breathe_();
                std::vector<double> absent_h;
                if (options_.predict_absence) {
                    evaluate({{label, 0}});
                    absent_h = value_;
                }
                evaluate({{label, 1}});
                for (std::size_t c = 0; c < count; ++c) {
                    const auto usable_h = [&](std::int8_t sign, double h) {
                        const Signed s{label, sign};
                        return right(c, s) > 0 && may_be_beside_others(c, s) ? h : NOTHING;
                    };
                    const std::size_t at = c * width + label;
                    h_[at] = usable_h(1, value_[c]);
                    if (options_.predict_absence)
                        if (const double absent = usable_h(0, absent_h[c]); floor_of_ties(absent) > h_[at]) {
                            h_[at] = absent;
                            sign_[at] = 0;
                        }
                    if (!std::isfinite(h_[at]) && unit.size() > 1 && may_be_beside_others(c, {label, 1})) h_[at] = value_[c];
                }
            }
    }

    // Value and true positives of the units; no value where a unit may not be in the head.
    void value_units() {
        const std::size_t count = places.size(), width = state_.width;
        unit_value_.assign(count * units_.size(), NOTHING);
        unit_tp_.assign(count * units_.size(), 0);
        for (std::size_t u = 0; u < units_.size(); ++u) {
            breathe_();
            std::map<Head, std::vector<std::size_t>> by_head;
            for (std::size_t c = 0; c < count; ++c) {
                Head head;
                for (std::uint32_t label : units_[u]) head.push_back({label, sign_[c * width + label]});
                by_head[head].push_back(c);
            }
            for (const auto& [head, candidates] : by_head) {
                evaluate(head);
                for (std::size_t c : candidates) {
                    bool usable = tp_[c] > 0 && std::isfinite(value_[c]);
                    for (const Signed& s : head) usable = usable && std::isfinite(h_[c * width + s.lane]);
                    if (usable) unit_value_[c * units_.size() + u] = value_[c];
                    unit_tp_[c * units_.size() + u] = tp_[c];
                }
            }
        }
    }

    // The units of a candidate, best first, without those that clash with one before.
    std::vector<std::uint32_t> take_units(std::size_t c) const {
        const double* value = unit_value_.data() + c * units_.size();
        const double* right = unit_tp_.data() + c * units_.size();
        std::vector<std::uint32_t> order, taken;
        for (std::uint32_t u = 0; u < units_.size(); ++u)
            if (value[u] > NOTHING) order.push_back(u);
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return value[a] > value[b]; });
        // Values equal within the tolerance form one group, led by the highest of them.
        for (std::size_t begin = 0, end; begin < order.size(); begin = end) {
            const double floor = floor_of_ties(value[order[begin]]);
            for (end = begin; end < order.size() && value[order[end]] >= floor;) ++end;
            std::sort(order.begin() + std::ptrdiff_t(begin), order.begin() + std::ptrdiff_t(end), [&](std::uint32_t a, std::uint32_t b) {
                return right[a] != right[b] ? right[a] > right[b] : a < b;
            });
            if (begin == 0 && options_.head_search == HeadSearchKind::decomposable) order.resize(end);
        }
        for (std::uint32_t u : order) {
            const bool clashes = std::any_of(taken.begin(), taken.end(),
                                             [&](std::uint32_t other) { return clash(units_[u], units_[other]); });
            if (!clashes) taken.push_back(u);
        }
        return taken;
    }

    void relaxed(std::size_t c, const std::vector<std::uint32_t>& taken, const double* plain) {
        std::vector<double> reached;
        double best = NOTHING;
        std::size_t length = 0;
        for (std::size_t k = 0; k < taken.size(); ++k) {
            length += units_[taken[k]].size();
            reached.push_back(plain[k] * options_.lift[length - 1]);
            best = std::max(best, reached.back());
            double highest_left = NOTHING;
            for (std::size_t longer = length; longer < options_.lift.size(); ++longer)
                highest_left = std::max(highest_left, options_.lift[longer]);
            if (plain[k] * highest_left < floor_of_ties(best)) break;
        }
        std::size_t kept = reached.size();
        while (kept > 0 && !(std::isfinite(reached[kept - 1]) && reached[kept - 1] >= floor_of_ties(best))) --kept;
        if (kept) finish(c, taken, kept, reached[kept - 1]);
    }

    // The head of the first units.
    void finish(std::size_t c, const std::vector<std::uint32_t>& taken, std::size_t n_units, double value) {
        Result& result = results_[c];
        result.value = value;
        for (std::size_t k = 0; k < n_units; ++k)
            for (std::uint32_t label : units_[taken[k]]) {
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
            breathe_();
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
            double sum = 0;
            for (std::uint32_t label : units_[u])
                for (const Signed& s : head)
                    if (s.lane == label) sum += right(c, s);
            if (!(sum > 0)) return false;
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
        }
    }

    std::vector<Unit> units_;
    std::vector<Result> results_;
    std::vector<double> h_;  // candidates × lanes: the value of each label with its sign
    std::vector<std::int8_t> sign_;
    std::vector<double> unit_value_, unit_tp_;  // candidates × units
};

}  // namespace plurule
