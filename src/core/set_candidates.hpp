// Candidates whose heads are searched among sets of labels: all of an attribute at once, from their counts.
#pragma once
#include <functional>
#include <utility>
#include <vector>

#include "unit_heads.hpp"
#include "counting.hpp"

namespace plurule {

class SetCandidates {
   public:
    SetCandidates(const State& state, const Options& options, std::function<void()> check_stop)
        : state_(state), options_(options), counter_(state), sets_(state, options, std::move(check_stop)) {}

    // found(candidate) for each candidate that has a head; without an attribute, for the body as it is.
    //   total   counts of the rows in scope, those where the attribute is missing left out; `n_rows` is their number
    //   body    the attributes that are tested already, and how
    template <class Found>
    void search(const Attribute* attribute, std::int32_t a, const Scope& scope, const GroupedRows* rows, std::size_t n_rows,
                const std::vector<double>& total, const std::vector<std::uint8_t>& excluded, std::int32_t own_lane,
                const std::vector<std::pair<std::size_t, Place>>& body, Found&& found) {
        sets_.clear(a, body);
        const auto note = [&](const Place& place, const std::vector<double>& sums) { note_counts(place, sums); };
        if (rows)
            visit_candidates(
                *attribute, *rows, total, n_rows,
                [&](std::size_t group, double* sums) { counter_.add(*rows, group, sums); }, note, running_, other_);
        else
            note(Place{}, total);
        const auto sum_rows = [&](const std::vector<double>& of_rows, std::vector<double>& sums) {
            sum_over(of_rows, attribute, scope, rows, n_rows, sums);
        };
        sets_.search(excluded, own_lane, sum_rows, [&](std::size_t c, double value, double tp, double fp, std::vector<Assignment>&& head) {
            Candidate candidate;
            candidate.value = value;
            candidate.tp = tp;
            candidate.fp = fp;
            candidate.place = sets_.places[c];
            candidate.head = std::move(head);
            found(std::move(candidate));
        });
    }

   private:
    // The confusion matrices of every label for one candidate.
    void note_counts(const Place& place, const std::vector<double>& sums) {
        const std::size_t width = state_.width;
        const double covered = sums[3 * width];
        if (covered < options_.min_coverage) return;
        const std::size_t at = sets_.tp.size();
        for (auto* counts : {&sets_.tp, &sets_.fp, &sets_.tn, &sets_.fn}) counts->resize(at + width);
        kernels().confusion(sums.data(), covered, state_.present.data(), state_.absent.data(), width, sets_.tp.data() + at,
                            sets_.fp.data() + at, sets_.tn.data() + at, sets_.fn.data() + at);
        sets_.places.push_back(place);
    }

    // Sums of four numbers per row over what each candidate covers, candidate after candidate.
    void sum_over(const std::vector<double>& of_rows, const Attribute* attribute, const Scope& scope, const GroupedRows* rows,
                  std::size_t n_rows, std::vector<double>& sums) {
        sums.clear();
        const auto add = [&](const Row* from, std::size_t count, double* to) {
            for (std::size_t i = 0; i < count; ++i)
                for (std::size_t j = 0; j < 5; ++j) to[j] += j < 4 ? of_rows[std::size_t(from[i]) * 4 + j] : state_.weight(from[i]);
        };
        const auto keep = [&](const Place&, const std::vector<double>& s) {
            if (s[4] >= options_.min_coverage) sums.insert(sums.end(), s.begin(), s.begin() + 4);
        };
        std::vector<double> total(5, 0.0);
        add(scope.rows.data(), scope.rows.size(), total.data());
        if (!rows) return keep(Place{}, total);
        std::vector<double> missing(5, 0.0);
        add(rows->missing.data(), rows->missing.size(), missing.data());
        for (std::size_t j = 0; j < 5; ++j) total[j] -= missing[j];
        const auto add_rows_of = [&](std::size_t group, double* to) { add(rows->begin(group), rows->size(group), to); };
        visit_candidates(*attribute, *rows, total, n_rows, add_rows_of, keep, row_running_, row_other_);
    }

    const State& state_;
    const Options& options_;
    RowCounter counter_;
    UnitHeadSearch sets_;
    std::vector<double> running_, other_;
    std::vector<double> row_running_, row_other_;
};

}  // namespace plurule
