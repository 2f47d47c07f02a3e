// One pass over the candidates for the next condition, the best of which are kept.
//
// With heads of their own, candidates are valued eight at a time in single precision, from the histogram; those that may be the
// best are looked at exactly, the most promising first. Under a fixed head all are valued exactly.
#pragma once
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "fixed_head.hpp"
#include "heads.hpp"
#include "histogram.hpp"

namespace plurule {

// The labels that candidates can use, remembered from rule to rule: like a std::vector<bool> per group of eight candidates and
// side, with a bit per label. A bit that is not set holds until the counts of the label change: by none of the candidates can the
// label gain, where values are added up, or be as precise as required.
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
    void drop(std::size_t group, bool other_side, std::size_t label) {
        bits_[first_word(group, other_side) + label / 64] &= ~bit(label);
    }
    // visit(label) for those of `wanted` that may be usable, ascending.
    template <class Visit>
    void visit(std::size_t group, bool other_side, const std::vector<std::uint64_t>& wanted, Visit&& visit) const {
        const std::size_t first = first_word(group, other_side);
        for (std::size_t word = 0; word < words_; ++word)
            for (std::uint64_t bits = bits_[first + word] & wanted[word]; bits; bits &= bits - 1)
                visit(64 * word + std::size_t(std::countr_zero(bits)));
    }
    static std::uint64_t bit(std::size_t label) { return std::uint64_t(1) << label % 64; }

   private:
    std::size_t first_word(std::size_t group, bool other_side) const { return (2 * group + other_side) * words_; }

    std::size_t words_ = 0;
    std::vector<std::uint64_t> bits_;      // groups × sides × words
    std::vector<std::uint32_t> versions_;  // per label: of its counts, as of which bits hold
};

class CandidateSearch {
   public:
    CandidateSearch(const State& state, const Options& options, Threads& threads);

    // Looks at every body of at most one condition, each with its own best head.
    void first_pass();
    // Before rules are refined, each by `refine`.
    void begin_refining() { begin_pass(options_.beam_width * options_.beam_width); }
    // Looks at a rule with one more condition; `parent` is its place among those refined.
    void refine(const GrowingRule& rule, std::size_t parent);
    // What all threads kept.
    std::vector<Candidate> found();

    bool is_small(std::size_t rows) const { return rows * (state_.n_attributes() + 1) * state_.width < 200000; }
    Histogram& histogram() { return histogram_; }

   private:
    // A candidate that may be the best: no head of it is worth more than the bound.
    struct Promise {
        float bound;
        std::uint32_t range;
        std::uint32_t slot;  // of the table
        bool other_side;
    };
    struct Tools {  // what each thread works with
        Tools(const State& state, const Options& options) : finder(state, options) {}
        HeadFinder finder;
        Ranking ranking;
        Cells cells;
        std::vector<float> matrices;
        std::vector<std::uint32_t> places;  // of labels that candidates are valued by
        std::vector<std::uint8_t> is_precise;  // per place
        std::vector<std::uint8_t> sides;    // per group of a range: bits of those on which a label may be precise
        std::vector<double> gathered;
        std::vector<Promise> promises;
        FixedHead::Workspace fixed;
    };
    // The rows that candidates cover some of.
    struct Scope {
        const std::vector<Row>* rows;
        const GrowingRule* refined;  // null: the first pass
        std::int32_t parent;
        Totals totals;
    };
    class Refinements;
    static std::vector<std::size_t> allowed_attributes(const State& state, const Options& options);
    void begin_pass(std::size_t width);
    void choose_labels();
    BoundScoring scoring() const;
    void add_label(std::size_t label, double tp, double fp, double present, Totals& totals) const;
    Totals sum_rows(const std::vector<Row>& rows) const;
    bool some_missing(const SlotRange& range) const {
        return range.kind == SlotRange::Kind::numeric && state_.attribute(range.first).some_missing;
    }
    void update_usable();
    // A head without a label that is as precise as required is not, unless absence is predicted.
    bool needs_precise_label() const { return scoring_.checks_head && !scoring_.absence && !scoring_.additive; }
    static double least_share(const Options& options);
    std::span<const std::uint32_t> choose_places(const SlotRange& range, const Cells& cells, std::size_t group,
                                                 const Scope& scope, bool other_side, Tools& tools);
    void search_heads(const Scope& scope);
    void look_at_promises(const Scope& scope);
    Scope known_in(const SlotRange& range, const Cells& cells, const Scope& scope, Tools& tools) const;
    void value_range(std::size_t range, const Cells& cells, const Scope& scope, Tools& tools);
    void look_at(const Promise& promise, const Cells& cells, const Scope& scope, Tools& tools);
    void offer_heads(const Scope& scope, Tools& tools);
    void keep(Candidate&& candidate, Tools& tools);
    bool is_in_head(std::size_t label, const GrowingRule& rule) const;
    double floor_for(const Tools& tools) const {
        return shares_best_ ? std::max(tools.ranking.floor(), shared_.floor()) : tools.ranking.floor();
    }

    const State& state_;
    const Options& options_;
    Threads& threads_;
    Histogram histogram_;
    bool started_ = false;
    std::vector<std::unique_ptr<Tools>> tools_;
    bool shares_best_ = true;
    SharedBest shared_, sure_;  // values that were found; that are surely there, about
    std::vector<std::int32_t> labels_;  // that may be in heads, and behind them the column of the coverage
    std::vector<std::uint32_t> all_places_, place_of_;  // 0, 1, … of the labels; and per label, among them
    std::vector<std::uint64_t> searched_;               // bits of these labels
    BoundScoring scoring_{};
    bool is_bounded_ = false;  // candidates can be valued in single precision
    double least_share_;       // of the value of a head, that its labels are worth
    UsableLabels usable_;
    bool remembers_ = false;   // which labels are usable, in this pass
    bool some_known_ = false;  // something is remembered of some labels
};

}  // namespace plurule
