// The best head of a candidate body (single, decomposable, relaxed), exactly, from the counts of what it covers.
#pragma once
#include <cmath>
#include <limits>
#include <vector>

#include "head_search.hpp"
#include "count_table.hpp"
#include "state.hpp"

namespace plurule {

// Finds heads for candidates given the counts of what they cover; one per thread.
class HeadFinder {
   public:
    HeadFinder(const State& state, const Options& options) : state_(state), options_(options), search_(options) {}

    const HeadSearch& search() const { return search_; }

    Finding finding;                     // about the last candidate considered
    double best_value = NOTHING;         // the highest that was offered since it was last set,
    std::size_t best_length = 0;         // the length of that head,
    std::vector<double> best_labels;     // and the values of all labels, best first

    // Before a pass (and for each parent of it).
    void start(const std::vector<std::uint8_t>& excluded_lane, std::int32_t parent, std::int32_t conditions) {
        parent_ = parent;
        conditions_ = conditions;
        const std::size_t width = state_.width;
        singles_.resize(width);
        absent_h_.resize(width);
        singles_.sign.assign(width, 1);
        penalty_.assign(width, NOTHING);
        for (std::size_t lane = 0; lane < state_.label_of_lane.size(); ++lane)
            if (!excluded_lane[lane]) penalty_[lane] = 0;
    }

    // `counters`: open present, open absent, present, one lane per label each; then the weight covered.
    void consider(const Place& place, std::int32_t attribute, std::int32_t own_lane, const std::vector<double>& counters,
                  double floor, Ranking& ranking, SharedBest* shared) {
        finding = Finding{};
        const double covered = counters[3 * state_.width];
        if (covered < options_.min_coverage || options_.directions.bars_all(attribute, place)) {
            finding = {NOTHING, Finding::ANY, 0};
            return;
        }
        if (constrained() && !options_.predict_absence && !some_label_is_right(counters)) {
            finding = {Finding::ANY, Finding::ANY, 1};
            return;
        }
        const Kernels& k = kernels();
        const std::size_t width = state_.width;
        SingleLabelHeads& s = singles_;
        k.confusion(counters.data(), covered, state_.present.data(), state_.absent.data(), width, s.tp.data(), s.fp.data(), s.tn.data(),
                    s.fn.data());
        k.evaluate(options_.heuristic, s.tp.data(), s.fp.data(), s.tn.data(), s.fn.data(), width, s.h.data());
        if (options_.predict_absence)
            k.evaluate(options_.heuristic, s.fp.data(), s.tp.data(), s.tn.data(), s.fn.data(), width, absent_h_.data());
        const auto [highest, surplus] = choose_signs(own_lane, absent_h_.data());
        if (!(highest > NOTHING)) {
            finding.bound = NOTHING;
            return;
        }
        if (search_.never_rises() && highest > 0 && highest * search_.highest_lift() < floor) {
            finding.bound = highest * search_.highest_lift();
            return;
        }
        if (constrained() && surplus < deficit_of_best(highest) * (1 - 1e-9 * (state_.asked.threshold != 0.5))) {
            finding.slack = Finding::ANY;
            return;
        }
        const bool found = search_.search(s, width, floor, found_) && state_.asked.met(found_.tp, found_.fp);
        finding.bound = found_.bound;
        finding.cut = options_.is_additive() ? NOTHING : floor_of_ties(found_.last_looked);
        if (found)
            offer(place, attribute, ranking, shared);
        else if (!(found_.bound < floor))  // its head is not allowed
            finding.slack = Finding::ANY;
    }

   private:
    // Without a label that has TP >= FP no head can have it.
    bool some_label_is_right(const std::vector<double>& counters) const {
        bool some = false;
        for (std::size_t lane = 0; lane < state_.width; ++lane)
            some |= counters[lane] > 0 && state_.asked.met(counters[lane], counters[state_.width + lane]);
        return some;
    }

    bool constrained() const { return state_.asked.asks(); }
    bool may_be_in_head(double tp, double fp) const {
        return tp > 0 && (!state_.asked.of_label || state_.asked.met(tp, fp));
    }

    struct Outlook {
        double highest;  // value of the best label
        double surplus;  // sum of TP - FP over the labels where it is above 0
    };

    // Per label the better of present and absent (present on a tie), if it may be in a head.
    Outlook choose_signs(std::int32_t own_lane, const double* absent_h) {
        const std::size_t width = state_.width;
        SingleLabelHeads& s = singles_;
        double own_penalty = 0;
        if (own_lane >= 0) std::swap(own_penalty, penalty_[std::size_t(own_lane)]), penalty_[std::size_t(own_lane)] = NOTHING;
        if (options_.predict_absence)
            for (std::size_t lane = 0; lane < width; ++lane) {
                const double present = may_be_in_head(s.tp[lane], s.fp[lane]) ? s.h[lane] : NOTHING;
                const double absent = may_be_in_head(s.fp[lane], s.tp[lane]) ? absent_h[lane] : NOTHING;
                s.sign[lane] = 1;
                if (floor_of_ties(absent) > present) {
                    s.sign[lane] = 0;
                    s.h[lane] = absent;
                    std::swap(s.tp[lane], s.fp[lane]);
                }
            }
        Outlook outlook{};
        const MinPrecision& asked = state_.asked;
        const UsableLabels usable{asked.of_label ? asked.threshold : 0.0, asked.tolerance(), options_.is_additive() ? 0.0 : NOTHING,
                                  asked.surplus(1, 0), asked.surplus(0, -1)};
        kernels().keep_usable(usable, s.tp.data(), s.fp.data(), penalty_.data(), width, s.h.data(), &outlook.highest, &outlook.surplus);
        if (own_lane >= 0) penalty_[std::size_t(own_lane)] = own_penalty;
        return outlook;
    }

    // The best label is in every head: how far the others must make up for it to reach TP >= FP.
    double deficit_of_best(double highest) const {
        const double floor = floor_of_ties(highest);
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t lane = 0; lane < state_.width; ++lane)
            if (singles_.h[lane] >= floor) least = std::min(least, state_.asked.lacking(singles_.tp[lane], singles_.fp[lane]));
        return least;
    }

    void offer(const Place& place, std::int32_t attribute, Ranking& ranking, SharedBest* shared) {
        if (!(found_.value > NOTHING) || found_.value < ranking.floor()) return;
        Candidate candidate;
        candidate.value = found_.value;
        candidate.tp = found_.tp;
        candidate.fp = found_.fp;
        candidate.parent = parent_;
        candidate.attribute = attribute;
        candidate.place = place;
        candidate.conditions = conditions_ + (attribute >= 0);
        for (std::uint32_t lane : found_.lanes)
            candidate.head.push_back({state_.label_of_lane[lane], singles_.sign[lane]});
        std::sort(candidate.head.begin(), candidate.head.end());
        ranking.offer(std::move(candidate));
        if (shared) shared->raise(found_.value);
        if (found_.value > best_value) {
            best_value = found_.value;
            best_labels.clear();
            best_length = found_.lanes.size();
            for (double h : singles_.h)
                if (h > NOTHING) best_labels.push_back(h);
            std::sort(best_labels.begin(), best_labels.end(), std::greater<>());
        }
    }

    const State& state_;
    const Options& options_;
    HeadSearch search_;
    std::vector<double> penalty_;  // per lane: -inf where the label must not be in the head
    std::int32_t parent_ = 0, conditions_ = 0;
    SingleLabelHeads singles_;
    std::vector<double> absent_h_;
    FoundHead found_;
};

}  // namespace plurule
