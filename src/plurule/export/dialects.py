"""How databases write names, texts and numbers.

A threshold must reach the database as exactly the double it is, or a value next to it falls on the wrong side.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import ClassVar

from plurule.errors import ModelError, nearest


class Dialect(ABC):
    """One database."""

    title: ClassVar[str]
    most_columns: ClassVar[int]
    words: ClassVar[frozenset[str]] = frozenset()
    """Names, in lower case, that the columns of a subquery cannot be asked for by, even in quotes."""

    def identifier(self, name: str) -> str:
        """A column or table name in quotes."""
        if not name or "\0" in name:
            raise ModelError(f"{self.title} allows no column or table named {name!r}; rename it")
        if any("\ud800" <= c <= "\udfff" for c in name):
            raise ModelError(f"the name {name!r} is no valid text (half of a character); rename it")
        return '"' + name.replace('"', '""') + '"'

    def string(self, text: str) -> str:
        """A text in quotes."""
        return "'" + text.replace("'", "''") + "'"

    def can_hold(self, text: str) -> bool:
        """Whether a column can hold the text at all."""
        return "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in text)

    def folded(self, name: str) -> str:
        """Two names are the same to the database if their folded forms are."""
        return "".join(c.lower() if c.isascii() else c for c in name)

    @abstractmethod
    def number_column(self, column: str) -> str:
        """A column read as doubles, NULL where missing."""

    @abstractmethod
    def number(self, value: float) -> str:
        """A double, exactly."""


class SQLite(Dialect):
    """SQLite, from 3.35 on."""

    title = "SQLite"
    most_columns = 2000
    words = frozenset({"true", "false"})

    def number_column(self, column: str) -> str:
        # Columns imported from a CSV file hold texts, and '' where a value is missing.
        return f"CAST(NULLIF({column}, '') AS REAL)"

    def number(self, value: float) -> str:
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


class DuckDB(Dialect):
    """DuckDB."""

    title = "DuckDB"
    most_columns = 100_000

    def number_column(self, column: str) -> str:
        return f"NULLIF(CAST({column} AS DOUBLE), 'NaN'::DOUBLE)"

    def number(self, value: float) -> str:
        # Without an exponent it would be a decimal number.
        text = repr(value)
        return text if "e" in text else f"{text}e0"


class PostgreSQL(Dialect):
    """PostgreSQL, from 12 on."""

    title = "PostgreSQL"
    most_columns = 1600

    def string(self, text: str) -> str:
        # With an E the backslash means the same whatever standard_conforming_strings says.
        quoted = super().string(text)
        return "E" + quoted.replace("\\", "\\\\") if "\\" in text else quoted

    def folded(self, name: str) -> str:
        # Longer names are cut to this many bytes.
        return name.encode("utf-8", "replace")[:63].decode("utf-8", "ignore")

    def number_column(self, column: str) -> str:
        return f"NULLIF(CAST({column} AS double precision), 'NaN')"

    def number(self, value: float) -> str:
        return f"{value!r}::float8"


DIALECTS: dict[str, Dialect] = {"sqlite": SQLite(), "duckdb": DuckDB(), "postgresql": PostgreSQL()}


def get_dialect(name: str) -> Dialect:
    """The dialect of that name.

    >>> get_dialect("duckdb").number(4.5)
    '4.5e0'
    """
    if name not in DIALECTS:
        raise ModelError(f"there is no SQL dialect {name!r}{nearest(name, DIALECTS)}")
    return DIALECTS[name]
