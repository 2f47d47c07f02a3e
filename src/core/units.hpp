// What enters a head as one: labels that must go together, or any other label by itself.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "options.hpp"
#include "state.hpp"

namespace plurule {

// A label in a head, by its lane.
struct SignedLane {
    std::uint32_t lane;
    std::int8_t sign;  // 1 present, 0 absent
    auto operator<=>(const SignedLane&) const = default;
};
using LaneHead = std::vector<SignedLane>;

// A unit is known by the lane of its first label. Where labels must go together, or must not, every label has a lane, and its number.
class Units {
   public:
    Units(const State& state, const Options& options);

    bool some_go_together() const { return !labels_.empty(); }
    bool some_clash() const { return some_clash_; }
    // How many labels a unit has; none where a label is not the first of its unit.
    std::size_t size(std::uint32_t unit) const { return some_go_together() ? labels_[unit].size() : 1; }
    // Calls visit(lane) for the labels of a unit, in order.
    template <class Visit>
    void each_label(std::uint32_t unit, Visit&& visit) const {
        if (!some_go_together()) return visit(unit);
        for (std::uint32_t lane : labels_[unit]) visit(lane);
    }
    // Whether no head may have both a unit and some labels; one that a label implies must not be absent beside it.
    bool clashes(std::uint32_t unit, const LaneHead& head) const;
    // Marks the labels that cannot be in the head of a rule that tests some: those, what must not go with them, what is set aside,
    // and what goes together with any of them.
    void bar(const std::vector<std::uint8_t>& tested_label, std::vector<std::uint8_t>& barred) const;

   private:
    const State& state_;
    const Options& options_;
    const bool some_clash_;
    std::vector<std::vector<std::uint32_t>> labels_;  // per first label; empty: every label is a unit
};

}  // namespace plurule
