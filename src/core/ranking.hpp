// Candidates for the next rule, and keeping the best of them.
//
// Higher value, then more TP, then fewer conditions, then first in the order of candidates. Values within a relative
// tolerance of the highest count as equal to it. What is kept does not depend on the order of arrival.
#pragma once
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "values.hpp"

namespace plurule {

constexpr double TOLERANCE = 1e-12;
constexpr double NOTHING = -std::numeric_limits<double>::infinity();

// The lowest value that counts as equal to the best.
inline double floor_of_ties(double best) { return std::isfinite(best) ? best - TOLERANCE * std::fabs(best) : best; }

struct Assignment {
    std::int32_t label;
    std::int8_t sign;  // 1 present, 0 absent
    auto operator<=>(const Assignment&) const = default;
};

struct Candidate {
    double value = NOTHING, tp = 0, fp = 0;
    std::int32_t parent = 0;
    std::size_t attribute = 0;  // from n_attributes on: labels
    Split split;
    std::int32_t conditions = 0;  // a body as it is has fewer than those it is refined to
    std::vector<Assignment> head;

    auto rank() const { return std::tuple(-tp, conditions, parent, attribute, split.order()); }
};

// Keeps what can be among the `width` best.
class Ranking {
   public:
    explicit Ranking(std::size_t width = 1) : width_(width) {}

    // Candidates below this value need not be offered.
    double floor() const { return floor_; }
    void offer(Candidate&& candidate);
    std::vector<Candidate>& kept() { return kept_; }

   private:
    void prune();

    std::size_t width_, full_ = 1;  // prune when so many are kept
    double floor_ = NOTHING;
    std::vector<Candidate> kept_;
};

// Takes the best out of some candidates.
Candidate take_best(std::vector<Candidate>& candidates);

// The highest value that any thread has found; only for a beam of one, where nothing below it can win.
class SharedBest {
   public:
    void reset() { value_.store(NOTHING, std::memory_order_relaxed); }
    double floor() const { return floor_of_ties(value_.load(std::memory_order_relaxed)); }
    void raise(double value) {
        double seen = value_.load(std::memory_order_relaxed);
        while (value > seen && !value_.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
        }
    }

   private:
    std::atomic<double> value_{NOTHING};
};

}  // namespace plurule
