#include "count_table.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "counting.hpp"

namespace plurule {

namespace {

constexpr std::size_t SLOTS_OF_BLOCK = 64;  // of attributes with few slots
constexpr std::size_t MOST_BYTES = std::size_t(3) << 28;

template <class Cell>
void store_slot(void* tile, std::size_t at, const std::int32_t* counters, std::size_t width, const std::vector<std::uint32_t>& lanes) {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        Cell& cell = static_cast<Cell*>(tile)[lanes[i]];
        cell.set_pair(at, counters[i], counters[width + i]);
        cell.set_present(at, counters[2 * width + i]);
    }
}

// Whether numerators and denominators of labels are exact in single precision, so that quotients keep their order.
bool is_exact_in_single(const Quotient& quotient, std::size_t rows) {
    constexpr double PARTS = 16;
    double sum = 0;
    for (int i = 0; i < 4; ++i)
        for (double weight : {quotient.top[i] * PARTS, quotient.bottom[i] * PARTS}) {
            if (weight != std::floor(weight)) return false;
            sum += std::fabs(weight);
        }
    return quotient.top_constant == 0 && quotient.bottom_constant == 0 && sum * double(rows) < 0x1p24;
}

template <class Cell>
void clear_lane(void* tile, std::uint32_t lane, std::size_t at) {
    static_cast<Cell*>(tile)[lane].set_pair(at, 0, 0);
}

}  // namespace

// --- blocks

const Block::Part& Block::part_of(std::size_t slot) const {
    const auto after = std::upper_bound(parts.begin(), parts.end(), slot, [](std::size_t s, const Part& part) { return s < part.first; });
    return *(after - 1);
}

// Nothing is a candidate.
void Block::shut() {
    for (auto [bounds, nothing] : {std::pair(&bound, -UNLIMITED), std::pair(&cut, UNLIMITED), std::pair(&slack, UNLIMITED)})
        bounds->assign(sides() * tiles() * TILE, nothing);
    best.assign(tiles(), -UNLIMITED);
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
    float most[TILE];  // slot by slot: all at once
    std::copy_n(bounds(tile, 0).bound, TILE, most);
    if (two_sided) {
        const float* other = bounds(tile, 1).bound;
        for (std::size_t i = 0; i < TILE; ++i) most[i] = std::max(most[i], other[i]);
    }
    for (std::size_t half = TILE / 2; half > 0; half /= 2)
        for (std::size_t i = 0; i < half; ++i) most[i] = std::max(most[i], most[i + half]);
    best[tile] = most[0];
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
    double slots = (options.label_conditions ? 2.0 * double(state.n_labels) : 0.0) + double(prepared.sparse.n_slots());
    for (std::size_t a = 0; a < prepared.attributes.size(); ++a) {
        if (prepared.sparse.holds(a)) continue;
        const GroupedRows& rows = state.training.at(a);
        slots += prepared.is_packed(a) ? double(prepared.attributes[a].values) : double(rows.groups() + 1) * (rows.missing.empty() ? 1 : 2);
    }
    const double of_cell = state.n_rows < NarrowCell::MOST_ROWS ? sizeof(NarrowCell) : sizeof(WideCell);
    return slots / TILE * double(state.label_of_lane.size()) * of_cell < double(MOST_BYTES);
}

CountTable::CountTable(const Prepared& prepared, const State& state, const Options& options, const HeadSearch& search, Threads& threads)
    : prepared_(prepared), state_(state), options_(options), head_search_(search), threads_(threads), wide_(state.n_rows >= NarrowCell::MOST_ROWS),
      work_(threads.most()) {
    as_quotient(options.heuristic, quotient_);
    kept_ = scoring_for(options.asked_of_candidates());
}

Scoring CountTable::scoring_for(const MinPrecision& asked) const {
    Scoring s{};
    s.quotient = quotient_;
    s.absence = options_.predict_absence;
    s.additive = options_.is_additive();
    s.averages = options_.averages_labels && options_.head_search == HeadSearchKind::relaxed && !s.additive;
    s.sums = !s.averages && !s.additive && options_.head_search == HeadSearchKind::relaxed && is_exact_in_single(quotient_, state_.n_rows);
    s.asks_head = asked.asks();
    s.asks_labels = asked.asks_labels();
    s.right = float(asked.surplus(1, 0));
    s.wrong = float(asked.surplus(0, -1));
    s.lift = float(head_search_.highest_lift());
    s.margin = asked.threshold == 0.5 ? 0.0f : float(1e-5 * (double(state_.n_rows) * double(state_.n_labels) + 1));
    double rise = 1;
    for (std::size_t k = 0; k < options_.lift.size(); ++k) rise = std::max(rise, options_.lift[k] / double(k + 1));
    s.rise = float(rise);
    s.longer = options_.head_search == HeadSearchKind::relaxed && *std::max_element(options_.lift.begin(), options_.lift.end()) > options_.lift[0];
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

// Makes blocks of the sparse attributes, or behind them of the others.
void CountTable::lay_out(bool sparse) {
    const std::size_t first = sparse ? 0 : n_sparse_;
    std::size_t used = first;
    for (std::size_t a : attributes_[sparse]) {
        where_[a] = {0, NOWHERE};
        if (prepared_.is_packed(a)) {
            measured_.resize(n_attributes());
            measured_[a].measure(prepared_.codes[a], state_.training.rows);
        }
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
    some_listed_ = std::any_of(attributes_[0].begin(), attributes_[0].end(), [&](std::size_t a) { return a < n_attributes() && !prepared_.is_packed(a); });
    for (std::size_t b = first; b < used; ++b) {
        blocks_[b].stale = true;
        blocks_[b].highest = UNLIMITED;
    }
    some_stale_ = true;
}

void CountTable::count_totals() {
    total_counters_.assign(state_.totals.begin(), state_.totals.end());
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
    for (auto& some : attributes_) some.clear();
    for (std::size_t a : attributes) attributes_[prepared_.sparse.holds(a)].push_back(a);
    where_.assign(n_attributes() + state_.n_labels, {0, NOWHERE});
    lay_out(true);
    lay_out(false);
    closed_.clear();
    started_ = true;
}

// Before blocks are counted.
void CountTable::begin_counting() {
    count_totals();
    lane_of_state_.resize(n_lanes_);
    std::iota(lane_of_state_.begin(), lane_of_state_.end(), 0);
    if (!wide_) write_words();
    some_stale_ = false;
}

Block& CountTable::counted(Block& block, Workspace& work) const {
    if (block.stale) count(block, work);
    block.stale = false;
    return block;
}

// What each row adds to the counts of each lane.
void CountTable::write_words() {
    words_width_ = state_.width;
    words_.resize(2 * state_.n_rows * words_width_);
    static constexpr std::uint32_t PAIR[8] = {0, 1, 1 << 16, 0, 0, 1, 1 << 16, 0};
    for (Row row : state_.training.rows)
        for (std::size_t lane = 0; lane < words_width_; ++lane) {
            const std::uint8_t of_row = state_.bytes[row * words_width_ + lane];
            words_[word_at(row, lane)] = PAIR[of_row];
            words_[word_at(row, lane) + 8] = of_row >> 2;
        }
}

void CountTable::count(Block& block, Workspace& work) const {
    block.cells.resize(block.tiles() * n_lanes_ * cell_bytes());
    const Block::Part& first = block.parts[0];  // alone, it writes every cell
    if (wide_ || block.parts.size() > 1 || first.attribute >= n_attributes() || first.count != rows_of(first.attribute).groups())
        std::fill(block.cells.begin(), block.cells.end(), std::uint8_t(0));
    block.covered.assign(block.tiles() * TILE, 0);
    block.shut();
    for (const Block::Part& part : block.parts) count_part(block, part, work);
    block.open(0, block.slots);
}

void CountTable::count_part(Block& block, const Block::Part& part, Workspace& work) const {
    const std::size_t a = part.attribute;
    if (prepared_.sparse.holds(a)) return count_sparse(block, part, work);
    const RowCounter counter(state_);
    const std::size_t lanes = counter.lanes();
    const GroupedRows& rows = rows_of(a);
    const std::size_t groups = rows.groups();
    if (a < n_attributes() && part.count == block.slots && part.count == groups && !wide_) {
        const Candidates candidates = candidates_of(a);
        if (!prepared_.is_packed(a) && (candidates.nominal || candidates.split == groups)) {
            const GroupSpan span{rows.rows.data(), rows.ends.data(), 0, std::uint32_t(groups), false};
            tile_kernels(false).count(span, !candidates.nominal, words_.data(), words_width_, n_lanes_, block.cells.data());
            for (std::size_t g = 0; g < groups; ++g) block.covered[g] = std::int32_t(candidates.nominal ? rows.size(g) : rows.ends[g]);
            return;
        }
        std::fill(block.cells.begin(), block.cells.end(), std::uint8_t(0));
    }
    std::vector<std::int32_t>&sums = work.counters, &other = work.other;
    const bool coded = prepared_.is_packed(a);
    if (coded) {
        work.by_code.assign(std::size_t(prepared_.attributes[a].values) * lanes, 0);
        counter.add_by_code(state_.training.rows, prepared_.codes[a].data(), work.by_code.data());
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
    const RowCounter counter(state_);
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

void CountTable::store(Block& block, const Block::Part& part, std::size_t slot, const std::int32_t* counters) const {
    std::uint8_t* tile = cells_of(block, slot / TILE);
    (wide_ ? store_slot<WideCell> : store_slot<NarrowCell>)(tile, slot % TILE, counters, state_.width, lane_of_state_);
    block.covered[slot] = counters[3 * state_.width];
    if (part.attribute < n_attributes()) return;
    // A label is never in the head of a rule that tests it.
    if (const std::int32_t own = lane_of_label_[part.attribute - n_attributes()]; own >= 0)
        (wide_ ? clear_lane<WideCell> : clear_lane<NarrowCell>)(tile, std::uint32_t(own), slot % TILE);
}

}  // namespace plurule
