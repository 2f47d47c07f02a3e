// One pass over the candidates for the next condition, the best of which are kept.
//
// With heads of their own, candidates are valued eight at a time in single precision, from the histogram; those that may be the best
// are looked at exactly, the most promising first. Under a fixed head all are valued exactly.
#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "fixed_head.hpp"
#include "heads.hpp"
#include "histogram.hpp"
#include "rule.hpp"
#include "threads.hpp"
#include "usable_labels.hpp"

namespace plurule {

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
        std::uint32_t part;
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
        std::vector<std::uint8_t> sides;    // per group of a part: bits of those on which a label may be precise
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
    Scoring scoring() const;
    void add_label(std::size_t label, double tp, double fp, double present, Totals& totals) const;
    Totals sum_rows(const std::vector<Row>& rows) const;
    bool some_missing(const Part& part) const { return part.kind == Part::Kind::numeric && state_.attribute(part.first).some_missing; }
    void update_usable();
    // A head without a label that is as precise as required is not, unless absence is predicted.
    bool needs_precise_label() const { return scoring_.checks_head && !scoring_.absence && !scoring_.additive; }
    static double least_share(const Options& options);
    std::span<const std::uint32_t> choose_places(const Part& part, const Cells& cells, std::size_t group, const Scope& scope, bool other_side, Tools& tools);
    void search_heads(const Scope& scope);
    void look_at_promises(const Scope& scope);
    Scope known_in(const Part& part, const Cells& cells, const Scope& scope, Tools& tools) const;
    void value_part(std::size_t part, const Cells& cells, const Scope& scope, Tools& tools);
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
    Scoring scoring_{};
    bool is_bounded_ = false;  // candidates can be valued in single precision
    double least_share_;  // of the value of a head, that its labels are worth
    UsableLabels usable_;
    bool remembers_ = false;   // which labels are usable, in this pass
    bool some_known_ = false;  // something is remembered of some labels
    std::vector<float> last_found_;  // per part: its highest bound in the last pass
};

}  // namespace plurule
