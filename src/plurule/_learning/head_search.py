"""Head searches: the best head for each of many candidate bodies.

Every search gets the confusion matrices of all labels for all candidates (arrays candidates × labels) and returns one
head per candidate. Values within a relative tolerance of the best count as equal to it. Most searches take labels one
by one, best first; the last ones look at many sets of labels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule._learning.counting import Candidates, Confusion, State
from plurule._learning.problem import TOLERANCE, Options
from plurule.errors import ParameterError
from plurule.model.rule import ancestors

NOT_IN_HEAD = -1

MOST_HEADS = 1024
"""Heads of one length that the anti-monotone search follows for one body."""

Values = NDArray[np.float64]
Mask = NDArray[np.bool_]

SignedLabel = tuple[int, int]
"""A label, and whether it is present (1) or absent (0)."""
SignedHead = tuple[SignedLabel, ...]
"""In label order."""


@dataclass
class Heads:
    """One head per candidate: the value it reaches (-inf if there is none), its counts and assignments."""

    # value, tp and fp: float64[candidates]; signs: int8[candidates, labels].
    value: Values
    tp: Values
    fp: Values
    signs: NDArray[np.int8]
    """Per candidate and label: 1 present, 0 absent, -1 not in the head."""


def tie_threshold(best: Values) -> Values:
    """The lowest value that counts as equal to the best."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(best), best - TOLERANCE * np.abs(best), best)


def sum_in_order(parts: Sequence[Values] | Values) -> Values:
    """Sum from left to right: the order is part of the definition, since rounding depends on it."""
    # Sums of counts are exact, those of heuristic values are not.
    total = parts[0].astype(np.float64)
    for part in parts[1:]:
        total = total + part
    return total


# Labels ----------------------------------------------------------------------------------------------------


@dataclass
class HeadLabels:
    """The labels that the head of a rule can be made of."""

    labels: list[int]
    # must_differ: bool[labels, labels]; forbidden: bool[candidates, labels, 2], absent first.
    must_differ: Mask | None
    """Per pair of labels, whether no head has both; None if any may go together."""
    forbidden: Mask | None = None
    """Per candidate, label and sign: whether the body does not allow it in a head; None if it allows everything."""

    def allows(self, label: int, sign: int) -> Any:
        """Per candidate, whether its body allows a label with this sign in the head."""
        return True if self.forbidden is None else ~self.forbidden[:, label, sign]

    def clash(self, labels: Sequence[int]) -> bool:
        """Whether some of the labels must not go together."""
        return self.must_differ is not None and bool(self.must_differ[np.ix_(labels, labels)].any())


def head_labels(state: State, forbidden: Mask | None = None, predict_absence: bool = False) -> HeadLabels:
    """The labels that may be in a head; `forbidden` is what bodies do not allow."""
    constraints = state.problem.constraints
    labels = np.flatnonzero(~state.set_aside).tolist()
    if constraints is None:
        return HeadLabels(labels, None, forbidden)
    must_differ = constraints.must_differ.copy()
    # What a label implies must not be absent beside it.
    for below, above in ancestors(constraints.hierarchy) if predict_absence else ():
        must_differ[below, above] = must_differ[above, below] = True
    return HeadLabels(labels, must_differ if must_differ.any() else None, forbidden)


# Values of given heads -------------------------------------------------------------------------------------

Evaluate = Callable[[tuple[int, ...], tuple[int, ...]], tuple[Values, Values, Values]]
"""From labels and their signs to (h, TP, FP) per candidate."""


def evaluation(state: State, candidates: Candidates, confusion: Confusion, options: Options) -> Evaluate:
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
    # Candidates × labels of the head. Absence is right where presence is wrong; outside of the body nothing changes.
    return Confusion(np.where(present, tp, fp), np.where(present, fp, tp), tn, fn)


def value_of(
    state: State,
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


def has_gain(h: Values, options: Options) -> Mask:
    """Whether values may be in a head: if values add up, only positive ones."""
    return h > 0 if options.heuristic.additive else np.ones(h.shape, dtype=bool)


def precise_label(tp: Values, fp: Values, options: Options) -> Mask:
    """Whether an assignment is precise enough, where that is asked of labels."""
    asked = options.min_precision.of == "label"
    return options.min_precision.reached(tp, fp) if asked else np.ones(tp.shape, dtype=bool)


def usable(evaluate: Evaluate, confusion: Confusion, one: SignedLabel, among: HeadLabels, options: Options) -> Mask:
    """Candidates for which a label may be in a head: it has a true positive, adds something and is precise enough."""
    label, sign = one
    parts = signed(confusion, (label,), (sign,))
    tp, fp = parts.tp[:, 0], parts.fp[:, 0]
    result = (tp > 0) & precise_label(tp, fp, options) & among.allows(label, sign)
    if options.heuristic.additive:
        result &= has_gain(evaluate((label,), (sign,))[0], options)
    return np.asarray(result)


# The search of the options ----------------------------------------------------------------------------------


def find_heads(
    state: State,
    candidates: Candidates,
    confusion: Confusion,
    options: Options,
    forbidden: Mask | None = None,
) -> Heads:
    """The best head of every candidate, by the head search of the options.

    `confusion` counts every label as predicted present, on open pairs; `forbidden` says per candidate, label and
    sign what the body does not allow.
    """
    evaluate = evaluation(state, candidates, confusion, options)
    searches = {"anti_monotone": anti_monotone, "exhaustive": exhaustive}
    search = searches.get(options.head_search, best_first_search)
    heads = search(evaluate, confusion, head_labels(state, forbidden, options.predict_absence), options)
    # Of the head as a whole. Labels that were asked one by one reach it together, too.
    heads.value[~options.min_precision.reached(heads.tp, heads.fp)] = -np.inf
    return heads


def best_first_search(evaluate: Evaluate, confusion: Confusion, among: HeadLabels, options: Options) -> Heads:
    """Labels one by one, best first, without those that clash with one before.

    *single* takes one, *decomposable* all that reach the best value, *relaxed* as many as give the best lifted value.
    """
    # Arrays are candidates × labels; `order` lists labels best first, so its first `length` are the head.
    labels = labels_alone(evaluate, confusion, among, options)
    labels = replace(labels, order=best_first(labels.h, labels.confusion.tp))
    labels, length = take_in_order(labels, among.must_differ, options)
    if options.head_search == "single":
        best = labels.h[np.arange(len(labels.h)), labels.order[:, 0]]
        return prefix_heads(labels, length, best)
    plain = prefix_values(labels, options)
    if options.head_search == "decomposable":
        return prefix_heads(labels, length, last_of_prefix(plain, length))
    return relaxed(labels, length, plain, options)


# Labels by themselves --------------------------------------------------------------------------------------


@dataclass
class LabelsAlone:
    """The better sign of each label as a head of its own (candidates × labels), and an order to take labels in."""

    h: Values
    """-inf where the label cannot be in the head."""
    confusion: Confusion
    signs: NDArray[np.int8]
    order: NDArray[np.intp]


def labels_alone(evaluate: Evaluate, confusion: Confusion, among: HeadLabels, options: Options) -> LabelsAlone:
    """Per label the better of present and absent (present on a tie), if it may be in a head."""
    h: Values = np.full(confusion.tp.shape, -np.inf)
    signs = np.ones(confusion.tp.shape, dtype=np.int8)
    chosen = Confusion(*(counts.copy() for counts in confusion))
    for label in among.labels:
        present, tp, fp = evaluate((label,), (1,))
        h[:, label] = np.where(may_be_head(present, tp, fp, options) & among.allows(label, 1), present, -np.inf)
        if options.predict_absence:
            absent, right, wrong = evaluate((label,), (0,))
            may_be = may_be_head(absent, right, wrong, options) & among.allows(label, 0)
            absent = np.where(may_be, absent, -np.inf)
            # Better by more than the tolerance: on a tie the label is present.
            better = tie_threshold(absent) > h[:, label]
            h[better, label] = absent[better]
            signs[better, label] = 0
            chosen.tp[better, label] = right[better]
            chosen.fp[better, label] = wrong[better]
    in_label_order = np.broadcast_to(np.arange(h.shape[1]), h.shape)
    return LabelsAlone(h, chosen, signs, in_label_order)


def may_be_head(h: Values, tp: Values, fp: Values, options: Options) -> Mask:
    """Whether an assignment has a true positive, adds something, and is precise enough."""
    return (tp > 0) & has_gain(h, options) & precise_label(tp, fp, options)


def best_first(h: Values, tp: Values) -> NDArray[np.intp]:
    """Per row, the labels by value, then true positives, then their order.

    Values equal within the tolerance form one group, led by the highest of them.
    """
    rows = np.arange(len(h))
    # Compared to the leader of a group, not to the neighbour: else many small steps could tie what is far apart.
    by_value = np.argsort(-h, axis=1, kind="stable")
    group = np.zeros(h.shape)
    current = np.zeros(len(h))
    leader = h[rows, by_value[:, 0]]
    for label in by_value.T[1:]:
        value = h[rows, label]
        behind = value < tie_threshold(leader)
        current = current + behind
        leader = np.where(behind, value, leader)
        group[rows, label] = current
    labels = np.broadcast_to(np.arange(h.shape[1]), h.shape)
    return np.lexsort((labels, -tp, group), axis=1)


# One after the other ---------------------------------------------------------------------------------------


def take_in_order(
    labels: LabelsAlone, must_differ: Mask | None, options: Options
) -> tuple[LabelsAlone, NDArray[np.intp]]:
    """The labels with those first that are taken, in order, and per candidate how many are.

    All are that may be in the head, but for those that clash with one taken before.
    """
    rows = np.arange(len(labels.h))
    n_labels = labels.h.shape[1]
    may_be = np.isfinite(labels.h)
    if options.head_search == "decomposable":
        may_be &= labels.h >= tie_threshold(labels.h.max(axis=1))[:, None]
    # Not taken is taken last, after all others.
    place_of = np.full(labels.h.shape, n_labels)
    for place in range(1 if options.head_search == "single" else n_labels):
        label = labels.order[:, place]
        takes = may_be[rows, label]
        if must_differ is not None:
            # candidates × labels: those taken so far that the next one must differ from.
            takes &= ~(must_differ[label] & (place_of < n_labels)).any(axis=1)
        place_of[rows[takes], label[takes]] = place
    by_place = np.argsort(place_of, axis=1, kind="stable")
    return replace(labels, order=by_place), (place_of < n_labels).sum(axis=1)


def relaxed(labels: LabelsAlone, taken: NDArray[np.intp], plain: Values, options: Options) -> Heads:
    """Grow the head label by label, best first; keep the best lifted value, the longer head on a tie."""
    # The highest lift of any longer head, per length.
    highest_left = np.append(np.maximum.accumulate(options.lift[::-1])[::-1][1:], -np.inf)
    # plain[:, k] is h of the first k + 1 labels, reached[:, k] the same lifted. Labels come best first, so h is taken
    # not to rise: once h times the highest lift of any longer head is below the best, the search ends.
    best = np.full(len(plain), -np.inf)
    reached = np.full(plain.shape, -np.inf)
    searching = np.ones(len(plain), dtype=bool)
    for k in range(plain.shape[1]):
        here = searching & (k < taken)
        reached[here, k] = plain[here, k] * options.lift[k]
        best = np.maximum(best, reached[:, k])
        with np.errstate(invalid="ignore"):
            searching &= ~(here & (plain[:, k] * highest_left[k] < tie_threshold(best)))
    length = np.zeros(len(plain), dtype=np.intp)
    for k in range(plain.shape[1]):
        # Ascending, so that the longest of equal heads stays.
        length[np.isfinite(reached[:, k]) & (reached[:, k] >= tie_threshold(best))] = k + 1
    return prefix_heads(labels, length, last_of_prefix(reached, length))


def prefix_values(labels: LabelsAlone, options: Options) -> Values:
    """h of the head of the first k labels, for every k."""
    if options.heuristic.averages_labels(options.averaging):
        # Macro: the mean of the values of the labels; micro, below: the value of their summed counts.
        h = np.take_along_axis(labels.h, labels.order, axis=1)
        total = np.cumsum(np.where(np.isfinite(h), h, 0.0), axis=1)
        return total / np.arange(1, h.shape[1] + 1)
    ordered = (np.take_along_axis(counts, labels.order, axis=1) for counts in labels.confusion)
    return options.heuristic.evaluate(*(np.cumsum(counts, axis=1) for counts in ordered))


def last_of_prefix(values: Values, length: NDArray[np.intp]) -> Values:
    """The value at the end of each prefix; -inf where it is empty."""
    last = values[np.arange(len(values)), np.maximum(length, 1) - 1]
    return np.where(length > 0, last, -np.inf)


def prefix_heads(labels: LabelsAlone, length: NDArray[np.intp], value: Values) -> Heads:
    """The heads of the first labels of each candidate."""
    # The inverse of `order`: per label its place, and whether that is within the head.
    place = np.argsort(labels.order, axis=1, kind="stable")
    inside = place < length[:, None]
    return Heads(
        value=value,
        tp=np.where(inside, labels.confusion.tp, 0).sum(axis=1),
        fp=np.where(inside, labels.confusion.fp, 0).sum(axis=1),
        signs=np.where(inside, labels.signs, NOT_IN_HEAD).astype(np.int8),
    )


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
        # All heads are seen before one is chosen, since the best value decides which others tie with it.
        floor = tie_threshold(self.best)
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


def exhaustive(evaluate: Evaluate, confusion: Confusion, among: HeadLabels, options: Options) -> Heads:
    """Every set of labels with every choice of signs, lifted."""
    best = BestHeads(*confusion.tp.shape)
    may_be = {one: usable(evaluate, confusion, one, among, options) for one in signed_labels(among, options)}
    sets = (chosen for size in range(1, len(among.labels) + 1) for chosen in combinations(among.labels, size))
    for labels in (chosen for chosen in sets if not among.clash(chosen)):
        for signs in product(choices_of_sign(options), repeat=len(labels)):
            h, tp, fp = evaluate(labels, signs)
            lifted = h * options.lift[len(labels) - 1]
            all_may = np.logical_and.reduce([may_be[one] for one in zip(labels, signs, strict=True)])
            best.add(np.where(all_may, lifted, -np.inf), tp, fp, labels, signs)
    return best.heads()


def anti_monotone(evaluate: Evaluate, confusion: Confusion, among: HeadLabels, options: Options) -> Heads:
    """Breadth-first over sets of labels; a head below the best is cut, and with it all heads that contain it."""
    best = BestHeads(*confusion.tp.shape)
    may_be = {one: usable(evaluate, confusion, one, among, options) for one in signed_labels(among, options)}
    never = np.zeros(len(confusion.tp), dtype=bool)
    alive: dict[SignedHead, Mask] = {(): ~never}
    while alive:
        level: dict[SignedHead, Values] = {}
        for head in [(*head, one) for head in alive for one in may_be if not head or one[0] > head[-1][0]]:
            labels = tuple(label for label, _ in head)
            signs = tuple(sign for _, sign in head)
            if among.clash(labels):
                continue
            # As for frequent item sets: a head is tried where all heads with one label less are alive.
            shorter = [alive.get(part, never) for part in combinations(head, len(head) - 1)]
            reachable = np.logical_and.reduce([*shorter, may_be[head[-1]]])
            if reachable.any():
                h, tp, fp = evaluate(labels, signs)
                level[head] = np.where(reachable, h, -np.inf)
                best.add(level[head], tp, fp, labels, signs)
        floor = tie_threshold(best.best)
        alive = {head: np.isfinite(value) & (value >= floor) for head, value in level.items()}
        alive = {head: mask for head, mask in alive.items() if mask.any()}
        if len(alive) > MOST_HEADS and np.sum(list(alive.values()), axis=0).max() > MOST_HEADS:
            raise too_many_heads()
    return best.heads()


def too_many_heads() -> ParameterError:
    """Error of a search in which too many heads are equally good."""
    return ParameterError(
        "head_search",
        "anti_monotone",
        f"is 'anti_monotone', but more than {MOST_HEADS} heads of one length are equally good for one body (as where "
        "labels are equal almost everywhere): use 'single', or 'relaxed' with another heuristic, or leave out labels",
    )


def choices_of_sign(options: Options) -> tuple[int, ...]:
    """Present, and absent where rules may predict that."""
    return (1, 0) if options.predict_absence else (1,)


def signed_labels(among: HeadLabels, options: Options) -> list[SignedLabel]:
    """Every label with every choice of sign."""
    return [(label, sign) for label in among.labels for sign in choices_of_sign(options)]
