"""Evidence for each rule: how often it is right on given data, by chance or not, and whether it recurs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from plurule._parameters import check_parameters, whole
from plurule._prediction.apply import OPEN, Step, replay
from plurule.classifier import RuleListClassifier
from plurule.data.dataset import Table
from plurule.inspection.data import make_frame, match_both
from plurule.model import OneOfCondition, RangeCondition, Rule, RuleList
from plurule.model.condition import join, split_intervals
from plurule.model.rule_list import Backend
from plurule.relaxed_pruning import RelaxedPruningClassifier

Z = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""
TOLERANCE = 2 / 32
"""Thresholds are the same if at most this share of the instances lies between them: two of 32 bins."""

RuleForm: TypeAlias = tuple[frozenset[Any], dict[Any, float]]
"""Head and conditions of a rule without its thresholds, and the share of instances below each (tightest) threshold."""


class Evidence(NamedTuple):
    """Decisions of a rule on some rows, and how many of them are right.

    Examples
    --------
    >>> from plurule import RuleList
    >>> rules = RuleList.from_text("red, white <- stripes > 2\\nwhite <- red", ["stripes"], ["red", "white"])
    >>> first = evidence(rules, [[1.0], [3.0], [4.0]], [[0, 1], [1, 1], [1, 0]])[0]
    >>> first.right, first.decided, first.precision
    (3.0, 4.0, 0.75)
    >>> first
    right in 3 of 4, 0.75 (0.20 to 0.97)
    """

    right: float
    """Pairs of row and label that it decides rightly."""
    decided: float
    """Pairs that it decides."""
    precision: float
    """The share of them that are right; NaN if it decides none."""
    rows: int
    """Rows with a label that it decides."""
    low: float
    """Wilson's interval for the precision (95 %), as if there were one pair for each of the rows: pairs of a row are
    not independent, so it is rather too wide than too narrow for multi-label heads."""
    high: float
    """Its upper end."""
    expected: float
    """The share that would be right if the labels did not depend on the body of the rule: that of the rows which
    earlier rules left open for the label."""
    p_value: float
    """Chance of at least as many right ones if they do not: Fisher's exact test, one-sided, of each label of the head
    among the rows that earlier rules left open for it; the smallest, times the number of these labels (Bonferroni),
    since labels of a row are not independent."""
    p_holm: float
    """The p-value corrected for the number of rules (Holm 1979)."""

    def __repr__(self) -> str:
        interval = f"{self.precision:.2f} ({self.low:.2f} to {self.high:.2f})"
        return f"right in {self.right:g} of {self.decided:g}, {interval}"


def wilson(right: float, decided: float) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson 1927)."""
    if not decided:
        return math.nan, math.nan
    share, squared = right / decided, Z * Z / decided
    centre, half = share + squared / 2, Z * math.sqrt((share * (1 - share) + squared / 4) / decided)
    return max(0.0, (centre - half) / (1 + squared)), min(1.0, (centre + half) / (1 + squared))


def holm(p_values: list[float]) -> list[float]:
    """P-values corrected for their number (Holm 1979); what is NaN was not tested."""
    order = sorted((p, i) for i, p in enumerate(p_values) if not math.isnan(p))
    corrected, so_far = [math.nan] * len(p_values), 0.0
    for rank, (p, i) in enumerate(order):
        so_far = corrected[i] = max(so_far, min(1.0, p * (len(order) - rank)))
    return corrected


def evidence(rule_list: RuleList, X: Any, Y: Any = None) -> tuple[Evidence, ...]:
    """Count how often each rule is right on some data, best on data that are new to the rules.

    Every row counts once, and rows are taken for independent.

    Parameters
    ----------
    rule_list
        The rules.
    X
        Instances, or a data set.
    Y
        Their true labels, unless `X` is a data set.

    Returns
    -------
    tuple of Evidence
        One for each rule.

    Examples
    --------
    >>> from plurule import RelaxedPruningClassifier
    >>> from plurule.datasets import load_canteen_dishes
    >>> dishes = load_canteen_dishes()
    >>> rules = RelaxedPruningClassifier(max_rules=2).fit(dishes[:3000]).rule_list_
    >>> [(rule.right, rule.decided) for rule in evidence(rules, dishes[3000:])]
    [(63.0, 65.0), (40.0, 41.0)]
    """
    table, truth, _ = match_both(rule_list, X, Y)
    rules = []
    for rule, step in zip(rule_list, replay(rule_list, table), strict=True):
        rules.append(_evidence_of(rule, step, truth))
    corrected = holm([rule.p_value for rule in rules])
    return tuple(rule._replace(p_holm=p) for rule, p in zip(rules, corrected, strict=True))


def _evidence_of(rule: Rule, step: Step, truth: NDArray[Any]) -> Evidence:
    """Return the evidence for a rule from the step in which it is applied."""
    tests = []
    for assignment, decided in zip(rule.head, step.decided, strict=True):
        if not assignment.implied:
            # Earlier rules and stop rules leave some rows open; only among these does the rule decide.
            undecided = step.decisions.predicted[:, assignment.index] == OPEN
            is_right = truth[:, assignment.index] == assignment.present
            tests.append(LabelTest.of_rows(is_right, decided, decided | (step.reached & undecided)))
    decided_pairs = sum(test.decided for test in tests)
    right_pairs = sum(test.right for test in tests)
    rows = int(np.logical_or.reduce(step.decided).sum())
    if not decided_pairs:
        return Evidence(0.0, 0.0, math.nan, 0, math.nan, math.nan, math.nan, math.nan, math.nan)
    precision = right_pairs / decided_pairs
    low, high = wilson(precision * rows, rows)
    expected = sum(test.decided * test.share for test in tests) / decided_pairs
    p_values = [test.p_value for test in tests if test.decided]
    p_value = min(1.0, min(p_values) * len(p_values))
    return Evidence(float(right_pairs), float(decided_pairs), precision, rows, low, high, expected, p_value, math.nan)


class LabelTest(NamedTuple):
    """Whether a rule is right for a label more often than the rows that are open for it when the rule is reached.

    >>> round(LabelTest(right=3, decided=3, right_open=3, open=6).p_value, 3)
    0.05
    """

    right: int
    decided: int
    right_open: int
    open: int

    @staticmethod
    def of_rows(is_right: NDArray[np.bool_], decided: NDArray[np.bool_], is_open: NDArray[np.bool_]) -> LabelTest:
        """Count rows."""
        right = int((is_right & decided).sum())
        return LabelTest(right, int(decided.sum()), int((is_right & is_open).sum()), int(is_open.sum()))

    @property
    def share(self) -> float:
        """The share of open rows for which the prediction is right."""
        return self.right_open / self.open if self.open else 0.0

    @property
    def p_value(self) -> float:
        """Fisher's exact test, one-sided."""
        from scipy.stats import hypergeom

        return min(1.0, float(hypergeom.sf(self.right - 1, self.open, self.right_open, self.decided)))


def to_frame(rule_list: RuleList, backend: Backend = "pandas", X: Any = None, Y: Any = None) -> Any:
    """Return one row per rule, as a frame of the given library (pandas or polars).

    Columns that begin with `training_` are about the training rows, and are optimistic. With data, the evidence
    on them comes first, in columns named like its members. The last column has how often rules recur in lists of
    resampled rows, where that is known (see `stability`).

    Parameters
    ----------
    rule_list
        The rules.
    backend
        `"pandas"` or `"polars"`.
    X, Y
        Data to count on as well, or a data set as `X`; best data that are new to the rules.

    Examples
    --------
    >>> from plurule import RuleList
    >>> rules = RuleList.from_text("red, white <- stripes > 2\\nwhite <- red", ["stripes"], ["red", "white"])
    >>> to_frame(rules, X=[[1.0], [3.0]], Y=[[0, 1], [1, 1]])[["head", "body", "right", "decided"]]
             head         body  right  decided
    0  red, white  stripes > 2    2.0      2.0
    1       white          red    0.0      0.0
    """
    counts = [rule._asdict() for rule in evidence(rule_list, X, Y)] if X is not None else [{}] * len(rule_list)
    has_stability = any(rule.stability is not None for rule in rule_list)
    records: list[dict[str, Any]] = []
    for number, (rule, counted) in enumerate(zip(rule_list, counts, strict=True), start=1):
        record = {
            "rule": number,
            "head": str(rule.head),
            "body": join(rule.body),
            "labels": len(rule.head.stated),
            "conditions": len(rule.body),
            **counted,
            "training_tp": rule.tp,
            "training_fp": rule.fp,
            "training_precision": rule.precision,
            "training_coverage": rule.coverage,
            "value": rule.value,
            "stop": rule.stop,
        }
        records.append(record | ({"stability": rule.stability} if has_stability else {}))
    return make_frame(records, backend)


def stability(
    rule_list: RuleList,
    X: Any,
    Y: Any = None,
    *,
    estimator: RuleListClassifier | RelaxedPruningClassifier | None = None,
    resamples: int = 20,
    tolerance: float = TOLERANCE,
    sample_weight: ArrayLike | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> RuleList:
    """Return the same rules, each with the share of lists learned from resampled rows that hold it, too.

    A rule comes back if a list holds one with the same head that tests the same attributes in the same direction, with
    thresholds that few rows lie between. `to_frame` and the report show the share, the model file keeps it.

    Parameters
    ----------
    rule_list
        The rules.
    X, Y
        The data that they were learned from, or a data set as `X`.
    estimator
        The classifier that learned them; `RuleListClassifier()`, unless given. It learns lists of at most as many
        rules, each of which takes as long as fitting it.
    resamples
        How often as many rows as there are are drawn with replacement.
    tolerance
        Thresholds count as the same if at most this share of the rows lies between them.
    sample_weight
        Weight of each row; those of the data set, unless given.
    random_state
        Seed of the drawing.
    n_jobs
        Threads; -1 for all cores.

    Examples
    --------
    >>> from plurule.datasets import load_world_flags
    >>> from plurule.heuristics import FMeasure
    >>> flags = load_world_flags()
    >>> learner = RelaxedPruningClassifier(heuristic=FMeasure(0.6), max_rules=3).fit(flags)
    >>> for rule in stability(learner.rule_list_, flags, estimator=learner):
    ...     print(rule.to_text(), rule.stability)
    red, white ← vertical_bars <= 2.5 0.45
    red ← 0.4
    green ← continent = Africa ∧ horizontal_stripes <= 5.5 ∧ stars <= 7 ∧ no "animal" 0.0
    """
    check_parameters({"resamples": [whole(1)]}, {"resamples": resamples})
    table, truth, weights = match_both(rule_list, X, Y, sample_weight)
    weights = np.ones(len(table)) if weights is None else weights
    learner = RuleListClassifier() if estimator is None else estimator
    again = clone(learner).set_params(max_rules=max(len(rule_list), 1), n_jobs=n_jobs, verbose=False)
    generator = check_random_state(random_state)
    lists = []
    for _ in range(resamples):
        drawn = np.bincount(generator.randint(len(table), size=len(table)), minlength=len(table))
        again.fit(table, truth, weights * drawn, label_names=rule_list.labels)
        lists.append(again.rule_list_)
    shares = Recurrence(table, tolerance).shares(rule_list, lists)
    rules = tuple(replace(rule, stability=share) for rule, share in zip(rule_list, shares, strict=True))
    return replace(rule_list, rules=rules)


class Recurrence:
    """Recognition of rules that are the same on the instances of a table.

    Two rules are the same if they have the same head and test the same attributes in the same direction, with
    thresholds that few instances lie between.

    >>> rules = RuleList.from_text("red <- area > 40.5\\nred <- area > 44.5\\nred <- area > 60.5", ["area"], ["red"])
    >>> recurrence = Recurrence(Table(rules.attributes, (np.arange(100.0),)))
    >>> recurrence.is_same(rules[0], rules[1]), recurrence.is_same(rules[0], rules[2])
    (True, False)
    """

    def __init__(self, table: Table, tolerance: float = TOLERANCE):
        self.table = table
        self.tolerance = tolerance
        self._sorted: dict[int, NDArray[np.float64]] = {}

    def is_same(self, first: Rule, second: Rule) -> bool:
        """Return whether two rules are the same."""
        return self._have_same_form(self._form(first), self._form(second))

    def shares(self, rules: Iterable[Rule], lists: Sequence[Iterable[Rule]]) -> list[float]:
        """Return, for each rule, the share of the lists that hold the same."""
        forms_by_list = [[self._form(rule) for rule in rule_list] for rule_list in lists]
        shares = []
        for form in map(self._form, rules):
            holding = [any(self._have_same_form(form, other) for other in forms) for forms in forms_by_list]
            shares.append(sum(holding) / len(lists) if lists else 0.0)
        return shares

    def _have_same_form(self, first: RuleForm, second: RuleForm) -> bool:
        if first[0] != second[0]:
            return False
        return all(abs(share - second[1][test]) <= self.tolerance + 1e-12 for test, share in first[1].items())

    def _form(self, rule: Rule) -> RuleForm:
        parts: set[Any] = set(rule.head.stated)
        shares: dict[Any, float] = {}
        for condition in split_intervals(rule.body):
            if isinstance(condition, RangeCondition):
                test = (condition.above is None, condition.index)
                share = self._share_below(condition.index, condition.threshold)
                tighter = min if condition.above is None else max
                shares[test] = tighter(share, shares.get(test, share))
                parts.add(test)
            elif isinstance(condition, OneOfCondition):
                parts.add((condition.index, frozenset(condition.categories), condition.negated))
            else:
                parts.add(condition)
        return frozenset(parts), shares

    def _share_below(self, index: int, threshold: float) -> float:
        """Return the share of the known values of an attribute that are not above a threshold."""
        if index not in self._sorted:
            values = np.asarray(self.table.column(index), dtype=np.float64)
            self._sorted[index] = np.sort(values[~np.isnan(values)])
        ordered = self._sorted[index]
        return float(np.searchsorted(ordered, threshold, side="right")) / max(len(ordered), 1)
