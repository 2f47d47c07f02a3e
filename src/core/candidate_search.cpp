#include "candidate_search.hpp"

#include <algorithm>
#include <utility>

namespace plurule {

CandidateSearch::CandidateSearch(const Prepared& prepared, const State& state, const Options& options, Threads& threads)
    : prepared_(prepared), state_(state), options_(options), threads_(threads), counter_(state) {
    for (std::size_t t = 0; t < threads.most(); ++t) tools_.push_back(std::make_unique<Tools>(state, options_, threads, t));
    for (std::size_t a = 0; a < n_attributes() && !has_lists_; ++a) has_lists_ = !prepared.is_packed(a);
    const HeadSearch& search = tools_[0]->finder.search();
    const bool any_heads = !options.pairs.any() && !options.directions.by_label && !options.signs_can_clash();
    if (any_heads && !tools_[0]->finder.takes_many() && CountTable::suits(options, search, prepared, state))
        table_ = std::make_unique<CountTable>(prepared, state, options_, search, threads);
}

void CandidateSearch::begin_pass(std::size_t width) {
    shared_.reset();
    for (auto& tools : tools_) tools->ranking = Ranking(width);
    shares_best_ = width == 1;
}

std::vector<Candidate> CandidateSearch::found() {
    std::vector<Candidate> all;
    for (auto& tools : tools_)
        for (Candidate& c : tools->ranking.kept()) all.push_back(std::move(c));
    return all;
}

// --- what is visited

// What a condition may be on; `every_label`: labels not in heads yet included; `dense_only`: sparse attributes left out.
std::vector<std::size_t> CandidateSearch::all_visited(bool every_label, bool dense_only) const {
    std::vector<std::size_t> visited;
    const auto visit = [&](std::size_t a) {
        if (is_allowed(a)) visited.push_back(a);
    };
    if (dense_only)
        for (std::uint32_t a : prepared_.sparse.others()) visit(a);
    else
        for (std::size_t a = 0; a < n_attributes(); ++a) visit(a);
    if (options_.label_conditions)
        for (std::size_t label = 0; label < state_.n_labels; ++label)
            if (every_label || state_.head_labels[label]) visited.push_back(n_attributes() + label);
    return visited;
}

// What a first condition may be on.
std::vector<std::size_t> CandidateSearch::first_visited(bool every_label) const {
    const auto& required = options_.required_attributes;
    std::vector<std::size_t> visited = all_visited(every_label);
    if (!required.empty()) std::erase_if(visited, [&](std::size_t a) { return a >= n_attributes() || !required[a]; });
    return visited;
}

std::vector<std::size_t> CandidateSearch::listing(const std::vector<Row>& rows) const {
    std::vector<std::size_t> found(prepared_.sparse.others().begin(), prepared_.sparse.others().end());
    for (std::size_t label = 0; label < state_.n_labels; ++label) found.push_back(n_attributes() + label);
    if (prepared_.sparse.empty()) return found;
    std::vector<std::uint8_t> seen(n_attributes(), 0);
    for (Row row : rows)
        for (std::uint32_t slot : prepared_.sparse.slots_of(row))
            if (const std::uint32_t a = prepared_.sparse.attribute_of(slot); !std::exchange(seen[a], 1)) found.push_back(a);
    return found;
}

// --- the first pass

void CandidateSearch::first_pass() {
    begin_pass(options_.beam_width);
    if (spare_) spare_->bounds.reset();  // of the last rule
    const Scope& scope = state_.training;
    for (auto& tools : tools_) tools->finder.bodies.start({});
    scope_total_ = state_.totals;
    if (options_.required_attributes.empty()) visit_free(scope, -1, *tools_[0], nullptr);
    if (options_.max_conditions == 0) return;
    if (table_) return search_table();
    threads_.run(first_visited(), is_small(scope.rows.size()),
                 [&](std::size_t a, std::size_t t) { visit_free(scope, std::int32_t(a), *tools_[t], nullptr); });
}

// Bounds hold for one minimum precision; labels that fail it when a rule is finished are searched without them.
void CandidateSearch::search_table() {
    if (!table_->started()) table_->start(first_visited(true));
    for (auto& tools : tools_) tools->best = NOTHING;
    CountTable::Pass pass;
    pass.keeps = !options_.when_finished || !state_.asked.asks();
    pass.alone = is_small(state_.training.rows.size());
    pass.floor = [&](std::size_t t) { return floor_for(*tools_[t]); };
    pass.look = [&](const Place& place, std::size_t a, const std::vector<double>& counters, std::size_t t) {
        Tools& tools = *tools_[t];
        tools.finder.bodies.begin(std::int32_t(a));
        tools.finder.add(place, counters);
        offer_heads(std::int32_t(a), tools, nullptr);
        return tools.finder.finding;
    };
    table_->search(pass);
    const Tools* best = tools_[0].get();
    for (auto& tools : tools_)
        if (tools->best > best->best) best = tools.get();
    if (best->best > NOTHING) table_->note_labels(best->best_labels, best->best_length);
}

void CandidateSearch::count_scope(const std::vector<Row>& rows) {
    scope_total_.assign(counter_.lanes(), 0.0);
    counter_.add(rows.data(), rows.size(), scope_total_.data());
}

// --- candidates with heads of their own

// Every candidate on an attribute (-1: the body as it is), each with its own best head.
void CandidateSearch::visit_free(const Scope& scope, std::int32_t a, Tools& tools, const Refined* refined) {
    const GroupedRows* rows = a < 0 ? nullptr : &scope.rows_of(std::size_t(a), prepared_, options_.example_based, tools.gathered);
    if (rows && rows->groups() == 0 && !(prepared_.attribute(std::size_t(a)).nominal && prepared_.attribute(std::size_t(a)).rest >= 0)) return;
    HeadFinder& finder = tools.finder;
    finder.bodies.begin(a, [&](const std::vector<double>& of_rows, std::vector<double>& sums) {
        sum_rows(scope, a, rows, of_rows, tools, sums);
    });
    const std::size_t lanes = counter_.lanes();
    const bool coded = rows && prepared_.is_packed(std::size_t(a));
    if (coded) {
        tools.by_code.assign(std::size_t(prepared_.attributes[std::size_t(a)].values) * lanes, 0.0);
        counter_.add_by_code(scope.rows, prepared_.codes[std::size_t(a)].data(), tools.by_code.data());
    }
    tools.total = scope_total_;
    visit_sums(
        scope, a, rows, tools, [&](const Row* some, std::size_t count, double* sums) { counter_.add(some, count, sums); },
        [&](std::size_t group, double* sums) {
            if (!coded) return counter_.add(*rows, group, sums);
            for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += tools.by_code[std::size_t(rows->ids[group]) * lanes + lane];
        },
        [&](const Place& place, const std::vector<double>& sums) {
            if (finder.takes_many() || finder.can_be_precise(sums)) finder.add(place, sums);
            if (finder.is_full()) offer_heads(a, tools, refined);
        });
    offer_heads(a, tools, refined);
}

// Visits the candidates on an attribute (-1: the body as it is) with the sums over the rows they cover: emit(place, sums).
// `tools.total` has those over the scope; add(rows, count, sums) and add_group(group, sums) add up others.
template <class Add, class AddGroup, class Emit>
void CandidateSearch::visit_sums(const Scope& scope, std::int32_t a, const GroupedRows* rows, Tools& tools, Add&& add, AddGroup&& add_group,
                                 Emit&& emit) const {
    if (!rows) return emit(Place{}, tools.total);
    tools.running.assign(tools.total.size(), 0.0);
    add(rows->missing.data(), rows->missing.size(), tools.running.data());
    for (std::size_t i = 0; i < tools.total.size(); ++i) tools.total[i] -= tools.running[i];
    visit_candidates(prepared_.attribute(std::size_t(a)), *rows, tools.total, scope.known(std::size_t(a), *rows), add_group, emit,
                     tools.running, tools.other);
}

// Sums of four numbers per row over what the candidates cover that may have a head, candidate after candidate.
void CandidateSearch::sum_rows(const Scope& scope, std::int32_t a, const GroupedRows* rows, const std::vector<double>& of_rows, Tools& tools,
                               std::vector<double>& sums) const {
    const auto add = [&](const Row* some, std::size_t count, double* to) {
        for (std::size_t i = 0; i < count; ++i)
            for (std::size_t j = 0; j < 5; ++j) to[j] += j < 4 ? of_rows[std::size_t(some[i]) * 4 + j] : state_.weight(some[i]);
    };
    sums.clear();
    tools.total.assign(5, 0.0);
    add(scope.rows.data(), scope.rows.size(), tools.total.data());
    visit_sums(
        scope, a, rows, tools, add, [&](std::size_t group, double* to) { add(rows->begin(group), rows->size(group), to); },
        [&](const Place& place, const std::vector<double>& of_candidate) {
            if (tools.finder.bodies.may_have_head(place, of_candidate[4])) sums.insert(sums.end(), of_candidate.begin(), of_candidate.begin() + 4);
        });
}

// Offers the candidates of which the finder knows.
void CandidateSearch::offer_heads(std::int32_t a, Tools& tools, const Refined* refined) {
    tools.finder.search(floor_for(tools), [&](const Place& place, const FoundHead& found) {
        if (found.value < tools.ranking.floor() || (refined && !improves(found.value, found.tp, refined->rule))) return;
        Candidate candidate;
        candidate.value = found.value;
        candidate.tp = found.tp;
        candidate.fp = found.fp;
        candidate.parent = refined ? refined->parent : 0;
        candidate.attribute = a;
        candidate.place = place;
        candidate.conditions = (refined ? std::int32_t(refined->rule.body.size()) : 0) + (a >= 0);
        for (const auto& [lane, sign] : found.head) candidate.head.push_back({state_.label_of_lane[lane], sign});
        std::sort(candidate.head.begin(), candidate.head.end());
        tools.ranking.offer(std::move(candidate));
        if (shares_best_) shared_.raise(found.value);
        if (!table_ || found.value <= tools.best) return;
        tools.best = found.value;
        tools.best_length = found.head.size();
        tools.best_labels = tools.finder.label_values();
    });
}

// --- refining

std::shared_ptr<Refinement> CandidateSearch::refine(const GrowingRule& rule, std::size_t parent) {
    const bool in_place = rule.around && options_.beam_width == 1;  // no other rule needs what the last look left
    const Scope& around = rule.around && !in_place ? rule.around->scope : state_.training;
    const std::vector<std::uint8_t> keep = marks_of(rule.covered, state_.n_rows);
    const std::shared_ptr<Refinement> next = in_place ? rule.around : begin_refinement(rule);
    const Refined refined{rule, *next, around, keep, std::int32_t(parent)};
    const FixedHead* head = rule.fixed.get();
    Scope& scope = next->scope;
    const std::size_t rows_before = in_place ? scope.rows.size() : around.rows.size();
    if (next->bounds) next->bounds->look_at(rule.covered, head->unlifted(floor_of_ties(rule.value)), scope.rows);
    if (head) {
        fixed_total_ = head->total_of(rule.covered);
    } else {
        for (auto& tools : tools_) tools->finder.bodies.start(rule.body);
        count_scope(rule.covered);
    }
    if (visits_by_rows(head))
        head->visit_sparse(prepared_, rule.covered, scope.rows, fixed_total_, [&] { return least_for(refined, *tools_[0]); }, tools_[0]->fixed,
                           [&](std::size_t a, const Place& place, const FixedHead::Worth& worth) { offer(a, place, worth, refined, *tools_[0]); });
    scope.rows = rule.covered;
    std::vector<std::size_t> order = all_visited(false, visits_by_rows(head));
    if (head) std::erase_if(order, [&](std::size_t a) { return is_in_head(a, rule); });
    if (next->bounds) next->bounds->keep_promising(order, head->unlifted(least_for(refined, *tools_[0])));
    threads_.run(order, is_small(rows_before), [&](std::size_t a, std::size_t t) {
        if (next->bounds && !measure(a, refined, *tools_[t])) return;
        if (!prepared_.is_packed(a)) refined.cut(a);
        head ? visit_fixed(a, refined, *tools_[t]) : visit_free(scope, std::int32_t(a), *tools_[t], &refined);
    });
    return next;
}

// Whether the candidates of sparse attributes are looked at all at once.
bool CandidateSearch::visits_by_rows(const FixedHead* head) const {
    return head && head->packed() && head->sums_fit() && options_.beam_width == 1 && !prepared_.sparse.empty();
}

std::shared_ptr<Refinement> CandidateSearch::begin_refinement(const GrowingRule& rule) {
    // What is left of the last rule is written over where possible: its lists need no new room.
    if (!spare_ || spare_.use_count() > 1) spare_ = std::make_shared<Refinement>();
    const std::shared_ptr<Refinement> next = spare_;
    next->scope.whole = &prepared_.grouped;
    next->scope.attributes.resize(n_attributes());
    next->scope.labels.resize(state_.n_labels);
    next->scope.rows.clear();
    next->is_cut.assign(n_attributes() + state_.n_labels, 0);
    next->bounds.reset();
    if (rule.fixed && options_.beam_width == 1)
        next->bounds = rule.fixed->bounds(all_visited(false, visits_by_rows(rule.fixed.get())), rule.covered, floor_of_ties(rule.value), has_lists_);
    return next;
}

// Whether an attribute may have the best condition to add to a rule.
bool CandidateSearch::can_win(std::size_t a, const Refined& refined, Tools& tools) const {
    const RefinementBounds& bounds = *refined.known.bounds;
    const FixedHead& head = *refined.rule.fixed;
    if (bounds.highest(a) < head.unlifted(least_for(refined, tools))) return false;
    for (const Candidate& best : tools.ranking.kept())
        if (bounds.all_after(a, best, head.unlifted(best.value))) return false;
    return true;
}

// Whether an attribute is a label of the head of a rule, or one that must not be related to it.
bool CandidateSearch::is_in_head(std::size_t a, const GrowingRule& rule) const {
    if (a < n_attributes()) return false;
    return std::any_of(rule.head.begin(), rule.head.end(), [&](const Assignment& assigned) {
        return std::size_t(assigned.label) == a - n_attributes() || options_.pairs.are_apart(std::size_t(assigned.label), a - n_attributes());
    });
}

// Bounds what the candidates of an attribute are worth, where it may matter; whether one of them may be the best.
bool CandidateSearch::measure(std::size_t a, const Refined& refined, Tools& tools) const {
    if (!can_win(a, refined, tools)) return false;
    RefinementBounds& bounds = *refined.known.bounds;
    const std::vector<Row>& rows = refined.known.scope.rows;
    const Attribute& attribute = prepared_.attribute(a);
    if (prepared_.is_packed(a)) {
        bounds.measure(a, attribute, prepared_.codes[a], rows);
    } else if (bounds.scans(attribute)) {
        // Lists are cut when that shortens them a good deal.
        if (const std::size_t listed = refined.lists(a).listed(); listed > 64 && listed > 2 * rows.size()) refined.cut(a);
        bounds.scan(a, refined.lists(a), refined.keep, rows.size());
    } else {
        refined.cut(a);
        const GroupedRows& lists = refined.lists(a);
        bounds.measure(a, Candidates(attribute, lists, refined.known.scope.known(a, lists)), lists, rows);
    }
    return can_win(a, refined, tools);
}

// Every candidate of an attribute under the head of the rule that is refined.
void CandidateSearch::visit_fixed(std::size_t a, const Refined& refined, Tools& tools) {
    const FixedHead& head = *refined.rule.fixed;
    const Scope& scope = refined.known.scope;
    const GroupedRows& rows = scope.rows_of(a, prepared_, !head.packed(), tools.gathered);
    head.visit(prepared_, a, rows, scope.known(a, rows), scope, fixed_total_, least_for(refined, tools), tools.fixed,
               [&](std::size_t, const Place& place, const FixedHead::Worth& worth) { offer(a, place, worth, refined, tools); });
}

void CandidateSearch::offer(std::size_t a, const Place& place, const FixedHead::Worth& worth, const Refined& refined, Tools& tools) {
    if (worth.value < floor_for(tools) || !improves(worth.value, worth.tp, refined.rule)) return;
    for (const auto& [label, sign] : refined.rule.head)
        if (options_.directions.bars(a, place, std::size_t(label), sign)) return;
    Candidate candidate;
    candidate.value = worth.value;
    candidate.tp = worth.tp;
    candidate.fp = worth.fp;
    candidate.parent = refined.parent;
    candidate.attribute = std::int32_t(a);
    candidate.place = place;
    candidate.conditions = std::int32_t(refined.rule.body.size()) + 1;
    candidate.head = refined.rule.head;
    tools.ranking.offer(std::move(candidate));
    if (shares_best_) shared_.raise(worth.value);
}

}  // namespace plurule
