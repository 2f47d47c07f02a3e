"""The counts of all blocks, summed, as learning asks for them.

Learning decides here, once, on sums. The counts of bodies of one condition are kept from rule to rule: after each rule,
the blocks send what it took away. So a rule costs a few tables of its own labels, not one of all labels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from plurule.distributed.block import UNDECIDED, Body, CodedRule, Standing, Test, code_type
from plurule.errors import ParameterError
from plurule.learning.binning import midpoint
from plurule.learning.counting import Candidates, Closed, Confusion, Counted, Counting, Mask, Sums
from plurule.learning.problem import Problem
from plurule.model import (
    Assignment,
    Condition,
    LabelCondition,
    NominalCondition,
    NumericCondition,
    Rule,
)
from plurule.prediction.counts import Pairs


@dataclass(frozen=True)
class Values:
    """The codes of an attribute: ends of ranks of a numeric one, or the number of categories."""

    lowest: NDArray[np.float64]
    highest: NDArray[np.float64]
    n_values: int
    fraction: float = np.nan
    """A value of the attribute that is not a whole number, if there is one."""
    begins: NDArray[np.intp] | None = None
    """Where each rank, and a missing value, begins among the codes of the blocks, if those are finer."""

    def test(self, condition: NumericCondition) -> Test:
        """The codes of the blocks that satisfy a condition on this attribute.

        Among the rows that a rule covers, no rank lies on both sides of its threshold.
        """
        limit, end = int(np.searchsorted(self.highest, condition.threshold, side="right")), self.n_values
        if self.begins is not None:
            limit, end = int(self.begins[limit]), int(self.begins[-1])
        low, high = (0, limit - 1) if condition.operator == "<=" else (limit, end - 1)
        return condition.index, low, high

    def within(self, finer: Values) -> Values:
        """The same ranks, which know where they begin among others."""
        begins = np.append(np.searchsorted(finer.lowest, self.lowest), finer.n_values)
        if self.n_values and not len(self.lowest):
            begins = np.arange(self.n_values + 1)
        return replace(self, begins=begins)

    def codes(self, column: NDArray[Any]) -> NDArray[Any]:
        """The codes of the values of a column."""
        if column.dtype.kind == "i":
            return np.where(column < 0, self.n_values, column).astype(code_type(self.n_values))
        codes = np.searchsorted(self.lowest, column, side="right") - 1
        return np.where(np.isnan(column), self.n_values, codes).astype(code_type(self.n_values))

    def cuts_rank(self, threshold: float) -> bool:
        """Whether a rank has values on both sides of a threshold."""
        place = int(np.searchsorted(self.highest, threshold, side="right"))
        return place < self.n_values and bool(self.lowest[place] <= threshold)


class Blocks(ABC):
    """Blocks of rows, somewhere: a method of `Block` is called on every one of them, and what they give is summed."""

    @abstractmethod
    def total(self, method: str, *arguments: Any) -> list[Any]:
        """The results of all blocks, added up place by place, in whichever order."""


class BlockCounts(Counting):
    """Where separate-and-conquer stands, with the rows in blocks; what a body covers is known by its conditions."""

    def __init__(
        self,
        blocks: Blocks,
        problem: Problem,
        values: Sequence[Values],
        given: Sequence[Rule] = (),
        standing: Standing = Standing(),  # noqa: B008  # never changed
        note: Callable[[Rule], None] = lambda rule: None,
    ):
        n_labels = len(problem.labels)
        self.blocks, self.problem, self.values = blocks, problem, values
        self.head_labels, self.set_aside = np.zeros(n_labels, dtype=bool), np.zeros(n_labels, dtype=bool)
        self.head_labels[[assignment.index for rule in given for assignment in rule.head]] = True
        slots = [*(one.n_values for one in values), *[UNDECIDED] * n_labels]
        self.starts = np.concatenate([[0], np.cumsum(np.array(slots, dtype=np.intp) + 1)])
        """Where the slots of each column begin."""
        learned = given[len(problem.initial_rules) :]
        self.standing = standing._replace(rules=tuple(self._coded_rule(rule) for rule in learned))
        self._note = note
        self._closing: CodedRule | None = None
        self._counted: dict[Any, Sums] = {}
        self.weight, self.n_pairs, self.n_decided = blocks.total("size", self.standing)
        self.table: Sums = blocks.total("count", self.standing, (), None, False)[0]
        """Slots of all columns × lanes of all labels, over the instances in training."""

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

    def refinements(
        self, covered: tuple[Condition, ...], label_conditions: bool, first: bool = False
    ) -> Iterator[Candidates]:
        constraints, allowed = self.problem.constraints, np.ones(len(self.values), dtype=bool)
        required = first and constraints is not None and constraints.requires_attribute
        if constraints is not None:
            allowed &= constraints.allowed_attributes
            allowed &= constraints.required_attributes if required else True
        yield BlockCandidates(self, covered, np.flatnonzero(allowed).tolist())
        if label_conditions and not required:
            for label in np.flatnonzero(self.head_labels).tolist():
                yield BlockCandidates(self, covered, [len(self.values) + label], label)

    def coverage(self, candidates: BlockCandidates) -> Sums:
        return candidates.taken[:, -1]

    def open_pairs(self) -> Counted:
        return BlockPairs(self, None, False, np.ones(len(self.problem.labels), dtype=np.int8))

    def head_pairs(self, labels: NDArray[np.intp], values: NDArray[np.int8], whole: bool) -> Counted:
        return BlockPairs(self, tuple(labels.tolist()), whole, values)

    def whole_instances(self, labels: NDArray[np.intp], values: NDArray[np.int8]) -> Counted:
        raise ParameterError(
            "heuristic", "subset_accuracy", "judges instances as a whole, which is not counted in blocks; use another"
        )

    def close(self, covered: tuple[Condition, ...], head: Sequence[Assignment], predict_absence: bool) -> Closed:
        body, signs = self.coded(covered), tuple((a.index, int(a.present)) for a in head)
        decided, coverage, unfinished = self.blocks.total("close", self.standing, body, signs, predict_absence)
        self.head_labels[[assignment.index for assignment in head]] = True
        self._closing = CodedRule(body, signs, stop=False)
        return Closed(tuple((float(r), float(w)) for r, w in decided), float(coverage), float(unfinished))

    def remove(self, covered: tuple[Condition, ...]) -> None:
        assert self._closing is not None
        self._closing = self._closing._replace(stop=True)

    def left(self) -> float:
        self._settle()
        return float(self.table[-1, -1] / self.weight)

    def decided(self) -> float:
        self._settle()
        return float(self.n_decided / self.n_pairs)

    def undecided(self) -> Pairs:
        self._settle()
        return tuple((float(a), float(p)) for a, p in self.blocks.total("undecided", self.standing)[0])

    def note(self, rule: Rule) -> None:
        self._note(rule)

    def coded(self, body: Sequence[Condition]) -> Body:
        """Conditions as blocks test them."""
        return tuple(self._test(condition) for condition in body)

    def _coded_rule(self, rule: Rule) -> CodedRule:
        return CodedRule(self.coded(rule.body), tuple((a.index, int(a.present)) for a in rule.head), rule.stop)

    def _test(self, condition: Condition) -> Test:
        if isinstance(condition, LabelCondition):
            return (len(self.values) + condition.index, int(condition.present), int(condition.present))
        if isinstance(condition, NominalCondition):
            code = (self.problem.table.attributes[condition.index].categories or ()).index(condition.category)
            return (condition.index, code, code)
        assert isinstance(condition, NumericCondition)  # intervals are for readers, of lists that are there
        return self.values[condition.index].test(condition)

    def counts(self, covered: tuple[Condition, ...], labels: tuple[int, ...] | None, whole: bool) -> Sums:
        """The table of what a body covers; asked for once, until a rule changes it."""
        self._settle()
        if not covered and labels is None:
            return self.table
        key = covered, labels, whole
        if key not in self._counted:
            self._counted[key] = self.blocks.total("count", self.standing, self.coded(covered), labels, whole)[0]
        return self._counted[key]

    def _settle(self) -> None:
        """Have the blocks apply the rule that was closed last, and take from the table what it took away."""
        if self._closing is None:
            return
        rule, n_labels = self._closing, len(self.problem.labels)
        labels = [label for label, _ in rule.head]
        self.standing = self.standing._replace(rules=(*self.standing.rules, rule))
        self._closing = None
        self._counted.clear()
        gone, fresh, closed = self.blocks.total("settle", self.standing)
        self.n_decided += closed
        if rule.stop:
            self.table -= gone
        else:
            self.table[:, labels] -= gone[:, : len(labels)]
            self.table[:, [n_labels + label for label in labels]] -= gone[:, len(labels) : 2 * len(labels)]
        for place, label in enumerate(labels):
            start = self.starts[len(self.values) + label]
            self.table[start : start + UNDECIDED + 1] = fresh[place * (UNDECIDED + 1) : (place + 1) * (UNDECIDED + 1)]


@dataclass
class BlockPairs:
    """Counts of all labels predicted as present, or of the labels of a fixed head."""

    data: BlockCounts
    labels: tuple[int, ...] | None
    whole: bool
    values: NDArray[np.int8]

    def confusion(self, candidates: BlockCandidates) -> Confusion:
        """The confusion matrices of the candidates."""
        sums = candidates.take(self.data.counts(candidates.body, self.labels, self.whole))
        n = len(self.values)
        everything, lanes = self.data.table[-1], 2 * len(self.data.problem.labels)
        present = everything[[lanes + i for i in self.labels or range(n)]]
        absent = everything[-1] - present
        right, wrong, covered = (sums[:, i * n : (i + 1) * n] for i in range(3))
        positive = self.values == 1
        return Confusion(
            tp=np.where(positive, right, wrong),
            fp=np.where(positive, wrong, right),
            tn=absent - (sums[:, -1:] - covered),
            fn=present - covered,
        )


class BlockCandidates(Candidates):
    """The refinements of a body by some columns (or none: the body itself), from a table of counts."""

    def __init__(
        self, data: BlockCounts, body: tuple[Condition, ...], columns: list[int] | None, tested_label: int | None = None
    ):
        self.data, self.body, self.columns, self.tested_label = data, body, columns, tested_label
        self.added = 0 if columns is None else 1
        self.filled: list[NDArray[np.intp]] = []
        """Per column, the codes that the body covers."""
        self.ends: NDArray[np.intp] = np.zeros(0, np.intp)
        """Per column, the number of candidates up to it."""
        self.taken: Sums = np.zeros((0, 1))

    def take(self, table: Sums) -> Sums:
        """One row per candidate: its counts."""
        if self.columns is None:
            self.taken = table[-1:]
            return self.taken
        parts = [np.zeros((0, table.shape[1]))]
        self.filled = []
        for column in self.columns:
            slots = table[self.data.starts[column] : self.data.starts[column + 1] - 1]
            filled = np.flatnonzero(slots[:, -1] > 0)
            slots = slots if len(filled) == len(slots) else slots[filled]
            parts.append(_both_sides(slots) if self._is_numeric(column) else slots)
            self.filled.append(filled)
        self.ends = np.cumsum([len(part) for part in parts[1:]])
        self.taken = np.concatenate(parts)
        return self.taken

    def _is_numeric(self, column: int) -> bool:
        attributes = self.data.problem.table.attributes
        return column < len(attributes) and not attributes[column].is_nominal

    def condition(self, candidate: int) -> Condition | None:
        if self.columns is None:
            return None
        place = int(np.searchsorted(self.ends, candidate, side="right"))
        column, filled = self.columns[place], self.filled[place]
        candidate -= int(self.ends[place - 1]) if place else 0
        split, above = divmod(candidate, 2) if self._is_numeric(column) else (candidate, 0)
        low, problem = int(filled[split]), self.data.problem
        if column >= len(self.data.values):
            label = column - len(self.data.values)
            return LabelCondition(problem.labels[label], label, bool(low))
        attribute = problem.table.attributes[column]
        if attribute.categories is not None:
            return NominalCondition(attribute.name, column, attribute.categories[low], attribute.is_binary)
        values = self.data.values[column]
        threshold = midpoint(float(values.highest[low]), float(values.lowest[filled[split + 1]]))
        return NumericCondition(attribute.name, column, ">" if above else "<=", threshold)


def _both_sides(slots: Sums) -> Sums:
    """Of slots in order: the sums up to each but the last, and beyond it."""
    running = np.cumsum(slots, axis=0)
    both = np.empty((max(0, 2 * (len(slots) - 1)), slots.shape[1]))
    both[0::2] = running[:-1]
    both[1::2] = running[-1:] - running[:-1]
    return both
