"""`RuleListClassifier`: the learner as a scikit-learn classifier."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from plurule.data.dataset import Dataset
from plurule.data.encoding import encode
from plurule.data.inputs import TargetForm, labelled_data, true_labels, unpack
from plurule.data.table import Table
from plurule.errors import DataError
from plurule.heuristics import Averaging, FMeasure, Heuristic
from plurule.label_matrix import dense
from plurule.learning import engine as engines
from plurule.learning.constraints import Constraints, as_initial_rules
from plurule.learning.covering import Progress
from plurule.learning.min_precision import MinPrecision
from plurule.learning.options import (
    FixedHeadCounts,
    RefineAgainst,
    check_constraints,
    check_engine,
    check_jobs,
    check_length,
    check_options,
    check_share,
    check_weights,
)
from plurule.learning.problem import HeadSearch, Options, Problem
from plurule.learning.pruning import prune
from plurule.lifts import KLN, Lift
from plurule.model import Rule, RuleList
from plurule.prediction.counts import recount
from plurule.prediction.decide import Decisions, decide, predict_labels, replay
from plurule.prediction.probability import probabilities
from plurule.prediction.scoring import Scorer, check_scoring
from plurule.prediction.staged import staged_scores
from plurule.selection.folds import Folds, hold_out, make_parts, say_undefined
from plurule.selection.lengths import LengthCurve

PUBLISHED: dict[str, Any] = {
    "heuristic": FMeasure(beta=0.5),
    "min_precision": MinPrecision(threshold=0.5, of="head", when="growing"),
    "n_rules": None,
    "max_conditions": None,
    "min_coverage": 0,
    "max_bins": None,
}
"""The parameters in which the learner of the paper differs from the defaults."""


class RuleListClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """Learns an ordered list of multi-label rules by separate-and-conquer with relaxed pruning.

    Parameters
    ----------
    heuristic
        How good a rule is: an object of `plurule.heuristics`, your own, or a name such as `"f_measure"`.
    averaging
        `"micro"` sums the counts over the labels of a head, `"macro"` averages the values of its labels.
    head_search
        How the labels a rule predicts are found: `"single"`, `"decomposable"` (normal pruning),
        `"anti_monotone"`, `"relaxed"` or `"exhaustive"` (at most 12 labels).
    lift
        How much a longer head is preferred: an object of `plurule.lifts`, a function of the number of labels, or
        `None`. Matters to the searches `"relaxed"` and `"exhaustive"` only.
    min_precision
        Least share of right predictions, 0 to 1: of every label of a finished rule, or of what a `MinPrecision` says
        (as published: of the head as a whole, also while the rule grows).
    predict_absence
        Whether rules may also predict that labels are absent.
    label_conditions
        Whether bodies may test what earlier rules predicted.
    fix_head
        Whether the head stays as the first condition found it while the body grows.
    refine_against
        With a fixed head, the value that a refined rule must beat: `"lifted"` (as published: a head of several labels
        is refined only if that gains more than its lift) or `"plain"`.
    fixed_head_counts
        With a fixed head, what a covered instance with an open head label counts with: all head labels
        (`"instances"`, as published) or the open ones (`"pairs"`).
    beam_width
        How many rules are refined side by side.
    remaining
        Training ends when this share of the training instances is left.
    stop_threshold
        A rule ends the instances it covers if at most this share of them still has something to predict.
    n_rules
        How many rules the list has: `"auto"` for the shortest list that is within one standard error of the best on
        validation data, a number for at most that many, or `None` for as many as it takes.
    cv
        What `n_rules="auto"` is chosen on: a number of folds (which keep the share of every label), the share of the
        rows to hold out, or a splitter of scikit-learn. All rows are trained on afterwards.
    scoring
        What it is chosen by: a measure of `plurule.metrics` by name, or a scorer of scikit-learn.
    prune
        Share of the rows on which the rules are pruned, after they were learned from the others: the last conditions
        of a rule are dropped as long as that makes it better there, and rules that are wrong more often than right
        there, or decide nothing. `None` learns from all rows and does not prune. `n_rules` and its curve are about the
        list before that: what is left of it is shorter.
    max_conditions
        Most conditions in a body; `None` for as many as it takes.
    min_coverage
        Least weight of the instances that a rule covers when it is learned: at 1 each, their number.
    max_bins
        Numeric attributes with more distinct values are cut into this many bins; `None` considers every split point.
    engine
        `"auto"` for the fastest, or one by name; every engine gives the same rules.
    n_jobs
        Threads to train with; -1 for all cores. The model does not depend on it.
    verbose
        Whether to print how far training is.
    progress
        Called after each rule with the number of rules so far and the share of pairs decided.

    Attributes
    ----------
    rule_list_ : RuleList
        What was learned.
    n_rules_curve_ : LengthCurve or None
        With `n_rules="auto"`, the validation scores by length that the choice was made from.
    label_names_ : ndarray of str
        Names of the labels: of the columns of `y` where they have names.
    classes_ : ndarray or list of ndarray
        The classes: of a 1-D `y`, its two classes; of a label matrix, one array `[0, 1]` per label.
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
    y0 ← x0 <= 3.5   (TP 3, FP 0, stop)
    y1 ←   (TP 3, FP 0, stop)
    >>> classifier.predict([[2.5], [9.0]])
    array([[1, 0],
           [0, 1]])
    """

    rule_list_: RuleList
    n_rules_curve_: LengthCurve | None
    label_names_: NDArray[Any]
    n_features_in_: int

    def __init__(
        self,
        *,
        heuristic: Heuristic | str = FMeasure(beta=0.6),  # noqa: B008  # set_params copies it before a change
        averaging: Averaging = "micro",
        head_search: HeadSearch = "relaxed",
        min_precision: float | MinPrecision = 0.5,
        lift: Lift | Callable[[int], float] | None = KLN(k=0.07),  # noqa: B008  # as above
        predict_absence: bool = False,
        label_conditions: bool = True,
        fix_head: bool = True,
        refine_against: RefineAgainst = "lifted",
        fixed_head_counts: FixedHeadCounts = "instances",
        beam_width: int = 1,
        remaining: float = 0.1,
        stop_threshold: float = 0.01,
        n_rules: int | Literal["auto"] | None = "auto",
        cv: Any = 5,
        scoring: str | Scorer = "micro_f1",
        prune: float | None = None,
        max_conditions: int | None = 5,
        min_coverage: float = 3,
        max_bins: int | None = 32,
        engine: str = "auto",
        n_jobs: int | None = None,
        verbose: bool = False,
        progress: Progress | None = None,
    ):
        self.heuristic = heuristic
        self.averaging = averaging
        self.head_search = head_search
        self.min_precision = min_precision
        self.lift = lift
        self.predict_absence = predict_absence
        self.label_conditions = label_conditions
        self.fix_head = fix_head
        self.refine_against = refine_against
        self.fixed_head_counts = fixed_head_counts
        self.beam_width = beam_width
        self.remaining = remaining
        self.stop_threshold = stop_threshold
        self.n_rules = n_rules
        self.cv = cv
        self.scoring = scoring
        self.prune = prune
        self.max_conditions = max_conditions
        self.min_coverage = min_coverage
        self.max_bins = max_bins
        self.engine = engine
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.progress = progress

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
            A data set, as `plurule.read` gives it, with labels, names and weights of its own; or the attributes: a
            pandas or polars frame (text, categorical and boolean columns are nominal), an array (columns that hold
            text are nominal), a sparse matrix, or a `Table`. NaN and None are missing values.
        y
            The labels: a 0/1 matrix (dense, sparse or a frame, whose column names are kept), or a 1-D array of two
            classes. Left out if `X` is a data set.
        sample_weight
            Weight of each row; a row of weight 2 counts as if it were there twice, one of weight 0 as if it were not.
            (`n_rules="auto"` holds out rows, however much they weigh.)
        label_names
            Names of the labels, where `y` has none.
        initial_rules
            Rules of an expert, as rules or as texts (`"red <- stars > 2 and continent = Asia"`). They come first and
            stay as they are; what they decide is not learned again.
        constraints
            What the rules that are learned must and must not use: attributes, and pairs of labels, by name.
        """
        problem, rows = self._problem(X, y, sample_weight, label_names, initial_rules, constraints)
        n_rules, scoring = check_length(self.n_rules), check_scoring(self.scoring)
        options = check_options(self.get_params(deep=False), len(problem.labels))
        engine, n_jobs = check_engine(self.engine), check_jobs(self.n_jobs)
        share = check_share("prune", self.prune)
        if share is not None and constraints is not None:
            raise ValueError("prune drops conditions and rules that constraints may ask for; use one or the other")
        everything, held_out = problem, None
        if share is not None:
            problem, rows, held_out = hold_out(problem, rows, share)
        self.n_rules_curve_ = None
        if _can_learn(problem, options) and n_rules == "auto":
            parts = make_parts(self.cv, problem.Y, rows)
            folds = Folds(problem, parts, self._form, engine, n_jobs).fit_for(scoring)
            if folds.can_choose("n_rules='auto'"):
                self.n_rules_curve_ = _chosen_from(folds.curves(options, scoring).get(scoring.name))
        curve = self.n_rules_curve_
        length = curve.chosen if curve is not None else None if n_rules == "auto" else n_rules
        learned = engines.learn(problem, options.up_to(length), engine, n_jobs, self._progress())
        self.n_rules_curve_ = None if curve is None else curve.cut_after(len(learned))
        if held_out is not None:
            self.rule_list_ = _pruned(learned, held_out, everything, options)
            if curve is not None:
                self.n_rules_curve_ = curve.cut_after(len(learned), pruned_to=len(self.rule_list_))
        else:
            # A list that ended before the chosen length was not cut.
            choice = curve.choice(len(learned)) if curve is not None and len(learned) == length else None
            self.rule_list_ = replace(learned, length_choice=choice)
        return self

    @classmethod
    def published(cls, **parameters: Any) -> Self:
        """The learner as the paper has it, in all that the defaults differ; other parameters as given.

        >>> RuleListClassifier.published(predict_absence=True).heuristic
        FMeasure(beta=0.5)
        """
        return cls(**(PUBLISHED | parameters))

    @classmethod
    def from_rule_list(cls, rule_list: RuleList, **parameters: Any) -> Self:
        """A classifier that predicts with a given rule list, as if it had been fitted.

        >>> from plurule.model import Assignment, Attribute, Head, Rule
        >>> rule = Rule(Head((Assignment("red", 0, True),)))
        >>> rule_list = RuleList((rule,), (Attribute("x0"),), ("red",))
        >>> RuleListClassifier.from_rule_list(rule_list).predict([[3.5]])
        array([[1]])
        """
        classifier = cls(**parameters)
        classifier.rule_list_ = rule_list
        classifier.n_features_in_ = len(rule_list.attributes)
        names = [attribute.name for attribute in rule_list.attributes]
        if names != _numbered_names(len(names)):
            classifier.feature_names_in_ = np.array(names, dtype=object)
        classifier._remember_labels(rule_list.labels, None, sparse=False)
        return classifier

    def predict(self, X: Any) -> Any:
        """The labels of each row as 0/1 matrix (sparse if `y` was), or its class if `y` was 1-D."""
        check_is_fitted(self)
        return self._form.labels(predict_labels(self.rule_list_, self._encode(X), check_jobs(self.n_jobs)))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Per row and label, the probability that the label is present; for a 1-D `y`, per row and class.

        It is the precision that the rule which decided had on the training pairs it decided, smoothed, and always on
        the same side of one half as `predict`.
        """
        decisions = self.decide(X)
        return self._form.probabilities(probabilities(self.rule_list_, decisions))

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy, for several labels subset accuracy, on a data set or on instances and their labels."""
        check_is_fitted(self)
        return float(super().score(*unpack(X, y, sample_weight, self.rule_list_.labels)))

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """What `predict` gives with the first rule alone, with the first two rules, and so on."""
        check_is_fitted(self)
        for step in replay(self.rule_list_, self._encode(X)):
            yield self._form.labels(step.decisions.labels())

    def staged_score(
        self, X: Any, y: Any = None, scoring: str | Scorer | None = None, sample_weight: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Scores of the first rule alone, of the first two rules, and so on; one pass over the rules.

        Parameters
        ----------
        X, y
            Instances and their labels, as for `fit`.
        scoring
            A measure of `plurule.metrics` by name, or a scorer of scikit-learn; the classifier's own, unless given.
        sample_weight
            Weight of each row.

        Examples
        --------
        >>> X, Y = [[1.0], [2.0], [3.0], [4.0]], [[1, 0], [1, 0], [0, 1], [0, 1]]
        >>> RuleListClassifier.published().fit(X, Y).staged_score(X, Y, "hamming_accuracy")
        array([0.75, 1.  ])
        """
        check_is_fitted(self)
        X, y, sample_weight = unpack(X, y, sample_weight, self.rule_list_.labels)
        table = self._encode(X)
        truth = true_labels(y, self._form, len(self.rule_list_.labels))
        if len(table) != len(truth):
            raise DataError(f"X has {len(table)} rows, y has {len(truth)}; give the labels of every row")
        weights = None if sample_weight is None else check_weights(sample_weight, len(table), truth.shape[1])
        chosen = check_scoring(self.scoring if scoring is None else scoring)
        return staged_scores(self.rule_list_, table, truth, chosen, self._form, weights)[1:]

    def decide(self, X: Any) -> Decisions:
        """What the rules decide for each row and label, and which rule does."""
        check_is_fitted(self)
        return decide(self.rule_list_, self._encode(X), check_jobs(self.n_jobs))

    def explain(self, X: Any) -> Any:
        """Which rule decided each label of each row, and why; see `plurule.inspection.explain`."""
        check_is_fitted(self)
        return self.rule_list_.explain(self._encode(X))

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of others (`heuristic__beta`, `lift__k`, `min_precision__threshold`)."""
        if isinstance(self.min_precision, float | int) and any(key.startswith("min_precision__") for key in params):
            self.min_precision = MinPrecision(self.min_precision)
        # Heuristics and lifts may be shared between classifiers, the defaults always are: change a copy.
        for name in {key.partition("__")[0] for key in params if "__" in key} - set(params):
            if hasattr(getattr(self, name, None), "get_params"):
                setattr(self, name, clone(getattr(self, name)))
        super().set_params(**params)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _problem(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        label_names: Sequence[str] | None,
        initial_rules: RuleList | str | Iterable[Rule | str] = (),
        constraints: Constraints | None = None,
    ) -> tuple[Problem, NDArray[np.intp]]:
        """What is to be learned, checked, and the rows that count; notes what attributes and labels are called."""
        data, form = labelled_data(X, y, sample_weight, label_names)
        weights = check_weights(data.weights, len(data), len(data.label_names))
        self._remember_features(X, data.X)
        rows = np.flatnonzero(weights > 0)
        if len(rows) < len(weights):
            data, weights = data[rows], weights[rows]
        given = as_initial_rules(initial_rules, data.attributes, data.label_names) if initial_rules else ()
        self._remember_labels(data.label_names, form.classes, form.sparse)
        bounds = check_constraints(constraints, data.attributes, data.label_names, self.head_search)
        return Problem(data.X, data.label_names, dense(data.Y).view(np.uint8), weights, given, bounds), rows

    def _remember_features(self, X: Any, table: Table) -> None:
        if isinstance(X, Table | Dataset):
            self.n_features_in_ = table.shape[1]
            self.feature_names_in_ = np.array(table.names, dtype=object)
        else:
            validate_data(self, _as_array(X), skip_check_array=True, reset=True)

    def _remember_labels(self, labels: tuple[str, ...], classes: NDArray[Any] | None, sparse: bool) -> None:
        self.label_names_ = np.array(labels, dtype=object)
        self.classes_ = [np.array([0, 1]) for _ in labels] if classes is None else classes
        self._target_classes = classes
        self._target_sparse = sparse

    @property
    def _form(self) -> TargetForm:
        return TargetForm(self._target_classes, self._target_sparse)

    def _encode(self, X: Any) -> Table:
        """The columns that the rules ask for, as scikit-learn expects them: by name and in the same order."""
        attributes = self.rule_list_.attributes
        if isinstance(X, Table | Dataset):
            return encode(X.X if isinstance(X, Dataset) else X, attributes)
        X = _as_array(X)
        if getattr(X, "ndim", 2) == 2:
            validate_data(self, X, skip_check_array=True, reset=False)
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame) and not hasattr(self, "feature_names_in_"):
            renamed = [replace(a, name=str(c)) for a, c in zip(attributes, frame.columns, strict=True)]
            return Table(attributes, encode(X, renamed).columns, frame.shape[0])
        table = encode(X, attributes)
        if len(table) == 0:
            raise DataError("X holds no rows (Found array with 0 sample(s)); there is nothing to predict")
        return table

    def _progress(self) -> Progress | None:
        if not self.verbose:
            return self.progress

        def show(rules: int, share: float) -> None:
            print(f"{rules} rules, {share:.1%} of the pairs decided")
            if self.progress is not None:
                self.progress(rules, share)

        return show


def _can_learn(problem: Problem, options: Options) -> bool:
    """Whether any rule can cover enough; says so if none can."""
    total = float(problem.weights.sum())
    if options.min_coverage > total:
        least = f"min_coverage={options.min_coverage:g}, but all instances together weigh {total:g}"
        warnings.warn(f"{least}: no rule can cover as much, and none is learned", stacklevel=3)
    return options.min_coverage <= total


def _chosen_from(curve: LengthCurve | None) -> LengthCurve | None:
    """The curve, if there is anything to choose by; says where the score is not defined."""
    if curve is None:
        return None
    say_undefined("n_rules='auto'", [curve])
    return curve if len(curve.defined) else None


def _pruned(rule_list: RuleList, held_out: Problem, everything: Problem, options: Options) -> RuleList:
    """What the held-out rows support, with its counts on all rows."""
    kept = prune(rule_list, held_out.table, held_out.Y, options.heuristic, held_out.weights)
    return recount(kept, everything.table, everything.Y, everything.weights)


def _as_array(X: Any) -> Any:
    """Lists and the like as an array; frames, arrays and sparse matrices as they are."""
    return X if hasattr(X, "shape") else np.asarray(X)


def _numbered_names(count: int) -> list[str]:
    return [f"x{i}" for i in range(count)]
