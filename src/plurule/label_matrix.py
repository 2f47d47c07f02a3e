"""Is this a 0/1 matrix of instances × labels? The one gate for labels, whatever they come as."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from plurule.errors import DataError, first_repeated, nearest

USE_BINARIZER = "Give one 0/1 column per label; sklearn.preprocessing.MultiLabelBinarizer makes them from label sets"


def label_matrix(Y: Any, name: str = "Y") -> tuple[Any, tuple[str, ...] | None]:
    """Labels as an int8 matrix of 0 and 1, and what its columns are called (None if they have no names).

    What is dense comes back as an array, what is sparse as a `csr_array` without stored zeros; a single column may be
    one-dimensional. What was given is never changed, though the result may share its memory. An error says where a
    value is not 0 or 1 (True and False are); `name` is what it calls the labels.
    """
    if sp.issparse(Y):
        return _sparse(Y, name), None
    Y = collected(Y)
    if np.ma.is_masked(Y):
        raise DataError(f"{name} has masked values, expected 0 or 1; leave these rows out")
    expect_different_names(Y, name)
    is_array = isinstance(Y, np.ndarray)
    frame = Y if is_array else nw.from_native(Y, eager_only=True, pass_through=True, allow_series=True)
    if isinstance(frame, nw.DataFrame):
        names = tuple(map(str, frame.columns))
        columns = [_dense(frame.get_column(c).to_numpy()[:, None], names[i : i + 1], name)
                   for i, c in enumerate(frame.columns)]  # fmt: skip
        return np.ascontiguousarray(np.hstack([np.empty((len(frame), 0), np.int8), *columns])), names
    if isinstance(frame, nw.Series):
        return _dense(frame.to_numpy()[:, None], (str(frame.name),) if frame.name else None, name), None
    try:
        array = np.asarray(Y)
    except ValueError as error:
        raise DataError(f"{name} is not a matrix: {error}. {USE_BINARIZER}") from error
    if array.ndim not in (1, 2):
        raise DataError(f"{name} must be a matrix of instances × labels, got an array of shape {array.shape}")
    return _dense(array[:, None] if array.ndim == 1 else array, None, name), None


def collected(data: Any) -> Any:
    """Return a lazy frame of polars as one in memory; anything else as it is."""
    return data.collect() if type(data).__name__ == "LazyFrame" else data


def expect_different_names(frame: Any, name: str = "Y", columns: str = "label") -> None:
    """Complain if two columns of a frame have one name; `name` and `columns` are what it and they are called."""
    # The `columns` of pyarrow's tables are not names.
    names: Any = getattr(frame, "column_names", None) or getattr(frame, "columns", ())
    repeated = first_repeated(map(str, names))
    if repeated is not None:
        raise DataError(f"{name} has several {columns}s named {repeated!r}; give each {columns} its own name")


def by_name(Y: Any, found: Sequence[str], wanted: Sequence[str]) -> Any:
    """The columns of a label matrix that a model knows, in its order."""
    if tuple(found) == tuple(wanted):
        return Y
    position = {name: i for i, name in enumerate(found)}
    lacking = next((name for name in wanted if name not in position), None)
    if lacking is not None:
        raise DataError(f"the data lack the label {lacking!r} of the rule list" + nearest(lacking, found))
    return Y[:, [position[name] for name in wanted]]


def dense(Y: Any) -> NDArray[np.int8]:
    """A label matrix as an array."""
    return Y.toarray() if sp.issparse(Y) else Y


def _sparse(Y: Any, name: str) -> Any:
    matrix = sp.csr_array(Y)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    odd = np.flatnonzero((matrix.data != 0) & (matrix.data != 1))
    if len(odd):
        row = int(np.searchsorted(matrix.indptr, odd[0], side="right")) - 1
        raise _refusal(matrix.data[odd[0]], f"y{matrix.indices[odd[0]]}", row, name)
    matrix = matrix.astype(np.int8)
    matrix.eliminate_zeros()
    return matrix


def _dense(array: NDArray[Any], names: Sequence[str] | None, name: str) -> NDArray[np.int8]:
    kind = array.dtype.kind
    if kind in "biuf":
        # The smallest and the largest whole number tell at once; a fraction may lie between them.
        if kind not in "iu" or (array.size and (array.min() < 0 or array.max() > 1)):
            wrong = (array != 0) & (array != 1)
        else:
            wrong = np.zeros(0, dtype=np.bool_)
    elif kind in "OUSV":
        wrong = np.array([not _is_zero_or_one(value) for value in array.flat], dtype=np.bool_).reshape(array.shape)
    else:
        raise DataError(f"{name} must hold 0 and 1 only, got values of type {array.dtype}")
    if wrong.any():
        row, column = divmod(int(np.argmax(wrong)), array.shape[1])
        label = f"y{column}" if names is None else names[column]
        raise _refusal(array[row, column], label, row, name)
    array = np.ascontiguousarray(array)
    return array.view(np.int8) if array.dtype in (np.uint8, np.bool_) else array.astype(np.int8, copy=False)


def _is_zero_or_one(value: Any) -> bool:
    return isinstance(value, bool | Real) and (value == 0 or value == 1)


def _refusal(value: Any, label: str, row: int, name: str) -> DataError:
    is_nan = isinstance(value, Real) and bool(value != value)
    if isinstance(value, Real) and np.isinf(float(value)):
        found = f"infinity ({value})"
    else:
        found = "NaN" if is_nan else repr(value.item() if isinstance(value, np.generic) else value)
    helps = ""
    if is_nan:
        helps = "; leave out rows whose labels are not known"
    elif isinstance(value, Real) and value == -1:
        helps = "; for labels of -1 and 1 give (Y > 0)"
    return DataError(f"label {label!r}, row {row}: {name} contains {found}, expected 0 or 1{helps}")
