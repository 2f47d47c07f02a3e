"""What speaks for each rule on given data: how often it is right where it decides, and whether that could be chance."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from plurule.data.fingerprint import trained_on
from plurule.inspection.data import match_both
from plurule.model import Rule, RuleList
from plurule.model.condition import join
from plurule.model.frame import Backend
from plurule.model.frame import to_frame as make_frame
from plurule.prediction.counts import recount

Z = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""


class Evidence(NamedTuple):
    """What a rule does on rows that are given: new ones, if it was not trained on them."""

    right: float
    """Pairs of row and label that it decides rightly."""
    decided: float
    """Pairs that it decides."""
    precision: float
    """The share of them that are right; NaN if it decides none."""
    low: float
    """Wilson's interval for it (95 %)."""
    high: float
    expected: float
    """The share that would be right if the labels did not depend on the body of the rule."""
    p_value: float
    """How likely as many right ones or more are if they do not: one-sided, binomial."""
    p_holm: float
    """The same, corrected for looking at all the rules of the list (Holm 1979)."""


class RowsOf(NamedTuple):
    """Evidence for all rules of a list, and what it comes from."""

    rules: tuple[Evidence, ...]
    n_rows: int
    n_trained: int | None
    """How many of the rows the rules were trained on; None where that is not known."""


def wilson(right: float, decided: float) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927).

    >>> low, high = wilson(8, 10)
    >>> round(low, 3), round(high, 3)
    (0.49, 0.943)
    """
    if not decided:
        return math.nan, math.nan
    share, squared = right / decided, Z * Z / decided
    centre, half = share + squared / 2, Z * math.sqrt((share * (1 - share) + squared / 4) / decided)
    return max(0.0, (centre - half) / (1 + squared)), min(1.0, (centre + half) / (1 + squared))


def holm(p_values: list[float]) -> list[float]:
    """P-values corrected for their number (Holm 1979); what is NaN was not tested.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted((p, i) for i, p in enumerate(p_values) if not math.isnan(p))
    corrected, so_far = [math.nan] * len(p_values), 0.0
    for rank, (p, i) in enumerate(order):
        so_far = corrected[i] = max(so_far, min(1.0, p * (len(order) - rank)))
    return corrected


def evidence(rule_list: RuleList, X: Any, Y: Any = None) -> RowsOf:
    """What speaks for each rule on some data, best on data that are new to the rules.

    Every row counts once. The p-value takes pairs of row and label for independent; those of one row are not quite.

    Parameters
    ----------
    rule_list
        The rules.
    X
        Instances, or a data set.
    Y
        Their true labels, unless `X` is a data set.
    """
    from scipy.stats import binom

    table, truth = match_both(rule_list, X, Y)
    present = truth.mean(axis=0) if len(truth) else np.zeros(len(rule_list.labels))
    found = []
    for rule in recount(rule_list, table, truth):
        decided, expected = rule.tp + rule.fp, _expected(rule, present)
        p_value = float(binom.sf(rule.tp - 1, decided, expected)) if decided else math.nan
        precision = rule.precision if decided else math.nan
        found.append(Evidence(rule.tp, decided, precision, *wilson(rule.tp, decided), expected, p_value, math.nan))
    corrected = holm([one.p_value for one in found])
    known = trained_on(rule_list, table)
    rules = tuple(one._replace(p_holm=p) for one, p in zip(found, corrected, strict=True))
    return RowsOf(rules, len(table), None if known is None else int(known.sum()))


def _expected(rule: Rule, present: Any) -> float:
    """The share of right decisions if every label were as frequent where the rule decides as it is everywhere."""
    decided = [right + wrong for right, wrong in rule.decided]
    shares = [present[a.index] if a.present else 1 - present[a.index] for a in rule.head]
    return float(np.dot(decided, shares) / sum(decided)) if sum(decided) else math.nan


def to_frame(rule_list: RuleList, backend: Backend = "pandas", X: Any = None, Y: Any = None) -> Any:
    """One row per rule, as a frame of the given library (pandas or polars).

    Columns that begin with `training_` are about the rows that the rule list was learned from, and flatter it.
    With data, what `evidence` finds on them comes first, in columns named like its members. How often rules come back
    in lists of resampled rows is the last column, where it is known (see `stability`).
    """
    columns: dict[str, list[Any]] = {
        "rule": list(range(1, len(rule_list) + 1)),
        "head": [str(rule.head) for rule in rule_list],
        "body": [join(rule.body) for rule in rule_list],
        "labels": [len(rule.head) for rule in rule_list],
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
