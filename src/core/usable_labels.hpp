// The labels that candidates can use, remembered from rule to rule.
//
// Like a std::vector<bool> per group of eight candidates and side, with a bit per label. A bit that is not set holds until the counts of the label change:
// by none of the candidates can the label gain, where values are added up, or be as precise as required.
#pragma once
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "histogram.hpp"

namespace plurule {

class UsableLabels {
   public:
    // Labels whose counts have changed may be usable again. Whether some have not.
    bool update(const Histogram& histogram, std::size_t n_labels) {
        words_ = (n_labels + 63) / 64;
        bits_.resize(2 * histogram.n_groups() * words_, ~std::uint64_t(0));
        versions_.resize(n_labels, 0);
        std::vector<std::uint64_t> changed(words_, 0);
        std::size_t unchanged = 0;
        for (std::size_t label = 0; label < n_labels; ++label)
            if (std::exchange(versions_[label], histogram.version(label)) != histogram.version(label))
                changed[label / 64] |= bit(label);
            else
                ++unchanged;
        for (std::size_t word = 0; word < words_; ++word)
            for (std::size_t i = word; changed[word] && i < bits_.size(); i += words_) bits_[i] |= changed[word];
        return unchanged > 0;
    }
    void drop(std::size_t group, bool other_side, std::size_t label) { bits_[first_word(group, other_side) + label / 64] &= ~bit(label); }
    // visit(label) for those of `wanted` that may be usable, ascending.
    template <class Visit>
    void visit(std::size_t group, bool other_side, const std::vector<std::uint64_t>& wanted, Visit&& visit) const {
        const std::size_t first = first_word(group, other_side);
        for (std::size_t word = 0; word < words_; ++word)
            for (std::uint64_t bits = bits_[first + word] & wanted[word]; bits; bits &= bits - 1) visit(64 * word + std::size_t(std::countr_zero(bits)));
    }
    static std::uint64_t bit(std::size_t label) { return std::uint64_t(1) << label % 64; }

   private:
    std::size_t first_word(std::size_t group, bool other_side) const { return (2 * group + other_side) * words_; }

    std::size_t words_ = 0;
    std::vector<std::uint64_t> bits_;      // groups × sides × words
    std::vector<std::uint32_t> versions_;  // per label: of its counts, as of which bits hold
};

}  // namespace plurule
