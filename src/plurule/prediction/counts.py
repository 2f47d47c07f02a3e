"""What the rules of a list do on some data: counted rule by rule, as they are applied."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from plurule.data.table import Table
from plurule.model import Rule, RuleList
from plurule.prediction.decide import OPEN, Step, nothing_decided, replay

Labels = NDArray[np.uint8]
Weights = NDArray[np.float64]
Pairs = tuple[tuple[float, float], ...]


def recount(rule_list: RuleList, table: Table, Y: Labels, weights: Weights | None = None) -> RuleList:
    """The same rules with their counts on the given data.

    A rule's coverage is what reaches it (what no stop rule ended before) and satisfies its body; its right and wrong
    predictions are those of the pairs that it decides. The value that a rule was chosen by stays where all that is as
    before; otherwise it says nothing about the rule any more and becomes 0, as for a rule that was not learned.
    """
    weights = np.ones(len(table)) if weights is None else np.asarray(weights, dtype=np.float64)
    predicted = nothing_decided(*Y.shape).predicted
    rules = []
    for rule, step in zip(rule_list, replay(rule_list, table), strict=True):
        predicted = step.decisions.predicted
        counted = with_counts(rule, step, Y, weights)
        as_it_was = (counted.decided, counted.coverage) == (rule.decided, rule.coverage)
        rules.append(replace(counted, value=rule.value if as_it_was else 0.0))
    return replace(rule_list, rules=tuple(rules), undecided=count_undecided(predicted, Y, weights))


def with_counts(rule: Rule, step: Step, Y: Labels, weights: Weights) -> Rule:
    """A rule with the counts of the step in which it was applied."""
    pairs = []  # per head label, the weight of the right and of the wrong ones among the instances it was decided for
    for assignment, rows in zip(rule.head, step.decided, strict=True):
        right = rows & (Y[:, assignment.index] == assignment.present)
        pairs.append((float(weights[right].sum()), float(weights[rows & ~right].sum())))
    stated = [pair for pair, assignment in zip(pairs, rule.head, strict=True) if not assignment.implied]
    tp, fp = sum(right for right, _ in stated), sum(wrong for _, wrong in stated)
    return replace(rule, tp=tp, fp=fp, coverage=float(weights[step.covered].sum()), decided=tuple(pairs))


def count_undecided(predicted: NDArray[np.int8], Y: Labels, weights: Weights) -> Pairs:
    """Per label: the weight of the absent and of the present pairs that no rule decided."""
    left = weights[:, None] * (predicted == OPEN)
    absent, present = (left * (Y == 0)).sum(axis=0), (left * (Y == 1)).sum(axis=0)
    return tuple((float(a), float(p)) for a, p in zip(absent, present, strict=True))
