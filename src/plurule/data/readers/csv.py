"""CSV and TSV files: a line of names, then a line per instance."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from plurule.data.dataset import Dataset
from plurule.data.labels import matching
from plurule.data.place import Place, Source, shown
from plurule.data.readers.numerals import parse_decimals
from plurule.data.readers.text import read_text, suffix_of
from plurule.data.table import Column, Table
from plurule.errors import first_repeated
from plurule.model import Attribute

MISSING = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "null"})
"""What a field says where a value is missing."""

_DELIMITERS = ",;\t|"
_BLOCK = 1 << 18


def read_csv(path: Path, *, nominal: Sequence[str] = (), delimiter: str | None = None) -> tuple[Dataset, Source]:
    """Read all columns of a CSV or TSV file.

    A column is numeric if all its values are numbers, else nominal; its categories are then the values that occur, in
    alphabetical order.

    Parameters
    ----------
    path
        The file; unpacked if it ends in .gz or .bz2.
    nominal
        Names (or patterns) of columns that are nominal even if their values are numbers.
    delimiter
        What separates the fields; found from the first line if not given.
    """
    place = Place(path.name)
    content = read_text(path, keep_returns=True)
    if not content.strip(b"\r\n"):
        raise place.error("the file is empty, expected a line of names")
    if delimiter is None:
        delimiter = "\t" if suffix_of(path) == ".tsv" else _sniff(content)
    table, lines = _read_numbers(content, delimiter, place) if not nominal else (None, None)
    if table is None or lines is None:
        table, lines = _read_fields(content, delimiter, nominal, place)
    return Dataset.unlabelled(table), Source(place, lines)


def _sniff(content: bytes) -> str:
    """The delimiter that the first line has most of."""
    first = content[: content.find(b"\n") + 1 or len(content)].decode("utf-8")
    bare = "".join(first.split('"')[0::2])
    return max(_DELIMITERS, key=bare.count)


def _names(fields: Sequence[str], place: Place) -> list[str]:
    twice = first_repeated(fields)
    if twice is not None:
        raise place.at(1).error(f"two columns are named {shown(twice)}, expected unique names")
    return list(fields)


def _read_numbers(content: bytes, delimiter: str, place: Place) -> tuple[Table | None, Sequence[int] | None]:
    """A file of plain decimals without quotes, in large blocks; None if it is anything else."""
    start = content.find(b"\n") + 1
    if not start or delimiter != "," or b'"' in content:
        return None, None
    names = _names(content[:start].decode("utf-8").rstrip("\r\n").split(","), place)
    width, blocks = len(names), []
    content = content.rstrip(b"\r\n") + b"\n"
    while start < len(content):
        end = content.find(b"\n", start + _BLOCK) + 1 or len(content)
        block = content[start:end].replace(b"\r\n", b"\n")
        rows = block.count(b"\n")
        if any(line.count(b",") != width - 1 for line in block.split(b"\n")[:-1]):
            return None, None
        numbers = parse_decimals(block)
        if not numbers.plain.all():
            return None, None
        blocks.append(numbers.values.reshape(rows, width))
        start = end
    matrix = np.concatenate([np.empty((0, width)), *blocks])
    columns = list(np.ascontiguousarray(matrix.T))
    return Table([Attribute(name) for name in names], columns, len(matrix)), range(2, len(matrix) + 2)


def _read_fields(content: bytes, delimiter: str, nominal: Sequence[str], place: Place) -> tuple[Table, list[int]]:
    reader = csv.reader(io.StringIO(content.decode("utf-8"), newline=""), delimiter=delimiter, strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        header = next(reader)
        # A field that is quoted may hold newlines: a row begins on the line after the one before it.
        begin = reader.line_num
        names = _names(header, place)
        for row in reader:
            if len(row) == len(names):
                rows.append(row)
                lines.append(begin + 1)
            elif row:
                raise place.at(begin + 1).error(f"{len(row)} values, {len(names)} columns named")
            begin = reader.line_num
    except csv.Error as error:
        raise place.at(reader.line_num).error(_reason(str(error))) from error
    except StopIteration:
        raise place.error("the file is empty, expected a line of names") from None
    as_nominal = matching(names, nominal, place)
    columns: list[Column] = []
    attributes: list[Attribute] = []
    fields = zip(*rows, strict=True) if rows else ((),) * len(names)
    for i, (name, texts) in enumerate(zip(names, fields, strict=True)):
        attribute, column = _column(name, texts, i in as_nominal, place, lines)
        attributes.append(attribute)
        columns.append(column)
    return Table(attributes, columns, len(rows)), lines


def _reason(message: str) -> str:
    if "unexpected end of data" in message:
        return "a quote is never closed, expected it before the end of the file"
    if "expected after" in message:
        return "text after a closing quote, expected the delimiter or the end of the line"
    return message


def _column(
    name: str, texts: Sequence[str], nominal: bool, place: Place, lines: Sequence[int]
) -> tuple[Attribute, Column]:
    numbers = None if nominal else numbers_of(texts)
    # Words such as "inf" are numbers only among numbers.
    if numbers is not None and (np.isfinite(numbers).any() or not np.isinf(numbers).any()):
        infinite = np.isinf(numbers)
        if infinite.any():
            here = place.at(lines[int(np.argmax(infinite))])
            found = shown(texts[int(np.argmax(infinite))])
            raise here.error(f"the value {found} for column {shown(name)}, expected a finite number")
        return Attribute(name), numbers
    categories = sorted({text for text in texts if text not in MISSING})
    codes = {category: code for code, category in enumerate(categories)}
    column = np.fromiter((codes.get(text, -1) for text in texts), np.int32, len(texts))
    return Attribute(name, tuple(categories)), column


def numbers_of(texts: Sequence[str]) -> NDArray[np.float64] | None:
    """The texts as numbers, None if one is no number and not missing."""
    joined = "".join(texts)
    try:
        if "_" not in joined and joined.isascii():
            return np.array([math.nan if text in MISSING else float(text) for text in texts], dtype=np.float64)
        # `float` also reads `1_000` and the digits of every script.
        return np.array([_number(text) for text in texts], dtype=np.float64)
    except ValueError:
        return None


def _number(text: str) -> float:
    if text in MISSING:
        return math.nan
    if text.isascii() and "_" not in text:
        return float(text)
    raise ValueError(text)
