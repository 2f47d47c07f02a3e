"""How databases write names, texts and numbers.

A threshold must reach the database as exactly the double it is, or a value next to it falls on the wrong side.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from plurule.errors import ModelError, nearest


@dataclass(frozen=True)
class Dialect:
    """One database."""

    title: str
    most_columns: int
    number_column: str
    """A column, `{}`, read as doubles, NULL where missing."""
    number: Callable[[float], str]
    """A double, exactly."""
    words: frozenset[str] = frozenset()
    """Names, in lower case, that the columns of a subquery cannot be asked for by, even in quotes."""
    longest_name: int | None = None
    """Names with more bytes are cut, and small and capital letters differ; None where neither is so."""
    has_escapes: bool = False
    """Whether a backslash in a text may mean something."""

    def identifier(self, name: str) -> str:
        """A column or table name in quotes."""
        if not name or "\0" in name:
            raise ModelError(f"{self.title} allows no column or table named {name!r}; rename it")
        if not self.can_hold(name):
            raise ModelError(f"the name {name!r} is no valid text (half of a character); rename it")
        return '"' + name.replace('"', '""') + '"'

    def string(self, text: str) -> str:
        """A text in quotes."""
        quoted = "'" + text.replace("'", "''") + "'"
        # With an E the backslash means the same whatever standard_conforming_strings says.
        return "E" + quoted.replace("\\", "\\\\") if self.has_escapes and "\\" in text else quoted

    def can_hold(self, text: str) -> bool:
        """Whether a column can hold the text at all."""
        return "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in text)

    def folded(self, name: str) -> str:
        """Two names are the same to the database if their folded forms are."""
        if self.longest_name is None:
            return "".join(c.lower() if c.isascii() else c for c in name)
        return name.encode("utf-8", "replace")[: self.longest_name].decode("utf-8", "ignore")


def _sqlite_number(value: float) -> str:
    # SQLite reads decimals with a little more than double precision and then rounds again. Numbers that this
    # could get wrong are written as a whole number times a power of two, which is exact everywhere.
    if value.is_integer() and abs(value) < 2**53:
        return f"{value:.1f}"
    text = repr(value)
    digits = text.lower().split("e")[0].replace(".", "").lstrip("-0")
    distance = abs(Fraction(text) - Fraction(value)) / Fraction(math.ulp(value))
    if len(digits) <= 15 and 1e-22 < abs(value) < 1e22 and distance < Fraction(49, 100):
        return text
    mantissa, exponent = math.frexp(value)
    product = f"{int(mantissa * 2**53)} * 1.0"
    exponent -= 53
    while exponent:
        step = min(abs(exponent), 62)
        product += f" {'*' if exponent > 0 else '/'} {2**step}"
        exponent += -step if exponent > 0 else step
    return f"({product})"


def _duckdb_number(value: float) -> str:
    # Without an exponent it would be a decimal number.
    text = repr(value)
    return text if "e" in text else f"{text}e0"


DIALECTS: dict[str, Dialect] = {
    # From 3.35 on. Columns imported from a CSV file hold texts, and '' where a value is missing.
    "sqlite": Dialect(
        "SQLite", 2000, "CAST(NULLIF({}, '') AS REAL)", _sqlite_number, words=frozenset({"true", "false"})
    ),
    "duckdb": Dialect("DuckDB", 100_000, "NULLIF(CAST({} AS DOUBLE), 'NaN'::DOUBLE)", _duckdb_number),
    # From 12 on.
    "postgresql": Dialect(
        "PostgreSQL",
        1600,
        "NULLIF(CAST({} AS double precision), 'NaN')",
        "{!r}::float8".format,
        longest_name=63,
        has_escapes=True,
    ),
}


def get_dialect(name: str) -> Dialect:
    """The dialect of that name.

    >>> get_dialect("duckdb").number(4.5)
    '4.5e0'
    """
    if name not in DIALECTS:
        raise ModelError(f"there is no SQL dialect {name!r}{nearest(name, DIALECTS)}")
    return DIALECTS[name]
