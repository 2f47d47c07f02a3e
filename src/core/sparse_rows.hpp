// The listed values of each row, over the attributes that list few rows: what some rows hold is found without a look at
// every attribute.
//
// Every listed value of such an attribute is a slot, of a nominal one the only one (even if no row has it); slots are numbered
// attribute by attribute, in the order of values.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "grouped_rows.hpp"

namespace plurule {

class SparseRows {
   public:
    SparseRows() = default;
    SparseRows(std::size_t n_rows, const std::vector<Attribute>& attributes, const std::vector<GroupedRows>& grouped);

    bool empty() const { return attribute_of_slot_.empty(); }
    bool holds(std::size_t a) const { return a < first_slot_.size() && first_slot_[a] != NONE; }
    std::size_t n_slots() const { return attribute_of_slot_.size(); }
    std::uint32_t attribute_of(std::uint32_t slot) const { return attribute_of_slot_[slot]; }
    std::uint32_t first_slot(std::size_t a) const { return first_slot_[a]; }
    // The attributes that are not among these, ascending.
    const std::vector<std::uint32_t>& others() const { return others_; }
    // The attributes whose unlisted value is a category, ascending.
    const std::vector<std::uint32_t>& nominal() const { return nominal_; }
    std::span<const std::uint32_t> slots_of(Row row) const { return {slots_.data() + ends_[row], slots_.data() + ends_[row + 1]}; }

   private:
    static constexpr std::uint32_t NONE = ~std::uint32_t(0);
    std::vector<std::uint32_t> first_slot_;  // per attribute
    std::vector<std::uint32_t> attribute_of_slot_, nominal_, others_;
    std::vector<std::size_t> ends_;     // per row, behind a 0: where its slots end
    std::vector<std::uint32_t> slots_;  // ascending for each row
};

}  // namespace plurule
