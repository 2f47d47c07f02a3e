"""Ranks of numeric values, and the split points between them.

A numeric column is read as ranks: equal values have equal rank, and with `max_bins` neighbouring values share
one. Each rank knows the lowest and highest value it stands for; a split point lies halfway between the highest
value of one rank and the lowest of another. Exact splits are the case of one value per rank.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule.data.table import Column, SparseColumn, Table
from plurule.model import Condition, RangeCondition, RuleList

SAME_SPLIT = 2.0**-20
"""How far a threshold may be moved to be shorter, as a share of the gap it lies in."""


@dataclass(frozen=True, slots=True)
class Ranks:
    """Rank of every row (-1 where missing), and the values at the ends of each rank."""

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
        held = np.bincount(inverse, weights=None if weights is None else weights[known])
        before = np.concatenate(([0.0], np.cumsum(held)[:-1]))
        bins = np.floor(before * max_bins / held.sum()).astype(np.intp)
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
    if math.isinf(middle):
        middle = below / 2 + above / 2
    return middle if below <= middle < above else below


def shorter(threshold: float, below: float, above: float) -> float:
    """The number of fewest digits right beside a threshold that parts the same two values.

    >>> shorter(2.8962535000000003, below=2.892507, above=2.9)
    2.8962535
    >>> shorter(5.5, below=5, above=6)
    5.5
    """
    reach = (above / 2 - below / 2) * 2 * SAME_SPLIT
    texts = ("0", *(f"{threshold:.{digits}e}" for digits in range(16)))
    near = (number for number in map(float, texts) if abs(number - threshold) <= reach and below <= number < above)
    return next(near, threshold)


def with_short_thresholds(rule_list: RuleList, table: Table, n_given: int = 0) -> RuleList:
    """The same rules with the shortest thresholds that part the values of the table alike; given rules stay."""
    asked: dict[int, dict[float, float]] = defaultdict(dict)
    learned = rule_list.rules[n_given:]
    for condition in (c for rule in learned for c in rule.body if isinstance(c, RangeCondition)):
        asked[condition.index][condition.threshold] = condition.threshold
    for index, thresholds in asked.items():
        values = np.sort(known_values(table.columns[index]))
        for threshold in thresholds:
            place = int(np.searchsorted(values, threshold, side="right"))
            if 0 < place < len(values):
                thresholds[threshold] = shorter(threshold, float(values[place - 1]), float(values[place]))

    def shortened(condition: Condition) -> Condition:
        if not isinstance(condition, RangeCondition):
            return condition
        return condition.with_threshold(asked[condition.index][condition.threshold])

    rules = [replace(rule, body=tuple(map(shortened, rule.body))) for rule in learned]
    return replace(rule_list, rules=(*rule_list.rules[:n_given], *rules))


def known_values(column: Column) -> NDArray[np.float64]:
    """The values of a column that are not missing; of a sparse one, those that are listed, and 0 once."""
    if not isinstance(column, SparseColumn):
        values = column.astype(np.float64, copy=False)
        return values[~np.isnan(values)]
    return np.append(column.values.astype(np.float64), [0.0] * (len(column.rows) < column.n_rows))
