#include "histogram.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace plurule {

namespace {

constexpr std::size_t MOST_BYTES = std::size_t(1) << 28;
constexpr std::size_t SLOTS_OF_PART = 256, MOST_SPARSE_PARTS = 16;  // of sparse attributes
constexpr std::size_t LABELS_OF_PART = 32;

}  // namespace

Histogram::Histogram(const State& state, const std::vector<std::size_t>& attributes, bool label_conditions, Threads& threads)
    : state_(state), threads_(threads), kernels_(kernels().count[int(state.number)]), versions_(state.n_labels, 0),
      sums_(threads.most()) {
    const SparseValues& sparse = state.prepared.sparse;
    const std::size_t slots_of_part = std::max(SLOTS_OF_PART, sparse.n_slots() / MOST_SPARSE_PARTS);
    std::size_t first = 0, last = 0;  // sparse slots that wait for a part
    const auto finish_sparse = [&] {
        if (last > first) lay_out(Part::Kind::sparse, first, last - first);
        first = last;
    };
    for (std::size_t a : attributes) {
        const Attribute& attribute = state.attribute(a);
        if (!attribute.sparse()) {
            if (attribute.values > 0) lay_out(attribute.nominal ? Part::Kind::nominal : Part::Kind::numeric, a, std::size_t(attribute.values));
            continue;
        }
        if (last != sparse.first_slot(a)) {  // attributes between them are not asked for
            finish_sparse();
            first = sparse.first_slot(a);
        }
        last = sparse.end_slot(a);
        if (last - first >= slots_of_part) finish_sparse();
    }
    finish_sparse();
    for (std::size_t label = 0; label_conditions && label < state.n_labels; label += LABELS_OF_PART)
        lay_out(Part::Kind::labels, label, 2 * std::min(LABELS_OF_PART, state.n_labels - label));
    is_kept_ = double(n_groups_) * double(group_bytes()) < double(MOST_BYTES);
}

void Histogram::lay_out(Part::Kind kind, std::size_t first, std::size_t n_slots) {
    parts_.push_back({kind, std::uint32_t(first), std::uint32_t(n_groups_), std::uint32_t(n_slots)});
    n_groups_ += parts_.back().groups();
}

void Histogram::start() {
    if (!is_kept_) return;
    kept_.numbers.assign(n_groups_ * group_bytes(), 0);
    kept_.rows.assign(n_groups_ * LANES, 0);
    std::vector<std::size_t> numbers(parts_.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    threads_.run(numbers, false, [&](std::size_t p, std::size_t thread) {
        const Piece piece{parts_[p], 0, parts_[p].n_slots, state_.rows, {}, true};
        count_values(piece, 1, kept_);
        add_strips(piece, false, nullptr, sums_[thread], kept_);
    });
}

// --- counting

Histogram::Piece Histogram::piece_of(const Part& part, const std::vector<Row>& rows) const {
    Piece piece{part, 0, part.n_slots, rows, {}, false};
    if (part.kind != Part::Kind::sparse) return piece;
    for (Row row : rows) {
        const auto slots = state_.prepared.sparse.slots_of(row);
        const auto first = std::lower_bound(slots.begin(), slots.end(), part.first);
        piece.listed.emplace_back(first, std::lower_bound(first, slots.end(), part.first + part.n_slots));
    }
    return piece;
}

// Eight labels, and behind the last one the coverage.
Histogram::Columns8 Histogram::columns_of(std::size_t strip) const {
    Columns8 columns;
    for (std::size_t i = 0; i < LANES; ++i) {
        const std::size_t column = strip * LANES + i;
        const bool wanted = column == state_.n_labels || (column < state_.n_labels && state_.is_searched(column));
        columns.label[i] = wanted ? std::int32_t(column) : NO_LABEL;
    }
    return columns;
}

bool Histogram::is_wanted(std::size_t strip) const {
    const Columns8 columns = columns_of(strip);
    return std::any_of(columns.label, columns.label + LANES, [](std::int32_t label) { return label != NO_LABEL; });
}

// Adds what rows contribute with all labels. `carry`: what the slots before the piece sum to, and then those up to its end.
void Histogram::add_strips(const Piece& piece, bool subtract, std::vector<std::uint8_t>* carry, Buffer<std::uint8_t>& sums, Cells& to) const {
    const std::size_t bytes = CELL * kernels_.bytes;
    for (std::size_t strip = 0; strip < state_.width / LANES; ++strip) {
        if (!is_wanted(strip)) continue;
        sum_up(piece, state_.states_of(strip), sums);
        if (carry) {  // as if it were a slot before the first
            std::memmove(sums.data() + bytes, sums.data(), sums.size() - bytes);
            std::memcpy(sums.data(), carry->data() + strip * bytes, bytes);
            kernels_.cumulate(sums.data(), piece.last - piece.first + 1, false);
            std::memmove(sums.data(), sums.data() + bytes, sums.size() - bytes);
            std::memcpy(carry->data() + strip * bytes, sums.data() + (piece.last - piece.first - 1) * bytes, bytes);
        } else if (piece.part.kind == Part::Kind::numeric) {
            kernels_.cumulate(sums.data(), piece.last - piece.first, false);
        }
        fold(piece, columns_of(strip), 3, subtract, sums, to);
    }
}

// What the rows contribute to each slot; cumulated only where a part holds several sparse attributes.
void Histogram::sum_up(const Piece& piece, const RowStates& states, Buffer<std::uint8_t>& sums) const {
    const Part& part = piece.part;
    const std::size_t slots = (piece.last - piece.first + 1 + LANES) / LANES * LANES + LANES;  // missing values have one, too
    sums.resize(slots * CELL * kernels_.bytes);
    std::memset(sums.data(), 0, sums.size());
    const auto at = [&](std::size_t slot) { return sums.data() + slot * CELL * kernels_.bytes; };
    if (part.kind == Part::Kind::sparse) {
        const SparseValues& sparse = state_.prepared.sparse;
        if (piece.whole)  // rows that are not in training contribute nothing
            for (std::size_t slot = 0; slot < part.n_slots; ++slot) {
                const std::span<const Row> rows = sparse.rows_of(part.first + slot);
                kernels_.sum(rows.data(), rows.size(), states, at(slot));
            }
        else
            kernels_.add_listed(piece.listed.data(), part.first, piece.rows.data(), piece.rows.size(), states, sums.data());
        for (std::size_t first = part.first; first < part.first + part.n_slots;) {
            const std::size_t a = sparse.attribute_of(first), end = sparse.end_slot(a);
            if (end - first > 1) {
                const std::size_t above = sparse.first_above(a, state_.attribute(a).usual);
                kernels_.cumulate(at(first - part.first), above - first, false);
                kernels_.cumulate(at(above - part.first), end - above, true);
            }
            first = end;
        }
    } else if (part.kind == Part::Kind::labels) {
        std::vector<Row> decided;
        for (std::size_t label = part.first; label < part.first + part.n_slots / 2; ++label) {
            const std::vector<std::uint8_t>& codes = state_.predicted[label];
            if (codes.empty()) continue;
            decided.clear();
            for (Row row : piece.rows)
                if (codes[row] != UNDECIDED) decided.push_back(row);
            kernels_.add[0](codes.data(), 0, decided.data(), decided.size(), states, at(2 * (label - part.first)));
        }
    } else {
        state_.with_codes(part.first, [&](const auto* codes) {
            kernels_.add[code_kind(sizeof *codes)](codes, std::uint32_t(piece.first), piece.rows.data(), piece.rows.size(), states, sums.data());
        });
    }
}

void Histogram::fold(const Piece& piece, const Columns8& columns, int kinds, bool subtract, const Buffer<std::uint8_t>& sums, Cells& to) const {
    const std::size_t group = piece.part.first_group + piece.first / LANES;
    kernels_.fold(sums.data(), (piece.last - piece.first + LANES - 1) / LANES, columns.label, kinds, subtract, n_columns(),
                  to.numbers.data() + (group - to.first_group) * group_bytes());
}

// How many rows have the value of a slot; `to` begins with the first slot of the part, or of the table.
void Histogram::count_values(const Piece& piece, int change, Cells& to) const {
    const Part& part = piece.part;
    std::uint32_t* counts = to.rows.data() + (part.first_group - to.first_group) * LANES;
    const std::uint32_t more = std::uint32_t(change);
    if (part.kind == Part::Kind::sparse && piece.whole)
        for (std::size_t slot = 0; slot < part.n_slots; ++slot)
            for (Row row : state_.prepared.sparse.rows_of(part.first + slot)) counts[slot] += state_.byte(row, state_.n_labels) ? more : 0;
    for (const auto& slots : piece.listed)
        for (std::uint32_t slot : slots) counts[slot - part.first] += more;
    if (part.kind == Part::Kind::numeric)
        state_.with_codes(part.first, [&](const auto* codes) {
            for (Row row : piece.rows)
                if (codes[row] < part.n_slots) counts[codes[row]] += more;
        });
}

// Rows that have a value in the order of values; `ends`: behind the last row of each.
std::size_t Histogram::sort_rows(const Part& part, const std::vector<Row>& rows, std::vector<Row>& sorted, std::vector<std::uint32_t>& ends) const {
    return state_.with_codes(part.first, [&](const auto* codes) {
        ends.assign(part.n_slots + 1, 0);
        for (Row row : rows) ++ends[codes[row]];
        std::uint32_t sum = 0;
        for (std::uint32_t& end : ends) sum += std::exchange(end, sum);
        sorted.resize(rows.size());
        for (Row row : rows) sorted[ends[codes[row]]++] = row;
        return rows.size();
    });
}

// --- upkeep

void Histogram::close(const std::vector<Row>& rows, const std::vector<std::int32_t>& labels, bool alone) {
    if (kept_.numbers.empty()) return;  // nothing was counted yet, or nothing is kept
    closed_.resize(state_.n_rows * LANES);
    for (std::int32_t label : labels) ++versions_[std::size_t(label)];
    std::vector<std::size_t> numbers(parts_.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    for (std::size_t first = 0; first < labels.size(); first += LANES) {
        Columns8 columns;
        std::fill_n(columns.label, LANES, NO_LABEL);
        const std::size_t count = std::min(LANES, labels.size() - first);
        std::copy_n(labels.begin() + std::ptrdiff_t(first), count, columns.label);
        std::vector<Row> changed;
        for (Row row : rows) {
            std::uint8_t *to = closed_.data() + std::size_t(row) * LANES, some = 0;
            std::fill_n(to, LANES, std::uint8_t(0));
            for (std::size_t i = 0; i < count; ++i) {
                to[i] = state_.bytes[std::size_t(row) * state_.width + std::size_t(columns.label[i])] & (OPEN_PRESENT | OPEN_ABSENT);
                some |= to[i];
            }
            if (some) changed.push_back(row);
        }
        const RowStates states{closed_.data(), LANES, state_.weights_as_numbers()};
        threads_.run(numbers, alone, [&](std::size_t p, std::size_t thread) {
            const Piece piece = piece_of(parts_[p], changed);
            sum_up(piece, states, sums_[thread]);
            if (piece.part.kind == Part::Kind::numeric) kernels_.cumulate(sums_[thread].data(), piece.last, false);
            fold(piece, columns, 2, true, sums_[thread], kept_);
        });
    }
}

void Histogram::decide(std::size_t label, std::uint8_t sign, const std::vector<Row>& rows) {
    if (kept_.numbers.empty()) return;  // nothing was counted yet, or nothing is kept
    for (const Part& part : parts_) {
        if (part.kind != Part::Kind::labels || label < part.first || label >= part.first + part.n_slots / 2) continue;
        const std::size_t slot = 2 * (label - part.first) + sign;
        Buffer<std::uint8_t>& sums = sums_[0];
        sums.resize((part.n_slots + LANES) * CELL * kernels_.bytes);
        for (std::size_t strip = 0; strip < state_.width / LANES; ++strip) {
            if (!is_wanted(strip)) continue;
            std::memset(sums.data(), 0, sums.size());
            kernels_.sum(rows.data(), rows.size(), state_.states_of(strip), sums.data() + slot * CELL * kernels_.bytes);
            fold(Piece{part, 0, part.n_slots, rows, {}, false}, columns_of(strip), 3, false, sums, kept_);
        }
    }
}

void Histogram::remove(const std::vector<Row>& rows, bool alone) {
    if (kept_.numbers.empty()) return;  // nothing was counted yet, or nothing is kept
    for (std::uint32_t& version : versions_) ++version;
    std::vector<std::size_t> numbers(parts_.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    threads_.run(numbers, alone, [&](std::size_t p, std::size_t thread) {
        const Piece piece = piece_of(parts_[p], rows);
        count_values(piece, -1, kept_);
        add_strips(piece, true, nullptr, sums_[thread], kept_);
    });
}

// --- conditions

bool Histogram::split_of(const Cells& cells, const Part& part, std::size_t slot, bool other_side, std::size_t n_rows, std::size_t& a, Split& split) const {
    const std::size_t i = slot - part.first_slot();
    a = part.first;
    if (part.kind == Part::Kind::labels) {
        a = state_.n_attributes() + part.first + i / 2;
        split = {std::int32_t(i % 2), 0, false};
        return true;
    }
    split = {std::int32_t(i), 0, other_side};
    if (part.kind == Part::Kind::nominal) return true;
    // `rows` of a part that is counted in pieces are all there.
    const std::size_t first = &cells == &kept_ ? part.first_slot() : 0;
    const std::uint32_t* rows = cells.rows.data() + first;
    if (part.kind == Part::Kind::sparse) return sparse_split(rows, part, i, other_side, n_rows, a, split);
    if (rows[i] == 0) return false;
    std::size_t next = i + 1;
    while (next < part.n_slots && rows[next] == 0) ++next;
    split.above = std::int32_t(next);
    return next < part.n_slots;
}

// The values that some row has: those listed, and the usual one between them.
bool Histogram::sparse_split(const std::uint32_t* rows, const Part& part, std::size_t slot, bool other_side, std::size_t n_rows, std::size_t& a,
                             Split& split) const {
    const SparseValues& sparse = state_.prepared.sparse;
    a = sparse.attribute_of(part.first + slot);
    const Attribute& attribute = state_.attribute(a);
    if (attribute.nominal) {
        split = {other_side ? attribute.usual : sparse.value_of(part.first + slot), 0, false};
        return true;
    }
    if (rows[slot] == 0) return false;
    const std::size_t first = sparse.first_slot(a) - part.first, end = sparse.end_slot(a) - part.first;
    const std::size_t above = sparse.first_above(a, attribute.usual) - part.first;
    std::size_t listed = 0;
    for (std::size_t i = first; i < end; ++i) listed += rows[i];
    const auto value = [&](std::size_t i) { return sparse.value_of(part.first + i); };
    const bool usual = listed < n_rows;
    if (slot < above) {
        split = {value(slot), 0, other_side};
        std::size_t next = slot + 1;
        while (next < end && rows[next] == 0 && !(usual && next == above)) ++next;
        if (usual && next >= above) {
            split.above = attribute.usual;
            return true;
        }
        if (next == end) return false;
        split.above = value(next);
        return true;
    }
    split = {0, value(slot), !other_side};
    std::size_t before = slot;
    while (before > first && !(usual && before == above) && rows[before - 1] == 0) --before;
    if (usual && before <= above) {
        split.below = attribute.usual;
        return true;
    }
    if (before == first) return false;
    split.below = value(before - 1);
    return true;
}

}  // namespace plurule
