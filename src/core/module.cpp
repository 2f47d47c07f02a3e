// The Python interface. Nothing that comes from Python is trusted: sizes and indices are checked before use.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cstring>
#include <optional>
#include <string>

#include "learner.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace plurule {
namespace {

using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Labels = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Ints = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Decisions = nb::ndarray<const std::int8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Marks = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using AnyColumn = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;

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

void expect_counts(const Doubles& numbers, const char* what) {
    for (std::size_t i = 0; i < numbers.size(); ++i)
        if (!(numbers.data()[i] >= 0) || std::isinf(numbers.data()[i]))
            throw std::invalid_argument(std::string(what) + " must be finite and not negative");
}

void expect_length(std::size_t found, std::size_t expected, const char* what) {
    if (found != expected)
        throw std::invalid_argument(std::string(what) + ": " + std::to_string(found) + " values, " +
                                    std::to_string(expected) + " expected");
}

[[noreturn]] void out_of_memory(const char* what, double bytes) {
    const std::string text = std::string(what) + " needs about " + std::to_string(std::int64_t(bytes / 1e6) + 1) +
                             " MB more memory than could be had; use fewer rows or max_bins";
    PyErr_SetString(PyExc_MemoryError, text.c_str());
    throw nb::python_error();
}

// The rows of a sparse column: ascending and in range.
void check_sparse_rows(const Ints& rows, std::size_t n_rows) {
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows.data()[i] < 0 || std::size_t(rows.data()[i]) >= n_rows || (i && rows.data()[i] <= rows.data()[i - 1]))
            throw std::invalid_argument("the rows of a sparse column must be ascending and within the table");
}

class Columns {
   public:
    // Below `pack_from` rows, lists of rows are faster than codes and small enough.
    Columns(std::size_t n_rows, std::int32_t max_bins, std::optional<Doubles> weights, std::size_t pack_from)
        : max_bins_(max_bins), pack_from_(pack_from) {
        if (n_rows >= MOST_ROWS) throw std::invalid_argument("more than 2^31 rows");
        if (max_bins < 0 || max_bins == 1) throw std::invalid_argument("max_bins must be at least 2 (0: exact)");
        prepared.n_rows = n_rows;
        if (weights) {
            expect_length(weights->size(), n_rows, "weights");
            expect_counts(*weights, "weights");
            weights_.assign(weights->data(), weights->data() + n_rows);
        }
    }

    void add_numeric(const AnyColumn& column) {
        expect_length(column.shape(0), prepared.n_rows, "a numeric column");
        const Floats values(column);
        add(prepared.n_rows * sizeof(Entry), [&](Attribute& attribute, GroupedRows& grouped) {
            std::vector<Entry> entries;
            entries.reserve(prepared.n_rows);
            for (Row row = 0; row < prepared.n_rows; ++row) enter(values[row], row, entries, grouped);
            group_numeric(prepared.n_rows, entries, max_bins_, weights(), attribute, grouped);
            unlist_most_frequent(prepared.n_rows, attribute, grouped);
        });
    }

    void add_sparse_numeric(const Ints& rows, const AnyColumn& column) {
        expect_length(column.shape(0), rows.size(), "the values of a sparse column");
        check_sparse_rows(rows, prepared.n_rows);
        const Floats values(column);
        add(rows.size() * sizeof(Entry), [&](Attribute& attribute, GroupedRows& grouped) {
            std::vector<Entry> entries;
            entries.reserve(rows.size());
            for (std::size_t i = 0; i < rows.size(); ++i)
                if (values[i] != 0) enter(values[i], Row(rows.data()[i]), entries, grouped);
            group_numeric(prepared.n_rows, entries, max_bins_, weights(), attribute, grouped);
            unlist_most_frequent(prepared.n_rows, attribute, grouped);
        });
    }

    void add_nominal(const Ints& codes, std::int32_t categories) {
        expect_length(codes.size(), prepared.n_rows, "a nominal column");
        if (categories < 0) throw std::invalid_argument("a negative number of categories");
        add((prepared.n_rows + 2 * std::size_t(categories)) * 4, [&](Attribute& attribute, GroupedRows& grouped) {
            group_nominal(prepared.n_rows, [&](Row row) { return codes.data()[row]; }, categories, attribute, grouped);
            unlist_most_frequent(prepared.n_rows, attribute, grouped);
        });
    }

    void add_sparse_nominal(const Ints& rows, const Ints& codes, std::int32_t categories) {
        expect_length(codes.size(), rows.size(), "the codes of a sparse column");
        check_sparse_rows(rows, prepared.n_rows);
        if (categories < 1) throw std::invalid_argument("a sparse nominal column needs a category");
        add(rows.size() * 4 + std::size_t(categories) * sizeof(std::vector<Row>), [&](Attribute& attribute, GroupedRows& grouped) {
            attribute.nominal = true;
            attribute.values = categories;
            attribute.rest = 0;
            std::vector<std::vector<Row>> by_code(std::size_t(std::min<std::int32_t>(categories, std::int32_t(rows.size()) + 1)));
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const std::int32_t code = codes.data()[i];
                if (code < -1 || code >= categories) throw std::invalid_argument("a category code is out of range");
                if (code < 0) {
                    grouped.missing.push_back(Row(rows.data()[i]));
                } else if (code > 0) {
                    if (std::size_t(code) >= by_code.size()) by_code.resize(std::size_t(code) + 1);
                    by_code[std::size_t(code)].push_back(Row(rows.data()[i]));
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

    // The same columns for some of the rows, ranked without sorting again.
    Columns subset(const Ints& rows) const {
        if (max_bins_) throw std::invalid_argument("binned columns depend on all rows and cannot be cut");
        check_sparse_rows(rows, prepared.n_rows);
        try {
            return cut(rows);
        } catch (const std::bad_alloc&) {
            out_of_memory("a part of the columns", 5 * double(prepared.n_rows) + listed_bytes());
        }
    }

    // What the rows listed in all groups take.
    double listed_bytes() const {
        double bytes = 0;
        for (const auto& grouped : prepared.grouped) bytes += double(grouped.rows.size() * sizeof(Row));
        for (const auto& codes : prepared.codes) bytes += double(codes.size());
        return bytes;
    }

    Prepared prepared;
    mutable int in_use = 0;  // fits that read them now; only changed with the GIL held

   private:
    Columns cut(const Ints& rows) const {
        Columns part(rows.size(), 0, std::nullopt, pack_from_);
        std::vector<std::uint8_t> keep(prepared.n_rows, 0);
        std::vector<Row> renumbered(prepared.n_rows, 0);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            keep[std::size_t(rows.data()[i])] = 1;
            renumbered[std::size_t(rows.data()[i])] = Row(i);
        }
        part.prepared.attributes = prepared.attributes;
        part.prepared.grouped.resize(prepared.grouped.size());
        part.prepared.codes.resize(prepared.codes.size());
        for (std::size_t a = 0; a < prepared.grouped.size(); ++a) {
            if (prepared.is_packed(a)) {
                for (std::size_t i = 0; i < rows.size(); ++i)
                    part.prepared.codes[a].push_back(prepared.codes[a][std::size_t(rows.data()[i])]);
                continue;
            }
            GroupedRows& grouped = part.prepared.grouped[a];
            grouped.assign_kept(prepared.grouped[a], keep.data());
            grouped.rows.shrink_to_fit();
            for (Row& row : grouped.rows) row = renumbered[row];
            for (Row& row : grouped.missing) row = renumbered[row];
        }
        return part;
    }

    // Adds the attribute that `fill` makes of about so many bytes; where it cannot, the columns stay as they were.
    template <class Fill>
    void add(std::size_t bytes, Fill&& fill) {
        if (in_use) throw std::runtime_error("columns that are being learned from cannot be added to");
        const std::size_t before = prepared.attributes.size();
        try {
            prepared.attributes.emplace_back();
            prepared.grouped.emplace_back();
            prepared.codes.emplace_back();
            fill(prepared.attributes.back(), prepared.grouped.back());
            if (prepared.n_rows >= pack_from_) prepared.pack(before);
        } catch (const std::bad_alloc&) {
            shrink_to(before);
            out_of_memory("a column", double(bytes));
        } catch (...) {
            shrink_to(before);
            throw;
        }
    }
    void shrink_to(std::size_t count) {
        prepared.attributes.resize(count);
        prepared.grouped.resize(count);
        prepared.codes.resize(count);
    }
    const double* weights() const { return weights_.empty() ? nullptr : weights_.data(); }
    static void enter(double value, Row row, std::vector<Entry>& entries, GroupedRows& grouped) {
        if (std::isnan(value))
            grouped.missing.push_back(row);
        else if (std::isinf(value))
            throw std::invalid_argument("a numeric column holds an infinite value");
        else
            entries.push_back({value, row});
    }

    std::int32_t max_bins_;
    std::size_t pack_from_;
    std::vector<double> weights_;
};

// Nothing is added to columns while a fit reads them: a callback, or another thread, could try.
class InUse {
   public:
    explicit InUse(const Columns& columns) : count_(columns.in_use) { ++count_; }
    ~InUse() { --count_; }
    InUse(const InUse&) = delete;
    InUse& operator=(const InUse&) = delete;

   private:
    int& count_;
};

nb::object as_python(const LearnedRule& rule, const Prepared& prepared) {
    nb::list body, head, decided;
    for (const Condition& condition : rule.body) {
        const std::size_t a = std::size_t(condition.attribute);
        if (a >= prepared.attributes.size()) {
            body.append(nb::make_tuple("label", a - prepared.attributes.size(), condition.place.below == 1));
        } else if (prepared.attributes[a].nominal) {
            body.append(nb::make_tuple("=", a, condition.place.below));
        } else {
            const double threshold = midpoint(prepared.attributes[a].highest[std::size_t(condition.place.below)],
                                              prepared.attributes[a].lowest[std::size_t(condition.place.above)]);
            body.append(nb::make_tuple(condition.place.greater ? ">" : "<=", a, threshold));
        }
    }
    for (const auto& [label, sign] : rule.head) head.append(nb::make_tuple(label, sign != 0));
    for (const auto& [right, wrong] : rule.decided) decided.append(nb::make_tuple(right, wrong));
    return nb::make_tuple(head, body, rule.tp, rule.fp, rule.coverage, rule.value, rule.stop, decided);
}

// Asks Python now and then whether the user wants to stop.
class Interruption {
   public:
    void operator()() {
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ < std::chrono::milliseconds(50)) return;
        last_ = now;
        nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }

   private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

template <class Count>
void learn_into(nb::list& rules, const Prepared& prepared, State& state, const Options& options, Threads& threads,
                const nb::object& progress, std::size_t rules_before) {
    Learner<Count> learner(prepared, state, options, threads);
    std::size_t decided = 0, count = rules_before;
    if (rules_before)
        decided = std::size_t(std::count_if(state.predicted.begin(), state.predicted.end(),
                                            [](std::int8_t p) { return p != OPEN; }));
    learner.learn([&](const LearnedRule& rule) {
        nb::gil_scoped_acquire gil;
        rules.append(as_python(rule, prepared));
        ++count;
        if (progress.is_none()) return;
        if (!state.weights)
            for (const auto& [right, wrong] : rule.decided) decided += std::size_t(right + wrong);
        else
            decided = std::size_t(std::count_if(state.predicted.begin(), state.predicted.end(),
                                                [](std::int8_t p) { return p != OPEN; }));
        progress(count, double(decided) / double(std::max<std::size_t>(1, state.predicted.size())));
    });
}

// Which labels must, and which must not, go together; both are given or neither.
LabelPairs label_pairs(const std::optional<Labels>& apart, const std::optional<Ints>& groups, std::size_t n_labels) {
    if (!apart || !groups) throw std::invalid_argument("apart and groups must be given together");
    expect_length(apart->shape(0), n_labels, "the labels to keep apart");
    expect_length(apart->shape(1), n_labels, "the labels to keep apart");
    expect_length(groups->size(), n_labels, "the groups of labels");
    LabelPairs pairs;
    pairs.apart.assign(apart->data(), apart->data() + apart->size());
    pairs.group.assign(groups->data(), groups->data() + groups->size());
    return pairs;
}

// What rows `first` to `last` contribute to the candidates of an attribute of one byte per row, nothing decided yet: per
// value, per label: open and present, open and absent, present; then the number of rows.
nb::object count_rows(const Columns& columns, const Labels& truth, std::size_t attribute, std::size_t first, std::size_t last) {
    const Prepared& prepared = columns.prepared;
    expect_length(truth.shape(0), prepared.n_rows, "the label matrix");
    if (!prepared.is_packed(attribute)) throw std::invalid_argument("the attribute is not kept as one byte per row");
    if (first > last || last > prepared.n_rows) throw std::invalid_argument("the rows are not within the table");
    const std::size_t n_labels = truth.shape(1), values = std::size_t(prepared.attributes[attribute].values);
    const State state(prepared, truth.data(), n_labels, nullptr, {});
    const RowCounter<std::int32_t> counter(state);
    std::vector<std::int32_t> blocks(256 * counter.lanes(), 0);
    std::vector<Row> rows;
    for (std::size_t row = first; row < last; ++row) rows.push_back(Row(row));
    counter.add_by_code(rows.data(), rows.size(), prepared.codes[attribute].data(), blocks.data());
    const std::size_t lanes = 3 * n_labels + 1;
    std::int64_t* counts = new std::int64_t[values * lanes]();
    nb::capsule owner(counts, [](void* memory) noexcept { delete[] static_cast<std::int64_t*>(memory); });
    for (std::size_t value = 0; value < values; ++value) {
        const std::int32_t* from = blocks.data() + value * counter.lanes();
        for (std::size_t kind = 0; kind < 3; ++kind)
            for (std::size_t lane = 0; lane < state.label_of_lane.size(); ++lane)
                counts[value * lanes + kind * n_labels + std::size_t(state.label_of_lane[lane])] = from[kind * state.width + lane];
        counts[value * lanes + lanes - 1] = from[counter.lanes() - 1];
    }
    return nb::cast(nb::ndarray<nb::numpy, std::int64_t>(counts, {values, lanes}, owner));
}

nb::tuple learn(const Columns& columns, const Labels& truth, std::optional<Doubles> weights, int formula, double parameter, double shrinkage,
                nb::object custom, int head_search, const Doubles& lift, const nb::dict& flags, std::size_t beam_width,
                double remaining, double stop_threshold, std::optional<std::size_t> max_rules,
                std::optional<std::size_t> max_conditions, double min_coverage, std::size_t n_threads, nb::object progress,
                std::optional<Decisions> predicted, std::optional<Marks> in_training, std::optional<Marks> head_labels,
                std::size_t rules_before, std::optional<Marks> allowed_attributes, std::optional<Marks> required_attributes,
                std::optional<Labels> apart, std::optional<Ints> groups) {
    const Prepared& prepared = columns.prepared;
    const std::size_t n_rows = truth.shape(0), n_labels = truth.shape(1);
    expect_length(n_rows, prepared.n_rows, "the label matrix");
    expect_length(lift.size(), n_labels, "the lift");
    if (n_labels == 0) throw std::invalid_argument("no labels");
    expect_counts(lift, "the lift");
    if (predicted) {
        expect_length(predicted->shape(0), n_rows, "what is predicted beforehand");
        expect_length(predicted->shape(1), n_labels, "what is predicted beforehand");
        for (std::size_t i = 0; i < predicted->size(); ++i)
            if (predicted->data()[i] < OPEN || predicted->data()[i] > 1)
                throw std::invalid_argument("what is predicted beforehand must be -1, 0 or 1");
    }
    if (in_training) {
        expect_length(in_training->size(), n_rows, "the marks of rows in training");
        for (std::size_t i = 0; i < n_rows; ++i)
            if (in_training->data()[i] > 1) throw std::invalid_argument("the marks of rows in training must be 0 or 1");
    }
    if (head_labels) expect_length(head_labels->size(), n_labels, "the marks of labels in heads");
    if (weights) {
        expect_length(weights->size(), n_rows, "weights");
        expect_counts(*weights, "weights");
    }
    if (formula < 0 || formula > int(Formula::custom)) throw std::invalid_argument("unknown heuristic");
    if (head_search < 0 || head_search > int(HeadSearchKind::exhaustive)) throw std::invalid_argument("unknown head search");
    for (const double number : {parameter, shrinkage, remaining, stop_threshold, min_coverage})
        if (std::isnan(number)) throw std::invalid_argument("an option is not a number (NaN)");
    if (beam_width < 1 || beam_width > 1000) throw std::invalid_argument("beam_width must be from 1 to 1000");
    for (std::size_t i = 0; i < truth.size(); ++i)
        if (truth.data()[i] > 1) throw std::invalid_argument("labels must be 0 or 1");

    Options options;
    options.heuristic = {Formula(formula), parameter, shrinkage};
    options.head_search = HeadSearchKind(head_search);
    options.lift.assign(lift.data(), lift.data() + n_labels);
    const auto flag = [&](const char* name) { return nb::cast<bool>(flags[name]); };
    options.averages_labels = flag("averages_labels");
    options.example_based = flag("example_based");
    options.constraint = flag("label_constraint") ? Constraint::label : Constraint::head;
    options.constrain_finished = flag("constrain_finished");
    options.predict_absence = flag("predict_absence");
    options.label_conditions = flag("label_conditions");
    options.fix_head = flag("fix_head");
    options.refine_against_lifted = flag("refine_against_lifted");
    options.whole_instances = flag("whole_instances");
    options.beam_width = beam_width;
    options.remaining = remaining;
    options.stop_threshold = stop_threshold;
    if (max_rules) options.max_rules = *max_rules;
    if (max_conditions) options.max_conditions = *max_conditions;
    options.min_coverage = min_coverage;
    for (const auto& [given, marks] : {std::pair{&allowed_attributes, &options.allowed_attributes},
                                       std::pair{&required_attributes, &options.required_attributes}})
        if (*given) {
            expect_length((*given)->size(), prepared.attributes.size(), "the marks of attributes");
            marks->assign((*given)->data(), (*given)->data() + (*given)->size());
        }
    if (groups || apart) options.pairs = label_pairs(apart, groups, n_labels);
    if (options.heuristic.formula == Formula::custom) {
        n_threads = 1;
        options.custom = [&custom](const double* tp, const double* fp, const double* tn, const double* fn, std::size_t count,
                                   double* values) {
            nb::gil_scoped_acquire gil;
            using Array = nb::ndarray<nb::numpy, const double, nb::ndim<1>>;
            const auto wrap = [&](const double* data) { return Array(data, {count}, nb::handle()).cast(nb::rv_policy::copy); };
            const nb::object result = custom(wrap(tp), wrap(fp), wrap(tn), wrap(fn));
            const auto array = nb::cast<Doubles>(result);
            expect_length(array.size(), count, "the values of the heuristic");
            // What is no number is no value: such a head cannot be chosen.
            for (std::size_t i = 0; i < count; ++i) values[i] = std::isfinite(array.data()[i]) ? array.data()[i] : NOTHING;
        };
    }
    nb::list rules;
    const InUse in_use(columns);
    const double bytes = double(n_rows) * double(n_labels) * 8 + columns.listed_bytes();
    try {
        nb::gil_scoped_release release;
        Interruption interruption;
        Threads threads(std::max<std::size_t>(1, n_threads), [&] { interruption(); });
        State state(prepared, truth.data(), n_labels, weights ? weights->data() : nullptr,
                    {predicted ? predicted->data() : nullptr, in_training ? in_training->data() : nullptr,
                     head_labels ? head_labels->data() : nullptr, options.pairs.any()});
        if (weights)
            learn_into<double>(rules, prepared, state, options, threads, progress, rules_before);
        else
            learn_into<std::int32_t>(rules, prepared, state, options, threads, progress, rules_before);
        nb::gil_scoped_acquire gil;
        nb::list undecided;
        for (std::size_t label = 0; label < n_labels; ++label) {
            double absent = 0, present = 0;
            for (Row row = 0; row < n_rows; ++row)
                if (state.predicted[state.at(row, label)] == OPEN)
                    (truth.data()[state.at(row, label)] ? present : absent) += state.weight(row);
            undecided.append(nb::make_tuple(absent, present));
        }
        return nb::make_tuple(rules, undecided);
    } catch (const std::bad_alloc&) {
        out_of_memory("learning", bytes);
    }
}

}  // namespace

NB_MODULE(_core, m) {
    nb::class_<Columns>(m, "Columns")
        .def(nb::init<std::size_t, std::int32_t, std::optional<Doubles>, std::size_t>(), "n_rows"_a, "max_bins"_a,
             "weights"_a.none(), "pack_from"_a)
        .def("add_numeric", &Columns::add_numeric)
        .def("add_sparse_numeric", &Columns::add_sparse_numeric)
        .def("add_nominal", &Columns::add_nominal)
        .def("add_sparse_nominal", &Columns::add_sparse_nominal)
        .def("subset", &Columns::subset);
    m.def("count_rows", &count_rows, "columns"_a, "truth"_a, "attribute"_a, "first"_a, "last"_a);
    m.def("learn", &learn, "columns"_a, "truth"_a, "weights"_a.none(), "formula"_a, "parameter"_a, "shrinkage"_a, "custom"_a.none(),
          "head_search"_a, "lift"_a, "flags"_a, "beam_width"_a, "remaining"_a, "stop_threshold"_a, "max_rules"_a.none(),
          "max_conditions"_a.none(), "min_coverage"_a, "n_threads"_a, "progress"_a.none(),
          "predicted"_a.none() = nb::none(), "in_training"_a.none() = nb::none(), "head_labels"_a.none() = nb::none(),
          "rules_before"_a = 0, "allowed_attributes"_a.none() = nb::none(), "required_attributes"_a.none() = nb::none(),
          "apart"_a.none() = nb::none(), "groups"_a.none() = nb::none());
}

}  // namespace plurule
