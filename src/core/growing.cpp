#include "growing.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace plurule {

std::pair<double, double> weight_decided(const State& state, const std::vector<Row>& rows, const Assignment& assigned) {
    double right = 0, wrong = 0;
    for (Row row : rows) {
        const std::size_t pair = state.at(row, std::size_t(assigned.label));
        if (state.open[pair]) ((state.truth[pair] != 0) == (assigned.sign != 0) ? right : wrong) += state.weight(row);
    }
    return {right, wrong};
}

// Where the minimum precision is asked of finished rules, those on the way are free of it. Labels of a finished rule that
// fail it are searched by themselves, the precision asked of every candidate, and set aside if that finds nothing.
std::optional<GrowingRule> RuleGrower::best_rule() {
    while (std::optional<GrowingRule> best = grow()) {
        const std::vector<Assignment> failing = options_.when_finished ? failing_labels(*best) : std::vector<Assignment>();
        if (failing.empty()) return best;
        if (std::optional<GrowingRule> other = grow_with_only(failing)) return other;
        set_aside(failing);
    }
    return std::nullopt;
}

// The labels for which a finished rule does not stand: those of too low precision, where it is asked of labels and there
// are some, with those that go together with them; or else all of its head. Empty where it stands.
std::vector<Assignment> RuleGrower::failing_labels(const GrowingRule& rule) const {
    const MinPrecision& asked = options_.min_precision;
    const auto is_imprecise = [&](const Assignment& assigned) {
        const auto [right, wrong] = weight_decided(state_, rule.covered, assigned);
        return !asked.met(right, wrong);
    };
    std::vector<Assignment> failing;
    if (asked.of_label)
        std::copy_if(rule.head.begin(), rule.head.end(), std::back_inserter(failing), [&](const Assignment& assigned) {
            return std::any_of(rule.head.begin(), rule.head.end(), [&](const Assignment& other) {
                return options_.pairs.go_together(std::size_t(assigned.label), std::size_t(other.label)) && is_imprecise(other);
            });
        });
    return failing.empty() && !asked.met(rule.tp, rule.fp) ? rule.head : failing;
}

std::optional<GrowingRule> RuleGrower::grow_with_only(const std::vector<Assignment>& labels) {
    std::vector<std::uint8_t> before(state_.n_labels, 1);
    for (const Assignment& assigned : labels) before[std::size_t(assigned.label)] = 0;
    std::swap(before, state_.set_aside);
    const MinPrecision asked = std::exchange(state_.asked, options_.min_precision);
    Lanes all = std::move(static_cast<Lanes&>(state_));
    state_.rebuild();
    std::optional<GrowingRule> found = grow();
    std::swap(before, state_.set_aside);
    state_.asked = asked;
    static_cast<Lanes&>(state_) = std::move(all);
    return found;
}

void RuleGrower::set_aside(const std::vector<Assignment>& labels) {
    if (search_.table()) search_.table()->about_to_close(labels, state_.training.rows);
    for (const Assignment& assigned : labels) state_.put_aside(std::size_t(assigned.label));
    if (search_.table()) search_.table()->close(search_.is_small(state_.training.rows.size()));
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

// Hill climbing.
std::optional<GrowingRule> RuleGrower::grow() {
    std::vector<GrowingRule> beam = first_pass();
    if (beam.empty()) return std::nullopt;
    GrowingRule best = best_of(beam.front(), beam);
    while (!beam.empty()) {
        beam = refine(beam);
        best = best_of(best, beam);
    }
    best.around.reset();  // what is known of refinements takes memory
    best.fixed.reset();
    return best;
}

std::vector<GrowingRule> RuleGrower::first_pass() {
    search_.first_pass();
    std::vector<GrowingRule> beam = chosen(std::vector<GrowingRule>(1), {nullptr});
    if (!options_.fix_head) return beam;
    for (GrowingRule& rule : beam) {
        rule.fixed = std::make_shared<FixedHead>(state_, options_, rule.head, rule.covered);
        if (options_.refine_against_lifted) continue;
        const FixedHead::Worth worth = rule.fixed->worth_of(rule.fixed->total_of(rule.covered));
        std::tie(rule.value, rule.tp, rule.fp) = std::tie(worth.value, worth.tp, worth.fp);
    }
    return beam;
}

std::vector<GrowingRule> RuleGrower::refine(const std::vector<GrowingRule>& beam) {
    search_.begin_refining();
    std::vector<std::shared_ptr<Refinement>> refined(beam.size());
    for (std::size_t parent = 0; parent < beam.size(); ++parent)
        if (beam[parent].body.size() < options_.max_conditions) refined[parent] = search_.refine(beam[parent], parent);
    return chosen(beam, refined);
}

// The best of what all threads kept, as rules; no two the same.
std::vector<GrowingRule> RuleGrower::chosen(const std::vector<GrowingRule>& parents, const std::vector<std::shared_ptr<Refinement>>& refined) {
    std::vector<Candidate> all = search_.found();
    std::vector<GrowingRule> rules;
    std::set<decltype(GrowingRule().identity(prepared_))> seen;
    while (rules.size() < options_.beam_width && !all.empty()) {
        Candidate best = take_best(all);
        const GrowingRule& parent = parents[std::size_t(best.parent)];
        GrowingRule rule{{std::move(best.head), parent.body, best.value, best.tp, best.fp}, {}, refined[std::size_t(best.parent)], parent.fixed};
        if (best.attribute >= 0) rule.body.push_back({best.attribute, best.place});
        if (options_.beam_width > 1 && !seen.insert(rule.identity(prepared_)).second) continue;
        rule.covered = best.attribute < 0 ? rows_of(parent) : covered_by(parent, rule.body.back());
        rules.push_back(std::move(rule));
    }
    return rules;
}

// A rule without conditions covers all of training, which is not listed again.
const std::vector<Row>& RuleGrower::rows_of(const GrowingRule& rule) const { return rule.body.empty() ? state_.training.rows : rule.covered; }

// The rows of a rule that also satisfy a condition.
std::vector<Row> RuleGrower::covered_by(const GrowingRule& parent, const Condition& condition) const {
    const std::size_t a = std::size_t(condition.attribute);
    const Attribute& attr = prepared_.attribute(a);
    const auto satisfies = [&](std::int32_t id) {
        if (attr.nominal) return id == condition.place.below;
        return condition.place.greater ? id >= condition.place.above : id <= condition.place.below;
    };
    const bool packed = prepared_.is_packed(a);
    std::vector<std::uint8_t> mark;
    if (!packed) {
        const Scope& scope = parent.around && !prepared_.sparse.holds(a) ? parent.around->scope : state_.training;
        const GroupedRows& rows = scope.at(a);
        mark.assign(state_.n_rows, attr.rest >= 0 && satisfies(attr.rest));
        for (Row row : rows.missing) mark[row] = 0;
        for (std::size_t g = 0; g < rows.groups(); ++g)
            for (std::size_t i = 0; i < rows.size(g); ++i) mark[rows.begin(g)[i]] = satisfies(rows.ids[g]);
    }
    std::vector<Row> covered;
    for (Row row : rows_of(parent))
        if (packed ? satisfies(prepared_.codes[a][row]) : mark[row] != 0) covered.push_back(row);
    return covered;
}

}  // namespace plurule
