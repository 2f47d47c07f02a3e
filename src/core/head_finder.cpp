#include "head_finder.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace plurule {

HeadFinder::HeadFinder(const State& state, const Options& options, std::function<void()> check_stop)
    : bodies(state, options), state_(state), options_(options), check_stop_(std::move(check_stop)),
      takes_sets_(options.head_search == HeadSearchKind::anti_monotone || options.head_search == HeadSearchKind::exhaustive),
      takes_many_(takes_sets_ || options.is_custom() || options.example_based || bodies.units.some_go_together()),
      search_(options), sets_(bodies, options, check_stop_) {}

void HeadFinder::add(const Place& place, const std::vector<double>& counters) {
    if (bodies.may_have_head(place, counters[3 * state_.width]))
        bodies.add(place, counters);
    else
        finding = {NOTHING, Finding::ANY, 0};
}

bool HeadFinder::can_be_precise(const std::vector<double>& counters) const {
    bool some = !state_.asked.asks() || options_.predict_absence;
    for (std::size_t lane = 0; lane < state_.width; ++lane)
        some |= counters[lane] > 0 && state_.asked.met(counters[lane], counters[state_.width + lane]);
    return some;
}

void HeadFinder::find(double floor) {
    if (bodies.size() == 0) return;
    if (takes_many_) check_stop_();
    if (heads_.size() < bodies.size()) heads_.resize(bodies.size());
    for (std::size_t body = 0; body < bodies.size(); ++body) {
        heads_[body].value = NOTHING;
        heads_[body].head.clear();
    }
    if (!takes_sets_) return best_first(floor);
    if (options_.averages_labels && !options_.example_based) bodies.value_labels();
    sets_.search(heads_);
    for (FoundHead& found : heads_)
        if (!state_.asked.met(found.tp, found.fp)) found.value = NOTHING;
}

void HeadFinder::best_first(double floor) {
    const std::size_t count = bodies.size();
    bodies.value_labels();
    if (highest_.size() < count) highest_.resize(count);
    if (h_.size() < count * state_.width) h_.resize(count * state_.width);
    for (std::size_t body = 0; body < count; ++body) choose_signs(body);
    if (bodies.units.some_go_together()) value_units();
    if (search_.asks_about_beginnings()) {
        search_.note_beginnings();
        for (std::size_t body = 0; body < count; ++body) search_.search(labels_of(body), bodies.units, NOTHING, heads_[body]);
        search_.value_beginnings();
    }
    for (std::size_t body = 0; body < count; ++body) {
        FoundHead& found = heads_[body];
        found.value = NOTHING;
        finding = Finding{};
        if (is_hopeless(body, floor)) continue;
        search_.search(labels_of(body), bodies.units, floor, found);
        finding.bound = found.bound;
        finding.cut = options_.is_additive() ? NOTHING : floor_of_ties(found.last_looked);
        if (found.value > NOTHING && state_.asked.met(found.tp, found.fp)) continue;
        found.value = NOTHING;
        if (!(found.bound < floor)) finding.slack = Finding::ANY;  // its head is not allowed
    }
}

LabelHeads HeadFinder::labels_of(std::size_t body) const {
    const std::size_t first = bodies.at(body, 0);
    const double *h = h_.data() + first, *tp = bodies.tp.data() + first;
    const bool by_label = !bodies.units.some_go_together();
    return {state_.width, h, tp, bodies.fp.data() + first, bodies.tn.data() + first, bodies.fn.data() + first,
            bodies.sign.data() + first, by_label ? h : unit_value_.data() + first, by_label ? tp : unit_tp_.data() + first};
}

// Per label the better of present and absent (present on a tie), if it may be in a head.
void HeadFinder::choose_signs(std::size_t body) {
    const std::size_t width = state_.width, first = bodies.at(body, 0);
    const double least = options_.is_additive() ? 0.0 : NOTHING;
    const bool directed = options_.directions.by_label, asks_labels = state_.asked.of_label;
    const MinPrecision asked = state_.asked;
    const double *present_h = bodies.h[1].data() + first, *absent_h = bodies.h[0].data() + first;
    double *h = h_.data() + first, *tp = bodies.tp.data() + first, *fp = bodies.fp.data() + first;
    std::int8_t* sign = bodies.sign.data() + first;
    std::copy_n(present_h, width, h);
    const auto usable = [&](std::size_t lane, std::int8_t s, double value, double right, double wrong) {
        const bool may_be = right > 0 && value > least && !(asks_labels && !asked.met(right, wrong));
        return may_be && !(directed && bodies.bars(body, {std::uint32_t(lane), s})) ? value : NOTHING;
    };
    if (options_.predict_absence)
        for (std::size_t lane = 0; lane < width; ++lane) {
            const double present = usable(lane, 1, present_h[lane], tp[lane], fp[lane]);
            const double absent = usable(lane, 0, absent_h[lane], fp[lane], tp[lane]);
            const bool is_absent = floor_of_ties(absent) > present;
            h[lane] = is_absent ? absent : present;
            sign[lane] = !is_absent;
            if (is_absent) std::swap(tp[lane], fp[lane]);
        }
    else if (directed)
        for (std::size_t lane = 0; lane < width; ++lane) h[lane] = usable(lane, 1, h[lane], tp[lane], fp[lane]);
    const UsableLabels labels{asks_labels ? asked.threshold : 0.0, asked.tolerance(), least, asked.surplus(1, 0), asked.surplus(0, -1)};
    double surplus;
    kernels().keep_usable(labels, tp, fp, bodies.penalty(), width, h, &highest_[body], &surplus);
}

// Value and TP of the units, where some labels go together: as one they must have a TP and add value. A label that may not be in
// a head by itself is predicted as present beside the others, if it is allowed.
void HeadFinder::value_units() {
    const std::ptrdiff_t count = std::ptrdiff_t(bodies.at(bodies.size(), 0));
    unit_value_.assign(h_.begin(), h_.begin() + count);
    unit_tp_.assign(bodies.tp.begin(), bodies.tp.begin() + count);
    for (std::uint32_t unit = 0; unit < state_.label_of_lane.size(); ++unit) {
        if (bodies.bars(unit) || bodies.units.size(unit) == 1) continue;
        std::map<LaneHead, std::vector<std::size_t>> with_signs;  // bodies by the signs of the labels, if all are allowed
        for (std::size_t body = 0; body < bodies.size(); ++body) {
            LaneHead labels;
            bool allowed = true;
            bodies.units.each_label(unit, [&](std::uint32_t lane) {
                const std::size_t at = bodies.at(body, lane);
                labels.push_back({lane, bodies.sign[at]});
                if (h_[at] == NOTHING && bodies.allows(body, labels.back())) h_[at] = bodies.h[1][at];
                allowed &= h_[at] > NOTHING;
            });
            unit_value_[bodies.at(body, unit)] = NOTHING;
            if (allowed && !labels.empty()) with_signs[labels].push_back(body);
        }
        for (const auto& [labels, some] : with_signs) {
            const auto& [value, tp, fp] = bodies.evaluate(labels);
            for (std::size_t body : some) {
                unit_tp_[bodies.at(body, unit)] = tp[body];
                if (tp[body] > 0 && bodies.adds_value(tp[body], fp[body])) unit_value_[bodies.at(body, unit)] = value[body];
            }
        }
    }
}

// Whether no head of a body can reach `floor`, so that it need not be searched.
bool HeadFinder::is_hopeless(std::size_t body, double floor) {
    if (bodies.units.some_go_together()) return false;
    const double highest = highest_[body], most = highest * search_.highest_lift();
    if (highest > NOTHING && !(search_.never_rises() && highest > 0 && most < floor)) return false;
    finding.bound = highest > NOTHING ? most : NOTHING;
    return true;
}

std::vector<double> HeadFinder::label_values() const {
    std::vector<double> values;
    std::copy_if(h_.begin(), h_.begin() + std::ptrdiff_t(state_.width), std::back_inserter(values), [](double h) { return h > NOTHING; });
    std::sort(values.begin(), values.end(), std::greater<>());
    return values;
}

}  // namespace plurule
