"""Pruning a rule list on data that it was not learned from.

In the manner of IREP (Fürnkranz and Widmer 1994): rule by rule, the last conditions are dropped as long as that makes
the rule better on the held-out data. A rule has several labels in its head here, and decides only what earlier rules
left open; so a rule is counted on the open pairs of instance and label that it covers, summed over the labels of its
head. A rule that is wrong more often than right there, or that decides nothing, is dropped.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plurule.heuristics import FMeasure, Heuristic
from plurule.inspection.data import match_both, match_weights
from plurule.model import Rule, RuleList
from plurule.prediction.counts import recount
from plurule.prediction.decide import OPEN, Columns, nothing_decided

BETA = 0.6
"""As the learner weighs recall by default."""


def prune(
    rule_list: RuleList,
    X: Any,
    Y: Any = None,
    *,
    heuristic: Heuristic | None = None,
    sample_weight: ArrayLike | None = None,
) -> RuleList:
    """Drop the conditions and rules that held-out data do not support.

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
    >>> from plurule.model import Attribute, RuleList
    >>> from plurule.inspection import parse_rules
    >>> names = (Attribute("area"), Attribute("bars")), ("red",)
    >>> rules = RuleList(parse_rules("red <- area > 2 and bars > 7\\nred <- area <= 1", *names), *names)
    >>> print(prune(rules, [[1.0, 1.0], [3.0, 5.0], [5.0, 8.0]], [[0], [1], [1]]))
    red ← area > 2   (TP 2, FP 0)
    """
    table, truth = match_both(rule_list, X, Y)
    weights = match_weights(X, sample_weight, *truth.shape)
    judge = _Judge(truth, np.ones(len(table)) if weights is None else weights, heuristic or FMeasure(beta=BETA))
    columns, decisions = Columns(table), nothing_decided(*truth.shape)
    kept: list[Rule] = []
    for rule in rule_list:
        covered = [decisions.going_on & holds for holds in columns.passing(rule.body, decisions.predicted)]
        length = len(rule.body) if rule.locked else judge.best_length(rule, covered, decisions.predicted)
        if length is None:
            continue
        decisions.apply(rule, len(kept), covered[length])
        # A shorter rule is not the one that its value is about.
        kept.append(
            rule if length == len(rule.body) else replace(rule, body=rule.body[:length], value=0.0, stability=None)
        )
    pruned = replace(rule_list, rules=tuple(kept), length_choice=None)
    return recount(pruned, table, truth, judge.weights)


class _Judge:
    """How good a rule is on the held-out data, with each length of its body."""

    def __init__(self, truth: NDArray[np.uint8], weights: NDArray[np.float64], heuristic: Heuristic):
        self.truth, self.weights, self.heuristic = truth, weights, heuristic

    def best_length(self, rule: Rule, covered: list[NDArray[np.bool_]], predicted: NDArray[np.int8]) -> int | None:
        """The number of conditions to keep, the fewest of the best; None if the rule is not worth keeping."""
        head = rule.head.stated
        labels = [assignment.index for assignment in head]
        weight = (predicted[:, labels] == OPEN) * self.weights[:, None]
        right = self.truth[:, labels] == np.array([assignment.present for assignment in head])
        counts = []
        for rows in covered:
            tp, fp = (weight[rows] * right[rows]).sum(), (weight[rows] * ~right[rows]).sum()
            fn, tn = (weight[~rows] * right[~rows]).sum(), (weight[~rows] * ~right[~rows]).sum()
            counts.append((tp, fp, tn, fn))
        tp, fp, tn, fn = (np.array(column, dtype=np.float64) for column in zip(*counts, strict=True))
        worth = (tp >= fp) & (tp > 0)
        if not worth.any():
            return None
        values = np.where(worth, self.heuristic.evaluate(tp, fp, tn, fn), -np.inf)
        return int(np.argmax(values >= values.max() - 1e-12))
