// What rules change: pairs that are closed, and rows that leave training.
#include "count_table.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace plurule {

namespace {

std::uint64_t word_of(bool present) { return present ? std::uint64_t(1) : std::uint64_t(1) << 32; }

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

}  // namespace

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
            if (state_.open[state_.at(row, std::size_t(assigned.label))]) closed.rows.push_back(row);
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
        const Block::Part& part = block.parts[where_[a].second];
        const std::size_t at = listed - prepared_.sparse.first_slot(a);
        // What is added up towards the value that is not listed.
        const std::size_t split = part.count == 1 ? 1 : Candidates(prepared_.attributes[a], prepared_.grouped[a], state_.n_rows).split;
        for (std::size_t i = at < split ? at : split; i < (at < split ? split : at + 1); ++i) {
            const std::size_t slot = part.first + i;
            (wide_ ? take_row<WideCell> : take_row<NarrowCell>)(cells_of(block, slot / TILE), slot % TILE, bytes, lane_of_state_);
            --block.covered[slot];
        }
    }
}

void CountTable::close(bool alone) {
    if (!started_) return;
    const bool removed = std::exchange(removed_, false);
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
        for (Row row : closed.rows)
            if (!wide_) words_[word_at(row, closed.closing.lane)] = 0;  // blocks may be counted later
        if (state_.set_aside[label]) {  // nothing is left of it
            totals_.tp[closed.closing.lane] = totals_.fp[closed.closing.lane] = 0;
            continue;
        }
        for (Row row : closed.rows) {
            const bool present = state_.truth[state_.at(row, label)];
            --(present ? totals_.tp : totals_.fp)[closed.closing.lane];
            closed.taken.push_back(word_of(present));
        }
        if (n_sparse_) {
            closed.sparse.assign(prepared_.sparse.n_slots(), 0);
            for (std::size_t i = 0; i < closed.rows.size(); ++i)
                for (std::uint32_t slot : prepared_.sparse.slots_of(closed.rows[i])) closed.sparse[slot] += closed.taken[i];
        }
        if (!some_listed_) continue;
        closed.words.assign(state_.n_rows, 0);
        for (Row row : state_.training.rows) closed.words[row] = open_word(row, label);
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
    work.tp.assign(tiles * TILE, 0);
    work.fp.assign(tiles * TILE, 0);
    if (!state_.set_aside[std::size_t(closed.label)]) recount(block, closed, work);
    const TileKernels& kernels = tile_kernels(wide_);
    bool some_changed = false;
    for (std::size_t tile = 0; tile < tiles; ++tile) {
        const TileBounds sides[2] = {block.bounds(tile, 0), block.bounds(tile, block.sides() - 1)};
        some_changed |= kernels.revise(kept_, totals_, closed.closing, cells_of(block, tile), work.tp.data() + tile * TILE,
                                       work.fp.data() + tile * TILE, block.covered.data() + tile * TILE, sides, block.sides(), &block.best[tile]);
    }
    for (const Block::Part& part : block.parts)
        if (part.attribute == n_attributes() + std::size_t(closed.label)) {  // its conditions cover other rows now
            count_part(block, part, work);
            block.open(part.first, part.count);
            some_changed = true;
        }
    if (some_changed) block.refresh_highest();
}

// Writes what the slots of a block have of a closed label now.
void CountTable::recount(Block& block, const Closed& closed, Workspace& work) const {
    const std::size_t tiles = block.tiles();
    const bool all_written = std::all_of(block.parts.begin(), block.parts.end(), [&](const Block::Part& part) {
        return part.attribute < n_attributes() && !prepared_.is_packed(part.attribute) && !prepared_.sparse.holds(part.attribute);
    });
    for (std::size_t tile = all_written ? tiles - 1 : 0; tile < tiles; ++tile)  // the last one is not full
        (wide_ ? copy_lane<WideCell> : copy_lane<NarrowCell>)(cells_of(block, tile), closed.closing.lane, work.tp.data() + tile * TILE,
                                                                     work.fp.data() + tile * TILE);
    for (const Block::Part& part : block.parts)
        if (part.attribute != n_attributes() + std::size_t(closed.label)) recount(part, closed, work);
}

// What a row that is in training has of a label that can still be in heads: 1 for a TP, 1 in the upper half for an FP.
std::uint64_t CountTable::open_word(Row row, std::size_t label) const {
    const std::size_t pair = state_.at(row, label);
    return state_.open[pair] && !state_.set_aside[label] ? word_of(state_.truth[pair]) : 0;
}

// Writes what the slots of an attribute have of a closed label now.
void CountTable::recount(const Block::Part& part, const Closed& closed, Workspace& work) const {
    const std::size_t a = part.attribute;
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
        if (part.count == 1) return sum = *of_slots, take(0);
        if (std::all_of(of_slots, of_slots + part.count, [](std::uint64_t word) { return word == 0; })) return;
        const Candidates slots(prepared_.attributes[a], prepared_.grouped[a], state_.n_rows);
        from_both_ends(slots, part.count, [&] { sum = 0; }, [&](std::size_t i) { sum += of_slots[i], take(i); });
        return;
    }
    const GroupedRows& rows = rows_of(a);
    const std::size_t groups = rows.groups();
    if (prepared_.is_packed(a)) {
        std::uint64_t by_code[256] = {};
        for (std::size_t i = 0; i < closed.rows.size(); ++i) by_code[prepared_.codes[a][closed.rows[i]]] += closed.taken[i];
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
        for (std::size_t g = 0; g < groups; ++g) {
            sum = 0;
            for (std::size_t i = 0; i < rows.size(g); ++i) sum += open_word(rows.begin(g)[i], std::size_t(closed.label));
            write(std::size_t(rows.ids[g]), sum);
        }
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

}  // namespace plurule
