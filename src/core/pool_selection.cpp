#include "pool_selection.hpp"

#include <algorithm>
#include <cmath>

namespace plurule {
namespace {

constexpr double LEAST_GAIN = 0.5;   // weight of instances that a label must gain beyond nothing
constexpr double SHRINKAGE = 10.0;   // weight by which shares of labels that the default rule predicts are drawn to the share of all
constexpr double UNKNOWN = -1.0;
constexpr double RESOLUTION = 1e9;   // values that agree when multiplied by this and rounded differ by rounding errors only

double rounded(double value) { return std::nearbyint(value * RESOLUTION) / RESOLUTION; }

}  // namespace

PoolSelection::PoolSelection(PoolFacts facts, const double* sums, std::vector<Criterion> criteria, std::size_t max_rules,
                             std::size_t cache_size)
    : facts_(std::move(facts)), max_rules_(max_rules), cache_size_(cache_size), relevant_(n_bodies()) {
    const std::size_t n_labels = facts_.label_weights.size(), n = n_bodies();
    std::vector<std::shared_ptr<const OpenCounts>> open;
    for (std::size_t label = 0; label < n_labels; ++label) {
        const double *right = sums + label * n, *all = right + n_labels * n;
        open.push_back(std::make_shared<OpenCounts>(OpenCounts{{}, {right, right + n}, {all, all + n}}));
        shares_.push_back(all[0] > 0 ? right[0] / all[0] : 0.0);
        // Open pairs only become fewer.
        for (std::uint32_t body = 0; body < n; ++body) {
            const bool may_predict = !is_forbidden(std::uint32_t(label), body, false) || !is_forbidden(std::uint32_t(label), body, true);
            if (all[body] > 0 && facts_.label_weights[label] > 0 && may_predict) relevant_[body].push_back(std::uint32_t(label));
        }
    }
    group_of_.assign(n_labels, std::uint32_t(facts_.groups.size()));
    for (std::uint32_t group = 0; group < facts_.groups.size(); ++group)
        for (const std::uint32_t label : facts_.groups[group]) group_of_[label] = group;
    all_.reserve(criteria.size());
    for (Criterion& criterion : criteria) {
        Growing& growing = all_.emplace_back(Growing{std::move(criterion), 0.0, std::vector<std::uint8_t>(n_labels), open, std::vector<double>(n), std::vector<double>(n), std::vector<double>(n, UNKNOWN), {}});
        growing.largest_loss = 1.0 - 1.0 / std::ranges::max(growing.criterion.lift);
        std::vector<double> highest = growing.criterion.lift;  // up to each length
        for (std::size_t length = 1; length < n_labels; ++length) highest[length] = std::max(highest[length], highest[length - 1]);
        for (std::size_t body = 0; body < n; ++body) {
            const double price = std::max(0.0, 1.0 - growing.criterion.condition_price * facts_.n_conditions[body]);
            growing.factor[body] = price * (relevant_[body].empty() ? 0.0 : highest[relevant_[body].size() - 1]);
        }
        Choice rule{0, growing.criterion.usual, true};
        for (std::uint32_t label = 0; label < n_labels && growing.criterion.exceptions; ++label)
            if (!is_grouped(label) && gain(growing, label, 0) > 0) rule.head.push_back(label);
        for (const std::uint32_t label : rule.head) growing.negated[label] = 1;
        if (!rule.head.empty() && max_rules > 0) growing.chosen.push_back(std::move(rule));
        for (std::uint32_t label = 0; label < n_labels; ++label) add_gains(growing, label, 1.0);
        if (growing.chosen.size() < max_rules) growing_.push_back(&growing);
    }
}

// TP − λ·(TP + FP) of a label under a body, less what it must gain at least; of an absent label, the opposite of its presence. In an
// exclusive group, a label must also be right more often than the label that the default rule predicts.
double PoolSelection::gain(const Growing& growing, std::uint32_t label, std::uint32_t body) const {
    const OpenCounts& open = *growing.open[label];
    const double lam = growing.criterion.lam, all = open.all[body];
    double right = open.right[body];
    if (is_grouped(label)) return right - std::max(growing.open[growing.criterion.usual[group_of_[label]]]->right[body], lam * all) - LEAST_GAIN;
    if (!growing.negated[label]) return right - lam * all - LEAST_GAIN;
    right = all * (right + SHRINKAGE * shares_[label]) / (all + SHRINKAGE);
    return lam * all - right - LEAST_GAIN;
}

// Relaxed pruning: of the labels, best first, the beginning with the highest lifted gain. A label that loses is only looked at
// where the lift can make up for it: ρ(n)·(S − loss) > ρ(m)·S with m < n needs loss < (1 − 1/ρ_max)·S, where S is all that is gained.
double PoolSelection::best_head(const Growing& growing, std::uint32_t body, Numbers* head) const {
    thread_local std::vector<std::pair<double, std::uint32_t>> losses;
    losses.clear();
    double gained = 0.0;
    for (const std::uint32_t label : relevant_[body]) {
        if (is_grouped(label) && growing.negated[label]) continue;
        if (is_forbidden(label, body, !growing.negated[label])) continue;
        const OpenCounts& open = *growing.open[label];
        const double all = open.all[body], right = growing.negated[label] ? all - open.right[body] : open.right[body];
        if (right <= 0 || right < facts_.min_precision * all) continue;
        const double loss = -gain(growing, label, body) * facts_.label_weights[label];
        losses.emplace_back(loss, label);
        gained -= std::min(loss, 0.0);
    }
    if (gained <= 0) return 0.0;
    std::erase_if(losses, [&](const auto& pair) { return pair.first >= 0 && pair.first >= growing.largest_loss * gained; });
    std::ranges::sort(losses);
    const std::vector<double>& lift = growing.criterion.lift;
    thread_local Numbers labels;
    labels.clear();
    double best = 0.0, total = 0.0;
    std::size_t length = 0;
    for (const auto& [loss, label] : losses) {
        if (!facts_.excludes.empty() && is_excluded(label, labels)) continue;
        total -= loss;
        if (total <= 0) break;
        labels.push_back(label);
        if (const double value = total * lift[labels.size() - 1]; value > best && rounded(value) > rounded(best)) {
            best = value;
            length = labels.size();
        }
    }
    if (head != nullptr) head->assign(labels.begin(), labels.begin() + std::ptrdiff_t(length));
    return best;
}

bool PoolSelection::is_excluded(std::uint32_t label, const Numbers& head) const {
    return std::ranges::any_of(facts_.excludes[label], [&](std::uint32_t other) { return std::ranges::find(head, other) != head.end(); });
}

double PoolSelection::value(const Growing& growing, std::uint32_t body) const {
    return best_head(growing, body, nullptr) * std::max(0.0, 1.0 - growing.criterion.condition_price * facts_.n_conditions[body]);
}

std::vector<PoolSelection::CoverUpdate> PoolSelection::choose() {
    while (!growing_.empty()) {
        if (cache_.size() > cache_size_) cache_.clear();
        std::erase_if(growing_, [&](Growing* growing) { return !choose(*growing) || growing->chosen.size() >= max_rules_; });
        for (const Growing* growing : growing_)
            for (const std::uint32_t label : growing->chosen.back().decided)
                if (Key key = key_after(*growing, label); !cache_.contains(key))
                    requested_.try_emplace(std::move(key), growing->chosen.back().body, growing->open[label]);
        std::vector<CoverUpdate> updates;
        for (const auto& [key, from] : requested_) updates.push_back({from.first, key.first, from.second->decided_by});
        if (!updates.empty()) return updates;
        continue_growing();
    }
    return {};
}

// Chooses the body of the highest value, if one has any; the first of those that are equal but for rounding. A body is worth at most
// its price × the highest lift that its labels can reach × the sum of their gains, so bodies are valued in the order of that bound.
bool PoolSelection::choose(Growing& growing) const {
    thread_local std::vector<std::pair<double, std::uint32_t>> bounds;
    bounds.clear();
    for (std::uint32_t body = 0; body < n_bodies(); ++body) {
        const double known = growing.worth[body];
        const double bound = known != UNKNOWN ? known : growing.gained[body] * growing.factor[body] * (1 + 1e-12) + 1 / RESOLUTION;
        if (bound > 2 / RESOLUTION || known > 0) bounds.emplace_back(bound, body);
    }
    std::ranges::make_heap(bounds);
    std::uint32_t best = 0;
    double highest = 0.0;
    while (!bounds.empty() && rounded(bounds.front().first) >= highest) {
        const std::uint32_t body = bounds.front().second;
        std::ranges::pop_heap(bounds);
        bounds.pop_back();
        double& worth = growing.worth[body];
        if (worth == UNKNOWN) worth = rounded(value(growing, body));
        if (worth > highest || (worth == highest && worth > 0 && body < best)) {
            highest = worth;
            best = body;
        }
    }
    if (highest <= 0) return false;
    Numbers head;
    best_head(growing, best, &head);
    for (const auto& [below, above] : facts_.hierarchy)
        if (std::ranges::find(head, below) != head.end() && std::ranges::find(head, above) == head.end()) head.push_back(above);
    std::ranges::sort(head);
    Numbers decided = head;
    for (const std::uint32_t label : head)
        if (is_grouped(label)) decided.insert(decided.end(), facts_.groups[group_of_[label]].begin(), facts_.groups[group_of_[label]].end());
    std::ranges::sort(decided);
    decided.erase(std::unique(decided.begin(), decided.end()), decided.end());
    growing.chosen.push_back({best, std::move(head), false, std::move(decided)});
    return true;
}

// The bodies that have decided a label once the last choice has.
PoolSelection::Key PoolSelection::key_after(const Growing& growing, std::uint32_t label) const {
    Numbers bodies = growing.open[label]->decided_by;
    const std::uint32_t body = growing.chosen.back().body;
    if (const auto place = std::ranges::lower_bound(bodies, body); place == bodies.end() || *place != body) bodies.insert(place, body);
    return {label, std::move(bodies)};
}

void PoolSelection::update(const double* covered) {
    for (const auto& [key, from] : requested_) {
        OpenCounts open{key.second, from.second->right, from.second->all};
        for (std::vector<double>* sums : {&open.right, &open.all})
            for (double& sum : *sums) sum -= *covered++;
        cache_[key] = std::make_shared<OpenCounts>(std::move(open));
    }
    requested_.clear();
    continue_growing();
}

void PoolSelection::continue_growing() {
    for (Growing* growing : growing_) {
        const Numbers& decided = growing->chosen.back().decided;
        for (const std::uint32_t label : decided) add_gains(*growing, label, -1.0);
        for (const std::uint32_t label : decided) {
            const std::shared_ptr<const OpenCounts> before = std::exchange(growing->open[label], cache_.at(key_after(*growing, label)));
            for (std::size_t body = 0; body < n_bodies(); ++body)
                if (before->all[body] != growing->open[label]->all[body]) growing->worth[body] = UNKNOWN;
        }
        for (const std::uint32_t label : decided) add_gains(*growing, label, 1.0);
    }
}

// Adds what a label gains, times a sign, to the sums of all bodies.
void PoolSelection::add_gains(Growing& growing, std::uint32_t label, double sign) const {
    const double weight = facts_.label_weights[label] * sign;
    for (std::uint32_t body = 0; body < n_bodies(); ++body)
        growing.gained[body] += weight * std::max(0.0, gain(growing, label, body));
}

std::vector<std::vector<PoolSelection::Choice>> PoolSelection::chosen() const {
    std::vector<std::vector<Choice>> choices;
    for (const Growing& growing : all_) choices.push_back(growing.chosen);
    return choices;
}

}  // namespace plurule
