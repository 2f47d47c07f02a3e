"""Attributes, and conditions on them: the tests in the body of a rule.

A condition names the attribute (or label) it tests and knows its column. A missing value satisfies no condition but
`is missing`, a label not yet predicted none at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, overload

from plurule.model.head import Assignment
from plurule.model.naming import NUMBER, in_quotes, quoted

Parts: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
"""What a condition says before the name of the attribute and after it: `("2", "<"), ("<=", "5")`."""

YES = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
"""What the categories of a nominal attribute of two truth values mean."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column: numeric, or nominal with its categories in their order.

    >>> Attribute("area").is_nominal
    False
    >>> Attribute("continent", ("Africa", "Asia")).is_nominal
    True
    >>> Attribute("smoker", ("no", "yes")).is_binary
    True
    """

    name: str
    """Of the column."""
    categories: tuple[str, ...] | None = None
    """Of a nominal attribute; None means that it is numeric."""
    only_0_and_1: bool = field(default=False, compare=False)
    """Whether a numeric attribute has no other values in training."""

    @property
    def is_nominal(self) -> bool:
        """Whether the attribute takes categories instead of numbers."""
        return self.categories is not None

    @property
    def is_binary(self) -> bool:
        """Whether an instance has it or not: 0 and 1, no and yes, false and true."""
        if self.categories is None:
            return self.only_0_and_1
        return {c.lower() for c in self.categories} in ({"0", "1"}, {"no", "yes"}, {"false", "true"})


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NumberedAttributes(Sequence[Attribute]):
    """x0, x1, …: those of a matrix without names, like a tuple, but each is made when it is asked for.

    >>> attributes = NumberedAttributes(range(100_000))
    >>> attributes[-1], attributes.has("x7"), attributes.has("x07")
    (Attribute(name='x99999', categories=None, only_0_and_1=False), True, False)
    >>> attributes[:1] == (Attribute("x0"),)
    True
    """

    numbers: range

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, index: int) -> Attribute: ...
    @overload
    def __getitem__(self, index: slice) -> NumberedAttributes: ...
    def __getitem__(self, index: int | slice) -> Attribute | NumberedAttributes:
        found = self.numbers[index]
        return NumberedAttributes(found) if isinstance(found, range) else Attribute(f"x{found}")

    def __iter__(self) -> Iterator[Attribute]:
        return (Attribute(f"x{number}") for number in self.numbers)

    def has(self, name: str) -> bool:
        """Whether one of them is called so."""
        number = name[1:]
        return number.isdecimal() and len(number) < 20 and int(number) in self.numbers and name == f"x{int(number)}"

    def __eq__(self, other: Any) -> bool:
        return self.numbers == other.numbers if isinstance(other, NumberedAttributes) else tuple(self) == other

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


def as_attributes(attributes: Iterable[Attribute]) -> tuple[Attribute, ...] | NumberedAttributes:
    """Attributes as they are kept: those that are numbered are left unmade."""
    return attributes if isinstance(attributes, NumberedAttributes) else tuple(attributes)


@dataclass(frozen=True, slots=True)
class AttributeTest:
    """What all conditions on an attribute have."""

    name: str
    """Of the attribute."""
    index: int
    """Its place among the attributes, from 0."""

    def parts(self, digits: int | None = None) -> Parts:
        """What the condition says before the name and after it; numbers with so many digits, or all they have."""
        raise NotImplementedError

    def __str__(self) -> str:
        return to_text(self)


@dataclass(frozen=True, slots=True)
class NumericCondition(AttributeTest):
    """`attribute <= threshold` or `attribute > threshold`.

    Above the number right below 2 is from 2 on, and is written so. Of an attribute that instances have or not (`0` or
    `1`), the condition says just that.

    >>> str(NumericCondition("colours", 8, ">", 4.5)), str(NumericCondition("colours", 8, ">", 1.9999999999999998))
    ('colours > 4.5', 'colours >= 2')
    >>> str(NumericCondition("apple", 3, "<=", 0.5, of_binary=True))
    'no "apple"'
    """

    operator: Literal["<=", ">"]
    """Which side of the threshold."""
    threshold: float
    """A value that equals it is on the `<=` side."""
    of_binary: bool = field(default=False, compare=False)
    """Whether instances have the attribute or not, so that the condition is written as `no "apple"`."""

    def parts(self, digits: int | None = None) -> Parts:
        if self.of_binary and self.threshold == 0.5:
            return having(self.operator == ">")
        return (), self.comparison(digits)

    def comparison(self, digits: int | None = None) -> tuple[str, str]:
        """Operator and number in their shortest form; the number with so many digits, or all it has."""
        is_next, number = shortest_bound(self.threshold)
        operator = (">=" if is_next else ">") if self.operator == ">" else ("<" if is_next else "<=")
        return operator, format_number(number, digits)


@dataclass(frozen=True, slots=True)
class IntervalCondition(AttributeTest):
    """`above < attribute <= at_most`: two bounds of one attribute as one condition.

    >>> str(IntervalCondition("un_since", 4, 1947.5, 1990.5))
    '1947.5 < un_since <= 1990.5'
    """

    above: float
    """Values are larger."""
    at_most: float
    """Values are no larger."""

    @property
    def bounds(self) -> tuple[NumericCondition, NumericCondition]:
        """The same as two conditions."""
        return (
            NumericCondition(self.name, self.index, ">", self.above),
            NumericCondition(self.name, self.index, "<=", self.at_most),
        )

    def parts(self, digits: int | None = None) -> Parts:
        lower, upper = self.bounds
        operator, number = lower.comparison(digits)
        return (number, operator.replace(">", "<")), upper.comparison(digits)


@dataclass(frozen=True, slots=True)
class NominalCondition(AttributeTest):
    """`attribute = category`.

    >>> str(NominalCondition("landmass", 0, "Europe"))
    'landmass = Europe'
    """

    category: str
    """The value that instances must have."""
    of_binary: bool = field(default=False, compare=False)
    """Whether instances have the attribute or not, so that the condition is written as `no "apple"`."""

    def parts(self, digits: int | None = None) -> Parts:
        return having(YES[self.category.lower()]) if self.of_binary else ((), ("=", self.category))

    def admits(self, known: Iterable[str]) -> tuple[str, ...]:
        """Those of some categories that satisfy it."""
        return tuple(category for category in known if category == self.category)


@dataclass(frozen=True, slots=True)
class SetCondition(AttributeTest):
    """`attribute in {categories}`, or any other known category: `attribute not in {…}`, of one `attribute ≠ category`.

    A category that the attribute does not have is as good as a missing value, and satisfies neither.

    >>> str(SetCondition("landmass", 0, ("Asia", "Europe"))), str(SetCondition("landmass", 0, ("Asia",), negated=True))
    ('landmass in {Asia, Europe}', 'landmass ≠ Asia')
    """

    categories: tuple[str, ...]
    """The values that instances may have, or if negated may not."""
    negated: bool = False
    """Whether the other known categories are meant."""

    def parts(self, digits: int | None = None) -> Parts:
        if self.negated and len(self.categories) == 1:
            return (), ("≠", quoted(self.categories[0]))
        return (), ("not in" if self.negated else "in", f"{{{', '.join(map(quoted, self.categories))}}}")

    def admits(self, known: Iterable[str]) -> tuple[str, ...]:
        """Those of some categories that satisfy it."""
        return tuple(category for category in known if (category in self.categories) != self.negated)


@dataclass(frozen=True, slots=True)
class MissingCondition(AttributeTest):
    """`attribute is missing`, or `attribute is known`.

    >>> str(MissingCondition("area", 0, True)), str(MissingCondition("area", 0, False))
    ('area is missing', 'area is known')
    """

    missing: bool
    """Whether the value must be missing; if not, it must be known."""

    def parts(self, digits: int | None = None) -> Parts:
        return (), ("is", "missing" if self.missing else "known")


@dataclass(frozen=True, slots=True)
class LabelCondition(Assignment):
    """A label that earlier rules predicted as present (or absent).

    >>> str(LabelCondition("red", 0, True)), str(LabelCondition("red", 0, False))
    ('red', '¬red')
    """


CategoryCondition: TypeAlias = NominalCondition | SetCondition
SimpleCondition: TypeAlias = NumericCondition | CategoryCondition | MissingCondition | LabelCondition
AttributeCondition: TypeAlias = NumericCondition | IntervalCondition | CategoryCondition | MissingCondition
Condition: TypeAlias = AttributeCondition | LabelCondition


def having(present: bool) -> Parts:
    """What stands around the name of an attribute that instances have, or do not have."""
    return () if present else ("no",), ()


def to_text(condition: AttributeTest, digits: int | None = None) -> str:
    """A condition on an attribute as `plurule.model.text` reads it, if thresholds have all their digits."""
    before, after = condition.parts(digits)
    # Quotes tell an attribute that instances have from a label, `no` from a part of the name, a name from a number.
    in_doubt = not after or (before and NUMBER.fullmatch(condition.name))
    name = in_quotes(condition.name) if in_doubt else quoted(condition.name)
    said = (quoted(part) for part in after[1:]) if isinstance(condition, NominalCondition) else after[1:]
    return " ".join((*before, name, *after[:1], *said))


def split_intervals(body: Iterable[Condition]) -> tuple[SimpleCondition, ...]:
    """The conditions of a body, each interval as its two bounds."""
    return tuple(part for c in body for part in (c.bounds if isinstance(c, IntervalCondition) else (c,)))


def join_intervals(body: Iterable[Condition]) -> tuple[Condition, ...]:
    """A body that says the same with at most one condition for each numeric attribute, where the first one stood.

    >>> above, at_most = NumericCondition("area", 0, ">", 2), NumericCondition("area", 0, "<=", 5)
    >>> [str(condition) for condition in join_intervals([above, LabelCondition("red", 0, True), at_most])]
    ['2 < area <= 5', 'red']
    """
    found: dict[object, Condition] = {}
    for condition in split_intervals(body):
        key = ("numeric", condition.index) if isinstance(condition, NumericCondition) else condition
        found[key] = _both(found[key], condition) if key in found else condition
    return tuple(found.values())


def _both(one: Condition, other: Condition) -> Condition:
    """Two conditions on a numeric attribute as one; bounds that leave nothing between them are an interval, too."""
    bounds = [c for c in split_intervals((one, other)) if isinstance(c, NumericCondition)]
    if not bounds:
        return one
    above = max((c.threshold for c in bounds if c.operator == ">"), default=None)
    at_most = min((c.threshold for c in bounds if c.operator == "<="), default=None)
    if above is not None and at_most is not None:
        return IntervalCondition(one.name, one.index, above, at_most)
    return next(c for c in bounds if c.threshold in (above, at_most))


def join(conditions: Iterable[object]) -> str:
    """Conditions that must all hold, as text."""
    return " ∧ ".join(map(str, conditions))


def format_count(value: float) -> str:
    """A count, or a sum of weights without the noise of adding them up.

    >>> format_count(38.0), format_count(0.1 + 0.2), format_count(1e6 / 3)
    ('38', '0.3', '333333.333333')
    """
    return str(int(value)) if float(value).is_integer() else f"{value:.12g}"


def shortest_bound(threshold: float) -> tuple[bool, float]:
    """The threshold or the next larger number, whichever is written shorter, and whether it is the next.

    >>> shortest_bound(2.5), shortest_bound(1.9999999999999998)
    ((False, 2.5), (True, 2.0))
    """
    after = math.nextafter(threshold, math.inf) + 0.0  # no -0
    is_next = len(format_number(after)) < len(format_number(threshold)) and math.isfinite(after)
    return is_next, after if is_next else threshold


def format_number(value: float, digits: int | None = None) -> str:
    """Shortest text that reads back as the same number, or as it is with so many digits, without a needless `.0`.

    >>> format_number(4.0), format_number(4.5), format_number(1e300), format_number(2 / 3, digits=3)
    ('4', '4.5', '1e+300', '0.667')
    """
    text = repr(float(value if digits is None else f"{value:.{digits}g}"))
    return text.removesuffix(".0")
