// Sets of labels as heads, for all candidates of one attribute at once: what they are made of, and what they are worth.
//
// What enters a head as one is a unit: the labels that must go together, or any other label by itself. Where labels must go
// together, or must not, every label has a lane, and its number.
#pragma once
#include <cmath>
#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>
#include <vector>

#include "head_search.hpp"
#include "state.hpp"

namespace plurule {

// More heads of one length than this are equally good for one body.
constexpr std::size_t MOST_HEADS = 1024;
struct TooManyHeads : std::length_error {
    TooManyHeads() : std::length_error("too many heads are equally good") {}
};

class LabelSets {
   public:
    // Sums four values per row over the rows that each candidate covers; given as rows × 4, returned as candidates × 4.
    using SumRows = std::function<void(const std::vector<double>&, std::vector<double>&)>;

    // `check_stop` is called between heads; there may be very many of them.
    LabelSets(const State& state, const Options& options, std::function<void()> check_stop)
        : state_(state), options_(options), check_stop_(std::move(check_stop)) {}

    std::vector<Place> places;
    std::vector<double> tp, fp, tn, fn;  // candidates × lanes, every label predicted present

    // Before candidates on an attribute (-1: on none) that refine a body with these conditions.
    void clear(std::int32_t attribute, const std::vector<std::pair<std::size_t, Place>>& body) {
        attribute_ = attribute;
        body_ = body;
        places.clear();
        for (auto* counts : {&tp, &fp, &tn, &fn}) counts->clear();
    }

   protected:
    struct Signed {
        std::uint32_t lane;
        std::int8_t sign;
        auto operator<=>(const Signed&) const = default;
    };
    using Head = std::vector<Signed>;

    static bool in_order(const Head& a, const Head& b) {
        for (std::size_t i = 0; i < a.size(); ++i)
            if (a[i].lane != b[i].lane) return a[i].lane < b[i].lane;
        for (std::size_t i = 0; i < a.size(); ++i)
            if (a[i].sign != b[i].sign) return a[i].sign > b[i].sign;
        return false;
    }

    using Unit = std::vector<std::uint32_t>;  // lanes, ascending

    // The units without labels set aside that may be in the head of a rule that tests these labels, in the order of their first labels.
    void choose_units(const std::vector<std::uint8_t>& tested_lane, std::int32_t own_lane) {
        std::map<std::int32_t, std::size_t> place_of_group;
        std::vector<Unit> all;
        Unit tested;
        for (std::uint32_t lane = 0; lane < state_.label_of_lane.size(); ++lane) {
            const std::int32_t group = options_.pairs.any() ? options_.pairs.group[lane] : std::int32_t(lane);
            const auto [at, is_new] = place_of_group.emplace(group, all.size());
            if (is_new) all.emplace_back();
            all[at->second].push_back(lane);
            if (tested_lane[lane] || std::int32_t(lane) == own_lane) tested.push_back(lane);
        }
        units_.clear();
        for (Unit& unit : all) {
            const bool barred = std::any_of(unit.begin(), unit.end(), [&](std::uint32_t lane) {
                return state_.set_aside[std::size_t(state_.label_of_lane[lane])] || std::find(tested.begin(), tested.end(), lane) != tested.end();
            });
            if (!barred && !clash(unit, tested)) units_.push_back(std::move(unit));
        }
    }

    bool clash(const Unit& unit, const Unit& others) const {
        for (std::uint32_t label : unit)
            for (std::uint32_t other : others)
                if (options_.pairs.are_apart(label, other)) return true;
        return false;
    }
    // Whether no head may have both; one that a label implies must not be absent beside it.
    bool clash_in_head(const Unit& unit, const Unit& others) const {
        if (clash(unit, others)) return true;
        if (!options_.signs_can_clash()) return false;
        for (std::uint32_t lane : unit)
            for (std::uint32_t other : others)
                if (options_.pairs.in_line(std::size_t(state_.label_of_lane[lane]), std::size_t(state_.label_of_lane[other]), state_.n_labels))
                    return true;
        return false;
    }

    double right(std::size_t c, const Signed& s) const { return (s.sign ? tp : fp)[c * state_.width + s.lane]; }
    double wrong(std::size_t c, const Signed& s) const { return (s.sign ? fp : tp)[c * state_.width + s.lane]; }
    bool may_be_beside_others(std::size_t c, const Signed& s) const {
        return !is_barred(c, s) && is_precise(c, s);
    }
    bool is_precise(std::size_t c, const Signed& s) const {
        return !state_.asked.of_label || state_.asked.met(right(c, s), wrong(c, s));
    }

    // Whether the direction of an attribute does not allow it.
    bool is_barred(std::size_t c, const Signed& s) const {
        const Directions& directions = options_.directions;
        const std::size_t label = std::size_t(state_.label_of_lane[s.lane]);
        if (!directions.any()) return false;
        if (attribute_ >= 0 && directions.bars(std::size_t(attribute_), places[c], label, s.sign)) return true;
        return std::any_of(body_.begin(), body_.end(), [&](const auto& tested) { return directions.bars(tested.first, tested.second, label, s.sign); });
    }

    // Whether what is predicted with these counts, a label or what goes together with it, may be in a head for its value.
    bool adds_value(double right, double wrong) const {
        return !options_.is_additive() || value_of(options_.heuristic, right, wrong, 0, 0) > 0;
    }

    // Fills value_, tp_, fp_ for one head and all candidates.
    void evaluate(const Head& head) {
        const std::size_t count = places.size(), width = state_.width;
        for (auto* sums : {&tp_, &fp_, &tn_, &fn_, &value_}) sums->assign(count, 0.0);
        std::vector<double> part[4], h(count);
        for (auto& p : part) p.resize(count);
        for (const auto& [lane, sign] : head) {
            for (std::size_t c = 0; c < count; ++c) {
                const std::size_t at = c * width + lane;
                part[0][c] = sign ? tp[at] : fp[at];
                part[1][c] = sign ? fp[at] : tp[at];
                part[2][c] = tn[at];
                part[3][c] = fn[at];
                tp_[c] += part[0][c];
                fp_[c] += part[1][c];
                tn_[c] += part[2][c];
                fn_[c] += part[3][c];
            }
            if (options_.averages_labels && !options_.example_based) {
                values(part[0], part[1], part[2], part[3], h);
                for (std::size_t c = 0; c < count; ++c) value_[c] += h[c];
            }
        }
        if (options_.example_based) {
            whole_instances(head);
        } else if (options_.averages_labels) {
            for (double& value : value_) value /= double(head.size());
        } else {
            values(tp_, fp_, tn_, fn_, value_);
        }
    }

    void whole_instances(const Head& head) {
        std::vector<double> rows(state_.n_rows * 4, 0.0), sums;
        double absent = 0, present = 0;
        for (Row row : state_.training.rows) {
            const std::uint8_t* bytes = state_.bytes.data() + std::size_t(row) * state_.width;
            bool open = false, right = true, some = false;
            for (const auto& [lane, sign] : head) {
                open |= (bytes[lane] & (OPEN_PRESENT | OPEN_ABSENT)) != 0;
                right &= ((bytes[lane] & PRESENT) != 0) == (sign != 0);
                some |= (bytes[lane] & PRESENT) != 0;
            }
            if (!open) continue;
            const double weight = state_.weight(row);
            rows[std::size_t(row) * 4 + (right ? 0 : 1)] = weight;
            rows[std::size_t(row) * 4 + (some ? 3 : 2)] = weight;
            (some ? present : absent) += weight;
        }
        (*sum_rows_)(rows, sums);
        if (sums.size() != 4 * places.size()) throw std::logic_error("candidates were summed that had not been counted");
        std::vector<double> counts[4];
        for (auto& c : counts) c.resize(places.size());
        for (std::size_t c = 0; c < places.size(); ++c) {
            counts[0][c] = sums[4 * c];
            counts[1][c] = sums[4 * c + 1];
            counts[2][c] = absent - sums[4 * c + 2];
            counts[3][c] = present - sums[4 * c + 3];
        }
        values(counts[0], counts[1], counts[2], counts[3], value_);
    }

    void values(const std::vector<double>& a, const std::vector<double>& b, const std::vector<double>& c,
                const std::vector<double>& d, std::vector<double>& out) const {
        options_.evaluate(a.data(), b.data(), c.data(), d.data(), a.size(), out.data());
    }

    const State& state_;
    const Options& options_;
    std::function<void()> check_stop_;
    const SumRows* sum_rows_ = nullptr;
    std::int32_t attribute_ = -1;
    std::vector<std::pair<std::size_t, Place>> body_;  // what is tested already
    std::vector<Unit> units_;
    std::vector<double> tp_, fp_, tn_, fn_, value_;
};

}  // namespace plurule
