"""Data sets as matrices of numbers, for other libraries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from plurule import Dataset

SPARSE_BELOW = 0.1
"""Matrices with a smaller share of other values than 0 are sparse."""


def label_matrix(data: Dataset) -> NDArray[np.uint8]:
    """Return the labels as a 0/1 array."""
    return np.asarray(data.Y.todense() if sp.issparse(data.Y) else data.Y, dtype=np.uint8)


def nominal_columns(data: Dataset) -> list[int]:
    """Return the positions of the nominal attributes."""
    return [i for i, attribute in enumerate(data.attributes) if attribute.is_nominal]


def category_codes(data: Dataset) -> Any:
    """Return the attributes with categories by their position: a float32 array, or a sparse matrix by columns."""
    frame, _ = data.to_pandas()
    return packed([_codes(frame.iloc[:, i]) for i in range(frame.shape[1])])


def one_hot(data: Dataset) -> Any:
    """Return the attributes with one column per category of those that have more than two."""
    frame, _ = data.to_pandas()
    columns = []
    for i, attribute in enumerate(data.attributes):
        codes = _codes(frame.iloc[:, i])
        if attribute.is_nominal and len(attribute.categories or ()) > 2:
            columns += [(codes == code).astype(np.float32) for code in range(len(attribute.categories or ()))]
        else:
            columns.append(codes)
    return packed(columns)


def _codes(column: pd.Series) -> NDArray[np.float32]:
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return column.to_numpy(dtype=np.float32)
    codes = column.cat.codes.to_numpy(dtype=np.float32)
    codes[codes < 0] = np.nan
    return codes


def packed(columns: Sequence[NDArray[np.float32]]) -> Any:
    """Return columns as a matrix: sparse by columns if few values are other than 0."""
    matrix = np.asfortranarray(np.column_stack(columns))
    is_sparse = np.count_nonzero(matrix) < SPARSE_BELOW * matrix.size
    return sp.csc_matrix(matrix) if is_sparse else matrix


def as_arrays(matrix: Any, prefix: str = "") -> dict[str, Any]:
    """Return the arrays that make up a matrix, by the names that `numpy.savez` keeps them under."""
    if not sp.issparse(matrix):
        return {f"{prefix}X": matrix}
    arrays = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": matrix.shape}
    return {f"{prefix}{name}": array for name, array in arrays.items()}
