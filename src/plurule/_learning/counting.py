"""Counting: what the candidate bodies of a rule cover.

The candidates of one attribute share one way of adding up, for each of them, any quantity that is given per row. All
confusion matrices come from there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurule._learning.problem import Problem
from plurule._prediction.apply import OPEN, ColumnCache, Pairs, count_undecided
from plurule.model import Assignment, Attribute, Condition, LabelCondition, OneOfCondition, RangeCondition

Mask = NDArray[np.bool_]
Sums = NDArray[np.float64]


@dataclass
class State:
    """State of separate-and-conquer: what rules so far predict, and the rows that are still in training.

    `covered` are the rows that a body covers, bool[rows]; sums over them are float64[candidates, columns].
    """

    # rows × labels: predicted (int8). Per row: in_training. Per label: head_labels, set_aside. Rules change predicted,
    # in_training and head_labels in place.
    problem: Problem
    columns: ColumnCache
    in_training: Mask
    """E: the instances still in the training set."""
    predicted: NDArray[np.int8]
    """Predictions of the rules so far for each pair of instance and label, or `OPEN`."""
    head_labels: Mask
    """The labels that occur in the head of an earlier rule."""
    set_aside: Mask
    """The labels that may not be in heads any more."""
    ranks: dict[int, Ranks] = field(default_factory=dict)
    """Ranks of the numeric attributes."""

    def with_set_aside(self, labels: Mask) -> State:
        """Return the same state with other labels set aside."""
        return replace(self, set_aside=labels)

    def restricted(self, covered: Mask, condition: Condition) -> Mask:
        """Return the covered rows that satisfy one more condition."""
        return covered & self.columns.mask(condition, self.predicted)

    def unrefined(self, covered: Mask) -> Candidates:
        """Return a body as it is, as the only candidate."""
        return Unrefined(covered)

    def refinements(self, covered: Mask, label_conditions: bool) -> Iterator[Candidates]:
        """Return every way to add one condition to a body, in the order of candidates."""
        return refinements(self, self.ranks, covered, label_conditions)

    def coverage(self, candidates: Candidates) -> Sums:
        """Return the weight of the rows that each candidate covers."""
        return candidates.sums(self.problem.weights[:, None])[:, 0]

    def open_pairs(self) -> LabelWeights:
        """Return every label predicted as present, counted on its open pairs; for absence swap right and wrong."""
        labels = np.arange(self.problem.n_labels)
        return self.head_pairs(labels, np.ones(len(labels), dtype=np.int8), whole=False)

    def head_pairs(self, labels: NDArray[np.intp], values: NDArray[np.int8], whole: bool) -> LabelWeights:
        """Return the labels of a fixed head; with `whole` a row with one open head label counts with all of them."""
        # float64[rows, 1], 0 for rows that have left training: so sums over covered rows need no other mask.
        weight = np.where(self.in_training, self.problem.weights, 0.0)[:, None]
        truth = self.problem.Y[:, labels]
        counts = self.predicted[:, labels] == OPEN
        if whole:
            counts = np.repeat(counts.any(axis=1, keepdims=True), len(labels), axis=1)
        # Each float64[rows, labels]. A decided pair is neither right nor wrong (unless `whole` counts it), but is among
        # the absent or present ones, which count outside of the body.
        return LabelWeights(
            right=weight * (counts & (truth == values)),
            wrong=weight * (counts & (truth != values)),
            absent=weight * (truth == 0),
            present=weight * (truth == 1),
        )

    def whole_instances(self, labels: NDArray[np.intp], values: NDArray[np.int8]) -> LabelWeights:
        """Return a head judged as a whole, as one column: right if all of it is; absent where no label is present."""
        some_open = (self.predicted[:, labels] == OPEN).any(axis=1)
        weight = np.where(self.in_training & some_open, self.problem.weights, 0.0)[:, None]
        truth = self.problem.Y[:, labels]
        all_right = (truth == values).all(axis=1, keepdims=True)
        any_present = (truth == 1).any(axis=1, keepdims=True)
        return LabelWeights(
            right=weight * all_right,
            wrong=weight * ~all_right,
            absent=weight * ~any_present,
            present=weight * any_present,
        )

    def close(self, covered: Mask, head: Sequence[Assignment], predict_absence: bool) -> tuple[Pairs, float, float]:
        """Write down what a rule predicts.

        Return the weights of the pairs that it decides rightly and wrongly, by label of the head; of the rows that it
        covers; and of those among them that still have something to predict.
        """
        weights, decided = self.problem.weights, []
        for assignment in head:
            newly = covered & (self.predicted[:, assignment.index] == OPEN)
            self.predicted[newly, assignment.index] = assignment.present
            self.head_labels[assignment.index] = True
            right = newly & (self.problem.Y[:, assignment.index] == assignment.present)
            decided.append((float(weights[right].sum()), float(weights[newly & ~right].sum())))
        still_open = self.predicted == OPEN
        if not predict_absence:
            # Rules predict presence only: what is open and absent needs no rule.
            still_open &= self.problem.Y == 1
        unfinished = covered & still_open.any(axis=1)
        return tuple(decided), float(weights[covered].sum()), float(weights[unfinished].sum())

    def remove(self, covered: Mask) -> None:
        """Take rows out of training."""
        self.in_training &= ~covered

    def left(self) -> float:
        """Return the share of the rows that is still in training."""
        # Shares, not products: 29/100 is 0.29 in floating point too, 0.29 * 100 is not 29.
        return float(self.problem.weights[self.in_training].sum() / self.problem.weights.sum())

    def decided(self) -> float:
        """Return the share of the pairs of row and label that is decided."""
        return float((self.predicted != OPEN).mean())

    def undecided(self) -> Pairs:
        """Return, per label, the weight of the absent and of the present pairs that no rule decided."""
        return count_undecided(self.predicted, self.problem.Y, self.problem.weights)


class Candidates:
    """Candidate bodies that refine one body by one attribute: what each of them covers, and the condition it adds."""

    added = 1
    """How many conditions the candidates add to the body."""
    tested: NDArray[np.intp] | None = None
    """Per candidate, the label that its condition tests, if conditions test labels: it must not be in the head."""

    def __init__(self, covered: Sequence[Mask], conditions: Sequence[Condition]):
        self.covered, self.conditions = covered, conditions

    def sums(self, per_instance: Sums) -> Sums:
        """One row per candidate: the given columns summed over the instances it covers."""
        # float64[candidates, columns]. The order of adding does not matter: sums of weights are exact.
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

    # Values of the covered rows, sorted, and what `sums` makes of rows that weigh 1:
    #
    #     value       1    2  2    5         split points 1.5 and 3.5: last_below = [0, 2]
    #     running     1    2  3    4         sums up to each row; the last one is the total
    #     candidate   0: <= 1.5   1: > 1.5   2: <= 3.5   3: > 3.5
    #     sums        1           3          3           1
    #
    # Row 2i of the sums is `<=` at split point i: the running sum there. Row 2i + 1 is `>`: the total less that. Rows
    # with a missing value are left out of both, and of the total.
    def __init__(self, attribute: Attribute, index: int, ranks: Ranks, covered: Mask):
        rows = np.flatnonzero(covered & (ranks.codes >= 0))
        self.attribute, self.index = attribute, index
        self.rows = rows[np.argsort(ranks.codes[rows], kind="stable")]
        codes = ranks.codes[self.rows]
        # Positions in `rows` after which the rank rises: below and above are the values on either side.
        self.last_below = np.flatnonzero(codes[1:] > codes[:-1])
        self.below = ranks.highest[codes[self.last_below]]
        self.above = ranks.lowest[codes[self.last_below + 1]] if len(codes) else self.below

    def sums(self, per_instance: Sums) -> Sums:
        running = np.cumsum(per_instance[self.rows], axis=0)
        at_most = running[self.last_below]
        both = np.empty((2 * len(at_most), per_instance.shape[1]))
        both[0::2] = at_most
        # Exact, since weights are: no need to add up from the other end.
        both[1::2] = running[-1:] - at_most
        return both

    def condition(self, candidate: int) -> Condition:
        # The row of `sums`: even is `<=`, odd is `>`.
        split, is_above = divmod(candidate, 2)
        threshold = midpoint(float(self.below[split]), float(self.above[split]))
        above, at_most = (threshold, None) if is_above else (None, threshold)
        return RangeCondition(self.attribute.name, self.index, above, at_most, is_date=self.attribute.is_date)


class NominalCandidates(Candidates):
    """`a = v` for every category v, in order."""

    def __init__(self, attribute: Attribute, index: int, codes: NDArray[np.int32], covered: Mask):
        categories = attribute.categories or ()
        binary = attribute.is_binary
        conditions = [OneOfCondition(attribute.name, index, (c,), is_binary=binary) for c in categories]
        # Codes are int32, -1 where missing: no category has these rows.
        super().__init__([covered & (codes == code) for code in range(len(categories))], conditions)


class LabelCandidates(Candidates):
    """`λ = 0` and `λ = 1`, tested on what the rules so far predict."""

    def __init__(self, name: str, index: int, predicted: NDArray[np.int8], covered: Mask):
        conditions = [LabelCondition(name, index, present) for present in (False, True)]
        # Open pairs (-1) satisfy neither.
        super().__init__([covered & (predicted == condition.present) for condition in conditions], conditions)
        self.tested = np.full(len(conditions), index)


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

    # Each float64[rows, labels of the head].
    right: Sums
    wrong: Sums
    absent: Sums
    present: Sums

    def confusion(self, candidates: Candidates) -> Confusion:
        """The confusion matrices of the candidates."""
        width = self.right.shape[1]
        # rows × 4·labels: side by side, so that candidates sum all of them in one go.
        blocks = np.hstack([self.right, self.wrong, self.absent, self.present])
        sums = candidates.sums(blocks)
        covered = [sums[:, i * width : (i + 1) * width] for i in range(4)]
        # TN and FN are pairs outside of the body: the total less what it covers.
        return Confusion(
            tp=covered[0],
            fp=covered[1],
            tn=self.absent.sum(axis=0) - covered[2],
            fn=self.present.sum(axis=0) - covered[3],
        )


def refinements(state: State, ranks: dict[int, Ranks], covered: Mask, label_conditions: bool) -> Iterator[Candidates]:
    """Every way to add one condition to a body that covers these instances, in the order of candidates."""
    # The order is part of the definition: of candidates that tie in all else, the first wins. Attributes as in the
    # table, split points and categories ascending, then labels.
    constraints = state.problem.constraints
    for index, attribute in enumerate(state.problem.table.attributes):
        if constraints is not None and not constraints.allowed_attributes[index]:
            continue
        if attribute.is_nominal:
            yield NominalCandidates(attribute, index, state.columns[index], covered)
        else:
            yield NumericCandidates(attribute, index, ranks[index], covered)
    if label_conditions:
        # Only labels that some rule predicts: others are open everywhere.
        for label in np.flatnonzero(state.head_labels):
            name = state.problem.labels[label]
            yield LabelCandidates(name, int(label), state.predicted[:, label], covered)


# Ranks ---------------------------------------------------------------------------------------------------------------
#
# A numeric column is read as ranks: equal values have equal rank, and with `max_bins` neighbouring values share one.
# Each rank knows the lowest and highest value it stands for; a split point lies halfway between the highest value of
# one rank and the lowest of another. Exact splits are the case of one value per rank.


@dataclass(frozen=True, slots=True)
class Ranks:
    """Rank of every row (-1 where missing), and the values at the ends of each rank."""

    # codes has one value per row; lowest and highest have one per rank, and are the same without bins.
    codes: NDArray[np.int32]
    lowest: NDArray[np.float64]
    highest: NDArray[np.float64]


def rank(values: NDArray[Any], max_bins: int | None = None, weights: NDArray[np.float64] | None = None) -> Ranks:
    """Ranks of a numeric column, at most `max_bins` of them, holding about equally many instances each.

    >>> rank(np.array([3.0, 1.0, np.nan, 3.0])).codes
    array([ 1,  0, -1,  1], dtype=int32)
    >>> rank(np.arange(6.0), max_bins=3).codes
    array([0, 0, 1, 1, 2, 2], dtype=int32)
    """
    known = ~np.isnan(values)
    distinct, inverse = np.unique(values[known], return_inverse=True)
    lowest = highest = distinct.astype(np.float64)
    if max_bins is not None and len(distinct) > max_bins:
        # A value goes to the bin floor(max_bins · share of the weight below it). Values are never divided: a frequent
        # one may fill several bins, whose numbers are then left out.
        held = np.bincount(inverse, weights=None if weights is None else weights[known])
        before = np.concatenate(([0.0], np.cumsum(held)[:-1]))
        bins = np.floor(before * max_bins / held.sum()).astype(np.intp)
        # Numbers without gaps; `first` is the lowest value of each bin.
        _, first, bins = np.unique(bins, return_index=True, return_inverse=True)
        last = np.append(first[1:], len(distinct)) - 1
        lowest, highest = lowest[first], highest[last]
        inverse = bins[inverse]
    codes = np.full(len(values), -1, dtype=np.int32)
    codes[known] = inverse
    return Ranks(codes, lowest, highest)


def midpoint(below: float, above: float) -> float:
    """A threshold t with below ≤ t < above, halfway for any finite doubles.

    >>> midpoint(4.0, 5.0), midpoint(-1.7e308, 1.7e308)
    (4.5, 0.0)
    >>> midpoint(1.0, float(np.nextafter(1.0, 2.0)))
    1.0
    """
    middle = (below + above) / 2
    # The sum of two large numbers overflows; halves do not.
    if math.isinf(middle):
        middle = below / 2 + above / 2
    # Between neighbouring doubles there is no other: rounding must not give `above`.
    return middle if below <= middle < above else below
