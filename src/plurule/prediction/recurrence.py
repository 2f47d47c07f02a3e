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
from plurule.model import NumericCondition, Rule, SetCondition
from plurule.model.condition import split_intervals

TOLERANCE = 2 / 32
"""Thresholds are the same if at most this share of the instances lies between them: two of 32 bins."""

Form: TypeAlias = frozenset[Any]
"""What a rule says, but for its thresholds."""
Read: TypeAlias = tuple[Form, dict[Any, float]]
"""That, and per numeric test the share of the instances below its (tightest) threshold."""


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
        found: dict[Form, list[tuple[int, Read]]] = {}
        for position, others in enumerate(lists):
            for read in map(self._read, others):
                found.setdefault(read[0], []).append((position, read))
        shares = []
        for read in map(self._read, rules):
            holding = {position for position, other in found.get(read[0], ()) if self._same(read, other)}
            shares.append(len(holding) / len(lists) if lists else 0.0)
        return shares

    def distinct(self, rules: Iterable[Rule]) -> list[Rule]:
        """The rules without those that say the same as an earlier one."""
        kept: dict[Form, list[Read]] = {}
        result = []
        for rule in rules:
            read = self._read(rule)
            alike = kept.setdefault(read[0], [])
            if not any(self._same(read, other) for other in alike):
                alike.append(read)
                result.append(rule)
        return result

    def _same(self, first: Read, second: Read) -> bool:
        if first[0] != second[0]:
            return False
        return all(abs(place - second[1][test]) <= self.tolerance + 1e-12 for test, place in first[1].items())

    def _read(self, rule: Rule) -> Read:
        parts: set[Any] = set(rule.head.stated)
        places: dict[Any, float] = {}
        for condition in split_intervals(rule.body):
            if isinstance(condition, NumericCondition):
                test = (condition.operator, condition.index)
                place, tighter = self._place(condition.index, condition.threshold), min
                if condition.operator == ">":
                    tighter = max
                places[test] = tighter(place, places.get(test, place))
                parts.add(test)
            elif isinstance(condition, SetCondition):
                parts.add((condition.index, frozenset(condition.categories), condition.negated))
            else:
                parts.add(condition)
        return frozenset(parts), places

    def _place(self, index: int, threshold: float) -> float:
        """The share of the known values of an attribute that are not above a threshold."""
        if index not in self._sorted:
            values = np.asarray(self.table.column(index), dtype=np.float64)
            self._sorted[index] = np.sort(values[~np.isnan(values)])
        known = self._sorted[index]
        return float(np.searchsorted(known, threshold, side="right")) / max(len(known), 1)
