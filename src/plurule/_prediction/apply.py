"""Apply a rule list to instances, and count what its rules do there.

Rules are applied in order, each label is decided once, and stop rules end an instance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plurule import _core
from plurule.data.dataset import Dataset, SparseColumn, Table
from plurule.data.inputs import encode
from plurule.model import Condition, LabelCondition, OneOfCondition, RangeCondition, Rule, RuleList
from plurule.model.condition import split_intervals
from plurule.model.rule import Hierarchy, bottom_up

Mask = NDArray[np.bool_]
Labels = NDArray[np.uint8]
Weights = NDArray[np.float64]
Pairs = tuple[tuple[float, float], ...]
OPEN = -1
"""Stands for a pair of instance and label that no rule has decided yet."""
NO_RULE = -1


def to_table(rule_list: RuleList, X: Any) -> Table:
    """Return the columns that the rules test, from anything that `plurule.data.inputs.encode` reads or a data set."""
    values = X.X if isinstance(X, Dataset) else X
    return encode(values, rule_list.attributes, rule_list.tested_attributes())


@dataclass
class Decisions:
    """The decisions of a rule list for some instances, and the rules that made them."""

    # rows × labels in both matrices, C-contiguous, so that the core can fill them in place; active is bool[rows].
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
            # A row ends where the rule decides a label; where all of its head was decided before, the row goes on.
            self.active &= ~np.logical_or.reduce(decided)
        return decided


@dataclass
class Step:
    """One rule applied: the instances it covers, and the decisions up to and including it (updated in place)."""

    rule: int
    """Its position in the list."""
    reached: Mask
    """The instances that come as far as the rule: no stop rule ended them before."""
    # bool[rows] each; one more than the body has conditions.
    passing: list[Mask]
    """The instances that satisfy none, the first, the first two … conditions of its body, reached or not."""
    decided: list[Mask]
    """Per label of its head: the instances for which the rule decided it."""
    decisions: Decisions

    @property
    def holds(self) -> Mask:
        """The instances that satisfy its body, also where a stop rule ended them before."""
        return self.passing[-1]


@dataclass
class ColumnCache:
    """The columns of a table that conditions test, made dense once."""

    table: Table
    # By index: float64 (NaN for missing), or int32 codes (-1 for missing).
    dense: dict[int, NDArray[Any]] = field(default_factory=dict)

    def __getitem__(self, index: int) -> NDArray[Any]:
        if index not in self.dense:
            column = self.table.column(index)
            # A threshold between two floats of 32 bits is a double, and would be rounded to 32 bits to be compared.
            self.dense[index] = column.astype(np.float64) if column.dtype == np.float32 else column
        return self.dense[index]

    def mask(self, condition: Condition, predicted: NDArray[np.int8]) -> Mask:
        """Return which instances satisfy a condition, given the predictions of earlier rules."""
        # An open label (-1) satisfies neither `label` nor `no label`.
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
        # Before the rule acts: a stop rule changes `active`, and conditions on labels see earlier rules only.
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
    # Conditions and columns are listed once, by the order of first use; rules name conditions by their number, so that
    # the core tests a condition that several rules share only once.
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


# A condition for the core is (kind, position, value):
#
#     0  AT_MOST          column of numbers    v <= value; a missing value (NaN) satisfies neither 0 nor 1
#     1  ABOVE            column of numbers    v > value
#     2  EQUALS           column of codes      code == value; -1 is a missing value
#     3  LABEL_ABSENT     label                an earlier rule predicts it as absent; value is 0 and not looked at
#     4  LABEL_PRESENT    label                an earlier rule predicts it as present
#
# A category that the table does not know must not become -1: that would hold where the value is missing. So it is -2,
# which no row has.
AT_MOST, ABOVE, EQUALS, LABEL_ABSENT, LABEL_PRESENT = range(5)
"""The kinds of conditions that the core knows."""
NO_CATEGORY = -2
"""A code that no row has, not even where the value is missing."""

CoreColumn: TypeAlias = int | Condition
"""A column that the core needs: of the table, or of 0 and 1 where a test is more than a comparison."""


def _pack(condition: Condition, table: Table, columns: dict[CoreColumn, int]) -> tuple[int, int, float]:
    """Return a condition as the core reads it: kind, position of the label or among the needed columns, value."""
    # Intervals are split before. Sets, negations and tests for missing values become columns of 0 and 1, tested by = 1.
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
        # int32, as codes are: EQUALS is for codes only. Such conditions are never on labels.
        return ColumnCache(table).mask(column, np.zeros((len(table), 0), np.int8)).astype(np.int32)
    stored = table.columns[column]
    values = stored.values if isinstance(stored, SparseColumn) else stored
    if values.dtype not in (np.float32, np.float64, np.int32):
        values = values.astype(np.float64)
    # (int32 rows, ascending; values), or one value per row. The core reads them during the call and keeps nothing.
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
        # Floats can be compared: sums of weights are exact.
        as_it_was = (counted.decided, counted.coverage) == (rule.decided, rule.coverage)
        rules.append(replace(counted, value=rule.value if as_it_was else 0.0))
    return replace(rule_list, rules=tuple(rules), undecided=count_undecided(predicted, Y, weights))


def added_counts(rule_list: RuleList, lists: Sequence[RuleList]) -> RuleList:
    """Return what `recount` gives of all rows, from what it gives of parts of them."""
    rules = []
    for before, *parts in zip(rule_list, *lists, strict=True):
        # Parts × labels of the head × (right, wrong), summed over the parts.
        decided = tuple(map(tuple, np.sum([rule.decided for rule in parts], axis=0).tolist()))
        tp, fp, coverage = (sum(getattr(rule, name) for rule in parts) for name in ("tp", "fp", "coverage"))
        value = before.value if (decided, coverage) == (before.decided, before.coverage) else 0.0
        rules.append(replace(before, tp=tp, fp=fp, coverage=coverage, value=value, decided=decided))
    undecided = np.sum([one.undecided for one in lists], axis=0).tolist()
    return replace(rule_list, rules=tuple(rules), undecided=tuple(map(tuple, undecided)))


def with_counts(rule: Rule, step: Step, Y: Labels, weights: Weights) -> Rule:
    """Return a rule with the counts of the step in which it was applied."""
    pairs = []  # per head label, the weight of the right and of the wrong ones among the instances it was decided for
    for assignment, rows in zip(rule.head, step.decided, strict=True):
        right = rows & (Y[:, assignment.index] == assignment.present)
        pairs.append((float(weights[right].sum()), float(weights[rows & ~right].sum())))
    stated = [pair for pair, assignment in zip(pairs, rule.head, strict=True) if not assignment.implied]
    tp, fp = sum(right for right, _ in stated), sum(wrong for _, wrong in stated)
    return replace(
        rule, tp=tp, fp=fp, coverage=float(weights[step.reached & step.passing[-1]].sum()), decided=tuple(pairs)
    )


def count_undecided(predicted: NDArray[np.int8], Y: Labels, weights: Weights) -> Pairs:
    """Return, per label, the weight of the absent and of the present pairs that no rule decided."""
    # float64[rows, labels]: the weight of a row where its label is open, else 0.
    left = weights[:, None] * (predicted == OPEN)
    absent, present = (left * (Y == 0)).sum(axis=0), (left * (Y == 1)).sum(axis=0)
    return tuple((float(a), float(p)) for a, p in zip(absent, present, strict=True))


# Probabilities -------------------------------------------------------------------------------------------------------
#
# A pair of instance and label that a rule decided gets the precision which that rule had, for that label, on the
# training pairs it decided; a pair that no rule decided gets the share of present labels among the training pairs that
# no rule decided. One right and one wrong pair are added to every count, so that nothing is certain. A rule may predict
# a label that is right in less than half of its pairs, if that pays for the measure: `predict` is no threshold.


def smoothed(right: float, wrong: float) -> float:
    """Laplace's rule of succession.

    >>> smoothed(right=2, wrong=0)
    0.75
    """
    return (right + 1) / (right + wrong + 2)


def probabilities(rule_list: RuleList, decisions: Decisions) -> NDArray[np.float64]:
    """Return the probability of each label per instance."""
    # Rules × labels, picked by rows × labels: -1 of `decided_by` picks the last line.
    shares = probability_by_rule(rule_list)[decisions.decided_by, np.arange(len(rule_list.labels))]
    return enforce_hierarchy(shares, rule_list.hierarchy)


def enforce_hierarchy(shares: NDArray[np.float64], hierarchy: Hierarchy) -> NDArray[np.float64]:
    """Return shares of which that of a label is at least that of any label which implies it.

    >>> enforce_hierarchy(np.array([[0.8, 0.3, 0.6]]), ((0, 1),))
    array([[0.8, 0.8, 0.6]])
    """
    shares = shares.copy() if hierarchy else shares
    # From the bottom up, so that a label passes on what it got from those below it.
    for below, above in bottom_up(hierarchy):
        shares[:, above] = np.maximum(shares[:, above], shares[:, below])
    return shares


def probability_by_rule(rule_list: RuleList) -> NDArray[np.float64]:
    """Return that share per rule and label; the last row, which position -1 picks, is for pairs no rule decides."""
    # Labels that a rule does not decide stay 0: `decided_by` never names them.
    shares = np.zeros((len(rule_list) + 1, len(rule_list.labels)))
    for position, rule in enumerate(rule_list):
        for (right, wrong), assignment in zip(right_and_wrong(rule), rule.head, strict=True):
            present = smoothed(right, wrong) if assignment.present else smoothed(wrong, right)
            shares[position, assignment.index] = present
    undecided = rule_list.undecided or ((0.0, 0.0),) * len(rule_list.labels)
    shares[-1] = [smoothed(present, absent) for absent, present in undecided]
    return shares


def is_counted(rule: Rule) -> bool:
    """Return whether the rule was ever counted on data; one that was written by hand was not."""
    return bool(rule.decided or rule.tp or rule.fp)


def right_and_wrong(rule: Rule) -> Sequence[tuple[float, float]]:
    """Return, per head label, the training pairs that the rule decided rightly and wrongly."""
    # A rule written by hand knows no more than its counts as a whole.
    return rule.decided or ((rule.tp, rule.fp),) * len(rule.head)
