#include "label_sets.hpp"

#include <algorithm>
#include <utility>

namespace plurule {

namespace {

// Of heads of one length the first is that of the first labels, present before absent.
auto place_in_order(const LaneHead& head) {
    std::pair<std::vector<std::uint32_t>, std::vector<int>> place;
    for (const SignedLane& s : head) {
        place.first.push_back(s.lane);
        place.second.push_back(-s.sign);
    }
    return place;
}

bool is_dead(const std::vector<double>& value) {
    return std::all_of(value.begin(), value.end(), [](double v) { return v == NOTHING; });
}

}  // namespace

// Heads are visited twice: it takes the best value to know which of them are equal to it.
void LabelSets::search(std::vector<FoundHead>& found) {
    list_choices();
    every_head([](const LaneHead&, std::size_t, double, const Bodies::Worth&) {});
    const std::vector<double> best = best_;
    every_head([&](const LaneHead& head, std::size_t body, double value, const Bodies::Worth& worth) {
        FoundHead& known = found[body];
        if (value < floor_of_ties(best[body]) || head.size() < known.head.size()) return;
        const double tp = worth.tp[body];
        if (head.size() == known.head.size() && tp <= known.tp && !(tp == known.tp && place_in_order(head) < place_in_order(known.head))) return;
        known.value = value;
        known.tp = tp;
        known.fp = worth.fp[body];
        known.head = head;
    });
}

// Every unit with every choice of signs.
void LabelSets::list_choices() {
    choices_.clear();
    for (std::uint32_t unit = 0; unit < bodies_.width(); ++unit) {
        if (bodies_.bars(unit)) continue;
        std::vector<LaneHead> heads{{}};
        bodies_.units.each_label(unit, [&](std::uint32_t lane) {
            std::vector<LaneHead> longer;
            for (const LaneHead& head : heads)
                for (std::int8_t sign = 1; sign >= (options_.predict_absence ? 0 : 1); --sign) {
                    longer.push_back(head);
                    longer.back().push_back({lane, sign});
                }
            heads = std::move(longer);
        });
        for (LaneHead& head : heads) {
            if (head.empty()) continue;  // of no unit, the label is not the first of its own
            Choice choice{unit, std::move(head), {}};
            for (std::size_t body = 0; body < bodies_.size(); ++body) choice.fits.push_back(fits(choice.labels, body));
            choices_.push_back(std::move(choice));
        }
    }
}

// Whether a unit with these signs may be in the head of a body.
bool LabelSets::fits(const LaneHead& unit, std::size_t body) const {
    double tp = 0, fp = 0;
    for (const SignedLane& s : unit) {
        if (!bodies_.allows(body, s)) return false;
        tp += bodies_.right(body, s);
        fp += bodies_.wrong(body, s);
    }
    return tp > 0 && bodies_.adds_value(tp, fp);
}

// Breadth-first: the units of a head are in the order of their first labels.
void LabelSets::every_head(const Visit& visit) {
    best_.assign(bodies_.size(), NOTHING);
    Level level{{LaneHead{}, {{}, std::vector<double>(bodies_.size(), 0.0)}}};
    while (!level.empty()) {
        Level longer;
        for (const auto& shorter : level)
            for (const Choice& choice : choices_)
                if (shorter.first.empty() || (choice.unit > shorter.second.units.back() && !bodies_.units.clashes(choice.unit, shorter.first)))
                    extend(level, shorter, choice, visit, longer);
        if (cuts_) cut(longer);
        level = std::move(longer);
    }
}

// Adds a unit to a head, for the bodies where it may be in it.
void LabelSets::extend(const Level& level, const Level::value_type& shorter, const Choice& choice, const Visit& visit, Level& longer) {
    check_stop_();
    LaneHead head = shorter.first;
    Alive alive = shorter.second;
    head.insert(head.end(), choice.labels.begin(), choice.labels.end());
    std::sort(head.begin(), head.end());
    if (cuts_) keep_common(level, head, alive);
    alive.units.push_back(choice.unit);
    for (std::size_t body = 0; body < bodies_.size(); ++body)
        if (!choice.fits[body]) alive.value[body] = NOTHING;
    if (is_dead(alive.value)) return;
    const Bodies::Worth& worth = bodies_.evaluate(head);
    for (std::size_t body = 0; body < bodies_.size(); ++body) {
        double value = worth.value[body];
        if (alive.value[body] == NOTHING) continue;
        if (cuts_) alive.value[body] = value;
        if (value == NOTHING) continue;
        if (!cuts_) value *= options_.lift[head.size() - 1];
        best_[body] = std::max(best_[body], value);
        visit(head, body, value, worth);
    }
    longer.emplace(std::move(head), std::move(alive));
}

// Leaves the bodies for which all heads without one of the units chosen before are alive.
void LabelSets::keep_common(const Level& level, const LaneHead& head, Alive& alive) const {
    for (std::uint32_t left_out : alive.units) {
        LaneHead part = head;
        bodies_.units.each_label(left_out, [&](std::uint32_t lane) { std::erase_if(part, [&](const SignedLane& s) { return s.lane == lane; }); });
        const auto shorter = level.find(part);
        for (std::size_t body = 0; body < bodies_.size(); ++body)
            if (shorter == level.end() || shorter->second.value[body] == NOTHING) alive.value[body] = NOTHING;
    }
}

// Leaves what is as good as the best. Their number grows beyond all bounds where labels are equal almost everywhere.
void LabelSets::cut(Level& level) const {
    std::vector<std::size_t> heads(bodies_.size(), 0);
    for (auto& [head, alive] : level)
        for (std::size_t body = 0; body < bodies_.size(); ++body) {
            if (alive.value[body] < floor_of_ties(best_[body])) alive.value[body] = NOTHING;
            heads[body] += alive.value[body] > NOTHING;
        }
    std::erase_if(level, [](const auto& entry) { return is_dead(entry.second.value); });
    if (std::any_of(heads.begin(), heads.end(), [](std::size_t n) { return n > MOST_HEADS; })) throw TooManyHeads();
}

}  // namespace plurule
