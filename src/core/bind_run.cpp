// Options and training runs, as Python sees them.
#include <variant>

#include "bindings.hpp"
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
            const auto array = nb::cast<Doubles>(result, false);
            expect_length(array.size(), count, "the values of the heuristic");
            // What is no number is no value: such a head cannot be chosen.
            for (std::size_t i = 0; i < count; ++i) values[i] = std::isfinite(array.data()[i]) ? array.data()[i] : NOTHING;
        });
    };
}

template <class T, class Array>
void assign(std::vector<T>& to, const Array& from) {
    to.assign(from.data(), from.data() + from.size());
}

void check(const Options& options, const RankedColumns& columns, std::size_t n_labels) {
    const std::size_t n_attributes = columns.attributes.size();
    expect_length(options.lift.size(), n_labels, "the lift");
    expect_counts(options.lift.data(), options.lift.size(), "the lift");
    const double precision = options.min_precision.threshold;
    for (double number : {options.heuristic.parameter, options.remaining, options.stop_threshold,
                          options.min_coverage, precision})
        expect(!std::isnan(number), "an option is not a number (NaN)");
    expect(precision >= 0 && precision <= 1, "min_precision must be from 0 to 1");
    expect(options.beam_width >= 1 && options.beam_width <= 1000, "beam_width must be from 1 to 1000");
    expect(!options.is_custom() || options.custom, "the heuristic is missing");
    const auto expect_all_or_none = [](const auto& given, std::size_t expected, const char* what) {
        if (!given.empty()) expect_length(given.size(), expected, what);
    };
    expect_all_or_none(options.allowed_attributes, n_attributes, "the marks of attributes");
    expect_all_or_none(options.pairs.apart, n_labels * n_labels, "the labels to keep apart");
    expect_all_or_none(options.pairs.exclusive, n_labels, "the groups of exclusive labels");
    expect_all_or_none(options.pairs.above, n_labels * n_labels, "the hierarchy");
    if (!options.directions.any()) return;
    expect_length(options.directions.n_labels, n_labels, "the directions");
    expect_length(options.directions.nominal.size(), n_attributes, "the directions");
    expect_length(options.directions.forbidden.size(), n_attributes * 4 * n_labels, "the directions");
}

// Numbers of which each is one of few.
template <class Array>
void expect_range(const Array& numbers, int lowest, int highest, const char* what) {
    for (const int number : span_of(numbers)) expect(number >= lowest && number <= highest, what);
}

std::shared_ptr<const Target> target_of(const Labels& truth, const std::optional<Doubles>& weights, std::size_t n_rows) {
    expect_length(truth.shape(0), n_rows, "the label matrix");
    expect(truth.shape(1) > 0, "no labels");
    expect_range(truth, 0, 1, "labels must be 0 or 1");
    auto target = std::make_shared<Target>();
    target->n_labels = truth.shape(1);
    target->labels = {truth.data(), [kept = truth](const std::uint8_t*) {}};  // not copied: the array lives as long as the run
    if (!weights) return target;
    expect_length(weights->size(), n_rows, "weights");
    expect_counts(weights->data(), n_rows, "weights");
    assign(target->weights, *weights);
    return target;
}

State::Start start_of(const std::optional<Decisions>& predicted, const std::optional<Marks>& in_training,
                      const std::optional<Marks>& head_labels, const Target& target, std::size_t n_rows) {
    State::Start start{};
    if (predicted) {
        expect_length(predicted->shape(0), n_rows, "what is predicted beforehand");
        expect_length(predicted->shape(1), target.n_labels, "what is predicted beforehand");
        expect_range(*predicted, OPEN, 1, "what is predicted beforehand must be -1, 0 or 1");
        start.predicted = predicted->data();
    }
    if (in_training) {
        expect_length(in_training->size(), n_rows, "the marks of rows in training");
        expect_range(*in_training, 0, 1, "the marks of rows in training must be 0 or 1");
        start.in_training = in_training->data();
    }
    if (head_labels) {
        expect_length(head_labels->size(), target.n_labels, "the marks of labels in heads");
        start.head_labels = head_labels->data();
    }
    return start;
}

// Conditions and rules as Python reads them: see _core.pyi.
struct StatedCondition {
    std::string test;
    std::size_t index;
    std::variant<std::int64_t, double> value;
};
struct StatedRule {
    std::vector<std::int32_t> labels;
    std::vector<bool> present;
    std::vector<StatedCondition> body;
    double tp, fp, coverage, value;
    bool stop;
    std::vector<std::pair<double, double>> decided;
};

StatedCondition stated(const Condition& condition, const RankedColumns& columns) {
    const std::size_t a = condition.attribute, n_attributes = columns.attributes.size();
    if (a >= n_attributes) return {"label", a - n_attributes, std::int64_t(condition.split.below == 1)};
    if (columns.attributes[a].nominal) return {"=", a, std::int64_t(condition.split.below)};
    return {condition.split.greater ? ">" : "<=", a, condition.threshold(columns)};
}

std::vector<StatedCondition> stated(const std::vector<Condition>& body, const RankedColumns& columns) {
    std::vector<StatedCondition> conditions;
    for (const Condition& condition : body) conditions.push_back(stated(condition, columns));
    return conditions;
}

StatedRule stated(const LearnedRule& rule, const RankedColumns& columns) {
    StatedRule stated_rule{{},        {},          stated(rule.body, columns), rule.tp, rule.fp, rule.coverage, rule.value,
                           rule.stop, rule.decided};
    for (const auto& [label, sign] : rule.head) {
        stated_rule.labels.push_back(label);
        stated_rule.present.push_back(sign != 0);
    }
    return stated_rule;
}

// A run whose work can be stopped from Python.
class PythonRun {
   public:
    PythonRun(const Columns& given, const Labels& truth, std::optional<Doubles> weights, const Options& options,
              std::size_t n_threads, std::optional<Decisions> predicted, std::optional<Marks> in_training,
              std::optional<Marks> head_labels)
        : columns_(given.ranked_so_far()), pairs_(truth.size()) {
        if (options.is_custom()) n_threads = 1;
        guarded([&] {
            const auto columns = given.ranked();
            const auto target = target_of(truth, weights, columns->n_rows);
            check(options, *columns, target->n_labels);
            const State::Start start = start_of(predicted, in_training, head_labels, *target, columns->n_rows);
            run_ = std::make_unique<Run>(columns, target, options, start, std::max<std::size_t>(1, n_threads));
        });
    }

    void learn(std::optional<std::size_t> n_rules, nb::object progress, std::size_t rules_before) {
        expect_whole();
        if (!progress.is_none() && !PyCallable_Check(progress.ptr())) throw nb::type_error("progress must be a function");
        whole_ = false;  // until it is through: what is stopped half way is of no use
        std::function<void()> learned;
        if (!progress.is_none())
            learned = [&] { with_gil([&] { progress(rules_before + run_->rules().size(), run_->decided()); }); };
        guarded([&] {
            without_gil([&] { run_->learn(n_rules.value_or(std::numeric_limits<std::size_t>::max()), Interruption(), learned); });
        });
        whole_ = true;
    }

    std::vector<StatedRule> rules() const {
        expect_whole();
        std::vector<StatedRule> rules;
        for (const LearnedRule& rule : run_->rules()) rules.push_back(stated(rule, run_->columns()));
        return rules;
    }
    std::vector<std::vector<StatedCondition>> bodies() const {
        expect_whole();
        std::vector<std::vector<StatedCondition>> bodies;
        for (const LearnedRule& rule : run_->rules()) bodies.push_back(stated(rule.body, run_->columns()));
        return bodies;
    }
    std::vector<std::pair<double, double>> undecided() const {
        expect_whole();
        return run_->undecided();
    }

   private:
    void expect_whole() const {
        if (!whole_) throw std::runtime_error("the training run was stopped, or is being learned from elsewhere");
    }
    template <class Work>
    void guarded(Work&& work) const {
        try {
            work();
        } catch (const std::bad_alloc&) {
            out_of_memory("learning", double(pairs_) * 8 + double(columns_->size_in_bytes()));
        }
    }

    std::shared_ptr<const RankedColumns> columns_;
    std::size_t pairs_;
    bool whole_ = true;  // only changed with the GIL held
    std::unique_ptr<Run> run_;
};

}  // namespace

void bind_runs(nb::module_& m) {
    using namespace nb::literals;
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
        .value("relaxed", HeadSearchKind::relaxed);
    bind_record(m, "Condition", Field{"operator", &StatedCondition::test}, Field{"index", &StatedCondition::index},
                Field{"value", &StatedCondition::value});
    bind_record(m, "LearnedRule", Field{"labels", &StatedRule::labels}, Field{"present", &StatedRule::present},
                Field{"body", &StatedRule::body}, Field{"tp", &StatedRule::tp}, Field{"fp", &StatedRule::fp},
                Field{"coverage", &StatedRule::coverage}, Field{"value", &StatedRule::value}, Field{"stop", &StatedRule::stop},
                Field{"decided", &StatedRule::decided});
    nb::class_<Options>(m, "Options")
        .def(nb::init<>())
        .def(
            "set_heuristic", [](Options& o, Formula f, double parameter) { o.heuristic = {f, parameter}; }, "formula"_a,
            "parameter"_a = 0.0)
        .def("set_custom_heuristic",
             [](Options& o, nb::object function) {
                 o.custom = custom_heuristic(std::move(function));
                 o.heuristic = {Formula::custom, 0.0};
             })
        // Labels × labels: whether no rule may relate the two.
        .def(
            "set_labels_apart", [](Options& o, const Labels& apart) { assign(o.pairs.apart, apart); }, "apart"_a.noconvert())
        .def(
            "set_exclusive_labels", [](Options& o, const Ints& groups) { assign(o.pairs.exclusive, groups); },
            "groups"_a.noconvert())
        // Labels × labels: whether the first implies the second.
        .def(
            "set_hierarchy", [](Options& o, const Labels& above) { assign(o.pairs.above, above); }, "above"_a.noconvert())
        // Attributes × (up to a value, from one on), by labels × (absent, present); which attributes are nominal; whether labels
        // differ.
        .def(
            "set_directions",
            [](Options& o, const Labels& forbidden, const Marks& nominal, bool by_label) {
                o.directions = {{}, {}, forbidden.shape(1) / 2, by_label};
                assign(o.directions.forbidden, forbidden);
                assign(o.directions.nominal, nominal);
            },
            "forbidden"_a.noconvert(), "nominal"_a.noconvert(), "by_label"_a)
        .def(
            "set_min_precision",
            [](Options& o, double threshold, bool of_label, bool when_finished) {
                o.min_precision = {threshold, of_label};
                o.when_finished = when_finished;
            },
            "threshold"_a, "of_label"_a, "when_finished"_a)
        .def_rw("averages_labels", &Options::averages_labels)
        .def_rw("head_search", &Options::head_search)
        .def_rw("lift", &Options::lift)
        .def_rw("predict_absence", &Options::predict_absence)
        .def_rw("label_conditions", &Options::label_conditions)
        .def_rw("fix_head", &Options::fix_head)
        .def_rw("beam_width", &Options::beam_width)
        .def_rw("remaining", &Options::remaining)
        .def_rw("stop_threshold", &Options::stop_threshold)
        .def_rw("max_conditions", &Options::max_conditions)
        .def_rw("min_coverage", &Options::min_coverage)
        .def_rw("allowed_attributes", &Options::allowed_attributes);
    nb::class_<PythonRun>(m, "Run")
        .def(nb::init<const Columns&, const Labels&, std::optional<Doubles>, const Options&, std::size_t,
                      std::optional<Decisions>, std::optional<Marks>, std::optional<Marks>>(),
             "columns"_a, "truth"_a.noconvert(), "weights"_a.none().noconvert(), "options"_a, "n_threads"_a = 1,
             "predicted"_a.none().noconvert() = nb::none(), "in_training"_a.none().noconvert() = nb::none(),
             "head_labels"_a.none().noconvert() = nb::none())
        .def("learn", &PythonRun::learn, "n_rules"_a.none() = nb::none(), "progress"_a.none() = nb::none(), "rules_before"_a = 0)
        .def("rules", &PythonRun::rules)
        .def("bodies", &PythonRun::bodies)
        .def("undecided", &PythonRun::undecided);
}

}  // namespace plurule
