#include "head_finder.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

namespace plurule {

HeadFinder::HeadFinder(const State& state, const Options& options, std::function<void()> check_stop)
    : state_(state), options_(options),
      takes_sets_(options.head_search == HeadSearchKind::anti_monotone || options.head_search == HeadSearchKind::exhaustive),
      bodies_(state, options), search_(options), sets_(bodies_, options, std::move(check_stop)) {}

void HeadFinder::add(const Place& place, const std::vector<double>& counters) {
    if (bodies_.may_have_head(place, counters[3 * state_.width]))
        bodies_.add(place, counters);
    else
        finding = {NOTHING, Finding::ANY, 0};
}

bool HeadFinder::can_be_precise(const std::vector<double>& counters) const {
    if (!state_.asked.asks() || options_.predict_absence) return true;
    bool some = false;
    for (std::size_t lane = 0; lane < state_.width; ++lane)
        some |= counters[lane] > 0 && state_.asked.met(counters[lane], counters[state_.width + lane]);
    return some;
}

void HeadFinder::find(double floor) {
    if (heads_.size() < bodies_.size()) heads_.resize(bodies_.size());
    for (std::size_t body = 0; body < bodies_.size(); ++body) {
        heads_[body].value = NOTHING;
        heads_[body].head.clear();
    }
    if (!takes_sets_) return best_first(floor);
    if (options_.averages_labels && !options_.example_based) bodies_.value_labels();
    sets_.search(heads_);
    for (FoundHead& found : heads_)
        if (!state_.asked.met(found.tp, found.fp)) found.value = NOTHING;
}

void HeadFinder::best_first(double floor) {
    const std::size_t count = bodies_.size();
    bodies_.value_labels();
    if (outlooks_.size() < count) outlooks_.resize(count);
    if (h_.size() < count * state_.width) h_.resize(count * state_.width);
    for (std::size_t body = 0; body < count; ++body) choose_signs(body);
    if (bodies_.units.some_go_together()) value_units();
    if (search_.asks_about_beginnings()) {
        search_.note_beginnings();
        for (std::size_t body = 0; body < count; ++body) search_.search(labels_of(body), bodies_.units, NOTHING, heads_[body]);
        search_.value_beginnings();
    }
    for (std::size_t body = 0; body < count; ++body) {
        FoundHead& found = heads_[body];
        found.value = NOTHING;
        finding = Finding{};
        if (is_hopeless(body, floor)) continue;
        search_.search(labels_of(body), bodies_.units, floor, found);
        finding.bound = found.bound;
        finding.cut = options_.is_additive() ? NOTHING : floor_of_ties(found.last_looked);
        if (found.value > NOTHING && state_.asked.met(found.tp, found.fp)) continue;
        found.value = NOTHING;
        if (!(found.bound < floor)) finding.slack = Finding::ANY;  // its head is not allowed
    }
}

LabelHeads HeadFinder::labels_of(std::size_t body) const {
    const std::size_t first = bodies_.at(body, 0);
    const double *h = h_.data() + first, *tp = bodies_.tp.data() + first;
    const bool by_label = !bodies_.units.some_go_together();
    return {state_.width, h, tp, bodies_.fp.data() + first, bodies_.tn.data() + first, bodies_.fn.data() + first,
            bodies_.sign.data() + first, by_label ? h : unit_value_.data() + first, by_label ? tp : unit_tp_.data() + first};
}

// Per label the better of present and absent (present on a tie), if it may be in a head.
void HeadFinder::choose_signs(std::size_t body) {
    const std::size_t width = state_.width, first = bodies_.at(body, 0);
    const double least = options_.is_additive() ? 0.0 : NOTHING;
    double *h = h_.data() + first, *tp = bodies_.tp.data() + first, *fp = bodies_.fp.data() + first;
    std::copy_n(bodies_.h[1].begin() + std::ptrdiff_t(first), width, h);
    const auto usable = [&](std::size_t lane, std::int8_t sign, double right, double wrong) {
        const double value = bodies_.h[sign][first + lane];
        const bool may_be = right > 0 && value > least && bodies_.is_precise(right, wrong);
        return may_be && !bodies_.bars(body, {std::uint32_t(lane), sign}) ? value : NOTHING;
    };
    if (options_.predict_absence || options_.directions.by_label)
        for (std::size_t lane = 0; lane < width; ++lane) {
            h[lane] = usable(lane, 1, tp[lane], fp[lane]);
            if (!options_.predict_absence) continue;
            if (const double absent = usable(lane, 0, fp[lane], tp[lane]); floor_of_ties(absent) > h[lane]) {
                h[lane] = absent;
                bodies_.sign[first + lane] = 0;
                std::swap(tp[lane], fp[lane]);
            }
        }
    const MinPrecision& asked = state_.asked;
    const UsableLabels labels{asked.of_label ? asked.threshold : 0.0, asked.tolerance(), least, asked.surplus(1, 0), asked.surplus(0, -1)};
    Outlook& outlook = outlooks_[body];
    kernels().keep_usable(labels, tp, fp, bodies_.penalty(), width, h, &outlook.highest, &outlook.surplus);
}

// Value and TP of the units, where some labels go together: each must be allowed, and together they must have a TP and add value.
void HeadFinder::value_units() {
    unit_value_.assign(bodies_.size() * state_.width, NOTHING);
    unit_tp_.assign(bodies_.size() * state_.width, 0.0);
    for (std::uint32_t unit = 0; unit < state_.width; ++unit) {
        if (bodies_.bars(unit)) continue;
        std::map<LaneHead, std::vector<std::size_t>> bodies_with;  // these signs
        for (std::size_t body = 0; body < bodies_.size(); ++body) {
            LaneHead labels;
            bodies_.units.each_label(unit, [&](std::uint32_t lane) { labels.push_back({lane, bodies_.sign[bodies_.at(body, lane)]}); });
            if (labels.size() > 1) join_labels(body, labels);
            if (!labels.empty()) bodies_with[labels].push_back(body);
        }
        for (const auto& [labels, bodies] : bodies_with) {
            const Bodies::Worth* worth = labels.size() > 1 ? &bodies_.evaluate(labels) : nullptr;
            for (std::size_t body : bodies) {
                const std::size_t at = bodies_.at(body, unit);
                unit_tp_[at] = worth ? worth->tp[body] : bodies_.tp[at];
                const auto is_out = [&](const SignedLane& s) { return h_[bodies_.at(body, s.lane)] == NOTHING; };
                if (std::any_of(labels.begin(), labels.end(), is_out)) continue;
                if (!worth)
                    unit_value_[at] = h_[at];
                else if (worth->tp[body] > 0 && bodies_.adds_value(worth->tp[body], worth->fp[body]))
                    unit_value_[at] = worth->value[body];
            }
        }
    }
}

// A label that may not be in a head by itself is predicted as present beside those that it goes together with.
void HeadFinder::join_labels(std::size_t body, const LaneHead& labels) {
    for (const SignedLane& s : labels)
        if (const std::size_t at = bodies_.at(body, s.lane); h_[at] == NOTHING && bodies_.allows(body, s)) h_[at] = bodies_.h[1][at];
}

// Whether no head of a body can reach `floor`, or none can be as precise as asked; then it need not be searched.
bool HeadFinder::is_hopeless(std::size_t body, double floor) {
    if (bodies_.units.some_go_together()) return false;
    const auto [highest, surplus] = outlooks_[body];
    const MinPrecision& asked = state_.asked;
    const double most = highest * search_.highest_lift();
    if (!(highest > NOTHING) || (search_.never_rises() && highest > 0 && most < floor))
        finding.bound = highest > NOTHING ? most : NOTHING;
    else if (asked.asks() && surplus < deficit_of_best(body) * (1 - 1e-9 * (asked.threshold != 0.5)))
        finding.slack = Finding::ANY;
    else
        return false;
    return true;
}

// The best label is in every head: how far the others must make up for it to be as precise as asked.
double HeadFinder::deficit_of_best(std::size_t body) const {
    const LabelHeads labels = labels_of(body);
    const double floor = floor_of_ties(outlooks_[body].highest);
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t lane = 0; lane < labels.width; ++lane)
        if (labels.h[lane] >= floor) least = std::min(least, state_.asked.lacking(labels.tp[lane], labels.fp[lane]));
    return least;
}

std::vector<double> HeadFinder::label_values() const {
    std::vector<double> values;
    std::copy_if(h_.begin(), h_.begin() + std::ptrdiff_t(state_.width), std::back_inserter(values), [](double h) { return h > NOTHING; });
    std::sort(values.begin(), values.end(), std::greater<>());
    return values;
}

}  // namespace plurule
