"""`RelaxedPruningClassifier` and `RelaxedPruningClassifierCV`: the learner of Klein, Rapp and Loza Mencía (2019)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from numbers import Integral
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone

from plurule._estimator import RuleListEstimator, Schema
from plurule._learning import native
from plurule._learning.covering import Progress
from plurule._learning.finish import (
    labels_without_rules,
    warn_if_coverage_impossible,
    why_training_ended,
    with_default_rules,
)
from plurule._learning.problem import (
    COMMON,
    HEAD_SEARCHES,
    LIFTED_SEARCHES,
    HeadSearch,
    MinPrecision,
    Options,
    Problem,
    check_heuristic,
    check_options,
)
from plurule._parameters import Allowed, check_jobs, check_parameters, number, whole, words
from plurule._prediction.staged import score_list
from plurule._progress import Counted, progress_callback
from plurule._rows.rows import Roles, Rows, Sample
from plurule._selection.scores import warn_undefined
from plurule.constraints import Constraints
from plurule.data.targets import TargetForm
from plurule.errors import ParameterError, warn
from plurule.heuristics import AVERAGINGS, Averaging, FMeasure, Heuristic
from plurule.lifts import KLN, KLN_GIVEN_AT, AnyLift, Lift, Peak, as_table, paper_lifts, peaks_within
from plurule.metrics import MEASURES, Measure, Scorer, find_measure

ALLOWED: Allowed = COMMON | {
    "averaging": [words(*AVERAGINGS)],
    "head_search": [words(*HEAD_SEARCHES)],
    "predict_absence": ["boolean"],
    "label_conditions": ["boolean"],
    "fix_head": ["boolean"],
    "min_precision": [number(0, 1)],
    "beam_width": [whole(1, 1000)],
    "remaining": [number(0, 1)],
    "stop_threshold": [number(0, 1)],
    "max_rules": [None, whole(1)],
    "max_grown_rows": [None, whole(1)],
}


@dataclass(kw_only=True, repr=False, eq=False)
class RelaxedPruningClassifier(RuleListEstimator):
    """Learn a list of multi-label rules by separate-and-conquer with relaxed pruning.

    The learner of Klein, Rapp and Loza Mencía (2019), with the published defaults.

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
        How much a longer head is preferred: an object of `plurule.lifts`, a name (`"kln"`, `"peak"`), a function
        of the number of labels, or `None`. Matters to the searches `"relaxed"` and `"exhaustive"` only.
    predict_absence
        Whether rules may also predict that labels are absent; without effect where labels exclude each other.
    label_conditions
        Whether bodies may test the labels that earlier rules predicted.
    fix_head
        Whether the head stays as the first condition found it while the body grows.
    min_precision
        Least share of right predictions of a head, 0 to 1, also while the rule grows.
    beam_width
        How many rules are refined side by side, at most 1000.
    remaining
        Training ends when this share of the training instances is left.
    stop_threshold
        A rule ends the instances it covers if at most this share of them still has something to predict.
    max_rules
        Most rules of the list; `None` for as many as it takes. A default rule for classes, and for each group of labels
        that exclude each other, is not counted.
    max_conditions
        Most conditions in a body; `None` for as many as it takes.
    min_coverage
        Least number of instances that a rule covers when it is learned, or their weight, where they have one.
    max_bins
        Numeric attributes with more distinct values are split into this many bins; `None` considers every split point.
    max_grown_rows
        Of more rows, rules are learned from so many, drawn by their numbers; `None` for all. Rules are counted on all.
    conditions
        The kinds of conditions besides `attribute <= number`, `attribute > number` and `attribute = category`:
        `"paper"` for none, `"all"`, or some of `"sets"` (`attribute in {…}`), `"negation"` (`attribute ≠ category`) and
        `"missing"` (`attribute is missing`, `attribute is known`), as a list or a text such as `"sets, missing"`.
    constraints
        Attributes, pairs of labels and directions that the learned rules must keep to, by name.
    n_jobs
        Threads to train with; -1 for all cores. The model does not depend on it.
    verbose
        Whether to print the progress of training; or a function, which is called after each rule with the number of
        rules so far and the share of pairs decided.

    Attributes
    ----------
    rule_list_ : RuleList
        The learned rules.
    labels_without_rules_ : dict of str to str
        The labels that no rule predicts, each with the reason.
    label_names_, classes_, n_features_in_, feature_names_in_
        As of `RuleListClassifier`.

    Examples
    --------
    >>> X = [[1.0], [2.0], [3.0], [4.0]]
    >>> Y = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> print(RelaxedPruningClassifier().fit(X, Y).rule_list_)
    y0 ← x0 <= 2.5   (TP 2, FP 0, stop)
    y1 ←   (TP 2, FP 0, stop)
    """

    heuristic: Heuristic | str = FMeasure(beta=0.5)  # noqa: RUF009  # set_params changes a copy
    averaging: Averaging = "micro"
    head_search: HeadSearch = "relaxed"
    lift: Lift | Callable[[int], float] | str | None = KLN(k=0.07)  # noqa: RUF009
    predict_absence: bool = False
    label_conditions: bool = True
    fix_head: bool = True
    min_precision: float = 0.5
    beam_width: int = 1
    remaining: float = 0.1
    stop_threshold: float = 0.01
    max_rules: int | None = None
    max_conditions: int | None = None
    min_coverage: float = 0
    max_bins: int | None = None
    max_grown_rows: int | None = None
    conditions: str | Sequence[str] = "paper"
    constraints: Constraints | None = None
    n_jobs: int | None = None
    verbose: bool | int | Progress = False

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of the heuristic and the lift (`heuristic__beta`, `lift__k`)."""
        if isinstance(self.heuristic, str) and any(name.startswith("heuristic__") for name in params):
            self.heuristic = check_heuristic(self.heuristic)
        return super().set_params(**params)

    def _make_options(self, n_labels: int) -> Options:
        parameters = self.get_params(deep=False)
        check_parameters(ALLOWED, parameters)
        min_precision = MinPrecision(float(self.min_precision), of="head", when="growing")
        return check_options(parameters | {"min_precision": min_precision, "engine": self._engine}, n_labels)

    def _options_for(self, problem: Problem) -> Options:
        """Return the options of a list; where one label of a group is present, rules must not predict all absent."""
        options = self._make_options(problem.n_labels)
        return replace(options, predict_absence=options.predict_absence and not problem.groups)

    def _learn(self, rows: Rows, form: TargetForm) -> dict[str, Any]:
        progress = self._progress()
        self._make_options(rows.problem.n_labels)  # a wrong parameter is reported before rows are looked at
        sample = rows.take(self.max_grown_rows)
        fitted = self._learn_list(sample.problem, progress)
        if sample.problem.n_instances < rows.n_rows:
            # What rules are worth was seen on the sample; their counts are those of all rows.
            fitted["rule_list_"] = rows.count(fitted["rule_list_"])
        return fitted

    def _learn_list(self, problem: Problem, progress: Progress | None = None) -> dict[str, Any]:
        """Learn one list from all rows of a problem."""
        options = self._options_for(problem)
        if self.predict_absence and not options.predict_absence:
            warn(
                "predict_absence has no effect: some labels exclude each other, and a present one rules out the others"
            )
        warn_if_coverage_impossible(problem, options)
        rule_list = native.learn_list(problem, options, self._n_threads, progress)
        reason = why_training_ended(rule_list, problem, options, options.n_rules)
        missing = labels_without_rules(rule_list, problem.label_weights, options, reason)
        return {"rule_list_": with_default_rules(rule_list), "labels_without_rules_": missing}


@dataclass(repr=False, eq=False)
class RelaxedPruningClassifierCV(RuleListEstimator):
    """A `RelaxedPruningClassifier` whose lift is chosen by cross-validation, as in the paper.

    Every lift is tried on every fold. The best mean score wins; ties go to the higher Hamming accuracy, then to the
    higher subset accuracy, then to the higher lift. The list is learned from all rows afterwards.

    Parameters
    ----------
    estimator
        The classifier with all parameters but the lift; `None` for `RelaxedPruningClassifier()`.
    lifts
        The lifts to try: lifts, functions of the number of labels, or `None` among them; `"paper"` for the 28 of the
        paper. A `Peak` beyond the number of labels is left out.
    cv
        Number of folds, or a scikit-learn splitter, or the splits themselves.
    scoring
        The measure to choose by: a measure of `plurule.metrics` by name, or a scorer of scikit-learn.
    random_state
        Decides which rows make up which fold if `cv` is a number.
    n_jobs
        Threads to train in; -1 for all cores. The choice does not depend on it.
    verbose
        Whether to show a bar of how many lifts are finished; or a function, which is called at first and whenever
        one is, with the number of those that are and of all.

    Attributes
    ----------
    best_lift_ : Lift
        The chosen lift.
    best_score_ : float
        Its mean score over the folds.
    best_index_ : int
        Its position in `cv_results_`.
    best_estimator_ : RelaxedPruningClassifier
        The classifier with the chosen lift, trained on all rows.
    cv_results_ : dict of str to array
        The lifts (`params`, `param_lift`) and, for every measure, the score on each fold
        (`split0_test_hamming_accuracy`, …), `mean_test_…` and `std_test_…`; the size of the models (`mean_rules`,
        `mean_conditions`); `rank_test_score` after ties were broken.
    rule_list_, labels_without_rules_, label_names_, classes_, n_features_in_, feature_names_in_
        Those of the best classifier.

    Examples
    --------
    >>> from plurule.datasets import load_world_flags
    >>> from plurule.lifts import KLN, NoLift
    >>> search = RelaxedPruningClassifierCV(lifts=[NoLift(), KLN(0.1)], cv=3).fit(load_world_flags())
    >>> search.best_lift_ in (NoLift(), KLN(0.1))
    True
    """

    estimator: RelaxedPruningClassifier | None = None
    _: KW_ONLY
    lifts: Sequence[AnyLift] | Literal["paper"] = "paper"
    cv: Any = 5
    scoring: str | Scorer = "hamming_accuracy"
    random_state: int | None = 0
    n_jobs: int | None = None
    verbose: bool | int | Counted = False

    best_lift_: AnyLift = field(init=False, repr=False, compare=False)
    best_score_: float = field(init=False, repr=False, compare=False)
    best_index_: int = field(init=False, repr=False, compare=False)
    best_estimator_: RelaxedPruningClassifier = field(init=False, repr=False, compare=False)
    cv_results_: dict[str, Any] = field(init=False, repr=False, compare=False)

    @property
    def _template(self) -> RelaxedPruningClassifier:
        """A copy of the classifier to choose the lift for."""
        if self.estimator is None:
            return RelaxedPruningClassifier()
        if not isinstance(self.estimator, RelaxedPruningClassifier):
            raise ParameterError.expected("estimator", self.estimator, "a RelaxedPruningClassifier or None")
        return clone(self.estimator)

    @property
    def constraints(self) -> Constraints | None:
        return self._template.constraints

    @property
    def _n_threads(self) -> int:
        # The folds share the cores.
        return check_jobs(self._template.n_jobs)

    def _make_options(self, n_labels: int) -> Options:
        return self._template._make_options(n_labels)

    def _learn(self, rows: Rows, form: TargetForm) -> dict[str, Any]:
        template = self._template
        template._make_options(rows.problem.n_labels)
        sample = rows.take(template.max_grown_rows)
        problem = sample.problem
        scoring = find_measure(self.scoring, problem.n_labels == 1)
        if template.head_search not in LIFTED_SEARCHES:
            raise ParameterError(
                "head_search",
                template.head_search,
                f"is {template.head_search!r}, which knows no lift to choose; use head_search='relaxed', or "
                "RelaxedPruningClassifier without cross-validation",
            )
        lifts = self._candidates(problem.n_labels)
        options = [_with_lift(template, lift)._options_for(problem) for lift in lifts]
        folds = folds_of(sample, rows.split(self._splitter(form)), options[0].conditions)
        scored = self._learn_and_score(folds, options, scoring, form)
        heights = [height(lift, problem.n_labels) for lift in lifts]
        searched = LiftScores(lifts, scored, scoring.name, heights)
        warn_undefined("RelaxedPruningClassifierCV", scoring.name, list(searched.scores(scoring.name)[:, :, None]))
        results = searched.tabulate()
        best = searched.order[0]
        chosen = _with_lift(template, lifts[best])
        return {
            **chosen._learn_list(problem),
            "best_lift_": lifts[best],
            "best_score_": float(results[f"mean_test_{scoring.name}"][best]),
            "best_index_": best,
            "best_estimator_": chosen,
            "cv_results_": results,
        }

    def _store(self, schema: Schema, fitted: dict[str, Any]) -> None:
        super()._store(schema, fitted)
        shared = {name: fitted[name] for name in ("rule_list_", "labels_without_rules_")}
        self.best_estimator_._store(schema, shared)

    def _learn_and_score(
        self, folds: Sequence[Fold], options: Sequence[Options], scoring: Measure, form: TargetForm
    ) -> list[list[Result]]:
        """Return the scores and sizes of the lists of all options, on each fold."""
        learn = delayed(learn_and_score)
        columns = [native.prepare(fold.training, options[0]) for fold in folds]
        trials = (
            learn(fold, one, scoring, form, ranked)
            for one in options
            for fold, ranked in zip(folds, columns, strict=True)
        )
        parallel = Parallel(check_jobs(self.n_jobs), require="sharedmem", return_as="generator")
        with progress_callback(self.verbose, "lifts") as progress:
            results: list[Result] = []
            for result in parallel(trials):
                if progress is not None and len(results) % len(folds) == 0:
                    progress(len(results) // len(folds), len(options))
                results.append(result)
            if progress is not None:
                progress(len(options), len(options))
        return [results[first : first + len(folds)] for first in range(0, len(results), len(folds))]

    def _candidates(self, n_labels: int) -> Sequence[AnyLift]:
        """The lifts that fit the number of labels."""
        if isinstance(self.lifts, str):
            if self.lifts != "paper":
                raise ParameterError.expected("lifts", self.lifts, "'paper' or a list of lifts")
            lifts: Sequence[AnyLift] = paper_lifts(n_labels)
        else:
            lifts = [lift for lift in self.lifts if peaks_within(lift, n_labels)]
        for lift in lifts:
            as_table(lift, n_labels)
        if not lifts:
            raise ParameterError("lifts", self.lifts, f"holds no lift that fits {n_labels} labels, got {self.lifts!r}")
        return lifts

    def _splitter(self, form: TargetForm) -> Any:
        """A number of folds are drawn as the paper does: rows at random, of 0 and 1 the share of each."""
        from sklearn.model_selection import KFold, StratifiedKFold

        if not isinstance(self.cv, Integral):
            return self.cv
        kind = KFold if form.classes is None or form.groups else StratifiedKFold
        return kind(int(self.cv), shuffle=True, random_state=self.random_state)


def _with_lift(estimator: RelaxedPruningClassifier, lift: AnyLift) -> RelaxedPruningClassifier:
    return clone(estimator).set_params(lift=lift)


# Comparing lifts by the scores of whole lists -------------------------------------------------------------------------
#
# The best mean score wins; ties go to the higher Hamming accuracy, then to the higher subset accuracy, then to the
# higher lift, then to the first.

TIE_BREAKERS = ("hamming_accuracy", "subset_accuracy")


def height(lift: AnyLift, n_labels: int) -> float:
    """Return how high a lift is, to break ties: a peak at its top, any other function at three labels."""
    if isinstance(lift, Peak):
        return float(lift.lift)
    if isinstance(lift, Lift):
        return float(lift.at_length(KLN_GIVEN_AT, max(n_labels, KLN_GIVEN_AT)))
    return float(as_table(lift, n_labels)[min(KLN_GIVEN_AT, n_labels) - 1])


class Result(NamedTuple):
    """Scores and size of a list."""

    scores: dict[str, float]
    rules: int
    conditions: int


class Fold(NamedTuple):
    """Rows to learn whole lists from, and rows to score them on."""

    training: Problem
    """With columns for all kinds of conditions."""
    held_out: Problem


def folds_of(sample: Sample, roles: Roles, conditions: Sequence[str]) -> list[Fold]:
    """Return the folds of a sample, to learn rules with some kinds of conditions."""
    if any(n_groups != 1 for n_groups in roles.n_groups):
        many = f"whole lists are scored on one group of rows, not on {max(roles.n_groups)}"
        raise ValueError(f"{many}; give folds or splits")
    roles_of_sample = roles.of_rows[:, sample.places]
    take = sample.problem.take
    return [
        Fold(take(np.flatnonzero(role == 0)).with_conditions(conditions), take(np.flatnonzero(role == 1)))
        for role in roles_of_sample
    ]


def learn_and_score(fold: Fold, options: Options, scoring: Measure, form: TargetForm, columns: Any) -> Result:
    """Learn a list from the training rows of a fold, and score it on the others by all measures."""
    rule_list = native.learn(fold.training, options, columns=columns)
    measures = list(({scoring.name: scoring} | MEASURES).values())
    rows = fold.held_out
    scores = score_list(rule_list, rows.table, rows.Y, measures, form, rows.sample_weight)
    return Result(scores, len(rule_list), sum(len(rule.body) for rule in rule_list))


@dataclass(frozen=True, eq=False)
class LiftScores:
    """The scores of lists that differ in the lift."""

    lifts: Sequence[AnyLift]
    results: Sequence[Sequence[Result]]
    """Per lift, those of all folds."""
    measure: str
    heights: Sequence[float]
    """How high each lift is."""

    def scores(self, measure: str) -> NDArray[np.float64]:
        """Return the scores by a measure: lifts × folds."""
        return np.array([[result.scores[measure] for result in of_lift] for of_lift in self.results])

    def means(self, measure: str) -> list[float]:
        """Return the mean score of each lift; folds on which it is not defined are left out."""
        defined = [row[np.isfinite(row)] for row in self.scores(measure)]
        return [float(row.mean()) if len(row) else np.nan for row in defined]

    @cached_property
    def order(self) -> list[int]:
        """Positions of the lifts, best first. Means that differ by rounding only, or are not defined, are ties."""
        values = np.array([*map(self.means, (self.measure, *TIE_BREAKERS)), self.heights])
        ranked = np.where(np.isnan(values), np.inf, -values.round(12))
        return np.lexsort(ranked[::-1]).tolist()

    def tabulate(self) -> dict[str, Any]:
        """Return the results in the form of scikit-learn's searches."""
        lifts = np.empty(len(self.lifts), dtype=object)
        lifts[:] = self.lifts
        table: dict[str, Any] = {"params": [{"lift": lift} for lift in lifts], "param_lift": np.ma.MaskedArray(lifts)}
        for measure in self.results[0][0].scores:
            scores = self.scores(measure)
            for part, column in enumerate(scores.T):
                table[f"split{part}_test_{measure}"] = column
            table[f"mean_test_{measure}"] = np.array(self.means(measure))
            defined = [row[np.isfinite(row)] for row in scores]
            table[f"std_test_{measure}"] = np.array([row.std() if len(row) else np.nan for row in defined])
        for size in ("rules", "conditions"):
            table[f"mean_{size}"] = np.array([np.mean([getattr(one, size) for one in row]) for row in self.results])
        table["rank_test_score"] = np.empty(len(self.lifts), dtype=np.int32)
        table["rank_test_score"][self.order] = np.arange(1, len(self.lifts) + 1)
        return table
