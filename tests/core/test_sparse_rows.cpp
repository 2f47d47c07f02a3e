// The slots of a row are its listed values, of the attributes that are sparse.
#include <doctest/doctest.h>

#include "sparse_rows.hpp"

using namespace plurule;

namespace {

GroupedRows grouped(std::vector<std::int32_t> ids, std::vector<std::vector<Row>> groups) {
    GroupedRows made;
    for (std::size_t g = 0; g < ids.size(); ++g) {
        made.rows.insert(made.rows.end(), groups[g].begin(), groups[g].end());
        made.ends.push_back(std::uint32_t(made.rows.size()));
        made.ids.push_back(ids[g]);
    }
    return made;
}

Attribute attribute(bool nominal, std::int32_t rest) {
    Attribute made;
    made.nominal = nominal;
    made.rest = rest;
    return made;
}

std::vector<std::uint32_t> slots_of(const SparseRows& rows, Row row) {
    const auto slots = rows.slots_of(row);
    return {slots.begin(), slots.end()};
}

}  // namespace

TEST_CASE("a row lists the slots of its values, ascending") {
    const SparseRows rows(8, {attribute(true, 0), attribute(false, 1), attribute(true, 0)},
                          {grouped({1}, {{2, 5}}), grouped({0, 2}, {{5}, {3}}), grouped({}, {})});
    CHECK(rows.n_slots() == 4);
    CHECK(slots_of(rows, 0).empty());
    CHECK(slots_of(rows, 2) == std::vector<std::uint32_t>{0});
    CHECK(slots_of(rows, 3) == std::vector<std::uint32_t>{2});
    CHECK(slots_of(rows, 5) == std::vector<std::uint32_t>{0, 1});
    CHECK(rows.attribute_of(2) == 1);
    CHECK(rows.first_slot(2) == 3);
    CHECK(rows.nominal() == std::vector<std::uint32_t>{0, 2});
}

TEST_CASE("attributes with gaps, with many listed rows or with every value listed are not sparse") {
    GroupedRows with_gap = grouped({1}, {{2}});
    with_gap.missing.push_back(4);
    const SparseRows rows(8, {attribute(true, 0), attribute(false, 1), attribute(false, -1), attribute(true, 0)},
                          {with_gap, grouped({0}, {{0, 1, 2}}), grouped({0}, {{1}}), grouped({1, 2}, {{1}, {2}})});
    CHECK(rows.empty());
    for (std::size_t a = 0; a < 4; ++a) CHECK_FALSE(rows.holds(a));
}
