// One pass over the candidates for the next condition, the best of which are kept.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "count_table.hpp"
#include "free_heads.hpp"
#include "growing_rule.hpp"
#include "set_candidates.hpp"
#include "threads.hpp"

namespace plurule {

template <class Count>
class CandidateSearch {
   public:
    using Growing = GrowingRule<Count>;

    // `options` may have its minimum precision set to 0 and put back between passes.
    CandidateSearch(const Prepared& prepared, const State& state, const Options& options, Threads& threads)
        : prepared_(prepared), state_(state), options_(options), threads_(threads), counter_(state) {
        for (std::size_t t = 0; t < threads.most(); ++t) tools_.push_back(std::make_unique<Tools>(state, options_, threads, t));
        const HeadSearch& search = tools_[0]->finder.search();
        if (std::is_same_v<Count, std::int32_t> && !searches_sets() && CountTable::suits(options, search, prepared, state))
            table_ = std::make_unique<CountTable>(prepared, state, options_, search, threads);
    }

    // Looks at every body of at most one condition, each with its own best head.
    void first_pass() {
        begin_pass(options_.beam_width);
        const Scope& scope = state_.training;
        excluded_.assign(state_.width, 0);
        count_scope(scope.rows);
        if (options_.required_attributes.empty()) consider_unrefined(scope);
        if (options_.max_conditions == 0) return;
        if constexpr (std::is_same_v<Count, std::int32_t>)
            if (table_) return search_table();
        threads_.run(first_visited(), is_small(scope.rows.size()), [&](std::size_t a, std::size_t t) { visit_free(scope, a, 0, 0, *tools_[t], nullptr); });
    }

    // Before rules are refined, each by `refine`.
    void begin_refining() { begin_pass(options_.beam_width * options_.beam_width); }

    // Looks at a rule with one more condition; `parent` is its place among those refined. What it gives is for the next look.
    std::shared_ptr<Refinement<Count>> refine(const Growing& rule, std::size_t parent) {
        const Scope& outer = rule.around ? rule.around->scope : state_.training;
        const bool in_place = rule.around && options_.beam_width == 1;  // no other rule needs what the last look left
        const bool cut = in_place || rule.covered.size() < outer.rows.size();
        const std::size_t rows_before = outer.rows.size();
        const std::vector<std::uint8_t> keep = cut ? marks_of(rule.covered, state_.n_rows) : std::vector<std::uint8_t>();
        const std::shared_ptr<Refinement<Count>> next = in_place ? rule.around : begin_refinement(rule);
        const RefinementBounds* bounds = next->bounds.get();
        if (bounds) next->bounds->look_at(rule.covered, next->head->unlifted(floor_of_ties(rule.value)), next->scope.rows);
        Scope& scope = next->scope;
        scope.rows = rule.covered;
        count_covered(rule, next->head.get());
        const bool by_rows = next->head && next->head->packed() && options_.beam_width == 1 && !prepared_.sparse.empty();
        if (by_rows) visit_sparse(std::int32_t(parent), rule, *next);
        std::vector<std::size_t> order = all_visited(false, by_rows);
        if (bounds) order = by_bounds(order, *bounds);
        threads_.run(order, is_small(rows_before), [&](std::size_t a, std::size_t t) {
            if (bounds && !can_win(a, rule, *next, *tools_[t])) return;
            if (!prepared_.is_packed(a)) {
                if (cut)
                    scope.at(a).assign_kept(outer.at(a), keep.data());
                else
                    scope.at(a) = outer.at(a);
            }
            if (next->head)
                visit_fixed(scope, a, std::int32_t(parent), rule, *next, *tools_[t]);
            else
                visit_free(scope, a, std::int32_t(parent), rule.body.size(), *tools_[t], &rule);
        });
        return next;
    }

    // What all threads kept.
    std::vector<Candidate> found() {
        std::vector<Candidate> all;
        for (auto& tools : tools_)
            for (Candidate& c : tools->ranking.kept()) all.push_back(std::move(c));
        return all;
    }

    bool is_small(std::size_t rows) const { return rows * (n_attributes() + 1) * state_.width < 200000; }

    // --- what is remembered of the first pass

    // Rows are about to be closed for the labels of a head, or to leave training; and did.
    void about_to_close(const std::vector<Assignment>& head, const std::vector<Row>& rows) {
        if (table_) table_->about_to_close(head, rows);
    }
    void about_to_remove(const std::vector<Row>& rows) {
        if (table_) table_->about_to_remove(rows);
    }
    void close() {
        if (table_) table_->close(is_small(state_.training.rows.size()));
    }

    // The attributes and labels that may list some of these rows.
    std::vector<std::size_t> listing(const std::vector<Row>& rows) const {
        std::vector<std::size_t> found;
        for (std::size_t a = 0; a < n_attributes() + state_.n_labels; ++a)
            if (!prepared_.sparse.holds(a)) found.push_back(a);
        if (prepared_.sparse.empty()) return found;
        std::vector<std::uint8_t> seen(n_attributes(), 0);
        for (Row row : rows)
            for (std::uint32_t slot : prepared_.sparse.slots_of(row))
                if (const std::uint32_t a = prepared_.sparse.attribute_of(slot); !std::exchange(seen[a], 1)) found.push_back(a);
        return found;
    }

   private:
    struct Tools {  // what each thread works with
        Tools(const State& state, const Options& options, Threads& threads, std::size_t thread)
            : finder(state, options), sets(state, options, [&threads, thread] { threads.check_stop(thread); }) {}
        HeadFinder<Count> finder;
        SetCandidates<Count> sets;
        Ranking ranking;
        GroupedRows gathered;
        std::vector<Count> total, running, other, by_code;
        typename FixedHead<Count>::Workspace fixed;
    };

    bool searches_sets() const {
        return options_.example_based || options_.head_search == HeadSearchKind::anti_monotone ||
               options_.head_search == HeadSearchKind::exhaustive || options_.pairs.any();
    }
    std::size_t n_attributes() const { return prepared_.attributes.size(); }
    const Attribute& attribute(std::size_t a) const { return prepared_.attribute(a); }

    // Bounds hold for one minimum precision; labels that fail it when a rule is finished are searched without them.
    void search_table() {
        const bool alone = is_small(state_.training.rows.size());
        if (!table_->started()) table_->start(first_visited(true));
        for (auto& tools : tools_) {
            tools->finder.start(excluded_, 0, 0);
            tools->finder.best_value = NOTHING;
        }
        CountTable::Pass pass;
        pass.keeps = !options_.when_finished || !options_.min_precision.asks();
        pass.alone = alone;
        pass.floor = [&](std::size_t t) { return floor_for(*tools_[t]); };
        pass.look = [&](const Place& place, std::size_t a, const std::vector<std::int32_t>& counters, std::size_t t) {
            Tools& tools = *tools_[t];
            const std::int32_t own_lane = a < n_attributes() ? -1 : state_.lane_of(a - n_attributes());
            if constexpr (std::is_same_v<Count, std::int32_t>)
                tools.finder.consider(place, std::int32_t(a), own_lane, counters, floor_for(tools), tools.ranking, shared());
            return tools.finder.finding;
        };
        table_->search(pass);
        const HeadFinder<Count>* best = &tools_[0]->finder;
        for (auto& tools : tools_)
            if (tools->finder.best_value > best->best_value) best = &tools->finder;
        if (best->best_value > NOTHING) table_->note_labels(best->best_labels, best->best_length);
    }

    void begin_pass(std::size_t width) {
        shared_.reset();
        for (auto& tools : tools_) tools->ranking = Ranking(width);
        shares_best_ = width == 1;
    }

    // Counts of the rows in scope.
    void count_scope(const std::vector<Row>& rows) {
        scope_total_.assign(counter_.lanes(), Count(0));
        counter_.add(rows.data(), rows.size(), scope_total_.data());
    }

    bool is_allowed(std::size_t a) const { return options_.allowed_attributes.empty() || options_.allowed_attributes[a]; }

    // What a condition may be on; `every_label`: labels not in heads yet included; `dense_only`: sparse attributes left out.
    std::vector<std::size_t> all_visited(bool every_label = false, bool dense_only = false) const {
        std::vector<std::size_t> visited;
        for (std::size_t a = 0; a < n_attributes(); ++a)
            if (!(dense_only && prepared_.sparse.holds(a)) && is_allowed(a)) visited.push_back(a);
        if (options_.label_conditions)
            for (std::size_t label = 0; label < state_.n_labels; ++label)
                if (every_label || state_.head_labels[label]) visited.push_back(n_attributes() + label);
        return visited;
    }

    // What a first condition may be on.
    std::vector<std::size_t> first_visited(bool every_label = false) const {
        const auto& required = options_.required_attributes;
        std::vector<std::size_t> visited = all_visited(every_label);
        if (!required.empty()) std::erase_if(visited, [&](std::size_t a) { return a >= n_attributes() || !required[a]; });
        return visited;
    }

    std::shared_ptr<Refinement<Count>> begin_refinement(const Growing& rule) {
        // What is left of the last rule is written over where possible: its lists need no new room.
        if (!spare_ || spare_.use_count() > 1) spare_ = std::make_shared<Refinement<Count>>();
        const std::shared_ptr<Refinement<Count>> next = spare_;
        next->scope.attributes.resize(n_attributes());
        next->scope.labels.resize(state_.n_labels);
        next->scope.rows.clear();
        next->bounds.reset();
        if (!options_.fix_head) return next;
        next->head = rule.around ? rule.around->head : std::make_shared<FixedHead<Count>>(state_, options_, rule.head, rule.covered, true);
        if (options_.beam_width == 1)
            next->bounds = next->head->bounds(n_attributes() + state_.n_labels, rule.covered, floor_of_ties(rule.value));
        return next;
    }

    // What the rule covers, with its head fixed or to be found anew.
    void count_covered(const Growing& rule, const FixedHead<Count>* head) {
        if (!head) {
            exclude_labels_of(rule);
            count_scope(rule.covered);
        } else if (head->packed()) {
            packed_total_ = head->packed_total(rule.covered);
        } else {
            fixed_total_.assign(head->lanes(), Count(0));
            head->add(rule.covered.data(), rule.covered.size(), fixed_total_.data());
        }
    }

    // The most promising attributes first.
    static std::vector<std::size_t> by_bounds(const std::vector<std::size_t>& visited, const RefinementBounds& bounds) {
        std::vector<std::pair<float, std::size_t>> hopes;
        for (std::size_t a : visited) hopes.emplace_back(-float(bounds.highest(a)), a);
        std::sort(hopes.begin(), hopes.end());
        std::vector<std::size_t> order;
        for (const auto& [hope, a] : hopes) order.push_back(a);
        return order;
    }

    // Whether an attribute may have the best condition to add to a rule.
    bool can_win(std::size_t a, const Growing& rule, const Refinement<Count>& known, Tools& tools) const {
        const double floor = std::max(floor_for(tools), floor_of_ties(rule.value));
        if (known.bounds->highest(a) < known.head->unlifted(floor)) return false;
        for (const Candidate& best : tools.ranking.kept())
            if (known.bounds->all_after(a, best, known.head->unlifted(best.value))) return false;
        return true;
    }

    void exclude_labels_of(const Growing& rule) {
        excluded_.assign(state_.width, 0);
        for (const Condition& c : rule.body)
            if (std::size_t(c.attribute) >= n_attributes())
                if (const std::int32_t lane = state_.lane_of(std::size_t(c.attribute) - n_attributes()); lane >= 0)
                    excluded_[std::size_t(lane)] = 1;
    }

    void consider_unrefined(const Scope& scope) {
        Tools& tools = *tools_[0];
        tools.finder.start(excluded_, 0, 0);
        tools.total = scope_total_;
        if (searches_sets()) {
            search_sets(scope, nullptr, -1, -1, 0, 0, nullptr, tools);
        } else {
            tools.finder.consider(Place{}, -1, -1, tools.total, tools.ranking.floor(), tools.ranking, shared());
            tools.finder.flush(tools.ranking);
        }
    }

    SharedBest* shared() { return shares_best_ ? &shared_ : nullptr; }
    double floor_for(const Tools& tools) const {
        return shares_best_ ? std::max(tools.ranking.floor(), shared_.floor()) : tools.ranking.floor();
    }

    // Every candidate of an attribute, each with its own best head.
    void visit_free(const Scope& scope, std::size_t a, std::int32_t parent, std::size_t conditions, Tools& tools, const Growing* refined) {
        const Attribute& attr = attribute(a);
        const GroupedRows& rows = scope.rows_of(a, prepared_, searches_sets(), tools.gathered);
        if (rows.groups() == 0 && (attr.rest < 0 || !attr.nominal)) return;
        const std::int32_t own_lane = a < n_attributes() ? -1 : state_.lane_of(a - n_attributes());
        const std::size_t n_rows = scope.known(a, rows);
        tools.finder.start(excluded_, parent, std::int32_t(conditions));
        total_without_missing(rows, tools);
        if (searches_sets()) return search_sets(scope, &rows, std::int32_t(a), own_lane, parent, conditions, refined, tools);
        const bool coded = prepared_.is_packed(a);
        const std::size_t lanes = tools.total.size();
        if (coded) {
            tools.by_code.assign(std::size_t(attr.values) * lanes, Count(0));
            counter_.add_by_code(scope.rows.data(), scope.rows.size(), prepared_.codes[a].data(), tools.by_code.data());
        }
        Ranking& ranking = tools.ranking;
        visit_candidates(
            attr, rows, tools.total, n_rows,
            [&](std::size_t group, Count* sums) {
                if (coded)
                    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += tools.by_code[std::size_t(rows.ids[group]) * lanes + lane];
                else
                    counter_.add(rows, group, sums);
            },
            [&](const Place& place, const std::vector<Count>& sums) {
                if (refined)
                    consider_refined(place, a, own_lane, sums, *refined, tools);
                else
                    tools.finder.consider(place, std::int32_t(a), own_lane, sums, floor_for(tools), ranking, shared());
            },
            tools.running, tools.other);
        if (!refined) {
            tools.finder.flush(ranking);
        } else if (options_.is_custom()) {
            Ranking all(std::numeric_limits<std::size_t>::max());
            tools.finder.flush(all);
            for (Candidate& c : all.kept())
                if (improves(c.value, c.tp, *refined)) ranking.offer(std::move(c));
        }
    }

    void consider_refined(const Place& place, std::size_t a, std::int32_t own_lane, const std::vector<Count>& sums,
                          const Growing& refined, Tools& tools) {
        if (options_.heuristic.formula == Formula::custom) {
            tools.finder.consider(place, std::int32_t(a), own_lane, sums, NOTHING, tools.ranking, nullptr);
            return;
        }
        Ranking one(1);
        tools.finder.consider(place, std::int32_t(a), own_lane, sums, tools.ranking.floor(), one, nullptr);
        for (Candidate& c : one.kept())
            if (improves(c.value, c.tp, refined)) tools.ranking.offer(std::move(c));
    }

    void total_without_missing(const GroupedRows& rows, Tools& tools) {
        tools.total = scope_total_;
        if (rows.missing.empty()) return;
        tools.running.assign(tools.total.size(), Count(0));
        counter_.add(rows.missing.data(), rows.missing.size(), tools.running.data());
        for (std::size_t i = 0; i < tools.total.size(); ++i) tools.total[i] -= tools.running[i];
    }

    void search_sets(const Scope& scope, const GroupedRows* rows, std::int32_t a, std::int32_t own_lane, std::int32_t parent,
                     std::size_t conditions, const Growing* refined, Tools& tools) {
        const Attribute* of = a < 0 ? nullptr : &attribute(std::size_t(a));
        const std::size_t n_rows = rows ? scope.known(std::size_t(a), *rows) : 0;
        tools.sets.search(of, scope, rows, n_rows, tools.total, excluded_, own_lane, [&](Candidate&& candidate) {
            if (refined && !improves(candidate.value, candidate.tp, *refined)) return;
            candidate.parent = parent;
            candidate.attribute = a;
            candidate.conditions = std::int32_t(conditions) + (a >= 0);
            tools.ranking.offer(std::move(candidate));
        });
    }

    // Every candidate of an attribute under the head of the rule that is refined.
    void visit_fixed(const Scope& scope, std::size_t a, std::int32_t parent, const Growing& rule,
                     const Refinement<Count>& known, Tools& tools) {
        const FixedHead<Count>& head = *known.head;
        if (a >= n_attributes())
            for (const Assignment& assigned : rule.head)
                if (std::size_t(assigned.label) == a - n_attributes() ||
                    options_.pairs.are_apart(std::size_t(assigned.label), a - n_attributes())) {
                    if (known.bounds) known.bounds->rule_out(a);
                    return;
                }
        const bool coded = prepared_.is_packed(a);
        if (known.bounds && coded) {
            known.bounds->measure(a, attribute(a), prepared_.codes[a], scope.rows);
            if (!can_win(a, rule, known, tools)) return;
        }
        const GroupedRows& rows = scope.rows_of(a, prepared_, !head.packed(), tools.gathered);
        const std::size_t n_rows = scope.known(a, rows);
        const auto offer = [&](const Place& place, double value, double tp, double fp) {
            offer_refined(a, place, value, tp, fp, parent, rule, tools);
        };
        if (head.packed()) {
            const Candidates candidates(attribute(a), rows, n_rows);
            const std::uint8_t* codes = coded ? prepared_.codes[a].data() : nullptr;
            if (known.bounds && !coded) {
                known.bounds->measure(a, candidates, rows, scope.rows);
                if (!can_win(a, rule, known, tools)) return;
            }
            const double floor = std::max(floor_for(tools), floor_of_ties(rule.value));
            head.visit_packed(candidates, rows, codes, scope.rows, packed_total_, floor, tools.fixed, offer);
            return;
        }
        head.visit_counted(attribute(a), rows, n_rows, fixed_total_, tools.fixed, offer);
    }

    // The same for all sparse attributes at once.
    void visit_sparse(std::int32_t parent, const Growing& rule, const Refinement<Count>& known) {
        Tools& tools = *tools_[0];
        const double floor = std::max(floor_for(tools), floor_of_ties(rule.value));
        known.head->visit_sparse(prepared_, rule.covered, packed_total_, floor, tools.fixed, [&](std::size_t a) { return is_allowed(a); },
                                 [&](std::size_t a, const Place& place, double value, double tp, double fp) {
                                     offer_refined(a, place, value, tp, fp, parent, rule, tools);
                                 });
    }

    void offer_refined(std::size_t a, const Place& place, double value, double tp, double fp, std::int32_t parent, const Growing& rule,
                       Tools& tools) {
        if (value < floor_for(tools) || !improves(value, tp, rule)) return;
        Candidate candidate;
        candidate.value = value;
        candidate.tp = tp;
        candidate.fp = fp;
        candidate.parent = parent;
        candidate.attribute = std::int32_t(a);
        candidate.place = place;
        candidate.conditions = std::int32_t(rule.body.size()) + 1;
        candidate.head = rule.head;
        tools.ranking.offer(std::move(candidate));
        if (shares_best_) shared_.raise(value);
    }

    const Prepared& prepared_;
    const State& state_;
    const Options& options_;
    Threads& threads_;
    RowCounter<Count> counter_;
    std::vector<std::unique_ptr<Tools>> tools_;
    bool shares_best_ = true;
    SharedBest shared_;
    std::unique_ptr<CountTable> table_;
    std::vector<std::uint8_t> excluded_;
    std::vector<Count> scope_total_, fixed_total_;
    std::vector<std::uint64_t> packed_total_;
    std::shared_ptr<Refinement<Count>> spare_;
};

}  // namespace plurule
