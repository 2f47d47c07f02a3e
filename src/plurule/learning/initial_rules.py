"""Initial rules: what learning starts with where experts gave rules of their own."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from plurule.learning.problem import Problem
from plurule.model import Rule, RuleList
from plurule.prediction.counts import with_counts
from plurule.prediction.decide import nothing_decided, replay


@dataclass
class Start:
    """Where separate-and-conquer begins."""

    rules: tuple[Rule, ...]
    """The initial rules, with the counts of the training data."""
    predicted: NDArray[np.int8]
    """What they predict for each pair of instance and label, or `OPEN`."""
    in_training: NDArray[np.bool_]
    """The instances that no stop rule among them has finished."""
    head_labels: NDArray[np.bool_]
    """The labels that occur in their heads."""


def start(problem: Problem) -> Start:
    """Apply the initial rules of a problem, in order, as they will be applied at prediction time."""
    labels = np.zeros(problem.n_labels, dtype=bool)
    decisions = nothing_decided(*problem.Y.shape)
    rules = []
    listed = RuleList(problem.initial_rules, problem.table.attributes, problem.labels, groups=problem.groups)
    for rule, step in zip(listed, replay(listed, problem.table), strict=True):
        decisions = step.decisions
        labels[[a.index for a in rule.head]] = True
        rules.append(replace(with_counts(rule, step, problem.Y, problem.weights), locked=True))
    return Start(tuple(rules), decisions.predicted, decisions.going_on, labels)
