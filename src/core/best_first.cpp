#include "best_first.hpp"

#include <algorithm>
#include <utility>

#include "ranking.hpp"

namespace plurule {

namespace {
constexpr std::uint32_t LAST = ~std::uint32_t(0);
}

void BestFirst::start(const double* value, const double* tp, std::size_t width, bool first_group) {
    tp_ = tp;
    first_group_ = first_group;
    sorted_.clear();
    next_ = group_end_ = 0;
    if (units_.size() < width) units_.resize(width);
    double highest = NOTHING, lowest = -NOTHING;
    std::size_t count = 0;
    for (std::size_t lane = 0; lane < width; ++lane) {
        units_[count] = {value[lane], std::uint32_t(lane), LAST};
        const bool there = value[lane] > NOTHING;
        count += there;
        highest = std::max(highest, value[lane]);
        lowest = std::min(lowest, there ? value[lane] : lowest);
    }
    bin_ = 0;
    n_bins_ = std::min(BINS, 2 * count);
    std::fill_n(bins_, n_bins_, LAST);
    const double scale = highest > lowest ? double(n_bins_ - 1) / (highest - lowest) : 0.0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::size_t bin = std::size_t((highest - units_[i].value) * scale);
        units_[i].next = std::exchange(bins_[bin], i);
    }
}

// Puts the units of the next bin behind those that are sorted; false if there is none.
bool BestFirst::sort_bin() {
    while (bin_ < n_bins_ && bins_[bin_] == LAST) ++bin_;
    if (bin_ == n_bins_) return false;
    const std::size_t first = sorted_.size();
    for (std::uint32_t i = bins_[bin_++]; i != LAST; i = units_[i].next) {
        sorted_.push_back(units_[i]);
        for (std::size_t j = sorted_.size() - 1; j > first && sorted_[j - 1].value < sorted_[j].value; --j) std::swap(sorted_[j - 1], sorted_[j]);
    }
    return true;
}

bool BestFirst::find_group() {
    if (first_group_ && next_ > 0) return false;
    if (next_ == sorted_.size() && !sort_bin()) return false;
    const double floor = floor_of_ties(sorted_[next_].value);
    do {
        while (group_end_ < sorted_.size() && sorted_[group_end_].value >= floor) ++group_end_;
    } while (group_end_ == sorted_.size() && sort_bin());
    if (group_end_ == next_ + 1) return true;
    std::sort(sorted_.begin() + std::ptrdiff_t(next_), sorted_.begin() + std::ptrdiff_t(group_end_),
              [this](const Unit& a, const Unit& b) { return tp_[a.lane] != tp_[b.lane] ? tp_[a.lane] > tp_[b.lane] : a.lane < b.lane; });
    return true;
}

}  // namespace plurule
