// Selecting from a pool of bodies: which bodies, with which labels, gain most together; at several prices, side by side.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace plurule {

using Numbers = std::vector<std::uint32_t>;

// What predictions must earn: `Price` in selection/gain_cover.py, which says what each of these is.
struct Price {
    double lam, per_condition;
    bool labels_alike;
    double least_precision, further;
    bool last;
    double shrink;
};

// What is known of a pool, whose first body is the empty one, beside what its bodies cover.
struct PoolFacts {
    std::vector<double> n_conditions;  // per body
    std::vector<double> rarity;        // per label: what it weighs where a rare label counts as much as a frequent one
    std::vector<std::uint8_t> barred;  // labels × bodies: whether a body may not tell of a label; empty if all may
    std::vector<std::pair<std::uint32_t, std::uint32_t>> hierarchy;  // labels, each with one that it implies
};

class PoolSelection {
   public:
    // A body and the labels it tells of; the last rule, if there is one, is chosen first.
    struct Choice {
        std::uint32_t body;
        Numbers head;
        bool last;
    };
    // A body that decides a label after others have; labels do not know of each other.
    struct Taking {
        std::uint32_t body, label;
        Numbers before;
    };

    // `sums`: (pairs that have the label, all) × labels × bodies: the weight of the open pairs that a body covers. So many of
    // those that choices leave are kept: prices often choose alike.
    PoolSelection(PoolFacts facts, const double* sums, const std::vector<Price>& prices, std::size_t n_rules, std::size_t most_known);

    // Chooses at each price until it must be known what these take from every body; nothing at the end.
    std::vector<Taking> choose();
    // Goes on with that: takings × (pairs that have the label, all) × bodies.
    void take(const double* taken);
    // Per price, what is chosen so far.
    std::vector<std::vector<Choice>> chosen() const;

    std::size_t n_bodies() const { return facts_.n_conditions.size(); }
    std::size_t n_asked() const { return asked_.size(); }

   private:
    // What bodies cover of the open pairs of a label, after some have decided it.
    struct Left {
        Numbers decided_by;  // ascending
        std::vector<double> right, all;
    };
    using Key = std::pair<std::uint32_t, Numbers>;  // a label and what has decided it

    // What is selected at one price.
    struct Growing {
        Price price;
        std::vector<double> sign;                        // per label: -1 where the last rule predicts it, and others say it is absent
        std::vector<std::shared_ptr<const Left>> left;   // per label
        std::vector<double> value;                       // per body, what all labels gain
        std::vector<Choice> chosen;
    };
    class Worth;

    bool choose(Growing& one) const;
    Numbers head(const Growing& one, std::uint32_t body) const;
    Key after(const Growing& one, std::uint32_t label) const;
    void go_on();

    PoolFacts facts_;
    std::size_t n_rules_, most_known_;
    std::vector<Growing> every_;
    std::vector<Growing*> growing_;
    std::map<Key, std::shared_ptr<const Left>> known_;
    std::map<Key, std::pair<std::uint32_t, std::shared_ptr<const Left>>> asked_;  // by which body, and from what it takes
};

}  // namespace plurule
