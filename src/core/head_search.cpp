#include "head_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plurule {

HeadSearch::HeadSearch(const Options& options) : options_(options) {
    const auto& lift = options.lift;
    highest_left_.assign(lift.size(), NOTHING);
    for (std::size_t k = lift.size(); k-- > 1;) highest_left_[k - 1] = std::max(highest_left_[k], lift[k]);
    if (options.head_search == HeadSearchKind::relaxed)
        for (double factor : lift) highest_ = std::max(highest_, factor);
    // Summing or averaging better labels with worse ones cannot raise the value above the best of them.
    const Formula f = options.heuristic.formula;
    never_rises_ = options.head_search == HeadSearchKind::single || options.averages_labels || f == Formula::precision ||
                   f == Formula::recall || (f == Formula::f_measure && options.heuristic.shrinkage == 0);
}

// Takes the next unit in order that clashes with none before it.
inline bool HeadSearch::take_next(const LabelHeads& labels, const Units& units, FoundHead& found) {
    std::int32_t unit = order_.next();
    while (unit >= 0 && units.some_clash() && units.clashes(std::uint32_t(unit), found.head)) unit = order_.next();
    if (unit < 0) return false;
    found.last_looked = labels.unit_value[unit];
    units.each_label(std::uint32_t(unit), [&](std::uint32_t lane) {
        found.head.push_back({lane, labels.sign[lane]});
        sums_.h += labels.h[lane];
        sums_.tp += labels.tp[lane];
        sums_.fp += labels.fp[lane];
        sums_.tn += labels.tn[lane];
        sums_.fn += labels.fn[lane];
    });
    return true;
}

// What the head of all units taken so far is worth, without a lift.
inline double HeadSearch::value(std::size_t length) {
    if (options_.averages_labels) return sums_.h / double(length);
    if (!options_.is_custom()) return value_of(options_.heuristic, sums_.tp, sums_.fp, sums_.tn, sums_.fn);
    if (!notes_) return values_[next_++];
    const double counts[4] = {sums_.tp, sums_.fp, sums_.tn, sums_.fn};
    for (int i = 0; i < 4; ++i) beginnings_[i].push_back(counts[i]);
    return std::numeric_limits<double>::quiet_NaN();
}

void HeadSearch::search(const LabelHeads& labels, const Units& units, double floor, FoundHead& found) {
    order_.start(labels.unit_value, labels.unit_tp, labels.width, options_.head_search == HeadSearchKind::decomposable);
    sums_ = Sums{};
    found.head.clear();
    found.value = found.bound = NOTHING;
    if (notes_) found.beginnings = beginnings_[0].size();
    next_ = found.beginnings;
    if (options_.head_search == HeadSearchKind::relaxed) return relaxed(labels, units, floor, found);
    if (!take_next(labels, units, found)) return;
    if (options_.head_search == HeadSearchKind::single) {
        found.bound = found.last_looked;
    } else {
        while (take_next(labels, units, found)) continue;
        found.bound = value(found.head.size());
    }
    finish(labels, found.head.size(), found.bound, found);
}

// Grows the head unit by unit; keeps the best lifted value, the longer head on a tie.
void HeadSearch::relaxed(const LabelHeads& labels, const Units& units, double floor, FoundHead& found) {
    reached_.clear();
    double& best = found.bound;
    while (take_next(labels, units, found)) {
        const std::size_t length = found.head.size();
        const double plain = value(length);
        reached_.emplace_back(length, plain * options_.lift[length - 1]);
        best = std::max(best, reached_.back().second);
        const double possible = plain * highest_left_[length - 1];
        if (possible < floor_of_ties(best)) break;
        if (never_rises_ && plain > 0 && std::max(best, possible) < floor) {
            best = std::max(best, possible);
            return;
        }
    }
    const double ties = floor_of_ties(best);
    while (!reached_.empty() && !(std::isfinite(reached_.back().second) && reached_.back().second >= ties)) reached_.pop_back();
    if (!reached_.empty()) finish(labels, reached_.back().first, reached_.back().second, found);
}

// The head of the first labels taken.
void HeadSearch::finish(const LabelHeads& labels, std::size_t length, double value, FoundHead& found) const {
    found.value = value;
    found.head.resize(length);
    found.tp = found.fp = 0;
    for (const SignedLane& s : found.head) {
        found.tp += labels.tp[s.lane];
        found.fp += labels.fp[s.lane];
    }
}

void HeadSearch::note_beginnings() {
    for (auto& counts : beginnings_) counts.clear();
    notes_ = true;
}

void HeadSearch::value_beginnings() {
    const auto& [tp, fp, tn, fn] = beginnings_;
    values_.resize(tp.size());
    if (!tp.empty()) options_.evaluate(tp.data(), fp.data(), tn.data(), fn.data(), tp.size(), values_.data());
    notes_ = false;
}

}  // namespace plurule
