"""What speaks for each rule: how often it is right on given data, by chance or not, and whether it comes back."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from plurule.classifier import RuleListClassifier
from plurule.data.fingerprint import in_words, trained_on
from plurule.data.table import Table
from plurule.inspection.data import match_both
from plurule.learning.options import check_engine, check_options
from plurule.learning.problem import Problem
from plurule.model import Head, Rule, RuleList
from plurule.model.condition import join
from plurule.model.frame import Backend
from plurule.model.frame import to_frame as make_frame
from plurule.model.naming import amount
from plurule.parameters import check_jobs, check_parameters, whole
from plurule.prediction.counts import recount
from plurule.prediction.decide import NO_RULE, decide
from plurule.prediction.recurrence import TOLERANCE, Recurrence
from plurule.selection.folds import draw, learn_from_samples

Z = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""
_SHOWN = 20


class Evidence(NamedTuple):
    """What a rule does on rows that are given: new ones, if it was not trained on them.

    Examples
    --------
    >>> from plurule import RuleList
    >>> rules = RuleList.from_text("red, white <- stripes > 2\\nwhite <- red", ["stripes"], ["red", "white"])
    >>> first = evidence(rules, [[1.0], [3.0], [4.0]], [[0, 1], [1, 1], [1, 0]]).rules[0]
    >>> first.right, first.decided, first.precision
    (3.0, 4.0, 0.75)
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
    not independent, so it is rather too wide than too narrow for heads of several labels."""
    high: float
    """Its upper end."""
    expected: float
    """The share that would be right if the labels did not depend on the body of the rule."""
    p_value: float
    """How likely as many right ones or more are if they do not: one-sided, binomial, over the rows of each label of the
    head; the smallest, times the number of these labels (Bonferroni), since labels of a row are not independent."""
    p_holm: float
    """The same, corrected for looking at all the rules of the list (Holm 1979)."""


class RowsOf(NamedTuple):
    """Evidence for all rules of a list, and what it comes from."""

    rules: tuple[Evidence, ...]
    n_rows: int
    n_trained: int | None
    """How many of the rows the rules were trained on; None where that is not known."""

    @property
    def words(self) -> str:
        """What was counted on, as a sentence."""
        known = "" if self.n_trained is None else f"; {in_words(self.n_trained, self.n_rows)}"
        return f"{amount(len(self.rules), 'rule')}, counted on {amount(self.n_rows, 'row')}{known}"

    def __repr__(self) -> str:
        shares = [f"{one.precision:.2f} ({one.low:.2f} to {one.high:.2f})" for one in self.rules]
        lines = [
            f"{number:>4}  right in {one.right:g} of {one.decided:g}, {share}"
            for number, (one, share) in enumerate(zip(self.rules, shares, strict=True), start=1)
        ]
        more = [f"   …  {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
        return "\n".join([f"Evidence: {self.words}", *lines[:_SHOWN], *more])


def wilson(right: float, decided: float) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927)."""
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


def evidence(rule_list: RuleList, X: Any, Y: Any = None) -> RowsOf:
    """What speaks for each rule on some data, best on data that are new to the rules.

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
    `rules`, an `Evidence` for each rule; `n_rows`, how many rows there are; and `n_trained`, how many of them the rules
    were trained on (None where that is not known).

    Examples
    --------
    >>> from plurule import RuleListClassifier
    >>> from plurule.datasets import load_canteen_dishes
    >>> dishes = load_canteen_dishes()
    >>> rules = RuleListClassifier(heuristic="f_measure", n_rules=2).fit(dishes[:3000]).rule_list_
    >>> found = evidence(rules, dishes[3000:])
    >>> found.n_rows, found.n_trained  # one dish was in training, word for word
    (1000, 1)
    >>> [(one.right, one.decided) for one in found.rules]
    [(63.0, 65.0), (40.0, 41.0)]
    """
    table, truth, _ = match_both(rule_list, X, Y)
    present = truth.mean(axis=0) if len(truth) else np.zeros(len(rule_list.labels))
    found = []
    for counted, rows in zip(recount(rule_list, table, truth), _rows_decided(rule_list, table), strict=True):
        rule = _stated(counted)
        decided, pairs = rule.tp + rule.fp, [right + wrong for right, wrong in rule.decided]
        # If every label were as frequent where the rule decides as it is everywhere.
        shares = [present[a.index] if a.present else 1 - present[a.index] for a in rule.head]
        expected = float(np.dot(pairs, shares) / sum(pairs)) if sum(pairs) else math.nan
        precision = rule.precision if decided else math.nan
        tested = *wilson(precision * rows, rows), expected, _p_value(rule, shares)
        found.append(Evidence(rule.tp, decided, precision, rows, *tested, math.nan))
    corrected = holm([one.p_value for one in found])
    known = trained_on(rule_list, table)
    rules = tuple(one._replace(p_holm=p) for one, p in zip(found, corrected, strict=True))
    return RowsOf(rules, len(table), None if known is None else int(known.sum()))


def _stated(rule: Rule) -> Rule:
    """A rule without what is implied by the rest of its head."""
    said = [(a, counts) for a, counts in zip(rule.head, rule.decided, strict=True) if not a.implied]
    return replace(rule, head=Head(tuple(a for a, _ in said)), decided=tuple(counts for _, counts in said))


def _rows_decided(rule_list: RuleList, table: Table) -> list[int]:
    """Per rule, the rows with a label that it decides."""
    by_row = np.sort(decide(rule_list, table).decided_by, axis=1)
    is_new = np.diff(by_row, axis=1, prepend=NO_RULE) != 0
    return np.bincount(by_row[is_new], minlength=len(rule_list)).tolist()


def _p_value(rule: Rule, shares: list[float]) -> float:
    """The smallest of the p-values of its labels, corrected for their number."""
    from scipy.stats import binom

    tested = [(right, right + wrong, share) for (right, wrong), share in zip(rule.decided, shares, strict=True)]
    found = [float(binom.sf(right - 1, decided, share)) for right, decided, share in tested if decided]
    return min(1.0, min(found) * len(found)) if found else math.nan


def to_frame(rule_list: RuleList, backend: Backend = "pandas", X: Any = None, Y: Any = None) -> Any:
    """One row per rule, as a frame of the given library (pandas or polars).

    Columns that begin with `training_` are about the rows that the rule list was learned from, and flatter it.
    With data, what `evidence` finds on them comes first, in columns named like its members. How often rules come back
    in lists of resampled rows is the last column, where it is known (see `stability`).

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
    columns: dict[str, list[Any]] = {
        "rule": list(range(1, len(rule_list) + 1)),
        "head": [str(rule.head) for rule in rule_list],
        "body": [join(rule.body) for rule in rule_list],
        "labels": [len(rule.head.stated) for rule in rule_list],
        "conditions": [len(rule.body) for rule in rule_list],
    }
    if X is not None:
        found = evidence(rule_list, X, Y).rules
        columns |= {name: [getattr(one, name) for one in found] for name in Evidence._fields}
    counted = {f"training_{name}": name for name in ("tp", "fp", "precision", "coverage")}
    counted |= {"value": "value", "stop": "stop"}
    if any(rule.stability is not None for rule in rule_list):
        counted["stability"] = "stability"
    return make_frame(columns | {key: [getattr(r, name) for r in rule_list] for key, name in counted.items()}, backend)


def stability(
    rule_list: RuleList,
    X: Any,
    Y: Any = None,
    *,
    estimator: RuleListClassifier | None = None,
    resamples: int = 20,
    tolerance: float = TOLERANCE,
    sample_weight: ArrayLike | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> RuleList:
    """The same rules, each with the share of lists learned from resampled rows that hold it, too.

    A rule comes back if a list holds one with the same head that tests the same attributes in the same direction, with
    thresholds that few rows lie between. `to_frame` and the report show the share, the model file keeps it.

    Parameters
    ----------
    rule_list
        The rules.
    X, Y
        The data that they were learned from, or a data set as `X`.
    estimator
        The classifier that learned them; one with defaults, unless given. It learns lists of at most as many rules, and
        where it is to choose how (`heuristic="auto"`) chooses again each time, which takes as long as fitting it.
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
    >>> learner = RuleListClassifier(heuristic=FMeasure(0.6), n_rules=3).fit(flags)
    >>> for rule in stability(learner.rule_list_, flags, estimator=learner):
    ...     print(rule.to_text(), rule.stability)
    red, white ← vertical_bars <= 2 0.45
    red ← 0.4
    green ← continent = Africa ∧ horizontal_stripes <= 5 ∧ stars <= 7 ∧ no "animal" 0.0
    """
    check_parameters({"resamples": [whole(1)]}, {"resamples": resamples})
    table, truth, weights = match_both(rule_list, X, Y, sample_weight)
    problem = Problem(table, rule_list.labels, truth, np.ones(len(table)) if weights is None else weights)
    learner = RuleListClassifier() if estimator is None else estimator
    samples = draw(len(table), resamples, random_state)
    most = max(len(rule_list), 1)
    if learner.heuristic == "auto":
        again = clone(learner).set_params(n_rules=most, n_jobs=n_jobs, verbose=False)
        weighted = (problem.weights * sample for sample in samples)
        lists = [again.fit(table, truth, weights, label_names=rule_list.labels).rule_list_ for weights in weighted]
    else:
        options = check_options(learner.get_params(deep=False), problem.n_labels).up_to(most)
        lists = learn_from_samples(problem, [options], samples, check_engine(learner.engine), check_jobs(n_jobs))
    shares = Recurrence(table, tolerance).shares(rule_list, lists)
    rules = tuple(replace(rule, stability=share) for rule, share in zip(rule_list, shares, strict=True))
    return replace(rule_list, rules=rules)
