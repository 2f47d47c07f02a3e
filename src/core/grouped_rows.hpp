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

namespace plurule {

using Row = std::uint32_t;

struct Attribute {
    bool nominal = false;
    std::int32_t values = 0;                // number of distinct values (ranks or categories)
    std::int32_t rest = -1;                 // the value that is not listed, or -1
    std::vector<double> lowest, highest;    // numeric: the ends of each rank
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

    // Keeps the rows that `keep` marks; groups that become empty vanish.
    void assign_kept(const GroupedRows& from, const std::uint8_t* keep) {
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
        missing.clear();
        for (Row row : from.missing)
            if (keep[row]) missing.push_back(row);
    }
};

// A split or a category: which values lie on the covered side.
struct Place {
    std::int32_t below = 0;  // numeric: last rank at or below the split; nominal: the category
    std::int32_t above = 0;  // numeric: first rank above it
    bool greater = false;    // numeric: `>` instead of `<=`
    std::int64_t order() const { return 2 * std::int64_t(below) + greater; }
};

inline double midpoint(double below, double above) {
    double middle = (below + above) / 2;
    if (std::isinf(middle)) middle = below / 2 + above / 2;
    return below <= middle && middle < above ? middle : below;
}

// Visits every candidate of an attribute with the sums over the rows it covers.
//   add(rows, count, sums)      adds rows to an array of `lanes` sums
//   total                       sums over all rows in scope, the missing ones left out
//   n_rows                      number of those rows
//   wanted                      per group: 1 the part up to (or from) the group, 2 the rest; null: all
//   emit(place, sums, n_rows)
template <class T, class Add, class Emit>
void visit_candidates(const Attribute& attribute, const GroupedRows& grouped, const std::vector<T>& total,
                      std::size_t n_rows, const std::uint8_t* wanted, Add&& add, Emit&& emit, std::vector<T>& running,
                      std::vector<T>& other) {
    const std::size_t lanes = total.size();
    running.assign(lanes, T(0));
    other.resize(lanes);
    const std::size_t listed = grouped.rows.size();
    const bool rest_is_there = attribute.rest >= 0 && n_rows > listed;
    const auto complement = [&] {
        for (std::size_t lane = 0; lane < lanes; ++lane) other[lane] = total[lane] - running[lane];
    };
    const auto begin_of = [&](std::size_t g) { return g ? grouped.ends[g - 1] : 0u; };
    if (attribute.nominal) {
        std::vector<T>& sum = running;
        std::vector<T> left;
        if (rest_is_there) left = total;
        // Categories in their order, the unlisted one at its place: its sums need all others first.
        for (std::size_t g = 0; g < grouped.groups(); ++g) {
            sum.assign(lanes, T(0));
            add(grouped.rows.data() + begin_of(g), grouped.ends[g] - begin_of(g), sum.data());
            if (rest_is_there)
                for (std::size_t lane = 0; lane < lanes; ++lane) left[lane] -= sum[lane];
            if (!wanted || wanted[g]) emit(Place{grouped.ids[g], 0, false}, sum, grouped.ends[g] - begin_of(g));
        }
        if (rest_is_there && (!wanted || wanted[grouped.groups()]))
            emit(Place{attribute.rest, 0, false}, left, n_rows - listed);
        return;
    }
    std::size_t split = grouped.groups();  // groups below the unlisted value come first
    if (attribute.rest >= 0)
        split = std::size_t(std::lower_bound(grouped.ids.begin(), grouped.ids.end(), attribute.rest) - grouped.ids.begin());
    std::size_t covered = 0;
    for (std::size_t g = 0; g < split; ++g) {
        add(grouped.rows.data() + begin_of(g), grouped.ends[g] - begin_of(g), running.data());
        covered += grouped.ends[g] - begin_of(g);
        if (covered == n_rows) break;
        const std::uint8_t flag = wanted ? wanted[g] : 3;
        if (!flag) continue;
        const bool next_is_rest = g + 1 == split && rest_is_there;
        const std::int32_t above = next_is_rest ? attribute.rest : grouped.ids[g + 1];
        if (flag & 1) emit(Place{grouped.ids[g], above, false}, running, covered);
        if (flag & 2) {
            complement();
            emit(Place{grouped.ids[g], above, true}, other, n_rows - covered);
        }
    }
    running.assign(lanes, T(0));
    covered = 0;
    for (std::size_t g = grouped.groups(); g-- > split;) {
        add(grouped.rows.data() + begin_of(g), grouped.ends[g] - begin_of(g), running.data());
        covered += grouped.ends[g] - begin_of(g);
        if (g == split && !rest_is_there) break;  // the split below it was visited from below, or nothing is there
        const std::uint8_t flag = wanted ? wanted[g] : 3;
        if (!flag) continue;
        const std::int32_t below = g == split ? attribute.rest : grouped.ids[g - 1];
        if (flag & 1) emit(Place{below, grouped.ids[g], true}, running, covered);
        if (flag & 2) {
            complement();
            emit(Place{below, grouped.ids[g], false}, other, n_rows - covered);
        }
    }
}

struct Entry {
    double value;
    Row row;
};

// Groups the rows of a numeric column by its values, binned where there are more than `max_bins` (0: never).
// The rows that are not among the entries, nor missing, hold 0; weights (or null) only matter for bins.
inline void group_numeric(std::size_t n_rows, std::vector<Entry>& entries, std::int32_t max_bins, const double* weights,
                          Attribute& attribute, GroupedRows& grouped) {
    const std::size_t zeros = n_rows - entries.size() - grouped.missing.size();
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return a.value < b.value || (a.value == b.value && a.row < b.row);
    });
    const auto weight = [&](Row row) { return weights ? weights[row] : 1.0; };
    double total = 0, held_by_zero = double(zeros);
    if (weights) {
        for (Row row = 0; row < n_rows; ++row) total += weights[row];
        for (Row row : grouped.missing) total -= weights[row];
        held_by_zero = total;
        for (const auto& entry : entries) held_by_zero -= weights[entry.row];
    } else {
        total = double(n_rows - grouped.missing.size());
    }
    std::size_t distinct = zeros > 0;
    for (std::size_t i = 0; i < entries.size(); ++i) distinct += i == 0 || entries[i].value != entries[i - 1].value;
    const bool binned = max_bins > 0 && distinct > std::size_t(max_bins);

    double before = 0, bin = -1;
    std::int32_t rank = -1;
    const auto enter = [&](double value) {  // the next distinct value: the same rank as the one before, or a new one
        const double next_bin = binned ? std::floor(before * max_bins / total) : bin + 1;
        if (next_bin != bin) {
            ++rank;
            attribute.lowest.push_back(value);
            attribute.highest.push_back(value);
        }
        bin = next_bin;
        attribute.highest.back() = value;
    };
    const auto enter_zeros = [&] {
        enter(0.0);
        attribute.rest = rank;
        before += held_by_zero;
    };
    bool zeros_entered = zeros == 0;
    std::vector<std::int32_t> rank_of_entry(entries.size());
    for (std::size_t i = 0; i < entries.size();) {
        if (!zeros_entered && entries[i].value > 0) {
            enter_zeros();
            zeros_entered = true;
        }
        enter(entries[i].value);
        std::size_t end = i;
        for (; end < entries.size() && entries[end].value == entries[i].value; ++end) {
            rank_of_entry[end] = rank;
            before += weight(entries[end].row);
        }
        i = end;
    }
    if (!zeros_entered) enter_zeros();
    attribute.values = rank + 1;
    grouped.rows.reserve(entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (rank_of_entry[i] == attribute.rest) continue;
        if (grouped.ids.empty() || grouped.ids.back() != rank_of_entry[i]) {
            grouped.ids.push_back(rank_of_entry[i]);
            grouped.ends.push_back(0);
        }
        grouped.rows.push_back(entries[i].row);
        grouped.ends.back() = std::uint32_t(grouped.rows.size());
    }
    if (binned)
        for (std::size_t g = 0; g < grouped.groups(); ++g)
            std::sort(grouped.rows.begin() + (g ? grouped.ends[g - 1] : 0), grouped.rows.begin() + grouped.ends[g]);
}

// Groups the rows of a nominal column; code -1 for missing.
template <class CodeAt>
void group_nominal(std::size_t n_rows, CodeAt&& code_at, std::int32_t categories, Attribute& attribute,
                   GroupedRows& grouped) {
    attribute.nominal = true;
    attribute.values = categories;
    std::vector<std::uint32_t> count(std::size_t(categories) + 1, 0);
    for (Row row = 0; row < n_rows; ++row) {
        const std::int32_t code = code_at(row);
        if (code < -1 || code >= categories) throw std::invalid_argument("a category code is out of range");
        if (code < 0)
            grouped.missing.push_back(row);
        else
            ++count[std::size_t(code) + 1];
    }
    for (std::size_t c = 1; c < count.size(); ++c) count[c] += count[c - 1];
    std::vector<std::uint32_t> next(count.begin(), count.end() - 1);
    grouped.rows.resize(count.back());
    for (Row row = 0; row < n_rows; ++row)
        if (const std::int32_t code = code_at(row); code >= 0) grouped.rows[next[std::size_t(code)]++] = row;
    for (std::int32_t c = 0; c < categories; ++c)
        if (count[std::size_t(c) + 1] > count[std::size_t(c)]) {
            grouped.ids.push_back(c);
            grouped.ends.push_back(count[std::size_t(c) + 1]);
        }
}

// Leaves the rows of the most frequent value unlisted where that is a good part of all rows.
inline void unlist_most_frequent(std::size_t n_rows, Attribute& attribute, GroupedRows& grouped) {
    std::size_t best = 0, most = 0;
    for (std::size_t g = 0; g < grouped.groups(); ++g) {
        const std::size_t size = grouped.ends[g] - (g ? grouped.ends[g - 1] : 0);
        if (size > most) {
            most = size;
            best = g;
        }
    }
    if (attribute.rest >= 0 || most * 4 < n_rows || most == 0) return;
    attribute.rest = grouped.ids[best];
    const std::size_t begin = best ? grouped.ends[best - 1] : 0;
    grouped.rows.erase(grouped.rows.begin() + std::ptrdiff_t(begin), grouped.rows.begin() + grouped.ends[best]);
    grouped.rows.shrink_to_fit();
    grouped.ids.erase(grouped.ids.begin() + std::ptrdiff_t(best));
    grouped.ends.erase(grouped.ends.begin() + std::ptrdiff_t(best));
    for (std::size_t g = best; g < grouped.groups(); ++g) grouped.ends[g] -= std::uint32_t(most);
}

}  // namespace plurule
