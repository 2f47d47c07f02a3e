"""The number of candidate bodies that learning a list evaluates: effort that does not depend on the machine.

The engine skips candidates whose bounds are too low, so that its time says little about the method. The method itself
evaluates, for every rule, all bodies of at most one condition, then all refinements of the best body, and so on, until
none is better. Their number follows from the learned list: the list is learned again here rule by rule, with
the candidates of each step counted instead of evaluated.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule import Dataset, RuleList
from plurule.model import LabelCondition, RangeCondition, Rule
from research.matrices import label_matrix

Mask = NDArray[np.bool_]
UNDECIDED = -1


def count_candidates(model: RuleList, train: Dataset) -> int:
    """Return how many bodies were candidates while a list was learned from a data set."""
    replay = Replay(train)
    return sum(replay.learn(rule) for rule in model)


class Replay:
    """The training set while a list is learned: the instances that are left, and what rules predict for them."""

    def __init__(self, train: Dataset) -> None:
        self.attributes = train.attributes
        self.columns = [train.X.column(i) for i in range(len(train.attributes))]
        self.codes = [
            _codes(column, bool(a.is_nominal)) for column, a in zip(self.columns, self.attributes, strict=True)
        ]
        self.left = np.ones(len(train), dtype=bool)
        self.predicted = np.full(label_matrix(train).shape, UNDECIDED, dtype=np.int8)
        self.n_tested_labels = 0

    def learn(self, rule: Rule) -> int:
        """Count the candidates of a rule, which is then part of the list."""
        covered = self.left.copy()
        # The empty body is a candidate of the first step.
        count = 1 + self._refinements(covered, set())
        labels = {a.index for a in rule.head}
        for condition in _single_conditions(rule):
            covered &= self._mask(condition)
            count += self._refinements(covered, labels)
        self._apply(rule, covered)
        return count

    def follow(self, rule: Rule) -> None:
        """Apply a rule, which is then part of the list."""
        covered = self.left.copy()
        for condition in _single_conditions(rule):
            covered &= self._mask(condition)
        self._apply(rule, covered)

    def _refinements(self, covered: Mask, head: set[int]) -> int:
        """Return the number of conditions that can be added to a body that covers some instances."""
        count = 0
        for attribute, (codes, n_codes) in zip(self.attributes, self.codes, strict=True):
            seen = np.zeros(n_codes + 1, dtype=bool)
            seen[codes[covered]] = True
            values = int(seen[:n_codes].sum())
            count += values if attribute.is_nominal else 2 * max(values - 1, 0)
        for label in np.flatnonzero((self.predicted != UNDECIDED).any(axis=0)).tolist():
            if label not in head:
                count += len(set(self.predicted[covered, label].tolist()) - {UNDECIDED})
        return count

    def _mask(self, condition: Any) -> Mask:
        if isinstance(condition, LabelCondition):
            return condition.mask(self.predicted[:, condition.index])
        return condition.mask(self.columns[condition.index], self.attributes[condition.index].categories or ())

    def _apply(self, rule: Rule, covered: Mask) -> None:
        for label in rule.head:
            is_open = covered & (self.predicted[:, label.index] == UNDECIDED)
            self.predicted[is_open, label.index] = label.present
        if rule.stop:
            self.left &= ~covered


def _single_conditions(rule: Rule) -> list[Any]:
    """Return the conditions of a body in order, an interval as its two bounds."""
    single: list[Any] = []
    for condition in rule.body:
        single += condition.sides if isinstance(condition, RangeCondition) else (condition,)
    return single


def _codes(column: NDArray[Any], is_nominal: bool) -> tuple[NDArray[np.intp], int]:
    """Return the place of each value among the distinct ones, and their number, which stands for a missing value."""
    is_missing = column < 0 if is_nominal else np.isnan(column)
    distinct, codes = np.unique(column[~is_missing], return_inverse=True)
    placed = np.full(len(column), len(distinct), dtype=np.intp)
    placed[~is_missing] = codes
    return placed, len(distinct)
