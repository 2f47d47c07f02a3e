"""CSV and TSV files: a line of names, then a line per instance."""

from __future__ import annotations

import csv
import io
import math
import re
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule.data.dataset import Dataset
from plurule.data.labels import matching
from plurule.data.place import Place, Source, shown
from plurule.data.readers.text import read_text, suffix_of
from plurule.data.table import Column, Table
from plurule.errors import DataError, first_repeated
from plurule.model import Attribute

MISSING = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "null"})
"""What a field says where a value is missing."""

_DELIMITERS = ",;\t|"
_CELLS_AT_ONCE = 1 << 16
_PIECE = 1 << 20
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+")


def read_csv(
    path: Path,
    *,
    nominal: Sequence[str] = (),
    delimiter: str | None = None,
    decimal: str = ".",
    content: str | None = None,
) -> tuple[Dataset, Source]:
    """Read all columns of a CSV or TSV file.

    A column is numeric if all its values are numbers, else nominal; its categories are then the values that occur, in
    alphabetical order. `nominal` names columns that are nominal even if their values are numbers. `content` is what is
    read instead of the whole file: the line of names and some rows.
    """
    if decimal not in (".", ","):
        raise DataError(f"decimal={decimal!r}, expected '.' or ','")
    place = Place(path.name)
    content = read_text(path, keep_returns=True) if content is None else content
    if not content.strip("\r\n"):
        raise place.error("the file is empty, expected a line of names")
    if delimiter is None:
        # What the first line has most of, outside of quotes.
        bare = "".join(content.partition("\n")[0].split('"')[0::2])
        delimiter = "\t" if suffix_of(path) == ".tsv" else max(_DELIMITERS, key=bare.count)
    table, lines = _read_fields(content, delimiter, nominal, decimal, place)
    return Dataset.unlabelled(table), Source(place, lines, notes=_comma_notes(table, place))


def _read_fields(
    content: str, delimiter: str, nominal: Sequence[str], decimal: str, place: Place
) -> tuple[Table, Sequence[int]]:
    """A file of any fields."""
    as_nominal: set[int] | None = None
    while True:
        lines = array("q")
        fields: list[_Field] = []
        names: list[str] = []
        for texts in _chunks(content, delimiter, lines, names, place):
            if not fields:
                as_nominal = set(matching(names, nominal, place)) if as_nominal is None else as_nominal
                fields = [_Field(i in as_nominal, decimal) for i in range(len(names))]
            for field, column in zip(fields, texts, strict=True):
                field.add(column)
        pairs = [field.finish(name, place, lines) for field, name in zip(fields, names, strict=True)]
        found = [pair for pair in pairs if pair is not None]
        if len(found) == len(pairs):
            return Table([a for a, _ in found], [c for _, c in found], len(lines)), lines
        # Of what looked like numbers at first the texts are wanted after all.
        as_nominal = (as_nominal or set()) | {i for i, pair in enumerate(pairs) if pair is None}


def _chunks(
    content: str, delimiter: str, lines: array[int], names: list[str], place: Place
) -> Iterator[Sequence[Sequence[str]]]:
    """The columns of some rows at a time, at least once; notes the names and the lines of the rows."""
    reader = csv.reader(_lines(content), delimiter=delimiter, strict=True)
    rows: list[list[str]] = []
    try:
        names += next(reader)
        if not names:
            raise place.at(1).error("the first line is empty, expected a line of names")
        twice = first_repeated(names)
        if twice is not None:
            raise place.at(1).error(f"two columns are named {shown(twice)}, expected unique names")
        # A field that is quoted may hold newlines: a row begins on the line after the one before it.
        begin = reader.line_num
        most = max(1, _CELLS_AT_ONCE // len(names))
        for row in reader:
            if len(row) == len(names):
                rows.append(row)
                lines.append(begin + 1)
            elif row:
                raise place.at(begin + 1).error(f"{len(row)} values, {len(names)} columns named")
            begin = reader.line_num
            if len(rows) == most:
                yield list(zip(*rows, strict=True))
                rows = []
    except csv.Error as error:
        raise place.at(reader.line_num).error(_reason(str(error))) from error
    except StopIteration:
        raise place.error("the file is empty, expected a line of names") from None
    yield list(zip(*rows, strict=True)) if rows else [()] * len(names)


def _lines(content: str) -> Iterator[str]:
    """The lines of a text with their ends; StringIO takes four bytes for a character, so it gets a piece at a time."""
    begin = 0
    while begin < len(content):
        end = content.find("\n", begin + _PIECE) + 1 or len(content)
        yield from io.StringIO(content[begin:end], newline="")
        begin = end


class _Field:
    """A column while it is read: numbers as long as all its texts are, else each text once, and codes."""

    def __init__(self, nominal: bool, decimal: str) -> None:
        self._decimal = decimal
        self._is_numeric = not nominal
        self._parts: list[NDArray[Any]] = []
        self._known: dict[str, int] = {}

    def add(self, texts: Sequence[str]) -> None:
        """The next values."""
        numbers = numbers_of(texts, self._decimal) if self._is_numeric else None
        if numbers is not None:
            self._parts.append(numbers)
            return
        if self._is_numeric:
            self._is_numeric, self._parts = False, [np.empty(0)] if self._parts else []
        codes = [self._known.setdefault(text, len(self._known)) for text in texts]
        self._parts.append(np.array(codes, dtype=np.int32))

    def finish(self, name: str, place: Place, lines: Sequence[int]) -> tuple[Attribute, Column] | None:
        """The attribute and its values; None if its first texts were given up for numbers."""
        values = np.concatenate(self._parts)
        if self._is_numeric:
            infinite = np.flatnonzero(np.isinf(values))
            # Words such as "inf" are numbers only among numbers.
            if len(infinite) and not np.isfinite(values).any():
                return None
            if len(infinite):
                here = place.at(lines[int(infinite[0])])
                found = repr(str(values[infinite[0]]))
                raise here.error(f"the value {found} for column {shown(name)}, expected a finite number")
            return Attribute(name), values
        if values.dtype.kind == "f":
            return None
        # There may be as many texts as rows: none is looked up in a second dictionary, and the first is not kept.
        known, self._known = self._known, {}
        categories = sorted(text for text in known if text not in MISSING)
        codes = np.full(len(known), -1, dtype=np.int32)
        codes[np.fromiter((known[text] for text in categories), np.intp)] = np.arange(len(categories))
        return Attribute(name, tuple(categories)), codes[values]


def _comma_notes(table: Table, place: Place) -> tuple[str, ...]:
    """A sentence about nominal columns whose values look like numbers with decimal commas."""
    names = [a.name for a in table.attributes if a.categories and all(map(_DECIMAL_COMMA.fullmatch, a.categories))]
    if not names:
        return ()
    some = ", ".join(map(shown, names[:3])) + (" …" if len(names) > 3 else "")
    return (
        f"{place}: nominal, though the values look like numbers with decimal commas (decimal=',' reads them): {some}",
    )


def _reason(message: str) -> str:
    if "unexpected end of data" in message:
        return "a quote is never closed, expected it before the end of the file"
    if "expected after" in message:
        return "text after a closing quote, expected the delimiter or the end of the line"
    return message


def numbers_of(texts: Sequence[str], decimal: str = ".") -> NDArray[np.float64] | None:
    """The texts as numbers, None if one is no number and not missing."""
    if decimal == ",":
        texts = [text.replace(",", ".") for text in texts]
    joined = "".join(texts)
    if "_" in joined or not joined.isascii():
        # `float` also reads `1_000` and the digits of every script.
        return None
    try:
        return np.array([math.nan if text in MISSING else float(text) for text in texts], dtype=np.float64)
    except ValueError:
        return None
