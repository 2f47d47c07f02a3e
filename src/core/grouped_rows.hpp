// The rows of each attribute, grouped by value, and the candidate conditions that the groups give.
//
// Groups are listed in the order of their values. The most frequent value may be left unlisted (`rest`): what it sums to
// follows from the total, so that sparse columns cost what their other values cost.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels.hpp"

namespace plurule {

using Row = std::uint32_t;

struct Attribute {
    bool nominal = false;
    std::int32_t values = 0;                // number of distinct values (ranks or categories)
    std::int32_t rest = -1;                 // the value that is not listed, or -1
    std::vector<double> lowest, highest;    // numeric: the ends of each rank; no `highest` where every rank is one value

    double highest_of(std::size_t rank) const { return (highest.empty() ? lowest : highest)[rank]; }
};

// Leaves new elements unset instead of writing zeros first.
template <class T>
struct Unset : std::allocator<T> {
    template <class U>
    struct rebind {
        using other = Unset<U>;
    };
    template <class U>
    void construct(U* at) {
        ::new (static_cast<void*>(at)) U;
    }
    template <class U, class... Args>
    void construct(U* at, Args&&... args) {
        ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...);
    }
};
template <class T>
using Buffer = std::vector<T, Unset<T>>;

struct GroupedRows {
    Buffer<Row> rows;            // group after group, ascending within each
    Buffer<std::uint32_t> ends;  // end of each group in rows
    Buffer<std::int32_t> ids;    // the value of each group, ascending
    std::vector<Row> missing;

    std::size_t groups() const { return ends.size(); }
    const Row* begin(std::size_t group) const { return rows.data() + (group ? ends[group - 1] : 0); }
    std::size_t size(std::size_t group) const { return ends[group] - (group ? ends[group - 1] : 0); }
    std::size_t listed() const { return ends.empty() ? 0 : ends.back(); }

    // Only how large the groups of some rows are; which rows they hold is left out.
    void measure(const std::vector<std::uint8_t>& codes, const std::vector<Row>& some) {
        std::uint32_t sizes[256] = {};
        for (Row row : some) ++sizes[codes[row]];
        rows.clear();
        ends.clear();
        ids.clear();
        std::uint32_t end = 0;
        for (std::int32_t code = 0; code < 256; ++code) {
            if (sizes[code] == 0) continue;
            ends.push_back(end += sizes[code]);
            ids.push_back(code);
        }
    }
    // Groups some rows (ascending) by their codes.
    void gather(const std::vector<std::uint8_t>& codes, const std::vector<Row>& some) {
        measure(codes, some);
        std::uint32_t next[256] = {};
        for (std::size_t g = 0; g < groups(); ++g) next[ids[g]] = g ? ends[g - 1] : 0;
        rows.resize(some.size());
        for (Row row : some) rows[next[codes[row]]++] = row;
    }

    // Keeps the rows that `keep` marks; groups that become empty vanish. `from` may be this.
    void assign_kept(const GroupedRows& from, const std::uint8_t* keep) {
        if (from.ends.empty() && from.missing.empty()) {
            rows.clear();
            ends.clear();
            ids.clear();
            missing.clear();
            return;
        }
        rows.resize(from.rows.size());
        ends.resize(from.ends.size());
        ids.resize(from.ends.size());
        const Row* source = from.rows.data();
        std::uint32_t count = 0, i = 0;
        std::size_t kept = 0;
        for (std::size_t g = 0; g < from.ends.size(); ++g) {
            const std::uint32_t before = count;
            for (; i < from.ends[g]; ++i) {
                rows[count] = source[i];
                count += keep[source[i]];
            }
            ends[kept] = count;
            ids[kept] = from.ids[g];
            kept += count > before;
        }
        rows.resize(count);
        ends.resize(kept);
        ids.resize(kept);
        if (&from != this) missing = from.missing;
        std::erase_if(missing, [&](Row row) { return !keep[row]; });
    }
};

// A split or a category: which values lie on the covered side.
struct Place {
    std::int32_t below = 0;  // numeric: last rank at or below the split; nominal: the category
    std::int32_t above = 0;  // numeric: first rank above it
    bool greater = false;    // numeric: `>` instead of `<=`
    std::int64_t order() const { return 2 * std::int64_t(below) + greater; }
};

// Where a candidate stands among those of its attribute: at a group, as the part up to it (0) or the rest (1).
struct Slot {
    std::size_t group, side;
};

inline double midpoint(double below, double above) {
    double middle = (below + above) / 2;
    if (std::isinf(middle)) middle = below / 2 + above / 2;
    return below <= middle && middle < above ? middle : below;
}

// The candidates of an attribute, by their slots.
class Candidates {
   public:
    // `n_rows`: rows in scope where the attribute is not missing.
    Candidates(const Attribute& attribute, const GroupedRows& grouped, std::size_t n_rows)
        : nominal(attribute.nominal), rest(attribute.rest >= 0 && n_rows > grouped.listed()), split(grouped.groups()),
          slots((grouped.groups() + 1 + 7) / 8 * 8), grouped_(grouped), unlisted_(attribute.rest) {
        if (!attribute.nominal && attribute.rest >= 0)
            split = std::size_t(std::lower_bound(grouped.ids.begin(), grouped.ids.end(), attribute.rest) - grouped.ids.begin());
    }

    const bool nominal;
    const bool rest;          // some row has the unlisted value
    std::size_t split;        // numeric: groups below the unlisted value come first
    const std::size_t slots;  // per side, a multiple of 8; not all of them are candidates

    // Whether there is a candidate, and where it splits.
    bool place_of(Slot slot, Place& place) const {
        const std::size_t g = slot.group, groups = grouped_.groups();
        if (nominal) {
            if (slot.side == 1 || g > groups || (g == groups && !rest)) return false;
            place = Place{g == groups ? unlisted_ : grouped_.ids[g], 0, false};
            return true;
        }
        if (g >= groups) return false;
        if (g < split) {
            if (g + 1 == groups && !rest) return false;
            place = Place{grouped_.ids[g], g + 1 == split && rest ? unlisted_ : grouped_.ids[g + 1], slot.side == 1};
        } else {
            if (g == split && !rest) return false;
            place = Place{g == split ? unlisted_ : grouped_.ids[g - 1], grouped_.ids[g], slot.side == 0};
        }
        return true;
    }

   private:
    const GroupedRows& grouped_;
    std::int32_t unlisted_;
};

// Visits the groups of a numeric attribute in the order in which what they hold is added up, from both ends to the value that
// is not listed: visit(group), and begin() before each end.
template <class Begin, class Visit>
void from_both_ends(const Candidates& candidates, std::size_t groups, Begin&& begin, Visit&& visit) {
    begin();
    for (std::size_t g = 0; g < candidates.split; ++g) visit(g);
    begin();
    for (std::size_t g = groups; g-- > candidates.split;) visit(g);
}

// Visits every candidate of an attribute with the sums over the rows it covers.
//   add(group, sums)   adds the rows of a group to an array of `lanes` sums
//   total              sums over all rows in scope, the missing ones left out
//   n_rows             number of those rows
//   emit(place, sums)
template <class Add, class Emit>
void visit_candidates(const Attribute& attribute, const GroupedRows& grouped, const std::vector<double>& total, std::size_t n_rows,
                      Add&& add, Emit&& emit, std::vector<double>& running, std::vector<double>& other) {
    const std::size_t lanes = total.size(), groups = grouped.groups();
    const Candidates candidates(attribute, grouped, n_rows);
    Place place;
    running.assign(lanes, 0.0);
    other = total;
    if (attribute.nominal) {
        for (std::size_t g = 0; g < groups; ++g) {
            running.assign(lanes, 0.0);
            add(g, running.data());
            for (std::size_t lane = 0; lane < lanes; ++lane) other[lane] -= running[lane];
            if (candidates.place_of(Slot{g, 0}, place)) emit(place, running);
        }
        if (candidates.place_of(Slot{groups, 0}, place)) emit(place, other);  // the value that is not listed
        return;
    }
    const auto visit = [&](std::size_t g) {
        add(g, running.data());
        if (!candidates.place_of(Slot{g, 0}, place)) return;
        emit(place, running);
        for (std::size_t lane = 0; lane < lanes; ++lane) other[lane] = total[lane] - running[lane];
        if (candidates.place_of(Slot{g, 1}, place)) emit(place, other);
    };
    from_both_ends(candidates, groups, [&] { running.assign(lanes, 0.0); }, visit);
}

}  // namespace plurule
