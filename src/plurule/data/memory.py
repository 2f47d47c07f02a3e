"""Data that are in memory already: frames, arrays, sparse matrices, and (X, Y) as scikit-learn has them."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from plurule.data.dataset import Dataset
from plurule.data.place import Place
from plurule.data.readers.raw import RawTable
from plurule.data.table import Column, Table, encode
from plurule.errors import DataError
from plurule.model import Attribute


def from_memory(source: Any) -> RawTable:
    """All columns of a frame, array, sparse matrix or `Table`."""
    return RawTable(encode(source), Place(_kind(source)))


def from_X_and_Y(X: Any, Y: Any) -> Dataset:
    """A data set of attributes and labels in two objects; labels without names are called y0, y1, …"""
    table = encode(X)
    if sp.issparse(Y):
        return Dataset(table, Y, _numbered(Y.shape[1]))
    frame = nw.from_native(Y, eager_only=True, pass_through=True, allow_series=True)
    if isinstance(frame, nw.Series):
        frame = frame.alias(frame.name or "y0").to_frame()
    if isinstance(frame, nw.DataFrame):
        columns = [frame.get_column(name).to_numpy() for name in frame.columns]
        matrix = np.column_stack(columns) if columns else np.empty((len(table), 0), dtype=np.int8)
        return Dataset(table, matrix, tuple(str(name) for name in frame.columns))
    array = np.asarray(Y)
    if array.ndim == 1:
        array = array[:, None]
    return Dataset(table, array, _numbered(array.shape[1]) if array.ndim == 2 else ())


def to_frame(data: Dataset, backend: str = "pandas") -> Any:
    """Attributes and labels side by side in one frame of the given library (pandas or polars).

    Nominal attributes become categorical columns that know all their categories.
    """
    if backend not in ("pandas", "polars"):
        raise DataError(f"backend={backend!r}, expected 'pandas' or 'polars'")
    labels = data.Y.toarray() if sp.issparse(data.Y) else data.Y
    columns = {a.name: data.X.column(i) for i, a in enumerate(data.attributes)}
    if backend == "pandas":
        import pandas as pd

        for a in data.attributes:
            if a.categories is not None:
                columns[a.name] = pd.Categorical.from_codes(columns[a.name], categories=list(a.categories))
        return pd.DataFrame({**columns, **{name: labels[:, k] for k, name in enumerate(data.label_names)}})
    import polars as pl

    series = [
        pl.Series(a.name, values) if a.categories is None else _polars_enum(pl, a, values)
        for a, values in zip(data.attributes, columns.values(), strict=True)
    ]
    series += [pl.Series(name, labels[:, k]) for k, name in enumerate(data.label_names)]
    return pl.DataFrame({column.name: column for column in series})


def _polars_enum(pl: Any, attribute: Attribute, codes: Column) -> Any:
    categories = list(attribute.categories or ())
    texts = [None if code < 0 else categories[code] for code in np.asarray(codes).tolist()]
    return pl.Series(attribute.name, texts, dtype=pl.Enum(categories))


def _numbered(count: int) -> tuple[str, ...]:
    return tuple(f"y{i}" for i in range(count))


def _kind(source: Any) -> str:
    if isinstance(source, Table):
        return "table"
    if sp.issparse(source):
        return "sparse matrix"
    return "array" if isinstance(source, np.ndarray | list | tuple) else "frame"
