#include "values.hpp"

namespace plurule {

SparseValues::SparseValues(std::size_t n_rows, const std::vector<Attribute>& attributes, const std::vector<Column>& columns)
    : first_slot_(attributes.size(), 0), end_slot_(attributes.size(), 0), ends_(n_rows + 1, 0) {
    for (const Column& column : columns)
        for (Row row : column.rows) ++ends_[row + 1];
    for (std::size_t row = 0; row < n_rows; ++row) ends_[row + 1] += ends_[row];
    std::vector<std::size_t> next(ends_.begin(), ends_.end() - 1);
    slots_.resize(ends_.back());
    for (const Column& column : columns) {
        const std::size_t a = column.attribute;
        std::vector<std::int32_t> values = column.values;
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
        if (values.empty() && attributes[a].nominal) values.push_back(attributes[a].usual == 0);
        attributes_.push_back(std::uint32_t(a));
        first_slot_[a] = std::uint32_t(n_slots());
        attribute_of_slot_.insert(attribute_of_slot_.end(), values.size(), std::uint32_t(a));
        value_of_slot_.insert(value_of_slot_.end(), values.begin(), values.end());
        end_slot_[a] = std::uint32_t(n_slots());
        for (std::size_t i = 0; i < column.rows.size(); ++i) {
            const auto at = std::lower_bound(values.begin(), values.end(), column.values[i]);
            slots_[next[column.rows[i]]++] = first_slot_[a] + std::uint32_t(at - values.begin());
        }
    }
    list_rows();
}

void SparseValues::list_rows() {
    row_ends_.assign(n_slots() + 1, 0);
    for (std::uint32_t slot : slots_) ++row_ends_[slot + 1];
    for (std::size_t slot = 0; slot < n_slots(); ++slot) row_ends_[slot + 1] += row_ends_[slot];
    std::vector<std::size_t> next(row_ends_.begin(), row_ends_.end() - 1);
    rows_.resize(slots_.size());
    for (Row row = 0; row + 1 < ends_.size(); ++row)
        for (std::uint32_t slot : slots_of(row)) rows_[next[slot]++] = row;
}

}  // namespace plurule
