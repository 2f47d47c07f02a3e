#include "count_table.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "counting.hpp"

namespace plurule {

namespace {

constexpr float UNLIMITED = std::numeric_limits<float>::infinity();
constexpr std::size_t SLOTS_OF_BLOCK = 64;  // of attributes with few slots
constexpr std::size_t MOST_BYTES = std::size_t(3) << 28;
constexpr std::size_t FEW_LABELS = 16;    // are put in order, eight candidates at once
constexpr std::size_t FIRST_LOOKS = 8;    // at candidates that were good for the last rule
constexpr std::uint32_t NOWHERE = ~std::uint32_t(0);

// Never below the number itself, whatever was rounded on the way.
float up(double value) { return std::isfinite(value) ? float(value + 1e-6 * std::fabs(value) + 1e-30) : float(value); }
// A bound that reaches this, or nearly, reaches the floor.
float least_for(double floor) { return std::isfinite(floor) ? float(floor - 1e-6 * std::fabs(floor)) : float(floor); }

std::uint64_t word_of(bool present) { return present ? std::uint64_t(1) : std::uint64_t(1) << 32; }

}  // namespace

// --- blocks

const Block::Part& Block::part_of(std::size_t slot) const {
    const auto after = std::upper_bound(parts.begin(), parts.end(), slot, [](std::size_t s, const Part& part) { return s < part.first; });
    return *(after - 1);
}

// Any head may be the best of the candidates at some slots, and what is no candidate at all is found out by a look.
void Block::open(std::size_t first, std::size_t count) {
    for (std::size_t side = 0; side < sides(); ++side) {
        const auto at = std::ptrdiff_t(side * tiles() * TILE + first);
        std::fill_n(bound.begin() + at, count, UNLIMITED);
        std::fill_n(cut.begin() + at, count, -UNLIMITED);
        std::fill_n(slack.begin() + at, count, UNLIMITED);
    }
    for (std::size_t tile = first / TILE; tile * TILE < first + count; ++tile) best[tile] = UNLIMITED;
    highest = UNLIMITED;
}

void Block::refresh(std::size_t tile) {
    float most = -UNLIMITED;
    for (std::size_t side = 0; side < sides(); ++side) {
        const float* of_side = bounds(tile, side).bound;
        for (std::size_t i = 0; i < TILE; ++i) most = std::max(most, of_side[i]);
    }
    best[tile] = most;
}

void Block::refresh_highest() { highest = best.empty() ? -UNLIMITED : *std::max_element(best.begin(), best.end()); }

// --- what is counted

bool CountTable::suits(const Options& options, const HeadSearch& search, const Prepared& prepared, const State& state) {
    Quotient quotient{};
    if (state.weights || options.beam_width > 1 || !as_quotient(options.heuristic, quotient)) return false;
    if (!search.never_rises() && !options.is_additive()) return false;
    const auto usable = [](double number) { return std::isfinite(number) && number >= 0; };
    if (!usable(options.heuristic.parameter) || !usable(options.heuristic.shrinkage)) return false;
    for (double lift : options.lift)
        if (!(lift > 0)) return false;
    double slots = options.label_conditions ? 2.0 * double(state.n_labels) : 0.0;
    for (std::size_t a = 0; a < prepared.attributes.size(); ++a)
        slots += prepared.is_packed(a) ? double(prepared.attributes[a].values) : 2.0 * double(state.training.attributes[a].groups() + 1);
    const double of_cell = state.n_rows < NarrowCell::MOST_ROWS ? sizeof(NarrowCell) : sizeof(WideCell);
    return slots / TILE * double(state.label_of_lane.size()) * of_cell < double(MOST_BYTES);
}

CountTable::CountTable(const Prepared& prepared, const State& state, const Options& options, const HeadSearch& search, Threads& threads)
    : prepared_(prepared), state_(state), options_(options), head_search_(search), threads_(threads), wide_(state.n_rows >= NarrowCell::MOST_ROWS),
      measured_(prepared.attributes.size()), work_(threads.most()), hints_(prepared.attributes.size() + state.n_labels) {
    as_quotient(options.heuristic, quotient_);
    kept_ = scoring_for(options.when_finished ? 0.0 : options.min_precision.threshold);
}

Scoring CountTable::scoring_for(double threshold) const {
    MinPrecision asked = options_.min_precision;
    asked.threshold = threshold;
    Scoring s{};
    s.quotient = quotient_;
    s.absence = options_.predict_absence;
    s.additive = options_.is_additive();
    s.averages = options_.averages_labels && options_.head_search == HeadSearchKind::relaxed && !s.additive;
    s.asks_head = asked.asks();
    s.asks_labels = asked.asks_labels();
    s.right = float(asked.surplus(1, 0));
    s.wrong = float(asked.surplus(0, -1));
    s.lift = float(head_search_.highest_lift());
    s.margin = threshold == 0.5 ? 0.0f : float(1e-5 * (double(state_.n_rows) * double(state_.n_labels) + 1));
    double rise = 1;
    for (std::size_t k = 0; k < options_.lift.size(); ++k) rise = std::max(rise, options_.lift[k] / double(k + 1));
    s.rise = float(rise);
    return s;
}

Candidates CountTable::candidates_of(std::size_t a) const {
    const GroupedRows& rows = rows_of(a);
    return Candidates(prepared_.attribute(a), rows, state_.training.known(a, rows));
}

bool CountTable::place_of(const Block::Part& part, std::size_t slot, std::size_t side, Place& place) const {
    const std::size_t a = part.attribute, i = slot - part.first;
    if (a >= n_attributes()) {
        place = Place{std::int32_t(i), 0, false};
        const auto& ids = state_.training.at(a).ids;
        return side == 0 && std::find(ids.begin(), ids.end(), std::int32_t(i)) != ids.end();
    }
    if (side == 1 && !part.two_sided) return false;
    const Candidates candidates = candidates_of(a);
    const std::size_t groups = rows_of(a).groups();
    if (candidates.nominal && side == 1) return candidates.place_of(Slot{groups, 0}, place);  // the value that is not listed
    if (prepared_.sparse.holds(a)) {
        const auto& ids = rows_of(a).ids;
        if (ids.empty()) return false;
        const auto at = std::lower_bound(ids.begin(), ids.end(), values_of(a)[i]);
        return at != ids.end() && *at == values_of(a)[i] && candidates.place_of(Slot{std::size_t(at - ids.begin()), side}, place);
    }
    if (candidates.nominal) return candidates.place_of(Slot{i, 0}, place);
    return i < groups ? candidates.place_of(Slot{i, side}, place) : candidates.place_of(Slot{i - groups, 1}, place);
}

// The other way round: the slot and the side of a candidate, if it is one.
bool CountTable::slot_of(const Block::Part& part, Place& place, std::size_t& slot, std::size_t& side) const {
    side = 0;
    if (part.attribute >= n_attributes()) {
        slot = part.first + std::size_t(place.below);
    } else {
        const Candidates candidates = candidates_of(part.attribute);
        Slot at{};
        if (!candidates.slot_of(place, at)) return false;
        const std::size_t groups = rows_of(part.attribute).groups();
        if (part.two_sided && candidates.nominal) {
            side = at.group == groups;
            slot = part.first;
        } else if (candidates.nominal) {
            slot = part.first + at.group;
        } else if (prepared_.sparse.holds(part.attribute)) {
            const auto& values = values_of(part.attribute);
            side = at.side;
            slot = part.first + std::size_t(std::lower_bound(values.begin(), values.end(), rows_of(part.attribute).ids[at.group]) - values.begin());
        } else {
            side = part.two_sided ? at.side : 0;
            slot = part.first + at.group + (part.two_sided ? 0 : at.side * groups);
        }
    }
    const std::int64_t order = place.order();
    return place_of(part, slot, side, place) && place.order() == order;  // the rank above may be another now
}

// Makes blocks of the sparse attributes, or behind them of the others.
void CountTable::lay_out(bool sparse) {
    const std::size_t first = sparse ? 0 : n_sparse_;
    std::size_t used = first;
    for (std::size_t a : attributes_) {
        if (prepared_.sparse.holds(a) != sparse) continue;
        where_[a] = {0, NOWHERE};
        if (prepared_.is_packed(a)) measured_[a].measure(prepared_.codes[a], state_.training.rows);
        Block::Part part{std::uint32_t(a), 0, 2, false};
        if (sparse) {
            part.two_sided = true;
            part.count = std::uint32_t(prepared_.attributes[a].nominal ? 1 : values_of(a).size());
        } else if (a < n_attributes()) {
            const GroupedRows& rows = rows_of(a);
            const Candidates candidates = candidates_of(a);
            const std::size_t groups = rows.groups();
            // A nominal attribute of two values has one slot, like a split: the other value is its other side.
            part.two_sided = rows.missing.empty() && (!candidates.nominal || (groups == 1 && candidates.rest));
            if (candidates.nominal)
                part.count = std::uint32_t(part.two_sided ? 1 : groups + candidates.rest);
            else
                part.count = std::uint32_t(part.two_sided ? groups : 2 * groups);
        }
        if (part.count == 0) continue;
        if (used == first || blocks_[used - 1].slots + part.count > SLOTS_OF_BLOCK) {
            if (used == blocks_.size()) blocks_.emplace_back();
            blocks_[used].parts.clear();
            blocks_[used].slots = 0;
            blocks_[used++].two_sided = false;
        }
        Block& block = blocks_[used - 1];
        part.first = std::uint32_t(block.slots);
        block.slots += part.count;
        block.two_sided |= part.two_sided;
        where_[a] = {std::uint32_t(used - 1), std::uint32_t(block.parts.size())};
        block.parts.push_back(part);
    }
    blocks_.resize(used);
    if (sparse) n_sparse_ = used;
    for (std::size_t b = first; b < used; ++b) {
        blocks_[b].stale = true;
        blocks_[b].highest = UNLIMITED;
    }
    some_stale_ = true;
}

void CountTable::count_totals() {
    const RowCounter<std::int32_t> counter(state_);
    total_counters_.assign(counter.lanes(), 0);
    counter.add(state_.training.rows.data(), state_.training.rows.size(), total_counters_.data());
    const std::size_t width = state_.width;
    n_lanes_ = state_.label_of_lane.size();
    totals_ = LaneTotals{};
    totals_.rows = std::int32_t(state_.training.rows.size());
    lane_of_label_.assign(state_.n_labels, -1);
    for (std::size_t lane = 0; lane < n_lanes_; ++lane) {
        totals_.tp.push_back(total_counters_[lane]);
        totals_.fp.push_back(total_counters_[width + lane]);
        totals_.present.push_back(total_counters_[2 * width + lane]);
        totals_.absent.push_back(totals_.rows - totals_.present.back());
        lane_of_label_[std::size_t(state_.label_of_lane[lane])] = std::int32_t(lane);
    }
}

void CountTable::start(const std::vector<std::size_t>& attributes) {
    attributes_ = attributes;
    where_.assign(hints_.size(), {0, NOWHERE});
    lay_out(true);
    lay_out(false);
    closed_.clear();
    keeps_counts_ = started_ = true;
}

// Before blocks are counted.
void CountTable::begin_counting() {
    count_totals();
    lane_of_state_.resize(n_lanes_);
    std::iota(lane_of_state_.begin(), lane_of_state_.end(), 0);
    if (!wide_) write_words();
    some_stale_ = !keeps_counts_;
}

// A block with its counts: its own, or in a scratch where they are not kept.
Block& CountTable::counted(Block& block, Workspace& work) const {
    if (!block.stale) return block;
    Block& made = keeps_counts_ ? block : work.scratch;
    if (!keeps_counts_) {
        made.parts = block.parts;
        made.slots = block.slots;
        made.two_sided = block.two_sided;
    }
    count(made, work);
    block.stale = !keeps_counts_;
    return made;
}

// What each row adds to the counts of each lane.
void CountTable::write_words() {
    words_.resize(2 * state_.n_rows * state_.width);
    static constexpr std::uint32_t PAIR[8] = {0, 1, 1 << 16, 0, 0, 1, 1 << 16, 0};
    for (Row row : state_.training.rows)
        for (std::size_t at = row * state_.width; at < (row + std::size_t(1)) * state_.width; ++at) {
            std::uint32_t* of_lane = words_.data() + 2 * (at - at % 8) + at % 8;
            of_lane[0] = PAIR[state_.bytes[at]];
            of_lane[8] = state_.bytes[at] >> 2;
        }
}

void CountTable::count(Block& block, Workspace& work) const {
    const std::size_t padded = block.tiles() * TILE;
    block.cells.resize(block.tiles() * n_lanes_ * cell_bytes());
    const Block::Part& first = block.parts[0];  // alone, it writes every cell
    if (wide_ || block.parts.size() > 1 || first.attribute >= n_attributes() || first.count != rows_of(first.attribute).groups())
        std::fill(block.cells.begin(), block.cells.end(), std::uint8_t(0));
    block.covered.assign(padded, 0);
    block.bound.assign(block.sides() * padded, -UNLIMITED);
    block.cut.assign(block.sides() * padded, UNLIMITED);
    block.slack.assign(block.sides() * padded, UNLIMITED);
    block.best.assign(block.tiles(), -UNLIMITED);
    for (const Block::Part& part : block.parts) count_part(block, part, work);
    block.open(0, block.slots);
}

void CountTable::count_part(Block& block, const Block::Part& part, Workspace& work) const {
    const std::size_t a = part.attribute;
    if (prepared_.sparse.holds(a)) return count_sparse(block, part, work);
    const RowCounter<std::int32_t> counter(state_);
    const std::size_t lanes = counter.lanes();
    const GroupedRows& rows = rows_of(a);
    const std::size_t groups = rows.groups();
    if (a < n_attributes() && part.count == block.slots && part.count == groups && !wide_) {
        const Candidates candidates = candidates_of(a);
        if (!prepared_.is_packed(a) && (candidates.nominal || candidates.split == groups)) {
            const GroupSpan span{rows.rows.data(), rows.ends.data(), 0, std::uint32_t(groups), false};
            tile_kernels(false).count(span, !candidates.nominal, words_.data(), state_.width, n_lanes_, block.cells.data());
            for (std::size_t g = 0; g < groups; ++g) block.covered[g] = std::int32_t(candidates.nominal ? rows.size(g) : rows.ends[g]);
            return;
        }
        std::fill(block.cells.begin(), block.cells.end(), std::uint8_t(0));
    }
    std::vector<std::int32_t>&sums = work.counters, &other = work.other;
    const bool coded = prepared_.is_packed(a);
    if (coded) {
        work.by_code.assign(256 * lanes, 0);
        counter.add_by_code(state_.training.rows.data(), state_.training.rows.size(), prepared_.codes[a].data(), work.by_code.data());
    }
    const auto add = [&](std::size_t g) {
        if (!coded) return counter.add(rows, g, sums.data());
        const std::int32_t* of_code = work.by_code.data() + std::size_t(rows.ids[g]) * lanes;
        for (std::size_t i = 0; i < lanes; ++i) sums[i] += of_code[i];
    };
    if (a >= n_attributes()) {
        for (std::size_t g = 0; g < groups; ++g) {
            sums.assign(lanes, 0);
            add(g);
            store(block, part, part.first + std::size_t(rows.ids[g]), sums.data());
        }
        return;
    }
    const auto subtract_from = [&](const std::vector<std::int32_t>& taken) {
        for (std::size_t i = 0; i < lanes; ++i) other[i] -= taken[i];
    };
    if (!part.two_sided) {
        other = total_counters_;
        sums.assign(lanes, 0);
        counter.add(rows.missing.data(), rows.missing.size(), sums.data());
        subtract_from(sums);
    }
    if (prepared_.attributes[a].nominal) {
        for (std::size_t g = 0; g < groups; ++g) {
            sums.assign(lanes, 0);
            add(g);
            store(block, part, part.first + g, sums.data());
            if (!part.two_sided) subtract_from(sums);
        }
        if (part.count > groups) store(block, part, part.first + groups, other.data());
        return;
    }
    const std::vector<std::int32_t> known = part.two_sided ? std::vector<std::int32_t>() : other;
    from_both_ends(
        candidates_of(a), groups, [&] { sums.assign(lanes, 0); },
        [&](std::size_t g) {
            add(g);
            store(block, part, part.first + g, sums.data());
            if (part.two_sided) return;
            other = known;
            subtract_from(sums);
            store(block, part, part.first + groups + g, other.data());
        });
}

// Values that no row in training has any more keep their slots.
void CountTable::count_sparse(Block& block, const Block::Part& part, Workspace& work) const {
    const GroupedRows& rows = rows_of(part.attribute);
    const RowCounter<std::int32_t> counter(state_);
    const auto& values = values_of(part.attribute);
    const Candidates slots(prepared_.attributes[part.attribute], prepared_.grouped[part.attribute], state_.n_rows);
    from_both_ends(
        slots, values.size(), [&] { work.counters.assign(counter.lanes(), 0); },
        [&](std::size_t i) {
            const auto at = std::lower_bound(rows.ids.begin(), rows.ids.end(), values[i]);
            if (at != rows.ids.end() && *at == values[i]) counter.add(rows, std::size_t(at - rows.ids.begin()), work.counters.data());
            store(block, part, part.first + i, work.counters.data());
        });
}

namespace {

template <class Cell>
void store_slot(void* tile, std::size_t at, const std::int32_t* counters, std::size_t width, const std::vector<std::uint32_t>& lanes) {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        Cell& cell = static_cast<Cell*>(tile)[lanes[i]];
        cell.set_pair(at, counters[i], counters[width + i]);
        cell.set_present(at, counters[2 * width + i]);
    }
}

template <class Cell>
void gather_slot(const void* tile, std::size_t at, std::int32_t* counters, std::size_t width, const std::vector<std::uint32_t>& lanes) {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        const Cell& cell = static_cast<const Cell*>(tile)[lanes[i]];
        counters[i] = cell.tp(at);
        counters[width + i] = cell.fp(at);
        counters[2 * width + i] = std::int32_t(cell.present[at]);
    }
}

template <class Cell>
void copy_lane(const void* tile, std::uint32_t lane, std::int32_t* tp, std::int32_t* fp) {
    const Cell& cell = static_cast<const Cell*>(tile)[lane];
    for (std::size_t i = 0; i < TILE; ++i) tp[i] = cell.tp(i), fp[i] = cell.fp(i);
}

template <class Cell>
void take_row(void* tile, std::size_t at, const std::uint8_t* bytes, const std::vector<std::uint32_t>& lanes) {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        Cell& cell = static_cast<Cell*>(tile)[lanes[i]];
        cell.set_pair(at, cell.tp(at) - (bytes[i] & OPEN_PRESENT ? 1 : 0), cell.fp(at) - (bytes[i] & OPEN_ABSENT ? 1 : 0));
        cell.set_present(at, std::int32_t(cell.present[at]) - (bytes[i] & PRESENT ? 1 : 0));
    }
}

template <class Cell>
void clear_lane(void* tile, std::uint32_t lane, std::size_t at) {
    static_cast<Cell*>(tile)[lane].set_pair(at, 0, 0);
}

}  // namespace

void CountTable::store(Block& block, const Block::Part& part, std::size_t slot, const std::int32_t* counters) const {
    std::uint8_t* tile = cells_of(block, slot / TILE);
    (wide_ ? store_slot<WideCell> : store_slot<NarrowCell>)(tile, slot % TILE, counters, state_.width, lane_of_state_);
    block.covered[slot] = counters[3 * state_.width];
    if (part.attribute < n_attributes()) return;
    // A label is never in the head of a rule that tests it.
    if (const std::int32_t own = lane_of_label_[part.attribute - n_attributes()]; own >= 0)
        (wide_ ? clear_lane<WideCell> : clear_lane<NarrowCell>)(tile, std::uint32_t(own), slot % TILE);
}

// --- what rules change

void CountTable::about_to_close(const std::vector<Assignment>& head, const std::vector<Row>& rows) {
    closed_.clear();
    if (!started_) return;
    for (const Assignment& assigned : head) {
        const std::int32_t lane = lane_of_label_[std::size_t(assigned.label)];
        if (lane < 0) continue;
        Closed& closed = closed_.emplace_back();
        closed.label = assigned.label;
        closed.closing = {std::uint32_t(lane), totals_.tp[std::size_t(lane)], totals_.fp[std::size_t(lane)]};
        for (Row row : rows)
            if (state_.predicted[state_.at(row, std::size_t(assigned.label))] == OPEN) closed.rows.push_back(row);
    }
}

void CountTable::about_to_remove(const std::vector<Row>& rows) {
    closed_.clear();
    if (!started_) return;
    removed_ = true;
    if (n_sparse_ == 0) return;
    lane_of_state_.clear();
    for (std::int32_t label : state_.label_of_lane) lane_of_state_.push_back(std::uint32_t(lane_of_label_[std::size_t(label)]));
    for (Row row : rows) take_out(row);
}

// Takes a row out of the slots of sparse attributes.
void CountTable::take_out(Row row) {
    const std::uint8_t* bytes = state_.bytes.data() + std::size_t(row) * state_.width;
    for (std::uint32_t listed : prepared_.sparse.slots_of(row)) {
        const std::uint32_t a = prepared_.sparse.attribute_of(listed);
        if (where_[a].second == NOWHERE) continue;
        Block& block = blocks_[where_[a].first];
        const std::size_t first = block.parts[where_[a].second].first, at = listed - prepared_.sparse.first_slot(a);
        // What is added up towards the value that is not listed.
        const std::size_t split = Candidates(prepared_.attributes[a], prepared_.grouped[a], state_.n_rows).split;
        for (std::size_t i = at < split ? at : split; i < (at < split ? split : at + 1); ++i) {
            const std::size_t slot = first + i;
            (wide_ ? take_row<WideCell> : take_row<NarrowCell>)(cells_of(block, slot / TILE), slot % TILE, bytes, lane_of_state_);
            --block.covered[slot];
        }
    }
}

void CountTable::close(bool alone) {
    if (!started_) return;
    const bool removed = std::exchange(removed_, false);
    // Rows that leave again right after the last ones: what is counted for the next rule will not be needed after it either.
    keeps_counts_ = !(removed && some_left_ && !options_.when_finished);
    some_left_ = removed;
    if ((removed || some_stale_) && state_.label_of_lane.size() != n_lanes_) {  // labels have got other lanes
        started_ = false;
    } else if (removed) {
        lay_out(false);
        for (std::size_t b = 0; b < n_sparse_; ++b) blocks_[b].open(0, blocks_[b].slots);
    } else {
        revise_all(alone);
    }
}

void CountTable::revise_all(bool alone) {
    if (closed_.empty()) return;
    lane_of_state_.clear();
    for (std::int32_t label : state_.label_of_lane) lane_of_state_.push_back(std::uint32_t(lane_of_label_[std::size_t(label)]));
    for (Closed& closed : closed_) {
        const std::size_t label = std::size_t(closed.label);
        for (Row row : closed.rows) --(state_.truth[state_.at(row, label)] ? totals_.tp : totals_.fp)[closed.closing.lane];
        closed.sparse.assign(prepared_.sparse.n_slots(), 0);
        if (n_sparse_)
            for (Row row : closed.rows)
                for (std::uint32_t slot : prepared_.sparse.slots_of(row)) closed.sparse[slot] += word_of(state_.truth[state_.at(row, label)]);
        closed.words.assign(state_.n_rows, 0);
        if (state_.set_aside[label]) continue;
        for (Row row : state_.training.rows)
            if (const std::size_t pair = state_.at(row, label); state_.predicted[pair] == OPEN) closed.words[row] = word_of(state_.truth[pair]);
    }
    std::vector<std::size_t> all(blocks_.size());
    std::iota(all.begin(), all.end(), 0);
    threads_.run(all, alone, [&](std::size_t b, std::size_t t) {
        for (const Closed& closed : closed_) revise(blocks_[b], closed, work_[t]);
    });
    closed_.clear();
}

void CountTable::revise(Block& block, const Closed& closed, Workspace& work) {
    if (closed.rows.empty() || block.stale) return;
    const std::size_t tiles = block.tiles();
    work.tp.resize(tiles * TILE);
    work.fp.resize(tiles * TILE);
    const bool all_written = std::all_of(block.parts.begin(), block.parts.end(), [&](const Block::Part& part) {
        return part.attribute < n_attributes() && !prepared_.is_packed(part.attribute) && !prepared_.sparse.holds(part.attribute);
    });
    for (std::size_t tile = all_written ? tiles - 1 : 0; tile < tiles; ++tile)  // the last one is not full
        (wide_ ? copy_lane<WideCell> : copy_lane<NarrowCell>)(cells_of(block, tile), closed.closing.lane, work.tp.data() + tile * TILE,
                                                                     work.fp.data() + tile * TILE);
    for (const Block::Part& part : block.parts)
        if (part.attribute != n_attributes() + std::size_t(closed.label)) recount(part, closed, work);
    const TileKernels& kernels = tile_kernels(wide_);
    bool some_changed = false;
    for (std::size_t tile = 0; tile < tiles; ++tile) {
        const TileBounds sides[2] = {block.bounds(tile, 0), block.bounds(tile, block.sides() - 1)};
        if (!kernels.revise(kept_, totals_, closed.closing, cells_of(block, tile), work.tp.data() + tile * TILE, work.fp.data() + tile * TILE,
                            block.covered.data() + tile * TILE, sides, block.sides()))
            continue;
        block.refresh(tile);
        some_changed = true;
    }
    for (const Block::Part& part : block.parts)
        if (part.attribute == n_attributes() + std::size_t(closed.label)) {  // its conditions cover other rows now
            count_part(block, part, work);
            block.open(part.first, part.count);
            some_changed = true;
        }
    if (some_changed) block.refresh_highest();
}

// Writes what the slots of an attribute have of a closed label now.
void CountTable::recount(const Block::Part& part, const Closed& closed, Workspace& work) const {
    const std::size_t a = part.attribute, groups = rows_of(a).groups();
    const GroupedRows& rows = rows_of(a);
    std::int32_t *tp = work.tp.data() + part.first, *fp = work.fp.data() + part.first;
    std::uint64_t sum = 0;
    const auto write = [&](std::size_t i, std::uint64_t word) {
        tp[i] = std::int32_t(word & 0xffffffffu);
        fp[i] = std::int32_t(word >> 32);
    };
    // By what was closed: less than what is left.
    const auto take = [&](std::size_t i) {
        tp[i] -= std::int32_t(sum & 0xffffffffu);
        fp[i] -= std::int32_t(sum >> 32);
    };
    if (prepared_.sparse.holds(a)) {
        const std::uint64_t* of_slots = closed.sparse.data() + prepared_.sparse.first_slot(a);
        const Candidates slots(prepared_.attributes[a], prepared_.grouped[a], state_.n_rows);
        from_both_ends(slots, part.count, [&] { sum = 0; }, [&](std::size_t i) { sum += of_slots[i], take(i); });
        return;
    }
    if (prepared_.is_packed(a)) {
        std::uint64_t by_code[256] = {};
        for (Row row : closed.rows) by_code[prepared_.codes[a][row]] += word_of(state_.truth[state_.at(row, std::size_t(closed.label))]);
        if (prepared_.attributes[a].nominal) {
            for (std::size_t g = 0; g < groups; ++g) sum = by_code[rows.ids[g]], take(g);
        } else {
            for (std::size_t g = 0; g < groups; ++g) sum += by_code[rows.ids[g]], take(g);
        }
        return;
    }
    const std::uint64_t* words = closed.words.data();
    const auto add = [&](std::size_t g) {
        for (std::size_t i = g ? rows.ends[g - 1] : 0; i < rows.ends[g]; ++i) sum += words[rows.rows[i]];
    };
    if (a >= n_attributes()) {
        for (std::size_t g = 0; g < groups; ++g) sum = 0, add(g), write(std::size_t(rows.ids[g]), sum);
        return;
    }
    std::uint64_t known = std::uint64_t(std::uint32_t(totals_.tp[closed.closing.lane])) |
                          std::uint64_t(std::uint32_t(totals_.fp[closed.closing.lane])) << 32;
    for (Row row : rows.missing) known -= words[row];
    if (prepared_.attributes[a].nominal) {
        for (std::size_t g = 0; g < groups; ++g) sum = 0, add(g), write(g, sum), known -= sum;
        if (part.count > groups) write(groups, known);
        return;
    }
    from_both_ends(
        candidates_of(a), groups, [&] { sum = 0; },
        [&](std::size_t g) {
            add(g);
            write(g, sum);
            if (!part.two_sided) write(groups + g, known - sum);
        });
}

// --- what the first pass looks at

void CountTable::prepare_lengths() {
    const std::size_t count = totals_.active.size();
    lengths_.share.clear();
    lengths_.lift.clear();
    const auto lift = [&](std::size_t length) { return options_.head_search == HeadSearchKind::relaxed ? options_.lift[length - 1] : 1.0; };
    for (std::size_t length = 1, next; length <= count; length = next) {
        next = length + (count <= FEW_LABELS ? 1 : std::max<std::size_t>(1, length / 4));
        double highest = 0;
        for (std::size_t k = length; k < std::min(next, count + 1); ++k) highest = std::max(highest, lift(k));
        lengths_.share.push_back(float(1.0 / double(length)));
        lengths_.lift.push_back(float(highest));
    }
    const std::size_t n = head_values_.size(), length = std::max<std::size_t>(1, head_length_);
    const std::size_t ranks[THRESHOLDS] = {0, length / 2, length, 2 * length, 4 * length, 8 * length};
    for (std::size_t j = 0; j < THRESHOLDS; ++j) lengths_.thresholds[j] = n ? float(head_values_[std::min(n - 1, ranks[j])]) : 1 - 0.1f * float(j);
}

// "Some label reaches θ" is linear in the counts: numerator - θ × denominator is not below 0.
void CountTable::prepare_reach(double floor, Reach& reach) const {
    const double theta = floor / double(scoring_.lift) * (1 - 1e-5);
    double weight[4];
    for (int i = 0; i < 4; ++i) weight[i] = quotient_.top[i] - theta * quotient_.bottom[i];
    const double constant = quotient_.top_constant - theta * quotient_.bottom_constant;
    const double of_counts[4] = {weight[0], weight[1], weight[2] - weight[3], -weight[2]};
    double largest = 1e-9;
    for (double w : of_counts) largest = std::max(largest, std::fabs(w));
    // Weights of 16 bits, sums of 32.
    const double scale = std::min(30000.0, 4e8 / (double(totals_.rows) + 1)) / largest;
    std::int32_t whole[4];
    for (int i = 0; i < 4; ++i) whole[i] = std::int32_t(std::ceil(of_counts[i] * scale));
    reach.tp = whole[0];
    reach.fp = whole[1];
    reach.present = whole[2];
    reach.covered = whole[3];
    reach.below = float(floor * (1 - 9e-6));
    reach.needs_right = quotient_.top[2] != 0 || quotient_.top[3] != 0 || quotient_.top_constant != 0;
    const double precise = std::min(1000.0, 2e8 / (double(totals_.rows) + 1));
    reach.right = std::int32_t(std::ceil(double(scoring_.right) * precise)) + 1;
    reach.wrong = -std::int32_t(std::floor(double(scoring_.wrong) * precise));
    for (auto* of_lanes : {&reach.constant, &reach.total, &reach.total_of_absence, &reach.total_right}) of_lanes->assign(n_lanes_, 0);
    for (std::uint32_t lane : totals_.active) {
        const double fixed = (weight[2] * totals_.absent[lane] + weight[3] * totals_.present[lane] + constant) * scale;
        reach.constant[lane] = std::int32_t(std::ceil(std::clamp(fixed, -8e8, 8e8))) + 1;
        const std::int32_t of_present = reach.present * totals_.present[lane] + reach.constant[lane];
        reach.total[lane] = reach.tp * totals_.tp[lane] + reach.fp * totals_.fp[lane] + of_present;
        reach.total_of_absence[lane] = reach.tp * totals_.fp[lane] + reach.fp * totals_.tp[lane] + of_present;
        reach.total_right[lane] = reach.right * totals_.tp[lane] + reach.wrong * totals_.fp[lane];
    }
}

void CountTable::search(const Pass& pass) {
    scoring_ = pass.keeps ? kept_ : scoring_for(options_.min_precision.threshold);
    if (some_stale_) begin_counting();
    lane_of_state_.clear();
    for (std::int32_t label : state_.label_of_lane) lane_of_state_.push_back(std::uint32_t(lane_of_label_[std::size_t(label)]));
    totals_.active = lane_of_state_;
    prepare_lengths();
    for (Workspace& work : work_) {
        work.reach_floor = NOTHING;
        work.labels.resize(totals_.active.size() * TILE);
        work.counters.assign(3 * state_.width + 1, 0);
    }
    look_at_hints(pass);
    std::vector<std::size_t> order;
    for (std::size_t b = 0; b < blocks_.size(); ++b)
        if (!pass.keeps || blocks_[b].highest >= least_for(pass.floor(0))) order.push_back(b);
    std::vector<std::pair<float, double>> hopes(blocks_.size());
    for (std::size_t b : order) hopes[b] = {pass.keeps ? blocks_[b].highest : UNLIMITED, hope_for(blocks_[b])};
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return hopes[a] != hopes[b] ? hopes[a] > hopes[b] : a < b; });
    threads_.run(order, pass.alone, [&](std::size_t b, std::size_t t) { look_at(blocks_[b], pass, t); });
}

// With a high value to begin with, most candidates need no look.
void CountTable::look_at_hints(const Pass& pass) {
    std::vector<std::uint32_t> best;
    for (std::uint32_t a = 0; a < hints_.size(); ++a)
        if (std::isfinite(hints_[a].value) && where_[a].second != NOWHERE) best.push_back(a);
    const std::size_t count = std::min(best.size(), FIRST_LOOKS);
    std::partial_sort(best.begin(), best.begin() + std::ptrdiff_t(count), best.end(), [&](std::uint32_t a, std::uint32_t b) {
        return hints_[a].value != hints_[b].value ? hints_[a].value > hints_[b].value : a < b;
    });
    for (std::size_t i = 0; i < count; ++i) {
        Block& block = counted(blocks_[where_[best[i]].first], work_[0]);
        const Block::Part& part = block.parts[where_[best[i]].second];
        std::size_t slot, side;
        Place place = hints_[best[i]].place;
        if (!slot_of(part, place, slot, side)) continue;
        gather(block, slot, side, work_[0].counters);
        pass.look(place, best[i], work_[0].counters, 0);
    }
}

double CountTable::hope_for(const Block& block) const {
    double hope = NOTHING;
    for (const Block::Part& part : block.parts) hope = std::max(hope, hints_[part.attribute].value);
    return hope;
}

void CountTable::look_at(Block& kept, const Pass& pass, std::size_t thread) {
    if (pass.keeps && kept.highest < least_for(pass.floor(thread))) return;
    Block& block = counted(kept, work_[thread]);
    for (const Block::Part& part : block.parts) hints_[part.attribute].value = std::min(hints_[part.attribute].value, pass.floor(thread));
    for (std::size_t tile = 0; tile < block.tiles(); ++tile) {
        if (pass.keeps && block.best[tile] < least_for(pass.floor(thread))) continue;
        look_at_tile(block, tile, pass, thread);
        if (pass.keeps) block.refresh(tile);
    }
    if (pass.keeps) block.refresh_highest();
}

void CountTable::look_at_tile(Block& block, std::size_t tile, const Pass& pass, std::size_t thread) {
    const double floor = pass.floor(thread);
    Workspace& work = work_[thread];
    const bool reaches = floor > 0 && !scoring_.additive;
    if (reaches && floor > work.reach_floor) {
        prepare_reach(floor, work.reach);
        work.reach_floor = floor;
    }
    const TileBounds sides[2] = {block.bounds(tile, 0), block.bounds(tile, block.sides() - 1)};
    const std::uint32_t wanted =
        tile_kernels(wide_).filter(scoring_, totals_, reaches ? &work.reach : nullptr, cells_of(block, tile),
                                   block.covered.data() + tile * TILE, sides, block.sides(), least_for(floor), pass.keeps);
    if (wanted & 0xff) look_at_side(block, tile, 0, wanted & 0xff, pass, thread);
    if (wanted >> 8) look_at_side(block, tile, 1, wanted >> 8, pass, thread);
}

void CountTable::look_at_side(Block& block, std::size_t tile, std::size_t side, std::uint32_t wanted, const Pass& pass, std::size_t thread) {
    Workspace& work = work_[thread];
    TileValues values;
    tile_kernels(wide_).values(scoring_, totals_, lengths_, cells_of(block, tile), block.covered.data() + tile * TILE, side != 0,
                               least_for(pass.floor(thread)), work.labels.data(), values);
    const TileBounds b = block.bounds(tile, side);
    std::vector<std::pair<float, std::size_t>> left;  // bounds and slots
    for (std::size_t i = 0; i < TILE; ++i) {
        if (!(wanted >> i & 1)) continue;
        const bool lacks = values.lacking[i] > 0, usable = values.best[i] > -UNLIMITED;
        float bound = pass.keeps ? b.bound[i] : UNLIMITED;
        if (pass.keeps) {
            if (!usable || lacks) {
                b.bound[i] = -UNLIMITED;
                b.cut[i] = usable ? values.best[i] * (values.best[i] > 0 ? 1 - 1e-5f : 1 + 1e-5f) : -UNLIMITED;
                b.slack[i] = lacks ? values.lacking[i] : UNLIMITED;
            } else if (values.value[i] < bound) {
                b.bound[i] = values.value[i];
                b.cut[i] = -UNLIMITED;
            }
        }
        bound = std::min(bound, values.value[i]);
        if (usable && !lacks) left.emplace_back(-bound, i);
    }
    std::sort(left.begin(), left.end());
    for (const auto& [negative, i] : left) {
        if (-negative < least_for(pass.floor(thread))) break;
        const std::size_t slot = tile * TILE + i;
        const Block::Part& part = block.part_of(slot);
        Place place;
        if (!place_of(part, slot, side, place)) {
            b.bound[i] = -UNLIMITED;
            b.cut[i] = b.slack[i] = UNLIMITED;
            continue;
        }
        gather(block, slot, side, work.counters);
        const Finding found = pass.look(place, part.attribute, work.counters, thread);
        if (!pass.keeps) continue;
        if (Hint& hint = hints_[part.attribute]; !(found.slack > 0) && std::isfinite(found.bound) && found.bound > hint.value)
            hint = {found.bound, place};
        b.bound[i] = found.slack > 0 ? -UNLIMITED : up(found.bound);
        b.cut[i] = std::isfinite(found.cut) ? float(found.cut - 1e-5 * std::fabs(found.cut)) : float(found.cut);
        b.slack[i] = found.slack > 0 ? float(found.slack) : UNLIMITED;
    }
}

void CountTable::gather(Block& block, std::size_t slot, std::size_t side, std::vector<std::int32_t>& counters) {
    const std::size_t width = state_.width;
    (wide_ ? gather_slot<WideCell> : gather_slot<NarrowCell>)(cells_of(block, slot / TILE), slot % TILE, counters.data(), width, lane_of_state_);
    counters[3 * width] = block.covered[slot];
    if (!side) return;
    for (std::size_t i = 0; i < lane_of_state_.size(); ++i) {
        const std::uint32_t lane = lane_of_state_[i];
        counters[i] = totals_.tp[lane] - counters[i];
        counters[width + i] = totals_.fp[lane] - counters[width + i];
        counters[2 * width + i] = totals_.present[lane] - counters[2 * width + i];
    }
    counters[3 * width] = totals_.rows - counters[3 * width];
}

}  // namespace plurule
