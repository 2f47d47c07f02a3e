// One pass over the candidates for the next condition, the best of which are kept.
#pragma once
#include <memory>
#include <vector>

#include "count_table.hpp"
#include "counting.hpp"
#include "head_finder.hpp"
#include "rule.hpp"
#include "threads.hpp"

namespace plurule {

class CandidateSearch {
   public:
    CandidateSearch(const Prepared& prepared, const State& state, const Options& options, Threads& threads);

    // Looks at every body of at most one condition, each with its own best head.
    void first_pass();
    // Before rules are refined, each by `refine`.
    void begin_refining() { begin_pass(options_.beam_width * options_.beam_width); }
    // Looks at a rule with one more condition; `parent` is its place among those refined. What it gives is for the next look.
    std::shared_ptr<Refinement> refine(const GrowingRule& rule, std::size_t parent);
    // What all threads kept.
    std::vector<Candidate> found();

    bool is_small(std::size_t rows) const { return rows * (n_attributes() + 1) * state_.width < 200000; }
    // The attributes and labels that may list some of these rows.
    std::vector<std::size_t> listing(const std::vector<Row>& rows) const;

    // Counts of the first pass that are kept from rule to rule; null where there are none.
    CountTable* table() { return table_.get(); }

   private:
    struct Tools {  // what each thread works with
        Tools(const State& state, const Options& options, Threads& threads, std::size_t thread)
            : finder(state, options, [&threads, thread] { threads.check_stop(thread); }) {}
        HeadFinder finder;
        Ranking ranking;
        GroupedRows gathered;
        std::vector<double> total, running, other, by_code;
        double best = NOTHING;              // the highest value of a candidate of the count table,
        std::size_t best_length = 0;        // the length of its head,
        std::vector<double> best_labels;    // and the values of all its labels, best first
        FixedHead::Workspace fixed;
    };
    // The rule that is refined, and what is known of it.
    struct Refined {
        const GrowingRule& rule;
        Refinement& known;
        const Scope& around;                     // of lists that have not been cut out
        const std::vector<std::uint8_t>& keep;  // marks the rows that are covered
        std::int32_t parent;

        // Lists of an attribute that hold at least the rows that are covered.
        const GroupedRows& lists(std::size_t a) const { return known.is_cut[a] ? known.scope.at(a) : around.at(a); }
        void cut(std::size_t a) const {
            GroupedRows& cut_out = known.scope.cut(a, lists(a), keep.data());
            if (cut_out.rows.capacity() > std::max<std::size_t>(1 << 14, 4 * cut_out.listed())) cut_out.rows.shrink_to_fit();
            known.is_cut[a] = 1;
        }
    };

    std::size_t n_attributes() const { return prepared_.attributes.size(); }
    bool is_allowed(std::size_t a) const { return options_.allowed_attributes.empty() || options_.allowed_attributes[a]; }
    std::vector<std::size_t> all_visited(bool every_label = false, bool dense_only = false) const;
    std::vector<std::size_t> first_visited(bool every_label = false) const;

    void begin_pass(std::size_t width);
    void search_table();
    void count_scope(const std::vector<Row>& rows);
    void visit_free(const Scope& scope, std::int32_t a, Tools& tools, const Refined* refined);
    template <class Add, class AddGroup, class Emit>
    void visit_sums(const Scope& scope, std::int32_t a, const GroupedRows* rows, Tools& tools, Add&& add, AddGroup&& add_group, Emit&& emit) const;
    void sum_rows(const Scope& scope, std::int32_t a, const GroupedRows* rows, const std::vector<double>& of_rows, Tools& tools,
                  std::vector<double>& sums) const;
    void offer_heads(std::int32_t a, Tools& tools, const Refined* refined);
    bool visits_by_rows(const FixedHead* head) const;
    std::shared_ptr<Refinement> begin_refinement(const GrowingRule& rule);
    bool is_in_head(std::size_t a, const GrowingRule& rule) const;
    bool can_win(std::size_t a, const Refined& refined, Tools& tools) const;
    void visit_fixed(std::size_t a, const Refined& refined, Tools& tools);
    bool measure(std::size_t a, const Refined& refined, Tools& tools) const;
    void offer(std::size_t a, const Place& place, const FixedHead::Worth& worth, const Refined& refined, Tools& tools);
    double least_for(const Refined& refined, const Tools& tools) const {
        return std::max(floor_for(tools), floor_of_ties(refined.rule.value));
    }

    double floor_for(const Tools& tools) const {
        return shares_best_ ? std::max(tools.ranking.floor(), shared_.floor()) : tools.ranking.floor();
    }

    const Prepared& prepared_;
    const State& state_;
    const Options& options_;
    Threads& threads_;
    RowCounter counter_;
    std::vector<std::unique_ptr<Tools>> tools_;
    bool shares_best_ = true;
    bool has_lists_ = false;  // some attribute is kept as lists of rows
    SharedBest shared_;
    std::unique_ptr<CountTable> table_;
    std::vector<double> scope_total_;
    FixedHead::Total fixed_total_;
    std::shared_ptr<Refinement> spare_;
};

}  // namespace plurule
