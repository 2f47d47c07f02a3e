"""The counts of all blocks, summed, as learning asks for them.

Learning decides here, once, on sums. The counts of bodies of one condition are kept from rule to rule: after each rule,
the blocks send what it took away. So a rule costs a few tables of its own labels, not one of all labels.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from plurule.data.table import Column, SparseColumn
from plurule.distributed.block import UNDECIDED, Block, Body, CodedRule, LearningState, Test, code_type
from plurule.distributed.pieces import Blocks
from plurule.learning.binning import midpoint
from plurule.learning.counting import Candidates, Closed, Confusion, Counted, Counting, Mask, Sums
from plurule.learning.problem import Problem
from plurule.model import (
    Assignment,
    Condition,
    LabelCondition,
    OneOfCondition,
    RangeCondition,
    Rule,
)
from plurule.prediction.apply import Pairs

NOTHING = np.zeros(0)


@dataclass(frozen=True)
class Values:
    """The codes of an attribute: ends of ranks of a numeric one, or the number of categories."""

    lowest: NDArray[np.float64]
    highest: NDArray[np.float64]
    n_values: int
    fraction: float = np.nan
    """A value of the attribute that is not a whole number, if there is one."""

    def test(self, condition: RangeCondition) -> Test:
        """The codes of the blocks that satisfy a condition on this attribute.

        Among the rows that a rule covers, no rank lies on both sides of its threshold.
        """
        limit = int(np.searchsorted(self.highest, condition.threshold, side="right"))
        low, high = (0, limit - 1) if condition.above is None else (limit, self.n_values - 1)
        return condition.index, low, high

    def codes(self, column: Column) -> NDArray[Any]:
        """The codes of the values of a column."""
        if isinstance(column, SparseColumn):
            zero, *listed = self.codes(np.append(column.values.dtype.type(0), column.values))
            codes = np.full(len(column), zero)
            codes[column.rows] = listed
            return codes
        if column.dtype.kind == "i":
            return np.where(column < 0, self.n_values, column).astype(code_type(self.n_values))
        codes = np.searchsorted(self.lowest, column, side="right") - 1
        return np.where(np.isnan(column), self.n_values, codes).astype(code_type(self.n_values))

    def cuts_rank(self, threshold: float) -> bool:
        """Whether a rank has values on both sides of a threshold."""
        place = int(np.searchsorted(self.highest, threshold, side="right"))
        return place < self.n_values and bool(self.lowest[place] <= threshold)


class CountTable(NamedTuple):
    """Counts of the rows of a body, as `Block.count` returns them; without labels, the table alone."""

    table: Sums
    pairs: Sums = NOTHING
    """Slots × lanes: the open pairs of labels, those that have the label first."""
    unfinished: Sums = NOTHING
    moved: Sums = NOTHING
    closed: int = 0


class BlockCounts(Counting):
    """State of separate-and-conquer with the rows in blocks; the rows of a body are identified by its conditions."""

    def __init__(
        self,
        blocks: Blocks,
        problem: Problem,
        values: Sequence[Values],
        given: Sequence[Rule] = (),
        state: LearningState = LearningState(),  # noqa: B008  # never changed
        note: Callable[[Rule], None] = lambda rule: None,
    ):
        n_labels = len(problem.labels)
        self.blocks, self.problem, self.values = blocks, problem, values
        self.head_labels, self.set_aside = np.zeros(n_labels, dtype=bool), np.zeros(n_labels, dtype=bool)
        self.head_labels[[assignment.index for rule in given for assignment in rule.head]] = True
        slots = [*(one.n_values for one in values), *[UNDECIDED] * n_labels]
        self.starts = np.concatenate([[0], np.cumsum(np.array(slots, dtype=np.intp) + 1)])
        """First slot of each column."""
        self.is_numeric = np.array([*(not one.is_nominal for one in problem.table.attributes), *[False] * n_labels])
        learned = given[len(problem.initial_rules) :]
        self.state = state._replace(rules=tuple(self._coded_rule(rule) for rule in learned))
        self._note = note
        self._counted: dict[Any, CountTable] = {}
        self.weight, self.n_pairs, self.n_decided, self.open, self.table = blocks.total(Block.begin, self.state)

    def with_set_aside(self, labels: Mask) -> Self:
        other = copy(self)
        other.set_aside = labels
        return other

    def everything(self) -> tuple[Condition, ...]:
        return ()

    def restricted(self, covered: tuple[Condition, ...], condition: Condition) -> tuple[Condition, ...]:
        return (*covered, condition)

    def unrefined(self, covered: tuple[Condition, ...]) -> Candidates:
        return BlockCandidates(self, covered, None)

    def refinements(self, covered: tuple[Condition, ...], label_conditions: bool) -> Iterator[Candidates]:
        constraints, allowed = self.problem.constraints, np.ones(len(self.values), dtype=bool)
        if constraints is not None:
            allowed &= constraints.allowed_attributes
        yield BlockCandidates(self, covered, np.flatnonzero(allowed).tolist())
        if label_conditions and self.head_labels.any():
            yield BlockCandidates(self, covered, (len(self.values) + np.flatnonzero(self.head_labels)).tolist())

    def coverage(self, candidates: BlockCandidates) -> Sums:
        return candidates.weights

    def open_pairs(self) -> Counted:
        return BlockPairs(self, None, False, np.ones(len(self.problem.labels), dtype=np.int8))

    def head_pairs(self, labels: NDArray[np.intp], values: NDArray[np.int8], whole: bool) -> Counted:
        return BlockPairs(self, tuple(labels.tolist()), whole, values)

    def whole_instances(self, labels: NDArray[np.intp], values: NDArray[np.int8]) -> Counted:
        raise NotImplementedError("heads are judged as a whole in memory only; the estimators refuse such heuristics")

    def close(self, covered: tuple[Condition, ...], head: Sequence[Assignment], predict_absence: bool) -> Closed:
        labels, n_labels = [assignment.index for assignment in head], len(self.problem.labels)
        counts = self._if_decided(covered, tuple(labels))
        self._follow(CodedRule(self.coded(covered), tuple((a.index, int(a.present)) for a in head), stop=False))
        self.head_labels[labels] = True
        self.n_decided += counts.closed
        self.table[:, [*labels, *(n_labels + label for label in labels)]] -= counts.pairs
        for assignment, sums in zip(head, counts.moved, strict=True):
            start = self.starts[len(self.values) + assignment.index]
            self.table[start + UNDECIDED] -= sums
            self.table[start + int(assignment.present)] += sums
        pairs = counts.pairs[-1].reshape(2, -1).T
        self.open[labels] -= pairs
        decided = [(pair if a.present else pair[::-1]).tolist() for a, pair in zip(head, pairs, strict=True)]
        return Closed(
            tuple((right, wrong) for right, wrong in decided),
            float(counts.table[-1, -1]),
            float(counts.unfinished[0 if predict_absence else 1]),
        )

    def remove(self, covered: tuple[Condition, ...]) -> None:
        self.table = self.table - self.counts(covered, None, False)
        self._follow(CodedRule(self.coded(covered), (), stop=True))

    def _follow(self, rule: CodedRule) -> None:
        """One more rule for the blocks to apply."""
        self.state = self.state._replace(rules=(*self.state.rules, rule))
        self._counted.clear()

    def left(self) -> float:
        return float(self.table[-1, -1] / self.weight)

    def decided(self) -> float:
        return float(self.n_decided / self.n_pairs)

    def undecided(self) -> Pairs:
        return tuple((float(absent), float(present)) for present, absent in self.open)

    def note(self, rule: Rule) -> None:
        self._note(rule)

    def coded(self, body: Sequence[Condition]) -> Body:
        """Conditions as blocks test them."""
        return tuple(self._test(condition) for condition in body)

    def _coded_rule(self, rule: Rule) -> CodedRule:
        return CodedRule(self.coded(rule.body), tuple((a.index, int(a.present)) for a in rule.head), rule.stop)

    def _test(self, condition: Condition) -> Test:
        """The codes of the blocks that satisfy a condition."""
        if isinstance(condition, LabelCondition):
            return (len(self.values) + condition.index, int(condition.present), int(condition.present))
        if isinstance(condition, OneOfCondition):
            code = (self.problem.table.attributes[condition.index].categories or ()).index(condition.categories[0])
            return (condition.index, code, code)
        assert isinstance(condition, RangeCondition)  # intervals are for readers, of lists that are there
        return self.values[condition.index].test(condition)

    def counts(self, covered: tuple[Condition, ...], labels: tuple[int, ...] | None, whole: bool) -> Sums:
        """The table of what a body covers."""
        return self.table if not covered and labels is None else self._count(covered, labels, whole).table

    def counts_of_body(self, covered: tuple[Condition, ...], labels: tuple[int, ...] | None, whole: bool) -> Sums:
        """The row of that table that is about all that a body covers."""
        if whole or labels is None:
            return self.counts(covered, labels, whole)[-1:]
        counts = self._if_decided(covered, labels)
        return np.append(counts.pairs[-1], counts.table[-1, 2 * len(labels) :])[None]

    def _if_decided(self, covered: tuple[Condition, ...], labels: tuple[int, ...]) -> CountTable:
        """Return the counts if a rule decided some labels; most often they came with those of the labels."""
        return self._counted.get((covered, labels, True)) or self._count(covered, labels, False)

    def _count(self, covered: tuple[Condition, ...], labels: tuple[int, ...] | None, whole: bool) -> CountTable:
        """The counts of a body from all blocks; asked for once, until a rule changes them."""
        key = (covered, labels, whole)
        if key not in self._counted:
            counts = self.blocks.total(Block.count, self.state, self.coded(covered), labels, whole)
            if labels is not None and len(counts) < len(CountTable._fields):
                counts.insert(1, counts[0][:, : 2 * len(labels)])
            self._counted[key] = CountTable(*counts)
        return self._counted[key]


@dataclass
class BlockPairs:
    """Counts of all labels predicted as present, or of the labels of a fixed head."""

    data: BlockCounts
    labels: tuple[int, ...] | None
    whole: bool
    values: NDArray[np.int8]

    def confusion(self, candidates: BlockCandidates) -> Confusion:
        """The confusion matrices of the candidates."""
        ask = self.data.counts_of_body if candidates.columns is None else self.data.counts
        sums = candidates.take(ask(candidates.body, self.labels, self.whole))
        everything, n_labels = self.data.table[-1], len(self.data.problem.labels)
        lanes = [2 * n_labels + label for label in self.labels or range(n_labels)]
        found = _confusion(sums, everything[lanes], everything[-1])
        positive = self.values == 1
        return found._replace(tp=np.where(positive, found.tp, found.fp), fp=np.where(positive, found.fp, found.tp))


def _confusion(sums: Sums, present: Sums, weight: float) -> Confusion:
    """Confusion matrices from candidates × lanes (right, wrong, covered with the label, per label; covered)."""
    right, wrong, covered = np.hsplit(sums[:, :-1], 3)
    return Confusion(right, wrong, weight - present - (sums[:, -1:] - covered), present - covered)


class BlockCandidates(Candidates):
    """The refinements of a body by some columns (or none: the body itself), from a table of counts."""

    def __init__(self, data: BlockCounts, body: tuple[Condition, ...], columns: list[int] | None):
        self.data, self.body, self.columns = data, body, columns
        self.added = 0 if columns is None else 1
        self.filled: NDArray[np.intp] | None = None
        """The slots of the columns that the body covers, once something was counted."""
        self.first = self.ends = np.zeros(0, np.intp)
        """Per column, the number of such slots before it, and of candidates up to it."""
        self.weights: Sums = np.zeros(0)
        """Weight of the rows that each candidate covers."""

    def take(self, table: Sums) -> Sums:
        """One row per candidate: its counts. Columns with as many slots are added up together, each for itself."""
        if self.columns is None:
            taken = table[-1:]
        else:
            columns = np.array(self.columns, np.intp)
            if self.filled is None:
                self._look_at(table, columns)
            assert self.filled is not None
            sizes, numeric = np.diff(self.first), self.data.is_numeric[columns]
            begins = np.append(0, self.ends)
            taken = np.empty((begins[-1], table.shape[1]))
            for is_numeric, size in itertools.product((False, True), np.unique(sizes).tolist()):
                alike = np.flatnonzero((numeric == is_numeric) & (sizes == size))
                sums = table[self.filled[self.first[alike][:, None] + np.arange(size)]]
                sums = _both_sides(sums) if is_numeric else sums
                taken[begins[alike][:, None] + np.arange(sums.shape[1])] = sums
        if not len(self.weights):
            self.weights = taken[:, -1]
        return taken

    def _look_at(self, table: Sums, columns: NDArray[np.intp]) -> None:
        """Which slots are filled, but for the last one of a column, of missing values; where candidates end."""
        begins, sizes = self.data.starts[columns], np.diff(self.data.starts)[columns] - 1
        of_column = np.repeat(np.arange(len(columns)), sizes)
        slots = np.arange(len(of_column)) + (begins - np.cumsum(sizes) + sizes)[of_column]
        there = table[slots, -1] > 0
        filled = np.bincount(of_column[there], minlength=len(columns))
        self.filled, self.first = slots[there], np.append(0, np.cumsum(filled))
        sizes = np.where(self.data.is_numeric[columns], np.maximum(0, 2 * (filled - 1)), filled)
        self.ends = np.cumsum(sizes)
        labels = columns - len(self.data.values)
        if (labels >= 0).any():
            self.tested = np.repeat(labels, sizes)

    def condition(self, candidate: int) -> Condition | None:
        if self.columns is None or self.filled is None:
            return None
        place = int(np.searchsorted(self.ends, candidate, side="right"))
        column, problem = self.columns[place], self.data.problem
        codes = self.filled[self.first[place] : self.first[place + 1]] - self.data.starts[column]
        candidate -= int(self.ends[place - 1]) if place else 0
        split, above = divmod(candidate, 2) if self.data.is_numeric[column] else (candidate, 0)
        low = int(codes[split])
        if column >= len(self.data.values):
            label = column - len(self.data.values)
            return LabelCondition(problem.labels[label], label, bool(low))
        attribute = problem.table.attributes[column]
        if attribute.categories is not None:
            return OneOfCondition(attribute.name, column, (attribute.categories[low],), is_binary=attribute.is_binary)
        values = self.data.values[column]
        threshold = midpoint(float(values.highest[low]), float(values.lowest[codes[split + 1]]))
        lower, upper = (threshold, None) if above else (None, threshold)
        return RangeCondition(attribute.name, column, lower, upper, is_date=attribute.is_date)


def _both_sides(slots: Sums) -> Sums:
    """Sums of columns × slots in order: up to each slot but the last, and beyond it."""
    running = np.cumsum(slots, axis=1)
    both = np.empty((len(slots), max(0, 2 * (slots.shape[1] - 1)), slots.shape[2]))
    both[:, 0::2] = running[:, :-1]
    both[:, 1::2] = running[:, -1:] - running[:, :-1]
    return both
