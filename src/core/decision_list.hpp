// Applying a rule list to the rows of a table, a block of rows at a time, with one bit per row.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace plurule {

// A column as it was given: dense with any stride, or the rows (ascending) that differ from 0 with their values.
struct ColumnView {
    enum class Kind : std::uint8_t { float32, float64, codes };
    Kind kind;
    const char* values;
    std::int64_t stride;                 // bytes from one value to the next
    const std::int32_t* rows = nullptr;  // sparse: the rows that are listed
    std::size_t listed = 0;              // sparse: how many
    bool sparse = false;
};

enum class Test : std::uint8_t { at_most, above, equals, label_absent, label_present };

struct ListCondition {
    Test test;
    std::uint32_t index;  // of the column, or of the label
    double value;         // a threshold or a code
    bool on_label() const { return test == Test::label_absent || test == Test::label_present; }
};

struct ListRule {
    std::vector<std::uint32_t> body;                    // positions among the conditions of the list
    std::vector<std::pair<std::uint32_t, bool>> head;  // labels, and whether each is present
    bool stop;
};

struct DecisionList {
    std::vector<ListCondition> conditions;  // each once, however many rules share it
    std::vector<ListRule> rules;
    std::size_t n_labels = 0;
};

// Where decisions go: matrices of all rows by labels, of which the second may be null, and a mark per row, which may be.
struct DecisionsOut {
    std::int8_t* predicted;    // 1 present, 0 absent, -1 decided by no rule
    std::int32_t* decided_by;  // the position of the rule, or -1
    bool* going_on;            // whether no stop rule ended the row
};

void decide(const DecisionList& list, const std::vector<ColumnView>& columns, std::size_t n_rows, DecisionsOut out,
            std::size_t n_threads);

}  // namespace plurule
