#include "rule.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace plurule {

void Ranking::offer(Candidate&& candidate) {
    if (candidate.value < floor_) return;
    kept_.push_back(std::move(candidate));
    if (kept_.size() >= full_) prune();
}

// What is below so many others, by value and by rank, or by value and beyond the tolerance, will not be among the best.
void Ranking::prune() {
    std::sort(kept_.begin(), kept_.end(), [](const Candidate& a, const Candidate& b) { return a.rank() < b.rank(); });
    std::vector<double> highest;  // of those before; a heap with the lowest on top
    std::erase_if(kept_, [&](const Candidate& c) {
        if (highest.size() == width_ && highest.front() >= c.value) return true;
        highest.push_back(c.value);
        std::push_heap(highest.begin(), highest.end(), std::greater<>());
        if (highest.size() > width_) {
            std::pop_heap(highest.begin(), highest.end(), std::greater<>());
            highest.pop_back();
        }
        return false;
    });
    if (highest.size() == width_) floor_ = floor_of_ties(highest.front());
    std::erase_if(kept_, [&](const Candidate& c) { return c.value < floor_; });
    full_ = width_ == 1 ? 1 : 2 * kept_.size() + 8;
}

Candidate take_best(std::vector<Candidate>& candidates) {
    double highest = NOTHING;
    for (const Candidate& c : candidates) highest = std::max(highest, c.value);
    const auto rank = [floor = floor_of_ties(highest)](const Candidate& c) { return std::pair(c.value < floor, c.rank()); };
    const auto before = [&](const Candidate& a, const Candidate& b) { return rank(a) < rank(b); };
    const auto best = std::min_element(candidates.begin(), candidates.end(), before);
    Candidate taken = std::move(*best);
    candidates.erase(best);
    return taken;
}

}  // namespace plurule
