"""Parquet files, with pyarrow (the extra `parquet`)."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule.data.dataset import Dataset
from plurule.data.labels import matching
from plurule.data.place import Place, Source, shown
from plurule.data.table import Column, SparseColumn, Table, recode
from plurule.errors import DataError, first_repeated
from plurule.model import Attribute

KEY = b"plurule"
"""Under which the file says what its columns are."""
# A small file of equal values can unpack to more than any memory holds.
_ALWAYS_ALLOWED = 1 << 28
_LARGEST_RATIO = 500
_BYTES_PER_VALUE = 8


def pyarrow_for(path: Path) -> Any:
    """The library that a Parquet file needs."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise DataError(f"{path.name}: Parquet files need pyarrow: pip install 'plurule[parquet]'") from error
    return pyarrow


def count_groups(path: Path) -> int:
    """How many groups of rows a Parquet file has."""
    pyarrow = pyarrow_for(path)
    with _told(path), pyarrow.parquet.ParquetFile(path) as file:
        return int(file.num_row_groups)


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    """Say in a sentence why a file cannot be read."""
    try:
        yield
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except Exception as error:
        # What pyarrow raises over a damaged file depends on where the damage is.
        reason = str(error).split("\n")[0]
        raise Place(path.name).error(f"is not a Parquet file or is damaged ({reason})") from error


def read_parquet(path: Path, group: int | None = None, *, nominal: Sequence[str] = ()) -> tuple[Dataset, Source]:
    """Read all columns of a Parquet file, or of one of its groups of rows.

    Numbers are numeric unless `nominal` names them; dictionaries, texts and truth values nominal. A file that plurule
    wrote also says which columns are labels and weights.
    """
    pyarrow = pyarrow_for(path)
    place = Place(path.name)
    with _told(path):
        with pyarrow.parquet.ParquetFile(path) as file:
            schema, metadata = file.schema_arrow, file.metadata
        names = [str(name) for name in schema.names]
        twice = first_repeated(names)
        if twice is not None:
            raise place.error(f"two columns are named {shown(twice)}, expected unique names")
        about = _about(schema.metadata, set(names), place)
        _expect_readable(schema, metadata, path.stat().st_size, place)
        # Texts are read as codes: a text that is there a thousand times is kept once.
        texts = [name for name, kind in zip(names, schema.types, strict=True) if _is_text(kind)]
        with pyarrow.parquet.ParquetFile(path, read_dictionary=texts) as file:
            table = file.read() if group is None else file.read_row_group(group)
    sparse = set(about.get("sparse", ()))
    attributes: list[Attribute] = []
    columns: list[Column] = []
    weights = None
    as_text = {names[i] for i in matching(names, nominal, place)} - set(texts)
    for name, values in zip(names, table.columns, strict=True):
        if name == about.get("weights"):
            weights = _numbers(values)
            continue
        if name in as_text and not pyarrow.types.is_dictionary(values.type):
            values = values.cast(pyarrow.string()).dictionary_encode()
        attribute, column = _column(name, values, name in texts or name in as_text, place)
        stated = about.get("categories", {}).get(name)
        if attribute.categories is not None and stated is not None:
            # Parquet may have dropped some of the categories that there were when the file was written.
            column = recode(column, attribute.categories, stated)
            attribute = Attribute(name, tuple(stated))
        attributes.append(attribute)
        columns.append(_as_sparse(column) if name in sparse else column)
    found = Table(attributes, columns, table.num_rows)
    data = Dataset.unlabelled(found, weights=weights, relation=about.get("relation", ""))
    return data, Source(place, labels=tuple(about["labels"]) if "labels" in about else None)


def _about(metadata: dict[bytes, bytes] | None, names: set[str], place: Place) -> dict[str, Any]:
    """What plurule wrote into the file about it; nothing if someone else wrote the file."""
    if not metadata or KEY not in metadata:
        return {}
    try:
        about = json.loads(metadata[KEY])
        known = (
            isinstance(about, dict)
            and all(name in names for name in [*about["labels"], *about["sparse"]])
            and isinstance(about["relation"], str)
            and (about["weights"] is None or about["weights"] in names)
            and all(isinstance(c, str) for listed in about["categories"].values() for c in listed)
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        known = False
    if not known:
        raise place.error("the note about its columns is damaged, write the file again")
    return dict(about)


def _is_text(kind: Any) -> bool:
    import pyarrow.types as types

    return bool(types.is_string(kind) or types.is_large_string(kind))


def _expect_readable(schema: Any, metadata: Any, size: int, place: Place) -> None:
    """Refuse what cannot be used, and what would need far more memory than the file has bytes, before it is read."""
    import pyarrow.types as types

    for name, kind in zip(schema.names, schema.types, strict=True):
        values = kind.value_type if types.is_dictionary(kind) else kind
        number = types.is_integer(values) or types.is_floating(values) or types.is_decimal(values)
        if not (number or _is_text(values) or types.is_boolean(values) or types.is_null(values)):
            raise place.error(
                f"column {shown(name)} is of type {kind}, expected numbers, texts or truth values; drop or change it"
            )
    cells = metadata.num_rows * max(1, len(schema.names))
    # To ask pyarrow about the columns of a group ends the process if the file is damaged in some ways.
    unpacked = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    allowed = max(_ALWAYS_ALLOWED, _LARGEST_RATIO * size)
    if max(_BYTES_PER_VALUE * cells, unpacked) > allowed:
        what = f"{unpacked} bytes unpacked" if unpacked > allowed else f"{cells} values"
        raise place.error(f"holds {what}, far more than files of its size do; it is not read")


def _column(name: str, values: Any, is_text: bool, place: Place) -> tuple[Attribute, NDArray[Any]]:
    import pyarrow.types as types

    if types.is_boolean(values.type):
        codes = values.cast("int8").fill_null(-1).to_numpy().astype(np.int32)
        return Attribute(name, ("False", "True")), codes
    if types.is_dictionary(values.type):
        categories, codes = _coded(name, values, place)
        if is_text or not _is_text(values.type.value_type):
            # What is declared nowhere are the texts that occur, in alphabetical order.
            occurring = sorted({categories[code] for code in np.unique(codes[codes >= 0]).tolist()})
        else:
            occurring = list(dict.fromkeys(categories))
        return Attribute(name, tuple(occurring)), recode(codes, categories, occurring)
    numbers = _numbers(values)
    if np.isinf(numbers).any():
        row = int(np.argmax(np.isinf(numbers)))
        raise place.error(f"column {shown(name)}, row {row + 1} is infinite, expected a finite number")
    return Attribute(name), numbers


def _coded(name: str, values: Any, place: Place) -> tuple[list[str], NDArray[Any]]:
    """The texts of a dictionary column and the codes of its values."""
    coded = values.unify_dictionaries().combine_chunks()
    if not hasattr(coded, "dictionary"):
        coded = coded.chunk(0) if coded.num_chunks else values.type.wrap_array([])
    try:
        texts = [str(text) for text in coded.dictionary.to_pylist()]
    except UnicodeDecodeError as error:
        raise place.error(f"column {shown(name)} holds a text that is not UTF-8, expected UTF-8") from error
    return texts, coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)


def _numbers(values: Any) -> NDArray[Any]:
    import pyarrow

    if values.type != pyarrow.float32():
        values = values.cast(pyarrow.float64(), safe=False)
    return values.to_numpy()  # nan where a value is missing


def _as_sparse(column: NDArray[Any]) -> SparseColumn:
    rows = np.flatnonzero(column != 0).astype(np.int32)
    return SparseColumn(rows, column[rows], len(column))
