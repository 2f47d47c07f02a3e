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
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plurule import _core
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

MOST_VALUES = 1 << 20
"""So many sums, of prices, labels and bodies, are kept."""


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
    known: dict[Condition, NDArray[np.bool_]] = {}
    holds = np.ones((len(bodies), len(table)), np.bool_)
    for row, body in zip(holds, bodies, strict=True):
        for condition in body:
            covered = known.get(condition)
            if covered is None:
                covered = known[condition] = columns.satisfies(condition, nothing)
            row &= covered
    return holds


class Taking(NamedTuple):
    """A body that decides a label, after others have; labels do not know of each other."""

    body: int
    label: int
    before: tuple[int, ...]
    """The bodies that have decided the label."""


class Pool:
    """Rows to select by, and what the bodies of a pool cover there.

    `holds` is bodies × rows; `left` and `present` are labels × rows: the pairs that are open, and that have the label.
    """

    def __init__(
        self, holds: NDArray[np.bool_], left: NDArray[np.bool_], present: NDArray[np.bool_], weights: Values | None
    ):
        self.n_labels, (self.n_bodies, n_rows) = len(left), holds.shape
        if weights is not None:  # rows of the same weight are counted together
            order = np.argsort(weights, kind="stable")
            holds, left, present, weights = holds[:, order], left[:, order], present[:, order], weights[order]
        bits = [np.packbits(marks, axis=1, bitorder="little") for marks in (holds, left, present)]
        self.rows = _core.PoolRows(n_rows, bits[0], bits[1], bits[2], weights)

    def counts(self) -> Values:
        """Per label and body, the weight of the open pairs that it covers: those that have the label, and all."""
        # The empty body, the first of a pool, covers everything.
        every = self.taken([Taking(0, label, ()) for label in range(self.n_labels)])
        return np.ascontiguousarray(every.swapaxes(0, 1))

    def taken(self, asked: Sequence[Taking]) -> Values:
        """Per taking and body, the weight of the open pairs that both cover: those that have the label, and all."""
        sums = np.zeros((len(asked), 2, self.n_bodies))
        self.rows.take(asked, sums)
        return sums


def pool_of(bodies: Sequence[Body], problem: Problem) -> Pool:
    """What bodies cover of all rows of a problem."""
    begin = start(problem)
    left = (begin.predicted == OPEN) & begin.in_training[:, None]
    return Pool(satisfied(bodies, problem.table), left.T, problem.Y.T == 1, problem.sample_weight)


def select(
    pools: Sequence[Sequence[Body]],
    prices: Sequence[Price],
    n_rules: int,
    constraints: ResolvedConstraints | None,
    counts: Iterable[Values],
    taken: Callable[[list[tuple[int, list[Taking]]]], Iterable[Values]],
) -> list[list[list[Choice]]]:
    """Per pool and price, the last rule, if there is one, and the bodies that gain most, one after the other.

    All selections go step by step together, in the compiled core, which knows nothing of rows: `counts` are those of
    each pool, and `taken` gives what takings in pools take.
    """
    every = [_selection(bodies, sums, prices, n_rules, constraints) for bodies, sums in zip(pools, counts, strict=True)]
    while asked := [(number, takings) for number, one in enumerate(every) if (takings := _asked(one))]:
        for (number, _), sums in zip(asked, taken(asked), strict=True):
            every[number].take(sums)
    return [[[Choice(b, np.array(head, np.intp), last) for b, head, last in c] for c in one.chosen()] for one in every]


def _selection(
    bodies: Sequence[Body],
    sums: Values,
    prices: Sequence[Price],
    n_rules: int,
    constraints: ResolvedConstraints | None,
) -> _core.PoolSelection:
    """A selection from a pool, before anything is chosen."""
    positives, barred = sums[0, :, 0], None
    if constraints is not None and constraints.directed:
        barred = np.array([constraints.barred(body)[:, :, 1].any(axis=0) for body in bodies], np.uint8).T.copy()
    return _core.PoolSelection(
        n_conditions=np.array([len(body) for body in bodies], np.float64),
        sums=sums,
        rarity=np.divide(positives.mean(), positives, out=np.zeros_like(positives), where=positives > 0),
        barred=barred,
        hierarchy=[] if constraints is None else ancestors(constraints.hierarchy),
        prices=[tuple(vars(price).values()) for price in prices],
        n_rules=n_rules,
        most_known=MOST_VALUES // len(bodies),
    )


def _asked(selection: _core.PoolSelection) -> list[Taking]:
    return [Taking(body, label, tuple(before)) for body, label, before in selection.choose()]


def select_here(bodies: Sequence[Body], problem: Problem, prices: Sequence[Price], n_rules: int) -> list[list[Choice]]:
    """The same for one pool, by all rows of a problem."""
    pool = pool_of(bodies, problem)
    (chosen,) = select(
        *([bodies], prices, n_rules, problem.constraints, [pool.counts()]),
        lambda asked: [pool.taken(takings) for _, takings in asked],
    )
    return chosen


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
    never, (n_rows, n_labels) = len(chosen), truth.shape
    first = np.full((n_labels, n_rows), never, np.int32)
    for stage, choice in reversed(list(enumerate(chosen))):
        if not choice.last:
            first[choice.head[:, None], np.flatnonzero(holds[choice.body])] = stage
    first = first[kept]
    label, row = np.nonzero(first < never)
    stages, present = first[label, row].astype(np.intp), np.ones(len(row), np.bool_)
    if chosen and chosen[0].last:  # what it predicts for all, others take back
        is_usual = np.zeros(n_labels, np.bool_)
        is_usual[chosen[0].head] = True
        is_usual = is_usual[kept]
        usual = np.flatnonzero(is_usual)
        stages = np.concatenate([stages, np.zeros(n_rows * len(usual), np.intp)])
        present = np.concatenate([~is_usual[label], np.ones(n_rows * len(usual), np.bool_)])
        row = np.concatenate([row, np.tile(np.arange(n_rows), len(usual))])
        label = np.concatenate([label, np.repeat(usual, n_rows)])
    return Stages(truth[:, kept], weights, never, (stages, row, label), present)
