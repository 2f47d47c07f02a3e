#include "candidate_search.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

namespace plurule {

namespace {

constexpr float UNLIMITED = std::numeric_limits<float>::infinity();
constexpr double SURE = 1 - 1e-3;    // a candidate that is surely worth a value is worth so much of it at least
constexpr std::uint8_t BOTH_SIDES = 3;
constexpr std::size_t FEW_LABELS = 32;  // are looked at sooner than what is remembered of them
constexpr std::size_t AT_ONCE = 32;  // promises that a thread takes

// A bound that reaches this, or nearly, reaches the floor.
float least_for(double floor) { return std::isfinite(floor) ? float(floor - 1e-6 * std::fabs(floor)) : -UNLIMITED; }

// Numbers that single precision can work with.
bool is_moderate(double number) { return number >= 0 && number < 1e9; }

}  // namespace

CandidateSearch::CandidateSearch(const State& state, const Options& options, Threads& threads)
    : state_(state),
      options_(options),
      threads_(threads),
      histogram_(state, allowed_attributes(state, options), options.label_conditions, threads),
      least_share_(least_share(options)) {
    for (std::size_t t = 0; t < threads.most(); ++t) tools_.push_back(std::make_unique<Tools>(state, options_));
    Quotient quotient{};
    is_bounded_ = as_quotient(options.heuristic, quotient) && (tools_[0]->finder.never_rises() || options.is_additive()) &&
                  is_moderate(options.heuristic.parameter) &&
                  std::all_of(options.lift.begin(), options.lift.end(), [](double lift) { return lift > 0 && lift < 1e9; });
}

std::vector<std::size_t> CandidateSearch::allowed_attributes(const State& state, const Options& options) {
    std::vector<std::size_t> allowed;
    for (std::size_t a = 0; a < state.n_attributes() && options.max_conditions > 0; ++a)
        if (options.is_allowed(a)) allowed.push_back(a);
    return allowed;
}

void CandidateSearch::begin_pass(std::size_t width) {
    shared_.reset();
    sure_.reset();
    for (auto& tools : tools_) tools->ranking = Ranking(width);
    shares_best_ = width == 1;
}

std::vector<Candidate> CandidateSearch::found() {
    std::vector<Candidate> all;
    for (auto& tools : tools_)
        for (Candidate& c : tools->ranking.kept()) all.push_back(std::move(c));
    return all;
}

// --- heads of their own

void CandidateSearch::first_pass() {
    begin_pass(options_.beam_width);
    choose_labels();
    Scope scope{&state_.rows, nullptr, 0, {}};
    for (std::int32_t column : labels_) {
        if (std::size_t(column) == state_.n_labels) break;
        const LabelWeights& label = state_.labels[std::size_t(column)];
        add_label(std::size_t(column), label.open_present, label.open_absent, label.present, scope.totals);
    }
    add_label(state_.n_labels, 0, 0, state_.weight_of_rows, scope.totals);
    for (auto& tools : tools_) tools->finder.start({}, {labels_.begin(), labels_.end() - 1});
    Tools& tools = *tools_[0];
    std::vector<double>& counts = tools.gathered;
    counts.clear();
    for (std::size_t i = 0; i < scope.totals.size(); ++i)
        counts.insert(counts.end(), {scope.totals.tp[i], scope.totals.fp[i], scope.totals.present[i]});
    tools.finder.add(NO_ATTRIBUTE, {}, counts);
    offer_heads(scope, tools);
    if (options_.max_conditions == 0) return;
    if (!started_) histogram_.start();
    started_ = true;
    update_usable();
    search_heads(scope);
}

// What is remembered holds for the precision that is required of candidates elsewhere.
void CandidateSearch::update_usable() {
    remembers_ = is_bounded_ && histogram_.kept() && state_.required.threshold == options_.required_of_candidates().threshold;
    some_known_ = remembers_ && usable_.update(histogram_, state_.n_labels) && state_.n_labels > FEW_LABELS;
}

// Where values are averaged, let v be that of a head of k labels with mean m, v = ρ(k) × m, and let j of its labels be worth at
// least r × v. The mean of these, M >= m, makes a head worth ρ(j) × M >= v if
//     r <= (k × ρ(j) / ρ(k) - j) / ((k - j) × ρ(k))     for all j < k,
// since m <= (j × M + (k - j) × r × v) / k. Gives the highest such r, or a little less; 0: labels may be worth anything.
double CandidateSearch::least_share(const Options& options) {
    if (!options.averages_labels) return 0;
    const std::vector<double>& lift = options.lift;
    double share = 1;
    for (std::size_t k = 2; k <= lift.size(); ++k)
        for (std::size_t j = 1; j < k; ++j)
            share = std::min(share, (double(k) * lift[j - 1] / lift[k - 1] - double(j)) / (double(k - j) * lift[k - 1]));
    return std::max(0.0, share * (1 - 1e-4));
}

// The labels by which the candidates of a group are valued; none where no head can be as precise as required and reach the floor.
std::span<const std::uint32_t> CandidateSearch::choose_places(const SlotRange& range, const Cells& cells, std::size_t group,
                                                              const Scope& scope, bool other_side, Tools& tools) {
    const bool remembers = remembers_ && range.kind != SlotRange::Kind::labels;
    const float floor = std::max({0.0f, least_for(floor_for(tools)), least_for(sure_.floor())}),
                every = floor * float(least_share_);
    if (remembers && (scoring_.additive || (needs_precise_label() && some_known_))) {
        tools.places.clear();
        usable_.visit(group, other_side, searched_, [&](std::size_t label) { tools.places.push_back(place_of_[label]); });
        if (scoring_.additive) return tools.places;
        tools.is_precise.resize(tools.places.size());
        const bool some = histogram_.rate_labels(cells, group, labels_, tools.places, scope.totals, other_side, scoring_, every,
                                                 tools.is_precise.data());
        for (std::size_t i = 0; i < tools.places.size(); ++i)
            if (!tools.is_precise[i]) usable_.drop(group, other_side, std::size_t(labels_[tools.places[i]]));
        if (!some) return {};
    }
    if (scoring_.additive) return all_places_;
    tools.places.resize(all_places_.size());
    tools.places.resize(histogram_.relevant(cells, group, labels_, scope.totals, other_side, scoring_, every,
                                            floor / scoring_.highest_lift * (1 - 1e-5f), tools.places.data()));
    return tools.places;
}

// Labels with a pair that can be right.
void CandidateSearch::choose_labels() {
    labels_.clear();
    for (std::size_t label = 0; label < state_.n_labels; ++label)
        if (state_.is_searched(label) && (options_.predict_absence || state_.labels[label].open_present > 0))
            labels_.push_back(std::int32_t(label));
    all_places_.resize(labels_.size());
    std::iota(all_places_.begin(), all_places_.end(), 0);
    place_of_.resize(state_.n_labels);
    searched_.assign((state_.n_labels + 63) / 64, 0);
    for (std::uint32_t place : all_places_) {
        const std::size_t label = std::size_t(labels_[place]);
        place_of_[label] = place;
        searched_[label / 64] |= UsableLabels::bit(label);
    }
    labels_.push_back(std::int32_t(state_.n_labels));
    scoring_ = scoring();
}

BoundScoring CandidateSearch::scoring() const {
    Quotient q{};
    as_quotient(options_.heuristic, q);
    const HeadFinder& finder = tools_[0]->finder;
    const bool relaxed = options_.head_search == HeadSearchKind::relaxed;
    BoundScoring s{};
    for (int i = 0; i < 4; ++i) {
        s.top[i] = float(q.top[i]);
        s.bottom[i] = float(q.bottom[i]);
    }
    s.top_constant = float(q.top_constant);
    s.bottom_constant = float(q.bottom_constant);
    s.f_like = q.top[1] == 0 && q.top[2] == 0 && q.top[3] == 0 && q.top_constant == 0 && q.bottom[2] == 0;
    s.absence = options_.predict_absence;
    s.additive = options_.is_additive();
    s.averages = options_.averages_labels;
    s.highest_lift = float(finder.highest_lift());
    s.several = relaxed && (s.highest_lift > 1 || s.additive);
    s.checks_head = state_.required.is_set();
    s.checks_labels = state_.required.checks_labels();
    s.right = float(state_.required.surplus(1, 0));
    s.wrong = float(state_.required.surplus(0, -1));
    const bool is_exact = state_.required.threshold == 0.5 && state_.number != Number::real &&
                          state_.total_weight * double(labels_.size()) < 0x1p24;
    s.rounding = is_exact ? 0.0f : 2e-6f;
    s.coarse = options_.heads_can_clash() || options_.directions.by_label || (s.checks_labels && !is_exact);
    s.lift.assign(options_.lift.begin(), options_.lift.end());
    s.lift_above.assign(s.lift.size(), 0.0f);
    for (std::size_t k = s.lift.size(); k-- > 1;) s.lift_above[k - 1] = std::max(s.lift_above[k], s.lift[k]);
    return s;
}

void CandidateSearch::add_label(std::size_t label, double tp, double fp, double present, Totals& totals) const {
    const double in_training = label < state_.n_labels ? state_.labels[label].present : state_.weight_of_rows;
    totals.tp.push_back(tp);
    totals.fp.push_back(fp);
    totals.present.push_back(present);
    totals.present_in_training.push_back(in_training);
    totals.absent_in_training.push_back(state_.weight_of_rows - in_training);
    if (state_.number != Number::real)
        for (double sum : {tp, fp, present, in_training, state_.weight_of_rows - in_training})
            totals.whole.push_back(std::int32_t(sum));
    totals.kinds = scoring_.additive ? 2 : scoring_.f_like ? 3 : 4;
}

Totals CandidateSearch::sum_rows(const std::vector<Row>& rows) const {
    std::vector<LabelWeights> sums(state_.n_labels);
    const double covered = state_.count_rows(rows, 1, sums);
    Totals totals;
    for (std::size_t i = 0; i + 1 < labels_.size(); ++i) {
        const LabelWeights& sum = sums[std::size_t(labels_[i])];
        add_label(std::size_t(labels_[i]), sum.open_present, sum.open_absent, sum.present, totals);
    }
    add_label(state_.n_labels, 0, 0, covered, totals);
    return totals;
}

// Every candidate with its own best head.
void CandidateSearch::search_heads(const Scope& scope) {
    if (labels_.size() == 1) return;
    const Cells* kept = scope.refined ? nullptr : histogram_.kept();
    const std::vector<SlotRange>& ranges = histogram_.ranges();
    for (auto& tools : tools_) tools->promises.clear();
    std::vector<std::size_t> order(ranges.size());
    std::iota(order.begin(), order.end(), 0);
    threads_.run(order, is_small(scope.rows->size()), [&](std::size_t p, std::size_t t) {
        Tools& tools = *tools_[t];
        const SlotRange& range = ranges[p];
        if (!kept) histogram_.count(range, *scope.rows, tools.cells, t);
        const Cells& cells = kept ? *kept : tools.cells;
        const Scope known = some_missing(range) ? known_in(range, cells, scope, tools) : Scope{};
        const Scope& own = some_missing(range) ? known : scope;
        if (kept) return value_range(p, cells, own, tools);
        tools.promises.clear();
        value_range(p, cells, own, tools);
        std::sort(tools.promises.begin(), tools.promises.end(),
                  [](const Promise& a, const Promise& b) { return a.bound > b.bound; });
        for (const Promise& promise : tools.promises) look_at(promise, cells, own, tools);
        offer_heads(own, tools);
    });
    if (kept) look_at_promises(scope);
}

void CandidateSearch::look_at_promises(const Scope& scope) {
    std::vector<Promise> all;
    const float least = std::max(least_for(sure_.floor()), least_for(floor_for(*tools_[0])));
    for (auto& tools : tools_)
        std::copy_if(tools->promises.begin(), tools->promises.end(), std::back_inserter(all),
                     [&](const Promise& p) { return p.bound >= least; });
    std::sort(all.begin(), all.end(), [](const Promise& a, const Promise& b) { return a.bound > b.bound; });
    std::vector<std::size_t> numbers((all.size() + AT_ONCE - 1) / AT_ONCE);
    std::iota(numbers.begin(), numbers.end(), 0);
    const Cells& kept = *histogram_.kept();
    threads_.run(numbers, is_bounded_ || is_small(state_.rows.size()), [&](std::size_t number, std::size_t t) {
        Tools& tools = *tools_[t];
        if (all[number * AT_ONCE].bound < least_for(floor_for(tools))) return;
        for (std::size_t i = number * AT_ONCE; i < std::min(all.size(), (number + 1) * AT_ONCE); ++i) {
            const SlotRange& range = histogram_.ranges()[all[i].range];
            if (some_missing(range))
                look_at(all[i], kept, known_in(range, kept, scope, tools), tools);
            else
                look_at(all[i], kept, scope, tools);
        }
        offer_heads(scope, tools);
    });
}

// The scope without the rows whose value is missing: the last slot sums them up.
CandidateSearch::Scope CandidateSearch::known_in(const SlotRange& range, const Cells& cells, const Scope& scope,
                                                 Tools& tools) const {
    Scope known{scope.rows, scope.refined, scope.parent, {}};
    tools.gathered.resize(3 * labels_.size());
    histogram_.gather(cells, range.first_slot() + range.n_slots - 1, labels_.data(), labels_.size(), tools.gathered.data());
    for (std::size_t i = 0; i < labels_.size(); ++i)
        add_label(std::size_t(labels_[i]), tools.gathered[3 * i], tools.gathered[3 * i + 1], tools.gathered[3 * i + 2],
                  known.totals);
    return known;
}

// Notes the candidates of a range that may be the best.
void CandidateSearch::value_range(std::size_t p, const Cells& cells, const Scope& scope, Tools& tools) {
    const SlotRange& range = histogram_.ranges()[p];
    // A value that is sure raises the floor only where nothing else can be in the way of the candidate.
    const bool trusts = shares_best_ && !scope.refined && !options_.directions.any() && state_.number == Number::narrow;
    tools.matrices.resize((labels_.size() - 1) * MATRIX);
    const float least_covered = float(options_.min_coverage) * (1 - 1e-6f);
    tools.sides.assign(range.groups(), BOTH_SIDES);
    if (is_bounded_ && needs_precise_label() && !some_known_)
        histogram_.find_precise(cells, range, labels_, scope.totals, scoring_, tools.sides.data());
    for (std::size_t group = range.first_group; group < range.first_group + range.groups(); ++group) {
        const std::size_t first_slot = (group - range.first_group) * LANES;
        if (range.kind == SlotRange::Kind::labels) {
            bool some = false;
            for (std::size_t label = range.first + first_slot / 2;
                 label < std::min<std::size_t>(range.first + first_slot / 2 + LANES / 2, state_.n_labels); ++label)
                some |= state_.head_labels[label] != 0;
            if (!some) continue;
        }
        for (int other = 0; other < (range.two_sided() ? 2 : 1); ++other) {
            if (!(tools.sides[group - range.first_group] >> other & 1)) continue;
            float covered[LANES];
            std::span<const std::uint32_t> places;
            if (is_bounded_) {
                places = choose_places(range, cells, group, scope, other != 0, tools);
                if (places.empty()) continue;
            }
            histogram_.load(cells, group, labels_, places, scope.totals, other != 0, tools.matrices.data(), covered);
            const std::size_t candidates = std::min<std::size_t>(LANES, range.n_slots - first_slot);
            Valued valued;
            float floor = least_for(floor_for(tools));
            if (is_bounded_) {
                floor = std::max(floor, least_for(sure_.floor()));
                kernels().value(scoring_, tools.matrices.data(), places.size(), covered, candidates, least_covered, floor,
                                valued);
                for (std::size_t i = 0; scoring_.additive && remembers_ && valued.labels && i < places.size(); ++i)
                    if (tools.matrices[i * MATRIX + OF_VALUE] == 0)
                        usable_.drop(group, other != 0, std::size_t(labels_[places[i]]));
                if (!valued.some) continue;
            }
            for (std::size_t i = 0; i < candidates; ++i) {
                const float bound = is_bounded_ ? valued.value[i] : UNLIMITED;
                if (bound < floor || bound < 0) continue;
                if (!is_bounded_ && !(covered[i] > 0 && covered[i] >= least_covered)) continue;
                tools.promises.push_back({bound, std::uint32_t(p), std::uint32_t(group * LANES + i), other != 0});
                const bool splits = !range.two_sided() || covered[i] < float(scope.totals.covered());
                if (is_bounded_ && valued.sure[i] && trusts && splits) sure_.raise(double(bound) * SURE);
            }
        }
    }
}

// Looks at a candidate exactly.
void CandidateSearch::look_at(const Promise& promise, const Cells& cells, const Scope& scope, Tools& tools) {
    if (promise.bound < least_for(floor_for(tools))) return;
    const SlotRange& range = histogram_.ranges()[promise.range];
    std::size_t a;
    Split split;
    if (!histogram_.split_of(cells, range, promise.slot, promise.other_side, scope.rows->size(), a, split)) return;
    if (a >= state_.n_attributes() && !state_.head_labels[a - state_.n_attributes()]) return;
    std::vector<double>& counts = tools.gathered;
    counts.resize(3 * labels_.size());
    histogram_.gather(cells, promise.slot, labels_.data(), labels_.size(), counts.data());
    for (std::size_t i = 0; promise.other_side && i < labels_.size(); ++i) {
        counts[3 * i] = scope.totals.tp[i] - counts[3 * i];
        counts[3 * i + 1] = scope.totals.fp[i] - counts[3 * i + 1];
        counts[3 * i + 2] = scope.totals.present[i] - counts[3 * i + 2];
    }
    tools.finder.add(a, split, counts);
    if (tools.finder.is_full()) offer_heads(scope, tools);
}

// Offers the candidates of which the finder knows.
void CandidateSearch::offer_heads(const Scope& scope, Tools& tools) {
    tools.finder.search(floor_for(tools), [&](std::size_t a, const Split& split, const FoundHead& found) {
        if (found.value < tools.ranking.floor() || (scope.refined && !improves(found.value, found.tp, *scope.refined))) return;
        const std::int32_t conditions = (scope.refined ? std::int32_t(scope.refined->body.size()) : 0) + (a != NO_ATTRIBUTE);
        keep({found.value, found.tp, found.fp, scope.parent, a, split, conditions, found.head}, tools);
    });
}

void CandidateSearch::keep(Candidate&& candidate, Tools& tools) {
    if (shares_best_) shared_.raise(candidate.value);
    tools.ranking.offer(std::move(candidate));
}

// --- refining

// Keeps refinements that are better than the rule.
class CandidateSearch::Refinements : public RefinementSink {
   public:
    Refinements(CandidateSearch& search, Tools& tools, const GrowingRule& rule, std::int32_t parent)
        : search_(search), tools_(tools), rule_(rule), parent_(parent) {}

    double floor() const override { return std::max(search_.floor_for(tools_), floor_of_ties(rule_.value)); }
    void offer(std::size_t a, const Split& split, double value, double tp, double fp) override {
        if (!improves(value, tp, rule_)) return;
        for (const auto& [label, sign] : rule_.head)
            if (search_.options_.directions.forbids(a, split, std::size_t(label), sign)) return;
        search_.keep({value, tp, fp, parent_, a, split, std::int32_t(rule_.body.size()) + 1, rule_.head}, tools_);
    }

   private:
    CandidateSearch& search_;
    Tools& tools_;
    const GrowingRule& rule_;
    std::int32_t parent_;
};

void CandidateSearch::refine(const GrowingRule& rule, std::size_t parent) {
    if (!rule.fixed) {
        choose_labels();
        remembers_ = some_known_ = false;
        const Scope scope{&rule.covered, &rule, std::int32_t(parent), sum_rows(rule.covered)};
        for (auto& tools : tools_) tools->finder.start(rule.body, {labels_.begin(), labels_.end() - 1});
        return search_heads(scope);
    }
    const std::vector<Row>& rows = rule.covered;
    const FixedHead& head = *rule.fixed;
    std::vector<Refinements> sinks;
    for (auto& tools : tools_) sinks.emplace_back(*this, *tools, rule, std::int32_t(parent));
    for (auto& tools : tools_) tools->fixed.row_scores.clear();
    if (!state_.columns.sparse.attributes().empty()) head.visit_sparse(rows, tools_[0]->fixed, sinks[0]);
    std::vector<std::size_t> dense;
    for (std::size_t a : allowed_attributes(state_, options_))
        if (!state_.attribute(a).sparse()) dense.push_back(a);
    for (std::size_t label = 0; options_.label_conditions && label < state_.n_labels; ++label)
        if (state_.head_labels[label] && !state_.predicted[label].empty() && !is_in_head(label, rule))
            dense.push_back(state_.n_attributes() + label);
    threads_.run(dense, is_small(rows.size()),
                 [&](std::size_t a, std::size_t t) { head.visit(a, rows, tools_[t]->fixed, sinks[t]); });
}

// Whether a label is in the head of a rule, or must not be related to one that is.
bool CandidateSearch::is_in_head(std::size_t label, const GrowingRule& rule) const {
    return std::any_of(rule.head.begin(), rule.head.end(), [&](const Assignment& assigned) {
        return std::size_t(assigned.label) == label ||
               options_.pairs.are_apart(std::size_t(assigned.label), label, state_.n_labels);
    });
}

}  // namespace plurule
