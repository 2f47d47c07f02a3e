"""CSV, TSV and Parquet files: pyarrow reads them, and their columns are encoded like those of a frame."""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from plurule.data.dataset import Dataset, Table
from plurule.data.inputs import LEADING_ZERO, encode
from plurule.data.labels import matching
from plurule.data.reading import Place, Source, decode, read_bytes, shown, suffix_of
from plurule.errors import DataError, first_repeated
from plurule.model.condition import are_dates, parse_date

MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "null")
"""Texts of a field that stand for a missing value."""

_DELIMITERS = ",;\t|"
MOST_ODD_VALUES = 0.1
"""Share of the values of a nominal column that may be odd where the column is pointed out."""
_NUMBER = re.compile(r"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+")
# A row has to fit into a block.
_BLOCK = 1 << 24
# A small file of equal values can unpack to more than any memory holds.
_ALWAYS_ALLOWED = 1 << 28
_LARGEST_RATIO = 500
_BYTES_PER_VALUE = 8


# CSV ---------------------------------------------------------------------------------------------------------------


def read_csv(
    path: Path,
    nominal: Sequence[str] = (),
    delimiter: str | None = None,
    decimal: str = ".",
    content: bytes | None = None,
) -> tuple[Dataset, Source]:
    """Read all columns of a CSV or TSV file.

    A column is numeric if all its values are numbers and none has a leading zero, a date if all are dates in ISO
    format, else nominal; its categories are then the values that occur, in alphabetical order.

    Parameters
    ----------
    path
        The file.
    nominal
        Names or patterns of columns that are nominal even if their values are numbers.
    delimiter
        What separates the fields; the first line decides, unless given.
    decimal
        What separates the decimals of a number, "." or ",".
    content
        Read instead of the whole file: the line of names and some rows.
    """
    import pyarrow

    if decimal not in (".", ","):
        raise DataError(f"decimal={decimal!r}, expected '.' or ','")
    place = Place(path.name)
    content = read_bytes(path) if content is None else content
    if not content.strip(b"\r\n"):
        raise place.error("the file is empty, expected a line of names")
    if delimiter is None:
        delimiter = "\t" if suffix_of(path) == ".tsv" else _most_frequent_delimiter(content)
    names, n_lines = _read_names(content, delimiter, path)
    source = Source(place, partial(_line_of_row, content, delimiter, path))
    try:
        columns = _read_texts(content, len(names), n_lines, delimiter)
    except pyarrow.ArrowInvalid as error:
        raise _explain(content, delimiter, path, error) from error
    is_nominal = set(matching(names, nominal, place))
    for i, name in enumerate(names):
        if i in is_nominal:
            columns[i] = _with_sorted_categories(columns[i])
            continue
        numbers = _as_numbers(columns[i], decimal)
        if numbers is not None and _is_finite(numbers, name, source):
            columns[i] = numbers
    table = encode(pyarrow.table(columns, names))
    notes = (*_decimal_comma_notes(table, place), *_odd_value_notes(table, place))
    return Dataset.unlabelled(table), Source(place, source.line_of, notes)


def _most_frequent_delimiter(content: bytes) -> str:
    """Return what the first line has most of outside of quotes."""
    first_line = content.partition(b"\n")[0]
    bare = b"".join(first_line.split(b'"')[0::2])
    return max(_DELIMITERS, key=lambda delimiter: bare.count(delimiter.encode()))


def _read_names(content: bytes, delimiter: str, path: Path) -> tuple[list[str], int]:
    """Read the names of the columns, and the number of lines that they take."""
    place = Place(path.name)
    reader = csv.reader(io.TextIOWrapper(io.BytesIO(content), "utf-8-sig", newline=""), delimiter=delimiter)
    try:
        names = next(reader, [])
    except UnicodeDecodeError:
        decode(content, path)
        raise
    except csv.Error as error:
        raise place.at(reader.line_num).error(str(error)) from error
    if not names:
        raise place.at(1).error("the first line is empty, expected a line of names")
    _expect_different(names, place.at(1))
    return names, reader.line_num


def _expect_different(names: Sequence[str], place: Place) -> None:
    repeated = first_repeated(names)
    if repeated is not None:
        raise place.error(f"two columns are named {shown(repeated)}, expected unique names")


def _read_texts(content: bytes, width: int, n_skipped: int, delimiter: str) -> list[Any]:
    """Read the columns of CSV, without the first lines, as texts, null where a value is missing."""
    import pyarrow
    import pyarrow.csv

    names = [str(i) for i in range(width)]
    # The line of names may be all there is, without a line end.
    table = pyarrow.csv.read_csv(
        pyarrow.py_buffer(content if content.endswith((b"\n", b"\r")) else content + b"\n"),
        read_options=pyarrow.csv.ReadOptions(column_names=names, skip_rows=n_skipped, block_size=_BLOCK),
        parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pyarrow.string()),
            null_values=list(MISSING),
            strings_can_be_null=True,
        ),
    )
    return list(table.columns)


def _as_numbers(texts: Any, decimal: str) -> Any:
    """Convert a column of texts to numbers; None if one of them is no number."""
    import pyarrow
    import pyarrow.compute

    if decimal == ",":
        texts = pyarrow.compute.replace_substring(texts, ",", ".")
    with contextlib.suppress(pyarrow.ArrowInvalid):
        numbers = pyarrow.compute.ascii_trim_whitespace(texts).cast(pyarrow.float64())
        codes = pyarrow.compute.match_substring_regex(texts, LEADING_ZERO)
        return None if pyarrow.compute.any(codes).as_py() else numbers
    return None


def _is_finite(numbers: Any, name: str, source: Source) -> bool:
    """Whether all numbers are finite; a column of which none is holds texts such as "inf"."""
    values = numbers.to_numpy()
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite) == 0:
        return True
    if not np.isfinite(values).any():
        return False
    found = repr(str(values[infinite[0]]))
    where = source.at_row(int(infinite[0]))
    raise DataError(f"{where}: the value {found} for column {shown(name)}, expected a finite number")


def _numbered_rows(content: bytes, delimiter: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """The line on which each row begins, and its fields; the names first."""
    reader = csv.reader(io.StringIO(decode(content, path), newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for row in reader:
            if row:
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        reason = str(error)
        if "unexpected end of data" in reason:
            reason = "a quote is never closed, expected it before the end of the file"
        raise Place(path.name, reader.line_num).error(reason) from error


def _line_of_row(content: bytes, delimiter: str, path: Path, row: int) -> int:
    lines = [line for line, _ in _numbered_rows(content, delimiter, path)]
    return lines[row + 1]


def _explain(content: bytes, delimiter: str, path: Path, error: Exception) -> DataError:
    """Find the line of what pyarrow complains about."""
    rows = _numbered_rows(content, delimiter, path)
    _, names = next(rows)
    for line, row in rows:
        if len(row) != len(names):
            return Place(path.name, line).error(f"{len(row)} values, {len(names)} columns named")
    return Place(path.name).error(f"cannot be read as CSV ({error})")


def _decimal_comma_notes(table: Table, place: Place) -> tuple[str, ...]:
    """A sentence about nominal columns whose values look like numbers with decimal commas."""
    names = [a.name for a in table.attributes if a.categories and all(map(_DECIMAL_COMMA.fullmatch, a.categories))]
    if not names:
        return ()
    some = ", ".join(map(shown, names[:3])) + (" …" if len(names) > 3 else "")
    return (
        f"{place}: nominal, though the values look like numbers with decimal commas (decimal=',' reads them): {some}",
    )


def _odd_value_notes(table: Table, place: Place) -> Iterator[str]:
    """Sentences about nominal columns most of whose values look like numbers or dates."""
    for attribute in table.attributes:
        categories = attribute.categories or ()
        for kind, is_of_kind in (("numbers", _NUMBER.fullmatch), ("dates", parse_date)):
            odd = [category for category in categories if is_of_kind(category) is None]
            if 0 < len(odd) <= MOST_ODD_VALUES * len(categories):
                because = f"nominal because of {', '.join(map(shown, odd[:3]))}{' …' if len(odd) > 3 else ''}"
                yield f"{place}: {shown(attribute.name)} is {because}; its other values are {kind}"


# Parquet -----------------------------------------------------------------------------------------------------------


def count_groups(path: Path) -> int:
    """Count the row groups of a Parquet file."""
    import pyarrow.parquet

    with _parquet_errors(path), pyarrow.parquet.ParquetFile(path) as file:
        return int(file.num_row_groups)


def read_parquet(path: Path, group: int | None = None, nominal: Sequence[str] = ()) -> tuple[Dataset, Source]:
    """Read all columns of a Parquet file, or of one of its row groups.

    Numbers are numeric and dates dates, also as texts, unless `nominal` names them; dictionaries, other texts and truth
    values are nominal.
    """
    import pyarrow.parquet
    import pyarrow.types as types

    place = Place(path.name)
    with _parquet_errors(path):
        with pyarrow.parquet.ParquetFile(path) as file:
            schema = file.schema_arrow
            _expect_different(schema.names, place)
            _expect_readable(schema, file.metadata, path.stat().st_size, place)
        # Texts are read as codes: a text that occurs a thousand times is kept once.
        texts = {name for name, kind in zip(schema.names, schema.types, strict=True) if _is_text(kind)}
        with pyarrow.parquet.ParquetFile(path, read_dictionary=list(texts)) as file:
            table = file.read() if group is None else file.read_row_group(group)
        named = {schema.names[i] for i in matching(schema.names, nominal, place)}
        columns = []
        for name, values in zip(schema.names, table.columns, strict=True):
            if name in texts | named and not types.is_dictionary(schema.field(name).type):
                values = _with_sorted_categories(values)
                if name not in named and are_dates(values.dictionary.to_pylist()):
                    values = values.cast(pyarrow.string())
            elif _is_number(values.type) and values.type != pyarrow.float32():
                values = values.cast(pyarrow.float64(), safe=False)
            columns.append(values)
        encoded = encode(pyarrow.table(columns, schema.names)) if columns else Table([], [], table.num_rows)
    return Dataset.unlabelled(encoded), Source(place)


@contextlib.contextmanager
def _parquet_errors(path: Path) -> Iterator[None]:
    """Say in a sentence why a file cannot be read."""
    try:
        yield
    except DataError as error:
        raise error if str(error).startswith(path.name) else Place(path.name).error(str(error)) from None
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except Exception as error:
        # What pyarrow raises over a damaged file depends on where the damage is.
        reason = str(error).split("\n")[0]
        raise Place(path.name).error(f"is not a Parquet file or is damaged ({reason})") from error


def _is_text(kind: Any) -> bool:
    import pyarrow.types as types

    return bool(types.is_string(kind) or types.is_large_string(kind))


def _is_number(kind: Any) -> bool:
    import pyarrow.types as types

    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_null(kind))


def _expect_readable(schema: Any, metadata: Any, size: int, place: Place) -> None:
    """Refuse what cannot be used, and what would need far more memory than the file has bytes, before it is read."""
    import pyarrow.types as types

    for name, kind in zip(schema.names, schema.types, strict=True):
        values = kind.value_type if types.is_dictionary(kind) else kind
        is_date = types.is_timestamp(kind) or types.is_date(kind)
        if not (_is_number(values) or _is_text(values) or types.is_boolean(values) or is_date):
            expected = "expected numbers, dates, texts or truth values; drop or change it"
            raise place.error(f"column {shown(name)} is of type {kind}, {expected}")
    cells = metadata.num_rows * max(1, len(schema.names))
    # To ask pyarrow about the columns of a group ends the process if the file is damaged in some ways.
    unpacked = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    allowed = max(_ALWAYS_ALLOWED, _LARGEST_RATIO * size)
    if max(_BYTES_PER_VALUE * cells, unpacked) > allowed:
        what = f"{unpacked} bytes unpacked" if unpacked > allowed else f"{cells} values"
        raise place.error(f"holds {what}, far more than files of its size do; it is not read")


def _with_sorted_categories(column: Any) -> Any:
    """A column as a dictionary of texts in order, as `encode` has it where no categories are declared."""
    import pyarrow
    import pyarrow.compute
    import pyarrow.types as types

    if not types.is_dictionary(column.type):
        column = column.cast(pyarrow.string()).dictionary_encode()
    coded = column.combine_chunks()
    categories = coded.dictionary.sort()
    codes = pyarrow.compute.index_in(coded.dictionary, categories).take(coded.indices)
    return pyarrow.DictionaryArray.from_arrays(codes, categories)
