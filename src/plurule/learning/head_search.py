"""Head searches: the best head for each of many candidate bodies.

Every search gets the confusion matrices of all labels for all candidates (arrays candidates × labels) and returns one
head per candidate. Most take labels one by one, best first; `label_sets` has those that look at many sets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from plurule.learning.counting import Candidates, Confusion, Counting
from plurule.learning.label_sets import (
    NOT_IN_HEAD,
    Evaluate,
    HeadLabels,
    Heads,
    Mask,
    Values,
    anti_monotone,
    evaluation,
    exhaustive,
    head_labels,
    precise_label,
    tie_threshold,
    worth_something,
)
from plurule.learning.problem import Options


def find_heads(
    state: Counting,
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
    heads.value[~options.min_precision.reached(heads.tp, heads.fp)] = -np.inf
    return heads


def best_first_search(evaluate: Evaluate, confusion: Confusion, among: HeadLabels, options: Options) -> Heads:
    """Labels one by one, best first, without those that clash with one before.

    *single* takes one, *decomposable* all that reach the best value, *relaxed* as many as give the best lifted value.
    """
    labels = labels_alone(evaluate, confusion, among, options)
    labels = replace(labels, order=best_first(labels.h, labels.confusion.tp))
    labels, length = take_in_order(labels, among.apart, options)
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
            better = tie_threshold(absent) > h[:, label]
            h[better, label] = absent[better]
            signs[better, label] = 0
            chosen.tp[better, label] = right[better]
            chosen.fp[better, label] = wrong[better]
    in_label_order = np.broadcast_to(np.arange(h.shape[1]), h.shape)
    return LabelsAlone(h, chosen, signs, in_label_order)


def may_be_head(h: Values, tp: Values, fp: Values, options: Options) -> Mask:
    """Whether an assignment has a true positive, adds something, and is precise enough."""
    return (tp > 0) & worth_something(h, options) & precise_label(tp, fp, options)


def best_first(h: Values, tp: Values) -> NDArray[np.intp]:
    """Per row, the labels by value, then true positives, then their order.

    Values equal within the tolerance form one group, led by the highest of them.
    """
    rows = np.arange(len(h))
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


def take_in_order(labels: LabelsAlone, apart: Mask | None, options: Options) -> tuple[LabelsAlone, NDArray[np.intp]]:
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
        if apart is not None:
            takes &= ~(apart[label] & (place_of < n_labels)).any(axis=1)
        place_of[rows[takes], label[takes]] = place
    by_place = np.argsort(place_of, axis=1, kind="stable")
    return replace(labels, order=by_place), (place_of < n_labels).sum(axis=1)


def relaxed(labels: LabelsAlone, taken: NDArray[np.intp], plain: Values, options: Options) -> Heads:
    """Grow the head label by label, best first; keep the best lifted value, the longer head on a tie."""
    # The highest lift of any longer head, per length.
    highest_left = np.append(np.maximum.accumulate(options.lift[::-1])[::-1][1:], -np.inf)
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
        length[np.isfinite(reached[:, k]) & (reached[:, k] >= tie_threshold(best))] = k + 1
    return prefix_heads(labels, length, last_of_prefix(reached, length))


def prefix_values(labels: LabelsAlone, options: Options) -> Values:
    """h of the head of the first k labels, for every k."""
    if options.heuristic.averages_labels(options.averaging):
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
    place = np.argsort(labels.order, axis=1, kind="stable")
    inside = place < length[:, None]
    return Heads(
        value=value,
        tp=np.where(inside, labels.confusion.tp, 0).sum(axis=1),
        fp=np.where(inside, labels.confusion.fp, 0).sum(axis=1),
        signs=np.where(inside, labels.signs, NOT_IN_HEAD).astype(np.int8),
    )
