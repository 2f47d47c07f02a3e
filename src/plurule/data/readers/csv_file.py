"""CSV and TSV files: a line of names, then a line per instance."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule.data.dataset import Dataset
from plurule.data.labels import matching
from plurule.data.place import Place, shown
from plurule.data.readers.numerals import parse_decimals
from plurule.data.readers.raw import RawTable
from plurule.data.readers.source import read_text, suffix_of
from plurule.data.table import Column, Table
from plurule.data.writers.target import number_text, unused_name, write_packed
from plurule.model import Attribute

MISSING = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "null"})
"""What a field says where a value is missing."""

_DELIMITERS = ",;\t|"
_BLOCK = 1 << 18
_EMPTY = '""'


def read_csv(path: Path, *, nominal: Sequence[str] = (), delimiter: str | None = None) -> RawTable:
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
    return RawTable(table, place, lines=lines)


def _sniff(content: bytes) -> str:
    """The delimiter that the first line has most of."""
    first = content[: content.find(b"\n") + 1 or len(content)].decode("utf-8")
    bare = "".join(first.split('"')[0::2])
    return max(_DELIMITERS, key=bare.count)


def _names(fields: Sequence[str], place: Place) -> list[str]:
    names = list(fields)
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise place.at(1).error(f"two columns are named {shown(twice)}, expected unique names")
    return names


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
        numbers = parse_decimals(block, rows * width)
        if numbers is None:
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
    numbers = None if nominal else _numbers(texts)
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


def _numbers(texts: Sequence[str]) -> NDArray[np.float64] | None:
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


def write_csv(data: Dataset, path: Path) -> list[str]:
    """Write a data set, the labels as the last columns. Returns notes on what CSV cannot hold."""
    labels = data.Y if isinstance(data.Y, np.ndarray) else data.Y.toarray()
    delimiter = "\t" if suffix_of(path) == ".tsv" else ","
    names = [*data.attribute_names, *data.label_names]
    columns: list[Sequence[str]] = [_texts(a, data.X.column(i), delimiter) for i, a in enumerate(data.attributes)]
    columns += [list(map(str, labels[:, k].tolist())) for k in range(labels.shape[1])]
    if data.weights is not None:
        names.insert(0, unused_name("weight", names))
        columns.insert(0, list(map(number_text, data.weights.tolist())))
    lines = [delimiter.join(_quote(name, delimiter) for name in names)]
    lines += [delimiter.join(row) for row in zip(*columns, strict=True)]
    # A line that is empty would be no row.
    write_packed(path, "".join(f"{line or _EMPTY}\n" for line in lines))
    return _losses(data, path, names[0])


def _quote(text: str, delimiter: str) -> str:
    """A field as CSV writes it: in quotes if it holds anything that has a meaning."""
    if any(character in text for character in (delimiter, '"', "\r", "\n")):
        return '"' + text.replace('"', '""') + '"'
    return text


def _texts(attribute: Attribute, column: NDArray[Any], delimiter: str) -> list[str]:
    if attribute.categories is None:
        return ["" if math.isnan(value) else number_text(value) for value in column.tolist()]
    spelled = [*(_quote(category, delimiter) for category in attribute.categories), ""]
    return [spelled[code] for code in column.tolist()]


def _losses(data: Dataset, path: Path, first: str) -> list[str]:
    """What does not come back when the file is read again."""
    count = len(data.label_names)
    notes = [f"{path.name}: the labels are the last {count} columns, read it with labels=-{count}"]
    if data.weights is not None:
        notes.append(f"{path.name}: the weights are the column {shown(first)}")
    lost = [a.name for i, a in enumerate(data.attributes) if a.categories is not None and _changes(a, data.X.column(i))]
    if lost:
        some = ", ".join(shown(name) for name in lost[:3]) + (" …" if len(lost) > 3 else "")
        notes.append(
            f"{path.name}: CSV does not say which categories there are; read again, {len(lost)} nominal "
            f"attribute{'s' * (len(lost) > 1)} will have other ones or be numeric: {some}"
        )
    return notes


def _changes(attribute: Attribute, codes: NDArray[Any]) -> bool:
    """Whether the categories of an attribute would be read differently."""
    categories = attribute.categories or ()
    used = np.bincount(codes[codes >= 0], minlength=len(categories)) > 0
    return (
        not used.all()
        or list(categories) != sorted(categories)
        or not MISSING.isdisjoint(categories)
        or _numbers(categories) is not None
    )
