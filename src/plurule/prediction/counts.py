"""What the rules of a list do on some data: counted anew, rule by rule."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from plurule.data.table import Table
from plurule.inspection.data import Labels
from plurule.model import RuleList
from plurule.prediction.decide import OPEN, replay


def recount(rule_list: RuleList, table: Table, Y: Labels, weights: NDArray[np.float64] | None = None) -> RuleList:
    """The same rules with their counts on the given data.

    A rule's coverage is what reaches it (what no stop rule ended before) and satisfies its body; its right and wrong
    predictions are those of the pairs that it decides. The value that a rule was chosen by stays where all that is as
    before; otherwise it says nothing about the rule any more and becomes 0, as for a rule that was not learned.
    """
    weight = np.ones(len(table)) if weights is None else np.asarray(weights, dtype=np.float64)
    rules = []
    predicted = np.full(Y.shape, OPEN, dtype=np.int8)
    for rule, step in zip(rule_list, replay(rule_list, table), strict=True):
        predicted = step.decisions.predicted
        decided = []
        for assignment in rule.head:
            newly = step.decisions.decided_by[:, assignment.index] == step.rule
            right = newly & (Y[:, assignment.index] == assignment.present)
            decided.append((float(weight[right].sum()), float(weight[newly & ~right].sum())))
        coverage = float(weight[step.covered].sum())
        as_it_was = rule.decided == tuple(decided) and rule.coverage == coverage
        rules.append(
            replace(
                rule,
                tp=sum(right for right, _ in decided),
                fp=sum(wrong for _, wrong in decided),
                coverage=coverage,
                value=rule.value if as_it_was else 0.0,
                decided=tuple(decided),
            )
        )
    left = weight[:, None] * (predicted == OPEN)
    absent, present = (left * (Y == 0)).sum(axis=0), (left * (Y == 1)).sum(axis=0)
    undecided = tuple((float(a), float(p)) for a, p in zip(absent, present, strict=True))
    return replace(rule_list, rules=tuple(rules), undecided=undecided)
