"""Attributes, and conditions on them: the tests in the body of a rule.

A condition names the attribute (or label) it tests and knows its column. A missing value, or a label
not yet predicted, satisfies no condition.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from plurule.model.head import Assignment
from plurule.model.naming import quoted


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column: numeric, or nominal with its categories in their order.

    >>> Attribute("area").is_nominal
    False
    >>> Attribute("continent", ("Africa", "Asia")).is_nominal
    True
    """

    name: str
    categories: tuple[str, ...] | None = None

    @property
    def is_nominal(self) -> bool:
        """Whether the attribute takes categories instead of numbers."""
        return self.categories is not None


@dataclass(frozen=True, slots=True)
class NumericCondition:
    """`attribute <= threshold` or `attribute > threshold`.

    >>> str(NumericCondition("colours", 8, ">", 4.5))
    'colours > 4.5'
    """

    name: str
    index: int
    operator: Literal["<=", ">"]
    threshold: float

    def __str__(self) -> str:
        return f"{quoted(self.name)} {self.operator} {format_number(self.threshold)}"


@dataclass(frozen=True, slots=True)
class NominalCondition:
    """`attribute = category`.

    >>> str(NominalCondition("landmass", 0, "Europe"))
    'landmass = Europe'
    """

    name: str
    index: int
    category: str

    def __str__(self) -> str:
        return f"{quoted(self.name)} = {quoted(self.category)}"


@dataclass(frozen=True, slots=True)
class LabelCondition(Assignment):
    """A label that earlier rules predicted as present (or absent).

    >>> str(LabelCondition("red", 0, True)), str(LabelCondition("red", 0, False))
    ('red', '¬red')
    """


Condition: TypeAlias = NumericCondition | NominalCondition | LabelCondition


def join(conditions: Iterable[object]) -> str:
    """Conditions that must all hold, as text."""
    return " ∧ ".join(map(str, conditions))


def format_count(value: float) -> str:
    """A count, or a sum of weights without the noise of adding them up.

    >>> format_count(38.0), format_count(0.1 + 0.2), format_count(1e6 / 3)
    ('38', '0.3', '333333.333333')
    """
    return str(int(value)) if float(value).is_integer() else f"{value:.12g}"


def format_number(value: float) -> str:
    """Shortest text that reads back as the same number, without a needless `.0`.

    >>> format_number(4.0), format_number(4.5), format_number(1e300)
    ('4', '4.5', '1e+300')
    """
    text = repr(float(value))
    return text.removesuffix(".0")
