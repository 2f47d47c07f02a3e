// Where separate-and-conquer stands: which instances are in training, and which pairs are open.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "grouped_rows.hpp"
#include "kernels.hpp"
#include "min_precision.hpp"
#include "sparse_rows.hpp"

namespace plurule {

constexpr std::int8_t OPEN = -1;

// A label, seen as an attribute with the values absent and present.
inline const Attribute& label_attribute() {
    static const Attribute attribute = [] {
        Attribute a;
        a.nominal = true;
        a.values = 2;
        return a;
    }();
    return attribute;
}

// The columns of a table, ranked once; any number of fits can share them.
struct Prepared {
    std::size_t n_rows = 0;
    std::vector<Attribute> attributes;
    std::vector<GroupedRows> grouped;
    // Instead of lists of its rows, the rank or category of each row where that takes one byte and there are many rows.
    std::vector<std::vector<std::uint8_t>> codes;
    SparseRows sparse;  // of the first `laid_out` attributes, once they are all there
    std::size_t laid_out = 0;

    // What the rows listed in all groups take.
    double listed_bytes() const {
        double bytes = 0;
        for (const auto& of_attribute : grouped) bytes += double(of_attribute.rows.size() * sizeof(Row));
        for (const auto& of_attribute : codes) bytes += double(of_attribute.size());
        return bytes;
    }
    bool is_packed(std::size_t a) const { return a < codes.size() && !codes[a].empty(); }

    // Attributes, and behind them the labels.
    const Attribute& attribute(std::size_t a) const { return a < attributes.size() ? attributes[a] : label_attribute(); }
};

inline std::vector<std::uint8_t> marks_of(const std::vector<Row>& rows, std::size_t n_rows) {
    std::vector<std::uint8_t> marks(n_rows, 0);
    for (Row row : rows) marks[row] = 1;
    return marks;
}

// The lists of one attribute, if they were cut out of others.
struct CutLists : std::unique_ptr<GroupedRows> {
    CutLists() = default;
    CutLists(CutLists&&) = default;
    CutLists(const CutLists& other) : std::unique_ptr<GroupedRows>(other ? new GroupedRows(*other) : nullptr) {}
};

// The rows a body covers, by attribute and by predicted label.
struct Scope {
    std::vector<Row> rows;
    const std::vector<GroupedRows>* whole = nullptr;  // lists of the attributes that have none of their own
    std::vector<CutLists> attributes;
    std::vector<GroupedRows> labels;  // groups 0 and 1: predicted absent, present

    // Attributes, and behind them the labels.
    const GroupedRows& at(std::size_t a) const {
        if (a >= attributes.size()) return labels[a - attributes.size()];
        return attributes[a] ? *attributes[a] : (*whole)[a];
    }
    // The rows of `from` that are marked become those of an attribute or label.
    GroupedRows& cut(std::size_t a, const GroupedRows& from, const std::uint8_t* keep) {
        if (a < attributes.size() && !attributes[a]) attributes[a].reset(new GroupedRows);
        GroupedRows& to = a < attributes.size() ? *attributes[a] : labels[a - attributes.size()];
        to.assign_kept(from, keep);
        return to;
    }
    // The rows of an attribute, or where they are packed: gathered in `room`, or only measured.
    const GroupedRows& rows_of(std::size_t a, const Prepared& prepared, bool gather, GroupedRows& room) const {
        if (!prepared.is_packed(a)) return at(a);
        gather ? room.gather(prepared.codes[a], rows) : room.measure(prepared.codes[a], rows);
        return room;
    }
    // How many rows have a value. Rows of a label that no rule decided have none; they are not listed.
    std::size_t known(std::size_t a, const GroupedRows& of_attribute) const {
        return a < attributes.size() ? rows.size() - of_attribute.missing.size() : of_attribute.listed();
    }
};

// The labels with an open pair in training that are not set aside, as lanes of the state bytes.
struct Lanes {
    std::vector<std::int32_t> label_of_lane;
    std::size_t width = 0;                // a multiple of 8
    std::vector<std::uint8_t> bytes;      // rows × width
    std::vector<double> present, absent;  // per lane, over the instances in training
    std::vector<double> totals;           // open present, open absent, present, per lane each; then the weight of the rows
};

// Pairs of one label in training, whatever their rows weigh.
struct LabelCounts {
    std::int32_t open_present = 0, open_absent = 0, present = 0;
    bool some_open() const { return open_present + open_absent > 0; }
};

struct State : Lanes {
    std::size_t n_rows, n_labels;
    const std::uint8_t* truth;  // rows × labels
    const double* weights;      // null: every instance counts 1
    double total_weight = 0;
    std::vector<bool> open;  // rows × labels: no rule has decided the pair
    Scope training;                      // E
    std::vector<std::uint8_t> head_labels;
    std::vector<std::uint8_t> set_aside;  // per label: it may not be in heads any more
    std::vector<LabelCounts> counts;      // per label
    MinPrecision asked;                   // of candidates, for now
    bool every_label = false;  // labels without an open pair have lanes too: they can be in heads beside others

    // What rules given beforehand predict, which rows they leave in training, which labels they speak of; null: no rules.
    struct Start {
        const std::int8_t* predicted;
        const std::uint8_t* in_training;
        const std::uint8_t* head_labels;
        bool every_label = false;
    };

    State(const Prepared& prepared, const std::uint8_t* truth, std::size_t n_labels, const double* weights, const Start& start)
        : n_rows(prepared.n_rows), n_labels(n_labels), truth(truth), weights(weights), every_label(start.every_label) {
        open.assign(n_rows * n_labels, true);
        for (std::size_t pair = 0; start.predicted && pair < open.size(); ++pair) open[pair] = start.predicted[pair] == OPEN;
        head_labels.assign(n_labels, 0);
        set_aside.assign(n_labels, 0);
        if (start.head_labels) std::copy_n(start.head_labels, n_labels, head_labels.begin());
        training.labels.resize(n_labels);
        training.rows.reserve(n_rows);
        for (Row row = 0; row < n_rows; ++row) {
            if (!start.in_training || start.in_training[row]) training.rows.push_back(row);
            total_weight += weight(row);
        }
        training.whole = &prepared.grouped;
        training.attributes.resize(prepared.grouped.size());
        for (std::size_t a = 0; training.rows.size() < n_rows && a < prepared.grouped.size(); ++a)
            training.cut(a, prepared.grouped[a], start.in_training);
        for (std::size_t label = 0; start.predicted && label < n_labels; ++label)
            for (std::int8_t sign = 0; head_labels[label] && sign < 2; ++sign) {
                std::vector<Row> rows;
                for (Row row : training.rows)
                    if (start.predicted[at(row, label)] == sign) rows.push_back(row);
                note_predicted(label, sign, rows);
            }
        counts.resize(n_labels);
        for (Row row : training.rows) count_row(row, 1);
        rebuild();
    }

    double weight(Row row) const { return weights ? weights[row] : 1.0; }
    double weight_of(const std::vector<Row>& rows) const {
        if (!weights) return double(rows.size());
        double sum = 0;
        for (Row row : rows) sum += weights[row];
        return sum;
    }
    // The lane of a label, or -1.
    std::int32_t lane_of(std::size_t label) const {
        const auto at = std::lower_bound(label_of_lane.begin(), label_of_lane.end(), std::int32_t(label));
        return at != label_of_lane.end() && *at == std::int32_t(label) ? std::int32_t(at - label_of_lane.begin()) : -1;
    }
    std::size_t at(Row row, std::size_t label) const { return std::size_t(row) * n_labels + label; }

    // Whether a label can be in heads.
    bool is_searched(std::size_t label) const { return counts[label].some_open() && !set_aside[label]; }

    // Chooses the lanes anew and writes the state bytes.
    void rebuild() {
        label_of_lane.clear();
        for (std::size_t label = 0; label < n_labels; ++label)
            if (every_label || is_searched(label)) label_of_lane.push_back(std::int32_t(label));
        width = std::max<std::size_t>(8, (label_of_lane.size() + 7) / 8 * 8);
        bytes.assign(n_rows * width, 0);
        for (Row row : training.rows) write_bytes(row);
        count_training();
    }

    void write_bytes(Row row) {
        std::uint8_t* to = bytes.data() + std::size_t(row) * width;
        for (std::size_t lane = 0; lane < label_of_lane.size(); ++lane) {
            const std::size_t pair = at(row, std::size_t(label_of_lane[lane]));
            const unsigned is_present = truth[pair] != 0, is_open = open[pair] && !set_aside[std::size_t(label_of_lane[lane])];
            to[lane] = std::uint8_t(is_present * PRESENT | is_open * (is_present ? OPEN_PRESENT : OPEN_ABSENT));
        }
    }

    // To the search it is from now on as if every pair of a label were closed.
    void put_aside(std::size_t label) {
        set_aside[label] = 1;
        const std::int32_t lane = lane_of(label);
        if (lane < 0) return;
        for (Row row : training.rows) bytes[std::size_t(row) * width + std::size_t(lane)] &= PRESENT;
        totals[std::size_t(lane)] = totals[width + std::size_t(lane)] = 0;
    }

    // Sums over the instances in training. Whole numbers are known; weights are added up in the order of the rows.
    void count_training() {
        for (auto* sums : {&present, &absent}) sums->assign(width, 0.0);
        totals.assign(3 * width + 1, 0.0);
        if (weights) {
            kernels().add_weighted_states(training.rows.data(), training.rows.size(), nullptr, bytes.data(), width, weights, totals.data());
            for (Row row : training.rows)
                for (std::size_t lane = 0; lane < label_of_lane.size(); ++lane)
                    (bytes[std::size_t(row) * width + lane] & PRESENT ? present : absent)[lane] += weights[row];
            return;
        }
        totals.back() = double(training.rows.size());
        for (std::size_t lane = 0; lane < label_of_lane.size(); ++lane) {
            const LabelCounts& of_label = counts[std::size_t(label_of_lane[lane])];
            const bool is_aside = set_aside[std::size_t(label_of_lane[lane])];
            totals[lane] = is_aside ? 0 : of_label.open_present;
            totals[width + lane] = is_aside ? 0 : of_label.open_absent;
            totals[2 * width + lane] = present[lane] = of_label.present;
            absent[lane] = totals.back() - present[lane];
        }
    }

    // An instance comes into training (1), or leaves it (-1).
    void count_row(Row row, std::int32_t change) {
        for (std::size_t label = 0; label < n_labels; ++label) {
            const std::size_t pair = at(row, label);
            if (truth[pair]) counts[label].present += change;
            if (open[pair]) (truth[pair] ? counts[label].open_present : counts[label].open_absent) += change;
        }
    }

    // Decides a pair that is open.
    void close(std::size_t pair, std::size_t label) {
        open[pair] = false;
        --(truth[pair] ? counts[label].open_present : counts[label].open_absent);
    }

    // Adds freshly decided rows to the groups of a label (rows ascending).
    void note_predicted(std::size_t label, std::int8_t sign, const std::vector<Row>& rows) {
        GroupedRows& grouped = training.labels[label];
        std::vector<Row> by_sign[2];
        for (std::size_t g = 0; g < grouped.groups(); ++g)
            by_sign[grouped.ids[g]].assign(grouped.rows.begin() + (g ? grouped.ends[g - 1] : 0),
                                           grouped.rows.begin() + grouped.ends[g]);
        by_sign[sign].insert(by_sign[sign].end(), rows.begin(), rows.end());
        grouped = GroupedRows{};
        for (std::int32_t s = 0; s < 2; ++s) {
            if (by_sign[s].empty()) continue;
            grouped.rows.insert(grouped.rows.end(), by_sign[s].begin(), by_sign[s].end());
            grouped.ends.push_back(std::uint32_t(grouped.rows.size()));
            grouped.ids.push_back(s);
        }
    }
};

}  // namespace plurule
