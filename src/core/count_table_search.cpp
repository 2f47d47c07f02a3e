// What the first pass looks at.
#include "count_table.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "counting.hpp"

namespace plurule {

namespace {

// Never below the number itself, whatever was rounded on the way.
float up(double value) { return std::isfinite(value) ? float(value + 1e-6 * std::fabs(value) + 1e-30) : float(value); }
// A bound that reaches this, or nearly, reaches the floor.
float least_for(double floor) { return std::isfinite(floor) ? float(floor - 1e-6 * std::fabs(floor)) : float(floor); }

// What a slot covers, or all rows in training but those.
template <class Cell>
void gather_slot(const void* tile, std::size_t at, bool other_side, const LaneTotals& totals, const std::vector<std::uint32_t>& lanes,
                 std::size_t width, double* counters) {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        const std::uint32_t lane = lanes[i];
        const Cell& cell = static_cast<const Cell*>(tile)[lane];
        const std::int32_t tp = cell.tp(at), fp = cell.fp(at), present = std::int32_t(cell.present[at]);
        counters[i] = other_side ? totals.tp[lane] - tp : tp;
        counters[width + i] = other_side ? totals.fp[lane] - fp : fp;
        counters[2 * width + i] = other_side ? totals.present[lane] - present : present;
    }
}

}  // namespace

void CountTable::prepare_lengths() {
    const std::size_t count = totals_.active.size();
    lengths_.length.clear();
    lengths_.share.clear();
    lengths_.lift.clear();
    const auto lift = [&](std::size_t length) { return options_.head_search == HeadSearchKind::relaxed ? options_.lift[length - 1] : 1.0; };
    for (std::size_t length = 1, next; length <= count; length = next) {
        next = length + std::max<std::size_t>(1, length / 4);
        double highest = 0;
        for (std::size_t k = length; k < std::min(next, count + 1); ++k) highest = std::max(highest, lift(k));
        lengths_.length.push_back(length);
        lengths_.share.push_back(float(1.0 / double(length)));
        lengths_.lift.push_back(float(highest));
    }
    lengths_.of_each.clear();
    lengths_.highest_above.assign(count + 1, 0.0f);
    lengths_.highest_up_to.assign(count + 1, 0.0f);
    for (std::size_t k = 1; k <= count; ++k) {
        lengths_.of_each.push_back(float(lift(k) / double(k)));
        lengths_.highest_up_to[k] = std::max(lengths_.highest_up_to[k - 1], float(lift(k)));
    }
    for (std::size_t k = count; k-- > 0;) lengths_.highest_above[k] = std::max(lengths_.highest_above[k + 1], float(lift(k + 1)));
    const std::size_t n = head_values_.size(), length = std::max<std::size_t>(1, head_length_);
    const std::size_t ranks[THRESHOLDS] = {0, length / 2, length, 2 * length, 4 * length, 8 * length};
    for (std::size_t j = 0; j < THRESHOLDS; ++j) lengths_.thresholds[j] = n ? float(head_values_[std::min(n - 1, ranks[j])]) : 1 - 0.1f * float(j);
}

// "Some label reaches θ" is linear in the counts: numerator - θ × denominator is not below 0.
CountTable::Linear CountTable::reaching(double floor) const {
    const double theta = floor / double(scoring_.lift) * (1 - 1e-5);
    double weight[4];
    for (int i = 0; i < 4; ++i) weight[i] = quotient_.top[i] - theta * quotient_.bottom[i];
    const double constant = quotient_.top_constant - theta * quotient_.bottom_constant;
    Linear linear{{weight[0], weight[1], weight[2] - weight[3], -weight[2]}, {}, 1e-9};
    for (double w : linear.of_counts) linear.largest = std::max(linear.largest, std::fabs(w));
    for (std::size_t lane = 0; lane < n_lanes_; ++lane)
        linear.fixed.push_back(weight[2] * totals_.absent[lane] + weight[3] * totals_.present[lane] + constant);
    return linear;
}

void CountTable::prepare_reach(double floor, Reach& reach) const {
    const auto [of_counts, fixed, largest] = reaching(floor);
    // Weights of 16 bits, sums of 32.
    const double scale = std::min(30000.0, 4e8 / (double(totals_.rows) + 1)) / largest;
    std::int32_t whole[4];
    for (int i = 0; i < 4; ++i) whole[i] = std::int32_t(std::ceil(of_counts[i] * scale));
    reach.tp = whole[0];
    reach.fp = whole[1];
    reach.present = whole[2];
    reach.covered = whole[3];
    reach.below = float(floor * (1 - 9e-6));
    reach.least = float(floor / double(scoring_.lift) * (1 - 2e-5));
    reach.cut = scoring_.averages ? reach.least : -UNLIMITED;
    reach.needs_right = quotient_.top[2] != 0 || quotient_.top[3] != 0 || quotient_.top_constant != 0;
    const double precise = std::min(1000.0, 5e8 / (double(totals_.rows) + 1) / double(totals_.active.size() + 1));  // of all labels
    reach.per_right = float((1 - 1e-6) / precise);
    reach.right = std::int32_t(std::ceil(double(scoring_.right) * precise)) + 1;
    reach.wrong = -std::int32_t(std::floor(double(scoring_.wrong) * precise));
    for (auto* of_lanes : {&reach.constant, &reach.total, &reach.total_of_absence, &reach.total_right}) of_lanes->assign(n_lanes_, 0);
    for (std::uint32_t lane : totals_.active) {
        reach.constant[lane] = std::int32_t(std::ceil(std::clamp(fixed[lane] * scale, -8e8, 8e8))) + 1;
        const std::int32_t of_present = reach.present * totals_.present[lane] + reach.constant[lane];
        reach.total[lane] = reach.tp * totals_.tp[lane] + reach.fp * totals_.fp[lane] + of_present;
        reach.total_of_absence[lane] = reach.tp * totals_.fp[lane] + reach.fp * totals_.tp[lane] + of_present;
        reach.total_right[lane] = reach.right * totals_.tp[lane] + reach.wrong * totals_.fp[lane];
    }
}

void CountTable::prepare_flags(double floor, Flags& flags) const {
    const auto [of_counts, fixed, largest] = reaching(floor);
    double most_score = 1, most_right = 1;
    constexpr double PRECISE = 7;  // what is wrong by less than its inverse passes too
    const std::int32_t right = std::int32_t(std::ceil(double(scoring_.right) * PRECISE)) + 1;
    const std::int32_t wrong = -std::int32_t(std::floor(double(scoring_.wrong) * PRECISE));
    flags.asks_head = scoring_.asks_head;
    flags.asks_labels = scoring_.asks_labels;
    for (std::uint32_t lane : totals_.active) {
        const double of_lane[4] = {double(totals_.tp[lane]), double(totals_.fp[lane]), double(totals_.present[lane]), double(totals_.rows)};
        double score = std::fabs(fixed[lane]);
        for (int i = 0; i < 4; ++i) score += std::fabs(of_counts[i]) * (i < 2 ? of_lane[0] + of_lane[1] : of_lane[i]);
        most_score = std::max(most_score, score);
        most_right = std::max(most_right, (of_lane[0] + of_lane[1]) * std::max(right, -wrong));
    }
    flags.bits = 2 + std::int32_t(std::ceil(std::log2(most_right)));
    const double unit = double(std::int64_t(1) << flags.bits), scale = (0x1p30 / unit - 8) / (most_score + largest);
    std::int32_t whole[4];
    for (int i = 0; i < 4; ++i) whole[i] = std::int32_t(std::ceil(of_counts[i] * scale));
    flags.vectors.clear();
    for (std::size_t first = 0; first < state_.width; first += 8) {
        Flags::Vector& vector = flags.vectors.emplace_back();
        vector.first_lane = first;
        for (std::int32_t state = 0; state < 8; ++state) {
            const std::int32_t tp = (state & OPEN_PRESENT) != 0, fp = (state & OPEN_ABSENT) != 0;
            const std::int32_t score = tp * whole[0] + fp * whole[1] + (state & PRESENT ? whole[2] : 0) + whole[3];
            vector.of_state[state] = score * std::int32_t(unit) + tp * right + fp * wrong;
        }
        for (std::size_t i = 0; i < 8; ++i) {
            vector.least[i] = std::numeric_limits<std::int32_t>::max();
            vector.most[i] = std::numeric_limits<std::int32_t>::min();
            vector.all_right[i] = 0;
            if (first + i >= lane_of_state_.size()) continue;
            const std::size_t lane = lane_of_state_[first + i];
            const std::int32_t tp = totals_.tp[lane], fp = totals_.fp[lane];
            const double constant = std::ceil(fixed[lane] * scale) + 1;
            const double total = double(whole[0]) * tp + double(whole[1]) * fp + double(whole[2]) * totals_.present[lane] + double(whole[3]) * totals_.rows;
            vector.least[i] = std::int32_t((-constant - 0.5) * unit) - 1;
            vector.most[i] = std::int32_t((total + constant + 0.5) * unit) + 1;
            vector.all_right[i] = right * tp + wrong * fp;
        }
    }
}

// Adds the rows of a column from a place in its list to the end of a group.
void CountTable::count_up_to(const Block::Part& part, std::uint32_t from, std::size_t group, std::vector<std::int32_t>& counters) const {
    const GroupedRows& rows = rows_of(part.attribute);
    RowCounter(state_).add(rows.rows.data() + from, rows.ends[group] - from, counters.data());
}

// Whether a block can be looked at without counts: one column of few labels, whose groups are added up one after the other.
bool CountTable::is_flagged(const Block& block) const {
    const std::size_t a = block.parts[0].attribute;
    return !wide_ && !scoring_.additive && !scoring_.absence && block.stale && block.parts.size() == 1 && a < n_attributes() &&
           block.two_sided && !prepared_.is_packed(a) && !prepared_.sparse.holds(a) && !prepared_.attributes[a].nominal &&
           prepared_.attributes[a].rest < 0 && state_.width <= 8 * Flags::MOST_VECTORS;
}

// False, and nothing is done, where so many candidates may be the best that counting them all is less work.
bool CountTable::look_at_flagged(Block& block, const Pass& pass, std::size_t thread) {
    Workspace& work = work_[thread];
    const double floor = std::max(pass.floor(thread), 0.0);  // no value is below it
    if (!(floor <= work.flags_floor * 1.001)) {  // a lower floor lets more pass
        prepare_flags(floor, work.flags);
        work.flags_floor = floor;
    }
    const Block::Part& part = block.parts[0];
    const GroupedRows& rows = rows_of(part.attribute);
    const std::uint32_t groups = std::uint32_t(rows.groups());
    work.flagged.resize(2 * groups);
    const GroupSpan span{rows.rows.data(), rows.ends.data(), 0, groups, false};
    const std::size_t found = tile_kernels(wide_).flag(work.flags, span, state_.bytes.data(), state_.width, work.flagged.data());
    if (pass.keeps && 4 * found > groups) return false;
    Block& tile = work.scratch;
    begin_tile(part, tile);
    tile.hope = NOTHING;
    work.sums.assign(3 * state_.width + 1, 0);
    work.groups.clear();
    std::uint32_t counted = 0;
    for (std::size_t i = 0; i < found; ++i) {
        const std::uint32_t group = work.flagged[i] / 2;
        if (work.groups.empty() || work.groups.back() != group) {
            count_up_to(part, counted, group, work.sums);
            counted = rows.ends[group];
            store(tile, part, work.groups.size(), work.sums.data());
            work.groups.push_back(group);
        }
        if (i + 1 < found && (work.groups.size() < TILE || work.flagged[i + 1] / 2 == group)) continue;
        tile.shut();
        tile.open(0, work.groups.size());
        look_at_tile(tile, 0, pass, thread, work.groups.data());
        work.groups.clear();
    }
    block.hope = tile.hope;
    return true;
}

// One tile for slots of a column, wherever they stand.
void CountTable::begin_tile(const Block::Part& part, Block& tile) const {
    tile.parts = {part};
    tile.slots = TILE;
    tile.two_sided = true;
    tile.cells.resize(n_lanes_ * cell_bytes());
    tile.covered.assign(TILE, 0);
}

void CountTable::search(const Pass& pass) {
    scoring_ = pass.keeps ? kept_ : scoring_for(state_.asked);
    if (some_stale_) begin_counting();
    lane_of_state_.clear();
    for (std::int32_t label : state_.label_of_lane) lane_of_state_.push_back(std::uint32_t(lane_of_label_[std::size_t(label)]));
    totals_.active = lane_of_state_;
    prepare_lengths();
    for (Workspace& work : work_) {
        work.reach_floor = work.flags_floor = NOTHING;
        work.looked_at.assign(3 * state_.width + 1, 0.0);
    }
    std::vector<std::size_t> order;
    for (std::size_t b = 0; b < blocks_.size(); ++b)
        if (!pass.keeps || blocks_[b].highest >= least_for(pass.floor(0))) order.push_back(b);
    std::vector<std::pair<float, double>> hopes(blocks_.size());
    for (std::size_t b : order) hopes[b] = {pass.keeps ? blocks_[b].highest : UNLIMITED, blocks_[b].hope};
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return hopes[a] != hopes[b] ? hopes[a] > hopes[b] : a < b; });
    threads_.run(order, pass.alone, [&](std::size_t b, std::size_t t) { look_at(blocks_[b], pass, t); });
}

void CountTable::look_at(Block& block, const Pass& pass, std::size_t thread) {
    if (pass.keeps && block.highest < least_for(pass.floor(thread))) return;
    if (is_flagged(block) && look_at_flagged(block, pass, thread)) return;
    counted(block, work_[thread]);
    block.hope = NOTHING;
    for (std::size_t tile = 0; tile < block.tiles(); ++tile) {
        if (pass.keeps && block.best[tile] < least_for(pass.floor(thread))) continue;
        look_at_tile(block, tile, pass, thread);
        if (pass.keeps) block.refresh(tile);
    }
    if (pass.keeps) block.refresh_highest();
}

// `slots`: those that the tile holds, or null where they are in order.
void CountTable::look_at_tile(Block& block, std::size_t tile, const Pass& pass, std::size_t thread, const std::uint32_t* slots) {
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
    if (wanted & 0xff) look_at_side(block, tile, 0, wanted & 0xff, pass, thread, slots);
    if (wanted >> 8) look_at_side(block, tile, 1, wanted >> 8, pass, thread, slots);
}

void CountTable::look_at_side(Block& block, std::size_t tile, std::size_t side, std::uint32_t wanted, const Pass& pass, std::size_t thread,
                              const std::uint32_t* slots) {
    Workspace& work = work_[thread];
    TileValues values;
    tile_kernels(wide_).values(scoring_, totals_, lengths_, cells_of(block, tile), block.covered.data() + tile * TILE, side != 0,
                               least_for(pass.floor(thread)), values);
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
                b.cut[i] = values.cut[i];
            }
        }
        bound = std::min(bound, values.value[i]);
        if (!usable || lacks) continue;
        if (values.fails[i] && block.part_of(tile * TILE + i).attribute < n_attributes()) {  // conditions on labels exclude their own
            if (pass.keeps) {  // until a label changes that matters
                b.bound[i] = -UNLIMITED;
                b.cut[i] = values.cut[i];
                b.slack[i] = UNLIMITED;
            }
            continue;
        }
        left.emplace_back(-bound, i);
    }
    std::sort(left.begin(), left.end());
    for (const auto& [negative, i] : left) {
        if (-negative < least_for(pass.floor(thread))) break;
        const std::size_t slot = tile * TILE + i;
        const Block::Part& part = block.part_of(slot);
        Place place;
        if (!place_of(part, slots ? slots[i] : slot, side, place)) {
            b.bound[i] = -UNLIMITED;
            b.cut[i] = b.slack[i] = UNLIMITED;
            continue;
        }
        gather(block, slot, side, work.looked_at);
        const Finding found = pass.look(place, part.attribute, work.looked_at, thread);
        if (!pass.keeps) continue;
        if (!(found.slack > 0) && std::isfinite(found.bound)) block.hope = std::max(block.hope, found.bound);
        b.bound[i] = found.slack > 0 ? -UNLIMITED : up(found.bound);
        b.cut[i] = std::isfinite(found.cut) ? float(found.cut - 1e-5 * std::fabs(found.cut)) : float(found.cut);
        b.slack[i] = found.slack > 0 ? float(found.slack) : UNLIMITED;
    }
}

void CountTable::gather(Block& block, std::size_t slot, std::size_t side, std::vector<double>& counters) {
    const auto gather_cell = wide_ ? gather_slot<WideCell> : gather_slot<NarrowCell>;
    gather_cell(cells_of(block, slot / TILE), slot % TILE, side != 0, totals_, lane_of_state_, state_.width, counters.data());
    counters.back() = side ? totals_.rows - block.covered[slot] : block.covered[slot];
}

}  // namespace plurule
