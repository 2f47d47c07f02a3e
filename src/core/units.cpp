#include "units.hpp"

#include <map>

namespace plurule {

Units::Units(const State& state, const Options& options)
    : state_(state), options_(options), some_clash_(options.pairs.any() || options.signs_can_clash()) {
    const std::vector<std::int32_t>& groups = options.pairs.group;
    std::map<std::int32_t, std::uint32_t> first_of_group;
    for (std::uint32_t label = 0; label < groups.size(); ++label) first_of_group.emplace(groups[label], label);
    if (first_of_group.size() == groups.size()) return;
    labels_.resize(groups.size());
    for (std::uint32_t label = 0; label < groups.size(); ++label) labels_[first_of_group[groups[label]]].push_back(label);
}

bool Units::clashes(std::uint32_t unit, const LaneHead& head) const {
    bool clash = false;
    each_label(unit, [&](std::uint32_t lane) {
        const std::size_t label = std::size_t(state_.label_of_lane[lane]);
        clash |= std::any_of(head.begin(), head.end(), [&](const SignedLane& s) {
            const std::size_t other = std::size_t(state_.label_of_lane[s.lane]);
            return options_.pairs.are_apart(label, other) || (options_.signs_can_clash() && options_.pairs.in_line(label, other, state_.n_labels));
        });
    });
    return clash;
}

void Units::bar(const std::vector<std::uint8_t>& tested_label, std::vector<std::uint8_t>& barred) const {
    barred.assign(state_.width, 1);
    for (std::size_t lane = 0; lane < state_.label_of_lane.size(); ++lane) {
        const std::size_t label = std::size_t(state_.label_of_lane[lane]);
        barred[lane] = tested_label[label] || state_.set_aside[label];
        for (std::size_t other = 0; options_.pairs.any() && other < tested_label.size(); ++other)
            barred[lane] |= tested_label[other] && options_.pairs.are_apart(label, other);
    }
    for (const std::vector<std::uint32_t>& unit : labels_)
        if (std::any_of(unit.begin(), unit.end(), [&](std::uint32_t lane) { return barred[lane]; }))
            for (std::uint32_t lane : unit) barred[lane] = 1;
}

}  // namespace plurule
