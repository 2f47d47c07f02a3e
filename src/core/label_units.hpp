// What enters a head as one is a unit: the labels that must go together, or any other label by itself.
#pragma once
#include <algorithm>
#include <map>
#include <vector>

#include "label_sets.hpp"

namespace plurule {

class LabelUnits : public LabelSetSearch {
   public:
    using LabelSetSearch::LabelSetSearch;

   protected:
    using Unit = std::vector<std::uint32_t>;  // labels, ascending

    // The units without labels set aside that may be in the head of a rule that tests these labels, in the order of their first labels.
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
            const bool barred = std::any_of(unit.begin(), unit.end(), [&](std::uint32_t label) {
                return state_.set_aside[label] || std::find(tested.begin(), tested.end(), label) != tested.end();
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

    double right(std::size_t c, const Signed& s) const { return (s.sign ? tp : fp)[c * state_.width + s.lane]; }
    double wrong(std::size_t c, const Signed& s) const { return (s.sign ? fp : tp)[c * state_.width + s.lane]; }
    bool may_be_beside_others(std::size_t c, const Signed& s) const {
        return !options_.min_precision.of_label || options_.min_precision.met(right(c, s), wrong(c, s));
    }

    std::vector<Unit> units_;
};

}  // namespace plurule
