// What the first pass for one rule found out about its candidates, kept for the next rule.
//
// A rule only closes pairs of the labels in its head: whatever else the candidates were worth, they still are. So each
// candidate keeps an upper bound of its value, which is brought up to date label by label, and is looked at again only
// where the bound reaches the best value so far (lazy greedy). Rows that leave training change every count: then
// everything is forgotten.
#pragma once
#include <cmath>
#include <limits>
#include <vector>

#include "grouped_rows.hpp"
#include "head_search.hpp"
#include "kernels.hpp"
#include "options.hpp"

namespace plurule {

// What a look at a candidate tells about later looks. By default: nothing.
struct Finding {
    static constexpr double ANY = std::numeric_limits<double>::infinity();
    double few = ANY;       // no head of few labels is worth more, as long as no label in play changes,
    double many = ANY;      // nor one of more than FoundHead::FEW
    double highest = ANY;   // the value of the best label,
    double second = ANY;    // the highest value of any other,
    std::int32_t label = -1;  // and which label that is
    double cut = ANY;       // a label that has, or had, at least this value is in play
    double slack = 0;       // above 0: no head until labels in play change, or labels with TP >= FP gain this much
};

// One label of a rule just learned.
struct ClosedLabel {
    std::int32_t label;
    double present, absent;  // in training
    std::vector<std::uint8_t> codes;  // per row: its state byte before, and CLOSES
    std::int32_t total[6] = {};       // what all rows in training add to the counts, see `add`

    // Adds some rows of a state to TP and FP that are left, TP and FP that are closed, present, and instances.
    static void add(std::uint8_t state, std::int32_t count, std::int32_t* sums) {
        const bool closes = state & CLOSES;
        if (state & OPEN_PRESENT) sums[closes ? 2 : 0] += count;
        if (state & OPEN_ABSENT) sums[closes ? 3 : 1] += count;
        if (state & PRESENT) sums[4] += count;
        sums[5] += count;
    }
};

class Ledger {
   public:
    // `lift`: the highest; `signs`: labels may be predicted absent.
    Ledger(const Options& options, const Quotient& quotient, double lift)
        : averages_(options.averages_labels), signs_(options.predict_absence), quotient_(quotient), lift_(float(lift)) {}

    void forget() { empty_ = true; }
    bool empty() const { return empty_; }
    bool empty_ = true;

    void resize(std::size_t attributes) { pages_.resize(attributes); empty_ = false; }
    // Everything about the candidates of an attribute is open.
    void start(std::size_t a, const Candidates& candidates) { pages_[a].start(candidates); }

    static std::size_t bytes_for(const std::vector<GroupedRows>& grouped) {
        std::size_t slots = 0;
        for (const GroupedRows& g : grouped) slots += 2 * (g.groups() + 8);
        return slots * (6 * sizeof(float) + sizeof(std::int32_t));
    }

    // An upper bound of what any candidate of an attribute is worth.
    double best(std::size_t a) const { return double(pages_[a].best); }

    // Flags the candidates that may reach `floor` (see `visit_candidates`); gives how many.
    std::size_t flag(std::size_t a, double floor, std::vector<std::uint8_t>& flags) const {
        const Page& page = pages_[a];
        const float least = std::nextafter(float(floor), -std::numeric_limits<float>::infinity());
        flags.assign(page.slots, 0);
        std::size_t count = 0;
        for (std::size_t side = 0; side < 2; ++side)
            for (std::size_t g = 0; g < page.slots; ++g) {
                const bool reaches = page.reach(side * page.slots + g, lift_) >= least;
                flags[g] |= std::uint8_t(reaches << side);
                count += reaches;
            }
        return count;
    }

    void record(std::size_t a, std::size_t group, std::size_t side, const Finding& found) {
        Page& page = pages_[a];
        const std::size_t slot = side * page.slots + group;
        page.few[slot] = up(found.few);
        page.many[slot] = up(found.many);
        page.top[slot] = up(found.highest);
        page.rest[slot] = up(found.second);
        page.label[slot] = found.label;
        page.cut[slot] = float(found.cut - 1e-5 * std::fabs(found.cut));
        if (found.cut == Finding::ANY) page.cut[slot] = std::numeric_limits<float>::infinity();
        page.slack[slot] = float(found.slack);
    }

    // After candidates of an attribute were recorded.
    void refresh(std::size_t a) {
        Page& page = pages_[a];
        page.best = -std::numeric_limits<float>::infinity();
        for (std::size_t slot = 0; slot < 2 * page.slots; ++slot) page.best = std::max(page.best, page.reach(slot, lift_));
    }

    // Brings an attribute up to date with the pairs that a rule closed. `constrained`: labels need TP >= FP.
    // `codes`: of the rows, where the groups are only measured; or null.
    void revise(std::size_t a, const Candidates& candidates, const GroupedRows& grouped, const std::uint8_t* codes,
                const std::vector<Row>& rows, const std::vector<ClosedLabel>& closed, bool constrained, std::vector<std::int32_t>& counts) {
        Page& page = pages_[a];
        const Kernels& k = kernels();
        const std::size_t slots = page.slots;
        counts.resize(6 * slots);
        std::int32_t* lanes[6];
        for (std::size_t i = 0; i < 6; ++i) lanes[i] = counts.data() + i * slots;
        for (const ClosedLabel& label : closed) {
            const Revision revision{label.label, float(label.present), float(label.absent), averages_, signs_, constrained, lift_, lift_ / float(FoundHead::FEW + 1)};
            page.best = -std::numeric_limits<float>::infinity();
            count_sides(
                candidates, grouped, 6, lanes,
                [&](const GroupSpan& span, bool cumulative) {
                    codes ? count_coded(span, grouped, codes, rows, label.codes, cumulative, lanes)
                          : k.count_codes(span, label.codes.data(), cumulative, lanes);
                },
                [&](std::int32_t* total) {
                    std::copy_n(label.total, 6, total);
                    for (Row row : grouped.missing) ClosedLabel::add(label.codes[row], -1, total);
                },
                [&](std::size_t side) { page.best = std::max(page.best, k.revise(revision, quotient_, slots, lanes, page.side(side))); });
        }
    }

   private:
    // Never below the number itself, whatever was rounded on the way.
    static float up(double value) {
        if (!std::isfinite(value)) return float(value);
        return float(value + 1e-6 * std::fabs(value) + 1e-30);
    }

    // The candidates of one attribute: one slot per group, first those of the parts, then those of the rests.
    struct Page {
        std::size_t slots = 0;
        std::vector<float> few, many, top, rest, cut, slack;
        std::vector<std::int32_t> label;
        float best = std::numeric_limits<float>::infinity();

        void start(const Candidates& candidates) {
            const float any = std::numeric_limits<float>::infinity();
            slots = candidates.slots;
            few.assign(2 * slots, -any);  // no such candidate
            many.assign(2 * slots, -any);
            for (auto* lanes : {&top, &rest, &cut}) lanes->assign(2 * slots, any);
            slack.assign(2 * slots, 0);
            label.assign(2 * slots, -1);
            best = -any;
            for (std::size_t side = 0; side < 2; ++side)
                for (std::size_t g = 0; g < slots; ++g)
                    if (Place place; candidates.place_of(Slot{g, side}, place)) few[side * slots + g] = many[side * slots + g] = best = any;
        }

        float reach(std::size_t slot, float lift) const {
            if (slack[slot] > 0) return -std::numeric_limits<float>::infinity();
            return std::min(std::max(few[slot], many[slot]), lift * std::max(top[slot], rest[slot]));
        }

        PageSide side(std::size_t which) {
            const std::size_t at = which * slots;
            return {few.data() + at, many.data() + at, top.data() + at, rest.data() + at, cut.data() + at, slack.data() + at, label.data() + at};
        }
    };

    // As `count_codes`, for groups that are only measured.
    static void count_coded(const GroupSpan& span, const GroupedRows& grouped, const std::uint8_t* codes, const std::vector<Row>& rows,
                            const std::vector<std::uint8_t>& states, bool cumulative, std::int32_t* const* lanes) {
        if (span.first == span.last) return;
        std::vector<std::int32_t> seen(256 * 16, 0);  // by code and state
        for (Row row : rows) ++seen[std::size_t(codes[row]) * 16 + states[row]];
        std::int32_t sums[6] = {};
        for (std::uint32_t g = span.first; g < span.last; ++g) {
            if (!cumulative) std::fill_n(sums, 6, 0);
            for (int state = 0; state < 16; ++state) ClosedLabel::add(std::uint8_t(state), seen[std::size_t(grouped.ids[g]) * 16 + std::size_t(state)], sums);
            for (int lane = 0; lane < 6; ++lane) lanes[lane][g] = sums[lane];
        }
    }

    bool averages_, signs_;
    Quotient quotient_;
    float lift_;
    std::vector<Page> pages_;
};

}  // namespace plurule
