// Selecting rules from a pool of bodies: again and again the body whose labels add the most lifted gain, by several criteria side
// by side.
//
//   gains of a body     per label, TP − λ·(TP + FP) over the pairs that are still open
//   head of a body      its labels, best first, up to the length n with the highest ρ(n)·(sum of gains): relaxed pruning
//   value of a body     that lifted gain, less a share for each condition
//   repeat              take the body of the highest value; the pairs that its head decides are open no longer
//
// `PoolSelection` chooses and knows no rows: the caller counts, once for the whole pool, then for each `CoverUpdate` that is
// asked for. `PoolRows` has some rows as bits and counts there.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace plurule {

using Numbers = std::vector<std::uint32_t>;

// What a prediction must earn: `SelectionCriterion` of Python, which says what each of these is.
struct Criterion {
    double lam, condition_price;
    bool exceptions;
    std::vector<double> lift;  // ρ(1), …, ρ(labels)
    Numbers default_labels;    // per exclusive group, the label that the default rule predicts
};

// A body and the labels it decides. The default rule, if there is one, is chosen first and comes last in the list.
struct Choice {
    std::uint32_t body;
    Numbers head;
    std::vector<bool> present;  // of each label of the head, whether it is predicted as present
    Numbers decided;            // ascending: the head, and what is decided with it
    bool is_default;
    auto operator<=>(const Choice&) const = default;
};

// A body that decides a label after other bodies have; labels do not know of each other.
struct CoverUpdate {
    std::uint32_t body, label;
    Numbers before;
};

// What is known of a pool, whose first body is the empty one, beside what its bodies cover.
struct PoolFacts {
    std::vector<double> n_conditions;     // per body
    std::vector<double> label_weights;    // per label: factor of its gains
    double min_precision;                 // of every label of a head
    std::vector<std::uint8_t> forbidden;  // (absent, present) × labels × bodies: whether a body must not predict a label so
    std::vector<Numbers>
        excludes;  // per label, those that must not stand beside it in a head, but for its group; empty if all may
    std::vector<Numbers> groups;          // exclusive labels, of which each instance has exactly one
    std::vector<std::pair<std::uint32_t, std::uint32_t>> hierarchy;  // labels, each with one that it implies
};

class PoolSelection {
   public:
    // `sums`: (pairs that have the label, all) × labels × bodies: the weight of the open pairs that a body covers. At most
    // `cache_size` results of cover updates are kept: criteria often choose alike.
    PoolSelection(PoolFacts facts, const double* sums, std::vector<Criterion> criteria, std::size_t max_rules,
                  std::size_t cache_size);

    // Chooses by so many criteria side by side until cover updates are needed, and returns these; none at the end. One after the
    // other is faster where counting does not take long: less is looked at again and again.
    std::vector<CoverUpdate> choose(std::size_t at_once);
    // Continues with their results: updates × (pairs that have the label, all) × bodies.
    void update(const double* covered);
    // What is chosen so far by a criterion.
    const std::vector<Choice>& chosen(std::size_t criterion) const { return all_[criterion].chosen; }
    // Per criterion, the number of the first one that chooses the same.
    std::vector<std::size_t> alike() const;

    std::size_t n_bodies() const { return facts_.n_conditions.size(); }
    std::size_t n_labels() const { return facts_.label_weights.size(); }
    std::size_t n_criteria() const { return all_.size(); }
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
        bool may_bound;  // whether a value rises at most by what gains rise by: not where labels exclude others
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
    Numbers decided_by(const Numbers& head) const;
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

using Words = std::vector<std::uint64_t>;  // a bit for each row

// Lines of bits: bit r % 8 of byte r / 8 is that of row r, and there are none beyond the rows. They are read where they are.
class BitLines {
   public:
    BitLines() = default;
    BitLines(std::shared_ptr<const std::uint8_t> bytes, std::size_t n_lines, std::size_t n_bytes);  // filled up to eight bytes
    std::size_t n_lines() const { return n_lines_; }
    std::size_t n_bytes() const { return n_bytes_; }
    std::size_t n_words() const { return (n_bytes_ + 7) / 8; }
    const std::uint8_t* line(std::size_t number) const { return bytes_.get() + number * n_bytes_; }
    // Where the eight bytes are that hold a word: those of the last word may begin before it, so that they end with the line.
    std::size_t offset(std::size_t word) const { return std::min(word * 8, n_bytes_ - 8); }
    std::size_t shift(std::size_t word) const { return (word * 8 - offset(word)) * 8; }

    // Calls visit(number, word) for the words of a line.
    template <class Visit>
    void visit(std::size_t number, Visit&& visit) const {
        const std::uint8_t* bytes = line(number);
        for (std::size_t word = 0; word < n_words(); ++word) visit(word, load_word(bytes + offset(word)) >> shift(word));
    }
    static std::uint64_t load_word(const std::uint8_t* bytes);

   private:
    std::shared_ptr<const std::uint8_t> bytes_;
    std::size_t n_lines_ = 0, n_bytes_ = 8;
};

// Counts of predictions of presence after the initial rules, the first choice, the second, …
struct PrefixCounts {
    std::vector<double> tp, fp;     // choices + 1 × labels
    std::vector<double> positives;  // per label
    double weight = 0;              // of the rows
    // Per stage, sorted: how many right, predicted and present labels rows have, and the weight of these rows.
    std::vector<std::vector<std::array<double, 4>>> rows;
};

// Weights of the pairs that choices decide: per choice and label that it decides (right, wrong); per label, what none decides.
struct RuleCounts {
    std::vector<std::vector<std::pair<double, double>>> decided;
    std::vector<std::pair<double, double>> undecided;  // absent, present
};

// Bits of the pairs that a list decides, labels × words.
struct Decided {
    std::vector<Words> present, decided;
};

class PoolRows {
   public:
    // `rows`: one line, the rows that count. `holds`: by body; the others by label: `present`, the pairs that have the label;
    // `open`, those that are to be decided (no lines: all); `predicted`, those that are predicted as present already (no lines:
    // none). Weights of rows are whole multiples of a unit, so that sums are exact; empty if every row counts 1.
    PoolRows(std::size_t n_rows, const BitLines& rows, BitLines holds, BitLines present, BitLines open, BitLines predicted,
             std::vector<double> weights);

    // The weight of the open pairs that cover updates share with each body: of those that have the label, and of all.
    // Writes updates × (those, all) × bodies.
    void cover_updates(const std::vector<CoverUpdate>& updates, double* sums) const;

    // Selects from the pool until nothing more is chosen.
    void select(PoolSelection& selection) const;

    // All choices are by one criterion, or a beginning of them: the default rule, if there is one, is the first.
    PrefixCounts prefix_counts(const std::vector<Choice>& choices, const Numbers& labels, bool by_row) const;
    Decided decide(const std::vector<Choice>& choices) const;
    RuleCounts rule_counts(const std::vector<Choice>& choices) const;

    std::size_t n_bodies() const { return holds_.n_lines(); }
    std::size_t n_labels() const { return present_.n_lines(); }
    std::size_t n_bytes() const { return (n_rows_ + 7) / 8; }  // of a line of bits

   private:
    // Rows, those of one weight together: the words that have some of them.
    struct Group {
        double weight;
        std::size_t begin, end, n_rows;  // of the words
    };
    struct Groups {
        std::vector<Group> groups;
        std::vector<std::uint32_t> words;
        std::vector<std::uint64_t> bits;
        std::vector<std::uint32_t> offsets;  // the same for lines, each of eight bytes
        std::vector<std::uint64_t> masks;
        void clear();
        void push(std::size_t word, std::uint64_t of_word);
    };
    class Deciding;
    class RowCounts;

    void order_rows();
    void expand() const;
    Words words_of(const BitLines& lines, std::size_t number) const;
    void group(const Words& rows, Groups& groups) const;
    void add(const Groups& groups, double* sums) const;
    void add_by_row(const Groups& groups, const Group& group, double* sums) const;
    std::pair<double, double> weigh(const Words& rows, std::size_t label) const;

    std::size_t n_rows_, n_counted_ = 0;
    Words rows_;  // that count
    BitLines holds_, present_, open_, predicted_;
    Numbers open_as_;  // per label, the first one of which the same pairs are open
    std::vector<double> weights_;
    std::vector<std::uint32_t> row_at_,
        place_of_;  // rows that count, by weight, and where in there each is; none without weights
    std::size_t stride_;
    // Rows that count × bodies, each row filled up to whole blocks; made when first needed.
    mutable std::once_flag expanded_;
    mutable std::vector<std::uint8_t> bodies_of_row_;
    mutable std::vector<std::uint32_t> line_of_row_;
};

}  // namespace plurule
