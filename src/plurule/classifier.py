"""`RuleListClassifier`: the learner as a scikit-learn classifier."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plurule.data.inputs import labelled_data
from plurule.heuristics import Averaging, FMeasure, Heuristic
from plurule.label_matrix import dense
from plurule.learning.constraints import Constraints, are_had_or_not
from plurule.learning.covering import Progress
from plurule.learning.default_rules import with_default_rules
from plurule.learning.fixed_head import FixedHead, as_fixed_head
from plurule.learning.initial_rules import as_initial_rules
from plurule.learning.min_precision import MinPrecision, as_min_precision
from plurule.learning.missing_labels import can_learn, labels_without_rules, why_training_ended
from plurule.learning.options import check_constraints, check_engine, check_heuristic, check_options
from plurule.learning.problem import HeadSearch, Options, Problem
from plurule.learning.readable import readable
from plurule.learning.shortening import simplified
from plurule.learning.weights import check_weights
from plurule.lifts import KLN, Lift
from plurule.model import Rule, RuleList
from plurule.parameters import check_jobs, told_to
from plurule.prediction.predictor import LabelPredictor, RuleListPredictor
from plurule.prediction.scoring import Scorer, Scoring, check_scoring
from plurule.selection.aiming import MOST_RULES, Aim, ConstantLabels, evaluation_to_aim_by
from plurule.selection.folds import Folds
from plurule.selection.lengths import LengthCurve
from plurule.selection.search import chosen_from, search
from plurule.selection.training_data import TrainingData, check_counted
from plurule.selection.trials import evaluation_to_choose_by

PUBLISHED: dict[str, Any] = {
    "heuristic": FMeasure(beta=0.5),
    "min_precision": MinPrecision(threshold=0.5, of="head", when="growing"),
    "predict_absence": False,
    "n_rules": None,
    "max_conditions": None,
    "min_coverage": 0,
    "max_bins": None,
    "readable": False,
}
"""The parameters in which the learner of the paper differs from the defaults."""


@dataclass(kw_only=True, repr=False, eq=False)
class RuleListClassifier(RuleListPredictor):
    """Learns an ordered list of multi-label rules by separate-and-conquer with relaxed pruning.

    By default the list aims at `scoring`: lists are learned by several heuristics, short lists are selected from their
    bodies by what they gain, and what scores best on new rows is taken, at its best length, with a little for rules of
    several labels and against long lists. The best constant label set is tried, too, and taken where lists are
    better by no more than chance and a little. A heuristic of your choice learns one list with it.

    Parameters
    ----------
    heuristic
        How good a rule is: an object of `plurule.heuristics`, your own, or a name such as `"f_measure"`. `"auto"` aims
        at `scoring`, as above; where there is nothing to choose (`n_rules=None`, fewer than 50 rows) it is
        `FMeasure(beta=0.6)`.
    averaging
        `"micro"` sums the counts over the labels of a head, `"macro"` averages the values of its labels.
    head_search
        How the labels a rule predicts are found: `"single"`, `"decomposable"` (normal pruning),
        `"anti_monotone"`, `"relaxed"` or `"exhaustive"` (at most 12 labels).
    lift
        How much a longer head is preferred: an object of `plurule.lifts`, a name (`"kln"`, `"peak 3: 1.04"`), a
        function of the number of labels, or `None`. Matters to the searches `"relaxed"` and `"exhaustive"` only.
    min_precision
        Least share of right predictions, 0 to 1: of every label of a finished rule, or of what a `MinPrecision` says
        (as published: of the head as a whole, also while the rule grows). `"auto"` is one half where a single list is
        learned; where lists aim at `scoring`, what is selected need only gain.
    predict_absence
        Whether rules may also predict that labels are absent. `"auto"`: only where lists aim at `scoring`, as
        exceptions to a last rule, which predicts its labels for all other instances.
    label_conditions
        Whether bodies may test what earlier rules predicted.
    fix_head
        Whether the head stays as the first condition found it while the body grows; a `FixedHead` says what the
        conditions that follow are judged by.
    beam_width
        How many rules are refined side by side, at most 1000.
    remaining
        Training ends when this share of the training instances is left. (Where lists aim at `scoring`, their length is
        chosen instead.)
    stop_threshold
        A rule ends the instances it covers if at most this share of them still has something to predict.
    n_rules
        How many rules the list has: a number for at most that many, `"auto"` for at most 40, as many as score best on
        validation data (with a heuristic of your choice, the shortest list within one standard error of the best), or
        `None` for as many as it takes.
    cv
        What the choice is made on: a number of folds (which keep the share of every label), the share of the
        rows to hold out, or a splitter of scikit-learn. All rows are trained on afterwards.
    scoring
        What the list aims at and is chosen by: a measure of `plurule.metrics` by name, or a scorer of scikit-learn.
    give_up
        How much of the score may be given up for rules that tell of several labels, in their heads or bodies: of the
        lists that score at most so much below the best, the one with the largest share of such rules is taken.
    simplify
        How much of the training score may be given up for fewer rules and conditions once the list is learned: with 0
        no prediction on the training rows changes. `None` drops nothing. `n_rules` and `chosen_` are about the list
        before that.
    max_conditions
        Most conditions in a body; `None` for as many as it takes.
    min_coverage
        Least number of instances that a rule covers when it is learned, or their weight, where they have one.
    max_bins
        Numeric attributes with more distinct values are cut into this many bins; `None` considers every split point.
    conditions
        The kinds of conditions besides `attribute <= number`, `attribute > number` and `attribute = category`:
        `"paper"` for none, `"all"`, or some of `"sets"` (`attribute in {…}`), `"negation"` (`attribute ≠ category`) and
        `"missing"` (`attribute is missing`, `attribute is known`), as a list or a text such as `"sets, missing"`.
    engine
        `"auto"` for the fastest, or one by name; every engine gives the same rules.
    n_jobs
        Threads to train with; -1 for all cores. The model does not depend on it.
    readable
        Whether thresholds become the roundest numbers between the same training values, and two bounds of one attribute
        one condition; predictions on training rows stay the same.
    remember_rows
        Whether the rule list, and its model file, keeps a fingerprint of 32 bits of every row that it was learned from
        (not of labels), so that scores and reports can say how many rows are new to it.
    verbose
        Whether to print how far training is; or a function, which is called after each rule with the number of rules so
        far and the share of pairs decided; where lists are chosen among, after each part of the validation data, with 0
        and the share of the work that is done, and at the end.

    Attributes
    ----------
    rule_list_ : RuleList
        What was learned.
    n_rules_curve_ : LengthCurve or None
        Where a length was chosen, the validation scores by length of lists made in the same way.
    chosen_ : dict
        Where something was chosen: `how` the list was made, the number of rules it was cut after (`n_rules`), its
        `scoring`, the `score` and `standard_error` of such a choice on parts of the data that had no say in it, what
        the best `constant` label set scores there, and how much below the best of all that was tried the score is
        (`given_up`).
    labels_without_rules_ : dict of str to str
        The labels that no rule predicts, each with the reason: too rare, not precise enough, cut off.
    label_names_ : ndarray of str
        Names of the labels: of the columns of `y` where they have names.
    classes_ : ndarray or list of ndarray
        What the columns of `predict_proba` are about: of a 1-D `y`, its classes; of several columns of classes, those
        of each; of a label matrix, the places of the labels, as scikit-learn's `MLPClassifier` has them (of two
        labels, the two classes of each, so that scorers do not take them for one label of two classes).
    n_features_in_ : int
        Number of attributes.
    feature_names_in_ : ndarray of str
        Names of the attributes, where `X` had names.

    Notes
    -----
    `score` is the accuracy of scikit-learn's classifiers, which for several labels is subset accuracy: the share of
    instances with every label right. `plurule.metrics` has the other measures.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]])
    >>> Y = np.array([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]])
    >>> classifier = RuleListClassifier().fit(X, Y)
    >>> print(classifier.rule_list_)
    y0 ← x0 <= 3   (TP 3, FP 0, stop)
    y1 ←   (TP 3, FP 0, stop)
    >>> classifier.predict([[2.5], [9.0]])
    array([[1, 0],
           [0, 1]])
    """

    heuristic: Heuristic | str = "auto"
    averaging: Averaging = "micro"
    head_search: HeadSearch = "relaxed"
    min_precision: float | MinPrecision | Literal["auto"] = "auto"
    lift: Lift | Callable[[int], float] | str | None = KLN(k=0.07)  # noqa: RUF009  # set_params changes a copy
    predict_absence: bool | Literal["auto"] = "auto"
    label_conditions: bool = True
    fix_head: bool | FixedHead = True
    beam_width: int = 1
    remaining: float = 0.1
    stop_threshold: float = 0.01
    n_rules: int | Literal["auto"] | None = "auto"
    cv: Any = 5
    scoring: str | Scorer = "micro_f1"
    give_up: float = 0.0
    simplify: float | None = None
    max_conditions: int | None = 5
    min_coverage: float = 3
    max_bins: int | None = 32
    conditions: str | Sequence[str] = "paper"
    engine: str = "auto"
    n_jobs: int | None = None
    readable: bool = True
    remember_rows: bool = True
    verbose: bool | int | Progress = False

    n_rules_curve_: LengthCurve | None = field(init=False, repr=False, compare=False)
    chosen_: dict[str, Any] = field(init=False, repr=False, compare=False)
    labels_without_rules_: dict[str, str] = field(init=False, repr=False, compare=False)

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        initial_rules: RuleList | str | Iterable[Rule | str] = (),
        constraints: Constraints | None = None,
    ) -> Self:
        """Learn a rule list.

        Parameters
        ----------
        X
            A data set, as `plurule.read` gives it, with labels, names and weights of its own; data that are not in
            memory, as `plurule.scan` gives them; or the attributes: a pandas or polars frame or an array (columns of
            text, categories and booleans are nominal), a sparse matrix, or a `Table`. NaN and None are missing values.
        y
            The labels: a 0/1 matrix (dense, sparse or a frame, whose column names are kept); a column of classes;
            several columns, of which some hold classes as text; or a set of labels for each row. Of more than two
            classes each is a label, and exactly one of them is predicted. Left out if `X` is a data set.
        sample_weight
            Weight of each row; beside rows of weight 1, one of weight 2 counts as if it were there twice, one of
            weight 0 as if it were not. Only ratios matter: all weights are counted in the greatest unit of which they
            are whole multiples, or else in units of their mean. (Rows are held out however much they weigh.)
        label_names
            Names of the labels, where `y` has none.
        initial_rules
            Rules of an expert, as rules or as texts (`"red <- stars > 2 and continent = Asia"`). They come first and
            stay as they are; what they decide is not learned again.
        constraints
            What the rules that are learned must and must not use: attributes, and pairs of labels, by name.
        """
        if hasattr(type(X), "training_data"):  # which is to be counted where it is
            return self._learn_counted(X, initial_rules, constraints, y, sample_weight, label_names)
        given = X, y, sample_weight, label_names, initial_rules, constraints
        problem, counts = problem_for(self, self.head_search, *given)
        chooses = "auto" in (self.heuristic, self.n_rules)  # only then it matters where rows were
        return self._learn(problem, np.flatnonzero(counts) if chooses else None)

    def _learn_counted(self, data: Any, initial_rules: Any, constraints: Any, *others: Any) -> Self:
        """Learn from data that are counted where they are, with labels and weights of their own."""
        check_counted(self.get_params(deep=False), check_scoring(self.scoring), *others)
        columns, names, n_jobs = data.columns, (data.attributes, data.label_names), check_jobs(self.n_jobs)
        given = as_initial_rules(initial_rules, *names) if initial_rules else ()
        known = columns.form.groups, columns.hierarchy, lambda: columns.had_or_not, given
        bounds = check_constraints(constraints, data.attributes, data.label_names, self.head_search, *known)
        options = check_options(self.get_params(deep=False), len(data.label_names))
        self._take_over(RuleList((), *names))
        self._remember_labels(data.label_names, columns.form)
        with data.training_data(options, given, bounds, n_jobs, self.remember_rows) as folds:
            return self._learn(folds)

    def _learn(self, data: Problem | TrainingData, rows: NDArray[np.intp] | None = None) -> Self:
        """Learn a rule list from data, whose rows are those of the positions given, where some were left out."""
        in_memory = None, check_engine(self.engine), check_jobs(self.n_jobs)
        folds = data if isinstance(data, TrainingData) else Folds(data, (), *in_memory)
        problem = folds.problem
        options, scoring = check_options(self.get_params(deep=False), len(problem.labels)), check_scoring(self.scoring)
        self.n_rules_curve_, self.chosen_ = None, {}
        choosing = self.heuristic == "auto" and self.n_rules is not None
        if not choosing or not can_learn(problem, options) or not self._aim(folds, rows, options, scoring):
            self._learn_one(folds, rows, options, scoring)
        if self.simplify is not None:
            self.rule_list_ = simplified(self.rule_list_, problem, scoring, float(self.simplify))
        self.rule_list_ = self._finished(self.rule_list_, folds)
        return self

    def _aim(self, folds: TrainingData, rows: NDArray[np.intp] | None, options: Options, scoring: Scoring) -> bool:
        """Choose how to make the list, and its length, by what scores best on new rows; False if nothing can be."""
        problem = folds.problem
        evaluation = evaluation_to_aim_by(folds.split(self.cv, rows), scoring, self._form)
        if evaluation is None:
            return False
        least = 0.0 if self.min_precision == "auto" else options.min_precision.threshold
        most = max(options.n_rules or MOST_RULES, len(problem.initial_rules))
        progress = self._progress()
        share = (lambda done: None) if progress is None else partial(progress, 0)
        may_except = isinstance(self.predict_absence, str)
        found = Aim(evaluation, options, most, least, may_except, float(self.give_up), share).hit()
        if found is None:
            return False
        self.chosen_, self.n_rules_curve_ = found.told(), found.curve
        score, is_constant = self.chosen_["score"], found.how == ConstantLabels()
        if score <= found.constant:
            warnings.warn(_not_better(scoring.name, score, found.constant, is_constant), stacklevel=3)
        self.rule_list_ = replace(found.rule_list, length_choice=found.choice())
        if progress is not None:
            progress(len(self.rule_list_), 1.0)
        why = f"no rule for it pays off for {scoring.name}"
        self.labels_without_rules_ = labels_without_rules(self.rule_list_, problem, options, why)
        return True

    def _learn_one(
        self, folds: TrainingData, rows: NDArray[np.intp] | None, options: Options, scoring: Scoring
    ) -> None:
        """Learn one list, and choose its length if asked to."""
        if can_learn(folds.problem, options) and self.n_rules == "auto":
            folds = folds.split(self.cv, rows)
            evaluation = evaluation_to_choose_by("n_rules='auto'", folds, scoring, self._form)
            if evaluation is not None:
                (curves,) = search(evaluation, [options])
                self.n_rules_curve_ = chosen_from(curves.get(scoring.name))
        curve = self.n_rules_curve_
        length = options.n_rules if curve is None else curve.chosen
        learned = folds.learn_one(options.up_to(length), self._progress())
        self.n_rules_curve_ = None if curve is None else curve.cut_after(len(learned))
        # A list that ended before the chosen length was not cut.
        choice = curve.choice(len(learned)) if curve is not None and len(learned) == length else None
        self.rule_list_ = replace(learned, length_choice=choice)
        ended = why_training_ended(learned, folds.problem, options, length)
        self.labels_without_rules_ = labels_without_rules(learned, folds.problem, options, ended)

    @classmethod
    def published(cls, **parameters: Any) -> Self:
        """The learner as the paper has it, in all that the defaults differ; other parameters as given.

        >>> RuleListClassifier.published(predict_absence=True).heuristic
        FMeasure(beta=0.5)
        """
        return cls(**(PUBLISHED | parameters))

    @classmethod
    def expressive(cls, cost: float = 0.01, **parameters: Any) -> Self:
        """The learner that prefers rules of several labels; `chosen_["given_up"]` says what they cost.

        >>> RuleListClassifier.expressive(cost=0.02).give_up
        0.02
        """
        return cls(**({"give_up": cost} | parameters))

    @classmethod
    def from_rule_list(cls, rule_list: RuleList, **parameters: Any) -> Self:
        """A classifier that predicts with a given rule list, as if it had been fitted.

        Frames need only have the columns that rules test, in any order.

        >>> from plurule.model import Assignment, Attribute, Head, Rule
        >>> rule = Rule(Head((Assignment("red", 0, True),)))
        >>> rule_list = RuleList((rule,), (Attribute("x0"),), ("red",))
        >>> RuleListClassifier.from_rule_list(rule_list).predict([[3.5]])
        array([[1]])
        """
        given = cls(**parameters)._take_over(rule_list)
        given._was_given = True
        return given

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of others (`heuristic__beta`, `lift__k`, `min_precision__threshold`)."""
        owners = {key.partition("__")[0] for key in params if "__" in key}
        if "min_precision" in owners:
            self.min_precision = as_min_precision(self.min_precision)
        if "fix_head" in owners:
            self.fix_head = as_fixed_head(self.fix_head) or FixedHead()
        if "heuristic" in owners:
            self.heuristic = check_heuristic(self.heuristic)
        return super().set_params(**params)

    def _finished(self, rule_list: RuleList, folds: TrainingData) -> RuleList:
        """A rule list as people say it, which knows the rows it was learned from, if both is wanted."""
        n_given = len(folds.problem.initial_rules)
        said = readable(rule_list, folds.values_for(rule_list), n_given) if self.readable else rule_list
        rule_list = with_default_rules(said)
        return replace(rule_list, trained_on=folds.fingerprints()) if self.remember_rows else rule_list

    def _progress(self) -> Progress | None:
        def show(rules: int, share: float) -> None:
            print(f"{rules} rules, {share:.1%} of the pairs decided" if rules else f"{share:.0%} of the lists learned")

        return told_to(self.verbose, show)


def problem_for(
    predictor: LabelPredictor,
    head_search: HeadSearch,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None,
    label_names: Sequence[str] | None,
    initial_rules: RuleList | str | Iterable[Rule | str] = (),
    constraints: Constraints | None = None,
) -> tuple[Problem, NDArray[np.bool_]]:
    """What is to be learned, checked, and which rows count; the predictor notes names of attributes and labels."""
    data, form = labelled_data(X, y, sample_weight, label_names)
    weights = check_weights(data.weights, len(data), len(data.label_names))
    predictor._remember_features(X, data.X)
    counts = np.broadcast_to(True, len(data)) if data.weights is None else weights > 0  # the former takes no memory
    if not counts.all():
        data, weights = data[np.flatnonzero(counts)], weights[counts]
    given = as_initial_rules(initial_rules, data.attributes, data.label_names) if initial_rules else ()
    predictor._remember_labels(data.label_names, form)
    known = data.groups, data.hierarchy, partial(are_had_or_not, data.X), given, data.Y
    bounds = check_constraints(constraints, data.attributes, data.label_names, head_search, *known)
    return Problem(data.X, data.label_names, dense(data.Y).view(np.uint8), weights, given, bounds), counts


def _not_better(measure: str, score: float, constant: float, is_constant: bool) -> str:
    same = f"the best label set that is the same for every instance has a {measure} of {constant:.3f} on new rows"
    return f"{same}, " + ("and no list is clearly better: it is the model" if is_constant else f"the model {score:.3f}")
