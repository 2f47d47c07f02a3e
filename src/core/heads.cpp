#include "heads.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace plurule {

namespace {
constexpr std::uint32_t NONE = ~std::uint32_t(0);
}

HeadFinder::HeadFinder(const State& state, const Options& options) : state_(state), options_(options) {
    const auto& lift = options.lift;
    highest_left_.assign(lift.size(), NOTHING);
    for (std::size_t k = lift.size(); k-- > 1;) highest_left_[k - 1] = std::max(highest_left_[k], lift[k]);
    if (options.head_search == HeadSearchKind::relaxed)
        for (double factor : lift) highest_lift_ = std::max(highest_lift_, factor);
    // Summing or averaging better labels with worse ones cannot raise the value above the best of them.
    const Formula f = options.heuristic.formula;
    never_rises_ = options.head_search == HeadSearchKind::single || options.averages_labels || f == Formula::precision ||
                   f == Formula::recall || f == Formula::f_measure;
}

void HeadFinder::start(const std::vector<Condition>& refined, const std::vector<std::int32_t>& labels) {
    refined_ = refined;
    labels_ = labels;
    const std::size_t n = labels.size();
    h_.resize(n);
    right_.resize(n);
    wrong_.resize(n);
    sign_.resize(n);
}

void HeadFinder::add(std::size_t attribute, const Split& split, const std::vector<double>& counts) {
    const double covered = counts.back();
    if (covered < options_.min_coverage || options_.directions.forbids_all(attribute, split)) return;
    bodies_.push_back({attribute, split, 0});
    for (std::size_t i = 0; i < labels_.size(); ++i) {
        const double present = counts[3 * i + 2], all_present = state_.labels[std::size_t(labels_[i])].present;
        tp_.push_back(counts[3 * i]);
        fp_.push_back(counts[3 * i + 1]);
        fn_.push_back(all_present - present);
        tn_.push_back((state_.weight_of_rows - all_present) - (covered - present));
    }
}

// Values every label as a head of its own.
void HeadFinder::value_labels() {
    if (bodies_.empty()) return;
    present_h_.resize(tp_.size());
    options_.evaluate(tp_.data(), fp_.data(), tn_.data(), fn_.data(), tp_.size(), present_h_.data());
    if (options_.predict_absence) {
        absent_h_.resize(tp_.size());
        options_.evaluate(fp_.data(), tp_.data(), tn_.data(), fn_.data(), tp_.size(), absent_h_.data());
    }
    if (options_.is_custom() && !options_.averages_labels && options_.head_search != HeadSearchKind::single)
        value_custom_prefixes();
}

void HeadFinder::value_custom_prefixes() {
    std::vector<double> counts[4];
    for (std::size_t body = 0; body < bodies_.size(); ++body) {
        bodies_[body].first_prefix = counts[0].size();
        choose_signs(body);
        while (take_next()) {
            const double sums[4] = {sum_tp_, sum_fp_, sum_tn_, sum_fn_};
            for (int i = 0; i < 4; ++i) counts[i].push_back(sums[i]);
        }
    }
    prefix_values_.resize(counts[0].size());
    if (!counts[0].empty())
        options_.evaluate(counts[0].data(), counts[1].data(), counts[2].data(), counts[3].data(), counts[0].size(),
                          prefix_values_.data());
}

// Whether a label, predicted so, may not be in the head of a body.
bool HeadFinder::forbids(const Body& body, std::size_t label, bool present) const {
    const auto by = [&](std::size_t attribute, const Split& split) {
        const std::size_t n = state_.n_attributes();
        if (attribute == NO_ATTRIBUTE) return false;
        if (attribute >= n) return attribute - n == label || options_.pairs.are_apart(attribute - n, label, state_.n_labels);
        return options_.directions.by_label && options_.directions.forbids(attribute, split, label, present);
    };
    return by(body.attribute, body.split) ||
           std::any_of(refined_.begin(), refined_.end(), [&](const Condition& c) { return by(c.attribute, c.split); });
}

// Per label the better of present and absent (present on a tie), if it may be in a head.
void HeadFinder::choose_signs(std::size_t body) {
    const std::size_t n = labels_.size(), first = body * n;
    const bool may_forbid = options_.directions.by_label || !options_.pairs.apart.empty();
    const double least = options_.is_additive() ? 0.0 : NOTHING;
    const MinPrecision required = state_.required;
    body_ = body;
    ranked_.clear();
    taken_.clear();
    next_ = ties_end_ = 0;
    sum_h_ = sum_tp_ = sum_fp_ = sum_tn_ = sum_fn_ = 0;
    const auto usable = [&](std::size_t i, bool present, double value, double right, double wrong) {
        const bool may_be = right > 0 && value > least && !(required.of_label && !required.met(right, wrong));
        return may_be && !(may_forbid && forbids(bodies_[body], std::size_t(labels_[i]), present)) ? value : NOTHING;
    };
    for (std::size_t i = 0; i < n; ++i) {
        const double tp = tp_[first + i], fp = fp_[first + i];
        h_[i] = usable(i, true, present_h_[first + i], tp, fp);
        sign_[i] = 1;
        if (options_.predict_absence) {
            const double absent = usable(i, false, absent_h_[first + i], fp, tp);
            if (floor_of_ties(absent) > h_[i]) {
                h_[i] = absent;
                sign_[i] = 0;
            }
        }
        right_[i] = sign_[i] ? tp : fp;
        wrong_[i] = sign_[i] ? fp : tp;
        if (h_[i] > NOTHING) ranked_.push_back({h_[i], std::uint32_t(i)});
    }
}

// --- labels, best first

// Values equal within the tolerance are ties, led by the highest of them; among them more TP, then the order of labels.
bool HeadFinder::find_ties() {
    if (options_.head_search == HeadSearchKind::decomposable && next_ > 0) return false;
    if (next_ == ranked_.size()) return false;
    if (next_ == 0) std::ranges::sort(ranked_, std::greater<>(), &Ranked::value);
    const double floor = floor_of_ties(ranked_[next_].value);
    while (ties_end_ < ranked_.size() && ranked_[ties_end_].value >= floor) ++ties_end_;
    if (ties_end_ == next_ + 1) return true;
    std::sort(ranked_.begin() + std::ptrdiff_t(next_), ranked_.begin() + std::ptrdiff_t(ties_end_),
              [this](const Ranked& a, const Ranked& b) {
                  return right_[a.at] != right_[b.at] ? right_[a.at] > right_[b.at] : a.at < b.at;
              });
    return true;
}

std::uint32_t HeadFinder::next() {
    if (next_ == ties_end_ && !find_ties()) return NONE;
    return ranked_[next_++].at;
}

// Takes the next label in order that may go with those before it.
bool HeadFinder::take_next() {
    std::uint32_t i = next();
    if (options_.heads_can_clash())
        while (i != NONE && std::any_of(taken_.begin(), taken_.end(), [&](std::uint32_t other) {
                   return options_.clash(std::size_t(labels_[i]), std::size_t(labels_[other]), state_.n_labels);
               }))
            i = next();
    if (i == NONE) return false;
    const std::size_t at = body_ * labels_.size() + i;
    taken_.push_back(i);
    sum_h_ += h_[i];
    sum_tp_ += right_[i];
    sum_fp_ += wrong_[i];
    sum_tn_ += tn_[at];
    sum_fn_ += fn_[at];
    return true;
}

// What the head of all labels taken so far is worth, without a lift.
double HeadFinder::value_of_taken() const {
    if (options_.averages_labels) return sum_h_ / double(taken_.size());
    if (options_.is_custom()) return prefix_values_[bodies_[body_].first_prefix + taken_.size() - 1];
    return value_of(options_.heuristic, sum_tp_, sum_fp_, sum_tn_, sum_fn_);
}

const FoundHead& HeadFinder::find(std::size_t body, double floor) {
    found_.value = NOTHING;
    choose_signs(body);
    double highest = NOTHING;
    for (const Ranked& label : ranked_) highest = std::max(highest, label.value);
    if (highest == NOTHING || (never_rises_ && highest > 0 && highest * highest_lift_ < floor)) return found_;
    if (options_.head_search == HeadSearchKind::relaxed) {
        relaxed(floor);
    } else {
        take_next();
        if (options_.head_search == HeadSearchKind::decomposable)
            while (take_next()) continue;
        finish(taken_.size(), options_.head_search == HeadSearchKind::single ? h_[taken_[0]] : value_of_taken());
    }
    if (found_.value > NOTHING && !state_.required.met(found_.tp, found_.fp)) found_.value = NOTHING;
    return found_;
}

// Grows the head label by label; keeps the best lifted value, the longer head on a tie. h_k · max ρ(i > k) bounds every longer
// head.
void HeadFinder::relaxed(double floor) {
    reached_.clear();
    double best = NOTHING;
    while (take_next()) {
        const std::size_t length = taken_.size();
        const double plain = value_of_taken();
        reached_.push_back(plain * options_.lift[length - 1]);
        best = std::max(best, reached_.back());
        const double possible = plain * highest_left_[length - 1];
        if (possible < floor_of_ties(best)) break;
        if (never_rises_ && plain > 0 && std::max(best, possible) < floor) return;
    }
    const double ties = floor_of_ties(best);
    while (!reached_.empty() && !(std::isfinite(reached_.back()) && reached_.back() >= ties)) reached_.pop_back();
    if (!reached_.empty()) finish(reached_.size(), reached_.back());
}

// The head of the first labels taken.
void HeadFinder::finish(std::size_t length, double value) {
    found_.value = value;
    found_.head.clear();
    found_.tp = found_.fp = 0;
    for (std::size_t k = 0; k < length; ++k) {
        const std::uint32_t i = taken_[k];
        found_.tp += right_[i];
        found_.fp += wrong_[i];
        found_.head.push_back({labels_[i], std::int8_t(sign_[i])});
    }
    std::sort(found_.head.begin(), found_.head.end());
}

}  // namespace plurule
