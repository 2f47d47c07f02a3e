// Refining a body under a fixed head: only the counts of its labels matter, over the instances still covered.
#pragma once
#include <array>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "options.hpp"
#include "ranking.hpp"
#include "refinement_bounds.hpp"
#include "state.hpp"

namespace plurule {

// What rows contribute is kept in blocks: one with everything summed, or one per label where values are averaged; example-based
// heuristics have a block of their own behind the summed one.
//
// Where rows count 1, right, wrong and present of a row are packed in a word per block, and all candidates of an attribute are
// valued at once. Otherwise a row has four lanes per block: right, wrong, absent, present; and its weight in the last lane.
class FixedHead {
   public:
    FixedHead(const State& state, const Options& options, const std::vector<Assignment>& head, const std::vector<Row>& rows);

    bool packed() const { return packed_; }
    // Whether what any rows sum to fits into words.
    bool sums_fit() const { return most_rows_ >= n_rows_; }

    // What some rows sum to.
    struct Total {
        std::vector<std::array<std::int32_t, 3>> packed;  // per block
        std::vector<double> lanes;
        std::size_t rows = 0;
    };
    Total total_of(const std::vector<Row>& rows) const;

    struct Worth {
        double value, tp, fp;
    };
    Worth worth_of(const Total& total) const;

    // What is known of the attributes from condition to condition, where this head allows it; of a rule worth `value`.
    // `scans`: some are lists of rows.
    std::unique_ptr<RefinementBounds> bounds(const std::vector<std::size_t>& attributes, const std::vector<Row>& rows, double value, bool scans) const;
    double unlifted(double value) const { return value / lift_; }

    struct Workspace {
        std::vector<std::int32_t> counts, covered, tp, fp;
        std::vector<double> values;
        std::vector<std::uint32_t> found;
        std::vector<double> running, other;
        // Of sparse attributes: what is summed up per slot (words of the blocks, and how many rows), and the slots with a row.
        std::size_t width = 0;
        std::vector<std::uint64_t> sums;
        std::vector<std::uint32_t> touched;
        std::size_t first = 0, last = 0;  // those whose values are listed
        GroupedRows listed;
    };

    // Candidates that are admissible and reach `floor` are offered, with their values.
    using Offer = std::function<void(std::size_t attribute, const Place&, const Worth&)>;

    // Those of an attribute; `total`: of the rows in scope. Where counts are packed, `grouped` of a column of codes is only measured.
    void visit(const Prepared& prepared, std::size_t a, const GroupedRows& grouped, std::size_t n_known, const Scope& scope,
               const Total& total, double floor, Workspace& work, const Offer& offer) const;
    // Those of all sparse attributes at once, from the values that the rows list; `before`: the rows of the last call, of which these
    // are some, or none if it was about another head. What is offered may raise `floor`.
    void visit_sparse(const Prepared& prepared, const std::vector<Row>& rows, const std::vector<Row>& before, const Total& total,
                      const std::function<double()>& floor, Workspace& work, const Offer& offer) const;

   private:
    void visit_counted(const Attribute& attribute, std::size_t a, const GroupedRows& grouped, std::size_t n_known, const Total& total,
                       Workspace& work, const Offer& offer) const;
    template <class Use>
    void count_sides(std::size_t b, const Candidates& candidates, const GroupedRows& grouped, std::size_t n_known, const std::uint8_t* codes,
                     const std::vector<Row>& rows, const Total& total, Workspace& work, Use&& use) const;
    void count_coded(RowWords words, const Candidates& candidates, const GroupedRows& grouped, const std::uint8_t* codes,
                     const std::vector<Row>& rows, std::int32_t* const* lanes) const;
    void sum_slots(const SparseRows& index, const std::vector<Row>& rows, const std::vector<Row>& before, Workspace& work) const;
    void add_to_slots(Row row, bool lost, std::span<const std::uint32_t> slots, std::uint64_t* sums) const;
    template <class Use>
    void count_slots(std::size_t b, const Prepared& prepared, std::size_t slots, const Total& total, Workspace& work, Use&& use) const;
    Candidates list_slots(const Prepared& prepared, std::size_t at, std::size_t n_rows, Workspace& work) const;
    bool find_sparse(const Prepared& prepared, Slot slot, std::size_t n_rows, Workspace& work, std::uint32_t& a, Place& place) const;
    bool is_allowed(std::size_t a) const { return options_.allowed_attributes.empty() || options_.allowed_attributes[a]; }
    template <class OfferAt, class Count>
    void value_sides(std::size_t slots, double floor, Workspace& work, OfferAt&& offer_at, Count&& count) const;
    template <class Give>
    void each_reaching(double floor, std::size_t slots, const std::int32_t* const* lanes, Workspace& work, Give&& give) const;

    void fill(const State& state, Row row, std::vector<double>& lanes) const;
    RowWords words(std::size_t b) const { return {words_, which_.data() + b * n_rows_}; }
    void add(const Row* rows, std::size_t count, double* sums) const;
    bool admissible(const Worth& worth, double floor, double covered) const;
    bool one_quotient() const { return blocks_ == 1 && is_quotient_ && lift_ > 0; }
    FixedBlock block(std::size_t b) const { return {per_label_ ? 1 : std::int32_t(head_.size()), present_[b], absent_[b]}; }
    double lifted(double value) const { return options_.refine_against_lifted ? value : value * lift_; }
    double mean_value(double sum) const { return lifted(per_label_ ? sum / double(head_.size()) : sum); }
    double pairs(const std::vector<double>& sums, std::size_t lane) const;
    // The blocks that are valued; where there are many, a candidate is worth their mean.
    std::size_t first_valued() const { return per_label_ ? 0 : blocks_ - 1; }
    void append_counts(const std::vector<double>& sums, std::vector<double> (&counts)[4]) const;
    void evaluate(const std::vector<double> (&counts)[4], std::vector<double>& values) const;

    const Options& options_;
    const MinPrecision asked_;
    std::vector<Assignment> head_;
    bool per_label_ = false;
    std::size_t blocks_ = 1, lanes_ = 5;
    bool packed_ = false;
    std::size_t n_rows_ = 0, most_rows_ = 0;  // so many can be summed up in words
    std::vector<double> of_rows_;             // rows × lanes
    std::vector<std::uint64_t> words_;        // that differ;
    Buffer<std::uint16_t> which_;             // blocks × rows, of those that were given: which of them
    Quotient quotient_{};
    bool is_quotient_ = false;
    std::vector<double> absent_, present_;  // per block, in training
    double lift_ = 1;
};

}  // namespace plurule
