// Head searches over label sets: anti-monotone and exhaustive, and every search for example-based heuristics.
//
// All candidates of one attribute are searched together. A first run finds the best value of each, a second run picks
// the head: more labels, then more TP, then the first.
#pragma once
#include <cmath>
#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>
#include <vector>

#include "head_search.hpp"
#include "state.hpp"

namespace plurule {

// More heads of one length than this are equally good for one body.
constexpr std::size_t MOST_HEADS = 4096;
struct TooManyHeads : std::length_error {
    TooManyHeads() : std::length_error("too many heads are equally good") {}
};

class LabelSetSearch {
   public:
    // Sums four values per row over the rows that each candidate covers; given as rows × 4, returned as candidates × 4.
    using SumRows = std::function<void(const std::vector<double>&, std::vector<double>&)>;

    // `check_stop` is called between heads; there may be very many of them.
    LabelSetSearch(const State& state, const Options& options, std::function<void()> check_stop)
        : state_(state), options_(options), check_stop_(std::move(check_stop)) {}

    std::vector<Place> places;
    std::vector<double> tp, fp, tn, fn;  // candidates × lanes, every label predicted present

    void clear() {
        places.clear();
        for (auto* counts : {&tp, &fp, &tn, &fn}) counts->clear();
    }

    // Gives the found heads through found(candidate, value, tp, fp, head).
    template <class Found>
    void search(const std::vector<std::uint8_t>& excluded_lane, std::int32_t own_lane, const SumRows& sum_rows,
                Found&& found) {
        const std::size_t count = places.size();
        if (!count) return;
        sum_rows_ = &sum_rows;
        lanes_.clear();
        for (std::size_t lane = 0; lane < state_.label_of_lane.size(); ++lane)
            if (!excluded_lane[lane] && std::int32_t(lane) != own_lane) lanes_.push_back(std::uint32_t(lane));
        std::vector<double> best(count, NOTHING);
        enumerate([&](const Head&, std::size_t c) { best[c] = std::max(best[c], value_[c]); });
        std::vector<double> value(count, NOTHING), head_tp(count, 0), head_fp(count, 0);
        std::vector<Head> heads(count);
        enumerate([&](const Head& head, std::size_t c) {
            if (!(value_[c] >= floor_of_ties(best[c]))) return;
            const bool longer = head.size() > heads[c].size();
            if (!longer && !(head.size() == heads[c].size() && tp_[c] > head_tp[c])) return;
            heads[c] = head;
            value[c] = value_[c];
            head_tp[c] = tp_[c];
            head_fp[c] = fp_[c];
        });
        for (std::size_t c = 0; c < count; ++c)
            if (value[c] > NOTHING && options_.min_precision.met(head_tp[c], head_fp[c])) {
                std::vector<Assignment> assignments;
                for (const auto& [lane, sign] : heads[c]) assignments.push_back({state_.label_of_lane[lane], sign});
                found(c, value[c], head_tp[c], head_fp[c], std::move(assignments));
            }
    }

   protected:
    struct Signed {
        std::uint32_t lane;
        std::int8_t sign;
        auto operator<=>(const Signed&) const = default;
    };
    using Head = std::vector<Signed>;

    // Breadth-first over label sets, in label order and present before absent. The anti-monotone search goes on from a
    // head only where all that it contains are as good as the best.
    template <class Visit>
    void enumerate(Visit&& visit) {
        const std::size_t count = places.size();
        const bool cut = options_.head_search == HeadSearchKind::anti_monotone;
        const std::size_t longest = options_.head_search == HeadSearchKind::single ? 1 : lanes_.size();
        std::map<Head, std::vector<std::uint8_t>> alive{{Head{}, std::vector<std::uint8_t>(count, 1)}};
        std::vector<double> best(count, NOTHING);
        for (std::size_t length = 1; length <= longest && !alive.empty(); ++length) {
            std::vector<Head> level;
            for (const auto& [head, mask] : alive)
                for (std::uint32_t lane : lanes_)
                    if (head.empty() || lane > head.back().lane)
                        for (std::int8_t sign = 1; sign >= (options_.predict_absence ? 0 : 1); --sign) {
                            level.push_back(head);
                            level.back().push_back({lane, sign});
                        }
            std::sort(level.begin(), level.end(), in_order);
            std::map<Head, std::vector<double>> reached;
            for (const Head& head : level) {
                check_stop_();
                std::vector<std::uint8_t> reachable(count, 1);
                if (cut)
                    for (std::size_t left_out = 0; left_out < length; ++left_out) {
                        Head part = head;
                        part.erase(part.begin() + std::ptrdiff_t(left_out));
                        const auto shorter = alive.find(part);
                        for (std::size_t c = 0; c < count; ++c)
                            reachable[c] = reachable[c] && shorter != alive.end() && shorter->second[c];
                    }
                bool any = false;
                for (std::size_t c = 0; c < count; ++c) {
                    reachable[c] = reachable[c] && usable(head, c);
                    any |= reachable[c] != 0;
                }
                if (!any) continue;
                evaluate(head);
                for (std::size_t c = 0; c < count; ++c) {
                    if (!reachable[c] || !std::isfinite(value_[c])) {
                        value_[c] = NOTHING;
                        continue;
                    }
                    if (options_.head_search == HeadSearchKind::exhaustive) value_[c] *= options_.lift[length - 1];
                    best[c] = std::max(best[c], value_[c]);
                    visit(head, c);
                }
                reached.emplace(head, value_);
            }
            alive.clear();
            for (const auto& [head, values] : reached) {
                std::vector<std::uint8_t> mask(count);
                bool any = false;
                for (std::size_t c = 0; c < count; ++c) {
                    mask[c] = values[c] > NOTHING && (!cut || values[c] >= floor_of_ties(best[c]));
                    any |= mask[c] != 0;
                }
                if (any) alive.emplace(head, std::move(mask));
            }
            if (cut) expect_few(alive, count);
        }
    }

    // The number of heads that are equally good grows beyond all bounds where labels are equal almost everywhere.
    static void expect_few(const std::map<Head, std::vector<std::uint8_t>>& alive, std::size_t count) {
        if (alive.size() <= MOST_HEADS) return;
        std::vector<std::size_t> heads(count, 0);
        for (const auto& [head, mask] : alive)
            for (std::size_t c = 0; c < count; ++c) heads[c] += mask[c];
        if (std::any_of(heads.begin(), heads.end(), [](std::size_t n) { return n > MOST_HEADS; })) throw TooManyHeads();
    }

    static bool in_order(const Head& a, const Head& b) {
        for (std::size_t i = 0; i < a.size(); ++i)
            if (a[i].lane != b[i].lane) return a[i].lane < b[i].lane;
        for (std::size_t i = 0; i < a.size(); ++i)
            if (a[i].sign != b[i].sign) return a[i].sign > b[i].sign;
        return false;
    }

    bool usable(const Head& head, std::size_t c) const {
        for (const auto& [lane, sign] : head) {
            const double right = (sign ? tp : fp)[c * state_.width + lane];
            const double wrong = (sign ? fp : tp)[c * state_.width + lane];
            if (!(right > 0) || !adds_value(right, wrong) || (options_.min_precision.of_label && !options_.min_precision.met(right, wrong))) return false;
        }
        return true;
    }

    // Whether what is predicted with these counts, a label or what goes together with it, may be in a head for its value.
    bool adds_value(double right, double wrong) const {
        return !options_.is_additive() || value_of(options_.heuristic, right, wrong, 0, 0) > 0;
    }

    // Fills value_, tp_, fp_ for one head and all candidates.
    void evaluate(const Head& head) {
        const std::size_t count = places.size(), width = state_.width;
        for (auto* sums : {&tp_, &fp_, &tn_, &fn_, &value_}) sums->assign(count, 0.0);
        std::vector<double> part[4], h(count);
        for (auto& p : part) p.resize(count);
        for (const auto& [lane, sign] : head) {
            for (std::size_t c = 0; c < count; ++c) {
                const std::size_t at = c * width + lane;
                part[0][c] = sign ? tp[at] : fp[at];
                part[1][c] = sign ? fp[at] : tp[at];
                part[2][c] = tn[at];
                part[3][c] = fn[at];
                tp_[c] += part[0][c];
                fp_[c] += part[1][c];
                tn_[c] += part[2][c];
                fn_[c] += part[3][c];
            }
            if (options_.averages_labels && !options_.example_based) {
                values(part[0], part[1], part[2], part[3], h);
                for (std::size_t c = 0; c < count; ++c) value_[c] += h[c];
            }
        }
        if (options_.example_based) {
            whole_instances(head);
        } else if (options_.averages_labels) {
            for (double& value : value_) value /= double(head.size());
        } else {
            values(tp_, fp_, tn_, fn_, value_);
        }
    }

    void whole_instances(const Head& head) {
        std::vector<double> rows(state_.n_rows * 4, 0.0), sums;
        double absent = 0, present = 0;
        for (Row row : state_.training.rows) {
            const std::uint8_t* bytes = state_.bytes.data() + std::size_t(row) * state_.width;
            bool open = false, right = true, some = false;
            for (const auto& [lane, sign] : head) {
                open |= (bytes[lane] & (OPEN_PRESENT | OPEN_ABSENT)) != 0;
                right &= ((bytes[lane] & PRESENT) != 0) == (sign != 0);
                some |= (bytes[lane] & PRESENT) != 0;
            }
            if (!open) continue;
            const double weight = state_.weight(row);
            rows[std::size_t(row) * 4 + (right ? 0 : 1)] = weight;
            rows[std::size_t(row) * 4 + (some ? 3 : 2)] = weight;
            (some ? present : absent) += weight;
        }
        (*sum_rows_)(rows, sums);
        if (sums.size() != 4 * places.size()) throw std::logic_error("candidates were summed that had not been counted");
        std::vector<double> counts[4];
        for (auto& c : counts) c.resize(places.size());
        for (std::size_t c = 0; c < places.size(); ++c) {
            counts[0][c] = sums[4 * c];
            counts[1][c] = sums[4 * c + 1];
            counts[2][c] = absent - sums[4 * c + 2];
            counts[3][c] = present - sums[4 * c + 3];
        }
        values(counts[0], counts[1], counts[2], counts[3], value_);
    }

    void values(const std::vector<double>& a, const std::vector<double>& b, const std::vector<double>& c,
                const std::vector<double>& d, std::vector<double>& out) const {
        if (options_.heuristic.formula == Formula::custom)
            options_.custom(a.data(), b.data(), c.data(), d.data(), a.size(), out.data());
        else
            kernels().evaluate(options_.heuristic, a.data(), b.data(), c.data(), d.data(), a.size(), out.data());
    }

    const State& state_;
    const Options& options_;
    std::function<void()> check_stop_;
    const SumRows* sum_rows_ = nullptr;
    std::vector<std::uint32_t> lanes_;
    std::vector<double> tp_, fp_, tn_, fn_, value_;
};

}  // namespace plurule
