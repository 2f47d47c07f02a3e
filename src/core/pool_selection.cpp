#include "pool.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plurule {
namespace {

constexpr double LEAST_GAIN = 0.5;   // weight of instances that a label must gain beyond nothing
constexpr double SHRINKAGE =
    10.0;  // weight by which shares of labels that the default rule predicts are drawn to the share of all
constexpr double RESOLUTION = 1e9;   // values that agree when multiplied by this and rounded differ by rounding errors only

constexpr double INFINITE = std::numeric_limits<double>::infinity();

double rounded(double value) { return std::nearbyint(value * RESOLUTION) / RESOLUTION; }

// TP − λ·(TP + FP) of a label under a body, less what it must gain at least; of an absent label, the opposite of its presence.
struct PresenceGain {
    double lam;
    double operator()(double right, double all) const { return right - lam * all - LEAST_GAIN; }
};
struct AbsenceGain {
    double lam, share;
    double operator()(double right, double all) const {
        return lam * all - all * (right + SHRINKAGE * share) / (all + SHRINKAGE) - LEAST_GAIN;
    }
};

}  // namespace

PoolSelection::PoolSelection(PoolFacts facts, const double* sums, std::vector<Criterion> criteria, std::size_t max_rules,
                             std::size_t cache_size)
    : facts_(std::move(facts)), max_rules_(max_rules), cache_size_(cache_size), n_relevant_(n_bodies()) {
    const std::size_t n_labels = facts_.label_weights.size(), n = n_bodies();
    group_of_.assign(n_labels, std::uint32_t(facts_.groups.size()));
    for (std::uint32_t group = 0; group < facts_.groups.size(); ++group)
        for (const std::uint32_t label : facts_.groups[group]) group_of_[label] = group;
    std::vector<Open> open;
    for (std::uint32_t label = 0; label < n_labels; ++label) {
        const double *right = sums + label * n, *all = right + n_labels * n;
        const auto shared = [n](const double* begin) { return std::make_shared<const std::vector<double>>(begin, begin + n); };
        const bool is_same = label > 0 && std::equal(all, all + n, open.back()->all->begin());
        open.push_back(std::make_shared<OpenCounts>(OpenCounts{{}, shared(right), is_same ? open.back()->all : shared(all)}));
        shares_.push_back(all[0] > 0 ? right[0] / all[0] : 0.0);
        // Open pairs only become fewer.
        for (std::uint32_t body = 0; body < n; ++body) {
            const bool is_possible = !is_forbidden(label, body, false) || !is_forbidden(label, body, true);
            const double most = is_grouped(label) ? right[body] : all[body];
            if (most > 0 && facts_.label_weights[label] > 0 && is_possible) ++n_relevant_[body];
        }
    }
    all_.reserve(criteria.size());
    for (Criterion& criterion : criteria) {
        const auto [lowest, highest] = std::ranges::minmax(criterion.lift);
        const bool may_bound = facts_.excludes.empty() && lowest >= 1;
        std::vector<double> highest_to = criterion.lift;  // each length
        for (std::size_t length = 1; length < n_labels; ++length)
            highest_to[length] = std::max(highest_to[length], highest_to[length - 1]);
        std::vector<double> highest_of(n);
        for (std::size_t body = 0; body < n; ++body) highest_of[body] = highest_to[std::max(n_relevant_[body], 1u) - 1];
        Growing& growing = all_.emplace_back(Growing{std::move(criterion),
                                                     1.0 - 1.0 / highest,
                                                     may_bound,
                                                     std::vector<std::uint8_t>(n_labels),
                                                     open,
                                                     {},
                                                     std::move(highest_of),
                                                     {},
                                                     {}});
        Numbers head = growing.criterion.default_labels;
        for (std::uint32_t label = 0; label < n_labels && growing.criterion.exceptions; ++label)
            if (!is_grouped(label) && gain(growing, label, 0) > 0) head.push_back(label);
        for (const std::uint32_t label : head) growing.negated[label] = 1;
        if (!head.empty() && max_rules > 0)
            growing.chosen.push_back({0, head, std::vector<bool>(head.size(), true), decided_by(head), true});
        if (growing.chosen.size() < max_rules) waiting_.push_back(&growing);
    }
}

// The share of its gain that a body keeps after paying for its conditions.
double PoolSelection::price(const Criterion& criterion, std::size_t body) const {
    return std::max(0.0, 1.0 - criterion.condition_price * facts_.n_conditions[body]);
}

// In an exclusive group, a label must also be right more often than the label that the default rule predicts.
double PoolSelection::gain(const Growing& growing, std::uint32_t label, std::uint32_t body) const {
    const OpenCounts& open = *growing.open[label];
    const double lam = growing.criterion.lam, right = (*open.right)[body], all = (*open.all)[body];
    if (is_grouped(label))
        return right - std::max((*growing.open[growing.criterion.default_labels[group_of_[label]]]->right)[body], lam * all) -
               LEAST_GAIN;
    return growing.negated[label] ? AbsenceGain{lam, shares_[label]}(right, all) : PresenceGain{lam}(right, all);
}

// Whether a label may be in the head of a body: some of its pairs are right, and enough of them.
bool PoolSelection::is_eligible(bool negated, double present, double all) const {
    const double right = negated ? all - present : present;
    return right > 0 && right >= facts_.min_precision * all;
}

// Whether a body may predict a label at all, present or, where the default rule predicts it, absent.
bool PoolSelection::may_predict(const Growing& growing, std::uint32_t label, std::uint32_t body) const {
    const bool negated = growing.negated[label];
    return !(negated && is_grouped(label)) && facts_.label_weights[label] > 0 && !is_forbidden(label, body, !negated);
}

// Finds the labels that matter to each body, and what they gain in all.
void PoolSelection::begin(Growing& growing) const {
    const std::size_t n = n_bodies();
    Values& values = growing.values;
    values = {std::vector<double>(n), std::vector<double>(n),          std::vector<double>(n),
              std::vector<double>(n), std::vector<std::uint8_t>(n, 1), std::vector<Numbers>(n)};
    for (const bool is_known : {false, true})
        for (std::uint32_t label = 0; label < n_labels(); ++label)
            for (std::uint32_t body = 0; body < n; ++body) {
                const double gains = gain(growing, label, body) * facts_.label_weights[label];
                if (is_known ? gains <= values.lowest[body] && !is_grouped(label) : gains <= 0) continue;
                const OpenCounts& open = *growing.open[label];
                if (!may_predict(growing, label, body) ||
                    !is_eligible(growing.negated[label], (*open.right)[body], (*open.all)[body]))
                    continue;
                if (is_known) {
                    values.labels[body].push_back(label);
                } else {
                    values.increase[body] = values.gained[body] += gains;  // the value, which is not known, counts as 0
                    values.lowest[body] = -growing.largest_loss * values.gained[body];
                }
            }
}

// Relaxed pruning: of the labels, best first, the beginning with the highest lifted gain. Once labels lose, sums only fall, so
// that no longer head is better if the highest lift of the sum is not. A label that loses more than what is left until then does
// not matter. Where labels exclude others, one that loses may still matter, but not if ρ_max·(S − loss) <= S, where S is all that
// is gained.
double PoolSelection::best_head(Growing& growing, std::uint32_t body, Numbers* head) const {
    thread_local std::vector<std::pair<double, std::uint32_t>> kept_losses;
    thread_local Numbers kept_labels;
    std::vector<std::pair<double, std::uint32_t>>& losses = kept_losses;
    Numbers &labels = kept_labels, &matter = growing.values.labels[body];
    double &lowest = growing.values.lowest[body], &gained = growing.values.gained[body];
    const double highest = growing.highest[body];
    const std::vector<double>& lift = growing.criterion.lift;
    double best = 0.0;
    for (const bool is_whole : {false, true}) {
        if (is_whole) {
            matter.clear();
            for (std::uint32_t label = 0; label < n_labels(); ++label)
                if (may_predict(growing, label, body)) matter.push_back(label);
        }
        losses.clear();
        labels.clear();
        gained = 0.0;
        for (const std::uint32_t label : matter) {
            const OpenCounts& open = *growing.open[label];
            if (!is_eligible(growing.negated[label], (*open.right)[body], (*open.all)[body])) continue;
            losses.emplace_back(-gain(growing, label, body) * facts_.label_weights[label], label);
            gained -= std::min(losses.back().first, 0.0);
        }
        std::ranges::sort(losses);
        double total = 0.0, lost = 0.0;
        best = 0.0;
        std::size_t length = 0;
        for (const auto& [loss, label] : losses) {
            if (loss >= 0 && (growing.may_bound ? (total - loss) * highest <= best : loss >= growing.largest_loss * gained))
                break;
            if (is_excluded(label, labels)) continue;
            if (total - loss <= 0) break;
            total -= loss;
            lost = std::max(lost, loss);
            labels.push_back(label);
            if (const double value = total * lift[labels.size() - 1]; value > best && rounded(value) > rounded(best)) {
                best = value;
                length = labels.size();
            }
        }
        if (head != nullptr) head->assign(labels.begin(), labels.begin() + std::ptrdiff_t(length));
        const double largest_loss = growing.may_bound ? std::max(lost, total - best / highest) : growing.largest_loss * gained;
        if (is_whole || largest_loss <= -lowest) {
            lowest = is_whole ? -2 * largest_loss : std::max(lowest, -2 * largest_loss);
            break;
        }
    }
    matter.clear();
    for (const auto& [loss, label] : losses)
        if (-loss > lowest || is_grouped(label)) matter.push_back(label);
    return best;
}

// Whether a label must not stand beside those of a head: another of its group is there, or one that it excludes.
bool PoolSelection::is_excluded(std::uint32_t label, const Numbers& head) const {
    const auto is_there = [&](std::uint32_t other) { return std::ranges::find(head, other) != head.end(); };
    if (!facts_.excludes.empty() && std::ranges::any_of(facts_.excludes[label], is_there)) return true;
    return is_grouped(label) &&
           std::ranges::any_of(head, [&](std::uint32_t other) { return group_of_[other] == group_of_[label]; });
}

void PoolSelection::compute_value(Growing& growing, std::uint32_t body) const {
    Values& values = growing.values;
    values.worth[body] = rounded(best_head(growing, body, nullptr) * price(growing.criterion, body));
    values.increase[body] = 0.0;
    values.changed[body] = 0;
}

std::vector<CoverUpdate> PoolSelection::choose(std::size_t at_once) {
    while (!growing_.empty() || !waiting_.empty()) {
        if (cache_.size() > cache_size_) cache_.clear();
        for (; growing_.size() < at_once && !waiting_.empty(); waiting_.pop_front()) {
            begin(*waiting_.front());
            growing_.push_back(waiting_.front());
        }
        std::erase_if(growing_, [&](Growing* growing) { return !choose(*growing) || growing->chosen.size() >= max_rules_; });
        for (Growing* growing : growing_) request_updates(*growing);
        std::vector<CoverUpdate> updates;
        for (const Request& request : requested_) updates.push_back({request.body, request.label, request.before->decided_by});
        if (!updates.empty()) return updates;
        continue_growing();
    }
    return {};
}

// Finds the counts after the last choice, or asks for them.
void PoolSelection::request_updates(Growing& growing) {
    growing.next.clear();
    for (const std::uint32_t label : growing.chosen.back().decided) {
        const auto [place, is_new] = cache_.try_emplace(key_after(growing, label));
        if (is_new) {
            place->second = std::make_shared<OpenCounts>();
            place->second->decided_by = place->first.second;
            requested_.push_back({growing.chosen.back().body, label, growing.open[label], place->second});
        }
        growing.next.push_back(place->second);
    }
}

// Chooses the body of the highest value, if one has any; the first of those that are equal but for rounding. Values that are not
// known are computed in the order of a bound: the last value, and what gains may have added since, with the highest lift.
bool PoolSelection::choose(Growing& growing) const {
    const Values& values = growing.values;
    std::uint32_t best = 0;
    double highest = 0.0;
    const auto compare = [&](std::uint32_t body) {
        const double worth = values.worth[body];
        if (worth > highest || (worth == highest && worth > 0 && body < best)) {
            highest = worth;
            best = body;
        }
    };
    for (std::uint32_t body = 0; body < n_bodies(); ++body)
        if (!values.changed[body]) compare(body);
    thread_local std::vector<std::pair<double, std::uint32_t>> kept;
    std::vector<std::pair<double, std::uint32_t>>& bounds = kept;
    bounds.clear();
    for (std::uint32_t body = 0; body < n_bodies(); ++body) {
        if (!values.changed[body]) continue;
        const double last = growing.may_bound ? values.worth[body] : values.gained[body] * growing.highest[body];
        const double most = price(growing.criterion, body) * growing.highest[body] * values.increase[body];
        const double bound = (last + most) * (1 + 1e-9) + 4 / RESOLUTION;
        if (bound >= highest) bounds.emplace_back(bound, body);
    }
    std::ranges::make_heap(bounds);
    while (!bounds.empty() && bounds.front().first >= highest) {
        const std::uint32_t body = bounds.front().second;
        std::ranges::pop_heap(bounds);
        bounds.pop_back();
        compute_value(growing, body);
        compare(body);
    }
    if (highest <= 0) return false;
    Numbers head;
    best_head(growing, best, &head);
    for (const auto& [below, above] : facts_.hierarchy)
        if (std::ranges::find(head, below) != head.end() && std::ranges::find(head, above) == head.end()) head.push_back(above);
    std::ranges::sort(head);
    std::vector<bool> present;  // rules before a default rule predict the absence of its labels, but for groups
    for (const std::uint32_t label : head) present.push_back(!growing.negated[label] || is_grouped(label));
    growing.chosen.push_back({best, head, std::move(present), decided_by(head), false});
    return true;
}

// The labels of a head, ascending, and with a label of an exclusive group the others of it.
Numbers PoolSelection::decided_by(const Numbers& head) const {
    Numbers decided = head;
    for (const std::uint32_t label : head)
        if (is_grouped(label))
            decided.insert(decided.end(), facts_.groups[group_of_[label]].begin(), facts_.groups[group_of_[label]].end());
    std::ranges::sort(decided);
    decided.erase(std::unique(decided.begin(), decided.end()), decided.end());
    return decided;
}

// The bodies that have decided a label once the last choice has.
PoolSelection::Key PoolSelection::key_after(const Growing& growing, std::uint32_t label) const {
    Numbers bodies = growing.open[label]->decided_by;
    const std::uint32_t body = growing.chosen.back().body;
    if (const auto place = std::ranges::lower_bound(bodies, body); place == bodies.end() || *place != body)
        bodies.insert(place, body);
    return {label, std::move(bodies)};
}

void PoolSelection::update(const double* covered) {
    const std::size_t n = n_bodies();
    const auto less = [n](const Sums& before, const double* taken) {
        if (std::all_of(taken, taken + n, [](double sum) { return sum == 0; })) return before;
        std::vector<double> after(n);
        for (std::size_t body = 0; body < n; ++body) after[body] = (*before)[body] - taken[body];
        return std::make_shared<const std::vector<double>>(std::move(after));
    };
    const Request* last = nullptr;
    for (const Request& request : requested_) {
        request.after->right = less(request.before->right, covered);
        covered += n;
        const bool is_same =
            last && last->before->all == request.before->all && std::equal(covered, covered + n, covered - 2 * n);
        request.after->all = is_same ? last->after->all : less(request.before->all, covered);
        covered += n;
        last = &request;
    }
    requested_.clear();
    continue_growing();
}

void PoolSelection::continue_growing() {
    for (Growing* growing : growing_) {
        const Numbers& decided = growing->chosen.back().decided;
        for (std::size_t i = 0; i < decided.size(); ++i)
            if (!is_grouped(decided[i])) note_gains(*growing, decided[i], *growing->next[i]);
        for (std::uint32_t group = 0; group < facts_.groups.size(); ++group) note_gains_of_group(*growing, group);
        for (std::size_t i = 0; i < decided.size(); ++i) growing->open[decided[i]] = growing->next[i];
    }
}

// Notes by how much what a label gains rises at most, of gains that matter.
void PoolSelection::note_gains(Growing& growing, std::uint32_t label, const OpenCounts& after) const {
    const OpenCounts& before = *growing.open[label];
    if (before.all == after.all) return;
    const double weight = facts_.label_weights[label];
    const bool negated = growing.negated[label];
    const double *right = before.right->data(), *all = before.all->data(), *new_right = after.right->data(),
                 *new_all = after.all->data();
    Values& values = growing.values;
    const auto note = [&](const auto& gain) {
        for (std::uint32_t body = 0; body < n_bodies(); ++body) {
            if (all[body] == new_all[body]) continue;
            const double least = values.lowest[body];
            const double gains = is_eligible(negated, right[body], all[body]) ? weight * gain(right[body], all[body]) : -INFINITE;
            const double new_gains =
                is_eligible(negated, new_right[body], new_all[body]) ? weight * gain(new_right[body], new_all[body]) : -INFINITE;
            if (gains <= least && new_gains <= least) continue;
            values.changed[body] = 1;
            values.increase[body] += std::max(0.0, new_gains - std::max(gains, least));
            Numbers& labels = values.labels[body];
            if (gains <= least && may_predict(growing, label, body) && std::ranges::find(labels, label) == labels.end())
                labels.push_back(label);
        }
    };
    const double lam = growing.criterion.lam;
    if (negated) note(AbsenceGain{lam, shares_[label]});
    else note(PresenceGain{lam});
}

// The labels of a group gain where the label of the default rule is right less often, or fewer pairs are open; one of them is in
// a head.
void PoolSelection::note_gains_of_group(Growing& growing, std::uint32_t group) const {
    const Numbers& decided = growing.chosen.back().decided;
    const auto next = [&](std::uint32_t label) -> const OpenCounts& {
        return *growing.next[std::size_t(std::ranges::lower_bound(decided, label) - decided.begin())];
    };
    const std::uint32_t usual = growing.criterion.default_labels[group];
    if (!std::ranges::binary_search(decided, usual)) return;
    double weight = 0.0;
    for (const std::uint32_t label : facts_.groups[group]) weight = std::max(weight, facts_.label_weights[label]);
    const std::vector<double>&right = *growing.open[usual]->right, &new_right = *next(usual).right;
    const std::vector<double>*last = nullptr, *new_last = nullptr;
    for (const std::uint32_t label : facts_.groups[group]) {
        const std::vector<double>&all = *growing.open[label]->all, &new_all = *next(label).all;
        if (&all == last && &new_all == new_last) continue;
        last = &all;
        new_last = &new_all;
        const double lam = growing.criterion.lam;
        for (std::size_t body = 0; body < n_bodies(); ++body) {
            const double less = std::max(right[body], lam * all[body]) - std::max(new_right[body], lam * new_all[body]);
            growing.values.increase[body] += weight * less;
            growing.values.changed[body] |= std::uint8_t(all[body] != new_all[body]);
        }
    }
}

std::vector<std::size_t> PoolSelection::alike() const {
    std::map<std::vector<Choice>, std::size_t> first;
    std::vector<std::size_t> numbers;
    for (const Growing& growing : all_) numbers.push_back(first.try_emplace(growing.chosen, numbers.size()).first->second);
    return numbers;
}

}  // namespace plurule
