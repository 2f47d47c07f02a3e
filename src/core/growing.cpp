// How a rule is learned:
//
//     best_rule   repeat
//                     rule = grow()
//                     if precision is required of finished rules and some labels of the rule fail:
//                         rule = grow() with only those labels, precision required of every candidate
//                         if there is none: set those labels aside, and again
//     grow        beam = the best of all bodies of at most one condition, each with its own best head    (CandidateSearch::first_pass)
//                     leave out groups of eight candidates without a precise label                                     (UsableLabels)
//                     value the others eight at a time from the histogram; look at the promising ones exactly            (HeadFinder)
//                 while some rule of the beam gets better by one more condition:
//                     beam = the best of those                                                              (CandidateSearch::refine)
//                         the head stays as it is: a histogram of what the covered rows contribute to it                (FixedHead)
//                         or is searched again: a histogram over the covered rows                                        (Histogram)
//
// Run::conquer then closes the pairs that the rule decides, and Histogram subtracts them.
#include "growing.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace plurule {

std::pair<double, double> weight_decided(const State& state, const std::vector<Row>& rows, const Assignment& assigned) {
    double right = 0, wrong = 0;
    for (Row row : rows) {
        const std::uint8_t byte = state.byte(row, std::size_t(assigned.label));
        if (byte & (assigned.sign ? OPEN_PRESENT : OPEN_ABSENT)) right += state.weight(row);
        if (byte & (assigned.sign ? OPEN_ABSENT : OPEN_PRESENT)) wrong += state.weight(row);
    }
    return {right, wrong};
}

std::optional<GrowingRule> RuleGrower::best_rule() {
    while (std::optional<GrowingRule> best = grow()) {
        const std::vector<Assignment> failing = options_.when_finished ? failing_labels(*best) : std::vector<Assignment>();
        if (failing.empty()) return best;
        if (std::optional<GrowingRule> other = grow_with_only(failing)) return other;
        for (const Assignment& assigned : failing) state_.set_aside[std::size_t(assigned.label)] = 1;
    }
    return std::nullopt;
}

// The labels for which a finished rule does not stand: those of too low precision, where it is required of labels and there are some; or
// else all of its head. Empty where it stands.
std::vector<Assignment> RuleGrower::failing_labels(const GrowingRule& rule) const {
    const MinPrecision& required = options_.min_precision;
    std::vector<Assignment> failing;
    if (required.of_label)
        std::copy_if(rule.head.begin(), rule.head.end(), std::back_inserter(failing), [&](const Assignment& assigned) {
            const auto [right, wrong] = weight_decided(state_, rule.covered, assigned);
            return !required.met(right, wrong);
        });
    return failing.empty() && !required.met(rule.tp, rule.fp) ? rule.head : failing;
}

std::optional<GrowingRule> RuleGrower::grow_with_only(const std::vector<Assignment>& labels) {
    std::vector<std::uint8_t> others(state_.n_labels, 1);
    for (const Assignment& assigned : labels) others[std::size_t(assigned.label)] = 0;
    std::swap(others, state_.set_aside);
    const MinPrecision before = std::exchange(state_.required, options_.min_precision);
    std::optional<GrowingRule> found = grow();
    std::swap(others, state_.set_aside);
    state_.required = before;
    return found;
}

// By value, then TP, then fewer conditions; the first on a full tie.
static const GrowingRule& best_of(const GrowingRule& first, const std::vector<GrowingRule>& others) {
    double highest = first.value;
    for (const GrowingRule& rule : others) highest = std::max(highest, rule.value);
    const auto rank = [floor = floor_of_ties(highest)](const GrowingRule& rule) { return std::tuple(rule.value < floor, -rule.tp, rule.body.size()); };
    const GrowingRule* best = &first;
    for (const GrowingRule& rule : others)
        if (rank(rule) < rank(*best)) best = &rule;
    return *best;
}

std::optional<GrowingRule> RuleGrower::grow() {
    std::vector<GrowingRule> beam = first_pass();
    if (beam.empty()) return std::nullopt;
    GrowingRule best = best_of(beam.front(), beam);
    while (!beam.empty()) {
        beam = refine(beam);
        best = best_of(best, beam);
    }
    best.fixed.reset();  // takes memory
    return best;
}

std::vector<GrowingRule> RuleGrower::first_pass() {
    search_.first_pass();
    std::vector<GrowingRule> beam = chosen(std::vector<GrowingRule>(1));
    if (!options_.fix_head) return beam;
    for (GrowingRule& rule : beam) rule.fixed = std::make_shared<FixedHead>(state_, options_, rule.head, rule.covered);
    return beam;
}

std::vector<GrowingRule> RuleGrower::refine(const std::vector<GrowingRule>& beam) {
    search_.begin_refining();
    for (std::size_t parent = 0; parent < beam.size(); ++parent)
        if (beam[parent].body.size() < options_.max_conditions) search_.refine(beam[parent], parent);
    return chosen(beam);
}

// The best of what all threads kept, as rules; no two the same.
std::vector<GrowingRule> RuleGrower::chosen(const std::vector<GrowingRule>& parents) {
    std::vector<Candidate> all = search_.found();
    std::vector<GrowingRule> rules;
    std::set<decltype(GrowingRule().identity(state_.prepared))> seen;
    while (rules.size() < options_.beam_width && !all.empty()) {
        Candidate best = take_best(all);
        const GrowingRule& parent = parents[std::size_t(best.parent)];
        GrowingRule rule{{std::move(best.head), parent.body, best.value, best.tp, best.fp}, {}, parent.fixed};
        if (best.attribute != NO_ATTRIBUTE) rule.body.push_back({best.attribute, best.split});
        if (options_.beam_width > 1 && !seen.insert(rule.identity(state_.prepared)).second) continue;
        rule.covered = best.attribute == NO_ATTRIBUTE ? state_.rows : covered_by(parent, rule.body.back());
        rules.push_back(std::move(rule));
    }
    return rules;
}

// The rows of a rule that also satisfy a condition.
std::vector<Row> RuleGrower::covered_by(const GrowingRule& parent, const Condition& condition) const {
    const std::size_t a = condition.attribute;
    const Attribute& attribute = state_.attribute(a);
    std::vector<Row> covered;
    const auto keep = [&](auto&& value_of_row) {
        for (Row row : parent.body.empty() ? state_.rows : parent.covered)
            if (const std::int32_t value = value_of_row(row); value < attribute.values && condition.split.covers(attribute.nominal, value))
                covered.push_back(row);
    };
    if (attribute.sparse()) {
        const std::vector<std::int32_t> values = state_.prepared.sparse.values_of(a, state_.n_rows, attribute.usual);
        keep([&](Row row) { return values[row]; });
    } else {
        state_.with_codes(a, [&](const auto* codes) { keep([&](Row row) { return std::int32_t(codes[row]); }); });
    }
    return covered;
}

}  // namespace plurule
