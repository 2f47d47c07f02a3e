// What the first pass looks at.
#include "count_table.hpp"

#include <algorithm>
#include <cmath>

namespace plurule {

namespace {

constexpr std::size_t FEW_LABELS = 16;  // are put in order, eight candidates at once
constexpr std::size_t FIRST_LOOKS = 8;  // at candidates that were good for the last rule

// Never below the number itself, whatever was rounded on the way.
float up(double value) { return std::isfinite(value) ? float(value + 1e-6 * std::fabs(value) + 1e-30) : float(value); }
// A bound that reaches this, or nearly, reaches the floor.
float least_for(double floor) { return std::isfinite(floor) ? float(floor - 1e-6 * std::fabs(floor)) : float(floor); }

template <class Cell>
void gather_slot(const void* tile, std::size_t at, std::int32_t* counters, std::size_t width, const std::vector<std::uint32_t>& lanes) {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        const Cell& cell = static_cast<const Cell*>(tile)[lanes[i]];
        counters[i] = cell.tp(at);
        counters[width + i] = cell.fp(at);
        counters[2 * width + i] = std::int32_t(cell.present[at]);
    }
}

}  // namespace

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
