#include "sparse_rows.hpp"

namespace plurule {

namespace {

// Nothing is missing, the values but one are listed, and at most a quarter of the rows is; a condition splits the rows in two.
bool is_sparse(std::size_t n_rows, const Attribute& attribute, const GroupedRows& grouped) {
    return attribute.rest >= 0 && grouped.missing.empty() && (!attribute.nominal || grouped.groups() <= 1) && 4 * grouped.listed() <= n_rows;
}

}  // namespace

SparseRows::SparseRows(std::size_t n_rows, const std::vector<Attribute>& attributes, const std::vector<GroupedRows>& grouped) {
    for (std::size_t a = 0; a < attributes.size(); ++a) {
        if (!is_sparse(n_rows, attributes[a], grouped[a])) {
            others_.push_back(std::uint32_t(a));
            continue;
        }
        if (ends_.empty()) {
            first_slot_.assign(attributes.size(), NONE);
            ends_.assign(n_rows + 1, 0);
        }
        first_slot_[a] = std::uint32_t(attribute_of_slot_.size());
        attribute_of_slot_.insert(attribute_of_slot_.end(), attributes[a].nominal ? 1 : grouped[a].groups(), std::uint32_t(a));
        if (attributes[a].nominal) nominal_.push_back(std::uint32_t(a));
        for (Row row : grouped[a].rows) ++ends_[row + 1];
    }
    if (ends_.empty()) return;
    for (std::size_t row = 0; row < n_rows; ++row) ends_[row + 1] += ends_[row];
    slots_.resize(ends_.back());
    std::vector<std::size_t> next(ends_.begin(), ends_.end() - 1);
    for (std::size_t a = 0; a < attributes.size(); ++a)
        for (std::size_t g = 0; holds(a) && g < grouped[a].groups(); ++g)
            for (std::size_t i = 0; i < grouped[a].size(g); ++i) slots_[next[grouped[a].begin(g)[i]]++] = first_slot_[a] + std::uint32_t(g);
}

}  // namespace plurule
