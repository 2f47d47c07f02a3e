// Columns from Python: dense or sparse, numeric or nominal.
#include <cstring>

#include "bindings.hpp"

namespace plurule {
namespace {

constexpr std::size_t MOST_ROWS = std::size_t(1) << 31;

// Values of a column of floats, whatever its width and stride.
struct Floats {
    const char* data;
    std::int64_t stride;
    bool wide;
    explicit Floats(const AnyColumn& column) {
        if (column.dtype() == nb::dtype<double>())
            wide = true;
        else if (column.dtype() == nb::dtype<float>())
            wide = false;
        else
            throw std::invalid_argument("a numeric column must hold float32 or float64");
        data = static_cast<const char*>(column.data());
        stride = column.stride(0) * std::int64_t(wide ? sizeof(double) : sizeof(float));
    }
    double operator[](std::size_t i) const {
        const char* at = data + std::int64_t(i) * stride;
        if (wide) {
            double value;
            std::memcpy(&value, at, sizeof value);
            return value;
        }
        float value;
        std::memcpy(&value, at, sizeof value);
        return double(value);
    }
};

// The rows of a sparse column: ascending and in range.
void check_sparse_rows(std::span<const std::int32_t> rows, std::size_t n_rows) {
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i] < 0 || std::size_t(rows[i]) >= n_rows || (i && rows[i] <= rows[i - 1]))
            throw std::invalid_argument("the rows of a sparse column must be ascending and within the table");
}

std::span<const std::int32_t> span_of(const Ints& numbers) { return {numbers.data(), numbers.size()}; }

void enter(double value, Row row, std::vector<Entry>& entries, GroupedRows& grouped) {
    if (std::isnan(value))
        grouped.missing.push_back(row);
    else if (std::isinf(value))
        throw std::invalid_argument("a numeric column holds an infinite value");
    else
        entries.push_back({value, row});
}

}  // namespace

Columns::Columns(std::size_t n_rows, std::int32_t max_bins, std::optional<Doubles> weights, std::size_t pack_from)
    : max_bins_(max_bins), pack_from_(pack_from) {
    if (n_rows >= MOST_ROWS) throw std::invalid_argument("more than 2^31 rows");
    if (max_bins < 0 || max_bins == 1) throw std::invalid_argument("max_bins must be at least 2 (0: exact)");
    prepared_->n_rows = n_rows;
    if (weights) {
        expect_length(weights->size(), n_rows, "weights");
        expect_counts(weights->data(), n_rows, "weights");
        weights_.assign(weights->data(), weights->data() + n_rows);
    }
}

// Adds the attribute that `fill` makes of about so many bytes; where it cannot, the columns stay as they were.
template <class Fill>
void Columns::add(std::size_t bytes, Fill&& fill) {
    if (prepared_.use_count() > 1) throw std::runtime_error("columns that are being learned from cannot be added to");
    const std::size_t before = prepared_->attributes.size();
    try {
        prepared_->attributes.emplace_back();
        prepared_->grouped.emplace_back();
        prepared_->codes.emplace_back();
        fill(prepared_->attributes.back(), prepared_->grouped.back());
        if (prepared_->n_rows >= pack_from_) prepared_->pack(before);
    } catch (const std::bad_alloc&) {
        shrink_to(before);
        out_of_memory("a column", double(bytes));
    } catch (...) {
        shrink_to(before);
        throw;
    }
}

void Columns::shrink_to(std::size_t count) {
    prepared_->attributes.resize(count);
    prepared_->grouped.resize(count);
    prepared_->codes.resize(count);
}

void Columns::add_numeric(const AnyColumn& column) {
    expect_length(column.shape(0), prepared_->n_rows, "a numeric column");
    const Floats values(column);
    add(prepared_->n_rows * sizeof(Entry), [&](Attribute& attribute, GroupedRows& grouped) {
        std::vector<Entry> entries;
        entries.reserve(prepared_->n_rows);
        for (Row row = 0; row < prepared_->n_rows; ++row) enter(values[row], row, entries, grouped);
        group_numeric(prepared_->n_rows, entries, max_bins_, weights(), attribute, grouped);
        unlist_most_frequent(prepared_->n_rows, attribute, grouped);
    });
}

template <class ValueAt>
void Columns::add_listed_numeric(std::span<const std::int32_t> rows, ValueAt&& value_at) {
    check_sparse_rows(rows, prepared_->n_rows);
    add(rows.size() * sizeof(Entry), [&](Attribute& attribute, GroupedRows& grouped) {
        std::vector<Entry> entries;
        entries.reserve(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (const double value = value_at(i); value != 0) enter(value, Row(rows[i]), entries, grouped);
        group_numeric(prepared_->n_rows, entries, max_bins_, weights(), attribute, grouped);
        unlist_most_frequent(prepared_->n_rows, attribute, grouped);
    });
}

void Columns::add_sparse_numeric(const Ints& rows, const AnyColumn& column) {
    expect_length(column.shape(0), rows.size(), "the values of a sparse column");
    const Floats values(column);
    add_listed_numeric(span_of(rows), [&](std::size_t i) { return values[i]; });
}

void Columns::add_nominal(const Ints& codes, std::int32_t categories) {
    expect_length(codes.size(), prepared_->n_rows, "a nominal column");
    if (categories < 0) throw std::invalid_argument("a negative number of categories");
    add((prepared_->n_rows + 2 * std::size_t(categories)) * 4, [&](Attribute& attribute, GroupedRows& grouped) {
        group_nominal(prepared_->n_rows, [&](Row row) { return codes.data()[row]; }, categories, attribute, grouped);
        unlist_most_frequent(prepared_->n_rows, attribute, grouped);
    });
}

template <class CodeAt>
void Columns::add_listed_nominal(std::span<const std::int32_t> rows, std::int32_t categories, CodeAt&& code_at) {
    check_sparse_rows(rows, prepared_->n_rows);
    if (categories < 1) throw std::invalid_argument("a sparse nominal column needs a category");
    add(rows.size() * 4 + std::size_t(categories) * sizeof(std::vector<Row>), [&](Attribute& attribute, GroupedRows& grouped) {
        attribute.nominal = true;
        attribute.values = categories;
        attribute.rest = 0;
        std::vector<std::vector<Row>> by_code(std::size_t(std::min<std::int32_t>(categories, std::int32_t(rows.size()) + 1)));
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const std::int32_t code = code_at(i);
            if (code < -1 || code >= categories) throw std::invalid_argument("a category code is out of range");
            if (code < 0) {
                grouped.missing.push_back(Row(rows[i]));
            } else if (code > 0) {
                if (std::size_t(code) >= by_code.size()) by_code.resize(std::size_t(code) + 1);
                by_code[std::size_t(code)].push_back(Row(rows[i]));
            }
        }
        for (std::size_t code = 1; code < by_code.size(); ++code) {
            if (by_code[code].empty()) continue;
            grouped.rows.insert(grouped.rows.end(), by_code[code].begin(), by_code[code].end());
            grouped.ends.push_back(std::uint32_t(grouped.rows.size()));
            grouped.ids.push_back(std::int32_t(code));
        }
    });
}

void Columns::add_sparse_nominal(const Ints& rows, const Ints& codes, std::int32_t categories) {
    expect_length(codes.size(), rows.size(), "the codes of a sparse column");
    add_listed_nominal(span_of(rows), categories, [&](std::size_t i) { return codes.data()[i]; });
}

void Columns::add_sparse(const AnyInts& ends, const Ints& rows, const AnyColumn& values, const AnyInts& picked, const Ints& categories) {
    expect_length(values.shape(0), rows.size(), "the values of sparse columns");
    expect_length(categories.size(), picked.size(), "the numbers of categories");
    const Floats numbers(values);
    for (std::size_t i = 0; i < picked.size(); ++i) {
        const std::int64_t column = picked.data()[i];
        if (column < 0 || std::size_t(column) + 1 >= ends.size()) throw std::invalid_argument("there is no such sparse column");
        const std::int64_t first = ends.data()[column], last = ends.data()[column + 1];
        if (first < 0 || last < first || std::size_t(last) > rows.size()) throw std::invalid_argument("the ends of sparse columns do not ascend");
        const std::span<const std::int32_t> listed(rows.data() + first, std::size_t(last - first));
        if (const std::int32_t count = categories.data()[i]; count >= 0)
            add_listed_nominal(listed, count, [&](std::size_t k) {
                const double code = numbers[std::size_t(first) + k];
                return code >= -1 && code < count ? std::int32_t(code) : count;
            });
        else
            add_listed_numeric(listed, [&](std::size_t k) { return numbers[std::size_t(first) + k]; });
    }
}

Columns Columns::subset(const Ints& rows) const {
    if (max_bins_) throw std::invalid_argument("binned columns depend on all rows and cannot be cut");
    check_sparse_rows(span_of(rows), prepared_->n_rows);
    try {
        return cut(rows);
    } catch (const std::bad_alloc&) {
        out_of_memory("a part of the columns", 5 * double(prepared_->n_rows) + listed_bytes());
    }
}

double Columns::listed_bytes() const {
    double bytes = 0;
    for (const auto& grouped : prepared_->grouped) bytes += double(grouped.rows.size() * sizeof(Row));
    for (const auto& codes : prepared_->codes) bytes += double(codes.size());
    return bytes;
}

Columns Columns::cut(const Ints& rows) const {
    Columns part(rows.size(), 0, std::nullopt, pack_from_);
    std::vector<std::uint8_t> keep(prepared_->n_rows, 0);
    std::vector<Row> renumbered(prepared_->n_rows, 0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        keep[std::size_t(rows.data()[i])] = 1;
        renumbered[std::size_t(rows.data()[i])] = Row(i);
    }
    part.prepared_->attributes = prepared_->attributes;
    part.prepared_->grouped.resize(prepared_->grouped.size());
    part.prepared_->codes.resize(prepared_->codes.size());
    for (std::size_t a = 0; a < prepared_->grouped.size(); ++a) {
        if (prepared_->is_packed(a)) {
            for (std::size_t i = 0; i < rows.size(); ++i)
                part.prepared_->codes[a].push_back(prepared_->codes[a][std::size_t(rows.data()[i])]);
            continue;
        }
        GroupedRows& grouped = part.prepared_->grouped[a];
        grouped.assign_kept(prepared_->grouped[a], keep.data());
        grouped.rows.shrink_to_fit();
        for (Row& row : grouped.rows) row = renumbered[row];
        for (Row& row : grouped.missing) row = renumbered[row];
    }
    return part;
}

void bind_columns(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<Columns>(m, "Columns")
        .def(nb::init<std::size_t, std::int32_t, std::optional<Doubles>, std::size_t>(), "n_rows"_a, "max_bins"_a,
             "weights"_a.none(), "pack_from"_a)
        .def("add_numeric", &Columns::add_numeric)
        .def("add_sparse_numeric", &Columns::add_sparse_numeric)
        .def("add_nominal", &Columns::add_nominal)
        .def("add_sparse_nominal", &Columns::add_sparse_nominal)
        .def("add_sparse", &Columns::add_sparse)
        .def("subset", &Columns::subset);
}

}  // namespace plurule
