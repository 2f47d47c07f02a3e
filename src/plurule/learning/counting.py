"""Counting: what the candidate bodies of a rule cover.

The candidates of one attribute share one way of adding up, for each of them, any quantity that is given per instance.
All confusion matrices come from there. Counting decides nothing, and sums over parts of the rows add up to the sum
over all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurule.learning.binning import Ranks, midpoint
from plurule.learning.problem import Problem
from plurule.model import Attribute, Condition, LabelCondition, NominalCondition, NumericCondition
from plurule.prediction.decide import OPEN, Columns

Mask = NDArray[np.bool_]
Sums = NDArray[np.float64]


@dataclass
class State:
    """Where separate-and-conquer stands."""

    problem: Problem
    columns: Columns
    in_training: Mask
    """E: the instances still in the training set."""
    predicted: NDArray[np.int8]
    """What the rules so far predict for each pair of instance and label, or `OPEN`."""
    head_labels: Mask
    """The labels that occur in the head of an earlier rule."""
    set_aside: Mask
    """The labels that may not be in heads any more."""


class Candidates:
    """Candidate bodies that refine one body by one attribute: what each of them covers, and the condition it adds."""

    added = 1
    """How many conditions the candidates add to the body."""
    tested_label: int | None = None
    """The label that the condition tests, which must not be in the head."""

    def __init__(self, covered: Sequence[Mask], conditions: Sequence[Condition]):
        self.covered, self.conditions = covered, conditions

    def sums(self, per_instance: Sums) -> Sums:
        """One row per candidate: the given columns summed over the instances it covers."""
        found = [per_instance[covered].sum(axis=0) for covered in self.covered]
        return np.array(found).reshape(len(found), per_instance.shape[1])

    def condition(self, candidate: int) -> Condition | None:
        """The condition that the candidate adds to the body."""
        return self.conditions[candidate] if self.added else None


class Unrefined(Candidates):
    """The body as it is, as the only candidate."""

    added = 0

    def __init__(self, covered: Mask):
        super().__init__([covered], [])


class NumericCandidates(Candidates):
    """`a <= t` and `a > t` for every split point t, ascending, `<=` first."""

    def __init__(self, attribute: Attribute, index: int, ranks: Ranks, covered: Mask):
        rows = np.flatnonzero(covered & (ranks.codes >= 0))
        self.attribute, self.index = attribute, index
        self.rows = rows[np.argsort(ranks.codes[rows], kind="stable")]
        codes = ranks.codes[self.rows]
        self.last_below = np.flatnonzero(codes[1:] > codes[:-1])
        self.below = ranks.highest[codes[self.last_below]]
        self.above = ranks.lowest[codes[self.last_below + 1]] if len(codes) else self.below

    def sums(self, per_instance: Sums) -> Sums:
        running = np.cumsum(per_instance[self.rows], axis=0)
        at_most = running[self.last_below]
        both = np.empty((2 * len(at_most), per_instance.shape[1]))
        both[0::2] = at_most
        both[1::2] = running[-1:] - at_most
        return both

    def condition(self, candidate: int) -> Condition:
        split, is_above = divmod(candidate, 2)
        threshold = midpoint(float(self.below[split]), float(self.above[split]))
        return NumericCondition(self.attribute.name, self.index, ">" if is_above else "<=", threshold)


class NominalCandidates(Candidates):
    """`a = v` for every category v, in order."""

    def __init__(self, attribute: Attribute, index: int, codes: NDArray[np.int32], covered: Mask):
        categories = attribute.categories or ()
        conditions = [NominalCondition(attribute.name, index, category) for category in categories]
        super().__init__([covered & (codes == code) for code in range(len(categories))], conditions)


class LabelCandidates(Candidates):
    """`λ = 0` and `λ = 1`, tested on what the rules so far predict."""

    def __init__(self, name: str, index: int, predicted: NDArray[np.int8], covered: Mask):
        conditions = [LabelCondition(name, index, present) for present in (False, True)]
        super().__init__([covered & (predicted == condition.present) for condition in conditions], conditions)
        self.tested_label = index


class Confusion(NamedTuple):
    """Confusion matrices; arrays of candidates × labels (or of candidates)."""

    tp: Sums
    fp: Sums
    tn: Sums
    fn: Sums


@dataclass
class LabelWeights:
    """Per instance and label, the weight that goes into each count.

    `right` and `wrong` count where the instance is covered, `absent` and `present` (of all instances of E)
    where it is not.
    """

    right: Sums
    wrong: Sums
    absent: Sums
    present: Sums

    def confusion(self, candidates: Candidates) -> Confusion:
        """The confusion matrices of the candidates."""
        width = self.right.shape[1]
        blocks = np.hstack([self.right, self.wrong, self.absent, self.present])
        sums = candidates.sums(blocks)
        covered = [sums[:, i * width : (i + 1) * width] for i in range(4)]
        return Confusion(
            tp=covered[0],
            fp=covered[1],
            tn=self.absent.sum(axis=0) - covered[2],
            fn=self.present.sum(axis=0) - covered[3],
        )


def open_pairs(state: State) -> LabelWeights:
    """Every label predicted as present, counted on its open pairs; for absence swap right and wrong."""
    labels = np.arange(state.problem.n_labels)
    return fixed_head_pairs(state, labels, np.ones(len(labels), dtype=np.int8), whole=False)


def fixed_head_pairs(state: State, labels: NDArray[np.intp], values: NDArray[np.int8], whole: bool) -> LabelWeights:
    """The labels of a fixed head; with `whole` an instance with one open head label counts with all of them."""
    weight = np.where(state.in_training, state.problem.weights, 0.0)[:, None]
    truth = state.problem.Y[:, labels]
    counts = state.predicted[:, labels] == OPEN
    if whole:
        counts = np.repeat(counts.any(axis=1, keepdims=True), len(labels), axis=1)
    return LabelWeights(
        right=weight * (counts & (truth == values)),
        wrong=weight * (counts & (truth != values)),
        absent=weight * (truth == 0),
        present=weight * (truth == 1),
    )


def whole_instances(state: State, labels: NDArray[np.intp], values: NDArray[np.int8]) -> LabelWeights:
    """A head judged as a whole (one column): right if all of it is, quiet where uncovered if no label is present."""
    some_open = (state.predicted[:, labels] == OPEN).any(axis=1)
    weight = np.where(state.in_training & some_open, state.problem.weights, 0.0)[:, None]
    truth = state.problem.Y[:, labels]
    all_right = (truth == values).all(axis=1, keepdims=True)
    any_present = (truth == 1).any(axis=1, keepdims=True)
    return LabelWeights(
        right=weight * all_right,
        wrong=weight * ~all_right,
        absent=weight * ~any_present,
        present=weight * any_present,
    )


def refinements(
    state: State, ranks: dict[int, Ranks], covered: Mask, label_conditions: bool, first: bool = False
) -> Iterator[Candidates]:
    """Every way to add one condition to a body that covers these instances, in the order of candidates.

    The `first` condition of a body is on a required attribute, if some are required.
    """
    constraints = state.problem.constraints
    required = first and constraints is not None and constraints.requires_attribute
    for index, attribute in enumerate(state.problem.table.attributes):
        if constraints is not None and not constraints.allowed_attributes[index]:
            continue
        if constraints is not None and required and not constraints.required_attributes[index]:
            continue
        if attribute.is_nominal:
            yield NominalCandidates(attribute, index, state.columns[index], covered)
        else:
            yield NumericCandidates(attribute, index, ranks[index], covered)
    if label_conditions and not required:
        for label in np.flatnonzero(state.head_labels):
            name = state.problem.labels[label]
            yield LabelCandidates(name, int(label), state.predicted[:, label], covered)
