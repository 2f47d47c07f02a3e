// The best head for one candidate body, from the values of its single-label heads.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "options.hpp"
#include "ranking.hpp"

namespace plurule {

// The single-label heads of one candidate, one lane per label: the better sign of each.
struct SingleLabelHeads {
    std::vector<double> h, tp, fp, tn, fn;
    std::vector<std::int8_t> sign;

    void resize(std::size_t width) {
        for (auto* lanes : {&h, &tp, &fp, &tn, &fn}) lanes->resize(width);
        sign.resize(width);
    }
};

// The labels of a candidate, best first, worked out only as far as they are asked for.
// Values equal within the tolerance form one group, led by the highest of them; within it more TP, then label order.
class BestFirst {
   public:
    void start(const SingleLabelHeads& singles, std::size_t width) {
        singles_ = &singles;
        ready_.clear();
        next_ = 0;
        const double* h = singles.h.data();
        double highest = NOTHING, lowest = std::numeric_limits<double>::infinity();
        std::size_t count = 0;
        entries_.resize(width);
        for (std::size_t lane = 0; lane < width; ++lane) {
            entries_[count] = {h[lane], std::uint32_t(lane), 0};
            const bool usable = h[lane] > NOTHING;
            count += usable;
            highest = std::max(highest, h[lane]);
            lowest = std::min(lowest, usable ? h[lane] : lowest);
        }
        count_ = count;
        begin_ = end_ = 0;
        bin_ = 0;
        if (count <= FEW) {
            sorted_.assign(entries_.begin(), entries_.begin() + std::ptrdiff_t(count));
            order(0, count);
            end_ = count;
            bin_ = BINS;
            return;
        }
        const double scale = highest > lowest ? (BINS - 1) / (highest - lowest) : 0.0;
        std::uint32_t at[BINS + 1] = {};
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t bin = std::uint32_t((highest - entries_[i].h) * scale);
            entries_[i].bin = bin;
            ++at[bin + 1];
        }
        for (std::size_t bin = 0; bin < BINS; ++bin) {
            at[bin + 1] += at[bin];
            ends_[bin] = at[bin + 1];
        }
        sorted_.resize(count);
        for (std::size_t i = 0; i < count; ++i) sorted_[at[entries_[i].bin]++] = entries_[i];
    }
    // The next label, or -1.
    std::int32_t next() {
        if (next_ == ready_.size() && !fill()) return -1;
        return std::int32_t(ready_[next_++]);
    }
    bool group_is_finished() const { return next_ == ready_.size(); }

   private:
    static constexpr std::size_t FEW = 16, BINS = 128;
    struct Label { double h; std::uint32_t lane, bin; };

    void order(std::size_t first, std::size_t last) {
        for (std::size_t i = first + 1; i < last; ++i) {
            const Label one = sorted_[i];
            std::size_t j = i;
            for (; j > first && sorted_[j - 1].h < one.h; --j) sorted_[j] = sorted_[j - 1];
            sorted_[j] = one;
        }
    }
    bool more() {
        while (bin_ < BINS) {
            const std::size_t first = bin_ ? ends_[bin_ - 1] : 0, last = ends_[bin_];
            ++bin_;
            if (last > first) {
                order(first, last);
                end_ = last;
                return true;
            }
        }
        return false;
    }
    bool fill() {
        if (begin_ == end_ && !more()) return false;
        const std::size_t first = begin_;
        const double floor = floor_of_ties(sorted_[first].h);
        std::size_t last = first + 1;
        for (;;) {
            while (last < end_ && sorted_[last].h >= floor) ++last;
            if (last < end_ || !more()) break;
        }
        const std::size_t begin = ready_.size();
        for (std::size_t i = first; i < last; ++i) ready_.push_back(sorted_[i].lane);
        begin_ = last;
        if (last - first > 1)
            std::sort(ready_.begin() + std::ptrdiff_t(begin), ready_.end(), [this](std::uint32_t a, std::uint32_t b) {
                return singles_->tp[a] != singles_->tp[b] ? singles_->tp[a] > singles_->tp[b] : a < b;
            });
        return true;
    }

    const SingleLabelHeads* singles_ = nullptr;
    std::vector<Label> entries_, sorted_;
    std::uint32_t ends_[BINS];
    std::size_t count_ = 0, begin_ = 0, end_ = 0, bin_ = 0;
    std::vector<std::uint32_t> ready_;
    std::size_t next_ = 0;
};

struct FoundHead {
    double value = NOTHING, tp = 0, fp = 0;
    std::vector<std::uint32_t> lanes;
    double bound = NOTHING;        // no head is worth more
    double last_looked = NOTHING;  // the value of the last label that was looked at; those below it did not matter
};

// Searches that combine single-label values: single, decomposable, relaxed.
class HeadSearch {
   public:
    explicit HeadSearch(const Options& options) : options_(options) {
        const auto& lift = options.lift;
        highest_left_.assign(lift.size(), NOTHING);
        for (std::size_t k = lift.size(); k-- > 1;)
            highest_left_[k - 1] = std::max(highest_left_[k], lift[k]);
        highest_ = 1;
        if (options.head_search == HeadSearchKind::relaxed)
            for (double factor : lift) highest_ = std::max(highest_, factor);
        // Summing or averaging better labels with worse ones cannot raise the value above the best of them.
        const Formula f = options.heuristic.formula;
        never_rises_ = options.averages_labels || (f == Formula::f_measure && options.heuristic.shrinkage == 0) ||
                       f == Formula::precision || f == Formula::recall;
        if (options.head_search == HeadSearchKind::single) never_rises_ = true;
    }

    double highest_lift() const { return highest_; }
    // Whether no head of a candidate is better than its best label times the highest lift.
    bool never_rises() const { return never_rises_; }

    // The best head; gives up early where nothing can reach `floor`.
    bool search(const SingleLabelHeads& singles, std::size_t width, double floor, FoundHead& found) {
        order_.start(singles, width);
        found.lanes.clear();
        switch (options_.head_search) {
            case HeadSearchKind::single: return single(singles, found);
            case HeadSearchKind::decomposable: return decomposable(singles, found);
            default: return relaxed(singles, floor, found);
        }
    }

   private:
    static bool finish(const SingleLabelHeads& singles, double value, FoundHead& found) {
        if (!std::isfinite(value)) {
            found.bound = std::numeric_limits<double>::infinity();
            return false;
        }
        found.value = value;
        found.tp = found.fp = 0;
        for (std::uint32_t lane : found.lanes) {
            found.tp += singles.tp[lane];
            found.fp += singles.fp[lane];
        }
        return true;
    }

    bool finish_relaxed(const SingleLabelHeads& singles, double best, FoundHead& found) {
        const double floor = floor_of_ties(best);
        std::size_t length = reached_.size();
        while (length > 1 && !(reached_[length - 1] >= floor)) --length;
        found.lanes.resize(length);
        return finish(singles, reached_[length - 1], found);
    }

    bool single(const SingleLabelHeads& singles, FoundHead& found) {
        const std::int32_t lane = order_.next();
        if (lane < 0) return false;
        found.lanes.push_back(std::uint32_t(lane));
        found.bound = found.last_looked = singles.h[std::size_t(lane)];
        return finish(singles, singles.h[std::size_t(lane)], found);
    }

    bool decomposable(const SingleLabelHeads& singles, FoundHead& found) {
        Sums sums;
        for (std::int32_t lane; (lane = order_.next()) >= 0;) {
            add(singles, std::size_t(lane), sums);
            found.lanes.push_back(std::uint32_t(lane));
            found.last_looked = singles.h[std::size_t(lane)];
            if (order_.group_is_finished()) break;
        }
        if (found.lanes.empty()) return false;
        found.bound = value(sums);
        return finish(singles, found.bound, found);
    }

    bool relaxed(const SingleLabelHeads& singles, double floor, FoundHead& found) {
        Sums sums;
        reached_.clear();
        double best = NOTHING;
        found.bound = NOTHING;
        for (std::int32_t lane; (lane = order_.next()) >= 0;) {
            const std::size_t k = reached_.size();
            add(singles, std::size_t(lane), sums);
            const double plain = value(sums);
            reached_.push_back(plain * options_.lift[k]);
            found.lanes.push_back(std::uint32_t(lane));
            best = std::max(best, reached_.back());
            found.bound = std::max(found.bound, reached_.back());
            const double possible = plain * highest_left_[k];
            found.last_looked = singles.h[std::size_t(lane)];
            if (possible < floor_of_ties(best)) break;
            if (never_rises_ && plain > 0 && std::max(best, possible) < floor) {
                found.bound = std::max(found.bound, possible);
                return false;
            }
        }
        return !found.lanes.empty() && finish_relaxed(singles, best, found);
    }

    struct Sums {
        double h = 0, tp = 0, fp = 0, tn = 0, fn = 0, count = 0;
    };
    static void add(const SingleLabelHeads& singles, std::size_t lane, Sums& sums) {
        sums.h += singles.h[lane];
        sums.tp += singles.tp[lane];
        sums.fp += singles.fp[lane];
        sums.tn += singles.tn[lane];
        sums.fn += singles.fn[lane];
        sums.count += 1;
    }
    double value(const Sums& sums) const {
        if (options_.averages_labels) return sums.h / sums.count;
        return value_of(options_.heuristic, sums.tp, sums.fp, sums.tn, sums.fn);
    }

    const Options& options_;
    std::vector<double> highest_left_, reached_;
    double highest_ = 1;
    bool never_rises_ = false;
    BestFirst order_;
};

}  // namespace plurule
