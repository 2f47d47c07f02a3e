"""Sets of labels as heads: what they are made of, what they are worth, and the searches that look at many of them.

What enters a head as one is a *unit*: a label by itself, unless constraints bind it to others; a head is as long as it
has labels. All searches work on many candidate bodies at once, and values within a relative tolerance of the best
count as equal to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule.errors import ParameterError
from plurule.learning.counting import Candidates, Confusion, Counting
from plurule.learning.min_precision import TOLERANCE
from plurule.learning.problem import Options
from plurule.model.head import ancestors

NOT_IN_HEAD = -1

MOST_LABELS_EXHAUSTIVE = 12
"""Labels of which the exhaustive search tries all sets."""
MOST_HEADS = 1024
"""Heads of one length that the anti-monotone search follows for one body."""

Values = NDArray[np.float64]
Mask = NDArray[np.bool_]

Unit = tuple[int, ...]
"""Labels that enter a head as one, in label order."""
Assigned = tuple[tuple[int, int], ...]
"""The labels of a unit with their signs."""
HeadOfUnits = tuple[Assigned, ...]


@dataclass
class Heads:
    """One head per candidate: the value it reaches (-inf if there is none), its counts and assignments."""

    value: Values
    tp: Values
    fp: Values
    signs: NDArray[np.int8]
    """Per candidate and label: 1 present, 0 absent, -1 not in the head."""

    @classmethod
    def nowhere(cls, n_candidates: int, n_labels: int) -> Heads:
        """No candidate has one."""
        value, tp, fp = np.full(n_candidates, -np.inf), np.zeros(n_candidates), np.zeros(n_candidates)
        return cls(value, tp, fp, np.full((n_candidates, n_labels), NOT_IN_HEAD, dtype=np.int8))


def floor_of_ties(best: Values) -> Values:
    """The lowest value that counts as equal to the best."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(best), best - TOLERANCE * np.abs(best), best)


def sum_in_order(parts: Sequence[Values] | Values) -> Values:
    """Sum from left to right: the order is part of the definition, since rounding depends on it."""
    total = parts[0].astype(np.float64)
    for part in parts[1:]:
        total = total + part
    return total


# Units -----------------------------------------------------------------------------------------------------


@dataclass
class Units:
    """What the head of a rule can be made of."""

    units: list[Unit]
    apart: Mask | None
    """Per pair of labels, whether no head has both; None if any may go together."""
    barred: Mask | None = None
    """Per candidate, label and sign: whether the body does not allow it in a head; None if it allows everything."""

    def allows(self, label: int, sign: int) -> Any:
        """Per candidate, whether its body allows a label with this sign in the head."""
        return True if self.barred is None else ~self.barred[:, label, sign]

    def clash(self, labels: Unit) -> bool:
        """Whether some of the labels must not go together."""
        return self.apart is not None and bool(self.apart[np.ix_(labels, labels)].any())


def units_of(state: Counting, barred: Mask | None = None, predict_absence: bool = False) -> Units:
    """The units that may be in a head; `barred` is what bodies do not allow."""
    constraints = state.problem.constraints
    if constraints is None:
        return Units([(int(label),) for label in np.flatnonzero(~state.set_aside)], None, barred)
    units = [unit for unit in constraints.units() if not state.set_aside[list(unit)].any()]
    apart = constraints.apart.copy()
    # What a label implies must not be absent beside it.
    for below, above in ancestors(constraints.hierarchy) if predict_absence else ():
        apart[below, above] = apart[above, below] = True
    return Units(units, apart if apart.any() else None, barred)


# Values of given heads -------------------------------------------------------------------------------------

Evaluate = Callable[[tuple[int, ...], tuple[int, ...]], tuple[Values, Values, Values]]
"""From labels and their signs to (h, TP, FP) per candidate."""


def evaluation(state: Counting, candidates: Candidates, confusion: Confusion, options: Options) -> Evaluate:
    """How heads are evaluated by the heuristic of the options, from the matrices of all labels."""

    def evaluate(labels: tuple[int, ...], signs: tuple[int, ...]) -> tuple[Values, Values, Values]:
        parts = signed(confusion, labels, signs)
        h = value_of(state, candidates, parts, labels, signs, options)
        return h, sum_in_order(parts.tp.T), sum_in_order(parts.fp.T)

    return evaluate


def signed(confusion: Confusion, labels: tuple[int, ...], signs: tuple[int, ...]) -> Confusion:
    """The matrices of some labels, each predicted as present (1) or absent (0)."""
    tp, fp, tn, fn = (counts[:, labels] for counts in confusion)
    present = np.array(signs, dtype=bool)
    return Confusion(np.where(present, tp, fp), np.where(present, fp, tp), tn, fn)


def value_of(
    state: Counting,
    candidates: Candidates,
    parts: Confusion,
    labels: Sequence[int],
    signs: Sequence[int],
    options: Options,
) -> Values:
    """The value of the head of some labels, whose matrices are given.

    From these, summed (micro) or one by one and averaged (macro); or from instances judged as a whole.
    """
    heuristic = options.heuristic
    if heuristic.example_based:
        whole = state.whole_instances(np.array(labels), np.array(signs, dtype=np.int8)).confusion(candidates)
        return heuristic.evaluate(*(counts[:, 0] for counts in whole))
    if heuristic.averages_labels(options.averaging):
        return sum_in_order(heuristic.evaluate(*parts).T) / parts.tp.shape[1]
    return heuristic.evaluate(*(sum_in_order(counts.T) for counts in parts))


# What may be in a head -------------------------------------------------------------------------------------


def worth_something(h: Values, options: Options) -> Mask:
    """Where values add up, only what adds to them may be in a head."""
    return h > 0 if options.heuristic.additive else np.ones(h.shape, dtype=bool)


def precise_label(tp: Values, fp: Values, options: Options) -> Mask:
    """Whether an assignment is precise enough, where that is asked of labels."""
    asked = options.min_precision.of == "label"
    return options.min_precision.reached(tp, fp) if asked else np.ones(tp.shape, dtype=bool)


def usable(evaluate: Evaluate, confusion: Confusion, unit: Assigned, among: Units, options: Options) -> Mask:
    """Candidates for which a unit may be in a head: it has a true positive, each label is precise enough."""
    labels, signs = in_label_order((unit,))
    parts = signed(confusion, labels, signs)
    result = np.ones(len(confusion.tp), dtype=bool)
    result &= (parts.tp > 0).any(axis=1) & precise_label(parts.tp, parts.fp, options).all(axis=1)
    for label, sign in unit:
        result &= among.allows(label, sign)
    if options.heuristic.additive:
        result &= worth_something(evaluate(labels, signs)[0], options)
    return result


# Searches over label sets ----------------------------------------------------------------------------------


class BestHeads:
    """The best head seen per candidate: value, then more labels, then more TP, then the first.

    The first is that of the first labels, present before absent, in whichever order heads were seen.
    """

    def __init__(self, n_candidates: int, n_labels: int):
        self.seen: list[tuple[Values, Values, Values, tuple[int, ...], tuple[int, ...]]] = []
        self.best = np.full(n_candidates, -np.inf)
        self.shape = (n_candidates, n_labels)

    def add(self, value: Values, tp: Values, fp: Values, labels: tuple[int, ...], signs: tuple[int, ...]) -> None:
        self.best = np.maximum(self.best, value)
        self.seen.append((value, tp, fp, labels, signs))

    def heads(self) -> Heads:
        floor = floor_of_ties(self.best)
        tp, fp, length = np.zeros((3, self.shape[0]))
        result = Heads(np.full(len(tp), -np.inf), tp, fp, np.full(self.shape, NOT_IN_HEAD, dtype=np.int8))
        in_order = sorted(self.seen, key=lambda head: (len(head[3]), head[3], [-sign for sign in head[4]]))
        for value, tp, fp, labels, signs in in_order:
            longer = len(labels) > length
            wins = (value >= floor) & np.isfinite(value) & (longer | ((len(labels) == length) & (tp > result.tp)))
            result.value[wins], result.tp[wins], result.fp[wins] = value[wins], tp[wins], fp[wins]
            length[wins] = len(labels)
            result.signs[wins] = NOT_IN_HEAD
            for label, sign in zip(labels, signs, strict=True):
                result.signs[wins, label] = sign
        return result


def exhaustive(evaluate: Evaluate, confusion: Confusion, parts: Units, options: Options) -> Heads:
    """Every set of units with every choice of signs, lifted."""
    best = BestHeads(*confusion.tp.shape)
    assigned = {one: usable(evaluate, confusion, one, parts, options) for one in assigned_units(parts, options)}
    sets = (chosen for size in range(1, len(parts.units) + 1) for chosen in combinations(parts.units, size))
    for chosen in (one for one in sets if not parts.clash(sum(one, ()))):
        for head in product(*(with_signs(unit, options) for unit in chosen)):
            labels, signs = in_label_order(head)
            h, tp, fp = evaluate(labels, signs)
            lifted = h * options.lift[len(labels) - 1]
            may_be = np.logical_and.reduce([assigned[one] for one in head])
            best.add(np.where(may_be, lifted, -np.inf), tp, fp, labels, signs)
    return best.heads()


def anti_monotone(evaluate: Evaluate, confusion: Confusion, parts: Units, options: Options) -> Heads:
    """Breadth-first over sets of units; a head below the best is cut, and with it all heads that contain it."""
    best = BestHeads(*confusion.tp.shape)
    assigned = {one: usable(evaluate, confusion, one, parts, options) for one in assigned_units(parts, options)}
    never = np.zeros(len(confusion.tp), dtype=bool)
    alive: dict[HeadOfUnits, Mask] = {(): ~never}
    while alive:
        level: dict[HeadOfUnits, Values] = {}
        # The units of a head are in the order of their first labels.
        for head in [(*head, one) for head in alive for one in assigned if not head or one[0][0] > head[-1][0][0]]:
            labels, signs = in_label_order(head)
            if parts.clash(labels):
                continue
            shorter = [alive.get(part, never) for part in combinations(head, len(head) - 1)]
            reachable = np.logical_and.reduce([*shorter, assigned[head[-1]]])
            if reachable.any():
                h, tp, fp = evaluate(labels, signs)
                level[head] = np.where(reachable, h, -np.inf)
                best.add(level[head], tp, fp, labels, signs)
        floor = floor_of_ties(best.best)
        alive = {head: np.isfinite(value) & (value >= floor) for head, value in level.items()}
        alive = {head: mask for head, mask in alive.items() if mask.any()}
        if len(alive) > MOST_HEADS and np.sum(list(alive.values()), axis=0).max() > MOST_HEADS:
            raise too_many_heads()
    return best.heads()


def too_many_heads() -> ParameterError:
    """What ends a search in which too many heads are equally good."""
    return ParameterError(
        "head_search",
        "anti_monotone",
        f"is 'anti_monotone', but more than {MOST_HEADS} heads of one length are equally good for one body (as where "
        "labels are equal almost everywhere): use 'single', or 'relaxed' with another heuristic, or leave out labels",
    )


def with_signs(unit: Unit, options: Options) -> list[Assigned]:
    """A unit with every choice of signs."""
    choices = (1, 0) if options.predict_absence else (1,)
    return [tuple(zip(unit, signs, strict=True)) for signs in product(choices, repeat=len(unit))]


def assigned_units(parts: Units, options: Options) -> list[Assigned]:
    """Every unit with every choice of signs."""
    return [one for unit in parts.units for one in with_signs(unit, options)]


def in_label_order(head: HeadOfUnits) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The labels of a head and their signs."""
    labels, signs = zip(*sorted(assigned for unit in head for assigned in unit), strict=True)
    return labels, signs
