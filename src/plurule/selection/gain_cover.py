"""Short lists from a pool of bodies: which bodies, with which labels, gain most together.

A prediction pays for F1 where its precision is above half the F1 that is reached, for Hamming accuracy above one half.
So a rule gains TP − λ·(TP + FP) per label, and the best head of a body is every label that gains. Bodies come from
whole lists, which put precise rules for rare labels first; taking the body that gains most on what is still open, again
and again, puts the rules first that say most. Where labels gain for every instance, they may also be predicted last,
and the rules before say what is otherwise: labels that are present beside them, and those of them that are absent. No
two rules before the last contradict each other, so predictions do not depend on their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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
from plurule.prediction.staged import Stages

Body: TypeAlias = tuple[Condition, ...]
Values: TypeAlias = NDArray[np.float64]

LEAST_GAIN = 0.5
"""What a label must gain beyond nothing to be in a head: so much weight of instances."""

BLOCK = 1 << 14
"""Rows that are multiplied at once."""

MOST_VALUES = 1 << 20
"""So many sums, of prices, labels and bodies, are kept."""

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
    found: dict[frozenset[int], Body] = {frozenset(): ()}
    numbers: dict[Condition, int] = {}
    for rule in (rule for rule_list in lists for rule in rule_list):
        body = tuple(condition for condition in rule.body if not isinstance(condition, LabelCondition))
        numbered = [numbers.setdefault(condition, len(numbers)) for condition in body]
        for length in range(1, len(body) + 1):
            found.setdefault(frozenset(numbered[:length]), body[:length])
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


class Taking(NamedTuple):
    """A body that decides a label, after others have; labels do not know of each other."""

    body: int
    label: int
    before: frozenset[int]
    """The bodies that have decided the label."""


class Gains:
    """What the bodies of a pool gain, by sums over the rows, wherever they are."""

    def __init__(
        self,
        bodies: Sequence[Body],
        right: Values,
        all_: Values,
        positives: Values,
        constraints: ResolvedConstraints | None = None,
    ):
        self.n_conditions = np.array([len(body) for body in bodies])
        self.barred: NDArray[np.bool_] | None = None
        """Per label and body, if there are any: whether the direction of an attribute does not allow it."""
        if constraints is not None and constraints.directed:
            self.barred = np.array([constraints.barred(body)[:, :, 1].any(axis=0) for body in bodies]).T
        self.hierarchy = () if constraints is None else ancestors(constraints.hierarchy)
        self.right, self.all = right, all_
        """Per label and body, the weight of the open pairs it covers: those that have the label, and all."""
        self.rarity = np.divide(positives.mean(), positives, out=np.zeros_like(positives), where=positives > 0)

    def last(self, price: Price) -> list[Choice]:
        """What the last rule predicts, if there is one: the labels that gain by the empty body, the first of a pool."""
        gain = self.right[:, 0] - price.lam * self.all[:, 0] - LEAST_GAIN
        head = np.flatnonzero(gain > 0.0)
        return [Choice(0, head, last=True)] if price.last and len(head) else []


class Selecting:
    """Selects from a pool at several prices, step by step side by side."""

    def __init__(self, gains: Gains, prices: Sequence[Price], n_rules: int):
        self.gains, self.n_rules = gains, n_rules
        self.chosen = [gains.last(price) for price in prices]
        n_labels = len(gains.right)
        self.sums = np.stack([gains.right, gains.all], axis=1)
        """Of labels that some bodies have decided: per body, the weight of open pairs, those with the label and all."""
        self.before = [frozenset[int]()] * n_labels
        """Per place of these sums, the bodies that have decided the label …"""
        self.known = {(label, frozenset[int]()): label for label in range(n_labels)}
        """… and the place of each label and such bodies: prices often choose alike."""
        self.places = np.tile(np.arange(n_labels), (len(prices), 1))
        """Per price and label, the place of the sums that are so far."""
        self.sign = np.ones((len(prices), n_labels))
        for sign, chosen in zip(self.sign, self.chosen, strict=True):
            for choice in chosen:
                sign[choice.head] = -1.0
        self.weighs = np.array([gains.rarity if price.labels_alike else np.ones(n_labels) for price in prices])
        told = [(one.lam, one.least_precision, one.further, one.shrink, one.per_condition) for one in prices]
        self.lam, self.least, self.further, self.shrink, per_condition = np.array(told).T[:, :, None]
        self.value = -per_condition * gains.n_conditions
        """Per price and body, what is gained by all labels."""
        labels = np.arange(n_labels)
        for price, value in enumerate(self.value):
            value += self._worth(np.full(n_labels, price), labels, labels).sum(axis=0)
        self.growing = [n for n, chosen in enumerate(self.chosen) if len(chosen) < n_rules]
        self.most = MOST_VALUES // gains.right.shape[1]
        self.changed: list[tuple[int, int, int]] = []
        """Prices and labels whose sums are at another place after the last choice."""
        self.sources: list[int] = []
        """Of each taking that is asked for, the place of the sums it takes from."""

    def choose(self) -> list[Taking]:
        """Choose at each price, until something must be known to go on; nothing at the end."""
        while self.growing:
            asked = self._choose_once()
            if asked:
                return asked
            self.take(np.zeros((0, *self.sums.shape[1:])))
        return []

    def _forget(self) -> None:
        """Keep only the sums that prices need to go on."""
        needed, places = np.unique(self.places[self.growing], return_inverse=True)
        self.places[self.growing] = places.reshape(len(self.growing), -1)
        self.sums, self.before = self.sums[needed], [self.before[place] for place in needed.tolist()]
        now = {place: n for n, place in enumerate(needed.tolist())}
        self.known = {key: now[place] for key, place in self.known.items() if place in now}
        self.most = max(self.most, 2 * len(needed))

    def _choose_once(self) -> list[Taking]:
        if len(self.before) > self.most:
            self._forget()
        # What differs by rounding only is a tie, and the first of them is taken.
        best = np.argmax(np.round(self.value[self.growing], 9), axis=1).tolist()
        found = [(n, body) for n, body in zip(self.growing, best, strict=True) if self.value[n, body] > 1e-9]
        self.sources, self.growing, self.changed = [], [], []
        asked = []
        for (price, body), enough in zip(found, self._enough(*np.array(found, np.intp).reshape(-1, 2).T), strict=True):
            head = np.flatnonzero(enough)
            self.chosen[price].append(Choice(body, head))
            if len(self.chosen[price]) == self.n_rules:
                continue
            self.growing.append(price)
            for label, place in zip(head.tolist(), self.places[price, head].tolist(), strict=True):
                after = self.before[place] | {body}
                if (label, after) not in self.known:
                    self.known[label, after] = len(self.before)
                    self.before.append(after)
                    self.sources.append(place)
                    asked.append(Taking(body, label, self.before[place]))
                self.changed.append((price, label, self.known[label, after]))
        return asked

    def take(self, taken: Values) -> None:
        """Be told, per taking that was asked for, what it takes from every body: pairs with the label, and all."""
        while len(self.sums) < len(self.before):
            self.sums = np.concatenate([self.sums, np.empty_like(self.sums)])
        new = slice(len(self.before) - len(taken), len(self.before))
        self.sums[new] = self.sums[np.array(self.sources, np.intp)] - taken
        if self.changed:
            price, label, place = np.array(self.changed, np.intp).T
            more = self._worth(price, label, place) - self._worth(price, label, self.places[price, label])
            self.places[price, label] = place
            begin = np.flatnonzero(np.diff(price, prepend=-1))
            self.value[price[begin]] += np.add.reduceat(more, begin, axis=0)

    def _worth(self, price: NDArray[np.intp], label: NDArray[np.intp], place: NDArray[np.intp]) -> Values:
        """What each body gains at some prices by one label each, if anything."""
        right, all_ = self.sums[place].swapaxes(0, 1)
        gain = self._gain(price, label, right, all_, right[:, :1], all_[:, :1])
        if self.gains.barred is not None:
            gain[self.gains.barred[label]] = 0.0
        np.maximum(gain, 0.0, out=gain)
        gain *= self.weighs[price, label][:, None]
        return gain

    def _enough(self, price: NDArray[np.intp], body: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Per price and label, whether a body tells of the label."""
        n_labels = len(self.gains.right)
        places, bodies = self.places[price].ravel(), np.repeat(body, n_labels)
        each, labels = np.repeat(price, n_labels), np.tile(np.arange(n_labels), len(price))
        right, all_ = self.sums[places, :, bodies].T[:, :, None]
        every_right, every = self.sums[places, :, 0].T[:, :, None]
        gain = self._gain(each, labels, right, all_, every_right, every)
        gain += (self.sign[each, labels][:, None] > 0.0) * self.lam[each] * (1.0 - self.further[each]) * all_
        enough = (gain > 0.0) & (self.weighs[each, labels][:, None] > 0.0) & (right >= self.least[each] * all_)
        enough = enough.reshape(len(price), n_labels)
        if self.gains.barred is not None:
            enough &= ~self.gains.barred[:, body].T
        for below, above in self.gains.hierarchy:
            enough[:, above] |= enough[:, below]
        return enough

    def _gain(self, price: Any, label: Any, right: Values, all_: Values, every_right: Values, every: Values) -> Values:
        """What is gained at some prices by one label each; of each also what the empty body, the first, covers."""
        precise = right
        drawn = np.flatnonzero(self.shrink[price])
        if len(drawn):
            # As if bodies covered so much more weight with the shares of the empty body.
            weight, total = self.shrink[price[drawn]], every[drawn]
            share = np.divide(every_right[drawn], total, out=np.zeros_like(total), where=total > 0)
            right = right.copy()
            right[drawn] = all_[drawn] * (right[drawn] + weight * share) / (all_[drawn] + weight)
        gain = right - self.lam[price] * all_
        gain *= self.sign[price, label][:, None]
        gain -= LEAST_GAIN
        if self.least.any():
            gain[precise < self.least[price] * all_] = 0.0
        return gain


class GainCover:
    """A pool of bodies and what they cover in training data; gives the lists of any price."""

    def __init__(self, bodies: Sequence[Body], problem: Problem):
        self.holds = satisfied(bodies, problem.table)
        self.held = np.ascontiguousarray(self.holds.T)  # rows lie together, to be picked quickly
        begin = start(problem)
        left = (begin.predicted == OPEN) & begin.in_training[:, None]
        weight = (left * problem.weights[:, None]).astype(exact_type(problem.weights))
        self.weight, self.present = np.ascontiguousarray(weight.T), np.ascontiguousarray(problem.Y.T == 1)
        right, all_ = covered_sums(np.stack([self.weight * self.present, self.weight]), self.held)
        positives = self.weight.sum(axis=1, where=self.present, dtype=np.float64)
        self.gains = Gains(bodies, right, all_, positives, problem.constraints)

    def select(self, prices: Sequence[Price], n_rules: int) -> list[list[Choice]]:
        """Per price, the last rule, if there is one, and the bodies that gain most, one after the other."""
        found: list[list[Choice]] = []
        together = max(1, MOST_VALUES // self.gains.right.size)
        for begin in range(0, len(prices), together):
            selecting = Selecting(self.gains, prices[begin : begin + together], n_rules)
            while asked := selecting.choose():
                given = self.weight, self.present, self.holds.__getitem__, self.held.__getitem__
                selecting.take(taken(asked, *given))
            found += selecting.chosen
        return found


def taken(
    asked: Sequence[Taking],
    weight: NDArray[Any],
    present: NDArray[np.bool_],
    holds: Callable[[list[int]], NDArray[np.bool_]],
    held: Callable[[NDArray[np.intp]], NDArray[Any]],
) -> Values:
    """Per taking and body, the weight of the open pairs that both cover: those that have the label, and all.

    `weight` and `present` are of labels × rows; `holds` gives bodies × rows, `held` the same as rows × bodies.
    """
    labels = [one.label for one in asked]
    open_ = weight[labels] * holds([one.body for one in asked])
    for values, one in zip(open_, asked, strict=True):
        if one.before:
            values[holds(list(one.before)).any(axis=0)] = 0
    rows = np.flatnonzero(open_.any(axis=0))
    open_ = open_[:, rows]
    right = open_ * present[labels][:, rows]
    return covered_sums(np.concatenate([right, open_]), held(rows)).reshape(2, len(asked), -1).swapaxes(0, 1)


def exact_type(weights: Values) -> type[Any]:
    """The smallest type of numbers in which sums of weights are exact.

    Weights are whole multiples of a unit, so sums are exact in double precision, and do not depend on their order.
    """
    whole = weights.max(initial=0.0) == 1.0 == weights.min(initial=1.0)
    return np.float32 if whole and len(weights) < EXACT_IN_SINGLE else np.float64


def covered_sums(values: NDArray[Any], held: NDArray[Any]) -> Values:
    """The sums of the values, whose last axis are rows, over the rows that each body covers."""
    total = np.zeros((*values.shape[:-1], held.shape[1]))
    for begin in range(0, len(held), BLOCK):
        block = slice(begin, begin + BLOCK)
        total += values[..., block] @ held[block].astype(values.dtype)
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


def staged_selection(
    holds: NDArray[np.bool_],
    chosen: Sequence[Choice],
    truth: NDArray[np.bool_],
    weights: Values | None,
    kept: NDArray[np.intp],
) -> Stages:
    """What is right and wrong without rules, after the first rule, … of a selection, for some labels.

    `holds` is of the same rows as the labels.
    """
    never, n_rows = len(chosen), len(truth)
    first = np.full(truth.shape[::-1], never)
    for stage, choice in reversed(list(enumerate(chosen))):
        if not choice.last:
            first[choice.head[:, None], np.flatnonzero(holds[choice.body])] = stage
    first = first[kept]
    label, row = np.nonzero(first < never)
    stages, present = first[label, row], np.ones(len(row), np.bool_)
    if chosen and chosen[0].last:  # what it predicts for all, others take back
        usual = np.flatnonzero(np.isin(kept, chosen[0].head))
        stages = np.concatenate([stages, np.zeros(n_rows * len(usual), np.intp)])
        present = np.concatenate([~np.isin(label, usual), np.ones(n_rows * len(usual), np.bool_)])
        row = np.concatenate([row, np.tile(np.arange(n_rows), len(usual))])
        label = np.concatenate([label, np.repeat(usual, n_rows)])
    return Stages(truth[:, kept], weights, never, (stages, row, label), present)
