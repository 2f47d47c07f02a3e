// Selecting rules from a pool of bodies: again and again the body whose labels add the most lifted gain, by several criteria side by side.
//
//   gains of a body     per label, TP − λ·(TP + FP) over the pairs that are still open
//   head of a body      its labels, best first, up to the length n with the highest ρ(n)·(sum of gains): relaxed pruning
//   value of a body     that lifted gain, less a share for each condition
//   repeat              take the body of the highest value; the pairs that its head decides are open no longer
//
// Nothing here knows rows. The caller counts: once for the whole pool, then for each `CoverUpdate` that is asked for.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace plurule {

using Numbers = std::vector<std::uint32_t>;

// What a prediction must earn: `SelectionCriterion` of Python, which says what each of these is.
struct Criterion {
    double lam, condition_price;
    bool exceptions;
    std::vector<double> lift;  // ρ(1), …, ρ(labels)
    Numbers usual;             // per exclusive group, the label that the default rule predicts
};

// What is known of a pool, whose first body is the empty one, beside what its bodies cover.
struct PoolFacts {
    std::vector<double> n_conditions;     // per body
    std::vector<double> label_weights;    // per label: factor of its gains
    double min_precision;                 // of every label of a head
    std::vector<std::uint8_t> forbidden;  // (absent, present) × labels × bodies: whether a body must not predict a label so
    std::vector<Numbers> excludes;        // per label, those that must not stand beside it in a head, but for its group; empty if all may
    std::vector<Numbers> groups;          // exclusive labels, of which each instance has exactly one
    std::vector<std::pair<std::uint32_t, std::uint32_t>> hierarchy;  // labels, each with one that it implies
};

class PoolSelection {
   public:
    // A body and the labels it decides; the default rule, if there is one, is chosen first.
    struct Choice {
        std::uint32_t body;
        Numbers head;
        bool is_default;
        Numbers decided{};  // the head, and what is decided with it
    };
    // A body that decides a label after other bodies have; labels do not know of each other.
    struct CoverUpdate {
        std::uint32_t body, label;
        Numbers before;
    };

    // `sums`: (pairs that have the label, all) × labels × bodies: the weight of the open pairs that a body covers. At most
    // `cache_size` results of cover updates are kept: criteria often choose alike.
    PoolSelection(PoolFacts facts, const double* sums, std::vector<Criterion> criteria, std::size_t max_rules, std::size_t cache_size);

    // Chooses by so many criteria side by side until cover updates are needed, and returns these; none at the end. One after the
    // other is faster where counting does not take long: less is looked at again and again.
    std::vector<CoverUpdate> choose(std::size_t at_once);
    // Continues with their results: updates × (pairs that have the label, all) × bodies.
    void update(const double* covered);
    // Per criterion, what is chosen so far.
    std::vector<std::vector<Choice>> chosen() const;

    std::size_t n_bodies() const { return facts_.n_conditions.size(); }
    std::size_t n_labels() const { return facts_.label_weights.size(); }
    std::size_t n_requested() const { return requested_.size(); }

   private:
    // Weights of the open pairs of one label that bodies cover, once some bodies have decided it. Labels share what is equal.
    using Sums = std::shared_ptr<const std::vector<double>>;
    struct OpenCounts {
        Numbers decided_by;  // ascending
        Sums right, all;
    };
    using Open = std::shared_ptr<const OpenCounts>;
    using Key = std::pair<std::uint32_t, Numbers>;  // a label and the bodies that have decided it

    // The value of a body when it was last computed, and what its labels may have gained since.
    struct Values {
        std::vector<double> worth;          // per body
        std::vector<double> gained;         // the sum of what its labels gained then, of those that gained
        std::vector<double> lowest;         // labels that gain at most this were not in the best head, nor near it
        std::vector<double> increase;       // at most so much have gains risen since
        std::vector<std::uint8_t> changed;  // whether a gain that matters has changed
        std::vector<Numbers> labels;        // whose gains are above the lowest, or were
    };
    // The rules selected by one criterion.
    struct Growing {
        Criterion criterion;
        double largest_loss;                // of a label in a head, as a share of all gains: 1 − 1/ρ_max
        bool may_bound;                     // whether a value rises at most by what gains rise by: not where labels exclude others
        std::vector<std::uint8_t> negated;  // per label: predicted by the default rule, so other rules say it is absent
        std::vector<Open> open;             // per label
        std::vector<Open> next;             // per label that the last choice decides, once it has
        std::vector<double> highest;        // per body, the highest lift that its labels can reach
        Values values;
        std::vector<Choice> chosen;
    };

    bool is_forbidden(std::uint32_t label, std::uint32_t body, bool present) const {
        return facts_.forbidden[(present * facts_.label_weights.size() + label) * n_bodies() + body];
    }
    bool is_grouped(std::uint32_t label) const { return group_of_[label] < facts_.groups.size(); }
    double price(const Criterion& criterion, std::size_t body) const;
    double gain(const Growing& growing, std::uint32_t label, std::uint32_t body) const;
    bool is_eligible(bool negated, double present, double all) const;
    bool may_predict(const Growing& growing, std::uint32_t label, std::uint32_t body) const;
    void begin(Growing& growing) const;
    double best_head(Growing& growing, std::uint32_t body, Numbers* head) const;
    bool is_excluded(std::uint32_t label, const Numbers& head) const;
    void compute_value(Growing& growing, std::uint32_t body) const;
    bool choose(Growing& growing) const;
    Key key_after(const Growing& growing, std::uint32_t label) const;
    void request_updates(Growing& growing);
    void continue_growing();
    void note_gains(Growing& growing, std::uint32_t label, const OpenCounts& after) const;
    void note_gains_of_group(Growing& growing, std::uint32_t group) const;

    PoolFacts facts_;
    std::size_t max_rules_, cache_size_;
    std::vector<double> shares_;     // per label, its share of the pairs that are open at first
    Numbers group_of_;               // per label, its group, or the number of groups
    Numbers n_relevant_;             // per body, the number of labels that it can ever gain by
    std::vector<Growing> all_;
    std::deque<Growing*> waiting_;
    std::vector<Growing*> growing_;
    std::map<Key, std::shared_ptr<OpenCounts>> cache_;
    // Counts to be made, and by which body from which counts.
    struct Request {
        std::uint32_t body, label;
        Open before;
        std::shared_ptr<OpenCounts> after;
    };
    std::vector<Request> requested_;
};

}  // namespace plurule
