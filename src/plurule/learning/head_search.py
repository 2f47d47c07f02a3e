"""Head searches: the best head for each of many candidate bodies.

Every search gets the confusion matrices of all labels for all candidates (arrays candidates × labels) and returns one
head per candidate. Values within a relative `TOLERANCE` of the best count as equal to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from plurule.heuristics import Averaging, Heuristic
from plurule.learning.counting import Candidates, Confusion, State, whole_instances
from plurule.learning.min_precision import TOLERANCE
from plurule.learning.problem import Options

NOT_IN_HEAD = -1
MOST_LABELS_EXHAUSTIVE = 12

Values = NDArray[np.float64]


@dataclass
class Heads:
    """One head per candidate: the value it reaches (-inf if there is none), its counts and assignments."""

    value: Values
    tp: Values
    fp: Values
    signs: NDArray[np.int8]
    """Per candidate and label: 1 present, 0 absent, -1 not in the head."""


def floor_of_ties(best: Values) -> Values:
    """The lowest value that counts as equal to the best."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(best), best - TOLERANCE * np.abs(best), best)


def find_heads(
    state: State, candidates: Candidates, confusion: Confusion, excluded: list[int], options: Options
) -> Heads:
    """The best head of every candidate, by the head search of the options.

    `confusion` counts every label as predicted present, on open pairs; `excluded` are labels of the body.
    """
    allowed = ~state.set_aside
    allowed[excluded] = False
    evaluate = evaluation(state, candidates, confusion, options)
    if options.head_search in ("anti_monotone", "exhaustive"):
        search = anti_monotone if options.head_search == "anti_monotone" else exhaustive
        heads = search(evaluate, confusion, [(int(label),) for label in np.flatnonzero(allowed)], None, options)
    else:
        singles = single_label_heads(evaluate, confusion, allowed, options)
        if options.head_search == "single":
            heads = single(singles)
        elif options.head_search == "decomposable":
            heads = decomposable(singles, options)
        else:
            heads = relaxed(singles, options)
    heads.value[~options.min_precision.reached(heads.tp, heads.fp)] = -np.inf
    return heads


# Values of given heads -------------------------------------------------------------------------------------

Evaluate = Callable[[tuple[int, ...], tuple[int, ...]], tuple[Values, Values, Values]]
"""From labels and their signs to (h, TP, FP) per candidate."""


def evaluation(state: State, candidates: Candidates, confusion: Confusion, options: Options) -> Evaluate:
    """How heads are evaluated by the heuristic of the options."""
    if options.heuristic.example_based:
        return ExampleBased(state, candidates, confusion, options.heuristic).evaluate
    return LabelBased(confusion, options.heuristic, options.averaging).evaluate


@dataclass
class LabelBased:
    """Values from the per-label matrices, summed (micro) or one by one and averaged (macro)."""

    confusion: Confusion
    heuristic: Heuristic
    averaging: Averaging

    def evaluate(self, labels: tuple[int, ...], signs: tuple[int, ...]) -> tuple[Values, Values, Values]:
        parts = [signed(self.confusion, label, sign) for label, sign in zip(labels, signs, strict=True)]
        total = Confusion(*(sum_in_order(part) for part in zip(*parts, strict=True)))
        if self.heuristic.averages_labels(self.averaging):
            h = sum_in_order([self.heuristic.evaluate(*part) for part in parts]) / len(parts)
        else:
            h = self.heuristic.evaluate(*total)
        return h, total.tp, total.fp


@dataclass
class ExampleBased:
    """Values from instances judged as a whole."""

    state: State
    candidates: Candidates
    confusion: Confusion
    heuristic: Heuristic

    def evaluate(self, labels: tuple[int, ...], signs: tuple[int, ...]) -> tuple[Values, Values, Values]:
        parts = [signed(self.confusion, label, sign) for label, sign in zip(labels, signs, strict=True)]
        weights = whole_instances(self.state, np.array(labels), np.array(signs, dtype=np.int8))
        matrix = weights.confusion(self.candidates)
        h = self.heuristic.evaluate(*(counts[:, 0] for counts in matrix))
        return h, sum_in_order([p.tp for p in parts]), sum_in_order([p.fp for p in parts])


def signed(confusion: Confusion, label: int, sign: int) -> Confusion:
    """The matrix of one label, predicted as present (1) or absent (0)."""
    tp, fp, tn, fn = (counts[:, label] for counts in confusion)
    return Confusion(tp, fp, tn, fn) if sign else Confusion(fp, tp, tn, fn)


def sum_in_order(parts: Sequence[Values] | Values) -> Values:
    """Sum from left to right: the order is part of the definition, since rounding depends on it."""
    total = parts[0].astype(np.float64)
    for part in parts[1:]:
        total = total + part
    return total


# Searches from single labels -------------------------------------------------------------------------------


@dataclass
class SingleLabelHeads:
    """The better sign of each label (candidates × labels), and the labels of each candidate best first."""

    h: Values
    """-inf where the label cannot be in the head."""
    confusion: Confusion
    signs: NDArray[np.int8]
    order: NDArray[np.intp]


def single_label_heads(
    evaluate: Evaluate, confusion: Confusion, allowed: NDArray[np.bool_], options: Options
) -> SingleLabelHeads:
    """Per label the better of present and absent (present on a tie), if it may be in a head."""
    h = np.full(confusion.tp.shape, -np.inf)
    signs = np.ones(confusion.tp.shape, dtype=np.int8)
    chosen = Confusion(*(counts.copy() for counts in confusion))
    for label in np.flatnonzero(allowed):
        present, tp, fp = evaluate((int(label),), (1,))
        h[:, label] = np.where(may_be_in_head(present, tp, fp, options), present, -np.inf)
        if options.predict_absence:
            absent, tp, fp = evaluate((int(label),), (0,))
            absent = np.where(may_be_in_head(absent, tp, fp, options), absent, -np.inf)
            better = floor_of_ties(absent) > h[:, label]
            h[better, label], signs[better, label] = absent[better], 0
            chosen.tp[better, label], chosen.fp[better, label] = tp[better], fp[better]
    return SingleLabelHeads(h, chosen, signs, best_first(h, chosen.tp))


def may_be_in_head(h: Values, tp: Values, fp: Values, options: Options) -> NDArray[np.bool_]:
    """Whether an assignment has a true positive, adds something, and is precise enough, where labels are asked."""
    usable = (tp > 0) & worth_something(h, options)
    return usable & options.min_precision.reached(tp, fp) if options.min_precision.of == "label" else usable


def worth_something(h: Values, options: Options) -> NDArray[np.bool_]:
    """Where values add up, only what adds to them may be in a head."""
    return h > 0 if options.heuristic.additive else np.ones(h.shape, dtype=bool)


def best_first(h: Values, tp: Values) -> NDArray[np.intp]:
    """Per row, the labels by value, then true positives, then label order.

    Values equal within the tolerance form one group, led by the highest of them.
    """
    rows = np.arange(len(h))
    by_value = np.argsort(-h, axis=1, kind="stable")
    group = np.zeros(h.shape)
    current = np.zeros(len(h))
    leader = h[rows, by_value[:, 0]]
    for label in by_value.T[1:]:
        value = h[rows, label]
        behind = value < floor_of_ties(leader)
        current = current + behind
        leader = np.where(behind, value, leader)
        group[rows, label] = current
    labels = np.broadcast_to(np.arange(h.shape[1]), h.shape)
    return np.lexsort((labels, -tp, group), axis=1)


def single(singles: SingleLabelHeads) -> Heads:
    """The best single label."""
    return prefix_heads(singles, np.ones(len(singles.h), dtype=np.intp), _take(singles.h, singles.order)[:, 0])


def decomposable(singles: SingleLabelHeads, options: Options) -> Heads:
    """All labels that reach the best value."""
    h = _take(singles.h, singles.order)
    best = h.max(axis=1)
    length = ((h >= floor_of_ties(best)[:, None]) & np.isfinite(h)).sum(axis=1)
    length = np.maximum(length, 1)
    value = prefix_values(singles, options)[np.arange(len(h)), length - 1]
    return prefix_heads(singles, length, np.where(np.isfinite(best), value, -np.inf))


def relaxed(singles: SingleLabelHeads, options: Options) -> Heads:
    """Grow the head label by label, best first; keep the best lifted value, the longer head on a tie."""
    n_labels = singles.h.shape[1]
    lift = options.lift
    highest_left = highest_lift_left(lift)
    usable = np.isfinite(_take(singles.h, singles.order))
    plain = prefix_values(singles, options)
    best = np.full(len(plain), -np.inf)
    length = np.ones(len(plain), dtype=np.intp)
    reached = np.full(plain.shape, -np.inf)
    searching = usable[:, 0]
    for k in range(n_labels):
        searching = searching & usable[:, k]
        reached[searching, k] = plain[searching, k] * lift[k]
        best = np.maximum(best, reached[:, k])
        with np.errstate(invalid="ignore"):
            searching = searching & ~(plain[:, k] * highest_left[k] < floor_of_ties(best))
    for k in range(n_labels):
        ties = np.isfinite(reached[:, k]) & (reached[:, k] >= floor_of_ties(best))
        length[ties] = k + 1
    value = reached[np.arange(len(plain)), length - 1]
    return prefix_heads(singles, length, value)


def _take(matrix: Values, order: NDArray[np.intp]) -> Values:
    return np.take_along_axis(matrix, order, axis=1)


def highest_lift_left(lift: Values) -> Values:
    """Per head length, the highest lift of any longer head."""
    return np.append(np.maximum.accumulate(lift[::-1])[::-1][1:], -np.inf)


def prefix_values(singles: SingleLabelHeads, options: Options) -> Values:
    """h of the head of the first k labels, for every k."""
    if options.heuristic.averages_labels(options.averaging):
        h = _take(singles.h, singles.order)
        total = np.cumsum(np.where(np.isfinite(h), h, 0.0), axis=1)
        return total / np.arange(1, h.shape[1] + 1)
    return options.heuristic.evaluate(
        *(np.cumsum(_take(counts, singles.order), axis=1) for counts in singles.confusion)
    )


def prefix_heads(singles: SingleLabelHeads, length: NDArray[np.intp], value: Values) -> Heads:
    """The heads of the first labels of each candidate."""
    place = np.argsort(singles.order, axis=1, kind="stable")
    inside = place < length[:, None]
    return Heads(
        value=value,
        tp=np.where(inside, singles.confusion.tp, 0).sum(axis=1),
        fp=np.where(inside, singles.confusion.fp, 0).sum(axis=1),
        signs=np.where(inside, singles.signs, NOT_IN_HEAD).astype(np.int8),
    )


# Searches over label sets ----------------------------------------------------------------------------------

Unit = tuple[int, ...]
"""Labels that enter a head as one, in label order: a label by itself, unless constraints bind it to others."""
Assigned = tuple[tuple[int, int], ...]
"""The labels of a unit with their signs."""
HeadOfUnits = tuple[Assigned, ...]


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
        result = Heads(
            np.full(self.shape[0], -np.inf),
            np.zeros(self.shape[0]),
            np.zeros(self.shape[0]),
            np.full(self.shape, NOT_IN_HEAD, dtype=np.int8),
        )
        length = np.zeros(self.shape[0])
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


def exhaustive(
    evaluate: Evaluate, confusion: Confusion, units: list[Unit], apart: NDArray[np.bool_] | None, options: Options
) -> Heads:
    """Every set of units with every choice of signs, lifted; `apart` says which pairs of labels no head has."""
    best = BestHeads(*confusion.tp.shape)
    sets = (chosen for size in range(1, len(units) + 1) for chosen in combinations(units, size))
    for chosen in (one for one in sets if not clash(apart, sum(one, ()))):
        for head in product(*(with_signs(unit, options) for unit in chosen)):
            labels, signs = in_label_order(head)
            h, tp, fp = evaluate(labels, signs)
            lifted = h * options.lift[len(labels) - 1]
            best.add(np.where(usable(confusion, head, options), lifted, -np.inf), tp, fp, labels, signs)
    return best.heads()


def anti_monotone(
    evaluate: Evaluate, confusion: Confusion, units: list[Unit], apart: NDArray[np.bool_] | None, options: Options
) -> Heads:
    """Breadth-first over sets of units; a head below the best is cut, and with it all heads that contain it."""
    best = BestHeads(*confusion.tp.shape)
    assigned = [one for unit in units for one in with_signs(unit, options)]
    never = np.zeros(len(confusion.tp), dtype=bool)
    alive: dict[HeadOfUnits, NDArray[np.bool_]] = {(): ~never}
    while alive:
        level: dict[HeadOfUnits, Values] = {}
        # The units of a head are in the order of their first labels.
        for head in [(*head, one) for head in alive for one in assigned if not head or one[0][0] > head[-1][0][0]]:
            labels, signs = in_label_order(head)
            if clash(apart, labels):
                continue
            shorter = [alive.get(part, never) for part in combinations(head, len(head) - 1)]
            reachable = np.logical_and.reduce(shorter) & usable(confusion, head, options)
            if reachable.any():
                h, tp, fp = evaluate(labels, signs)
                level[head] = np.where(reachable, h, -np.inf)
                best.add(level[head], tp, fp, labels, signs)
        floor = floor_of_ties(best.best)
        alive = {head: np.isfinite(value) & (value >= floor) for head, value in level.items()}
        alive = {head: mask for head, mask in alive.items() if mask.any()}
    return best.heads()


def clash(apart: NDArray[np.bool_] | None, labels: Unit) -> bool:
    """Whether some of the labels must not go together."""
    return apart is not None and bool(apart[np.ix_(labels, labels)].any())


def with_signs(unit: Unit, options: Options) -> list[Assigned]:
    """A unit with every choice of signs."""
    choices = (1, 0) if options.predict_absence else (1,)
    return [tuple(zip(unit, signs, strict=True)) for signs in product(choices, repeat=len(unit))]


def in_label_order(head: HeadOfUnits) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The labels of a head and their signs."""
    labels, signs = zip(*sorted(assigned for unit in head for assigned in unit), strict=True)
    return labels, signs


def usable(confusion: Confusion, head: HeadOfUnits, options: Options) -> NDArray[np.bool_]:
    """Candidates for which every unit may be in a head: it has a true positive, each label is precise enough."""
    result = np.ones(len(confusion.tp), dtype=bool)
    for unit in head:
        parts = [signed(confusion, label, sign) for label, sign in unit]
        tp, fp, tn, fn = (sum_in_order(counts) for counts in zip(*parts, strict=True))
        result &= tp > 0
        if options.heuristic.additive:
            result &= options.heuristic.evaluate(tp, fp, tn, fn) > 0
        if options.min_precision.of == "label":
            for part in parts:
                result &= options.min_precision.reached(part.tp, part.fp)
    return result
