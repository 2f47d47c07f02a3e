"""Initial rules: what learning starts with where experts gave rules of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from plurule.learning.problem import Problem
from plurule.model import Rule, RuleList
from plurule.prediction.decide import OPEN, replay


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
    in_training = np.ones(problem.n_instances, dtype=bool)
    predicted = np.full(problem.Y.shape, OPEN, dtype=np.int8)
    rules = []
    listed = RuleList(problem.initial_rules, problem.table.attributes, problem.labels)
    for step in replay(listed, problem.table):
        rule, predicted = listed[step.rule], step.decisions.predicted
        decided_here = step.decisions.decided_by == step.rule
        labels[[a.index for a in rule.head]] = True
        if rule.stop:
            in_training &= ~decided_here.any(axis=1)
        rules.append(_counted(rule, problem, step.covered, decided_here))
    return Start(tuple(rules), predicted, in_training, labels)


def _counted(rule: Rule, problem: Problem, covered: NDArray[np.bool_], decided: NDArray[np.bool_]) -> Rule:
    counts: Sequence[tuple[float, float]] = [
        (
            float(problem.weights[decided[:, a.index] & (problem.Y[:, a.index] == a.present)].sum()),
            float(problem.weights[decided[:, a.index] & (problem.Y[:, a.index] != a.present)].sum()),
        )
        for a in rule.head
    ]
    return replace(
        rule,
        tp=sum(right for right, _ in counts),
        fp=sum(wrong for _, wrong in counts),
        coverage=float(problem.weights[covered].sum()),
        decided=tuple(counts),
        locked=True,
    )
