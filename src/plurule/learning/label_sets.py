"""Head searches where some labels must, or must not, go together.

What enters a head as one is a *unit*: the labels that must go together, or any other label by itself. The searches are
those of `head_search` with units in place of labels: a unit has the value of the head that it is, and a head is as long
as it has labels. A unit that must not go with one that was taken before it is passed over.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from plurule.learning.constraints import ResolvedConstraints
from plurule.learning.counting import Candidates, Confusion, State
from plurule.learning.head_search import (
    Evaluate,
    Heads,
    SingleLabelHeads,
    Unit,
    Values,
    anti_monotone,
    best_first,
    clash,
    evaluation,
    exhaustive,
    floor_of_ties,
    highest_lift_left,
    prefix_heads,
    prefix_values,
    single_label_heads,
    worth_something,
)
from plurule.learning.problem import Options


def find_heads(
    state: State,
    candidates: Candidates,
    confusion: Confusion,
    excluded: list[int],
    options: Options,
    constraints: ResolvedConstraints,
) -> Heads:
    """The best allowed head of every candidate, by the head search of the options; see `head_search.find_heads`."""
    evaluate = evaluation(state, candidates, confusion, options)
    units = units_beside(constraints, excluded)
    units = [unit for unit in units if not state.set_aside[list(unit)].any()]
    if options.head_search in ("anti_monotone", "exhaustive"):
        search = anti_monotone if options.head_search == "anti_monotone" else exhaustive
        heads = search(evaluate, confusion, units, constraints.apart, options)
    else:
        heads = from_single_units(evaluate, confusion, units, constraints, options)
    heads.value[~options.min_precision.reached(heads.tp, heads.fp)] = -np.inf
    return heads


def units_beside(constraints: ResolvedConstraints, tested: list[int]) -> list[Unit]:
    """The units that may be in the head of a rule that tests these labels."""
    barred = set(tested) | {int(other) for label in tested for other in np.flatnonzero(constraints.apart[label])}
    return [unit for unit in constraints.units() if barred.isdisjoint(unit)]


def from_single_units(
    evaluate: Evaluate, confusion: Confusion, units: list[Unit], constraints: ResolvedConstraints, options: Options
) -> Heads:
    """The searches that sort units by value, best first: single, decomposable, relaxed."""
    labels = signed_labels(evaluate, confusion, units, options)
    value, tp = unit_values(evaluate, labels, units, options)
    order = best_first(value, tp) if units else np.zeros((len(value), 0), dtype=np.intp)
    row = sequences(order, value, units, labels, constraints, options)
    if options.head_search == "single":
        first = [value[c, order[c, 0]] if row.length[c] else -np.inf for c in range(len(value))]
        return prefix_heads(row.labels, row.length, np.array(first))
    plain = prefix_values(row.labels, options)
    if options.head_search == "decomposable":
        reached = plain[np.arange(len(plain)), np.maximum(row.length, 1) - 1]
        return prefix_heads(row.labels, row.length, np.where(row.length > 0, reached, -np.inf))
    return relaxed(row, plain, options)


def signed_labels(evaluate: Evaluate, confusion: Confusion, units: list[Unit], options: Options) -> SingleLabelHeads:
    """The sign of every label, as by itself; one without true positives is predicted as present beside its like."""
    allowed = np.zeros(confusion.tp.shape[1], dtype=bool)
    allowed[[label for unit in units for label in unit]] = True
    labels = single_label_heads(evaluate, confusion, allowed, options)
    for label in (label for unit in units if len(unit) > 1 for label in unit):
        present, tp, fp = evaluate((label,), (1,))
        stays = ~np.isfinite(labels.h[:, label]) & (
            options.min_precision.reached(tp, fp) | (options.min_precision.of != "label")
        )
        labels.h[stays, label] = present[stays]
    return labels


def unit_values(
    evaluate: Evaluate, labels: SingleLabelHeads, units: list[Unit], options: Options
) -> tuple[Values, Values]:
    """Value and true positives of the units (candidates × units); -inf where a unit may not be in the head.

    As a whole it must have a true positive; where that is asked of labels, every label must be precise enough.
    """
    value = np.full((len(labels.h), len(units)), -np.inf)
    right = np.zeros(value.shape)
    for i, unit in enumerate(units):
        columns = list(unit)
        for signs in np.unique(labels.signs[:, columns], axis=0):
            here = (labels.signs[:, columns] == signs).all(axis=1)
            h, tp, _ = evaluate(unit, tuple(int(sign) for sign in signs))
            value[here, i], right[here, i] = h[here], tp[here]
        usable = (right[:, i] > 0) & np.isfinite(labels.h[:, columns]).all(axis=1)
        usable &= np.isfinite(value[:, i]) & worth_something(value[:, i], options)
        value[~usable, i] = -np.inf
    return value, right


@dataclass
class Sequences:
    """Per candidate, the labels in the order in which they are taken."""

    labels: SingleLabelHeads
    """The labels with that order; what is not taken is at its end."""
    length: NDArray[np.intp]
    """Per candidate, how many labels are taken."""
    ends: NDArray[np.bool_]
    """Per candidate and place: whether a unit is complete there."""


def sequences(
    order: NDArray[np.intp],
    value: Values,
    units: list[Unit],
    labels: SingleLabelHeads,
    constraints: ResolvedConstraints,
    options: Options,
) -> Sequences:
    """Units one by one, best first, without those that clash with one before."""
    taken_order = np.empty(labels.h.shape, dtype=np.intp)
    length = np.zeros(len(labels.h), dtype=np.intp)
    ends = np.zeros(labels.h.shape, dtype=bool)
    lowest = floor_of_ties(value.max(axis=1, initial=-np.inf))
    for c in range(len(labels.h)):
        taken: Unit = ()
        for i in order[c]:
            usable = np.isfinite(value[c, i]) and (options.head_search != "decomposable" or value[c, i] >= lowest[c])
            if not usable or (options.head_search == "single" and taken):
                break
            if not clash(constraints.apart, (*taken, *units[i])):
                taken = (*taken, *units[i])
                ends[c, len(taken) - 1] = True
        length[c] = len(taken)
        taken_order[c] = [*taken, *(label for label in range(labels.h.shape[1]) if label not in taken)]
    return Sequences(replace(labels, order=taken_order), length, ends)


def relaxed(row: Sequences, plain: Values, options: Options) -> Heads:
    """Grow the head unit by unit; keep the best lifted value, the longer head on a tie."""
    highest_left = highest_lift_left(options.lift)
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
    value = np.where(length > 0, reached[np.arange(len(plain)), np.maximum(length, 1) - 1], -np.inf)
    return prefix_heads(row.labels, length, value)
