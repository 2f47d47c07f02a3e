// Options and training runs, as Python sees them.
#include <chrono>

#include "bindings.hpp"
#include "label_sets.hpp"
#include "run.hpp"

namespace plurule {
namespace {

// A function of Python that can be copied and let go of without holding the GIL.
std::shared_ptr<nb::object> shared_object(nb::object object) {
    return {new nb::object(std::move(object)), [](nb::object* kept) { with_gil([&] { delete kept; }); }};
}

CustomHeuristic custom_heuristic(nb::object function) {
    if (!PyCallable_Check(function.ptr())) throw nb::type_error("a heuristic must be a function");
    return [kept = shared_object(std::move(function))](const double* tp, const double* fp, const double* tn, const double* fn,
                                                       std::size_t count, double* values) {
        with_gil([&] {
            using Array = nb::ndarray<nb::numpy, const double, nb::ndim<1>>;
            const auto wrap = [&](const double* data) { return Array(data, {count}, nb::handle()).cast(nb::rv_policy::copy); };
            const nb::object result = (*kept)(wrap(tp), wrap(fp), wrap(tn), wrap(fn));
            const auto array = nb::cast<Doubles>(result);
            expect_length(array.size(), count, "the values of the heuristic");
            // What is no number is no value: such a head cannot be chosen.
            for (std::size_t i = 0; i < count; ++i) values[i] = std::isfinite(array.data()[i]) ? array.data()[i] : NOTHING;
        });
    };
}

// Which labels must, and which must not, go together.
void set_label_pairs(Options& options, const Labels& apart, const Ints& groups) {
    expect_length(apart.shape(0), groups.size(), "the labels to keep apart");
    expect_length(apart.shape(1), groups.size(), "the labels to keep apart");
    options.pairs.apart.assign(apart.data(), apart.data() + apart.size());
    options.pairs.group.assign(groups.data(), groups.data() + groups.size());
}

void set_exclusive_labels(Options& options, const Ints& groups) {
    options.pairs.exclusive.assign(groups.data(), groups.data() + groups.size());
}

// Labels × labels: whether the first implies the second.
void set_hierarchy(Options& options, const Labels& above) {
    options.pairs.above.assign(above.data(), above.data() + above.size());
}

// Attributes × (up to a value, from one on), by labels × (absent, present); which attributes are nominal; whether labels differ.
void set_directions(Options& options, const Labels& barred, const Marks& nominal, bool by_label) {
    options.directions.barred.assign(barred.data(), barred.data() + barred.size());
    options.directions.nominal.assign(nominal.data(), nominal.data() + nominal.size());
    options.directions.n_labels = barred.shape(1) / 2;
    options.directions.by_label = by_label;
}

void check(const Options& options, const Prepared& prepared, std::size_t n_labels) {
    expect_length(options.lift.size(), n_labels, "the lift");
    expect_counts(options.lift.data(), options.lift.size(), "the lift");
    const double precision = options.min_precision.threshold;
    for (double number : {options.heuristic.parameter, options.heuristic.shrinkage, options.remaining, options.stop_threshold,
                          options.min_coverage, precision})
        if (std::isnan(number)) throw std::invalid_argument("an option is not a number (NaN)");
    if (precision < 0 || precision > 1) throw std::invalid_argument("min_precision must be from 0 to 1");
    if (options.beam_width < 1 || options.beam_width > 1000) throw std::invalid_argument("beam_width must be from 1 to 1000");
    if (options.is_custom() && !options.custom) throw std::invalid_argument("the heuristic is missing");
    for (const auto* marks : {&options.allowed_attributes, &options.required_attributes})
        if (!marks->empty()) expect_length(marks->size(), prepared.attributes.size(), "the marks of attributes");
    if (options.directions.any()) {
        expect_length(options.directions.n_labels, n_labels, "the directions");
        expect_length(options.directions.nominal.size(), prepared.attributes.size(), "the directions");
        expect_length(options.directions.barred.size(), prepared.attributes.size() * 4 * n_labels, "the directions");
    }
    if (!options.pairs.exclusive.empty()) expect_length(options.pairs.exclusive.size(), n_labels, "the groups of exclusive labels");
    if (!options.pairs.above.empty()) expect_length(options.pairs.above.size(), n_labels * n_labels, "the hierarchy");
    if (options.pairs.any()) expect_length(options.pairs.group.size(), n_labels, "the groups of labels");
}

std::shared_ptr<const Target> target_of(const Labels& truth, const std::optional<Doubles>& weights, std::size_t n_rows) {
    expect_length(truth.shape(0), n_rows, "the label matrix");
    if (truth.shape(1) == 0) throw std::invalid_argument("no labels");
    for (std::size_t i = 0; i < truth.size(); ++i)
        if (truth.data()[i] > 1) throw std::invalid_argument("labels must be 0 or 1");
    auto target = std::make_shared<Target>();
    target->n_labels = truth.shape(1);
    target->labels = {truth.data(), [kept = truth](const std::uint8_t*) {}};  // not copied: the array lives as long as the run
    if (!weights) return target;
    expect_length(weights->size(), n_rows, "weights");
    expect_counts(weights->data(), n_rows, "weights");
    target->weights.assign(weights->data(), weights->data() + n_rows);
    return target;
}

State::Start start_of(const std::optional<Decisions>& predicted, const std::optional<Marks>& in_training,
                      const std::optional<Marks>& head_labels, const Target& target, std::size_t n_rows) {
    State::Start start{};
    if (predicted) {
        expect_length(predicted->shape(0), n_rows, "what is predicted beforehand");
        expect_length(predicted->shape(1), target.n_labels, "what is predicted beforehand");
        for (std::size_t i = 0; i < predicted->size(); ++i)
            if (predicted->data()[i] < OPEN || predicted->data()[i] > 1)
                throw std::invalid_argument("what is predicted beforehand must be -1, 0 or 1");
        start.predicted = predicted->data();
    }
    if (in_training) {
        expect_length(in_training->size(), n_rows, "the marks of rows in training");
        for (std::size_t i = 0; i < n_rows; ++i)
            if (in_training->data()[i] > 1) throw std::invalid_argument("the marks of rows in training must be 0 or 1");
        start.in_training = in_training->data();
    }
    if (head_labels) {
        expect_length(head_labels->size(), target.n_labels, "the marks of labels in heads");
        start.head_labels = head_labels->data();
    }
    return start;
}

nb::object as_python(const LearnedRule& rule, const Prepared& prepared) {
    nb::list body, head;
    for (const Condition& condition : rule.body) {
        const std::size_t a = std::size_t(condition.attribute);
        if (a >= prepared.attributes.size())
            body.append(nb::make_tuple("label", a - prepared.attributes.size(), condition.place.below == 1));
        else if (prepared.attributes[a].nominal)
            body.append(nb::make_tuple("=", a, condition.place.below));
        else
            body.append(nb::make_tuple(condition.place.greater ? ">" : "<=", a, condition.threshold(prepared)));
    }
    for (const auto& [label, sign] : rule.head) head.append(nb::make_tuple(label, sign != 0));
    return nb::make_tuple(head, body, rule.tp, rule.fp, rule.coverage, rule.value, rule.stop, nb::cast(rule.decided));
}

// A run whose work can be stopped from Python.
class PythonRun {
   public:
    PythonRun(const Columns& columns, const Labels& truth, std::optional<Doubles> weights, const Options& options,
              std::size_t n_threads, std::optional<Decisions> predicted, std::optional<Marks> in_training,
              std::optional<Marks> head_labels)
        : bytes_(double(truth.size()) * 8 + columns.listed_bytes()) {
        if (options.is_custom()) n_threads = 1;
        guarded([&] {
            const auto prepared = columns.prepared();
            const auto target = target_of(truth, weights, prepared->n_rows);
            check(options, *prepared, target->n_labels);
            State::Start start = start_of(predicted, in_training, head_labels, *target, prepared->n_rows);
            start.every_label = options.pairs.any();
            run_ = std::make_unique<Run>(prepared, target, options, start, std::max<std::size_t>(1, n_threads));
        });
    }
    PythonRun(const PythonRun& other) : bytes_(other.bytes_) {
        other.expect_whole();
        guarded([&] { run_ = std::make_unique<Run>(*other.run_); });
    }

    void learn(std::optional<std::size_t> n_rules, nb::object progress, std::size_t rules_before) {
        expect_whole();
        if (!progress.is_none() && !PyCallable_Check(progress.ptr())) throw nb::type_error("progress must be a function");
        whole_ = false;  // until it is through: what is stopped half way is of no use
        Run::Callbacks callbacks{Interruption(), nullptr};
        if (!progress.is_none())
            callbacks.learned = [&](const LearnedRule&) {
                with_gil([&] { progress(rules_before + run_->rules().size(), run_->decided()); });
            };
        guarded([&] {
            without_gil([&] { run_->learn(n_rules.value_or(std::numeric_limits<std::size_t>::max()), callbacks); });
        });
        whole_ = true;
    }

    nb::list rules(std::size_t first) const {
        expect_whole();
        nb::list rules;
        for (std::size_t i = first; i < run_->rules().size(); ++i) rules.append(as_python(run_->rules()[i], run_->prepared()));
        return rules;
    }
    std::vector<std::pair<double, double>> undecided() const {
        expect_whole();
        return run_->undecided();
    }
    bool ended() const { return run_->ended(); }

   private:
    void expect_whole() const {
        if (!whole_) throw std::runtime_error("the training run was stopped, or is being learned from elsewhere");
    }
    template <class Work>
    void guarded(Work&& work) const {
        try {
            work();
        } catch (const std::bad_alloc&) {
            out_of_memory("learning", bytes_);
        }
    }

    double bytes_;
    bool whole_ = true;  // only changed with the GIL held
    std::unique_ptr<Run> run_;
};

}  // namespace

void bind_runs(nb::module_& m) {
    using namespace nb::literals;
    nb::exception<TooManyHeads>(m, "TooManyHeads");
    nb::enum_<Formula>(m, "Formula")
        .value("f_measure", Formula::f_measure)
        .value("accuracy", Formula::accuracy)
        .value("precision", Formula::precision)
        .value("recall", Formula::recall)
        .value("laplace", Formula::laplace)
        .value("m_estimate", Formula::m_estimate)
        .value("relative_accuracy", Formula::relative_accuracy)
        .value("gain", Formula::gain)
        .value("custom", Formula::custom);
    nb::enum_<HeadSearchKind>(m, "HeadSearch")
        .value("single", HeadSearchKind::single)
        .value("decomposable", HeadSearchKind::decomposable)
        .value("anti_monotone", HeadSearchKind::anti_monotone)
        .value("relaxed", HeadSearchKind::relaxed)
        .value("exhaustive", HeadSearchKind::exhaustive);
    nb::class_<Options>(m, "Options")
        .def(nb::init<>())
        .def("set_heuristic", [](Options& o, Formula f, double parameter, double shrinkage) { o.heuristic = {f, parameter, shrinkage}; },
             "formula"_a, "parameter"_a = 0.0, "shrinkage"_a = 0.0)
        .def("set_custom_heuristic", [](Options& o, nb::object function) {
                 o.custom = custom_heuristic(std::move(function));
                 o.heuristic = {Formula::custom, 0.0, 0.0};
             })
        .def("set_label_pairs", &set_label_pairs, "apart"_a, "groups"_a)
        .def("set_exclusive_labels", &set_exclusive_labels, "groups"_a)
        .def("set_hierarchy", &set_hierarchy, "above"_a)
        .def("set_directions", &set_directions, "barred"_a, "nominal"_a, "by_label"_a)
        .def("set_min_precision", [](Options& o, double threshold, bool of_label, bool when_finished) {
                 o.min_precision = {threshold, of_label};
                 o.when_finished = when_finished;
             }, "threshold"_a, "of_label"_a, "when_finished"_a)
        .def_rw("averages_labels", &Options::averages_labels)
        .def_rw("example_based", &Options::example_based)
        .def_rw("head_search", &Options::head_search)
        .def_rw("lift", &Options::lift)
        .def_rw("predict_absence", &Options::predict_absence)
        .def_rw("label_conditions", &Options::label_conditions)
        .def_rw("fix_head", &Options::fix_head)
        .def_rw("refine_against_lifted", &Options::refine_against_lifted)
        .def_rw("whole_instances", &Options::whole_instances)
        .def_rw("beam_width", &Options::beam_width)
        .def_rw("remaining", &Options::remaining)
        .def_rw("stop_threshold", &Options::stop_threshold)
        .def_rw("max_conditions", &Options::max_conditions)
        .def_rw("min_coverage", &Options::min_coverage)
        .def_rw("allowed_attributes", &Options::allowed_attributes)
        .def_rw("required_attributes", &Options::required_attributes);
    nb::class_<PythonRun>(m, "Run")
        .def(nb::init<const Columns&, const Labels&, std::optional<Doubles>, const Options&, std::size_t, std::optional<Decisions>,
                      std::optional<Marks>, std::optional<Marks>>(),
             "columns"_a, "truth"_a, "weights"_a.none(), "options"_a, "n_threads"_a = 1, "predicted"_a.none() = nb::none(),
             "in_training"_a.none() = nb::none(), "head_labels"_a.none() = nb::none())
        .def("learn", &PythonRun::learn, "n_rules"_a.none() = nb::none(), "progress"_a.none() = nb::none(), "rules_before"_a = 0)
        .def("rules", &PythonRun::rules, "first"_a = 0)
        .def("undecided", &PythonRun::undecided)
        .def("fork", [](const PythonRun& run) { return PythonRun(run); })
        .def_prop_ro("ended", &PythonRun::ended);
}

}  // namespace plurule
