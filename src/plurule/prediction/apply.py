"""Applying a rule list to instances, and counting what its rules do there.

Rules are applied in order, each label is decided once, and stop rules end an instance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plurule import _core
from plurule.data.dataset import Dataset
from plurule.data.encoding import encode
from plurule.data.table import SparseColumn, Table
from plurule.model import Condition, LabelCondition, OneOfCondition, RangeCondition, Rule, RuleList
from plurule.model.condition import split_intervals

Mask = NDArray[np.bool_]
Labels = NDArray[np.uint8]
Weights = NDArray[np.float64]
Pairs = tuple[tuple[float, float], ...]
OPEN = -1
"""Stands for a pair of instance and label that no rule has decided yet."""
NO_RULE = -1


def to_table(rule_list: RuleList, X: Any) -> Table:
    """Return the columns that the rules test, from anything that `plurule.data.encoding.encode` reads or a data set."""
    values = X.X if isinstance(X, Dataset) else X
    return encode(values, rule_list.attributes, rule_list.tested_attributes())


@dataclass
class Decisions:
    """The decisions of a rule list for some instances, and the rules that made them."""

    predicted: NDArray[np.int8]
    """Per instance and label: 1 present, 0 absent, -1 decided by no rule (absent by default)."""
    decided_by: NDArray[np.int32]
    """Per instance and label: position of the rule that decided, or -1."""
    active: Mask
    """The instances that no stop rule has ended."""

    def labels(self) -> NDArray[np.int8]:
        """Return the prediction: undecided labels are absent."""
        return np.maximum(self.predicted, 0)

    def apply(self, rule: Rule, position: int, covered: Mask) -> list[Mask]:
        """Decide the open labels of a rule's head for the instances it covers; per head label, which those are."""
        decided = []
        for assignment in rule.head:
            newly = covered & (self.predicted[:, assignment.index] == OPEN)
            self.predicted[newly, assignment.index] = assignment.present
            self.decided_by[newly, assignment.index] = position
            decided.append(newly)
        if rule.stop:
            self.active &= ~np.logical_or.reduce(decided)
        return decided


@dataclass
class Step:
    """One rule applied: the instances it covers, and the decisions up to and including it (updated in place)."""

    rule: int
    """Its position in the list."""
    reached: Mask
    """The instances that come as far as the rule: no stop rule ended them before."""
    passing: list[Mask]
    """The instances that satisfy none, the first, the first two … conditions of its body, reached or not."""
    decided: list[Mask]
    """Per label of its head: the instances for which the rule decided it."""
    decisions: Decisions

    @property
    def holds(self) -> Mask:
        """The instances that satisfy its body, also where a stop rule ended them before."""
        return self.passing[-1]

    @property
    def covered(self) -> Mask:
        """The instances that its body covers and that no stop rule ended before."""
        return self.reached & self.holds


class ColumnCache:
    """The columns of a table that conditions test, made dense once."""

    def __init__(self, table: Table):
        self.table = table
        self.dense: dict[int, NDArray[Any]] = {}

    def __getitem__(self, index: int) -> NDArray[Any]:
        if index not in self.dense:
            column = self.table.column(index)
            # A threshold between two floats of 32 bits is a double, and would be rounded to 32 bits to be compared.
            self.dense[index] = column.astype(np.float64) if column.dtype == np.float32 else column
        return self.dense[index]

    def mask(self, condition: Condition, predicted: NDArray[np.int8]) -> Mask:
        """Return which instances satisfy a condition, given the predictions of earlier rules."""
        if condition.on_label:
            return condition.mask(predicted[:, condition.index])
        return condition.mask(self[condition.index], self.table.attributes[condition.index].categories or ())

    def passing(self, body: Sequence[Condition], predicted: NDArray[np.int8]) -> list[Mask]:
        """Return which instances satisfy none, the first, the first two … of some conditions."""
        passing = [np.ones(len(self.table), dtype=bool)]
        for condition in body:
            passing.append(passing[-1] & self.mask(condition, predicted))
        return passing


def nothing_decided(n_rows: int, n_labels: int) -> Decisions:
    """Return the decisions before the first rule."""
    predicted = np.full((n_rows, n_labels), OPEN, np.int8)
    decided_by = np.full((n_rows, n_labels), NO_RULE, np.int32)
    return Decisions(predicted, decided_by, np.ones(n_rows, np.bool_))


def replay(rule_list: RuleList, table: Table) -> Iterator[Step]:
    """Apply the rules one after the other, and yield the decisions after each."""
    decisions = nothing_decided(len(table), len(rule_list.labels))
    columns = ColumnCache(table)
    for position, rule in enumerate(rule_list):
        reached = decisions.active.copy()
        passing = columns.passing(rule.body, decisions.predicted)
        decided = decisions.apply(rule, position, reached & passing[-1])
        yield Step(position, reached, passing, decided, decisions)


def decide(rule_list: RuleList, table: Table, n_threads: int = 1) -> Decisions:
    """Apply a rule list to the instances of a table (encoded with the attributes of the rule list).

    The same as the last step of `replay`, by the compiled core.
    """
    shape = (len(table), len(rule_list.labels))
    decisions = Decisions(np.empty(shape, np.int8), np.empty(shape, np.int32), np.empty(len(table), np.bool_))
    _apply(rule_list, table, n_threads, decisions.predicted, decisions.decided_by, decisions.active)
    return decisions


def predict_labels(rule_list: RuleList, table: Table, n_threads: int = 1) -> NDArray[np.int8]:
    """Return only the predicted labels, 0 or 1; faster where nobody asks which rule decided."""
    predicted = np.empty((len(table), len(rule_list.labels)), np.int8)
    _apply(rule_list, table, n_threads, predicted)
    return np.maximum(predicted, 0, out=predicted)


def _apply(
    rule_list: RuleList,
    table: Table,
    n_threads: int,
    predicted: NDArray[np.int8],
    decided_by: NDArray[np.int32] | None = None,
    active: Mask | None = None,
) -> None:
    """Let the core fill in the arrays of `Decisions`."""
    conditions: dict[tuple[int, int, float], int] = {}
    columns: dict[CoreColumn, int] = {}
    rules = []
    for rule in rule_list:
        packed = [_pack(condition, table, columns) for condition in split_intervals(rule.body)]
        body = [conditions.setdefault(condition, len(conditions)) for condition in packed]
        rules.append((body, [(assignment.index, assignment.present) for assignment in rule.head], rule.stop))
    _core.decide(
        n_rows=len(table),
        columns=[_core_values(column, table) for column in columns],
        conditions=list(conditions),
        rules=rules,
        n_threads=n_threads,
        predicted=predicted,
        decided_by=decided_by,
        going_on=active,
    )


AT_MOST, ABOVE, EQUALS, LABEL_ABSENT, LABEL_PRESENT = range(5)
"""The kinds of conditions that the core knows."""
NO_CATEGORY = -2
"""A code that no row has, not even where the value is missing."""

CoreColumn: TypeAlias = int | Condition
"""A column that the core needs: of the table, or of 0 and 1 where a test is more than a comparison."""


def _pack(condition: Condition, table: Table, columns: dict[CoreColumn, int]) -> tuple[int, int, float]:
    """Return a condition as the core reads it: kind, position of the label or among the needed columns, value."""
    match condition:
        case LabelCondition():
            return LABEL_PRESENT if condition.present else LABEL_ABSENT, condition.index, 0.0
        case RangeCondition():
            column = columns.setdefault(condition.index, len(columns))
            return AT_MOST if condition.above is None else ABOVE, column, float(condition.threshold)
        case OneOfCondition(determines_value=True):
            column = columns.setdefault(condition.index, len(columns))
            categories = table.attributes[condition.index].categories or ()
            accepted = condition.accepted(categories)
            return EQUALS, column, float(categories.index(accepted[0]) if accepted else NO_CATEGORY)
    return EQUALS, columns.setdefault(condition, len(columns)), 1.0


def _core_values(column: CoreColumn, table: Table) -> Any:
    """Return a column that the core needs, copied only where it cannot be read as it is."""
    if isinstance(column, Condition):
        return ColumnCache(table).mask(column, np.zeros((len(table), 0), np.int8)).astype(np.int32)
    stored = table.columns[column]
    values = stored.values if isinstance(stored, SparseColumn) else stored
    if values.dtype not in (np.float32, np.float64, np.int32):
        values = values.astype(np.float64)
    return (stored.rows, values) if isinstance(stored, SparseColumn) else values


# Counts --------------------------------------------------------------------------------------------------------------


def recount(rule_list: RuleList, table: Table, Y: Labels, weights: Weights | None = None) -> RuleList:
    """Return the same rules with their counts on the given data.

    A rule's coverage is what reaches it (what no stop rule ended before) and satisfies its body; its right and wrong
    predictions are those of the pairs that it decides. The value that a rule was chosen by stays where all that is as
    before; otherwise it says nothing about the rule any more and becomes 0, as for a rule that was not learned.
    """
    weights = np.ones(len(table)) if weights is None else np.asarray(weights, dtype=np.float64)
    predicted = nothing_decided(*Y.shape).predicted
    rules = []
    for rule, step in zip(rule_list, replay(rule_list, table), strict=True):
        predicted = step.decisions.predicted
        counted = with_counts(rule, step, Y, weights)
        as_it_was = (counted.decided, counted.coverage) == (rule.decided, rule.coverage)
        rules.append(replace(counted, value=rule.value if as_it_was else 0.0))
    return replace(rule_list, rules=tuple(rules), undecided=count_undecided(predicted, Y, weights))


def with_counts(rule: Rule, step: Step, Y: Labels, weights: Weights) -> Rule:
    """Return a rule with the counts of the step in which it was applied."""
    pairs = []  # per head label, the weight of the right and of the wrong ones among the instances it was decided for
    for assignment, rows in zip(rule.head, step.decided, strict=True):
        right = rows & (Y[:, assignment.index] == assignment.present)
        pairs.append((float(weights[right].sum()), float(weights[rows & ~right].sum())))
    stated = [pair for pair, assignment in zip(pairs, rule.head, strict=True) if not assignment.implied]
    tp, fp = sum(right for right, _ in stated), sum(wrong for _, wrong in stated)
    return replace(rule, tp=tp, fp=fp, coverage=float(weights[step.covered].sum()), decided=tuple(pairs))


def count_undecided(predicted: NDArray[np.int8], Y: Labels, weights: Weights) -> Pairs:
    """Return, per label, the weight of the absent and of the present pairs that no rule decided."""
    left = weights[:, None] * (predicted == OPEN)
    absent, present = (left * (Y == 0)).sum(axis=0), (left * (Y == 1)).sum(axis=0)
    return tuple((float(a), float(p)) for a, p in zip(absent, present, strict=True))
