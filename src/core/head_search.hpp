// The best head of one body, its units taken one by one, best first: single, decomposable, relaxed.
#pragma once
#include <cstdint>
#include <vector>

#include "best_first.hpp"
#include "options.hpp"
#include "ranking.hpp"
#include "units.hpp"

namespace plurule {

// One body: its labels as heads of their own, one lane each, with the sign of each; and its units, where their first labels are.
struct LabelHeads {
    std::size_t width;
    const double *h, *tp, *fp, *tn, *fn;
    const std::int8_t* sign;
    const double *unit_value, *unit_tp;
};

struct FoundHead {
    double value = NOTHING, tp = 0, fp = 0;  // -inf: there is none
    LaneHead head;
    double bound = NOTHING;        // no head is worth more
    double last_looked = NOTHING;  // the value of the last unit that was looked at; those below it did not matter
    std::size_t beginnings = 0;    // where those of this body were noted
};

class HeadSearch {
   public:
    explicit HeadSearch(const Options& options);

    double highest_lift() const { return highest_; }
    // Whether no head of a body is better than its best label times the highest lift.
    bool never_rises() const { return never_rises_; }

    // The best head; gives up early where nothing can reach `floor`.
    void search(const LabelHeads& labels, const Units& units, double floor, FoundHead& found);

    // Heuristics written in Python are asked once about all beginnings of the heads of many bodies: searches only note those that
    // they come to, until these are valued; then each is done again.
    bool asks_about_beginnings() const { return options_.is_custom() && !options_.averages_labels; }
    void note_beginnings();
    void value_beginnings();

   private:
    struct Sums {
        double h = 0, tp = 0, fp = 0, tn = 0, fn = 0;
    };
    bool take_next(const LabelHeads& labels, const Units& units, FoundHead& found);
    void relaxed(const LabelHeads& labels, const Units& units, double floor, FoundHead& found);
    void finish(const LabelHeads& labels, std::size_t length, double value, FoundHead& found) const;
    double value(std::size_t length);

    const Options& options_;
    std::vector<double> highest_left_;  // per length: the highest lift of any longer head
    double highest_ = 1;
    bool never_rises_ = false;
    BestFirst order_;
    Sums sums_;
    std::vector<std::pair<std::size_t, double>> reached_;  // lengths and lifted values of the heads on the way
    std::vector<double> beginnings_[4], values_;           // their TP, FP, TN, FN; what they are worth
    bool notes_ = false;                                   // them, values are not known
    std::size_t next_ = 0;                                 // beginning
};

}  // namespace plurule
