// Columns from Python: dense or sparse, numeric or nominal.
#include <cstring>
#include <numeric>

#include "bindings.hpp"
#include "grouping.hpp"
#include "threads.hpp"

namespace plurule {
namespace {

constexpr std::size_t MOST_ROWS = std::size_t(1) << 31;
constexpr std::size_t FEW_VALUES = 1 << 16;  // are ranked by one thread

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
    double operator()(std::size_t i) const {
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

// What `at(i)` gives for the listed rows, ranked.
template <class ValueAt>
void rank_values(const ListedRows& rows, std::int32_t max_bins, const double* weights, ValueAt&& at, Attribute& attribute,
                 Listed& column) {
    column.values.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        column.values[i] = at(i) + 0.0;  // -0 is 0
        if (std::isinf(column.values[i])) throw std::invalid_argument("a numeric column holds an infinite value");
    }
    column.rank(rows, max_bins, weights, attribute);
}

template <class CodeAt>
void take_codes(const ListedRows& rows, std::int32_t categories, CodeAt&& at, Attribute& attribute, Listed& column) {
    attribute.nominal = true;
    attribute.values = categories;
    column.ranks.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::int32_t code = column.ranks[i] = at(i);
        if (code < MISSING || code >= categories) throw std::invalid_argument("a category code is out of range");
    }
}

}  // namespace

Columns::Columns(std::size_t n_rows, std::int32_t max_bins, std::optional<Doubles> weights, std::size_t n_threads)
    : max_bins_(max_bins), n_threads_(n_threads) {
    if (n_rows >= MOST_ROWS) throw std::invalid_argument("more than 2^31 rows");
    if (max_bins < 0 || max_bins == 1) throw std::invalid_argument("max_bins must be at least 2 (0: exact)");
    ranked_->n_rows = n_rows;
    if (weights) {
        expect_length(weights->size(), n_rows, "weights");
        expect_counts(weights->data(), n_rows, "weights");
        weights_.assign(weights->data(), weights->data() + n_rows);
    }
}

// Adds columns, each ranked by rank(number, rows, attribute, column); where one cannot be, none is added.
// `largest`: how many rows, and categories, the longest has.
template <class RowsOf, class Rank>
void Columns::add(std::size_t count, std::size_t largest, RowsOf&& rows_of, Rank&& rank) {
    if (ranked_->is_complete) throw std::runtime_error("columns that were learned from cannot be added to");
    const std::size_t before = ranked_->attributes.size();
    try {
        resize(before + count);
        std::vector<SparseValues::Column> waiting(count);
        for (std::size_t i = 0; i < count; ++i) waiting[i].attribute = before + i;
        std::vector<std::size_t> numbers(count);
        std::iota(numbers.begin(), numbers.end(), 0);
        without_gil([&] {
            Threads threads(std::min(n_threads_, count));
            std::vector<Listed> columns(threads.most());
            const Threads::Session session(threads, Interruption());
            threads.run(numbers, largest * count < FEW_VALUES, [&](std::size_t i, std::size_t t) {
                const ListedRows rows = rows_of(i);
                Attribute& attribute = ranked_->attributes[before + i];
                rank(i, rows, attribute, columns[t]);
                keep(rows, columns[t].ranks, attribute, ranked_->codes[before + i], waiting[i]);
            });
        });
        for (SparseValues::Column& column : waiting)
            if (ranked_->attributes[column.attribute].sparse()) ranked_->waiting.push_back(std::move(column));
        if (largest >= MANY_ROWS) give_memory_back();
    } catch (const std::bad_alloc&) {
        resize(before);
        out_of_memory("a column", double(largest) * 2 * sizeof(Entry));
    } catch (...) {
        resize(before);
        throw;
    }
}

void Columns::resize(std::size_t count) {
    ranked_->attributes.resize(count);
    ranked_->codes.resize(count);
}

void Columns::add_dense(const std::vector<nb::object>& columns, const Ints& categories) {
    expect_length(categories.size(), columns.size(), "the numbers of categories");
    const std::size_t n_rows = ranked_->n_rows;
    std::vector<std::optional<Floats>> values(columns.size());
    std::vector<std::optional<Ints>> codes(columns.size());
    std::vector<AnyColumn> kept;
    std::size_t largest = n_rows;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        kept.emplace_back();
        if (!nb::try_cast(columns[i], kept[i], false)) throw nb::type_error("a column must be an array of numbers");
        expect_length(kept[i].shape(0), n_rows, "a column");
        if (const std::int32_t count = categories.data()[i]; count < 0) {
            values[i].emplace(kept[i]);
        } else {
            codes[i].emplace();
            if (!nb::try_cast(columns[i], *codes[i], false)) throw nb::type_error("the codes of a nominal column must be int32");
            largest = std::max(largest, std::size_t(count));
        }
    }
    add(columns.size(), largest, [&](std::size_t) { return ListedRows{n_rows}; },
        [&](std::size_t i, const ListedRows& listed, Attribute& attribute, Listed& column) {
            if (values[i])
                rank_values(listed, max_bins_, weights(), *values[i], attribute, column);
            else
                take_codes(listed, categories.data()[i], [&](std::size_t k) { return codes[i]->data()[k]; }, attribute, column);
        });
}

void Columns::add_sparse(const AnyInts& ends, const Ints& rows, const AnyColumn& values, const AnyInts& picked,
                         const Ints& categories) {
    expect_length(values.shape(0), rows.size(), "the values of sparse columns");
    expect_length(categories.size(), picked.size(), "the numbers of categories");
    const Floats numbers(values);
    std::size_t largest = 0;
    for (std::size_t i = 0; i < picked.size(); ++i) {
        const std::int64_t column = picked.data()[i];
        if (column < 0 || std::size_t(column) + 1 >= ends.size()) throw std::invalid_argument("there is no such sparse column");
        const std::int64_t first = ends.data()[column], last = ends.data()[column + 1];
        if (first < 0 || last < first || std::size_t(last) > rows.size())
            throw std::invalid_argument("the ends of sparse columns do not ascend");
        check_sparse_rows({rows.data() + first, std::size_t(last - first)}, ranked_->n_rows);
        if (categories.data()[i] == 0) throw std::invalid_argument("a sparse nominal column needs a category");
        largest = std::max({largest, std::size_t(last - first), std::size_t(std::max(0, categories.data()[i]))});
    }
    const auto rows_of = [&](std::size_t i) {
        const std::int64_t *at = ends.data() + picked.data()[i];
        return ListedRows{ranked_->n_rows, true, {rows.data() + at[0], std::size_t(at[1] - at[0])}};
    };
    add(picked.size(), largest, rows_of, [&](std::size_t i, const ListedRows& listed, Attribute& attribute, Listed& column) {
        const std::size_t first = std::size_t(ends.data()[picked.data()[i]]);
        const std::int32_t count = categories.data()[i];
        const auto value_at = [&](std::size_t k) { return numbers(first + k); };
        if (count < 0) return rank_values(listed, max_bins_, weights(), value_at, attribute, column);
        attribute.usual = 0;
        const auto code_at = [&](std::size_t k) {
            return value_at(k) >= -1 && value_at(k) < count ? std::int32_t(value_at(k)) : count;
        };
        take_codes(listed, count, code_at, attribute, column);
    });
}

void bind_columns(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<Columns>(m, "Columns")
        .def(nb::init<std::size_t, std::int32_t, std::optional<Doubles>, std::size_t>(), "n_rows"_a, "max_bins"_a,
             "weights"_a.none().noconvert(), "n_threads"_a = 1)
        .def("add_dense", &Columns::add_dense, "columns"_a, "categories"_a.noconvert())
        .def("add_sparse", &Columns::add_sparse, "ends"_a.noconvert(), "rows"_a.noconvert(), "values"_a.noconvert(),
             "picked"_a.noconvert(), "categories"_a.noconvert());
}

}  // namespace plurule
