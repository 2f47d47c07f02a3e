"""From a learned list to one that people read: round thresholds, one condition for each attribute, default rules.

What rules predict on the rows that they were learned from stays the same.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from plurule._learning.problem import Options, Problem
from plurule.data.dataset import Column, SparseColumn, Table
from plurule.errors import amount, warn
from plurule.model import (
    Assignment,
    Attribute,
    Condition,
    Head,
    MissingCondition,
    OneOfCondition,
    RangeCondition,
    Rule,
    RuleList,
)
from plurule.model.condition import join_intervals

SAME_SPLIT = 2.0**-20
"""How far a threshold may be moved to be shorter, as a share of the gap it lies in."""


def readable(rule_list: RuleList, table: Table, n_given: int = 0) -> RuleList:
    """The same rules with round thresholds and intervals; the first `n_given` rules stay as they are.

    A threshold becomes the roundest number between the same two neighbouring values of the table. Of whole numbers
    `a > 2.5` becomes `a >= 3` and `a <= 2.5` becomes `a <= 2`; of an attribute of 0 and 1 the threshold stays 0.5.
    Two bounds of one attribute become one interval, and several conditions on the categories of one attribute one.
    """
    # Per tested attribute its different values, ascending. Between two neighbours every threshold covers the same rows,
    # so the roundest one says the same and is easier to read.
    attributes, values = list(rule_list.attributes), dict[int, NDArray[np.float64]]()
    for index in rule_list.tested_attributes():
        if not attributes[index].is_nominal:
            values[index] = np.unique(known_values(table.columns[index]))
            is_binary = not attributes[index].is_date and bool(np.isin(values[index], (0.0, 1.0)).all())
            attributes[index] = replace(attributes[index], only_0_and_1=is_binary)

    rules = []
    for rule in rule_list.rules[n_given:]:
        body = [
            _rounded(c, values[c.index], attributes[c.index])
            if isinstance(c, RangeCondition) and not c.is_interval
            else c
            for c in rule.body
        ]
        rules.append(replace(rule, body=join_sets(join_intervals(body), attributes)))
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
    # values[place - 1] <= threshold < values[place]
    place = int(np.searchsorted(values, condition.threshold, side="right"))
    if attribute.is_binary:
        return replace(condition.with_threshold(0.5 if place == 1 else condition.threshold), is_binary=True)
    if place in (0, len(values)):
        return condition
    below, above = float(values[place - 1]), float(values[place])
    if attribute.is_date:
        # Right below a beginning: such a bound is written as `>=` or `<` (see RangeCondition).
        return condition.with_threshold(math.nextafter(roundest_date(below, above), -math.inf))
    # From 2**53 on doubles do not hold every whole number, so `above - 1` could be `above`.
    if not np.array_equal(values, np.floor(values)) or max(-below, above) >= 2**53:
        return condition.with_threshold(roundest(below, math.nextafter(above, -math.inf)))
    if condition.above is None:
        return condition.with_threshold(roundest(below, above - 1))
    # `a > t` with t right below a whole number n is written as `a >= n`.
    return condition.with_threshold(math.nextafter(roundest(below + 1, above), -math.inf))


def roundest_date(below: float, at_most: float) -> float:
    """The last beginning of a year after one time and up to another, else of a month, a day, an hour or less.

    >>> from plurule.model.condition import format_date, parse_date
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
    # In units of 10**(exponent - 20), bounds are whole numbers of at most 20 digits, rounded into the interval.
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


# Short thresholds ----------------------------------------------------------------------------------------------------


def shorter(threshold: float, below: float, above: float) -> float:
    """The number of fewest digits right beside a threshold that parts the same two values.

    >>> shorter(2.8962535000000003, below=2.892507, above=2.9)
    2.8962535
    >>> shorter(5.5, below=5, above=6)
    5.5
    """
    # Halves first: the difference of two finite doubles may overflow.
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


# Default rules -------------------------------------------------------------------------------------------------------


def with_default_rules(rule_list: RuleList) -> RuleList:
    """The list that decides every group of exclusive labels: by the class that is most frequent where no rule does."""
    for group in rule_list.groups:
        decided = any(not r.body and any(a.present and a.index in group for a in r.head) for r in rule_list)
        if not decided:
            rule_list = _with_default(rule_list, group)
    return rule_list


def _with_default(rule_list: RuleList, group: tuple[int, ...]) -> RuleList:
    # (absent, present) per label of the pairs that no rule decides; `everywhere` is the weight of present pairs of all
    # rows, which decides between classes that are equally frequent there.
    undecided = list(rule_list.undecided or ((0.0, 0.0),) * len(rule_list.labels))
    everywhere = [present for _, present in undecided]
    for rule in rule_list:
        for assignment, (right, wrong) in zip(rule.head, rule.decided, strict=False):
            everywhere[assignment.index] += right if assignment.present else wrong
    usual = max(group, key=lambda label: (undecided[label][1], everywhere[label], -label))
    absent, present = undecided[usual]
    stated = Head((Assignment(rule_list.labels[usual], usual, True),))
    head = stated.completed(rule_list.groups, rule_list.labels, rule_list.hierarchy)
    # What is undecided is (absent, present); what is decided is (right, wrong).
    counts = tuple(undecided[a.index][::-1] if a.present else undecided[a.index] for a in head)
    rule = Rule(head, tp=present, fp=absent, coverage=present + absent, decided=counts)
    for assignment in head:
        undecided[assignment.index] = 0.0, 0.0
    return replace(rule_list, rules=(*rule_list.rules, rule), undecided=tuple(undecided))


# Labels that no rule predicts ----------------------------------------------------------------------------------------


def warn_if_coverage_impossible(problem: Problem, options: Options) -> bool:
    """Return whether no rule can cover enough, and warn if so."""
    total = float(problem.weights.sum())
    if options.min_coverage > total:
        least = f"min_coverage={options.min_coverage:g}, but all instances together weigh {total:g}"
        warn(f"{least}: no rule can cover as much, and none is learned")
    return options.min_coverage > total


def labels_without_rules(
    rule_list: RuleList, present: NDArray[np.float64], options: Options, otherwise: str
) -> dict[str, str]:
    """Why a label is in the head of no rule, for every label that is in none: too rare, or `otherwise`.

    `present` is the weight of the rows that have each label.
    """
    predicted = {a.index for rule in rule_list for a in rule.head if a.present or not a.implied}
    # A rule that covers min_coverage with the least precision has so many rows right: fewer are not enough.
    least = options.min_precision.threshold * options.min_coverage
    reasons = {}
    for index in (i for i in range(len(present)) if i not in predicted):
        found = otherwise
        if not options.predict_absence and present[index] == 0:
            found = "no training instance has it"
        elif not options.predict_absence and present[index] < least:
            needed = int(np.ceil(least))
            found = f"too rare: {present[index]:g} have it, a rule that covers min_coverage needs {needed}"
        reasons[rule_list.labels[index]] = found
    return reasons


def why_training_ended(rule_list: RuleList, problem: Problem, options: Options, length: int | None = None) -> str:
    """Why there are no more rules.

    Parameters
    ----------
    rule_list
        What was learned.
    problem, options
        What it was learned from.
    length
        The number of rules after which it was cut off, if any.
    """
    total = float(problem.weights.sum())
    # Rules that are marked stop take their instances out of training, each other ones.
    left = total - sum(rule.coverage for rule in rule_list if rule.stop)
    if length is not None and len(rule_list) >= length:
        return f"cut off: the list ends after {amount(length, 'rule')}"
    if left / total <= options.remaining:
        return f"training ended before: at most {options.remaining:.0%} of the instances were left"
    return f"no rule for it reaches min_precision ({options.min_precision.threshold:g}) and covers enough"
