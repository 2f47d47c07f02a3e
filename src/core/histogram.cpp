#include "histogram.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace plurule {

namespace {

constexpr std::size_t MOST_BYTES = std::size_t(1) << 29;
constexpr std::size_t SLOTS_OF_RANGE = 256, MOST_SPARSE_RANGES = 16;  // of sparse attributes
constexpr std::size_t LABELS_OF_RANGE = 32;

}  // namespace

Histogram::Histogram(const State& state, const std::vector<std::size_t>& attributes, bool label_conditions, Threads& threads)
    : state_(state), threads_(threads), kernels_(kernels().count[int(state.number)]), versions_(state.n_labels, 0),
      sums_(threads.most()) {
    const SparseValues& sparse = state.columns.sparse;
    const std::size_t slots_of_part = std::max(SLOTS_OF_RANGE, sparse.n_slots() / MOST_SPARSE_RANGES);
    std::size_t first = 0, last = 0;  // sparse slots that wait for a range
    const auto finish_sparse = [&] {
        if (last > first) lay_out(SlotRange::Kind::sparse, first, last - first);
        first = last;
    };
    for (std::size_t a : attributes) {
        const Attribute& attribute = state.attribute(a);
        if (!attribute.sparse()) {
            if (attribute.values > 0)
                lay_out(attribute.nominal ? SlotRange::Kind::nominal : SlotRange::Kind::numeric, a,
                        std::size_t(attribute.values));
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
    for (std::size_t label = 0; label_conditions && label < state.n_labels; label += LABELS_OF_RANGE)
        lay_out(SlotRange::Kind::labels, label, 2 * std::min(LABELS_OF_RANGE, state.n_labels - label));
    is_kept_ = double(n_groups_) * double(group_bytes()) < double(MOST_BYTES);
}

void Histogram::lay_out(SlotRange::Kind kind, std::size_t first, std::size_t n_slots) {
    ranges_.push_back({kind, std::uint32_t(first), std::uint32_t(n_groups_), std::uint32_t(n_slots)});
    n_groups_ += ranges_.back().groups();
}

void Histogram::start() {
    if (!is_kept_) return;
    kept_.numbers.assign(n_groups_ * group_bytes(), 0);
    kept_.rows.assign(n_groups_ * LANES, 0);
    std::vector<std::size_t> numbers(ranges_.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    threads_.run(numbers, false, [&](std::size_t p, std::size_t thread) {
        const Counted all{ranges_[p], state_.rows, {}, true};
        count_values(all, 1, kept_);
        add_strips(all, false, sums_[thread], kept_);
    });
}

void Histogram::count(const SlotRange& range, const std::vector<Row>& rows, Cells& cells, std::size_t thread) {
    cells.first_group = range.first_group;
    cells.rows.assign(range.groups() * LANES, 0);
    cells.numbers.assign(range.groups() * group_bytes(), 0);
    const Counted some = counted(range, rows);
    count_values(some, 1, cells);
    add_strips(some, false, sums_[thread], cells);
}

// --- counting

Histogram::Counted Histogram::counted(const SlotRange& range, const std::vector<Row>& rows) const {
    Counted some{range, rows, {}, false};
    if (range.kind != SlotRange::Kind::sparse) return some;
    for (Row row : rows) {
        const auto slots = state_.columns.sparse.slots_of(row);
        const auto first = std::lower_bound(slots.begin(), slots.end(), range.first);
        some.listed.emplace_back(first, std::lower_bound(first, slots.end(), range.first + range.n_slots));
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
    const SlotRange& range = counted.range;
    if (range.kind != SlotRange::Kind::numeric || 2 * counted.rows.size() > range.groups()) {
        sum_up(counted, states, sums);
        fold(range, columns, kinds, subtract, sums, to);
        return;
    }
    sums.resize(range.groups() * LANES * CELL * kernels_.bytes);
    std::uint8_t* cells = to.numbers.data() + (range.first_group - to.first_group) * group_bytes();
    state_.with_codes(range.first, [&](const auto* codes) {
        kernels_.fold_few[code_kind(sizeof *codes)](codes, range.n_slots, counted.rows.data(), counted.rows.size(), states,
                                                    columns.label, kinds, subtract, n_columns(), sums.data(), cells);
    });
}

// What the rows contribute to each slot.
void Histogram::sum_up(const Counted& counted, const RowStates& states, std::vector<std::uint8_t>& sums) const {
    const SlotRange& range = counted.range;
    const std::size_t slots = (range.n_slots + 1 + LANES) / LANES * LANES + LANES;  // missing values have one, too
    sums.resize(slots * CELL * kernels_.bytes);
    std::memset(sums.data(), 0, sums.size());
    const auto at = [&](std::size_t slot) { return sums.data() + slot * CELL * kernels_.bytes; };
    if (range.kind == SlotRange::Kind::sparse) {
        const SparseValues& sparse = state_.columns.sparse;
        if (counted.whole)  // rows that are not in training contribute nothing
            for (std::size_t slot = 0; slot < range.n_slots; ++slot) {
                const std::span<const Row> rows = sparse.rows_of(range.first + slot);
                kernels_.sum(rows.data(), rows.size(), states, at(slot));
            }
        else
            kernels_.add_listed(counted.listed.data(), range.first, counted.rows.data(), counted.rows.size(), states,
                                sums.data());
        for (std::size_t first = range.first; first < range.first + range.n_slots;) {
            const std::size_t a = sparse.attribute_of(first), end = sparse.end_slot(a);
            if (end - first > 1) {
                const std::size_t above = sparse.first_above(a, state_.attribute(a).usual);
                kernels_.cumulate(at(first - range.first), above - first, false);
                kernels_.cumulate(at(above - range.first), end - above, true);
            }
            first = end;
        }
    } else if (range.kind == SlotRange::Kind::labels) {
        std::vector<Row> decided;
        for (std::size_t label = range.first; label < range.first + range.n_slots / 2; ++label) {
            const std::vector<std::uint8_t>& codes = state_.predicted[label];
            if (codes.empty()) continue;
            decided.clear();
            for (Row row : counted.rows)
                if (codes[row] != UNDECIDED) decided.push_back(row);
            kernels_.add[0](codes.data(), decided.data(), decided.size(), states, at(2 * (label - range.first)));
        }
    } else {
        state_.with_codes(range.first, [&](const auto* codes) {
            kernels_.add[code_kind(sizeof *codes)](codes, counted.rows.data(), counted.rows.size(), states, sums.data());
        });
        if (range.kind == SlotRange::Kind::numeric) kernels_.cumulate(sums.data(), range.n_slots, false);
    }
}

void Histogram::fold(const SlotRange& range, const Columns8& columns, int kinds, bool subtract,
                     const std::vector<std::uint8_t>& sums, Cells& to) const {
    kernels_.fold(sums.data(), range.groups(), columns.label, kinds, subtract, n_columns(),
                  to.numbers.data() + (range.first_group - to.first_group) * group_bytes());
}

// How many rows have the value of a slot; `to` begins with the first slot of the range, or of the table.
void Histogram::count_values(const Counted& counted, int change, Cells& to) const {
    const SlotRange& range = counted.range;
    std::uint32_t* counts = to.rows.data() + (range.first_group - to.first_group) * LANES;
    const std::uint32_t more = std::uint32_t(change);
    if (range.kind == SlotRange::Kind::sparse && counted.whole)
        for (std::size_t slot = 0; slot < range.n_slots; ++slot)
            for (Row row : state_.columns.sparse.rows_of(range.first + slot))
                counts[slot] += state_.byte(row, state_.n_labels) ? more : 0;
    for (const auto& slots : counted.listed)
        for (std::uint32_t slot : slots) counts[slot - range.first] += more;
    if (range.kind == SlotRange::Kind::numeric)
        state_.with_codes(range.first, [&](const auto* codes) {
            for (Row row : counted.rows)
                if (codes[row] < range.n_slots) counts[codes[row]] += more;
        });
}

// --- upkeep

void Histogram::close(const std::vector<Row>& rows, const std::vector<std::int32_t>& labels, bool alone) {
    if (kept_.numbers.empty()) return;  // nothing was counted yet, or nothing is kept
    closed_.resize(state_.n_rows * LANES);
    for (std::int32_t label : labels) ++versions_[std::size_t(label)];
    std::vector<std::size_t> numbers(ranges_.size());
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
                to[i] =
                    state_.bytes[std::size_t(row) * state_.width + std::size_t(columns.label[i])] & (OPEN_PRESENT | OPEN_ABSENT);
                some |= to[i];
            }
            if (some) changed.push_back(row);
        }
        const RowStates states{closed_.data(), LANES, state_.weights};
        threads_.run(numbers, alone, [&](std::size_t p, std::size_t thread) {
            add_strip(counted(ranges_[p], changed), states, columns, 2, true, sums_[thread], kept_);
        });
    }
}

void Histogram::decide(std::size_t label, std::uint8_t sign, const std::vector<Row>& rows) {
    if (kept_.numbers.empty()) return;  // nothing was counted yet, or nothing is kept
    for (const SlotRange& range : ranges_) {
        if (range.kind != SlotRange::Kind::labels || label < range.first || label >= range.first + range.n_slots / 2) continue;
        const std::size_t slot = 2 * (label - range.first) + sign;
        std::vector<std::uint8_t>& sums = sums_[0];
        sums.resize((range.n_slots + LANES) * CELL * kernels_.bytes);
        for (std::size_t strip = 0; strip < state_.width / LANES; ++strip) {
            if (!is_wanted(strip)) continue;
            std::memset(sums.data(), 0, sums.size());
            kernels_.sum(rows.data(), rows.size(), state_.states_of(strip), sums.data() + slot * CELL * kernels_.bytes);
            fold(range, columns_of(strip), 3, false, sums, kept_);
        }
    }
}

void Histogram::remove(const std::vector<Row>& rows, bool alone) {
    if (kept_.numbers.empty()) return;  // nothing was counted yet, or nothing is kept
    for (std::uint32_t& version : versions_) ++version;
    std::vector<std::size_t> numbers(ranges_.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    threads_.run(numbers, alone, [&](std::size_t p, std::size_t thread) {
        const Counted leaving = counted(ranges_[p], rows);
        count_values(leaving, -1, kept_);
        add_strips(leaving, true, sums_[thread], kept_);
    });
}

// --- conditions

bool Histogram::split_of(const Cells& cells, const SlotRange& range, std::size_t slot, bool other_side, std::size_t n_rows,
                         std::size_t& a, Split& split) const {
    const std::size_t i = slot - range.first_slot();
    a = range.first;
    if (range.kind == SlotRange::Kind::labels) {
        a = state_.n_attributes() + range.first + i / 2;
        split = {std::int32_t(i % 2), 0, false};
        return true;
    }
    split = {std::int32_t(i), 0, other_side};
    if (range.kind == SlotRange::Kind::nominal) return true;
    const std::size_t first = &cells == &kept_ ? range.first_slot() : 0;
    const std::uint32_t* rows = cells.rows.data() + first;
    if (range.kind == SlotRange::Kind::sparse) return sparse_split(rows, range, i, other_side, n_rows, a, split);
    if (rows[i] == 0) return false;
    std::size_t next = i + 1;
    while (next < range.n_slots && rows[next] == 0) ++next;
    split.above = std::int32_t(next);
    return next < range.n_slots;
}

// The values that some row has: those listed, and the usual one between them.
bool Histogram::sparse_split(const std::uint32_t* rows, const SlotRange& range, std::size_t slot, bool other_side,
                             std::size_t n_rows, std::size_t& a, Split& split) const {
    const SparseValues& sparse = state_.columns.sparse;
    a = sparse.attribute_of(range.first + slot);
    const Attribute& attribute = state_.attribute(a);
    if (attribute.nominal) {
        split = {other_side ? attribute.usual : sparse.value_of(range.first + slot), 0, false};
        return true;
    }
    if (rows[slot] == 0) return false;
    std::size_t listed = 0;
    std::vector<std::int32_t> values;  // that some row has, ascending
    for (std::size_t i = sparse.first_slot(a) - range.first; i < sparse.end_slot(a) - range.first; ++i) {
        listed += rows[i];
        if (rows[i] > 0) values.push_back(sparse.value_of(range.first + i));
    }
    const auto place_of = [&](std::int32_t value) { return std::lower_bound(values.begin(), values.end(), value); };
    if (listed < n_rows) values.insert(place_of(attribute.usual), attribute.usual);
    const std::int32_t value = sparse.value_of(range.first + slot);
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
