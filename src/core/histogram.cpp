#include "histogram.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace plurule {

namespace {

constexpr std::size_t MOST_BYTES = std::size_t(1) << 29;
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
        const Counted all{parts_[p], state_.rows, {}, true};
        count_values(all, 1, kept_);
        add_strips(all, false, sums_[thread], kept_);
    });
}

void Histogram::count(const Part& part, const std::vector<Row>& rows, Cells& cells, std::size_t thread) {
    cells.first_group = part.first_group;
    cells.rows.assign(part.groups() * LANES, 0);
    cells.numbers.assign(part.groups() * group_bytes(), 0);
    const Counted some = counted(part, rows);
    count_values(some, 1, cells);
    add_strips(some, false, sums_[thread], cells);
}

// --- counting

Histogram::Counted Histogram::counted(const Part& part, const std::vector<Row>& rows) const {
    Counted some{part, rows, {}, false};
    if (part.kind != Part::Kind::sparse) return some;
    for (Row row : rows) {
        const auto slots = state_.prepared.sparse.slots_of(row);
        const auto first = std::lower_bound(slots.begin(), slots.end(), part.first);
        some.listed.emplace_back(first, std::lower_bound(first, slots.end(), part.first + part.n_slots));
    }
    return some;
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

// Adds what rows contribute with all labels.
void Histogram::add_strips(const Counted& counted, bool subtract, std::vector<std::uint8_t>& sums, Cells& to) const {
    for (std::size_t strip = 0; strip < state_.width / LANES; ++strip) {
        if (!is_wanted(strip)) continue;
        add_strip(counted, state_.states_of(strip), columns_of(strip), 3, subtract, sums, to);
    }
}

// Adds what rows contribute with eight labels.
void Histogram::add_strip(const Counted& counted, const RowStates& states, const Columns8& columns, int kinds, bool subtract,
                          std::vector<std::uint8_t>& sums, Cells& to) const {
    const Part& part = counted.part;
    if (part.kind != Part::Kind::numeric || 2 * counted.rows.size() > part.groups()) {
        sum_up(counted, states, sums);
        fold(part, columns, kinds, subtract, sums, to);
        return;
    }
    sums.resize(part.groups() * LANES * CELL * kernels_.bytes);
    std::uint8_t* cells = to.numbers.data() + (part.first_group - to.first_group) * group_bytes();
    state_.with_codes(part.first, [&](const auto* codes) {
        kernels_.fold_few[code_kind(sizeof *codes)](codes, part.n_slots, counted.rows.data(), counted.rows.size(), states, columns.label, kinds, subtract,
                                                    n_columns(), sums.data(), cells);
    });
}

// What the rows contribute to each slot.
void Histogram::sum_up(const Counted& counted, const RowStates& states, std::vector<std::uint8_t>& sums) const {
    const Part& part = counted.part;
    const std::size_t slots = (part.n_slots + 1 + LANES) / LANES * LANES + LANES;  // missing values have one, too
    sums.resize(slots * CELL * kernels_.bytes);
    std::memset(sums.data(), 0, sums.size());
    const auto at = [&](std::size_t slot) { return sums.data() + slot * CELL * kernels_.bytes; };
    if (part.kind == Part::Kind::sparse) {
        const SparseValues& sparse = state_.prepared.sparse;
        if (counted.whole)  // rows that are not in training contribute nothing
            for (std::size_t slot = 0; slot < part.n_slots; ++slot) {
                const std::span<const Row> rows = sparse.rows_of(part.first + slot);
                kernels_.sum(rows.data(), rows.size(), states, at(slot));
            }
        else
            kernels_.add_listed(counted.listed.data(), part.first, counted.rows.data(), counted.rows.size(), states, sums.data());
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
            for (Row row : counted.rows)
                if (codes[row] != UNDECIDED) decided.push_back(row);
            kernels_.add[0](codes.data(), decided.data(), decided.size(), states, at(2 * (label - part.first)));
        }
    } else {
        state_.with_codes(part.first, [&](const auto* codes) {
            kernels_.add[code_kind(sizeof *codes)](codes, counted.rows.data(), counted.rows.size(), states, sums.data());
        });
        if (part.kind == Part::Kind::numeric) kernels_.cumulate(sums.data(), part.n_slots, false);
    }
}

void Histogram::fold(const Part& part, const Columns8& columns, int kinds, bool subtract, const std::vector<std::uint8_t>& sums, Cells& to) const {
    kernels_.fold(sums.data(), part.groups(), columns.label, kinds, subtract, n_columns(),
                  to.numbers.data() + (part.first_group - to.first_group) * group_bytes());
}

// How many rows have the value of a slot; `to` begins with the first slot of the part, or of the table.
void Histogram::count_values(const Counted& counted, int change, Cells& to) const {
    const Part& part = counted.part;
    std::uint32_t* counts = to.rows.data() + (part.first_group - to.first_group) * LANES;
    const std::uint32_t more = std::uint32_t(change);
    if (part.kind == Part::Kind::sparse && counted.whole)
        for (std::size_t slot = 0; slot < part.n_slots; ++slot)
            for (Row row : state_.prepared.sparse.rows_of(part.first + slot)) counts[slot] += state_.byte(row, state_.n_labels) ? more : 0;
    for (const auto& slots : counted.listed)
        for (std::uint32_t slot : slots) counts[slot - part.first] += more;
    if (part.kind == Part::Kind::numeric)
        state_.with_codes(part.first, [&](const auto* codes) {
            for (Row row : counted.rows)
                if (codes[row] < part.n_slots) counts[codes[row]] += more;
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
        const RowStates states{closed_.data(), LANES, state_.weights};
        threads_.run(numbers, alone, [&](std::size_t p, std::size_t thread) {
            add_strip(counted(parts_[p], changed), states, columns, 2, true, sums_[thread], kept_);
        });
    }
}

void Histogram::decide(std::size_t label, std::uint8_t sign, const std::vector<Row>& rows) {
    if (kept_.numbers.empty()) return;  // nothing was counted yet, or nothing is kept
    for (const Part& part : parts_) {
        if (part.kind != Part::Kind::labels || label < part.first || label >= part.first + part.n_slots / 2) continue;
        const std::size_t slot = 2 * (label - part.first) + sign;
        std::vector<std::uint8_t>& sums = sums_[0];
        sums.resize((part.n_slots + LANES) * CELL * kernels_.bytes);
        for (std::size_t strip = 0; strip < state_.width / LANES; ++strip) {
            if (!is_wanted(strip)) continue;
            std::memset(sums.data(), 0, sums.size());
            kernels_.sum(rows.data(), rows.size(), state_.states_of(strip), sums.data() + slot * CELL * kernels_.bytes);
            fold(part, columns_of(strip), 3, false, sums, kept_);
        }
    }
}

void Histogram::remove(const std::vector<Row>& rows, bool alone) {
    if (kept_.numbers.empty()) return;  // nothing was counted yet, or nothing is kept
    for (std::uint32_t& version : versions_) ++version;
    std::vector<std::size_t> numbers(parts_.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    threads_.run(numbers, alone, [&](std::size_t p, std::size_t thread) {
        const Counted leaving = counted(parts_[p], rows);
        count_values(leaving, -1, kept_);
        add_strips(leaving, true, sums_[thread], kept_);
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
    std::size_t listed = 0;
    std::vector<std::int32_t> values;  // that some row has, ascending
    for (std::size_t i = sparse.first_slot(a) - part.first; i < sparse.end_slot(a) - part.first; ++i) {
        listed += rows[i];
        if (rows[i] > 0) values.push_back(sparse.value_of(part.first + i));
    }
    const auto place_of = [&](std::int32_t value) { return std::lower_bound(values.begin(), values.end(), value); };
    if (listed < n_rows) values.insert(place_of(attribute.usual), attribute.usual);
    const std::int32_t value = sparse.value_of(part.first + slot);
    const auto own = place_of(value);
    if (value < attribute.usual) {
        if (own + 1 == values.end()) return false;
        split = {value, own[1], other_side};
    } else {
        if (own == values.begin()) return false;
        split = {own[-1], value, !other_side};
    }
    return true;
}

}  // namespace plurule
