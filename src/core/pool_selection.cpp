#include "pool_selection.hpp"

#include <algorithm>
#include <cmath>

namespace plurule {
namespace {

constexpr double LEAST_GAIN = 0.5;  // what a label must gain beyond nothing to be in a head: so much weight of instances
constexpr double TIE = 1e9;         // values that are equal to so many parts of one differ by rounding only

}  // namespace

// What bodies gain by one label at one price.
class PoolSelection::Worth {
   public:
    Worth(const PoolFacts& facts, const Growing& one, std::size_t label, const Left& left)
        : price_(one.price), left_(left), sign_(one.sign[label]), weight_(price_.labels_alike ? facts.rarity[label] : 1.0),
          share_(left.all[0] > 0 ? left.right[0] / left.all[0] : 0.0),
          barred_(facts.barred.empty() ? nullptr : facts.barred.data() + label * facts.n_conditions.size()) {}

    // TP − λ·(TP + FP), or its opposite where absence is told.
    double gain(std::size_t body) const {
        double right = left_.right[body];
        const double all = left_.all[body];
        if (right < price_.least_precision * all) return 0.0;
        // As if so much more weight were covered, with the share of all that is left.
        if (price_.shrink > 0) right = all * (right + price_.shrink * share_) / (all + price_.shrink);
        return (right - price_.lam * all) * sign_ - LEAST_GAIN;
    }
    // What a body is worth more by the label, if anything.
    double operator()(std::size_t body) const { return is_barred(body) ? 0.0 : std::max(gain(body), 0.0) * weight_; }
    // Whether a body tells of the label, if it is chosen: beside one that gains, a label needs less.
    bool is_told(std::size_t body) const {
        const double right = left_.right[body], all = left_.all[body];
        const double less = (sign_ > 0 ? price_.lam : 0.0) * (1.0 - price_.further) * all;
        return gain(body) + less > 0 && weight_ > 0 && right >= price_.least_precision * all && !is_barred(body);
    }

   private:
    bool is_barred(std::size_t body) const { return barred_ != nullptr && barred_[body]; }

    const Price& price_;
    const Left& left_;
    double sign_, weight_, share_;
    const std::uint8_t* barred_;
};

PoolSelection::PoolSelection(PoolFacts facts, const double* sums, const std::vector<Price>& prices, std::size_t n_rules,
                             std::size_t most_known)
    : facts_(std::move(facts)), n_rules_(n_rules), most_known_(most_known) {
    const std::size_t n_labels = facts_.rarity.size(), n = n_bodies();
    std::vector<std::shared_ptr<const Left>> left;
    for (std::size_t label = 0; label < n_labels; ++label) {
        const double *right = sums + label * n, *all = right + n_labels * n;
        left.push_back(std::make_shared<Left>(Left{{}, {right, right + n}, {all, all + n}}));
    }
    every_.reserve(prices.size());
    for (const Price& price : prices) {
        Growing& one = every_.emplace_back(Growing{price, std::vector<double>(n_labels, 1.0), left, std::vector<double>(n), {}});
        Choice last{0, {}, true};
        for (std::uint32_t label = 0; price.last && label < n_labels; ++label)
            if (left[label]->right[0] - price.lam * left[label]->all[0] - LEAST_GAIN > 0) {
                last.head.push_back(label);
                one.sign[label] = -1.0;
            }
        if (!last.head.empty()) one.chosen.push_back(std::move(last));
        for (std::size_t label = 0; label < n_labels; ++label) {
            const Worth worth(facts_, one, label, *left[label]);
            for (std::size_t body = 0; body < n; ++body) one.value[body] += worth(body);
        }
        for (std::size_t body = 0; body < n; ++body) one.value[body] += -price.per_condition * facts_.n_conditions[body];
        if (one.chosen.size() < n_rules) growing_.push_back(&one);
    }
}

std::vector<PoolSelection::Taking> PoolSelection::choose() {
    while (!growing_.empty()) {
        if (known_.size() > most_known_) known_.clear();
        std::erase_if(growing_, [&](Growing* one) { return !choose(*one) || one->chosen.size() >= n_rules_; });
        for (const Growing* one : growing_)
            for (const std::uint32_t label : one->chosen.back().head)
                if (Key key = after(*one, label); !known_.contains(key))
                    asked_.try_emplace(std::move(key), one->chosen.back().body, one->left[label]);
        std::vector<Taking> asked;
        for (const auto& [key, from] : asked_) asked.push_back({from.first, key.first, from.second->decided_by});
        if (!asked.empty()) return asked;
        go_on();
    }
    return {};
}

// Chooses the body that gains most, if one gains anything; the first of those that differ by rounding only.
bool PoolSelection::choose(Growing& one) const {
    const auto rounded = [](double value) { return std::nearbyint(value * TIE) / TIE; };
    std::uint32_t best = 0;
    for (std::uint32_t body = 1; body < n_bodies(); ++body)
        if (one.value[body] > one.value[best] && rounded(one.value[body]) > rounded(one.value[best])) best = body;
    if (one.value[best] <= 1 / TIE) return false;
    one.chosen.push_back({best, head(one, best), false});
    return true;
}

Numbers PoolSelection::head(const Growing& one, std::uint32_t body) const {
    std::vector<std::uint8_t> told;
    for (std::size_t label = 0; label < one.left.size(); ++label)
        told.push_back(Worth(facts_, one, label, *one.left[label]).is_told(body));
    for (const auto& [below, above] : facts_.hierarchy) told[above] |= told[below];
    Numbers head;
    for (std::uint32_t label = 0; label < told.size(); ++label)
        if (told[label]) head.push_back(label);
    return head;
}

// What has decided a label once the last choice has.
PoolSelection::Key PoolSelection::after(const Growing& one, std::uint32_t label) const {
    Numbers bodies = one.left[label]->decided_by;
    const std::uint32_t body = one.chosen.back().body;
    if (const auto place = std::ranges::lower_bound(bodies, body); place == bodies.end() || *place != body) bodies.insert(place, body);
    return {label, std::move(bodies)};
}

void PoolSelection::take(const double* taken) {
    for (const auto& [key, from] : asked_) {
        Left left{key.second, from.second->right, from.second->all};
        for (std::vector<double>* sums : {&left.right, &left.all})
            for (double& sum : *sums) sum -= *taken++;
        known_[key] = std::make_shared<Left>(std::move(left));
    }
    asked_.clear();
    go_on();
}

void PoolSelection::go_on() {
    for (Growing* one : growing_)
        for (const std::uint32_t label : one->chosen.back().head) {
            const std::shared_ptr<const Left> next = known_.at(after(*one, label));
            const Worth was(facts_, *one, label, *one->left[label]), is(facts_, *one, label, *next);
            for (std::size_t body = 0; body < n_bodies(); ++body) one->value[body] += is(body) - was(body);
            one->left[label] = next;
        }
}

std::vector<std::vector<PoolSelection::Choice>> PoolSelection::chosen() const {
    std::vector<std::vector<Choice>> found;
    for (const Growing& one : every_) found.push_back(one.chosen);
    return found;
}

}  // namespace plurule
