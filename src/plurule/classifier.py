"""`RuleListClassifier`: the best short rule list for a measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from plurule._estimator import RuleListEstimator
from plurule._learning.covering import Progress
from plurule._learning.finish import labels_without_rules, with_default_rules
from plurule._learning.problem import COMMON, MinPrecision, Options, plain_options
from plurule._parameters import Allowed, check_parameters, number, whole, words
from plurule._rows.rows import Rows
from plurule._selection.scores import LengthCurve
from plurule._selection.select import AUTO_LIFTS, Selector
from plurule.constraints import Constraints
from plurule.data.targets import TargetForm
from plurule.errors import ParameterError
from plurule.lifts import NAMES, AnyLift, Lift, as_table, find_lift
from plurule.metrics import Scorer, find_measure

ALLOWED: Allowed = COMMON | {
    "score_tolerance": [number(0, 1)],
    "max_rules": [words("auto"), whole(1)],
    "min_precision": [None, number(0, 1)],
    "predict_absence": ["boolean"],
    "max_grown_rows": [None, whole(1)],
}

MOST_RULES = 2**31 - 1
"""More rules than this are as many as this."""


@dataclass(kw_only=True, repr=False, eq=False)
class RuleListClassifier(RuleListEstimator):
    """Learn a short, readable rule list that scores best by a measure on held-out data.

    Lists are grown by the paper's learner and give the bodies of candidate rules. From these, rules are selected: again
    and again the one that adds the most lifted gain, with the head that relaxed pruning finds. The lift, the length and
    what a rule must gain are chosen by cross-validation; the best constant prediction competes.

    Each rule can be read on its own: the order of the rules does not matter, but for a default rule at the end (and
    where labels exclude each other).

    Parameters
    ----------
    scoring
        The measure that the list is chosen by: a measure of `plurule.metrics` by name, or a scorer of scikit-learn,
        which is given the numbers of rows as `X`.
    lift
        How much a longer head is preferred: `"auto"` chooses the highest lift whose score is not distinguishably below
        the best; or an object of `plurule.lifts`, a name (`"kln"`, `"peak"`), a function of the number of labels, or
        `None` for no preference.
    score_tolerance
        How much of the score may be lost for rules that relate labels: of the lists that score at most so much below
        the best, the one with the largest share of multi-label heads is taken. `score_loss_` is what that cost.
    max_rules
        Most rules; `"auto"` for 40, or as many as there are labels if more, at most 100. A default rule for classes,
        and for each group of labels that exclude each other, is not counted.
    max_conditions
        Most conditions in a body; `None` for no limit.
    min_coverage
        Least number of instances that a rule covers, or their weight, where they have one.
    min_precision
        Least precision of every label of a head, 0 to 1; `None` for no limit: what is selected need only gain.
    predict_absence
        Whether rules may predict the absence of labels that a default rule, which comes last, predicts for all others.
    conditions
        The kinds of conditions besides `attribute <= number`, `attribute > number` and `attribute = category`:
        `"paper"` for none, `"all"`, or some of `"sets"` (`attribute in {…}`), `"negation"` (`attribute ≠ category`) and
        `"missing"` (`attribute is missing`, `attribute is known`), as a list or a text such as `"sets, missing"`.
    constraints
        What rules must not use, and what is known about labels.
    max_bins
        Numeric attributes with more distinct values are split into this many bins; `None` considers every split point.
    cv
        The folds to choose by: a number of folds (which keep the share of every label), the share of the rows to hold
        out, or a splitter of scikit-learn. All rows are trained on afterwards.
    max_grown_rows
        Of more rows, so many, drawn by their numbers, give the candidate rules; `None` for all. Rules are selected,
        scored and counted by all rows. `chosen_["how"]` says so.
    n_jobs
        Threads to train with; -1 for all cores. The model does not depend on it.
    verbose
        Whether to print progress; or a function, which is called with the number of rules so far and the share of the
        work that is done.

    Attributes
    ----------
    rule_list_ : RuleList
        The rules.
    chosen_ : dict
        The choice: a sentence (`how`); the `lift`, the precision above which a prediction gains (λ,
        `precision_threshold`) and the share of its gain that a rule pays for each condition (`condition_price`) that
        rules were selected by; of exclusive labels those that a default rule predicts (`default_labels`), and whether
        rules are exceptions to a default rule (`has_exceptions`); `n_rules`; the `scoring`, its `score` on folds that
        had no part in the choice with its `standard_error`, and the score of the best `constant` prediction. The score
        of the model on new data is within 1.96 standard errors of `score` in about 95 % of all fits. Where a share of
        the rows is held out (`cv=0.2`), the list is chosen and scored by the same rows, and `score` is too high.
    score_loss_ : float
        How much below the best of all that was tried the score is.
    length_curve_ : LengthCurve
        The scores on held-out rows by number of rules.
    labels_without_rules_ : dict of str to str
        The labels that no rule predicts, each with the reason.
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
    >>> X = np.arange(60.0).reshape(-1, 1)
    >>> Y = np.column_stack([X < 30, X < 30, X >= 30]).astype(int)
    >>> classifier = RuleListClassifier().fit(X, Y)
    >>> print(classifier.rule_list_)
    y0, y1 ← x0 <= 29   (TP 60, FP 0; y0 30/0, y1 30/0)
    y2 ← x0 >= 30   (TP 30, FP 0)
    >>> classifier.predict([[2.5], [99.0]])
    array([[1, 1, 0],
           [0, 0, 1]])
    """

    scoring: str | Scorer = "micro_f1"
    lift: Lift | Callable[[int], float] | str | None = "auto"
    score_tolerance: float = 0.0
    max_rules: int | Literal["auto"] = "auto"
    max_conditions: int | None = 3
    min_coverage: float = 3
    min_precision: float | None = None
    predict_absence: bool = True
    conditions: str | Sequence[str] = "paper"
    constraints: Constraints | None = None
    max_bins: int | None = 32
    cv: Any = 5
    max_grown_rows: int | None = 5_000_000
    n_jobs: int | None = None
    verbose: bool | int | Progress = False

    chosen_: dict[str, Any] = field(init=False, repr=False, compare=False)
    score_loss_: float = field(init=False, repr=False, compare=False)
    length_curve_: LengthCurve = field(init=False, repr=False, compare=False)

    def _make_options(self, n_labels: int) -> Options:
        """Return the options of the lists that give the bodies."""
        parameters = self.get_params(deep=False)
        check_parameters(ALLOWED, parameters)
        # Each list that gives bodies has a heuristic, a lift and a length of its own.
        internal = {"lift": as_table(None, n_labels), "min_precision": MinPrecision(0.5), "n_rules": None}
        return plain_options(parameters, internal | {"predict_absence": False, "engine": self._engine})

    def _lifts(self, n_labels: int) -> Sequence[AnyLift]:
        """Return the lifts to choose from, lowest first."""
        if isinstance(self.lift, str) and self.lift == "auto":
            return AUTO_LIFTS
        is_lift = self.lift in NAMES if isinstance(self.lift, str) else self.lift is None or callable(self.lift)
        if not is_lift:
            names = ", ".join(map(repr, NAMES))
            allowed = f"'auto', {names}, a lift such as KLN(k=0.1), a function of the number of labels or None"
            raise ParameterError.expected("lift", self.lift, allowed)
        as_table(self.lift, n_labels)
        return [find_lift(self.lift) if isinstance(self.lift, str) else self.lift]

    def _learn(self, rows: Rows, form: TargetForm) -> dict[str, Any]:
        labels = rows.problem.labels
        options = self._make_options(len(labels))
        measure = find_measure(self.scoring, len(labels) == 1)
        progress = self._progress()
        few = max(40, min(100, len(labels)))
        max_rules = few if self.max_rules == "auto" else min(int(self.max_rules), MOST_RULES)
        selector = Selector(
            measure,
            form,
            options,
            self._lifts(len(labels)),
            max_rules=max(max_rules, len(rows.problem.initial_rules)),
            min_precision=None if self.min_precision is None else float(self.min_precision),
            predict_absence=self.predict_absence,
            score_tolerance=float(self.score_tolerance),
            cv=self.cv,
            max_grown_rows=self.max_grown_rows,
            n_threads=self._n_threads,
            progress=(lambda share: None) if progress is None else partial(progress, 0),
        )
        selected = selector.fit(rows)
        rule_list = replace(with_default_rules(selected.rule_list), length_choice=selected.length_choice())
        if progress is not None:
            progress(len(rule_list), 1.0)
        reason = f"no rule improves {measure.name} for this label"
        return {
            "rule_list_": rule_list,
            "labels_without_rules_": labels_without_rules(rule_list, selected.label_sums[:-1], options, reason),
            "chosen_": selected.summary(),
            "score_loss_": selected.score_loss,
            "length_curve_": selected.curve,
        }
