"""Making a rule list shorter: without changing what it predicts, at a stated cost, or where new data say so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plurule.errors import ModelError
from plurule.heuristics import FMeasure, Heuristic
from plurule.inspection.data import match, match_both
from plurule.inspection.diff import SCORES, ModelDiff, diff
from plurule.learning.shortening import Dropped, shorten
from plurule.metrics import get_metric
from plurule.model import Rule, RuleList
from plurule.prediction.counts import recount
from plurule.prediction.decide import OPEN, Columns, nothing_decided

BETA = 0.6
"""As the learner weighs recall by default."""


@dataclass(frozen=True, repr=False)
class Simplified:
    """A shorter rule list, and what was dropped to get it.

    Examples
    --------
    >>> from plurule import RuleList
    >>> rules = RuleList.from_text("red, white <- stripes > 2\\nwhite <- red", ["stripes"], ["red", "white"])
    >>> simpler = rules.simplify([[1.0], [3.0]])
    >>> [str(dropped) for dropped in simpler.dropped], len(simpler.rule_list), simpler.diff.same_predictions
    (['rule 2: white ← red'], 1, True)
    """

    rule_list: RuleList
    """What is left."""
    dropped: tuple[Dropped, ...]
    """Rules and conditions that are gone, in the order they were dropped."""
    diff: ModelDiff
    """What differs from the longer list."""

    def __str__(self) -> str:
        rules = sum(d.what == "rule" for d in self.dropped)
        conditions = len(self.dropped) - rules
        lines = [f"dropped {rules} rules and {conditions} conditions", *(f"  {d}" for d in self.dropped)]
        lines += [str(self.diff.predictions)]
        for name, (before, after) in (self.diff.scores or {}).items():
            lines.append(f"{SCORES[name]}: {before:.4f} → {after:.4f}")
        return "\n".join(lines)

    __repr__ = __str__


def simplify(
    rule_list: RuleList,
    X: Any,
    Y: Any = None,
    *,
    tolerance: float = 0.0,
    measure: str | Callable[..., float] = "hamming_accuracy",
    sample_weight: Any = None,
) -> Simplified:
    """Drop the rules and conditions that change no prediction on the data, or cost next to nothing.

    Parameters
    ----------
    rule_list
        The rules; locked ones stay as they are.
    X
        The instances, or a data set.
    Y
        Their true labels; needed to allow a cost, and to count the rules anew.
    tolerance
        How much the score may fall in all. With 0 no prediction changes.
    measure
        The score: the name of a measure of `plurule.metrics`, or a function of true and predicted labels (and of
        `sample_weight`, where instances have weights).
    sample_weight
        Weight of each instance in scores and counts; that of the data set, unless given.

    Examples
    --------
    >>> from plurule import RuleList
    >>> rules = RuleList.from_text("red <- area > 2 and bars > 0\\nred <- area > 4", ["area", "bars"], ["red"])
    >>> print(simplify(rules, [[1.0, 1.0], [3.0, 1.0], [5.0, 1.0]]))
    dropped 1 rules and 1 conditions
      rule 2: red ← area > 4
      rule 1 without bars > 0
    the same labels for all 3 instances
    """
    if tolerance < 0:
        raise ModelError(f"tolerance must be at least 0, got {tolerance}")
    table, truth, weights = match(rule_list, X, Y, sample_weight)
    if tolerance > 0 and truth is None:
        raise ModelError("to allow a cost the true labels are needed; give Y, or a data set instead of X")
    score = get_metric(measure) if isinstance(measure, str) else measure
    shorter, dropped = shorten(rule_list, table, truth, score, tolerance, weights)
    return Simplified(shorter, dropped, diff(rule_list, shorter, table, truth, weights))


def prune(
    rule_list: RuleList,
    X: Any,
    Y: Any = None,
    *,
    heuristic: Heuristic | None = None,
    sample_weight: ArrayLike | None = None,
) -> RuleList:
    """Drop the conditions and rules that held-out data do not support.

    In the manner of IREP (Fürnkranz and Widmer 1994): rule by rule, the last conditions are dropped as long as that
    makes the rule better on the held-out data. A rule has several labels in its head here, and decides only what
    earlier rules left open; so a rule is counted on the open pairs of instance and label that it covers, summed over
    the labels of its head. A rule that is wrong more often than right there, or that decides nothing, is dropped.

    Parameters
    ----------
    rule_list
        The rules; locked ones stay as they are.
    X
        Instances that the rules were not learned from, or a data set.
    Y
        Their true labels.
    heuristic
        How good a rule is; the F-measure with β = 0.6, unless given.
    sample_weight
        Weight of each instance; that of the data set, unless given.

    Returns
    -------
    RuleList
        What is left, with its counts on this data.

    Examples
    --------
    >>> from plurule import RuleList
    >>> rules = RuleList.from_text("red <- area > 2 and bars > 7\\nred <- area <= 1", ["area", "bars"], ["red"])
    >>> print(prune(rules, [[1.0, 1.0], [3.0, 5.0], [5.0, 8.0]], [[0], [1], [1]]))
    red ← area > 2   (TP 2, FP 0)
    """
    table, truth, weights = match_both(rule_list, X, Y, sample_weight)
    weights = np.ones(len(table)) if weights is None else weights
    judge = heuristic or FMeasure(beta=BETA)
    columns, decisions = Columns(table), nothing_decided(*truth.shape)
    kept: list[Rule] = []
    for rule in rule_list:
        covered = [decisions.going_on & holds for holds in columns.passing(rule.body, decisions.predicted)]
        open_ = (decisions.predicted == OPEN) * weights[:, None]
        length = len(rule.body) if rule.locked else _best_length(rule, covered, truth, open_, judge)
        if length is None:
            continue
        decisions.apply(rule, len(kept), covered[length])
        # A shorter rule is not the one that its value is about.
        kept.append(
            rule if length == len(rule.body) else replace(rule, body=rule.body[:length], value=0.0, stability=None)
        )
    pruned = replace(rule_list, rules=tuple(kept), length_choice=None)
    return recount(pruned, table, truth, weights)


def _best_length(
    rule: Rule,
    covered: list[NDArray[np.bool_]],
    truth: NDArray[np.uint8],
    weights: NDArray[np.float64],
    heuristic: Heuristic,
) -> int | None:
    """The number of conditions to keep, the fewest of the best; None if the rule is not worth keeping."""
    head = rule.head.stated
    labels = [assignment.index for assignment in head]
    weight = weights[:, labels]
    right = truth[:, labels] == np.array([assignment.present for assignment in head])
    counts = []
    for rows in covered:
        tp, fp = (weight[rows] * right[rows]).sum(), (weight[rows] * ~right[rows]).sum()
        fn, tn = (weight[~rows] * right[~rows]).sum(), (weight[~rows] * ~right[~rows]).sum()
        counts.append((tp, fp, tn, fn))
    tp, fp, tn, fn = (np.array(column, dtype=np.float64) for column in zip(*counts, strict=True))
    worth = (tp >= fp) & (tp > 0)
    if not worth.any():
        return None
    values = np.where(worth, heuristic.evaluate(tp, fp, tn, fn), -np.inf)
    return int(np.argmax(values >= values.max() - 1e-12))
