"""Whether two rules say the same, and how often a rule comes back in lists that were learned from other rows.

Two rules are the same if they have the same head and test the same attributes in the same direction, with thresholds
that few instances lie between.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plurule.data.table import Table
from plurule.model import LabelCondition, MissingCondition, NominalCondition, Rule, SetCondition
from plurule.model.condition import split_intervals

TOLERANCE = 2 / 32
"""Thresholds are the same if at most this share of the instances lies between them: two of 32 bins."""

Form: TypeAlias = frozenset[tuple[Any, ...]]
"""What a rule says, but for its thresholds."""


class Recurrence:
    """Recognises rules about the instances of a table.

    Examples
    --------
    >>> from plurule.model import Attribute
    >>> from plurule.model.text import parse
    >>> names = (Attribute("area"),), ("red", "blue")
    >>> recurrence = Recurrence(Table(names[0], (np.arange(100.0),)))
    >>> first, near, far = (parse(f"red, blue <- area > {threshold}", *names) for threshold in (40.5, 44.5, 60.5))
    >>> recurrence.same(first, near), recurrence.same(first, far)
    (True, False)
    """

    def __init__(self, table: Table, tolerance: float = TOLERANCE):
        self.table = table
        self.tolerance = tolerance
        self._sorted: dict[int, NDArray[np.float64]] = {}

    def same(self, first: Rule, second: Rule) -> bool:
        """Whether two rules say the same."""
        return self._same(self._read(first), self._read(second))

    def shares(self, rules: Iterable[Rule], lists: Sequence[Iterable[Rule]]) -> list[float]:
        """For each rule, the share of the lists that hold the same."""
        found: dict[Form, list[tuple[int, dict[Any, float]]]] = {}
        for position, others in enumerate(lists):
            for form, places in map(self._read, others):
                found.setdefault(form, []).append((position, places))
        shares = []
        for form, places in map(self._read, rules):
            holding = {at for at, others in found.get(form, ()) if self._same((form, places), (form, others))}
            shares.append(len(holding) / len(lists) if lists else 0.0)
        return shares

    def distinct(self, rules: Iterable[Rule]) -> list[Rule]:
        """The rules without those that say the same as an earlier one."""
        kept: dict[Form, list[tuple[Rule, dict[Any, float]]]] = {}
        result = []
        for rule in rules:
            form, places = self._read(rule)
            alike = kept.setdefault(form, [])
            if not any(self._same((form, places), (form, others)) for _, others in alike):
                alike.append((rule, places))
                result.append(rule)
        return result

    def _same(self, first: tuple[Form, dict[Any, float]], second: tuple[Form, dict[Any, float]]) -> bool:
        if first[0] != second[0]:
            return False
        return all(abs(place - second[1][test]) <= self.tolerance + 1e-12 for test, place in first[1].items())

    def _read(self, rule: Rule) -> tuple[Form, dict[Any, float]]:
        """The form of a rule, and per numeric test the share of the instances below its (tightest) threshold."""
        parts: set[tuple[Any, ...]] = {("head", a.index, a.present) for a in rule.head.stated}
        places: dict[Any, float] = {}
        for condition in split_intervals(rule.body):
            if isinstance(condition, LabelCondition):
                parts.add(("label", condition.index, condition.present))
            elif isinstance(condition, NominalCondition):
                parts.add(("category", condition.index, condition.category))
            elif isinstance(condition, SetCondition):
                parts.add(("categories", condition.index, frozenset(condition.categories), condition.negated))
            elif isinstance(condition, MissingCondition):
                parts.add(("missing", condition.index, condition.missing))
            else:
                test = (condition.operator, condition.index)
                place, tighter = self._place(condition.index, condition.threshold), min
                if condition.operator == ">":
                    tighter = max
                places[test] = tighter(place, places.get(test, place))
                parts.add(test)
        return frozenset(parts), places

    def _place(self, index: int, threshold: float) -> float:
        """The share of the known values of an attribute that are not above a threshold."""
        if index not in self._sorted:
            values = np.asarray(self.table.column(index), dtype=np.float64)
            self._sorted[index] = np.sort(values[~np.isnan(values)])
        known = self._sorted[index]
        return float(np.searchsorted(known, threshold, side="right")) / max(len(known), 1)
