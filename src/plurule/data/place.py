"""Where in a file something is wrong: every complaint of a reader begins with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plurule.errors import DataError

_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Place:
    """A file, or a line of it.

    >>> str(Place("birds.arff").at(412))
    'birds.arff, line 412'
    """

    file: str
    line: int | None = None

    def at(self, line: int) -> Place:
        """The same file, at the given line (counted from 1)."""
        return Place(self.file, line)

    def error(self, message: str) -> DataError:
        """The error to raise for something found here."""
        return DataError(f"{self}: {message}")

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}, line {self.line}"


@dataclass(frozen=True, slots=True)
class Source:
    """What a reader says about the data set it gives, in which every column is an attribute."""

    place: Place
    """The file it comes from (or a name for what is not a file)."""
    lines: Sequence[int] | None = None
    """The line of each row in the file, if it has lines."""
    labels: tuple[str, ...] | None = None
    """Names of the labels, if the file states them."""
    notes: tuple[str, ...] = ()
    """Sentences about what the file holds and the data set does not."""

    def at_row(self, row: int) -> str:
        """Where a row stands."""
        return f"{self.place}, row {row + 1}" if self.lines is None else str(self.place.at(self.lines[row]))


def shown(text: str) -> str:
    """A piece of a file for an error message: quoted, and cut if long.

    >>> shown("0.5x"), shown("a" * 100)[-8:]
    ("'0.5x'", "aaaaaa…'")
    """
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")
