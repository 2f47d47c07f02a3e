// A pass in which every candidate body gets its own best head (single, decomposable, relaxed).
//
// Most candidates cannot win, and most attributes hold none that can. For heuristics that are quotients of linear
// functions, "some label reaches θ" is a linear inequality in the counts, so one addition of small integers per instance
// and label finds the few candidates worth counting exactly. Rounding is always towards keeping a candidate.
#pragma once
#include <cmath>
#include <limits>
#include <vector>

#include "head_search.hpp"
#include "ledger.hpp"
#include "state.hpp"

namespace plurule {

// Tests that a candidate must pass to be worth counting, as sums of small integers over the instances it covers.
// The first: some label reaches the value θ. The second, where only presence is predicted and candidates are
// constrained: some label has TP >= FP and TP >= 1 (with absence there always is one), the same label where the
// constraint is on labels; as a sum, SURPLUS (TP - FP) + TP >= 1, which lets a few others through.
class Scores {
   public:
    void prepare(const State& state, const Quotient& q, double theta, const Options& options,
                 const std::vector<std::uint8_t>& excluded_lane, const std::vector<Row>& rows) {
        const bool absence = options.predict_absence;
        theta_ = theta;
        tests_ = absence || options.min_precision.threshold != 0.5 ? Tests::one
                 : options.min_precision.of_label                     ? Tests::two_on_one_lane
                                                                     : Tests::two;
        lanes_ = state.width * 2;  // present and absent, or the two tests
        double weight[4];
        for (int i = 0; i < 4; ++i) weight[i] = q.top[i] - theta * q.bottom[i];
        const double constant = q.top_constant - theta * q.bottom_constant;
        // What a covered instance moves: it enters tp or fp where it is open, and leaves fn (present) or tn (absent).
        double score[2][8] = {};
        double largest = 1e-300;
        for (int byte = 0; byte < 8; ++byte) {
            const double left = byte & PRESENT ? -weight[3] : -weight[2];
            const bool open_present = byte & OPEN_PRESENT, open_absent = byte & OPEN_ABSENT;
            score[0][byte] = left + (open_present ? weight[0] : 0) + (open_absent ? weight[1] : 0);
            score[1][byte] = left + (open_present ? weight[1] : 0) + (open_absent ? weight[0] : 0);
            largest = std::max({largest, std::fabs(score[0][byte]), std::fabs(score[1][byte])});
        }
        const double scale = std::min(32000.0, MOST / (double(state.n_rows) + 2)) / largest;
        const int surplus = int(std::clamp(MOST / (double(state.n_rows) + 2) - 1, 1.0, SURPLUS));
        std::int16_t rounded[2][8];
        for (int byte = 0; byte < 8; ++byte) {
            rounded[0][byte] = std::int16_t(std::ceil(score[0][byte] * scale));
            rounded[1][byte] = absence ? std::int16_t(std::ceil(score[1][byte] * scale))
                                       : std::int16_t((byte & OPEN_PRESENT ? surplus + 1 : 0) -
                                                      (byte & OPEN_ABSENT ? surplus : 0));
        }
        scores_.resize(state.n_rows * lanes_);
        for (Row row : rows) {
            const std::uint8_t* from = state.bytes.data() + std::size_t(row) * state.width;
            std::int16_t* to = scores_.data() + std::size_t(row) * lanes_;
            for (std::size_t lane = 0; lane < state.width; ++lane) {
                to[lane] = rounded[0][from[lane]];
                to[state.width + lane] = rounded[1][from[lane]];
            }
        }
        start_.assign(lanes_, std::int32_t(-OUT_OF_REACH));
        for (std::size_t label = 0; label < state.label_of_lane.size(); ++label) {
            if (excluded_lane[label]) continue;
            const double fixed = weight[3] * state.present[label] + weight[2] * state.absent[label] + constant;
            const double needed = std::clamp(std::floor(-fixed * scale) - 1, -OUT_OF_REACH, OUT_OF_REACH);
            start_[label] = std::int32_t(-needed);
            start_[state.width + label] = absence ? std::int32_t(-needed) : -1;
        }
        total_.assign(lanes_, 0);
        kernels().add_scores(rows.data(), rows.size(), scores_.data(), lanes_, total_.data());
    }

    double theta() const { return theta_; }
    Tests tests() const { return tests_; }

    // Flags, per group, the candidates worth counting (see `visit_candidates`); gives whether there are any.
    bool flag(const Attribute& attribute, const GroupedRows& grouped, std::size_t n_rows, std::vector<std::uint8_t>& flags) {
        const Kernels& k = kernels();
        whole_ = total_;
        if (!grouped.missing.empty()) {
            sum_.assign(lanes_, 0);
            k.add_scores(grouped.missing.data(), grouped.missing.size(), scores_.data(), lanes_, sum_.data());
            for (std::size_t lane = 0; lane < lanes_; ++lane) whole_[lane] -= sum_[lane];
        }
        flags.assign(grouped.groups() + 1, 0);
        return attribute.nominal ? flag_nominal(attribute, grouped, n_rows, flags) : flag_numeric(attribute, grouped, flags);
    }

   private:
    static constexpr double MOST = 1e9;             // sums stay within this
    static constexpr double OUT_OF_REACH = 1.05e9;  // and never get this far
    static constexpr double SURPLUS = 1000;

    bool flag_nominal(const Attribute& attribute, const GroupedRows& grouped, std::size_t n_rows,
                      std::vector<std::uint8_t>& flags) {
        const Kernels& k = kernels();
        const bool rest_is_there = attribute.rest >= 0 && n_rows > grouped.rows.size();
        bool found = false;
        left_ = whole_;
        for (std::size_t g = 0; g < grouped.groups(); ++g) {
            const std::uint32_t begin = g ? grouped.ends[g - 1] : 0;
            sum_.assign(lanes_, 0);
            k.add_scores(grouped.rows.data() + begin, grouped.ends[g] - begin, scores_.data(), lanes_, sum_.data());
            flags[g] = k.passes(sum_.data(), start_.data(), lanes_, tests_);
            found |= (flags[g] & 1) != 0;
            if (rest_is_there)
                for (std::size_t lane = 0; lane < lanes_; ++lane) left_[lane] -= sum_[lane];
        }
        if (rest_is_there) {
            flags[grouped.groups()] = k.passes(left_.data(), start_.data(), lanes_, tests_);
            found |= (flags[grouped.groups()] & 1) != 0;
        }
        return found;
    }

    bool flag_numeric(const Attribute& attribute, const GroupedRows& grouped, std::vector<std::uint8_t>& flags) {
        // running = start + part; the rest passes where start + whole - part >= 0, that is running <= whole + 2 start.
        limit_.resize(lanes_);
        for (std::size_t lane = 0; lane < lanes_; ++lane)
            limit_[lane] = std::int32_t(std::clamp<std::int64_t>(
                std::int64_t(whole_[lane]) + 2 * std::int64_t(start_[lane]), std::numeric_limits<std::int32_t>::min(),
                std::numeric_limits<std::int32_t>::max()));
        std::size_t split = grouped.groups();
        if (attribute.rest >= 0)
            split = std::size_t(std::lower_bound(grouped.ids.begin(), grouped.ids.end(), attribute.rest) - grouped.ids.begin());
        bool found = false;
        for (bool descending : {false, true}) {
            sum_ = start_;
            const GroupSpan span{grouped.rows.data(), grouped.ends.data(), std::uint32_t(descending ? split : 0),
                                 std::uint32_t(descending ? grouped.groups() : split), descending};
            found |= kernels().flag_groups(span, scores_.data(), lanes_, tests_, sum_.data(), limit_.data(), flags.data());
        }
        return found;
    }

    double theta_ = NOTHING;
    std::size_t lanes_ = 0;
    Tests tests_ = Tests::one;
    std::vector<std::int16_t> scores_;
    std::vector<std::int32_t> start_, total_, whole_, limit_, sum_, left_;
};

// Finds heads for candidates given the counts of what they cover; one per thread.
template <class Count>
class HeadFinder {
   public:
    HeadFinder(const State& state, const Options& options) : state_(state), options_(options), search_(options) {}

    const HeadSearch& search() const { return search_; }

    double best_of_attribute = NOTHING;  // highest value offered since it was last set,
    Place place_of_best;                 // and where
    bool keeps_findings = false;         // whether `finding` is filled in
    Finding finding;                     // about the last candidate considered

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
    void consider(const Place& place, std::int32_t attribute, std::int32_t own_lane, const std::vector<Count>& counters,
                  double floor, Ranking& ranking, SharedBest* shared) {
        finding = Finding{};
        const Count covered = counters[3 * state_.width];
        if (double(covered) < options_.min_coverage) {
            finding.few = finding.many = NOTHING;
            return;
        }
        if (constrained() && !options_.predict_absence && !some_label_is_right(counters)) {
            finding.slack = 1;
            return;
        }
        const Kernels& k = kernels();
        const std::size_t width = state_.width;
        SingleLabelHeads& s = singles_;
        confusion(counters, covered);
        if (options_.heuristic.formula == Formula::custom) {
            for (auto [from, to] : {std::pair{&s.tp, &batch_tp_}, {&s.fp, &batch_fp_}, {&s.tn, &batch_tn_}, {&s.fn, &batch_fn_}})
                to->insert(to->end(), from->begin(), from->end());
            batch_.push_back({place, attribute, own_lane});
            return;
        }
        k.evaluate(options_.heuristic, s.tp.data(), s.fp.data(), s.tn.data(), s.fn.data(), width, s.h.data());
        if (options_.predict_absence)
            k.evaluate(options_.heuristic, s.fp.data(), s.tp.data(), s.tn.data(), s.fn.data(), width, absent_h_.data());
        const auto [highest, surplus] = choose_signs(own_lane, absent_h_.data());
        if (keeps_findings) note_highest(highest);
        if (!(highest > NOTHING)) return;
        if (search_.never_rises() && highest > 0 && highest * search_.highest_lift() < floor) return;
        if (constrained()) {
            const double deficit = deficit_of_best(highest);
            if (surplus < deficit - 1e-9 * deficit * (options_.min_precision.threshold != 0.5)) {
                finding.cut = floor_of_ties(highest);
                finding.slack = options_.predict_absence ? 0 : deficit - surplus;
                return;
            }
        }
        const bool found = search_.search(s, width, floor, found_);
        finding.few = found_.few;
        finding.many = found_.many;
        finding.cut = floor_of_ties(found_.last_looked);
        if (found)
            offer(place, attribute, ranking, shared);
        else if (!(found_.bound() < floor))  // its head is not allowed
            finding.slack = Finding::ANY;
    }

    // Evaluates what `consider` put aside for a heuristic written in Python, all at once.
    void flush(Ranking& ranking) {
        if (batch_.empty()) return;
        const std::size_t width = state_.width, count = batch_tp_.size();
        std::vector<double> h(count), absent_h(options_.predict_absence ? count : 0);
        options_.custom(batch_tp_.data(), batch_fp_.data(), batch_tn_.data(), batch_fn_.data(), count, h.data());
        if (options_.predict_absence)
            options_.custom(batch_fp_.data(), batch_tp_.data(), batch_tn_.data(), batch_fn_.data(), count, absent_h.data());
        std::vector<SingleLabelHeads> singles(batch_.size());
        std::vector<std::vector<std::uint32_t>> orders(batch_.size());
        std::vector<double> plain, sums[4];
        for (std::size_t c = 0; c < batch_.size(); ++c) {
            for (auto [from, to] :
                 {std::pair{&batch_tp_, &singles_.tp}, {&batch_fp_, &singles_.fp}, {&batch_tn_, &singles_.tn}, {&batch_fn_, &singles_.fn}})
                to->assign(from->begin() + std::ptrdiff_t(c * width), from->begin() + std::ptrdiff_t((c + 1) * width));
            std::copy_n(h.data() + c * width, width, singles_.h.data());
            choose_signs(batch_[c].own_lane, absent_h.data() + (options_.predict_absence ? c * width : 0));
            singles[c] = singles_;
            search_.full_order(singles_, width, orders[c]);
            double running[5] = {};
            for (std::size_t i = 0; i < orders[c].size(); ++i) {
                const std::uint32_t lane = orders[c][i];
                const double add[5] = {singles_.tp[lane], singles_.fp[lane], singles_.tn[lane], singles_.fn[lane], singles_.h[lane]};
                for (int j = 0; j < 5; ++j) running[j] += add[j];
                for (int j = 0; j < 4; ++j) sums[j].push_back(running[j]);
                plain.push_back(running[4] / double(i + 1));
            }
        }
        if (!options_.averages_labels && !plain.empty())
            options_.custom(sums[0].data(), sums[1].data(), sums[2].data(), sums[3].data(), plain.size(), plain.data());
        const double* next = plain.data();
        for (std::size_t c = 0; c < batch_.size(); ++c) {
            if (search_.from_prefixes(singles[c], orders[c], next, found_)) {
                std::swap(singles_, singles[c]);
                offer(batch_[c].place, batch_[c].attribute, ranking, nullptr);
            }
            next += orders[c].size();
        }
        batch_.clear();
        for (auto* lanes : {&batch_tp_, &batch_fp_, &batch_tn_, &batch_fn_}) lanes->clear();
    }

   private:
    // Without a label that has TP >= FP no head can have it.
    bool some_label_is_right(const std::vector<Count>& counters) const {
        bool some = false;
        for (std::size_t lane = 0; lane < state_.width; ++lane)
            some |= counters[lane] > 0 && options_.min_precision.met(double(counters[lane]), double(counters[state_.width + lane]));
        return some;
    }

    void confusion(const std::vector<Count>& counters, Count covered) {
        const Kernels& k = kernels();
        SingleLabelHeads& s = singles_;
        if constexpr (std::is_same_v<Count, double>)
            k.weighted_confusion(counters.data(), covered, state_.present.data(), state_.absent.data(), state_.width,
                                 s.tp.data(), s.fp.data(), s.tn.data(), s.fn.data());
        else
            k.confusion(counters.data(), covered, state_.present.data(), state_.absent.data(), state_.width, s.tp.data(),
                        s.fp.data(), s.tn.data(), s.fn.data());
    }

    bool constrained() const { return options_.min_precision.asks(); }
    bool may_be_in_head(double tp, double fp) const {
        return tp > 0 && (!options_.min_precision.of_label || options_.min_precision.met(tp, fp));
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
        const MinPrecision& asked = options_.min_precision;
        const UsableLabels usable{asked.of_label ? asked.threshold : 0.0, asked.tolerance(), options_.is_additive() ? 0.0 : NOTHING,
                                  asked.surplus(1, 0), asked.surplus(0, -1)};
        kernels().keep_usable(usable, s.tp.data(), s.fp.data(), penalty_.data(), width, s.h.data(), &outlook.highest, &outlook.surplus);
        if (own_lane >= 0) penalty_[std::size_t(own_lane)] = own_penalty;
        return outlook;
    }

    void note_highest(double highest) {
        std::vector<double>& h = singles_.h;
        finding.highest = finding.second = highest;
        if (!(highest > NOTHING)) return;
        std::size_t best = 0;
        while (h[best] != highest) ++best;
        finding.label = state_.label_of_lane[best];
        double second = NOTHING;
        h[best] = NOTHING;
        for (std::size_t lane = 0; lane < state_.width; ++lane) second = std::max(second, h[lane]);
        h[best] = highest;
        finding.second = second;
    }

    // The best label is in every head: how far the others must make up for it to reach TP >= FP.
    double deficit_of_best(double highest) const {
        const double floor = floor_of_ties(highest);
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t lane = 0; lane < state_.width; ++lane)
            if (singles_.h[lane] >= floor) least = std::min(least, std::max(0.0, -options_.min_precision.surplus(singles_.tp[lane], singles_.fp[lane])));
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
        if (found_.value > best_of_attribute) {
            best_of_attribute = found_.value;
            place_of_best = place;
        }
    }

    struct Waiting {
        Place place;
        std::int32_t attribute, own_lane;
    };

    const State& state_;
    const Options& options_;
    HeadSearch search_;
    std::vector<double> penalty_;  // per lane: -inf where the label must not be in the head
    std::int32_t parent_ = 0, conditions_ = 0;
    SingleLabelHeads singles_;
    std::vector<double> absent_h_;
    FoundHead found_;
    std::vector<Waiting> batch_;
    std::vector<double> batch_tp_, batch_fp_, batch_tn_, batch_fn_;
};

}  // namespace plurule
