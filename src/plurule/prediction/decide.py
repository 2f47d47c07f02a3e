"""Applying a rule list: rules in order, each label decided once, stop rules end an instance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plurule import _core
from plurule.data.table import SparseColumn, Table
from plurule.model import (
    Condition,
    IntervalCondition,
    LabelCondition,
    MissingCondition,
    NominalCondition,
    Rule,
    RuleList,
    SetCondition,
)
from plurule.model.condition import SimpleCondition, split_intervals

Mask = NDArray[np.bool_]
OPEN = -1
"""Stands for a pair of instance and label that no rule has decided yet."""
NO_RULE = -1


@dataclass
class Decisions:
    """What a rule list decides for some instances, and which rule decided it."""

    predicted: NDArray[np.int8]
    """Per instance and label: 1 present, 0 absent, -1 decided by no rule (absent by default)."""
    decided_by: NDArray[np.int32]
    """Per instance and label: position of the rule that decided, or -1."""
    going_on: Mask
    """The instances that no stop rule has ended."""

    def labels(self) -> NDArray[np.int8]:
        """The prediction: undecided labels are absent."""
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
            self.going_on &= ~np.logical_or.reduce(decided)
        return decided


@dataclass
class Step:
    """One rule applied: what it covered, and the decisions up to and including it (updated in place)."""

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


class Columns:
    """The columns of a table that conditions ask for, made dense once."""

    def __init__(self, table: Table):
        self.table = table
        self.dense: dict[int, NDArray[Any]] = {}

    def __getitem__(self, index: int) -> NDArray[Any]:
        if index not in self.dense:
            column = self.table.column(index)
            # A threshold between two floats of 32 bits is a double, and would be rounded to 32 bits to be compared.
            self.dense[index] = column.astype(np.float64) if column.dtype == np.float32 else column
        return self.dense[index]

    def satisfies(self, condition: Condition, predicted: NDArray[np.int8]) -> Mask:
        """Which instances satisfy a condition, given what earlier rules predicted."""
        if isinstance(condition, LabelCondition):
            return predicted[:, condition.index] == int(condition.present)
        values = self[condition.index]
        categories = self.table.attributes[condition.index].categories or ()
        if isinstance(condition, NominalCondition):
            if condition.category not in categories:
                return np.zeros(len(values), dtype=bool)
            return values == categories.index(condition.category)
        if isinstance(condition, SetCondition):
            admitted = condition.admits(categories)
            # The last is for the code -1, which stands for a missing value.
            return np.array([*(category in admitted for category in categories), False], dtype=bool)[values]
        if isinstance(condition, MissingCondition):
            return (np.isnan(values) if values.dtype.kind == "f" else values < 0) == condition.missing
        # Comparing with NaN is false, so a missing value satisfies neither.
        if isinstance(condition, IntervalCondition):
            return (values > condition.above) & (values <= condition.at_most)
        return values <= condition.threshold if condition.operator == "<=" else values > condition.threshold

    def passing(self, body: Sequence[Condition], predicted: NDArray[np.int8]) -> list[Mask]:
        """Which instances satisfy none, the first, the first two … of some conditions."""
        passing = [np.ones(len(self.table), dtype=bool)]
        for condition in body:
            passing.append(passing[-1] & self.satisfies(condition, predicted))
        return passing


def nothing_decided(n_rows: int, n_labels: int) -> Decisions:
    """Where prediction starts."""
    decided = np.full((n_rows, n_labels), OPEN, np.int8), np.full((n_rows, n_labels), NO_RULE, np.int32)
    return Decisions(*decided, np.ones(n_rows, np.bool_))


def replay(rule_list: RuleList, table: Table) -> Iterator[Step]:
    """Apply the rules one after the other, and give a look after each."""
    decisions = nothing_decided(len(table), len(rule_list.labels))
    columns = Columns(table)
    for position, rule in enumerate(rule_list):
        reached = decisions.going_on.copy()
        passing = columns.passing(rule.body, decisions.predicted)
        decided = decisions.apply(rule, position, reached & passing[-1])
        yield Step(position, reached, passing, decided, decisions)


def decide(rule_list: RuleList, table: Table, n_threads: int = 1) -> Decisions:
    """Apply a rule list to the instances of a table (encoded with the attributes of the rule list).

    The same as the last step of `replay`, by the compiled core.
    """
    shape = (len(table), len(rule_list.labels))
    decisions = Decisions(np.empty(shape, np.int8), np.empty(shape, np.int32), np.empty(len(table), np.bool_))
    _apply(rule_list, table, n_threads, **vars(decisions))
    return decisions


def predict_labels(rule_list: RuleList, table: Table, n_threads: int = 1) -> NDArray[np.int8]:
    """Only the labels that a rule list predicts, 0 or 1; faster where nobody asks which rule decided."""
    predicted = np.empty((len(table), len(rule_list.labels)), np.int8)
    _apply(rule_list, table, n_threads, predicted=predicted, decided_by=None, going_on=None)
    return np.maximum(predicted, 0, out=predicted)


def _apply(rule_list: RuleList, table: Table, n_threads: int, **result: Any) -> None:
    """Let the core fill in the arrays of `Decisions`; those that nobody asks for are None."""
    conditions: dict[tuple[int, int, float], int] = {}
    columns: dict[Asked, int] = {}
    rules = []
    for rule in rule_list:
        packed = [_packed(condition, table, columns) for condition in split_intervals(rule.body)]
        body = [conditions.setdefault(condition, len(conditions)) for condition in packed]
        rules.append((body, [(assignment.index, assignment.present) for assignment in rule.head], rule.stop))
    _core.decide(
        n_rows=len(table),
        columns=[_as_the_core_reads(column, table) for column in columns],
        conditions=list(conditions),
        rules=rules,
        n_threads=n_threads,
        **result,
    )


AT_MOST, ABOVE, EQUALS, LABEL_ABSENT, LABEL_PRESENT = range(5)
"""The kinds of conditions that the core knows."""
NO_CATEGORY = -2
"""A code that no row has, not even where the value is missing."""


Asked: TypeAlias = int | SetCondition | MissingCondition
"""A column that the core needs: of the table, or of 0 and 1 where one test is more than a comparison."""


def _packed(condition: SimpleCondition, table: Table, columns: dict[Asked, int]) -> tuple[int, int, float]:
    """A condition as the core reads it: kind, position of the label or among the columns asked for, value."""
    if isinstance(condition, LabelCondition):
        return LABEL_PRESENT if condition.present else LABEL_ABSENT, condition.index, 0.0
    if isinstance(condition, SetCondition | MissingCondition):
        return EQUALS, columns.setdefault(condition, len(columns)), 1.0
    column = columns.setdefault(condition.index, len(columns))
    if isinstance(condition, NominalCondition):
        categories = table.attributes[condition.index].categories or ()
        known = condition.category in categories
        return EQUALS, column, float(categories.index(condition.category) if known else NO_CATEGORY)
    return AT_MOST if condition.operator == "<=" else ABOVE, column, float(condition.threshold)


def _as_the_core_reads(asked: Asked, table: Table) -> Any:
    """A column that the core needs, copied only where it cannot be read as it is."""
    if not isinstance(asked, int):
        return Columns(table).satisfies(asked, np.zeros((len(table), 0), np.int8)).astype(np.int32)
    column = table.columns[asked]
    values = column.values if isinstance(column, SparseColumn) else column
    if values.dtype not in (np.float32, np.float64, np.int32):
        values = values.astype(np.float64)
    return (column.rows, values) if isinstance(column, SparseColumn) else values
