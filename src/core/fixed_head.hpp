// Refining a body under a fixed head: only what its labels count matters, over the instances still covered.
//
// What a row contributes is right, wrong, present (pairs) and its weight, in one term with all labels summed, or one per label where
// values are averaged. The candidates of an attribute come from a histogram of the contributions over the rows that are covered.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
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

class FixedHead {
   public:
    FixedHead(const State& state, const Options& options, const std::vector<Assignment>& head, const std::vector<Row>& rows);

    struct Worth {
        double value, tp, fp;
    };
    // What the head is worth on some rows.
    Worth worth_of(const std::vector<Row>& rows) const;

    using Sum = HeadSum;
    struct Workspace {
        Buffer<std::uint8_t> sums;           // terms × values
        Buffer<std::uint8_t> sparse_sums;    // sparse slots × terms, all zero between visits
        std::vector<std::uint64_t> has_row;  // a bit per value
        std::vector<std::int32_t> values;    // that some row has, ascending
        std::vector<Sum> groups;             // terms × those
        std::vector<double> scores;
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
    // Candidates that are admissible, and those that do not reach floor() left out.
    struct Offer {
        std::function<double()> floor;
        std::function<void(std::size_t attribute, const Split&, const Worth&)> take;
    };
    // The candidates of a dense attribute or a label on some rows.
    void visit(std::size_t a, const std::vector<Row>& rows, Workspace& work, const Offer& offer) const;
    // Those of all sparse attributes, from what the rows list.
    void visit_sparse(const std::vector<Row>& rows, Workspace& work, const Offer& offer) const;

   private:
    const void* contributions(std::size_t term) const {
        if (number_ == Number::real) return real_.data() + 4 * term * state_.n_rows;
        return packed_.data() + term * state_.n_rows;
    }
    const void* contribution(std::size_t term, Row row) const {
        return static_cast<const char*>(contributions(term)) + std::size_t(row) * (number_ == Number::real ? 4 * sizeof(double) : sizeof(std::uint64_t));
    }
    Sum sum_at(const Buffer<std::uint8_t>& sums, std::size_t at) const;
    void add_row(Row row, std::size_t term, std::uint8_t* to) const;
    void write(std::size_t term, Row row, const Sum& sum);
    void screen_values(std::size_t a, std::size_t values, Workspace& work, const Offer& offer) const;
    void value_groups(std::size_t a, Workspace& work, const Offer& offer) const;
    // value >= f where top - f × bottom >= 0: linear in right, wrong, present and weight. A candidate whose score is below `least` does
    // not reach the floor; the score of the other side of a split is the score of all rows less its own.
    struct Screen {
        double of[4], least;
        double score(const Sum& sum) const { return of[0] * sum[0] + of[1] * sum[1] + of[2] * sum[2] + of[3] * sum[3]; }
    };
    Screen screen_for(double floor, const Sum& total) const;
    void add_candidate(std::size_t a, const Split& split, const std::vector<Sum>& groups, std::size_t stride, std::size_t at, const Sum* totals, Workspace& work) const;
    void finish(Workspace& work, const Offer& offer) const;
    bool admissible(double tp, double fp, double covered) const {
        return tp > 0 && asked_.met(tp, fp) && covered >= options_.min_coverage;
    }
    bool is_worth(double value) const { return !options_.is_additive() || value > 0; }
    double absent_in(const Sum& sum) const { return labels_of_term_ * sum[3] - sum[2]; }
    double mean_value(double sum) const {
        const double value = n_terms_ > 1 || options_.averages_labels ? sum / double(head_.size()) : sum;
        return options_.refine_against_lifted ? value : value * lift_;
    }
    Split split_at(const Workspace& work, bool nominal, std::size_t group, bool greater) const {
        if (nominal) return {work.values[group], 0, false};
        return {work.values[group], work.values[group + 1], greater};
    }

    const State& state_;
    const Options& options_;
    const MinPrecision asked_;
    std::vector<Assignment> head_;
    std::size_t n_terms_;
    double labels_of_term_;
    Number number_;
    bool some_weigh_nothing_ = false;
    Buffer<std::uint64_t> packed_;  // terms × rows: four numbers of 16 bits
    Buffer<double> real_;           // terms × rows × 4
    std::vector<double> absent_, present_;  // per term, in training
    Quotient quotient_{};
    bool screens_;  // candidates have one quotient, so that a screen can leave some out
    double lift_;
};

}  // namespace plurule
