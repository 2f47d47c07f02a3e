// The units of a body, best first, put in order only as far as they are asked for.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace plurule {

// Values equal within the tolerance form one group, led by the highest of them; within it more TP, then the order of labels.
class BestFirst {
   public:
    // Values and TP of the units, one lane each; -inf: there is none. `first_group`: only those as good as the best.
    void start(const double* value, const double* tp, std::size_t width, bool first_group);
    // The next unit, or -1.
    std::int32_t next() {
        if (next_ == group_end_ && !find_group()) return -1;
        return std::int32_t(sorted_[next_++].lane);
    }

   private:
    struct Unit {
        double value;
        std::uint32_t lane, next;  // the next one in its bin
    };
    bool sort_bin();
    bool find_group();

    const double* tp_ = nullptr;
    bool first_group_ = false;
    std::vector<Unit> units_;
    static constexpr std::size_t BINS = 128;
    std::uint32_t bins_[BINS];               // units by value, the highest in the first bin: the first unit of each
    std::size_t bin_ = 0, n_bins_ = 0;       // the first that is not sorted yet; how many there are
    std::vector<Unit> sorted_;               // from the first bins
    std::size_t next_ = 0, group_end_ = 0;  // among them
};

}  // namespace plurule
