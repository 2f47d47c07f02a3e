// The counts of every slot and label, kept from rule to rule, and bounds of what the candidates are worth.
//
// A rule only closes pairs of the labels in its head: the counts of those labels are brought up to date, and with them the
// bounds of the candidates. The first pass for the next rule looks only where a bound reaches the best value so far (lazy
// greedy): at eight candidates at once, and exactly at the few that are left. Rows that leave training change every bound; they
// are taken out of the counts of the sparse attributes that list them, and all others are counted anew, when they are looked
// at. Columns of exact values and few labels have no counts where few candidates may be the best: these are flagged in one pass over
// the rows.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "head_search.hpp"
#include "options.hpp"
#include "state.hpp"
#include "threads.hpp"
#include "tiles.hpp"

namespace plurule {

constexpr float UNLIMITED = std::numeric_limits<float>::infinity();
constexpr std::uint32_t NOWHERE = ~std::uint32_t(0);

// What an exact look at a candidate tells about later looks.
struct Finding {
    static constexpr double ANY = std::numeric_limits<double>::infinity();
    double bound = ANY;    // no head is worth more, as long as no label in play changes
    double cut = NOTHING;  // a label that has, or had, at least this value is in play
    double slack = 0;      // above 0: no head until labels in play change, or labels gain this much surplus
};

// Some attributes whose slots are kept together: one with many slots, or many with few.
struct Block {
    struct Part {
        std::uint32_t attribute;     // from n_attributes on: labels
        std::uint32_t first, count;  // slots
        bool two_sided;
    };
    std::vector<Part> parts;
    std::size_t slots = 0;
    std::vector<std::uint8_t> cells;  // tiles × lanes
    std::vector<std::int32_t> covered;
    std::vector<float> bound, cut, slack;  // first those of the slots, then those of their other sides
    std::vector<float> best;               // of each tile
    float highest = 0;                     // of all
    double hope = NOTHING;                 // the best that was found by the last look
    bool two_sided = false;                // some slot is
    bool stale = true;                     // to be counted before a look

    std::size_t tiles() const { return (slots + TILE - 1) / TILE; }
    std::size_t sides() const { return two_sided ? 2 : 1; }
    TileBounds bounds(std::size_t tile, std::size_t side) {
        const std::size_t at = (side * tiles() + tile) * TILE;
        return {bound.data() + at, cut.data() + at, slack.data() + at};
    }
    const Part& part_of(std::size_t slot) const;
    void shut();
    void open(std::size_t first, std::size_t count);
    void refresh(std::size_t tile);
    void refresh_highest();
};

class CountTable {
   public:
    // Whether the values of the options can be bounded, and the counts take a bearable amount of memory.
    static bool suits(const Options& options, const HeadSearch& search, const Prepared& prepared, const State& state);

    CountTable(const Prepared& prepared, const State& state, const Options& options, const HeadSearch& search, Threads& threads);

    bool started() const { return started_; }
    // Everything is to be counted anew. `attributes`: those that a first condition may be on, labels behind them.
    void start(const std::vector<std::size_t>& attributes);

    // Some rows are about to be closed for the labels of a head, or to leave training; and did.
    void about_to_close(const std::vector<Assignment>& head, const std::vector<Row>& rows);
    void about_to_remove(const std::vector<Row>& rows);
    void close(bool alone);

    // A pass over the candidates that may reach the best value so far.
    struct Pass {
        bool keeps;  // bounds are used and kept; or else all candidates are looked at, for other labels or another precision
        bool alone;
        std::function<double(std::size_t thread)> floor;  // the value to reach, as a thread knows it
        // Looks at one candidate exactly.
        std::function<Finding(const Place&, std::size_t attribute, const std::vector<double>& counters, std::size_t thread)> look;
    };
    void search(const Pass& pass);

    // The values of all labels of the last rule's body, best first, and the length of its head: bounds are sharp for the like of it.
    void note_labels(std::vector<double> values, std::size_t length) {
        head_values_ = std::move(values);
        head_length_ = length;
    }

   private:
    struct Workspace {
        std::vector<std::int32_t> counters, sums, other, tp, fp, by_code;
        std::vector<double> looked_at;  // counters of a candidate
        Reach reach;
        Flags flags;
        double reach_floor = NOTHING, flags_floor = NOTHING;
        std::vector<std::uint32_t> flagged, groups;
        Block scratch;  // one tile, for counts that are not kept
    };
    // One label whose pairs are closed.
    struct Closed {
        std::int32_t label;
        Closing closing;
        std::vector<Row> rows;              // whose pairs were open before
        std::vector<std::uint64_t> taken;   // of each of them: 1 for a TP, 1 in the upper half for an FP
        std::vector<std::uint64_t> words;   // per row: the same of what is still open, where there are lists of rows of attributes
        std::vector<std::uint64_t> sparse;  // per sparse slot: the same of what was closed
    };

    std::size_t n_attributes() const { return prepared_.attributes.size(); }
    std::size_t cell_bytes() const { return wide_ ? sizeof(WideCell) : sizeof(NarrowCell); }
    std::uint8_t* cells_of(Block& block, std::size_t tile) const { return block.cells.data() + tile * n_lanes_ * cell_bytes(); }
    const GroupedRows& rows_of(std::size_t a) const { return prepared_.is_packed(a) ? measured_[a] : state_.training.at(a); }
    Candidates candidates_of(std::size_t a) const;
    // The values of the slots of a sparse attribute: those of all rows, in training or not.
    const Buffer<std::int32_t>& values_of(std::size_t a) const { return prepared_.grouped[a].ids; }
    bool place_of(const Block::Part& part, std::size_t slot, std::size_t side, Place& place) const;

    void lay_out(bool sparse);
    void count_totals();
    void begin_counting();
    Block& counted(Block& block, Workspace& work) const;
    void take_out(Row row);
    void write_words();
    std::size_t word_at(std::size_t row, std::size_t lane) const { return 2 * (row * words_width_ + lane - lane % 8) + lane % 8; }
    void count(Block& block, Workspace& work) const;
    void count_part(Block& block, const Block::Part& part, Workspace& work) const;
    void store(Block& block, const Block::Part& part, std::size_t slot, const std::int32_t* counters) const;
    void count_sparse(Block& block, const Block::Part& part, Workspace& work) const;
    void revise_all(bool alone);
    void revise(Block& block, const Closed& closed, Workspace& work);
    void recount(Block& block, const Closed& closed, Workspace& work) const;
    std::uint64_t open_word(Row row, std::size_t label) const;
    void recount(const Block::Part& part, const Closed& closed, Workspace& work) const;
    void gather(Block& block, std::size_t slot, std::size_t side, std::vector<double>& counters);

    // Weights of TP, FP, positives and rows, and what is added per lane: not below 0 where a label may reach the floor.
    struct Linear {
        double of_counts[4];
        std::vector<double> fixed;
        double largest;  // of the weights
    };
    Scoring scoring_for(const MinPrecision& asked) const;
    Linear reaching(double floor) const;
    void prepare_lengths();
    void prepare_reach(double floor, Reach& reach) const;
    void prepare_flags(double floor, Flags& flags) const;
    bool is_flagged(const Block& block) const;
    void count_up_to(const Block::Part& part, std::uint32_t from, std::size_t group, std::vector<std::int32_t>& counters) const;
    void begin_tile(const Block::Part& part, Block& tile) const;
    bool look_at_flagged(Block& block, const Pass& pass, std::size_t thread);
    void look_at(Block& block, const Pass& pass, std::size_t thread);
    void look_at_tile(Block& block, std::size_t tile, const Pass& pass, std::size_t thread, const std::uint32_t* slots = nullptr);
    void look_at_side(Block& block, std::size_t tile, std::size_t side, std::uint32_t wanted, const Pass& pass, std::size_t thread,
                      const std::uint32_t* slots);

    const Prepared& prepared_;
    const State& state_;
    const Options& options_;
    const HeadSearch& head_search_;
    Threads& threads_;
    Quotient quotient_{};
    Scoring kept_{}, scoring_{};  // with which bounds are kept; of the pass
    Lengths lengths_;
    LaneTotals totals_;
    std::vector<std::int32_t> total_counters_;
    bool wide_ = false, started_ = false;
    std::size_t n_lanes_ = 0;
    std::vector<std::int32_t> lane_of_label_;
    std::vector<std::uint32_t> lane_of_state_;  // lanes here of the lanes that the state has now
    Buffer<std::uint32_t> words_;               // rows × width, eight lanes at a time: what they add to pairs, and to positives
    std::size_t words_width_ = 0;
    std::vector<GroupedRows> measured_;         // packed attributes: how large their groups are
    std::vector<std::size_t> attributes_[2];  // that a first condition may be on: those that are not sparse, those that are
    std::vector<Block> blocks_;            // first those of sparse attributes
    std::size_t n_sparse_ = 0;             // so many
    bool removed_ = false;  // rows have left training
    bool some_stale_ = false;
    bool some_listed_ = false;  // some attribute is kept as lists of rows, and is not sparse
    std::vector<Workspace> work_;
    std::vector<Closed> closed_;
    std::vector<double> head_values_;
    std::size_t head_length_ = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> where_;  // per attribute: its block, and its part there
};

}  // namespace plurule
