"""Short lists from a pool of bodies: which bodies, with which labels, gain most together.

A prediction pays for F1 where its precision is above half the F1 that is reached, for Hamming accuracy above one half.
So a rule gains TP − λ·(TP + FP) per label, and the best head of a body is every label that gains. Bodies come from
whole lists, which put precise rules for rare labels first; taking the body that gains most on what is still open, again
and again, puts the rules first that say most. Where labels gain for every instance, they may also be predicted last,
and the rules before say what is otherwise: labels that are present beside them, and those of them that are absent. No
two rules before the last contradict each other, so predictions do not depend on their order.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plurule.data.table import Table
from plurule.learning.constraints import ResolvedConstraints
from plurule.learning.initial_rules import start
from plurule.learning.problem import Problem
from plurule.model import Assignment, Condition, Head, LabelCondition, Rule, RuleList
from plurule.model.head import ancestors
from plurule.prediction.counts import recount
from plurule.prediction.decide import OPEN, Columns
from plurule.prediction.staged import Tally

Body: TypeAlias = tuple[Condition, ...]
Values: TypeAlias = NDArray[np.float64]

LEAST_GAIN = 0.5
"""What a label must gain beyond nothing to be in a head: so much weight of instances."""

BLOCK = 1 << 14
"""Rows that are multiplied at once."""

EXACT_IN_SINGLE = 1 << 24
"""Whole numbers up to this are exact in single precision."""


class Choice(NamedTuple):
    """A body, by its position in its pool, and the labels it tells of."""

    body: int
    head: NDArray[np.intp]
    last: bool = False
    """Whether the labels are predicted where no other choice tells of them; others then say that they are absent."""


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
    last: bool = False
    """Whether labels that gain for every instance are predicted by the last rule, and others tell its exceptions."""
    shrink: float = 0.0
    """Shares of labels are drawn to those of all that is open, as if so much more weight were covered."""

    def __str__(self) -> str:
        weighted = ", all labels weighing the same" if self.labels_alike else ""
        more = "" if self.further == 1.0 else f", {self.lam * self.further:g} for further labels"
        last = f", as exceptions to a last rule, shares shrunken by {self.shrink:g}" if self.last else ""
        return f"gain with λ = {self.lam:g}{more}, {self.per_condition:g} per condition{weighted}{last}"


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


class Gains:
    """What the bodies of a pool gain, by sums over the rows, wherever they are; decides what is selected."""

    def __init__(
        self,
        bodies: Sequence[Body],
        right: Values,
        all_: Values,
        positives: Values,
        constraints: ResolvedConstraints | None = None,
    ):
        self.n_conditions = np.array([len(body) for body in bodies])
        self.barred = np.zeros(right.shape, dtype=bool)
        """Per body and label: whether the direction of an attribute does not allow it."""
        if constraints is not None and constraints.directed:
            self.barred[:] = [constraints.barred(body)[:, :, 1].any(axis=0) for body in bodies]
        self.hierarchy = () if constraints is None else ancestors(constraints.hierarchy)
        self.right, self.all = right, all_
        """Per body and label, the weight of the open pairs it covers: those that have the label, and all."""
        self.rarity = np.divide(positives.mean(), positives, out=np.zeros_like(positives), where=positives > 0)

    def last(self, price: Price) -> list[Choice]:
        """What the last rule predicts, if there is one: the labels that gain by the empty body, the first of a pool."""
        gain = self.right[0] - price.lam * self.all[0] - LEAST_GAIN
        head = np.flatnonzero(gain > 0.0)
        return [Choice(0, head, last=True)] if price.last and len(head) else []

    def selecting(self, price: Price, n_rules: int) -> Generator[Choice, Values, None]:
        """The bodies that gain most, one after the other, at most so many.

        Wants to be told after each, per body, how many pairs of its head it takes away: those that have the labels,
        beside all.
        """
        right, all_ = self.right.copy(), self.all.copy()
        weighs = self.rarity if price.labels_alike else np.ones(right.shape[1])
        sign = np.ones(right.shape[1])
        for choice in self.last(price):
            sign[choice.head] = -1.0
        gain, changed = np.empty(right.shape), np.arange(right.shape[1])
        positive = np.empty(right.shape)
        for _ in range(n_rules):
            gain[:, changed] = self._gain(price, sign, right, all_, changed)
            positive[:, changed] = np.maximum(gain[:, changed], 0.0)
            value = positive @ weighs - price.per_condition * self.n_conditions
            # What differs by rounding only is a tie, and the first of them is taken.
            best = int(np.argmax(np.round(value, 9)))
            if value[best] <= 1e-9:
                break
            enough = gain[best] + (sign > 0.0) * price.lam * (1.0 - price.further) * all_[best] > 0.0
            enough &= (weighs > 0.0) & (right[best] >= price.least_precision * all_[best])
            for below, above in self.hierarchy:
                enough[above] |= enough[below]
            changed = np.flatnonzero(enough)
            taken = yield Choice(best, changed)
            right[:, changed] -= taken[:, : len(changed)]
            all_[:, changed] -= taken[:, len(changed) :]

    def _gain(self, price: Price, sign: Values, right: Values, all_: Values, labels: NDArray[np.intp]) -> Values:
        """What each body gains by each of some labels."""
        right, all_ = right[:, labels], all_[:, labels]
        gain = sign[labels] * (_shrunken(right, all_, price.shrink) - price.lam * all_) - LEAST_GAIN
        if price.least_precision:
            gain[right < price.least_precision * all_] = 0.0
        gain[self.barred[:, labels]] = -np.inf
        return gain


def _shrunken(right: Values, all_: Values, weight: float) -> Values:
    """What would be right if bodies covered so much more weight with the shares of the empty body, the first."""
    if not weight:
        return right
    share = np.divide(right[0], all_[0], out=np.zeros_like(right[0]), where=all_[0] > 0)
    return all_ * (right + weight * share) / (all_ + weight)


class GainCover:
    """A pool of bodies and what they cover in training data; gives the lists of any price."""

    def __init__(self, bodies: Sequence[Body], problem: Problem):
        self.holds = satisfied(bodies, problem.table)
        self.held = np.ascontiguousarray(self.holds.T)  # rows lie together, to be picked quickly
        begin = start(problem)
        left = (begin.predicted == OPEN) & begin.in_training[:, None]
        self.exact = exact_type(problem.weights)
        self.weight = (left * problem.weights[:, None]).astype(self.exact)
        self.present = problem.Y == 1
        right, all_ = np.hsplit(covered_sums(self.held, np.hstack([self.weight * self.present, self.weight])), 2)
        positives = self.weight.sum(axis=0, where=self.present, dtype=np.float64)
        self.gains = Gains(bodies, right, all_, positives, problem.constraints)

    def select(self, price: Price, n_rules: int) -> list[Choice]:
        """The last rule, if there is one, and the bodies that gain most, one after the other; at most so many."""
        weight, chosen = self.weight.copy(), self.gains.last(price)
        steps = self.gains.selecting(price, n_rules - len(chosen))
        choice = next(steps, None)
        while choice is not None:
            chosen.append(choice)
            choice = told(steps, self._taken(weight, choice.body, choice.head) if len(chosen) < n_rules else None)
        return chosen

    def _taken(self, weight: NDArray[Any], body: int, head: NDArray[np.intp]) -> Values:
        """What a choice takes from every body; the pairs that it decides weigh nothing any more."""
        rows = np.flatnonzero(self.holds[body])
        rows = rows[weight[np.ix_(rows, head)].any(axis=1)]
        decided = np.ix_(rows, head)
        sums = covered_sums(self.held[rows], np.hstack([weight[decided] * self.present[decided], weight[decided]]))
        weight[decided] = 0.0
        return sums


def told(steps: Generator[Choice, Values, None], taken: Values | None) -> Choice | None:
    """The next choice, after one has taken so much; None if there is none, or enough are chosen."""
    try:
        return None if taken is None else steps.send(taken)
    except StopIteration:
        return None


def exact_type(weights: Values) -> type[Any]:
    """The smallest type of numbers in which sums of weights are exact.

    Weights are whole multiples of a unit, so sums are exact in double precision, and do not depend on their order.
    """
    whole = weights.max(initial=0.0) == 1.0 == weights.min(initial=1.0)
    return np.float32 if whole and len(weights) < EXACT_IN_SINGLE else np.float64


def covered_sums(held: NDArray[Any], values: NDArray[Any]) -> Values:
    """Per body and column, the sum of the values of the rows it covers."""
    total = np.zeros((held.shape[1], values.shape[1]))
    for begin in range(0, len(values), BLOCK):
        block = slice(begin, begin + BLOCK)
        total += held[block].astype(values.dtype).T @ values[block]
    return total


def rules_of(bodies: Sequence[Body], chosen: Sequence[Choice], problem: Problem) -> tuple[Rule, ...]:
    """The rules of a selection; what one body predicts is said at once, without what it implies."""
    labels, every = problem.labels, ancestors(problem.hierarchy)
    last = {label for choice in chosen if choice.last for label in choice.head.tolist()}
    heads: dict[tuple[int, bool], set[int]] = {}
    for choice in sorted(chosen, key=lambda choice: choice.last):
        heads.setdefault((choice.body, choice.last), set()).update(choice.head.tolist())
    for place, said in heads.items():
        heads[place] = said - {above for below, above in every if below in said}
    return tuple(
        Rule(Head(tuple(Assignment(labels[i], i, is_last or i not in last) for i in sorted(head))), bodies[body])
        for (body, is_last), head in heads.items()
    )


def of_labels(chosen: Sequence[Choice], kept: NDArray[np.intp]) -> list[Choice]:
    """A selection with heads of some labels only, by their place among those."""
    places = {label: place for place, label in enumerate(kept.tolist())}
    return [
        choice._replace(head=np.array([places[i] for i in choice.head.tolist() if i in places], np.intp))
        for choice in chosen
    ]


def counted(rules: tuple[Rule, ...], problem: Problem, lam: float) -> RuleList:
    """The initial rules of a problem and these, with their counts, and what they gain as their value."""
    given = start(problem).rules
    plain = problem.listed((*given, *rules))
    listed = recount(plain, problem.table, problem.Y, problem.weights)
    return replace(listed, rules=(*given, *(replace(rule, value=gain_of(rule, lam)) for rule in listed[len(given) :])))


def gain_of(rule: Rule, lam: float) -> float:
    """What a rule gains by what it decides; that a label is absent gains where less than λ have it."""
    stated = [
        (lam if a.present else 1.0 - lam, *d) for a, d in zip(rule.head, rule.decided, strict=True) if not a.implied
    ]
    return sum(right - bar * (right + wrong) for bar, right, wrong in stated)


def staged_selection(holds: NDArray[np.bool_], chosen: Sequence[Choice], tally: Tally) -> Iterator[Tally]:
    """What is right and wrong without rules, after the first rule, … of a selection; `holds` is of the same rows."""
    open_ = np.ones(tally.truth.shape, np.bool_)
    last: set[int] = set()
    yield tally
    for choice in chosen:
        rows = np.flatnonzero(holds[choice.body])
        for label in choice.head.tolist():
            new = rows[open_[rows, label]]
            open_[new, label] = choice.last
            tally.predict(new, label, label not in last)
        last |= set(choice.head.tolist() if choice.last else ())
        yield tally
