"""Short lists from a pool of bodies: which bodies, with which labels, gain most together.

A prediction pays for F1 where its precision is above half the F1 that is reached, for Hamming accuracy above one half.
So a rule gains TP − λ·(TP + FP) per label, and the best head of a body is every label that gains. Bodies come from
whole lists, which put precise rules for rare labels first; taking the body that gains most on what is still open, again
and again, puts the rules first that say most. No rule takes anything back, so predictions do not depend on the order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plurule.data.table import Table
from plurule.learning.initial_rules import start
from plurule.learning.problem import Problem
from plurule.model import Assignment, Condition, Head, LabelCondition, Rule, RuleList
from plurule.prediction.counts import recount
from plurule.prediction.decide import OPEN, Columns
from plurule.prediction.staged import Tally

Body: TypeAlias = tuple[Condition, ...]
Choice: TypeAlias = tuple[int, NDArray[np.intp]]
"""The position of a body in its pool, and the labels it predicts."""
Values: TypeAlias = NDArray[np.float64]

LEAST_GAIN = 0.5
"""What a label must gain beyond nothing to be in a head: so much weight of instances."""

BLOCK = 1 << 14
"""Rows that are multiplied at once."""

EXACT_IN_SINGLE = 1 << 24
"""Whole numbers up to this are exact in single precision."""


@dataclass(frozen=True)
class Price:
    """What predictions must earn."""

    lam: float
    """The precision above which a prediction gains."""
    per_condition: float = 0.0
    """What a rule must gain more for each of its conditions: so much weight of instances."""
    labels_alike: bool = False
    """Whether a rare label counts as much as a frequent one, as in macro F1."""
    least_precision: float = 0.0
    """The least share of right predictions for a label of a head."""
    further: float = 1.0
    """Beside a label that gains, one need gain only with λ times this, to be in the head, too."""

    def __str__(self) -> str:
        weighted = ", all labels weighing the same" if self.labels_alike else ""
        more = "" if self.further == 1.0 else f", {self.lam * self.further:g} for further labels"
        return f"gain with λ = {self.lam:g}{more}, {self.per_condition:g} per condition{weighted}"


def bodies_of(lists: Iterable[RuleList]) -> list[Body]:
    """The bodies of lists, their beginnings and the empty body, each once, without conditions on labels."""
    found: dict[frozenset[Condition], Body] = {frozenset(): ()}
    for rule in (rule for rule_list in lists for rule in rule_list):
        body = tuple(condition for condition in rule.body if not isinstance(condition, LabelCondition))
        for length in range(1, len(body) + 1):
            found.setdefault(frozenset(body[:length]), body[:length])
    return list(found.values())


def satisfied(bodies: Sequence[Body], table: Table) -> NDArray[np.bool_]:
    """Per body and row, whether it holds."""
    columns, nothing = Columns(table), np.zeros((len(table), 0), np.int8)
    known = {c: columns.satisfies(c, nothing) for c in {c for body in bodies for c in body}}
    holds = np.ones((len(bodies), len(table)), np.bool_)
    for row, body in zip(holds, bodies, strict=True):
        for condition in body:
            row &= known[condition]
    return holds


class GainCover:
    """A pool of bodies and what they cover in training data; gives the lists of any price."""

    def __init__(self, bodies: Sequence[Body], problem: Problem):
        self.bodies = bodies
        self.holds = satisfied(bodies, problem.table)
        self.held = np.ascontiguousarray(self.holds.T)  # rows lie together, to be picked quickly
        begin = start(problem)
        left = (begin.predicted == OPEN) & begin.in_training[:, None]
        whole = problem.weights.max(initial=0.0) == 1.0 == problem.weights.min(initial=1.0)
        # Weights are whole multiples of a unit, so sums are exact and do not depend on their order.
        self.exact: type[Any] = np.float32 if whole and problem.n_instances < EXACT_IN_SINGLE else np.float64
        self.weight = (left * problem.weights[:, None]).astype(self.exact)
        self.present = problem.Y == 1
        counts = self._covered(slice(None), np.hstack([self.weight * self.present, self.weight]))
        self.right, self.all = np.hsplit(counts, 2)
        self.n_conditions = np.array([len(body) for body in bodies])
        positives = self.weight.sum(axis=0, where=self.present, dtype=np.float64)
        self.rarity = np.divide(positives.mean(), positives, out=np.zeros_like(positives), where=positives > 0)

    def _covered(self, rows: NDArray[np.intp] | slice, values: NDArray[Any]) -> Values:
        """Per body and column, the sum of the values of the rows it covers."""
        holds = self.held[rows]
        total = np.zeros((holds.shape[1], values.shape[1]))
        for begin in range(0, len(values), BLOCK):
            block = slice(begin, begin + BLOCK)
            total += holds[block].astype(self.exact).T @ values[block]
        return total

    def select(self, price: Price, n_rules: int) -> list[Choice]:
        """The bodies that gain most, one after the other, at most so many."""
        right, all_, weight = self.right.copy(), self.all.copy(), self.weight.copy()
        weighs = self.rarity if price.labels_alike else np.ones(right.shape[1])
        chosen: list[Choice] = []
        while len(chosen) < n_rules:
            gain = right - price.lam * all_ - LEAST_GAIN
            if price.least_precision:
                gain[right < price.least_precision * all_] = 0.0
            value = np.maximum(gain, 0.0) @ weighs - price.per_condition * self.n_conditions
            # What differs by rounding only is a tie, and the first of them is taken.
            best = int(np.argmax(np.round(value, 9)))
            if value[best] <= 1e-9:
                break
            enough = gain[best] + price.lam * (1.0 - price.further) * all_[best] > 0.0
            head = np.flatnonzero(enough & (weighs > 0.0) & (right[best] >= price.least_precision * all_[best]))
            chosen.append((best, head))
            rows = np.flatnonzero(self.holds[best])
            rows = rows[weight[np.ix_(rows, head)].any(axis=1)]
            decided = np.ix_(rows, head)
            taken = self._covered(rows, np.hstack([weight[decided] * self.present[decided], weight[decided]]))
            right[:, head] -= taken[:, : len(head)]
            all_[:, head] -= taken[:, len(head) :]
            weight[decided] = 0.0
        return chosen

    def rules(self, chosen: Sequence[Choice], labels: Sequence[str]) -> tuple[Rule, ...]:
        """The rules of a selection; what one body predicts is said at once."""
        heads: dict[int, set[int]] = {}
        for body, head in chosen:
            heads.setdefault(body, set()).update(head.tolist())
        return tuple(
            Rule(Head(tuple(Assignment(labels[i], i, True) for i in sorted(head))), self.bodies[body])
            for body, head in heads.items()
        )


def counted(rules: tuple[Rule, ...], problem: Problem, lam: float) -> RuleList:
    """The initial rules of a problem and these, with their counts, and what they gain as their value."""
    given = start(problem).rules
    plain = RuleList((*given, *rules), problem.table.attributes, problem.labels, groups=problem.groups)
    listed = recount(plain, problem.table, problem.Y, problem.weights)
    valued = (replace(rule, value=rule.tp - lam * (rule.tp + rule.fp)) for rule in listed[len(given) :])
    return replace(listed, rules=(*given, *valued))


def staged_selection(holds: NDArray[np.bool_], chosen: Sequence[Choice], tally: Tally, measure: str) -> Values:
    """The scores of no rule, the first rule, the first two … of a selection, by what bodies hold on new rows."""
    open_ = np.ones(tally.truth.shape, np.bool_)
    scores = [getattr(tally, measure)()]
    for body, head in chosen:
        rows = np.flatnonzero(holds[body])
        for label in head.tolist():
            new = rows[open_[rows, label]]
            open_[new, label] = False
            tally.predict_present(new, label)
        scores.append(getattr(tally, measure)())
    return np.array(scores)
