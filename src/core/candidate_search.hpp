// One pass over the candidates for the next condition, the best of which are kept.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "free_heads.hpp"
#include "growing_rule.hpp"
#include "ledger.hpp"
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
        filters_ = std::is_same_v<Count, std::int32_t> && as_quotient(options.heuristic, quotient_) &&
                   !searches_sets() && tools_[0]->finder.search().never_rises() && options.beam_width == 1;
        last_best_.assign(prepared.attributes.size() + state.n_labels, NOTHING);
        last_place_.resize(last_best_.size());
        ledger_threshold_ = options.when_finished ? 0.0 : options.min_precision.threshold;
        const bool pays = prepared.some_packed() || state.width >= least_labels_of_ledger(options);
        if (filters_ && pays && state.n_rows < MOST_ROWS_OF_LEDGER &&
            Ledger::bytes_for(state.training.attributes) <= MOST_BYTES_OF_LEDGER)
            ledger_ = std::make_unique<Ledger>(options, quotient_, tools_[0]->finder.search().highest_lift());
    }

    // Looks at every body of at most one condition, each with its own best head.
    void first_pass() {
        begin_pass(options_.beam_width);
        const Scope& scope = state_.training;
        excluded_.assign(state_.width, 0);
        count_scope(scope.rows);
        if (options_.required_attributes.empty()) consider_unrefined(scope);
        if (options_.max_conditions == 0) return;
        if (ledger_ && ledger_->empty()) start_ledger();
        const std::vector<std::size_t> order = visiting_order();
        // Candidates that were good the last time: with a high value to begin with, most others need no look.
        if (filters_)
            for (std::size_t i = 0; i < std::min<std::size_t>(order.size(), 8); ++i)
                if (const std::size_t a = order[i]; std::isfinite(last_best_[a]) && !prepared_.is_packed(a))
                    visit_free(scope, a, 0, 0, *tools_[0], nullptr, &last_place_[a]);
        threads_.run(order, is_small(scope.rows.size()),
                     [&](std::size_t a, std::size_t t) { visit_free(scope, a, 0, 0, *tools_[t], nullptr); });
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
        std::vector<std::size_t> order = all_visited();
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

    // Rows left training: nothing holds any more.
    void forget() {
        if (ledger_) ledger_->forget();
    }

    // The labels of `about_to_close` were closed.
    void revise(const std::vector<ClosedLabel>& closed) {
        if (closed.empty() || ledger_->empty()) return;
        threads_.run(all_visited(), is_small(state_.training.rows.size()), [&](std::size_t a, std::size_t t) {
            Tools& tools = *tools_[t];
            for (const ClosedLabel& label : closed)  // its conditions cover other rows now
                if (n_attributes() + std::size_t(label.label) == a) return start_page(a, tools.gathered);
            const Scope& scope = state_.training;
            const GroupedRows& rows = scope.rows_of(a, prepared_, false, tools.gathered);
            const std::uint8_t* codes = prepared_.is_packed(a) ? prepared_.codes[a].data() : nullptr;
            ledger_->revise(a, Candidates(attribute(a), rows, scope.known(a, rows)), rows, codes, scope.rows, closed,
                            options_.min_precision.of_label && ledger_threshold_ > 0, tools.counts);
        });
    }

    // Labels about to be closed on some rows, as the ledger needs them.
    std::vector<ClosedLabel> about_to_close(const std::vector<Assignment>& head, const std::vector<Row>& rows) const {
        std::vector<ClosedLabel> closed;
        if (!ledger_ || ledger_->empty()) return closed;
        for (const Assignment& assigned : head) {
            const std::size_t lane = std::size_t(state_.lane_of(std::size_t(assigned.label)));
            ClosedLabel& one = closed.emplace_back();
            one.label = assigned.label;
            one.present = state_.present[lane];
            one.absent = state_.absent[lane];
            one.codes.resize(state_.n_rows);
            for (Row row : state_.training.rows) one.codes[row] = state_.bytes[std::size_t(row) * state_.width + lane];
            for (Row row : rows)
                if (one.codes[row] & (OPEN_PRESENT | OPEN_ABSENT)) one.codes[row] |= CLOSES;
            for (Row row : state_.training.rows) ClosedLabel::add(one.codes[row], 1, one.total);
        }
        return closed;
    }

   private:
    struct Tools {  // what each thread works with
        Tools(const State& state, const Options& options, Threads& threads, std::size_t thread)
            : finder(state, options), sets(state, options, [&threads, thread] { threads.check_stop(thread); }) {}
        HeadFinder<Count> finder;
        SetCandidates<Count> sets;
        Ranking ranking;
        Scores scores;
        std::size_t scores_of_pass = 0, since_prepared = 0;
        std::size_t flagged = 0, looked_at = 0;
        std::vector<std::uint8_t> flags, score_flags;
        GroupedRows gathered;
        std::vector<std::int32_t> counts;
        std::vector<Count> total, running, other, by_code;
        typename FixedHead<Count>::Workspace fixed;
    };

    // With fewer labels, keeping the ledger costs more than it saves: rows leave training often where only presence is
    // predicted. The accuracies of candidates are close together, so that many would have to be looked at.
    static std::size_t least_labels_of_ledger(const Options& options) {
        if (options.predict_absence) return 0;
        return options.heuristic.formula == Formula::accuracy ? 16 : 24;
    }
    static constexpr std::size_t MOST_ROWS_OF_LEDGER = std::size_t(1) << 21;  // what its counters hold
    static constexpr std::size_t MOST_BYTES_OF_LEDGER = std::size_t(1) << 27;

    static constexpr std::size_t ROWS_PER_LOOK = 64;  // how many rows are added up in the time of one look

    bool ledger_in_use() const { return ledger_ && !ledger_->empty() && options_.min_precision.threshold == ledger_threshold_; }

    bool searches_sets() const {
        return options_.example_based || options_.head_search == HeadSearchKind::anti_monotone ||
               options_.head_search == HeadSearchKind::exhaustive || options_.pairs.any();
    }
    std::size_t n_attributes() const { return prepared_.attributes.size(); }
    const Attribute& attribute(std::size_t a) const { return prepared_.attribute(a); }

    void start_ledger() {
        ledger_->resize(n_attributes() + state_.n_labels);
        for (std::size_t a = 0; a < n_attributes() + state_.n_labels; ++a) start_page(a, tools_[0]->gathered);
    }
    void start_page(std::size_t a, GroupedRows& room) {
        const Scope& scope = state_.training;
        const GroupedRows& rows = scope.rows_of(a, prepared_, false, room);
        ledger_->start(a, Candidates(attribute(a), rows, scope.known(a, rows)));
    }

    void begin_pass(std::size_t width) {
        ++pass_;
        shared_.reset();
        for (auto& tools : tools_) {
            tools->ranking = Ranking(width);
            tools->flagged = tools->looked_at = 0;
        }
        shares_best_ = width == 1;
    }

    // Counts of the rows in scope.
    void count_scope(const std::vector<Row>& rows) {
        scope_total_.assign(counter_.lanes(), Count(0));
        counter_.add(rows.data(), rows.size(), scope_total_.data());
    }

    std::vector<std::size_t> all_visited() const {
        std::vector<std::size_t> visited;
        for (std::size_t a = 0; a < n_attributes(); ++a)
            if (options_.allowed_attributes.empty() || options_.allowed_attributes[a]) visited.push_back(a);
        if (options_.label_conditions)
            for (std::size_t label = 0; label < state_.n_labels; ++label)
                if (state_.head_labels[label]) visited.push_back(n_attributes() + label);
        return visited;
    }

    // What was best for the last rule comes first, so that little else has to be counted.
    std::vector<std::size_t> visiting_order() const {
        std::vector<std::size_t> order = all_visited();
        if (const auto& required = options_.required_attributes; !required.empty())
            std::erase_if(order, [&](std::size_t a) { return a >= n_attributes() || !required[a]; });
        std::vector<double> hope(last_best_);
        if (ledger_in_use())
            for (std::size_t a : order)
                if (std::isfinite(ledger_->best(a))) hope[a] = ledger_->best(a);
        const auto better = [&](std::size_t a, std::size_t b) { return hope[a] != hope[b] ? hope[a] > hope[b] : a < b; };
        const std::size_t first = std::min<std::size_t>(order.size(), 32);
        std::partial_sort(order.begin(), order.begin() + std::ptrdiff_t(first), order.end(), better);
        return order;
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
            ++pass_;  // scores depend on what is covered and excluded
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
    void visit_free(const Scope& scope, std::size_t a, std::int32_t parent, std::size_t conditions, Tools& tools,
                    const Growing* refined, const Place* only = nullptr) {
        const bool noted = !refined && ledger_in_use();
        if (noted && ledger_->best(a) < floor_for(tools)) return;
        const Attribute& attr = attribute(a);
        const GroupedRows& rows = scope.rows_of(a, prepared_, searches_sets(), tools.gathered);
        if (rows.groups() == 0 && (attr.rest < 0 || !attr.nominal)) return;
        const std::int32_t own_lane = a < n_attributes() ? -1 : state_.lane_of(a - n_attributes());
        const std::size_t n_rows = scope.known(a, rows);
        tools.finder.start(excluded_, parent, std::int32_t(conditions));
        tools.finder.best_of_attribute = NOTHING;
        tools.finder.keeps_findings = noted;
        const std::uint8_t* wanted = nullptr;
        std::size_t worth_a_look = rows.groups();
        if (only) {
            const Candidates candidates(attr, rows, n_rows);
            Slot slot{};
            if (!candidates.slot_of(*only, slot)) return remember(a, tools);
            tools.flags.assign(candidates.slots, 0);
            tools.flags[slot.group] = std::uint8_t(1 << slot.side);
            wanted = tools.flags.data();
        } else if (noted) {
            worth_a_look = ledger_->flag(a, floor_for(tools), tools.flags);
            if (worth_a_look == 0) return;
            wanted = tools.flags.data();
        }
        // Scores save the looks at candidates, not the pass over the rows.
        const bool many_candidates = worth_a_look * 8 >= rows.groups() && !prepared_.is_packed(a) &&
                                     rows.groups() * ROWS_PER_LOOK > rows.rows.size();
        if (filters_ && !refined && !only && many_candidates && use_scores(scope, tools)) {
            std::vector<std::uint8_t>& flags = noted ? tools.score_flags : tools.flags;
            const bool some = tools.scores.flag(attr, rows, n_rows, flags);
            tools.looked_at += rows.groups();
            for (std::uint8_t flag : flags) tools.flagged += (flag & 3) != 0;
            if (noted) {
                note_failed(a, tools);
                for (std::size_t g = 0; g < flags.size(); ++g) tools.flags[g] &= flags[g];
            } else {
                for (std::uint8_t& flag : flags) flag &= 3;
            }
            if (!some) {
                if (noted) ledger_->refresh(a);
                return remember(a, tools);
            }
            wanted = tools.flags.data();
        }
        total_without_missing(rows, tools);
        if (searches_sets()) {
            search_sets(scope, &rows, std::int32_t(a), own_lane, parent, conditions, refined, tools);
            return;
        }
        const bool coded = prepared_.is_packed(a);
        const std::size_t lanes = tools.total.size();
        if (coded) {
            tools.by_code.assign(256 * lanes, Count(0));
            counter_.add_by_code(scope.rows.data(), scope.rows.size(), prepared_.codes[a].data(), tools.by_code.data());
        }
        Ranking& ranking = tools.ranking;
        visit_candidates(
            attr, rows, tools.total, n_rows, wanted,
            [&](std::size_t group, Count* sums) {
                if (coded)
                    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += tools.by_code[std::size_t(rows.ids[group]) * lanes + lane];
                else
                    counter_.add(rows, group, sums);
            },
            [&](const Place& place, const std::vector<Count>& sums, Slot slot) {
                if (refined) {
                    consider_refined(place, a, own_lane, sums, *refined, tools);
                } else {
                    tools.finder.consider(place, std::int32_t(a), own_lane, sums, floor_for(tools), ranking, shared());
                    if (noted) ledger_->record(a, slot.group, slot.side, tools.finder.finding);
                }
            },
            tools.running, tools.other);
        if (!refined) {
            tools.finder.flush(ranking);
        } else if (options_.heuristic.formula == Formula::custom) {
            Ranking all(std::numeric_limits<std::size_t>::max());
            tools.finder.flush(all);
            for (Candidate& c : all.kept())
                if (improves(c.value, c.tp, *refined)) ranking.offer(std::move(c));
        }
        if (!refined) remember(a, tools);
        if (noted) ledger_->refresh(a);
    }

    // Keeps the best of an attribute for the next rule; where nothing reached the floor, what was best is worth no more.
    void remember(std::size_t a, const Tools& tools) {
        if (tools.finder.best_of_attribute == NOTHING) {
            last_best_[a] = std::min(last_best_[a], floor_for(tools));
            return;
        }
        last_best_[a] = tools.finder.best_of_attribute;
        last_place_[a] = tools.finder.place_of_best;
    }

    // Notes the candidates that the ledger flagged and the scores did not: no label reaches θ, or none has TP >= FP.
    void note_failed(std::size_t a, const Tools& tools) {
        Finding low, impure;
        low.highest = low.second = tools.scores.theta();
        impure.slack = 1;
        for (std::size_t g = 0; g < tools.score_flags.size(); ++g)
            for (std::size_t side = 0; side < 2; ++side) {
                const int flag = tools.score_flags[g] >> side;
                if ((tools.flags[g] >> side & 1) && !(flag & 1)) ledger_->record(a, g, side, flag & 4 ? impure : low);
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

    // Brings the scores of a thread up to the best value so far; false where they would not help.
    bool use_scores(const Scope& scope, Tools& tools) {
        const double theta = floor_for(tools) / tools.finder.search().highest_lift() * (1 - 1e-9);
        if (!(theta > 0)) return false;
        // Preparing costs about as much as flagging one attribute.
        const bool stale = theta > tools.scores.theta() * 1.01 || (theta > tools.scores.theta() && ++tools.since_prepared >= 4);
        if (tools.scores_of_pass != pass_ || stale) {
            tools.scores.prepare(state_, quotient_, theta, options_, excluded_, scope.rows);
            tools.scores_of_pass = pass_;
            tools.since_prepared = tools.flagged = tools.looked_at = 0;
        }
        return tools.looked_at < 2000 || tools.flagged * 2 < tools.looked_at;
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
        const GroupedRows& rows = scope.rows_of(a, prepared_, !head.packed(), tools.gathered);
        const std::size_t n_rows = scope.known(a, rows);
        const auto offer = [&](const Place& place, double value, double tp, double fp) {
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
        };
        if (head.packed()) {
            const Candidates candidates(attribute(a), rows, n_rows);
            const std::uint8_t* codes = prepared_.is_packed(a) ? prepared_.codes[a].data() : nullptr;
            if (known.bounds) {
                known.bounds->measure(a, candidates, rows, codes, scope.rows);
                if (!can_win(a, rule, known, tools)) return;
            }
            const double floor = std::max(floor_for(tools), floor_of_ties(rule.value));
            head.visit_packed(candidates, rows, codes, scope.rows, packed_total_, floor, tools.fixed, offer);
            return;
        }
        head.visit_counted(attribute(a), rows, n_rows, fixed_total_, tools.fixed, offer);
    }

    const Prepared& prepared_;
    const State& state_;
    const Options& options_;
    Threads& threads_;
    RowCounter<Count> counter_;
    std::vector<std::unique_ptr<Tools>> tools_;
    Quotient quotient_{};
    bool filters_ = false, shares_best_ = true;
    std::size_t pass_ = 0;
    SharedBest shared_;
    std::vector<double> last_best_;  // of each attribute, and where
    std::vector<Place> last_place_;
    std::unique_ptr<Ledger> ledger_;
    double ledger_threshold_;
    std::vector<std::uint8_t> excluded_;
    std::vector<Count> scope_total_, fixed_total_;
    std::vector<std::uint64_t> packed_total_;
    std::shared_ptr<Refinement<Count>> spare_;
};

}  // namespace plurule
