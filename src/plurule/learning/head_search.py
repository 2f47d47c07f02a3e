"""Head searches: the best head for each of many candidate bodies.

Every search gets the confusion matrices of all labels for all candidates (arrays candidates × labels) and returns one
head per candidate. Most take units one by one, best first; `label_sets` has those that look at many sets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from plurule.learning.counting import Candidates, Confusion, Counting
from plurule.learning.label_sets import (
    NOT_IN_HEAD,
    Evaluate,
    Heads,
    Mask,
    Units,
    Values,
    anti_monotone,
    evaluation,
    exhaustive,
    floor_of_ties,
    precise_label,
    units_of,
    worth_something,
)
from plurule.learning.problem import Options


def find_heads(
    state: Counting,
    candidates: Candidates,
    confusion: Confusion,
    options: Options,
    barred: Mask | None = None,
) -> Heads:
    """The best head of every candidate, by the head search of the options.

    `confusion` counts every label as predicted present, on open pairs; `barred` says per candidate, label and sign
    what the body does not allow.
    """
    evaluate = evaluation(state, candidates, confusion, options)
    searches = {"anti_monotone": anti_monotone, "exhaustive": exhaustive}
    search = searches.get(options.head_search, best_first_search)
    parts = units_of(state, barred, options.predict_absence)
    heads = search(evaluate, confusion, parts, options)
    heads.value[~options.min_precision.reached(heads.tp, heads.fp)] = -np.inf
    return heads


def best_first_search(evaluate: Evaluate, confusion: Confusion, parts: Units, options: Options) -> Heads:
    """Units one by one, best first, without those that clash with one before.

    *single* takes one, *decomposable* all that reach the best value, *relaxed* as many as give the best lifted value.
    """
    labels = labels_alone(evaluate, confusion, parts, options)
    if not parts.units:
        return prefix_heads(labels, np.zeros(len(labels.h), dtype=np.intp), np.full(len(labels.h), -np.inf))
    value, tp = unit_values(evaluate, labels, parts, options)
    order = best_first(value, tp)
    row = take_in_order(order, value, parts, labels, options)
    if options.head_search == "single":
        first = value[np.arange(len(value)), order[:, 0]]
        return prefix_heads(row.labels, row.length, first)
    plain = prefix_values(row.labels, options)
    if options.head_search == "decomposable":
        return prefix_heads(row.labels, row.length, last_of_prefix(plain, row.length))
    return relaxed(row, plain, options)


# Labels and units by themselves ----------------------------------------------------------------------------


@dataclass
class LabelsAlone:
    """The better sign of each label as a head of its own (candidates × labels), and an order to take labels in."""

    h: Values
    """-inf where the label cannot be in the head."""
    confusion: Confusion
    signs: NDArray[np.int8]
    order: NDArray[np.intp]


def labels_alone(evaluate: Evaluate, confusion: Confusion, parts: Units, options: Options) -> LabelsAlone:
    """Per label the better of present and absent (present on a tie), if it may be in a head.

    A label of a unit of several that may not be in a head by itself is predicted as present beside the others, if it
    is precise enough.
    """
    h: Values = np.full(confusion.tp.shape, -np.inf)
    signs = np.ones(confusion.tp.shape, dtype=np.int8)
    chosen = Confusion(*(counts.copy() for counts in confusion))
    for unit in parts.units:
        for label in unit:
            present, tp, fp = evaluate((label,), (1,))
            h[:, label] = np.where(may_be_head(present, tp, fp, options) & parts.allows(label, 1), present, -np.inf)
            if options.predict_absence:
                absent, right, wrong = evaluate((label,), (0,))
                may_be = may_be_head(absent, right, wrong, options) & parts.allows(label, 0)
                absent = np.where(may_be, absent, -np.inf)
                better = floor_of_ties(absent) > h[:, label]
                h[better, label], signs[better, label] = absent[better], 0
                chosen.tp[better, label], chosen.fp[better, label] = right[better], wrong[better]
            if len(unit) > 1:
                joins = ~np.isfinite(h[:, label]) & precise_label(tp, fp, options) & parts.allows(label, 1)
                h[joins, label] = present[joins]
    in_label_order = np.broadcast_to(np.arange(h.shape[1]), h.shape)
    return LabelsAlone(h, chosen, signs, in_label_order)


def may_be_head(h: Values, tp: Values, fp: Values, options: Options) -> Mask:
    """Whether an assignment has a true positive, adds something, and is precise enough."""
    return (tp > 0) & worth_something(h, options) & precise_label(tp, fp, options)


def unit_values(evaluate: Evaluate, labels: LabelsAlone, parts: Units, options: Options) -> tuple[Values, Values]:
    """Value and true positives of the units (candidates × units); -inf where a unit may not be in the head.

    As a whole it must have a true positive and add something; each of its labels must be precise enough.
    """
    value = np.full((len(labels.h), len(parts.units)), -np.inf)
    right = np.zeros(value.shape)
    for i, unit in enumerate(parts.units):
        columns = list(unit)
        if len(columns) == 1:
            value[:, i], right[:, i] = labels.h[:, columns[0]], labels.confusion.tp[:, columns[0]]
            continue
        for signs in np.unique(labels.signs[:, columns], axis=0):
            here = (labels.signs[:, columns] == signs).all(axis=1)
            h, tp, _ = evaluate(unit, tuple(int(sign) for sign in signs))
            value[here, i], right[here, i] = h[here], tp[here]
        may_be = (right[:, i] > 0) & np.isfinite(labels.h[:, columns]).all(axis=1)
        value[~(may_be & np.isfinite(value[:, i]) & worth_something(value[:, i], options)), i] = -np.inf
    return value, right


def best_first(h: Values, tp: Values) -> NDArray[np.intp]:
    """Per row, the units by value, then true positives, then the order of their first labels.

    Values equal within the tolerance form one group, led by the highest of them.
    """
    rows = np.arange(len(h))
    by_value = np.argsort(-h, axis=1, kind="stable")
    group = np.zeros(h.shape)
    current = np.zeros(len(h))
    leader = h[rows, by_value[:, 0]]
    for unit in by_value.T[1:]:
        value = h[rows, unit]
        behind = value < floor_of_ties(leader)
        current = current + behind
        leader = np.where(behind, value, leader)
        group[rows, unit] = current
    units = np.broadcast_to(np.arange(h.shape[1]), h.shape)
    return np.lexsort((units, -tp, group), axis=1)


# One after the other ---------------------------------------------------------------------------------------


@dataclass
class Row:
    """Per candidate, the labels in the order in which they are taken."""

    labels: LabelsAlone
    """The labels with that order; what is not taken is at its end."""
    length: NDArray[np.intp]
    """Per candidate, how many labels are taken."""
    ends: Mask
    """Per candidate and place: whether a unit is complete there."""


def take_in_order(order: NDArray[np.intp], value: Values, parts: Units, labels: LabelsAlone, options: Options) -> Row:
    """The units that are taken: all that may be in the head, but for those that clash with one taken before."""
    rows, n_units = np.arange(len(value)), len(parts.units)
    may_be = np.isfinite(value)
    if options.head_search == "decomposable":
        may_be &= value >= floor_of_ties(value.max(axis=1))[:, None]
    holds = np.zeros((n_units, labels.h.shape[1]), dtype=bool)
    for i, labels_of_unit in enumerate(parts.units):
        holds[i, labels_of_unit] = True
    clashes = None if parts.apart is None else holds @ parts.apart @ holds.T
    # Not taken is taken last, after all others.
    place_of_unit = np.full(value.shape, n_units)
    for place in range(1 if options.head_search == "single" else n_units):
        unit = order[:, place]
        takes = may_be[rows, unit]
        if clashes is not None:
            takes &= ~(clashes[unit] & (place_of_unit < n_units)).any(axis=1)
        place_of_unit[rows[takes], unit[takes]] = place
    place_of = np.where(holds.any(axis=0), place_of_unit[:, holds.argmax(axis=0)], n_units)
    by_place = np.argsort(place_of, axis=1, kind="stable")
    places = np.take_along_axis(place_of, by_place, axis=1)
    is_taken = places < n_units
    ends = is_taken & np.append(places[:, :-1] != places[:, 1:], np.ones((len(value), 1), dtype=bool), axis=1)
    return Row(replace(labels, order=by_place), is_taken.sum(axis=1), ends)


def relaxed(row: Row, plain: Values, options: Options) -> Heads:
    """Grow the head unit by unit, best first; keep the best lifted value, the longer head on a tie."""
    # The highest lift of any longer head, per length.
    highest_left = np.append(np.maximum.accumulate(options.lift[::-1])[::-1][1:], -np.inf)
    best = np.full(len(plain), -np.inf)
    reached = np.full(plain.shape, -np.inf)
    searching = np.ones(len(plain), dtype=bool)
    for k in range(plain.shape[1]):
        here = searching & row.ends[:, k]
        reached[here, k] = plain[here, k] * options.lift[k]
        best = np.maximum(best, reached[:, k])
        with np.errstate(invalid="ignore"):
            searching &= ~(here & (plain[:, k] * highest_left[k] < floor_of_ties(best)))
    length = np.zeros(len(plain), dtype=np.intp)
    for k in range(plain.shape[1]):
        length[np.isfinite(reached[:, k]) & (reached[:, k] >= floor_of_ties(best))] = k + 1
    return prefix_heads(row.labels, length, last_of_prefix(reached, length))


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
