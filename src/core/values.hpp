// The values of a table, ranked once; any number of fits share them.
//
// An attribute is dense: a code per row, its rank among the values or its category, and one more code for a missing value. Or it
// is sparse: one value is usual, and only the rows with another value are listed, row by row.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace plurule {

using Row = std::uint32_t;

struct Attribute {
    bool nominal = false;
    std::int32_t values = 0;              // number of distinct values (ranks or categories)
    std::int32_t usual = -1;              // sparse: the value of the rows that are not listed; -1: dense
    bool some_missing = false;            // dense only
    std::vector<double> lowest, highest;  // numeric: the ends of each rank; no `highest` where every rank is one value

    bool sparse() const { return usual >= 0; }
    double highest_of(std::size_t rank) const { return (highest.empty() ? lowest : highest)[rank]; }
};

// The condition on an attribute: which ranks, or which category, it covers.
struct Split {
    std::int32_t below = 0;  // numeric: last rank at or below the threshold; nominal: the category
    std::int32_t above = 0;  // numeric: first rank above it
    bool greater = false;    // numeric: `>` instead of `<=`

    std::int64_t order() const { return 2 * std::int64_t(below) + greater; }
    bool covers(bool nominal, std::int32_t value) const {
        if (nominal) return value == below;
        return greater ? value >= above : value <= below;
    }
};

// Halfway between two values, below <= middle < above for any finite doubles.
inline double midpoint(double below, double above) {
    double middle = (below + above) / 2;
    if (std::isinf(middle)) middle = below / 2 + above / 2;
    return below <= middle && middle < above ? middle : below;
}

// The codes of a dense attribute, in as few bytes as they fit into.
class Codes {
   public:
    // Ranks below 0 are missing; their code is the number of values.
    void assign(const std::vector<std::int32_t>& ranks, std::int32_t values) {
        const auto fill = [&](auto& codes) {
            codes.resize(ranks.size());
            for (std::size_t i = 0; i < ranks.size(); ++i)
                codes[i] = static_cast<typename std::decay_t<decltype(codes)>::value_type>(ranks[i] < 0 ? values : ranks[i]);
        };
        if (values < 1 << 8)
            fill(bytes_);
        else if (values < 1 << 16)
            fill(words_);
        else
            fill(longs_);
    }
    bool empty() const { return bytes_.empty() && words_.empty() && longs_.empty(); }
    std::size_t size_in_bytes() const { return bytes_.size() + 2 * words_.size() + 4 * longs_.size(); }
    // use(codes), a pointer to uint8, uint16 or uint32.
    template <class Use>
    decltype(auto) with(Use&& use) const {
        if (!bytes_.empty()) return use(bytes_.data());
        if (!words_.empty()) return use(words_.data());
        return use(longs_.data());
    }

   private:
    std::vector<std::uint8_t> bytes_;
    std::vector<std::uint16_t> words_;
    std::vector<std::uint32_t> longs_;
};

// The slots that rows list, those of a row from the end of the row before it to its own.
struct SlotLists {
    const std::size_t* ends;  // per row, behind a 0
    const std::uint32_t* slots;
};

// What the rows list of the sparse attributes, like a matrix in compressed rows. Every value that some row lists of an attribute
// is a slot, of a nominal one the only one (even if no row has it); slots are numbered attribute by attribute, in the order of
// values.
class SparseValues {
   public:
    struct Column {
        std::size_t attribute;
        std::vector<Row> rows;  // ascending
        std::vector<std::int32_t> values;
    };
    SparseValues() = default;
    // Columns are in the order of their attributes.
    SparseValues(std::size_t n_rows, const std::vector<Attribute>& attributes, const std::vector<Column>& columns);

    std::size_t n_slots() const { return attribute_of_slot_.size(); }
    const std::vector<std::uint32_t>& attributes() const { return attributes_; }
    std::uint32_t attribute_of(std::size_t slot) const { return attribute_of_slot_[slot]; }
    std::int32_t value_of(std::size_t slot) const { return value_of_slot_[slot]; }
    std::uint32_t first_slot(std::size_t a) const { return first_slot_[a]; }
    std::uint32_t end_slot(std::size_t a) const { return end_slot_[a]; }
    // The first slot of a numeric attribute whose value is above the usual one.
    std::uint32_t first_above(std::size_t a, std::int32_t usual) const {
        const auto first = value_of_slot_.begin();
        return std::uint32_t(std::lower_bound(first + first_slot_[a], first + end_slot_[a], usual) - first);
    }
    SlotLists lists() const { return {ends_.data(), slots_.data()}; }
    std::span<const std::uint32_t> slots_of(Row row) const {
        return {slots_.data() + ends_[row], slots_.data() + ends_[row + 1]};
    }
    // The rows that list a slot, ascending.
    std::span<const Row> rows_of(std::size_t slot) const {
        return {rows_.data() + row_ends_[slot], rows_.data() + row_ends_[slot + 1]};
    }
    // The values that all rows have of a sparse attribute.
    std::vector<std::int32_t> values_of(std::size_t a, std::size_t n_rows, std::int32_t usual) const {
        std::vector<std::int32_t> values(n_rows, usual);
        for (std::size_t slot = first_slot_[a]; slot < end_slot_[a]; ++slot)
            for (Row row : rows_of(slot)) values[row] = value_of_slot_[slot];
        return values;
    }
    std::size_t size_in_bytes() const { return 2 * slots_.size() * sizeof(slots_[0]); }

   private:
    void list_rows();

    std::vector<std::uint32_t> attributes_;              // that are sparse, ascending
    std::vector<std::uint32_t> first_slot_, end_slot_;  // per attribute of the table
    std::vector<std::uint32_t> attribute_of_slot_;
    std::vector<std::int32_t> value_of_slot_;
    std::vector<std::size_t> ends_;     // per row, behind a 0: where its slots end
    std::vector<std::uint32_t> slots_;  // ascending for each row
    std::vector<std::size_t> row_ends_;  // per slot, behind a 0: where its rows end
    std::vector<Row> rows_;              // the same by slots
};

struct RankedColumns {
    std::size_t n_rows = 0;
    std::vector<Attribute> attributes;
    std::vector<Codes> codes;  // per attribute; empty: it is sparse
    SparseValues sparse;
    bool is_complete = false;                   // `sparse` has all sparse columns, and no more can be added
    std::vector<SparseValues::Column> waiting;  // those columns, until then

    std::size_t size_in_bytes() const {
        std::size_t bytes = sparse.size_in_bytes();
        for (const Codes& of_attribute : codes) bytes += of_attribute.size_in_bytes();
        return bytes;
    }
};

}  // namespace plurule
