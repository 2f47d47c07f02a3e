"""The objective of decision sets, and two searches for a set of rules: see `research.related.decision_sets`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from research.related.columns import Mask

Values = NDArray[np.float64]
DELTA = 1 / 3
LEAST_GAIN = 1e-9
"""Changes of the value that are not larger are rounding."""
DRAWS = 10
"""Random sets that are drawn at the end."""


@dataclass(frozen=True, eq=False)
class Objective:
    """The seven terms of a set of rules: the sum of their weights times their values, all of which are at least 0."""

    lengths: Values
    classes: NDArray[np.intp]
    covers: Mask
    """Rules × instances."""
    right: Mask
    """Rules × instances that are covered and of the rule's class."""
    weights: tuple[float, ...]

    @property
    def constant(self) -> float:
        """The value of an empty set."""
        n_rules, n_rows = self.covers.shape
        longest = float(self.lengths.max(initial=0))
        largest = (n_rules, longest * n_rules, n_rows * n_rules**2, n_rows * n_rules**2, 0, n_rows * n_rules, 0)
        return float(np.dot(self.weights, largest))

    def value(self, chosen: Values) -> float:
        """Return the expected value if each rule is chosen with a probability; for 0 and 1, the value of a set."""
        few, short, same, other, all_classes, precise, covered = self.weights
        overlap = self._overlaps
        is_same = self.classes[:, None] == self.classes
        within = chosen @ (overlap * is_same) @ chosen / 2
        between = chosen @ (overlap * ~is_same) @ chosen / 2
        wrong = (self.covers & ~self.right).sum(axis=1)
        missed_rows = np.prod(np.where(self.right, 1 - chosen[:, None], 1.0), axis=0)
        missed_classes = [np.prod(1 - chosen[self.classes == kind]) for kind in np.unique(self.classes)]
        return (
            self.constant
            - few * chosen.sum()
            - short * float(chosen @ self.lengths)
            - same * within
            - other * between
            + all_classes * float(np.sum(1 - np.array(missed_classes)))
            - precise * float(chosen @ wrong)
            + covered * float((1 - missed_rows).sum())
        )

    def gains(self, chosen: Values) -> Values:
        """Return for each rule the expected value with it minus that without it."""
        few, short, same, other, all_classes, precise, covered = self.weights
        overlap = self._overlaps
        is_same = self.classes[:, None] == self.classes
        wrong = (self.covers & ~self.right).sum(axis=1)
        # No probability is 1 here, so that one factor can be divided out of a product.
        absent = np.maximum(1 - chosen, 1e-12)
        log_missed = np.where(self.right, np.log(absent)[:, None], 0.0).sum(axis=0)
        new_rows = (self.right * np.exp(log_missed)).sum(axis=1) / absent
        missed_classes = np.array([np.prod(absent[self.classes == kind]) for kind in self.classes]) / absent
        linear = -few - short * self.lengths - precise * wrong
        pairs = -same * (overlap * is_same) @ chosen - other * (overlap * ~is_same) @ chosen
        return linear + pairs + all_classes * missed_classes + covered * new_rows

    def set_gains(self, chosen: Mask) -> Values:
        """Return for each rule the value of a set with it minus that without it."""
        few, short, same, other, all_classes, precise, covered = self.weights
        is_same = self.classes[:, None] == self.classes
        wrong = (self.covers & ~self.right).sum(axis=1)
        within = (self._overlaps * is_same) @ chosen
        between = (self._overlaps * ~is_same) @ chosen
        # What other chosen rules cover rightly, and the classes that other chosen rules have.
        n_right = self.right[chosen].sum(axis=0) - (self.right & chosen[:, None])
        new_rows = (self.right & (n_right == 0)).sum(axis=1)
        new_class = (is_same & chosen).sum(axis=1) - chosen == 0
        return (
            -few
            - short * self.lengths
            - same * within
            - other * between
            + all_classes * new_class
            - precise * wrong
            + covered * new_rows
        )

    @cached_property
    def _overlaps(self) -> Values:
        """Return the number of instances that two rules both cover; 0 for a rule with itself."""
        overlap = self.covers.astype(np.float64) @ self.covers.T
        np.fill_diagonal(overlap, 0)
        return overlap


def local_search(objective: Objective) -> Mask:
    """Return the rules to choose: one is added, dropped or exchanged for another as long as that raises the value.

    The search starts from the empty set and takes the change that raises the value most; among equal ones an addition
    before a removal before an exchange. It ends, since the value rises each time.
    """
    n_rules = len(objective.lengths)
    chosen = np.zeros(n_rules, dtype=bool)
    while True:
        gains = np.where(chosen, -1, 1) * objective.set_gains(chosen)
        change = [int(gains.argmax())] if n_rules and gains.max() > LEAST_GAIN else _best_exchange(objective, chosen)
        if not change:
            return chosen
        chosen[change] = ~chosen[change]


def _best_exchange(objective: Objective, chosen: Mask) -> list[int]:
    """Return a chosen rule and the one to take instead; nothing if no exchange raises the value."""
    best: tuple[float, list[int]] = (LEAST_GAIN, [])
    losses = objective.set_gains(chosen)
    for dropped in np.flatnonzero(chosen).tolist():
        rest = chosen.copy()
        rest[dropped] = False
        gains = np.where(chosen, -np.inf, objective.set_gains(rest))
        gain = float(gains.max(initial=-np.inf) - losses[dropped])
        if gain > best[0]:
            best = gain, [dropped, int(gains.argmax())]
    return best[1]


def smooth_local_search(objective: Objective, random: np.random.Generator) -> Mask:
    """Return the rules to choose.

    A set grows and shrinks while one rule changes the expected value of a random set around it by more than 2·OPT/n².
    A random set around A with bias δ holds each rule of A with probability (1 + δ)/2, any other with (1 - δ)/2.
    """
    n_rules = len(objective.lengths)
    chosen = np.zeros(n_rules, dtype=bool)
    best = objective.constant
    for _ in range(4 * n_rules):
        gains = objective.gains(_around(chosen, DELTA))
        best = max(best, objective.value(chosen.astype(float)))
        threshold = 2 * best / n_rules**2
        # The best rule to add comes first, the worst to drop otherwise.
        adding = np.where(chosen, -np.inf, gains)
        dropping = np.where(chosen, gains, np.inf)
        if adding.max() > threshold:
            chosen[adding.argmax()] = True
        elif dropping.min() < -threshold:
            chosen[dropping.argmin()] = False
        else:
            break
    drawn = [random.random(n_rules) < _around(chosen, DELTA) for _ in range(DRAWS)]
    complement = random.random(n_rules) < _around(chosen, -1.0)
    return max([chosen, complement, *drawn], key=lambda rules: objective.value(rules.astype(float)))


def _around(chosen: Mask, delta: float) -> Values:
    return np.where(chosen, (1 + delta) / 2, (1 - delta) / 2)
