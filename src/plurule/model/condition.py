"""Attributes, and conditions on them: the tests in the body of a rule.

A condition names the attribute (or label) it tests and knows its column. A missing value satisfies no condition but
`is missing`, a label not yet predicted none at all. Dates are numbers: seconds since 1970-01-01, without a zone as they
are, with a zone in UTC.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

from plurule.errors import ModelError, first_repeated, nearest
from plurule.model.naming import NUMBER, in_quotes, quoted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from plurule.export.sql import Dialect

DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?(?![\w.:-])")
"""A date, or a date and a time, as text."""
_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def parse_date(text: str) -> float | None:
    """Return the seconds of a date in ISO format; None if it is none.

    >>> parse_date("1970-01-02"), parse_date("1970-01-01T01:00+01:00"), parse_date("1970-13-01")
    (86400.0, 0.0, None)
    """
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return (moment.replace(tzinfo=moment.tzinfo or UTC) - EPOCH) / SECOND


def are_dates(texts: Iterable[str]) -> bool:
    """Return whether there are texts and all are dates in ISO format: a column of them is a date attribute.

    >>> are_dates(["2024-09-19", " 2024-09-19 12:30Z"]), are_dates(["2024-09-19", "soon"]), are_dates(["20240919"])
    (True, False, False)
    """
    some = False
    for text in texts:
        some = True
        if not _ISO.fullmatch(text.strip()) or parse_date(text) is None:
            return False
    return some


def format_date(seconds: float, separator: str = "T") -> str | None:
    """Return a date, with the time unless it is midnight; None if no date in ISO format is exactly that.

    >>> format_date(86400), format_date(86399.5), format_date(1e300)
    ('1970-01-02', '1970-01-01T23:59:59.5', None)
    """
    try:
        moment = EPOCH + timedelta(seconds=seconds)
    except (OverflowError, ValueError):
        return None
    text = moment.replace(tzinfo=None).isoformat(separator)
    if parse_date(text) != seconds:
        return None
    if "." in text:
        return text.rstrip("0")
    return text.removesuffix(f"{separator}00:00:00")


Parts: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
"""Text of a condition before the name of the attribute and after it: `("2", "<"), ("<=", "5")`."""

YES = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
"""The truth values that categories of a binary attribute stand for."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column: numeric, a date, or nominal with its categories in their order.

    >>> Attribute("area").is_nominal
    False
    >>> Attribute("continent", ("Africa", "Asia")).is_nominal
    True
    >>> Attribute("smoker", ("no", "yes")).is_binary
    True
    """

    name: str
    """Name of the column."""
    categories: tuple[str, ...] | None = None
    """Categories of a nominal attribute; None if it is numeric."""
    only_0_and_1: bool = field(default=False, compare=False)
    """Whether a numeric attribute has no other values in training."""
    is_date: bool = False
    """Whether the numbers are dates or times, in seconds since 1970-01-01; see `plurule.model.condition`."""

    @property
    def is_nominal(self) -> bool:
        """Whether the attribute takes categories instead of numbers."""
        return self.categories is not None

    @property
    def kind(self) -> str:
        """Return `"nominal"`, `"date"` or `"numeric"`."""
        return "nominal" if self.is_nominal else "date" if self.is_date else "numeric"

    @property
    def is_binary(self) -> bool:
        """Whether an instance has it or not: 0 and 1, no and yes, false and true."""
        if self.categories is None:
            return self.only_0_and_1
        return {c.lower() for c in self.categories} in ({"0", "1"}, {"no", "yes"}, {"false", "true"})


@dataclass(frozen=True, slots=True)
class Condition:
    """A test in the body of a rule; one of four kinds.

    The tested values are given to `accepts` one by one (None if missing, or not yet predicted), and to `mask` as a
    column: numbers, codes of categories (-1 if missing), or predictions of a label (1, 0, or -1 if not yet predicted).
    In SQL and Python they are an expression, the operand.

    >>> from plurule.model import RangeCondition
    >>> condition = RangeCondition("area", 0, above=2.5)
    >>> condition.accepts(3), condition.python("area")
    (True, 'area > 2.5')
    """

    name: str
    """Name of the attribute, or of the label."""
    index: int
    """Position among the attributes, or among the labels, from 0."""

    on_label: ClassVar[bool] = False
    """Whether a label is tested instead of an attribute."""

    @property
    def determines_value(self) -> bool:
        """Whether only one value satisfies the condition, so that an explanation need not show it."""
        return True

    @property
    def tests_absence(self) -> bool:
        """Whether instances satisfy the condition by not having the attribute, such as a word of a text."""
        return False

    def parts(self, digits: int | None = None) -> Parts:
        """Return what is written before the name and after it; numbers with so many digits, or all they have."""
        raise NotImplementedError

    def text(self, digits: int | None = None) -> str:
        """Return the condition as `plurule.model.text` reads it, if thresholds have all their digits."""
        before, after = self.parts(digits)
        return " ".join((*before, self.written_name(), *after))

    def written_name(self) -> str:
        """Return the name of the attribute as it stands in the text, in quotes where it could be misread."""
        before, after = self.parts()
        # Quotes tell an attribute that instances have from a label, `no` from a part of the name, a name from a number.
        in_doubt = not after or (before and NUMBER.match(self.name))
        return in_quotes(self.name) if in_doubt else quoted(self.name)

    def __str__(self) -> str:
        return self.text()

    def accepts(self, value: Any) -> bool:
        """Return whether one value satisfies the condition."""
        raise NotImplementedError

    def named_values(self) -> set[Any]:
        """Return the values that the condition names: bounds or categories."""
        return set()

    def mask(self, values: NDArray[Any], categories: Sequence[str] = ()) -> NDArray[np.bool_]:
        """Return which values of a column satisfy the condition; `categories` are those of a nominal attribute."""
        raise NotImplementedError

    def sql(self, operand: str, dialect: Dialect, categories: Sequence[str] | None = None) -> str:
        """Return the condition in SQL."""
        raise NotImplementedError

    def python(self, operand: str, categories: Sequence[str] | None = None) -> str:
        """Return the condition as a Python expression."""
        raise NotImplementedError

    def placed(self, index: int, attribute: Attribute | None = None) -> Self:
        """Return the same condition on the attribute (or label) at another position; refuse one it cannot test."""
        return replace(self, index=index)


@dataclass(frozen=True, slots=True)
class RangeCondition(Condition):
    """`attribute > above`, `attribute <= at_most`, or both: `above < attribute <= at_most`.

    Above the number right below 2 is from 2 on, and is written so. On an attribute of 0 and 1, a threshold of 0.5 is
    written as presence or absence.

    >>> print(RangeCondition("colours", 8, above=4.5), RangeCondition("colours", 8, above=1.9999999999999998), sep=", ")
    colours > 4.5, colours >= 2
    >>> print(RangeCondition("un_since", 4, 1947.5, 1990.5))
    1947.5 < un_since <= 1990.5
    >>> print(RangeCondition("apple", 3, at_most=0.5, is_binary=True))
    no "apple"
    >>> print(RangeCondition("received", 0, above=1726617600.0, is_date=True))
    received > 2024-09-18
    """

    above: float | None = None
    """Values are larger; None if they have no lower bound."""
    at_most: float | None = None
    """Values are not larger; None if they have no upper bound."""
    is_binary: bool = field(default=False, compare=False)
    """Whether the attribute has the values 0 and 1 only; matters for the text alone."""
    is_date: bool = field(default=False, compare=False)
    """Whether the attribute is a date; matters for the text alone."""

    def __post_init__(self) -> None:
        if self.above is None and self.at_most is None:
            raise ValueError(f"the range of {self.name!r} needs a bound")

    @property
    def is_interval(self) -> bool:
        """Whether there are two bounds."""
        return self.above is not None and self.at_most is not None

    @property
    def threshold(self) -> float:
        """The bound of a range that has only one."""
        threshold = self.at_most if self.above is None else self.above
        assert threshold is not None
        return threshold

    def with_threshold(self, threshold: float) -> RangeCondition:
        """Return a range with one bound with another one in its place."""
        return replace(self, above=threshold) if self.at_most is None else replace(self, at_most=threshold)

    @property
    def sides(self) -> tuple[RangeCondition, ...]:
        """The same as one range for each bound."""
        return (replace(self, at_most=None), replace(self, above=None)) if self.is_interval else (self,)

    @property
    def _tests_presence(self) -> bool:
        return self.is_binary and not self.is_interval and self.threshold == 0.5

    @property
    def determines_value(self) -> bool:
        return self._tests_presence

    @property
    def tests_absence(self) -> bool:
        return self.above is None and self.at_most is not None and 0 <= self.at_most < 1

    def comparisons(self) -> list[tuple[str, float]]:
        """Return the operator and the number of each comparison, in the shortest form."""
        comparisons = []
        if self.above is not None:
            is_next, number = shortest_bound(self.above)
            comparisons.append((">=" if is_next else ">", number))
        if self.at_most is not None:
            is_next, number = shortest_bound(self.at_most)
            comparisons.append(("<" if is_next else "<=", number))
        return comparisons

    def parts(self, digits: int | None = None) -> Parts:
        if self._tests_presence:
            return presence_parts(self.at_most is None)
        *lower, (operator, number) = self.comparisons()
        before = [(self.format_value(n, digits), o.replace(">", "<")) for o, n in lower]
        return before[0] if before else (), (operator, self.format_value(number, digits))

    def format_value(self, value: float, digits: int | None = None) -> str:
        """Return a value of the attribute as text: a date, or a number with so many digits."""
        date = format_date(value) if self.is_date else None
        return format_number(value, digits) if date is None else date

    def accepts(self, value: Any) -> bool:
        if value is None:
            return False
        return (self.above is None or value > self.above) and (self.at_most is None or value <= self.at_most)

    def named_values(self) -> set[Any]:
        return {self.above, self.at_most} - {None}

    def mask(self, values: NDArray[Any], categories: Sequence[str] = ()) -> NDArray[np.bool_]:
        # Comparing with NaN is false, so a missing value satisfies neither bound.
        if self.above is None:
            return values <= self.at_most
        mask = values > self.above
        return mask if self.at_most is None else mask & (values <= self.at_most)

    def sql(self, operand: str, dialect: Dialect, categories: Sequence[str] | None = None) -> str:
        literal = dialect.date if self.is_date else dialect.number
        return " AND ".join(f"{operand} {o} {literal(float(number))}" for o, number in self.comparisons())

    def python(self, operand: str, categories: Sequence[str] | None = None) -> str:
        *lower, (operator, number) = self.comparisons()
        before = "".join(f"{float(n)!r} {o.replace('>', '<')} " for o, n in lower)
        return f"{before}{operand} {operator} {float(number)!r}"

    def placed(self, index: int, attribute: Attribute | None = None) -> RangeCondition:
        if attribute is not None and attribute.is_nominal:
            raise ModelError(f"{self} is a numeric condition, but {self.name!r} is nominal")
        if attribute is None:
            return replace(self, index=index)
        return replace(self, index=index, is_binary=attribute.is_binary, is_date=attribute.is_date)


@dataclass(frozen=True, slots=True)
class OneOfCondition(Condition):
    """`attribute = category` or `attribute in {categories}`; negated `attribute ≠ category` or `attribute not in {…}`.

    A category that the attribute does not have is as good as a missing value, and satisfies none of them.

    >>> print(OneOfCondition("landmass", 0, ("Asia",)), OneOfCondition("landmass", 0, ("Asia", "Europe")), sep=", ")
    landmass = Asia, landmass in {Asia, Europe}
    >>> print(OneOfCondition("landmass", 0, ("Asia",), negated=True))
    landmass ≠ Asia
    """

    categories: tuple[str, ...]
    """The categories that instances may have, or if negated may not have."""
    negated: bool = False
    """Whether the other categories of the attribute are meant."""
    is_binary: bool = field(default=False, compare=False)
    """Whether the attribute has two categories for present and absent; matters for the text alone."""

    def __post_init__(self) -> None:
        if not self.categories or first_repeated(self.categories) is not None:
            raise ValueError(f"a condition on {self.name!r} needs different categories, got {self.categories}")

    @property
    def determines_value(self) -> bool:
        return len(self.categories) == 1 and not self.negated

    @property
    def tests_absence(self) -> bool:
        return self.determines_value and not YES.get(self.categories[0].lower(), True)

    def parts(self, digits: int | None = None) -> Parts:
        if self.determines_value:
            (category,) = self.categories
            return presence_parts(YES[category.lower()]) if self.is_binary else ((), ("=", category))
        if len(self.categories) == 1:
            return (), ("≠", quoted(self.categories[0]))
        return (), ("not in" if self.negated else "in", f"{{{', '.join(map(quoted, self.categories))}}}")

    def text(self, digits: int | None = None) -> str:
        if self.determines_value and not self.is_binary:
            return f"{quoted(self.name)} = {quoted(self.categories[0])}"
        return Condition.text(self, digits)

    def accepted(self, categories: Sequence[str] | None) -> tuple[str, ...]:
        """Return those of some categories that satisfy the condition."""
        named = set(self.categories)
        return tuple(c for c in categories or () if (c in named) != self.negated)

    def accepts(self, value: Any) -> bool:
        return value is not None and (value in self.categories) != self.negated

    def named_values(self) -> set[Any]:
        return set(self.categories)

    def mask(self, values: NDArray[Any], categories: Sequence[str] = ()) -> NDArray[np.bool_]:
        import numpy as np  # a model is read and written without it

        named = set(self.categories)
        accepted = [(category in named) != self.negated for category in categories]
        if accepted.count(True) == 1:
            return values == accepted.index(True)
        # The last is for the code -1, which stands for a missing value.
        return np.array([*accepted, False])[values]

    def sql(self, operand: str, dialect: Dialect, categories: Sequence[str] | None = None) -> str:
        return _sql_in(operand, self.accepted(categories), dialect)

    def python(self, operand: str, categories: Sequence[str] | None = None) -> str:
        if self.determines_value:
            return f"{operand} == {self.categories[0]!r}"
        return f"{operand} in {self.accepted(categories)!r}"

    def placed(self, index: int, attribute: Attribute | None = None) -> OneOfCondition:
        if attribute is None or attribute.categories is None:
            raise ModelError(f"{self} is a nominal condition, but {self.name!r} is numeric")
        for category in self.categories:
            if category not in attribute.categories:
                hint = nearest(category, attribute.categories)
                raise ModelError(f"attribute {self.name!r} has no category {category!r}{hint}")
        return replace(self, index=index, is_binary=attribute.is_binary)


@dataclass(frozen=True, slots=True)
class MissingCondition(Condition):
    """`attribute is missing`, or `attribute is known`.

    >>> str(MissingCondition("area", 0, True)), str(MissingCondition("area", 0, False))
    ('area is missing', 'area is known')
    """

    missing: bool
    """Whether the value must be missing; if not, it must be known."""

    def parts(self, digits: int | None = None) -> Parts:
        return (), ("is", "missing" if self.missing else "known")

    def accepts(self, value: Any) -> bool:
        return (value is None) == self.missing

    def mask(self, values: NDArray[Any], categories: Sequence[str] = ()) -> NDArray[np.bool_]:
        # Only NaN differs from itself.
        is_missing: NDArray[np.bool_] = values != values if values.dtype.kind == "f" else values < 0
        return is_missing == self.missing

    def sql(self, operand: str, dialect: Dialect, categories: Sequence[str] | None = None) -> str:
        if categories is None:
            return f"{operand} IS {'' if self.missing else 'NOT '}NULL"
        known = _sql_in(operand, categories, dialect)
        return f"({operand} IS NULL OR NOT {known})" if self.missing else known

    def python(self, operand: str, categories: Sequence[str] | None = None) -> str:
        if categories is None:
            return f"{operand} {'!=' if self.missing else '=='} {operand}"
        return f"{operand} {'not in' if self.missing else 'in'} {categories!r}"


@dataclass(frozen=True, slots=True)
class LabelCondition(Condition):
    """A label that earlier rules predicted as present (or absent).

    >>> str(LabelCondition("red", 0, True)), str(LabelCondition("red", 0, False))
    ('red', '¬red')
    """

    present: bool
    """Whether the label must be predicted as present; if not, as absent."""

    on_label: ClassVar[bool] = True

    def parts(self, digits: int | None = None) -> Parts:
        return () if self.present else ("¬",), ()

    def text(self, digits: int | None = None) -> str:
        return quoted(self.name) if self.present else f"¬{quoted(self.name)}"

    def accepts(self, value: Any) -> bool:
        return value is self.present

    def mask(self, values: NDArray[Any], categories: Sequence[str] = ()) -> NDArray[np.bool_]:
        return values == int(self.present)

    def sql(self, operand: str, dialect: Dialect, categories: Sequence[str] | None = None) -> str:
        # The operand is NULL, which satisfies nothing, where no rule has decided the label.
        return f"{operand} = {int(self.present)}"

    def python(self, operand: str, categories: Sequence[str] | None = None) -> str:
        return f"{operand} == {int(self.present)}"


def presence_parts(present: bool) -> Parts:
    """Return what is written around the name of a binary attribute that is present, or is not."""
    return () if present else ("no",), ()


def _sql_in(operand: str, categories: Sequence[str], dialect: Dialect) -> str:
    texts = [dialect.string(category) for category in categories if dialect.can_hold(category)]
    if len(texts) <= 1:
        return f"{operand} = {texts[0]}" if texts else "1 = 0"
    return f"{operand} IN ({', '.join(texts)})"


def split_intervals(body: Iterable[Condition]) -> tuple[Condition, ...]:
    """Return the conditions of a body, each interval as its two bounds."""
    return tuple(side for c in body for side in (c.sides if isinstance(c, RangeCondition) else (c,)))


def join_intervals(body: Iterable[Condition]) -> tuple[Condition, ...]:
    """Return an equivalent body with at most one condition for each numeric attribute, where the first one stood.

    >>> above, at_most = RangeCondition("area", 0, above=2), RangeCondition("area", 0, at_most=5)
    >>> [str(condition) for condition in join_intervals([above, LabelCondition("red", 0, True), at_most])]
    ['2 < area <= 5', 'red']
    """
    joined: dict[object, Condition] = {}
    for condition in body:
        key: object = condition
        if isinstance(condition, RangeCondition):
            key = ("range", condition.index)
            other = joined.get(key)
            if isinstance(other, RangeCondition):
                condition = _intersection(other, condition)
        joined.setdefault(key, condition)
        joined[key] = condition
    return tuple(joined.values())


def _intersection(first: RangeCondition, second: RangeCondition) -> RangeCondition:
    """Return the range that two ranges of an attribute have in common; it may be empty."""
    lower = [bound for bound in (first.above, second.above) if bound is not None]
    upper = [bound for bound in (first.at_most, second.at_most) if bound is not None]
    return replace(first, above=max(lower, default=None), at_most=min(upper, default=None))


def join(conditions: Iterable[object]) -> str:
    """Return conditions that must all hold, as text."""
    return " ∧ ".join(map(str, conditions))


def format_count(value: float) -> str:
    """Return a count, or a sum of weights without the noise of adding them up.

    >>> format_count(38.0), format_count(0.1 + 0.2), format_count(1e6 / 3)
    ('38', '0.3', '333333.333333')
    """
    return str(int(value)) if float(value).is_integer() else f"{value:.12g}"


def shortest_bound(threshold: float) -> tuple[bool, float]:
    """Return the threshold or the next larger number, whichever is written shorter, and whether it is the next.

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
