"""Parquet files, with pyarrow (the extra `parquet`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule.data.dataset import Dataset
from plurule.data.place import Place, Source, shown
from plurule.data.table import Column, SparseColumn, Table
from plurule.errors import DataError, first_repeated
from plurule.model import Attribute

KEY = b"plurule"
"""Under which the file says what its columns are."""
# A small file of equal values can unpack to more than any memory holds.
_ALWAYS_ALLOWED = 1 << 27
_LARGEST_RATIO = 1000


def pyarrow_for(path: Path) -> Any:
    """The library that a Parquet file needs."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise DataError(f"{path.name}: Parquet files need pyarrow: pip install 'plurule[parquet]'") from error
    return pyarrow


def read_parquet(path: Path) -> tuple[Dataset, Source]:
    """Read all columns of a Parquet file.

    Numbers are numeric; dictionaries, texts and truth values nominal. A file that plurule wrote also says which
    columns are labels and weights.
    """
    pyarrow = pyarrow_for(path)
    place = Place(path.name)
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            schema = file.schema_arrow
            names = [str(name) for name in schema.names]
            twice = first_repeated(names)
            if twice is not None:
                raise place.error(f"two columns are named {shown(twice)}, expected unique names")
            about = _about(schema.metadata, set(names), place)
            cells = file.metadata.num_rows * max(1, len(names))
            if cells > max(_ALWAYS_ALLOWED, _LARGEST_RATIO * path.stat().st_size):
                raise place.error(f"holds {cells} values, far more than files of its size do; it is not read")
            table = file.read()
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except Exception as error:
        # What pyarrow raises over a damaged file depends on where the damage is.
        reason = str(error).split("\n")[0]
        raise place.error(f"is not a Parquet file or is damaged ({reason})") from error
    sparse = set(about.get("sparse", ()))
    attributes: list[Attribute] = []
    columns: list[Column] = []
    weights = None
    for name, values in zip(names, table.columns, strict=True):
        if name == about.get("weights"):
            weights = _numbers(values)
            continue
        attribute, column = _column(name, values, place)
        if attribute.categories is not None and name in about.get("categories", ()):
            attribute, column = _recoded(attribute, column, about["categories"][name])
        attributes.append(attribute)
        columns.append(_as_sparse(column) if name in sparse else column)
    found = Table(attributes, columns, table.num_rows)
    data = Dataset.unlabelled(found, weights=weights, relation=about.get("relation", ""))
    return data, Source(place, labels=tuple(about["labels"]) if "labels" in about else None)


def _recoded(attribute: Attribute, codes: NDArray[Any], categories: list[str]) -> tuple[Attribute, NDArray[Any]]:
    """The attribute with the categories that it had when it was written, of which Parquet may have dropped some."""
    position = {category: code for code, category in enumerate(categories)}
    new = np.array([position.get(c, -1) for c in attribute.categories or ()] + [-1], dtype=np.int32)
    return Attribute(attribute.name, tuple(position)), new[codes]


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


def _column(name: str, values: Any, place: Place) -> tuple[Attribute, NDArray[Any]]:
    import pyarrow.types as types

    kind = values.type
    if types.is_dictionary(kind) and (types.is_string(kind.value_type) or types.is_large_string(kind.value_type)):
        coded = values.unify_dictionaries().combine_chunks()
        if not hasattr(coded, "dictionary"):
            coded = coded.chunk(0) if coded.num_chunks else kind.wrap_array([])
        categories = tuple(str(c) for c in coded.dictionary.to_pylist())
        codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        if len(set(categories)) == len(categories):
            return Attribute(name, categories), codes.astype(np.int32)
        texts = values.to_pylist()
        return _nominal(name, texts)
    if types.is_boolean(kind) or types.is_string(kind) or types.is_large_string(kind) or types.is_dictionary(kind):
        return _nominal(name, [None if v is None else str(v) for v in values.to_pylist()], types.is_boolean(kind))
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_null(kind):
        numbers = _numbers(values)
        if np.isinf(numbers).any():
            row = int(np.argmax(np.isinf(numbers)))
            raise place.error(f"column {shown(name)}, row {row + 1} is infinite, expected a finite number")
        return Attribute(name), numbers
    raise place.error(
        f"column {shown(name)} is of type {kind}, expected numbers, texts or truth values; drop or change it"
    )


def _nominal(name: str, texts: list[str | None], truth: bool = False) -> tuple[Attribute, NDArray[Any]]:
    categories = ["False", "True"] if truth else sorted({text for text in texts if text is not None})
    codes = {category: code for code, category in enumerate(categories)}
    column = np.fromiter((-1 if text is None else codes[text] for text in texts), np.int32, len(texts))
    return Attribute(name, tuple(categories)), column


def _numbers(values: Any) -> NDArray[Any]:
    import pyarrow

    kind = values.type
    if kind == pyarrow.float32():
        filled = values.fill_null(np.float32(np.nan))
        return np.array(filled.to_numpy(), dtype=np.float32)
    return np.array(values.cast(pyarrow.float64(), safe=False).fill_null(np.nan).to_numpy(), dtype=np.float64)


def _as_sparse(column: NDArray[Any]) -> SparseColumn:
    rows = np.flatnonzero(column != 0).astype(np.int32)
    return SparseColumn(rows, column[rows], len(column))
