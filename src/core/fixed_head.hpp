// Refining a body under a fixed head: only what its labels count matters, over the instances still covered.
//
// What a row contributes is right, wrong, present (pairs) and its weight, in one term with all labels summed, or one per label
// where values are averaged. The candidates of an attribute come from a histogram of the contributions over the rows that are
// covered: like that of the first pass, but of one head, and counted for each rule.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "options.hpp"
#include "rule.hpp"
#include "state.hpp"

namespace plurule {

// Right, wrong, present, weight.
struct HeadSum : std::array<double, 4> {
    friend HeadSum operator+(HeadSum a, const HeadSum& b) {
        for (std::size_t k = 0; k < 4; ++k) a[k] += b[k];
        return a;
    }
    friend HeadSum operator-(HeadSum a, const HeadSum& b) {
        for (std::size_t k = 0; k < 4; ++k) a[k] -= b[k];
        return a;
    }
};

// Where refined rules go.
class RefinementSink {
   public:
    virtual ~RefinementSink() = default;
    // Rules that are worth less need not be offered.
    virtual double floor() const = 0;
    virtual void offer(std::size_t attribute, const Split& split, double value, double tp, double fp) = 0;
};

class FixedHead {
   public:
    FixedHead(const State& state, const Options& options, const std::vector<Assignment>& head, const std::vector<Row>& rows);

    using Sum = HeadSum;
    // value >= f where top - f × bottom >= 0: linear in right, wrong, present and weight. A candidate whose score is below
    // `least` does not reach the floor; the score of the other side of a split is the score of all rows less its own.
    struct Screen {
        double of[4], least;
        double score(const Sum& sum) const { return of[0] * sum[0] + of[1] * sum[1] + of[2] * sum[2] + of[3] * sum[3]; }
    };
    struct Workspace {
        std::vector<std::uint8_t> sums;           // terms × groups of rows
        std::vector<std::uint8_t> sparse_sums;    // sparse slots × terms, all zero between visits
        std::vector<std::uint64_t> has_row;  // a bit per value
        std::vector<std::int32_t> values;    // of the groups, ascending
        double floor;                    // the screen and the scores are for
        Screen screen;
        std::vector<double> row_scores;  // per row; empty: not known
        std::vector<double> scores;      // per value of an attribute, up to it
        std::vector<std::uint32_t> touched;  // sparse slots
        std::vector<Sum> totals;             // per term
        std::vector<Sum> usual;              // per term: rows with the usual value of a sparse attribute
        std::vector<double> counts[4], evaluated;
        struct Waiting {
            std::size_t attribute;
            Split split;
            double tp, fp;
        };
        std::vector<Waiting> waiting;
    };
    // Offers the candidates of a dense attribute or a label on some rows that are admissible and reach the floor.
    void visit(std::size_t a, const std::vector<Row>& rows, Workspace& work, RefinementSink& sink) const;
    // Those of all sparse attributes, from what the rows list.
    void visit_sparse(const std::vector<Row>& rows, Workspace& work, RefinementSink& sink) const;

   private:
    const void* contributions(std::size_t term) const {
        if (number_ == Number::real) return real_.data() + 4 * term * state_.n_rows;
        return packed_.data() + term * state_.n_rows;
    }
    Sum contribution(std::size_t term, Row row) const;
    Sum sum_at(const std::vector<std::uint8_t>& sums, std::size_t at) const;
    void score_rows(const std::vector<Row>& rows, Workspace& work, double floor) const;
    template <class Code>
    bool may_reach(std::size_t a, const Code* codes, const std::vector<Row>& rows, Workspace& work, RefinementSink& sink) const;
    template <class Code>
    void mark_values(const Code* codes, std::size_t values, const std::vector<Row>& rows, Workspace& work) const;
    void put(const Sum& sum, std::uint8_t* to) const;
    void write(std::size_t term, Row row, const Sum& sum);
    void list_touched(const std::vector<Row>& rows, Workspace& work) const;
    void value_groups(std::size_t a, std::size_t stride, bool scored, Workspace& work, RefinementSink& sink) const;
    Screen screen_for(double floor) const;
    void add_candidate(std::size_t a, const Split& split, std::size_t group, std::size_t stride, bool other_side,
                       Workspace& work) const;
    void finish(Workspace& work, RefinementSink& sink) const;
    bool admissible(double tp, double fp, double covered) const {
        return tp > 0 && required_.met(tp, fp) && covered >= options_.min_coverage;
    }
    double absent_in(const Sum& sum) const { return labels_of_term_ * sum[3] - sum[2]; }

    const State& state_;
    const Options& options_;
    const MinPrecision required_;
    std::size_t n_labels_, n_terms_;
    double labels_of_term_;
    Number number_;
    bool some_weigh_nothing_ = false;
    std::vector<std::uint64_t> packed_;  // terms × rows: four numbers of 16 bits
    std::vector<double> real_;           // or terms × rows × 4
    std::vector<double> absent_, present_;  // per term, in training
    Quotient quotient_{};
    bool screens_;  // whether a candidate reaches the floor is linear in what its rows contribute
};

}  // namespace plurule
