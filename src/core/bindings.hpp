// What the bindings share. Nothing that comes from Python is trusted: sizes and indices are checked before use.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#if __has_include(<cxxabi.h>)
#include <cxxabi.h>
#endif

#include "state.hpp"

namespace nb = nanobind;

namespace plurule {

using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Labels = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using AnyInts = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Ints = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Decisions = nb::ndarray<const std::int8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Marks = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using AnyColumn = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;

// Up to Python 3.13, a thread that wants the GIL after the interpreter has ended is made to exit: its stack is unwound, over
// functions that may not throw, and the process is aborted. As from Python 3.14 on, such a thread waits until the process ends.
// There is no object behind the reference to what unwinds, which is no fault of ours.
template <class Call>
[[gnu::no_sanitize("undefined")]] decltype(auto) while_python_lives(Call&& call) {
#if defined(__GLIBCXX__) && PY_VERSION_HEX < 0x030e0000
    try {
        return call();
    } catch (abi::__forced_unwind&) {
        for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    }
#else
    return call();
#endif
}

// For a thread that does not hold the GIL: calls a function that needs it.
template <class Call>
decltype(auto) with_gil(Call&& call) {
    struct Gil {
        PyGILState_STATE state = while_python_lives(PyGILState_Ensure);
        ~Gil() { PyGILState_Release(state); }
    } gil;
    return while_python_lives(call);
}

// For a thread that holds the GIL: calls a function that takes long and does without.
template <class Call>
void without_gil(Call&& call) {
    struct Released {
        PyThreadState* thread = PyEval_SaveThread();
        ~Released() {
            while_python_lives([this] { PyEval_RestoreThread(thread); });
        }
    } released;
    call();
}

template <class Array>
auto span_of(const Array& array) {
    return std::span(array.data(), array.size());
}

inline void expect(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

inline void expect_counts(const double* numbers, std::size_t count, const char* what) {
    for (const double number : std::span(numbers, count))
        if (!(number >= 0) || std::isinf(number))
            throw std::invalid_argument(std::string(what) + " must be finite and not negative");
}

inline void expect_length(std::size_t found, std::size_t expected, const char* what) {
    if (found != expected)
        throw std::invalid_argument(std::string(what) + ": " + std::to_string(found) + " values, " +
                                    std::to_string(expected) + " expected");
}

[[noreturn]] inline void out_of_memory(const char* what, double bytes) {
    const std::string text = std::string(what) + " needs about " + std::to_string(std::int64_t(bytes / 1e6) + 1) +
                             " MB more memory than could be had; use fewer rows or max_bins";
    PyErr_SetString(PyExc_MemoryError, text.c_str());
    throw nb::python_error();
}

// Asks Python now and then whether the user wants to stop.
class Interruption {
   public:
    void operator()() {
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ < std::chrono::milliseconds(50)) return;
        last_ = now;
        with_gil([] {
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
        });
    }

   private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// The columns of a table, ranked as they are added.
class Columns {
   public:
    Columns(std::size_t n_rows, std::int32_t max_bins, std::optional<Doubles> weights, std::size_t n_threads);

    // `categories`: of each column, -1 for a numeric one.
    void add_dense(const std::vector<nb::object>& columns, const Ints& categories);
    // Columns of a matrix that lists its values column by column; `categories`: of each one that is picked, -1 for a numeric one.
    void add_sparse(const AnyInts& ends, const Ints& rows, const AnyColumn& values, const AnyInts& picked,
                    const Ints& categories);
    std::shared_ptr<const RankedColumns> ranked_so_far() const { return ranked_; }

    // Shared with the training runs that read them; nothing can be added once there was one.
    std::shared_ptr<const RankedColumns> ranked() const {
        static std::mutex one_at_a_time;
        const std::lock_guard lock(one_at_a_time);
        if (!ranked_->is_complete) ranked_->sparse = SparseValues(ranked_->n_rows, ranked_->attributes, ranked_->waiting);
        ranked_->is_complete = true;
        ranked_->waiting = {};
        return ranked_;
    }

   private:
    template <class RowsOf, class Rank>
    void add(std::size_t count, std::size_t largest, RowsOf&& rows_of, Rank&& rank);
    void resize(std::size_t count);
    const double* weights() const { return weights_.empty() ? nullptr : weights_.data(); }

    std::shared_ptr<RankedColumns> ranked_ = std::make_shared<RankedColumns>();
    std::int32_t max_bins_;
    std::size_t n_threads_;
    std::vector<double> weights_;
};

// --- structs that cross the border: made, read, compared, hashed, printed and pickled by their named fields

template <class T, class Value>
struct Field {
    const char* name;
    Value T::*member;
};
template <class T, class Value>
Field(const char*, Value T::*) -> Field<T, Value>;

// A value as Python cannot change it: lists become tuples.
template <class Value>
nb::object frozen(const Value& value) {
    return nb::cast(value);
}
template <class Value>
nb::object frozen(const std::vector<Value>& values) {
    nb::list list;
    // Some libraries give a proxy for an element of std::vector<bool>.
    for (const auto& value : values) list.append(frozen(static_cast<const Value&>(value)));
    return nb::tuple(list);
}

template <class T, class... Values>
nb::tuple values_of(const T& record, const Field<T, Values>&... fields) {
    return nb::make_tuple(frozen(record.*(fields.member))...);
}

inline std::string text_of(nb::handle object) { return nb::cast<std::string>(nb::repr(object)); }

// Binds a struct whose fields are given in the order of its declaration; all are read-only.
template <class T, class... Values>
nb::class_<T> bind_fields(nb::module_& m, const char* name, Field<T, Values>... fields) {
    nb::class_<T> record(m, name);
    record.def("__init__", [](T* made, Values... values) { new (made) T{std::move(values)...}; }, nb::arg(fields.name)...);
    (record.def_prop_ro(fields.name, [member = fields.member](const T& one) { return frozen(one.*member); }), ...);
    record.def("__repr__", [=](const T& one) {
        std::string text;
        ((text += (text.empty() ? "" : ", ") + std::string(fields.name) + "=" + text_of(frozen(one.*(fields.member)))), ...);
        return std::string(name) + "(" + text + ")";
    });
    record.def("__reduce__", [=](const T& one) { return nb::make_tuple(nb::type<T>(), values_of(one, fields...)); });
    return record;
}

// The same for fields that can be compared and hashed.
template <class T, class... Values>
void bind_record(nb::module_& m, const char* name, Field<T, Values>... fields) {
    nb::class_<T> record = bind_fields(m, name, fields...);
    record.def("__eq__", [=](const T& one, nb::handle other) -> nb::object {
        if (!nb::isinstance<T>(other)) return nb::borrow(Py_NotImplemented);
        return nb::bool_(values_of(one, fields...).equal(values_of(nb::cast<const T&>(other), fields...)));
    });
    record.def("__hash__", [=](const T& one) { return nb::hash(values_of(one, fields...)); });
}

void bind_columns(nb::module_& m);
void bind_runs(nb::module_& m);
void bind_decisions(nb::module_& m);
void bind_pools(nb::module_& m);

}  // namespace plurule
