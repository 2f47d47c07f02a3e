"""Counting: what the candidate bodies of a rule cover.

The candidates of one attribute share one way of adding up, for each of them, any quantity that is given per instance.
All confusion matrices come from there. Counting decides nothing, and sums over parts of the rows add up to the sum
over all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from plurule.learning.binning import Ranks, midpoint
from plurule.learning.problem import Problem
from plurule.model import Assignment, Attribute, Condition, LabelCondition, OneOfCondition, RangeCondition, Rule
from plurule.prediction.apply import OPEN, ColumnCache, Pairs, count_undecided

Mask = NDArray[np.bool_]
Sums = NDArray[np.float64]


class Closed(NamedTuple):
    """Counts of the pairs that a rule decided."""

    decided: Pairs
    """Per label of the head: the weight of the pairs decided rightly, and wrongly."""
    coverage: float
    unfinished: float
    """The weight of the covered instances that still have something to predict."""


class Counting(ABC):
    """Training data as deciding sees them: it asks for counts, wherever the rows are and whoever adds them up.

    What a body covers is known to the data alone: `covered` is what `everything` or `restricted` gave.
    """

    problem: Problem
    """The training problem; its rows may be elsewhere."""
    head_labels: Mask
    """The labels that occur in the head of an earlier rule."""
    set_aside: Mask
    """The labels that may not be in heads any more."""

    @abstractmethod
    def with_set_aside(self, labels: Mask) -> Self:
        """The same data with other labels set aside."""

    @abstractmethod
    def everything(self) -> Any:
        """The instances that the empty body covers: those still in training."""

    @abstractmethod
    def restricted(self, covered: Any, condition: Condition) -> Any:
        """The covered instances that satisfy one more condition."""

    @abstractmethod
    def unrefined(self, covered: Any) -> Candidates:
        """A body as it is, as the only candidate."""

    @abstractmethod
    def refinements(self, covered: Any, label_conditions: bool) -> Iterator[Candidates]:
        """Every way to add one condition to a body, in the order of candidates."""

    @abstractmethod
    def coverage(self, candidates: Any) -> Sums:
        """The weight of the instances that each candidate covers."""

    @abstractmethod
    def open_pairs(self) -> Counted:
        """Every label predicted as present, counted on its open pairs; for absence swap right and wrong."""

    @abstractmethod
    def head_pairs(self, labels: NDArray[np.intp], values: NDArray[np.int8], whole: bool) -> Counted:
        """The labels of a fixed head; with `whole` an instance with one open head label counts with all of them."""

    @abstractmethod
    def whole_instances(self, labels: NDArray[np.intp], values: NDArray[np.int8]) -> Counted:
        """A head judged as a whole, as one column: right if all of it is; absent where no label of it is present."""

    @abstractmethod
    def close(self, covered: Any, head: Sequence[Assignment], predict_absence: bool) -> Closed:
        """Write down what a rule predicts."""

    @abstractmethod
    def remove(self, covered: Any) -> None:
        """Take the instances that were closed last out of training."""

    def note(self, rule: Rule) -> None:  # noqa: B027  # most data need not know
        """Told of every rule, once it is learned."""

    @abstractmethod
    def left(self) -> float:
        """The share of the instances that is still in training."""

    @abstractmethod
    def decided(self) -> float:
        """The share of the pairs of instance and label that is decided."""

    @abstractmethod
    def undecided(self) -> Pairs:
        """Per label: the weight of the absent and of the present pairs that no rule decided."""


@dataclass
class State(Counting):
    """State of separate-and-conquer with all rows in memory."""

    problem: Problem
    columns: ColumnCache
    in_training: Mask
    """E: the instances still in the training set."""
    predicted: NDArray[np.int8]
    """Predictions of the rules so far for each pair of instance and label, or `OPEN`."""
    head_labels: Mask
    set_aside: Mask
    ranks: dict[int, Ranks] = field(default_factory=dict)
    """Ranks of the numeric attributes."""

    def with_set_aside(self, labels: Mask) -> Self:
        return replace(self, set_aside=labels)

    def everything(self) -> Mask:
        return self.in_training

    def restricted(self, covered: Mask, condition: Condition) -> Mask:
        return covered & self.columns.mask(condition, self.predicted)

    def unrefined(self, covered: Mask) -> Candidates:
        return Unrefined(covered)

    def refinements(self, covered: Mask, label_conditions: bool) -> Iterator[Candidates]:
        return refinements(self, self.ranks, covered, label_conditions)

    def coverage(self, candidates: Candidates) -> Sums:
        return candidates.sums(self.problem.weights[:, None])[:, 0]

    def open_pairs(self) -> LabelWeights:
        labels = np.arange(self.problem.n_labels)
        return self.head_pairs(labels, np.ones(len(labels), dtype=np.int8), whole=False)

    def head_pairs(self, labels: NDArray[np.intp], values: NDArray[np.int8], whole: bool) -> LabelWeights:
        weight = np.where(self.in_training, self.problem.weights, 0.0)[:, None]
        truth = self.problem.Y[:, labels]
        counts = self.predicted[:, labels] == OPEN
        if whole:
            counts = np.repeat(counts.any(axis=1, keepdims=True), len(labels), axis=1)
        return LabelWeights(
            right=weight * (counts & (truth == values)),
            wrong=weight * (counts & (truth != values)),
            absent=weight * (truth == 0),
            present=weight * (truth == 1),
        )

    def whole_instances(self, labels: NDArray[np.intp], values: NDArray[np.int8]) -> LabelWeights:
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

    def close(self, covered: Mask, head: Sequence[Assignment], predict_absence: bool) -> Closed:
        weights, decided = self.problem.weights, []
        for assignment in head:
            newly = covered & (self.predicted[:, assignment.index] == OPEN)
            self.predicted[newly, assignment.index] = assignment.present
            self.head_labels[assignment.index] = True
            right = newly & (self.problem.Y[:, assignment.index] == assignment.present)
            decided.append((float(weights[right].sum()), float(weights[newly & ~right].sum())))
        still_open = self.predicted == OPEN
        if not predict_absence:
            still_open &= self.problem.Y == 1
        unfinished = covered & still_open.any(axis=1)
        return Closed(tuple(decided), float(weights[covered].sum()), float(weights[unfinished].sum()))

    def remove(self, covered: Mask) -> None:
        self.in_training &= ~covered

    def left(self) -> float:
        # Shares, not products: 29/100 is 0.29 in floating point too, 0.29 * 100 is not 29.
        return float(self.problem.weights[self.in_training].sum() / self.problem.weights.sum())

    def decided(self) -> float:
        return float((self.predicted != OPEN).mean())

    def undecided(self) -> Pairs:
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
        above, at_most = (threshold, None) if is_above else (None, threshold)
        return RangeCondition(self.attribute.name, self.index, above, at_most, is_date=self.attribute.is_date)


class NominalCandidates(Candidates):
    """`a = v` for every category v, in order."""

    def __init__(self, attribute: Attribute, index: int, codes: NDArray[np.int32], covered: Mask):
        categories = attribute.categories or ()
        binary = attribute.is_binary
        conditions = [OneOfCondition(attribute.name, index, (c,), is_binary=binary) for c in categories]
        super().__init__([covered & (codes == code) for code in range(len(categories))], conditions)


class LabelCandidates(Candidates):
    """`λ = 0` and `λ = 1`, tested on what the rules so far predict."""

    def __init__(self, name: str, index: int, predicted: NDArray[np.int8], covered: Mask):
        conditions = [LabelCondition(name, index, present) for present in (False, True)]
        super().__init__([covered & (predicted == condition.present) for condition in conditions], conditions)
        self.tested = np.full(len(conditions), index)


class Confusion(NamedTuple):
    """Confusion matrices; arrays of candidates × labels (or of candidates)."""

    tp: Sums
    fp: Sums
    tn: Sums
    fn: Sums


class Counted(Protocol):
    """Counts of some labels, for whichever candidates are asked for."""

    def confusion(self, candidates: Any) -> Confusion:
        """The confusion matrices of the candidates."""


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


def refinements(state: State, ranks: dict[int, Ranks], covered: Mask, label_conditions: bool) -> Iterator[Candidates]:
    """Every way to add one condition to a body that covers these instances, in the order of candidates."""
    constraints = state.problem.constraints
    for index, attribute in enumerate(state.problem.table.attributes):
        if constraints is not None and not constraints.allowed_attributes[index]:
            continue
        if attribute.is_nominal:
            yield NominalCandidates(attribute, index, state.columns[index], covered)
        else:
            yield NumericCandidates(attribute, index, ranks[index], covered)
    if label_conditions:
        for label in np.flatnonzero(state.head_labels):
            name = state.problem.labels[label]
            yield LabelCandidates(name, int(label), state.predicted[:, label], covered)
