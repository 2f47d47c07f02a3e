"""A learned rule list as people say it: round thresholds, one condition for each attribute.

What rules predict on the rows that they were learned from stays the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from plurule.data.table import Table
from plurule.learning.binning import known_values
from plurule.model import (
    Attribute,
    Condition,
    MissingCondition,
    OneOfCondition,
    RangeCondition,
    RuleList,
)
from plurule.model.condition import join_intervals


def readable(rule_list: RuleList, table: Table, n_given: int = 0) -> RuleList:
    """The same rules with round thresholds and intervals; the first `n_given` rules stay as they are.

    A threshold becomes the roundest number between the same two neighbouring values of the table. Of whole numbers
    `a > 2.5` becomes `a >= 3` and `a <= 2.5` becomes `a <= 2`; of an attribute of 0 and 1 the threshold stays 0.5.
    Two bounds of one attribute become one interval, and several conditions on the categories of one attribute one.
    """
    attributes, values = list(rule_list.attributes), dict[int, NDArray[np.float64]]()
    for index in rule_list.tested_attributes():
        if not attributes[index].is_nominal:
            values[index] = np.unique(known_values(table.columns[index]))
            is_binary = not attributes[index].is_date and bool(np.isin(values[index], (0.0, 1.0)).all())
            attributes[index] = replace(attributes[index], only_0_and_1=is_binary)

    def rounded(condition: Condition) -> Condition:
        if not isinstance(condition, RangeCondition) or condition.is_interval:
            return condition
        return _rounded(condition, values[condition.index], attributes[condition.index])

    learned = rule_list.rules[n_given:]
    bodies = (join_intervals(map(rounded, rule.body)) for rule in learned)
    rules = [replace(rule, body=join_sets(body, attributes)) for rule, body in zip(learned, bodies, strict=True)]
    return replace(rule_list, rules=(*rule_list.rules[:n_given], *rules), attributes=tuple(attributes))


def join_sets(body: Sequence[Condition], attributes: Sequence[Attribute]) -> tuple[Condition, ...]:
    """A body that says the same with at most one condition for each nominal attribute, in its shortest form.

    >>> colours = Attribute("colour", ("red", "green", "blue", "white"))
    >>> body = OneOfCondition("colour", 0, ("red",), True), OneOfCondition("colour", 0, ("red", "green", "blue"))
    >>> [str(condition) for condition in join_sets(body, [colours])]
    ['colour in {green, blue}']
    """
    found: dict[object, Condition] = {}
    on_attributes = [c for c in body if not c.on_label]
    for condition in body:
        if isinstance(condition, OneOfCondition):
            same = [c for c in on_attributes if c.index == condition.index]
            kept: Sequence[str] = attributes[condition.index].categories or ()
            for other in same:
                kept = other.accepted(kept) if isinstance(other, OneOfCondition) else kept
            found.setdefault(condition.index, among(condition.index, attributes[condition.index], kept))
        # Whatever is asked of a value, it is known.
        elif not isinstance(condition, MissingCondition) or sum(c.index == condition.index for c in on_attributes) == 1:
            found[condition] = condition
    return tuple(found.values())


def among(index: int, attribute: Attribute, kept: Sequence[str]) -> Condition:
    """The shortest condition that some categories satisfy, and no others."""
    others = tuple(category for category in attribute.categories or () if category not in kept)
    if len(kept) == 1:
        return OneOfCondition(attribute.name, index, (kept[0],), is_binary=attribute.is_binary)
    if others and len(others) < len(kept):
        return OneOfCondition(attribute.name, index, others, negated=True)
    return OneOfCondition(attribute.name, index, tuple(kept))


def _rounded(condition: RangeCondition, values: NDArray[np.float64], attribute: Attribute) -> RangeCondition:
    """A condition with a round threshold that parts the same two of some ascending values."""
    place = int(np.searchsorted(values, condition.threshold, side="right"))
    if attribute.is_binary:
        return replace(condition.with_threshold(0.5 if place == 1 else condition.threshold), is_binary=True)
    if place in (0, len(values)):
        return condition
    below, above = float(values[place - 1]), float(values[place])
    if attribute.is_date:
        return condition.with_threshold(math.nextafter(roundest_date(below, above), -math.inf))
    if not np.array_equal(values, np.floor(values)) or max(-below, above) >= 2**53:
        return condition.with_threshold(roundest(below, math.nextafter(above, -math.inf)))
    if condition.above is None:
        return condition.with_threshold(roundest(below, above - 1))
    return condition.with_threshold(math.nextafter(roundest(below + 1, above), -math.inf))


def roundest_date(below: float, at_most: float) -> float:
    """The last beginning of a year after one time and up to another, else of a month, a day, an hour or less.

    >>> from plurule.model.dates import format_date, parse_date
    >>> format_date(roundest_date(parse_date("2024-09-17"), parse_date("2024-09-19T08:15")))
    '2024-09-19'
    """
    moment = np.datetime64(math.floor(at_most), "s")
    for unit in ("Y", "M", "D", "h", "m", "s"):
        beginning = float(moment.astype(f"datetime64[{unit}]").astype("datetime64[s]").astype(np.int64))
        if beginning > below:
            return beginning
    return at_most


def roundest(lowest: float, highest: float) -> float:
    """The multiple of the greatest of …, 10, 5, 1, 0.5, 0.1, … in an interval; of several, the one in the middle.

    >>> roundest(1931, 1968), roundest(1947.5, 1948.9), roundest(0.0213, 0.0267), roundest(4.7, 4.79)
    (1950.0, 1948.0, 0.025, 4.7)
    """
    # As they are written: the double 4.7 lies a little above 4.7.
    low, high = Fraction(repr(lowest)), Fraction(repr(highest))
    if low <= 0 <= high:
        return 0.0
    exponent = math.ceil(math.log10(max(abs(lowest), abs(highest))))
    unit = Fraction(10) ** (exponent - 20)
    above, below = math.ceil(low / unit), math.floor(high / unit)
    for power in range(20, 0, -1):
        for step in (10**power, 10**power // 2):
            first, last = -(-above // step), below // step
            if first <= last:
                found = float(min(max(round((low + high) / 2 / (step * unit)), first), last) * step * unit)
                if lowest <= found <= highest:
                    return found
    return lowest
