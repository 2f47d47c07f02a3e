#include "pool.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <optional>
#include <tuple>

#include "kernels.hpp"

namespace plurule {
namespace {

using Bytes = std::uint8_t __attribute__((vector_size(16)));
constexpr std::size_t BLOCK = 4 * sizeof(Bytes);           // bodies that are counted at once
constexpr std::size_t MOST_ROWS = 255;                     // so many can be counted in a byte
constexpr std::size_t MOST_BYTES = std::size_t(64) << 20;  // of rows × bodies
// Words with at least so many rows on average are faster to count word by word. Measured with 1,500 to 60,000 rows and 100 to
// 1,500 bodies on x86-64 with AVX2, where both ways take the same time at 2 (many rows and bodies) to 11 rows (few).
constexpr std::size_t ROWS_OF_WORD = 8;

template <class Visit>
void for_each_bit(std::uint64_t word, Visit&& visit) {
    for (; word; word &= word - 1) visit(std::size_t(std::countr_zero(word)));
}

template <class Visit>
void for_each_row(const Words& rows, Visit&& visit) {
    for (std::size_t word = 0; word < rows.size(); ++word)
        for_each_bit(rows[word], [&](std::size_t bit) { visit(word * 64 + bit); });
}

bool has_bit(const Words& rows, std::size_t row) { return rows[row / 64] >> row % 64 & 1; }
void set_bit(Words& rows, std::size_t row) { rows[row / 64] |= std::uint64_t(1) << row % 64; }

// The place of each label among some; the number of labels if it is not among them.
Numbers places(const Numbers& labels, std::size_t n_labels) {
    Numbers place(n_labels, std::uint32_t(n_labels));
    for (std::uint32_t i = 0; i < labels.size(); ++i) place[labels[i]] = i;
    return place;
}

std::vector<std::uint8_t> marks_of_present(const Choice& choice, std::size_t n_labels) {
    std::vector<std::uint8_t> marks(n_labels);
    for (std::size_t i = 0; i < choice.head.size(); ++i) marks[choice.head[i]] = choice.present[i];
    return marks;
}

}  // namespace

BitLines::BitLines(std::shared_ptr<const std::uint8_t> bytes, std::size_t n_lines, std::size_t n_bytes)
    : bytes_(std::move(bytes)), n_lines_(n_lines), n_bytes_(std::max<std::size_t>(n_bytes, 8)) {
    if (n_bytes >= 8) return;
    const std::shared_ptr<std::uint8_t[]> filled(new std::uint8_t[n_lines * n_bytes_ + 1]());
    for (std::size_t i = 0; i < n_lines; ++i) std::copy_n(bytes_.get() + i * n_bytes, n_bytes, filled.get() + i * n_bytes_);
    bytes_ = {filled, filled.get()};
}

std::uint64_t BitLines::load_word(const std::uint8_t* bytes) {
    std::uint64_t word;
    std::memcpy(&word, bytes, sizeof word);
    return std::endian::native == std::endian::little ? word : __builtin_bswap64(word);
}

PoolRows::PoolRows(std::size_t n_rows, const BitLines& rows, BitLines holds, BitLines present, BitLines open, BitLines predicted,
                   std::vector<double> weights)
    : n_rows_(n_rows),
      holds_(std::move(holds)),
      present_(std::move(present)),
      open_(std::move(open)),
      predicted_(std::move(predicted)),
      weights_(std::move(weights)),
      stride_((n_bodies() + BLOCK - 1) / BLOCK * BLOCK) {
    rows.visit(0, [&](std::size_t, std::uint64_t word) { rows_.push_back(word); });
    for (const std::uint64_t word : rows_) n_counted_ += std::size_t(std::popcount(word));
    const auto is_line = [&](std::size_t label, std::size_t other) {
        return std::equal(open_.line(label), open_.line(label + 1), open_.line(other));
    };
    for (std::uint32_t label = 0; label < n_labels(); ++label) {
        std::uint32_t first = 0;
        while (open_.n_lines() && first < label && (open_as_[first] != first || !is_line(label, first))) ++first;
        open_as_.push_back(first);
    }
    if (!weights_.empty()) order_rows();
}

// Orders rows by weight: those of one weight are counted together.
void PoolRows::order_rows() {
    for_each_row(rows_, [&](std::size_t row) { row_at_.push_back(std::uint32_t(row)); });
    std::ranges::stable_sort(row_at_, {}, [&](std::uint32_t row) { return weights_[row]; });
    place_of_.resize(rows_.size() * 64);
    for (std::uint32_t i = 0; i < row_at_.size(); ++i) place_of_[row_at_[i]] = i;
}

void PoolRows::Groups::clear() {
    groups.clear();
    words.clear();
    bits.clear();
}

void PoolRows::Groups::push(std::size_t word, std::uint64_t of_word) {
    words.push_back(std::uint32_t(word));
    bits.push_back(of_word);
    groups.back().end = words.size();
    groups.back().n_rows += std::size_t(std::popcount(of_word));
}

void PoolRows::group(const Words& rows, Groups& groups) const {
    groups.clear();
    if (weights_.empty()) {
        groups.groups.push_back({1.0, 0, 0, 0});
        for (std::size_t word = 0; word < rows.size(); ++word)
            if (rows[word]) groups.push(word, rows[word]);
    } else {
        Words by_weight(rows.size());
        for_each_row(rows, [&](std::size_t row) { set_bit(by_weight, place_of_[row]); });
        for_each_row(by_weight, [&](std::size_t place) {
            const std::size_t row = row_at_[place], n = groups.words.size();
            const std::uint64_t bit = std::uint64_t(1) << row % 64;
            const bool is_new = groups.groups.empty() || groups.groups.back().weight != weights_[row];
            if (is_new) groups.groups.push_back({weights_[row], n, n, 0});
            if (is_new || groups.words.back() != row / 64) return groups.push(row / 64, bit);
            groups.bits.back() |= bit;
            ++groups.groups.back().n_rows;
        });
    }
    groups.offsets.resize(groups.words.size());
    groups.masks.resize(groups.words.size());
    for (std::size_t i = 0; i < groups.words.size(); ++i) {
        groups.offsets[i] = std::uint32_t(present_.offset(groups.words[i]));
        groups.masks[i] = groups.bits[i] << present_.shift(groups.words[i]);
    }
}

void PoolRows::cover_updates(const std::vector<CoverUpdate>& updates, double* sums) const {
    const std::size_t n = n_bodies();
    std::fill_n(sums, updates.size() * 2 * n, 0.0);
    std::map<std::tuple<std::uint32_t, Numbers, std::uint32_t>, const double*>
        known;  // labels with the same open pairs share sums
    const CoverUpdate* last = nullptr;
    Words covered, all(rows_.size()), right(rows_.size());
    Groups groups;
    for (const CoverUpdate& update : updates) {
        if (!last || last->body != update.body || last->before != update.before) {
            covered = words_of(holds_, update.body);
            for (const std::uint32_t other : update.before)
                holds_.visit(other, [&](std::size_t i, std::uint64_t word) { covered[i] &= ~word; });
            last = &update;
        }
        all = covered;
        if (open_.n_lines()) open_.visit(update.label, [&](std::size_t i, std::uint64_t word) { all[i] &= word; });
        present_.visit(update.label, [&](std::size_t i, std::uint64_t word) { right[i] = all[i] & word; });
        group(right, groups);
        add(groups, sums);
        sums += n;
        const auto [same, is_new] = known.try_emplace({update.body, update.before, open_as_[update.label]}, sums);
        if (is_new) {
            group(all, groups);
            add(groups, sums);
        } else {
            std::copy_n(same->second, n, sums);
        }
        sums += n;
    }
}

void PoolRows::select(PoolSelection& selection) const {
    std::vector<double> sums;
    for (auto updates = selection.choose(1); !updates.empty(); updates = selection.choose(1)) {
        sums.resize(updates.size() * 2 * n_bodies());
        cover_updates(updates, sums.data());
        selection.update(sums.data());
    }
}

// Adds the weight of the rows that each body covers: counted word by word where words have many rows, or else row by row.
void PoolRows::add(const Groups& groups, double* sums) const {
    const bool may_expand = n_counted_ * stride_ <= MOST_BYTES;
    for (const Group& group : groups.groups) {
        const std::size_t n_words = group.end - group.begin;
        if (may_expand && group.n_rows < ROWS_OF_WORD * n_words) {
            add_by_row(groups, group, sums);
            continue;
        }
        for (std::size_t body = 0; n_words && body < n_bodies(); ++body)
            sums[body] += group.weight * double(kernels().count_bits(holds_.line(body), &groups.offsets[group.begin],
                                                                     &groups.masks[group.begin], n_words));
    }
}

void PoolRows::add_by_row(const Groups& groups, const Group& group, double* sums) const {
    std::call_once(expanded_, [&] { expand(); });
    std::vector<std::size_t> lines;
    for (std::size_t i = group.begin; i < group.end; ++i)
        for_each_bit(groups.bits[i],
                     [&](std::size_t bit) { lines.push_back(line_of_row_[groups.words[i] * 64 + bit] * stride_); });
    for (std::size_t begin = 0; begin < lines.size(); begin += MOST_ROWS) {
        const std::size_t end = std::min(begin + MOST_ROWS, lines.size());
        for (std::size_t block = 0; block < stride_; block += BLOCK) {
            Bytes counts[4] = {}, held[4];
            for (std::size_t i = begin; i < end; ++i) {
                std::memcpy(held, bodies_of_row_.data() + lines[i] + block, BLOCK);
                for (std::size_t j = 0; j < 4; ++j) counts[j] += held[j];
            }
            std::uint8_t counted[BLOCK];
            std::memcpy(counted, counts, BLOCK);
            for (std::size_t body = block; body < std::min(block + BLOCK, n_bodies()); ++body)
                sums[body] += group.weight * counted[body - block];
        }
    }
}

void PoolRows::expand() const {
    bodies_of_row_.resize(n_counted_ * stride_);
    line_of_row_.resize(rows_.size() * 64);
    std::uint32_t n = 0;
    for_each_row(rows_, [&](std::size_t row) { line_of_row_[row] = n++; });
    for (std::size_t word = 0; word < rows_.size(); ++word)
        for (std::size_t body = 0; body < n_bodies(); ++body) {
            const std::uint64_t held = BitLines::load_word(holds_.line(body) + holds_.offset(word)) >> holds_.shift(word);
            for_each_bit(held & rows_[word],
                         [&](std::size_t bit) { bodies_of_row_[line_of_row_[word * 64 + bit] * stride_ + body] = 1; });
        }
}

// --- lists of choices

// A line of bits, of the rows that count.
Words PoolRows::words_of(const BitLines& lines, std::size_t number) const {
    Words words = rows_;
    lines.visit(number, [&](std::size_t i, std::uint64_t word) { words[i] &= word; });
    return words;
}

// The weight of rows that have a label, and of those that have not.
std::pair<double, double> PoolRows::weigh(const Words& rows, std::size_t label) const {
    thread_local Groups groups;
    group(rows, groups);
    double with = 0, all = 0;
    for (const Group& one : groups.groups) {
        all += one.weight * double(one.n_rows);
        if (one.n_rows)
            with += one.weight * double(kernels().count_bits(present_.line(label), &groups.offsets[one.begin],
                                                             &groups.masks[one.begin], one.end - one.begin));
    }
    return {with, all - with};
}

// The open pairs of some labels, while choices decide them one after the other.
class PoolRows::Deciding {
   public:
    Deciding(const PoolRows& rows, const Numbers& labels) : rows_(rows), open_(rows.n_labels()), newly_(rows.rows_.size()) {
        for (const std::uint32_t label : labels)
            open_[label] = rows.open_.n_lines() ? rows.words_of(rows.open_, label) : rows.rows_;
    }
    const Words& open(std::size_t label) const { return open_[label]; }

    // The rows for which a choice decides a label; empty if the label is none of these.
    const Words& decide(const Choice& choice, std::size_t label) {
        Words& open = open_[label];
        newly_.assign(open.size(), 0);
        if (!open.empty())
            rows_.holds_.visit(choice.body, [&](std::size_t i, std::uint64_t word) { newly_[i] = open[i] & word; });
        for (std::size_t i = 0; i < open.size(); ++i) open[i] &= ~newly_[i];
        return newly_;
    }

   private:
    const PoolRows& rows_;
    std::vector<Words> open_;  // per label
    Words newly_;
};

// How many right, predicted and present labels each row has, and what the rows weigh that agree in these.
class PoolRows::RowCounts {
   public:
    RowCounts(const PoolRows& rows, const Numbers& labels)
        : rows_(rows), counts_(rows.rows_.size() * 64), is_moved_(rows.rows_.size()) {
        for (const std::uint32_t label : labels)
            for_each_row(rows.words_of(rows.present_, label), [&](std::size_t row) { ++counts_[row][2]; });
        for_each_row(rows.rows_, [&](std::size_t row) { weights_[counts_[row]] += weight(row); });
    }

    // Rows are predicted to have a label (by 1), or no longer (by -1).
    void change(const Words& rows, std::size_t label, int by) {
        const Words present = rows_.words_of(rows_.present_, label);
        for_each_row(rows, [&](std::size_t row) {
            if (!has_bit(is_moved_, row)) moved_.emplace_back(row, counts_[row]);
            set_bit(is_moved_, row);
            if (has_bit(present, row)) counts_[row][0] += std::uint32_t(by);
            counts_[row][1] += std::uint32_t(by);
        });
    }

    std::vector<std::array<double, 4>> after_stage() {
        for (const auto& [row, before] : moved_) {
            weights_[before] -= weight(row);
            weights_[counts_[row]] += weight(row);
        }
        moved_.clear();
        std::ranges::fill(is_moved_, 0);
        std::erase_if(weights_, [](const auto& entry) { return entry.second == 0; });
        std::vector<std::array<double, 4>> table;
        for (const auto& [key, sum] : weights_) table.push_back({double(key[0]), double(key[1]), double(key[2]), sum});
        return table;
    }

   private:
    using Counts = std::array<std::uint32_t, 3>;
    double weight(std::size_t row) const { return rows_.weights_.empty() ? 1.0 : rows_.weights_[row]; }

    const PoolRows& rows_;
    std::vector<Counts> counts_;  // per row
    std::map<Counts, double> weights_;
    Words is_moved_;
    std::vector<std::pair<std::size_t, Counts>> moved_;  // in this stage, with the counts before
};

PrefixCounts PoolRows::prefix_counts(const std::vector<Choice>& choices, const Numbers& labels, bool by_row) const {
    const std::size_t n = labels.size();
    PrefixCounts counts{std::vector<double>((choices.size() + 1) * n), std::vector<double>((choices.size() + 1) * n), {}, 0, {}};
    for (const std::uint32_t label : labels) counts.positives.push_back(weigh(rows_, label).first);
    for_each_row(rows_, [&](std::size_t row) { counts.weight += weights_.empty() ? 1.0 : weights_[row]; });
    const Numbers place = places(labels, n_labels());
    Deciding deciding(*this, labels);
    std::optional<RowCounts> of_rows;
    if (by_row) of_rows.emplace(*this, labels);
    double *tp = counts.tp.data(), *fp = counts.fp.data();
    const auto change = [&](std::uint32_t label, const Words& rows, int by) {
        const auto [right, wrong] = weigh(rows, label);
        tp[place[label]] += by * right;
        fp[place[label]] += by * wrong;
        if (of_rows) of_rows->change(rows, label, by);
    };
    for (const std::uint32_t label : labels)
        if (predicted_.n_lines()) change(label, words_of(predicted_, label), 1);
    if (of_rows) counts.rows.push_back(of_rows->after_stage());
    std::vector<std::uint8_t> by_default(n_labels());
    for (const Choice& choice : choices) {
        std::copy_n(tp, n, tp + n);
        std::copy_n(fp, n, fp + n);
        tp += n;
        fp += n;
        const std::vector<std::uint8_t> is_present = marks_of_present(choice, n_labels());
        if (choice.is_default) by_default = is_present;
        for (const std::uint32_t label : choice.is_default ? choice.head : choice.decided) {
            if (place[label] >= n) continue;
            if (choice.is_default) {
                if (is_present[label]) change(label, deciding.open(label), 1);
                continue;
            }
            // Until another rule takes them back, the default rule predicts its labels.
            const Words& rows = deciding.decide(choice, label);
            if (is_present[label] != by_default[label]) change(label, rows, is_present[label] ? 1 : -1);
        }
        if (of_rows) counts.rows.push_back(of_rows->after_stage());
    }
    return counts;
}

// In the order of the list: the default rule, which is the first choice, comes last.
template <class Visit>
void for_each_in_list(const std::vector<Choice>& choices, Visit&& visit) {
    for (const bool is_default : {false, true})
        for (std::size_t i = 0; i < choices.size(); ++i)
            if (choices[i].is_default == is_default) visit(i, choices[i]);
}

Decided PoolRows::decide(const std::vector<Choice>& choices) const {
    Numbers labels(n_labels());
    std::iota(labels.begin(), labels.end(), 0);
    Deciding deciding(*this, labels);
    Decided decided;
    for (const std::uint32_t label : labels)
        decided.present.push_back(predicted_.n_lines() ? words_of(predicted_, label) : Words(rows_.size()));
    for_each_in_list(choices, [&](std::size_t, const Choice& choice) {
        const std::vector<std::uint8_t> is_present = marks_of_present(choice, n_labels());
        for (const std::uint32_t label : choice.decided) {
            const Words& rows = deciding.decide(choice, label);
            for (std::size_t i = 0; is_present[label] && i < rows.size(); ++i) decided.present[label][i] |= rows[i];
        }
    });
    for (const std::uint32_t label : labels) {
        decided.decided.push_back(rows_);
        for (std::size_t i = 0; i < rows_.size(); ++i) decided.decided[label][i] &= ~deciding.open(label)[i];
    }
    return decided;
}

RuleCounts PoolRows::rule_counts(const std::vector<Choice>& choices) const {
    Numbers labels(n_labels());
    std::iota(labels.begin(), labels.end(), 0);
    Deciding deciding(*this, labels);
    RuleCounts counts{std::vector<std::vector<std::pair<double, double>>>(choices.size()), {}};
    for_each_in_list(choices, [&](std::size_t i, const Choice& choice) {
        const std::vector<std::uint8_t> is_present = marks_of_present(choice, n_labels());
        for (const std::uint32_t label : choice.decided) {
            const auto [with, without] = weigh(deciding.decide(choice, label), label);
            counts.decided[i].emplace_back(is_present[label] ? with : without, is_present[label] ? without : with);
        }
    });
    for (const std::uint32_t label : labels) {
        const auto [present, absent] = weigh(deciding.open(label), label);
        counts.undecided.emplace_back(absent, present);
    }
    return counts;
}

}  // namespace plurule
