// What a look for one more condition under a fixed head found out about the attributes, kept for the next look.
//
// The value of a candidate is a quotient, and it reaches f where numerator - f × denominator, its surplus, is not below 0.
// The surplus is a sum over the rows that are covered. When a rule gets a condition, its candidates lose rows that the rule
// loses, and these alone say how much surplus any of them can gain. So each attribute keeps the highest surplus of its
// candidates, and is looked at again only where it may reach the best value so far (lazy greedy).
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "grouped_rows.hpp"
#include "kernels.hpp"
#include "ranking.hpp"

namespace plurule {

class RefinementBounds {
   public:
    // The rule covers `rows` and is worth `value` to begin with; asked about are these attributes (ascending). `scanned`: as many rows as
    // there are, if lists are to be scanned, or 0.
    RefinementBounds(const Quotient& quotient, const FixedBlock& block, double min_coverage, const RowWords& words,
                     const std::vector<std::size_t>& attributes, const std::vector<Row>& rows, double value, std::size_t scanned)
        : quotient_(quotient), block_(block), words_(words), lowest_(value), bounds_(attributes.empty() ? 0 : attributes.back() + 1),
          n_scanned_(scanned) {
        for (std::size_t a : attributes) bounds_[a] = {0, std::numeric_limits<double>::infinity(), 0};
        bits_of_rows_ = std::max(bits_of_rows_, int(std::bit_width(rows.size())));
        for (std::uint64_t word : words.different) shares_.push_back(share_of(word));
        min_coverage_ = std::int64_t(std::ceil(std::min(min_coverage, 1e15)));
        total_ = block.present + block.absent;
        least_bottom_ = quotient.bottom_constant + quotient.bottom[2] * block.absent + quotient.bottom[3] * block.present;
        most_bottom_ = least_bottom_;
        for (Row row : rows) count(row, -1);
        bool whole = is_whole(quotient.top_constant) && is_whole(quotient.bottom_constant);
        for (int i = 0; i < 4; ++i) whole &= is_whole(quotient.top[i]) && is_whole(quotient.bottom[i]);
        // Different quotients of whole numbers up to this are at least so far apart.
        const double largest = total_ + quotient.bottom_constant + 1;
        if (whole) apart_ = 1 / (largest * largest);
    }

    // The rule, worth `value`, covers `rows` of those before (both ascending; none: there was no look before).
    void look_at(const std::vector<Row>& rows, double value, const std::vector<Row>& before) {
        for (Share& share : shares_)  // linear in f, and all that is kept was measured at some f between these two
            share.gained = std::max({0.0, -share.surplus(lowest_), -share.surplus(value)});
        for (std::size_t i = 0, kept = 0; i < before.size(); ++i)
            if (kept < rows.size() && rows[kept] == before[i])
                ++kept;
            else
                lose(before[i]);
        ++looks_;
        f_ = value;
        double sum = 0;
        for (Row row : rows) sum += std::fabs(share(row).surplus(f_));
        scale_ = double(std::int64_t(1) << (61 - bits_of_rows_)) / (sum + 1);
        scan_scale_ = double(std::int64_t(1) << 29) / (sum + 1);
        exact_.clear();
        for (Share& share : shares_) {
            exact_.push_back((std::int64_t(std::llround(share.surplus(f_) * scale_)) << bits_of_rows_) + 1);
            share.scanned = std::int32_t(std::lround(share.surplus(f_) * scan_scale_));
        }
        all_ = 0;
        for (Row row : rows) all_ += exact(row);
        if (rows.size() <= MOST_ROWS_OF_SCAN && n_scanned_) {
            scanned_.resize(n_scanned_);
            all_scanned_ = 0;
            for (Row row : rows) all_scanned_ += scanned_[row] = share(row).scanned;
        }
        rounded_ = double(rows.size() + 1) / scale_;
        const double absent = quotient_.top[2] - f_ * quotient_.bottom[2], present = quotient_.top[3] - f_ * quotient_.bottom[3];
        uncovered_ = quotient_.top_constant - f_ * quotient_.bottom_constant + absent * block_.absent + present * block_.present;
    }

    // Whether the candidates of an attribute are measured by a scan of its lists.
    bool scans(const Attribute& attribute) const { return !attribute.nominal && attribute.rest < 0 && !scanned_.empty(); }

    // Measures by the sums up to any row, not only to the ends of groups, whatever they cover: a bound as well. The lists may hold rows
    // that are not covered any more, which add nothing.
    void scan(std::size_t a, const GroupedRows& grouped, const std::vector<std::uint8_t>& covered, std::size_t n_rows) {
        const Row *begin = grouped.rows.data(), *first = begin, *last = begin + grouped.listed();
        while (first < last && !covered[*first]) ++first;
        while (first < last && !covered[last[-1]]) --last;
        if (first < last) {  // the last group is on the other side of every split
            const auto end = std::lower_bound(grouped.ends.begin(), grouped.ends.end(), std::uint32_t(last - begin));
            last = begin + (end == grouped.ends.begin() ? 0 : end[-1]);
        }
        if (first >= last) return rule_out(a);
        std::int32_t most, least, sum = all_scanned_;
        for (Row row : grouped.missing) sum -= scanned_[row];
        kernels().scan(first, std::size_t(last - first), scanned_.data(), &most, &least);
        bounds_[a] = {f_, uncovered_ + (double(std::max(most, sum - least)) + double(n_rows + 1)) / scan_scale_, gained_};
    }

    // Measures the candidates of an attribute that is kept as codes of the rows; these are those that the last look was at.
    void measure(std::size_t a, const Attribute& attribute, const std::vector<std::uint8_t>& codes, const std::vector<Row>& rows) {
        std::int64_t by_code[256], sum = 0;
        std::fill_n(by_code, attribute.values, 0);
        for (Row row : rows) by_code[codes[row]] += exact(row);
        Highest highest = highest_of(attribute.nominal, rows.size(), rows.size());
        for (std::int32_t code = 0; code < attribute.values; ++code) {
            sum = (attribute.nominal ? 0 : sum) + by_code[code];
            highest.consider(sum);
            if (!attribute.nominal) highest.consider(all_ - sum);
        }
        keep(a, highest);
    }

    // Measures the candidates of an attribute by the groups of its rows.
    void measure(std::size_t a, const Candidates& candidates, const GroupedRows& grouped, const std::vector<Row>& rows) {
        std::int64_t known = all_, sum = 0, listed = 0;
        for (Row row : grouped.missing) known -= exact(row);
        Highest highest = highest_of(candidates.nominal, rows.size(), rows.size() - grouped.missing.size());
        const auto begin = [&] { sum = 0; };
        const auto visit = [&](std::size_t g) {
            if (candidates.nominal) begin();
            for (std::size_t i = g ? grouped.ends[g - 1] : 0; i < grouped.ends[g]; ++i) sum += exact(grouped.rows[i]);
            highest.consider(sum);
            if (candidates.nominal)
                listed += sum;
            else
                highest.consider(known - sum);
        };
        from_both_ends(candidates, grouped.groups(), begin, visit);
        if (candidates.nominal && candidates.rest) highest.consider(known - listed);
        keep(a, highest);
    }
    // An attribute has no candidates.
    void rule_out(std::size_t a) { bounds_[a].surplus = NOTHING; }

    // No candidate of an attribute is worth more.
    double highest(std::size_t a) const {
        const Bound& bound = bounds_[a];
        const double surplus = bound.surplus + (gained_ - bound.gained) + 1e-12 * (total_ + 1) * (1 + std::fabs(bound.f));
        if (std::isinf(surplus)) return surplus;
        const double bottom = surplus > 0 ? least_bottom_ : most_bottom_;
        return bottom > 0 ? bound.f + surplus / bottom : std::numeric_limits<double>::infinity();
    }

    // Leaves the attributes with a candidate that may reach a value, the most promising first.
    void keep_promising(std::vector<std::size_t>& attributes, double value) const {
        std::vector<std::pair<float, std::size_t>> hopes;
        for (std::size_t a : attributes)
            if (const double most = highest(a); most >= value) hopes.emplace_back(-float(most), a);
        std::sort(hopes.begin(), hopes.end());
        attributes.resize(hopes.size());
        for (std::size_t i = 0; i < hopes.size(); ++i) attributes[i] = hopes[i].second;
    }

    // Whether all candidates of an attribute come after this one, worth `value`: none is worth more, and none has more TP.
    bool all_after(std::size_t a, const Candidate& best, double value) const {
        return apart_ > 0 && best.attribute < std::int32_t(a) && best.tp >= double(most_tp_) && highest(a) < value + apart_ / 2;
    }

   private:
    // What a row with some word adds to numerator and denominator where it is covered, more than where it is not.
    struct Share {
        double top, bottom;
        std::int32_t right;
        double gained = 0;         // by candidates, at most, where the rule that is looked at loses such a row
        std::int32_t scanned = 0;  // its surplus in few bits

        double surplus(double f) const { return top - f * bottom; }
    };
    Share share_of(std::uint64_t word) const {
        const std::int32_t right = PackedCounts::get(word, 0);
        const double wrong = PackedCounts::get(word, 1), present = PackedCounts::get(word, 2), absent = double(block_.labels) - present;
        const auto more = [&](const double* q) { return q[0] * right + q[1] * wrong - q[2] * absent - q[3] * present; };
        return {more(quotient_.top), more(quotient_.bottom), right};
    }
    const Share& share(Row row) const { return shares_[words_.of_rows[row]]; }
    std::int64_t exact(Row row) const { return exact_[words_.of_rows[row]]; }

    // The rule does not cover a row any more.
    void lose(Row row) {
        gained_ += share(row).gained;
        count(row, 1);
        if (!scanned_.empty()) scanned_[row] = 0;
    }

    // A row that candidates may cover (-1), or that none covers any more (1).
    void count(Row row, int sign) {
        const double bottom = share(row).bottom;
        least_bottom_ -= sign * std::min(0.0, bottom);
        most_bottom_ -= sign * std::max(0.0, bottom);
        most_tp_ -= sign * share(row).right;
    }

    // The highest surplus of candidates that may be: with as many rows as are asked for, but not with all.
    struct Highest {
        static constexpr std::int64_t NONE = std::numeric_limits<std::int64_t>::min();
        int bits_of_rows;
        std::int64_t least, all, found = NONE;

        void consider(std::int64_t sum) {
            const std::int64_t surplus = sum >> bits_of_rows, covered = sum & ((std::int64_t(1) << bits_of_rows) - 1);
            found = covered >= least && covered < all && surplus > found ? surplus : found;
        }
    };
    // A value that all rows have is a condition too, and where a head is counted in another way once it is fixed, a better one.
    Highest highest_of(bool nominal, std::size_t n_rows, std::size_t n_known) const {
        return {bits_of_rows_, std::max<std::int64_t>(1, min_coverage_), std::int64_t(nominal ? n_rows + (looks_ == 1) : n_known)};
    }
    void keep(std::size_t a, const Highest& highest) {
        bounds_[a] = {f_, highest.found == Highest::NONE ? NOTHING : uncovered_ + double(highest.found) / scale_ + rounded_, gained_};
    }

    static bool is_whole(double number) { return number == std::floor(number); }

    struct Bound {
        double f, surplus, gained;
    };
    Quotient quotient_;
    FixedBlock block_;
    RowWords words_;
    std::vector<Share> shares_;  // of the words that differ
    double lowest_;  // no f was lower
    std::int64_t min_coverage_ = 0;
    Buffer<Bound> bounds_;
    double total_ = 0, gained_ = 0;
    double least_bottom_ = 0, most_bottom_ = 0;  // between these are the denominators of all candidates
    std::int64_t most_tp_ = 0;
    double apart_ = 0;  // 0: different values may be arbitrarily close

    std::size_t looks_ = 0;
    // Of the rule that is looked at: what rows with a word add to the surplus, in units of 1 / scale, and behind it one row.
    std::vector<std::int64_t> exact_;
    double f_ = 0, scale_ = 1, rounded_ = 0, uncovered_ = 0;
    int bits_of_rows_ = PackedCounts::BITS;
    std::int64_t all_ = 0;
    // In fewer bits, by the number of a row, to be added up eight rows at a time; of more rows too much would be rounded away.
    static constexpr std::size_t MOST_ROWS_OF_SCAN = 1 << 14;
    std::size_t n_scanned_;
    double scan_scale_ = 1;
    std::vector<std::int32_t> scanned_;  // 0 for rows that are not covered
    std::int32_t all_scanned_ = 0;
};

}  // namespace plurule
