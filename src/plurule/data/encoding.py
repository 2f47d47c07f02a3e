"""From what people have (frames, arrays, sparse matrices) to a `Table`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from plurule.data.table import Column, SparseColumn, SparseColumns, Table, recode
from plurule.errors import DataError, first_repeated, nearest
from plurule.model import Attribute


def encode(X: Any, attributes: Sequence[Attribute] | None = None) -> Table:
    """Turn what people have (frames, arrays, sparse matrices, tables) into a `Table`.

    Parameters
    ----------
    X
        A `Table`, a pandas, polars or other frame that narwhals reads, a scipy sparse matrix, or anything
        numpy turns into a two-dimensional array of numbers.
    attributes
        The attributes a model was trained on. Frames are then matched by name, everything else by position,
        and a category that is not among the known ones becomes a missing value.
    """
    if isinstance(X, Table):
        table = X
        return table if attributes is None else _align(table, attributes)
    if sp.issparse(X):
        return _from_sparse(X, attributes)
    twice = first_repeated(map(str, getattr(X, "columns", ())))
    if twice is not None:
        raise DataError(f"X has several columns named {twice!r}; give each column its own name")
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return _from_frame(frame, attributes)
    return _from_array(X, attributes)


def _numbered(count: int) -> tuple[Attribute, ...]:
    return tuple(Attribute(f"x{i}") for i in range(count))


def _expect_width(found: int, attributes: Sequence[Attribute]) -> None:
    if found != len(attributes):
        raise DataError(
            f"X has {found} features, but RuleListClassifier is expecting {len(attributes)} features as input"
        )


def _reject_infinite(values: NDArray[Any], name: str) -> None:
    infinite = np.isinf(values)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise DataError(
            f"column {name!r}, row {row}: Input X contains infinity or a value too large for "
            f"{values.dtype} ({values[row]}); replace it by a finite number or by NaN for missing"
        )


def _as_numbers(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Floats as they are (float32 and float64 are kept), all else as float64."""
    if values.dtype not in (np.float32, np.float64):
        if values.dtype.kind == "c":
            raise DataError(f"column {name!r}: Complex data not supported; give real numbers")
        if values.dtype.kind in "mM":
            raise _unusable(name, values.dtype)
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise DataError(f"column {name!r} holds values that are not numbers: {error}") from error
    _reject_infinite(values, name)
    return values


def _from_array(X: Any, attributes: Sequence[Attribute] | None) -> Table:
    array = np.asarray(X)
    if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
        # A list that mixes text and numbers: keep the numbers.
        array = np.asarray(X, dtype=object)
    if array.ndim != 2:
        raise DataError(
            f"X must be two-dimensional, got shape {array.shape}. Reshape your data: X.reshape(-1, 1) if it "
            "has a single feature, X.reshape(1, -1) if it is a single sample"
        )
    known = _numbered(array.shape[1]) if attributes is None else attributes
    if attributes is None and array.dtype.kind in "OUS":
        pairs = [_infer_array(array[:, i], a.name) for i, a in enumerate(known)]
        return Table([a for a, _ in pairs], [c for _, c in pairs], array.shape[0])
    _expect_width(array.shape[1], known)
    columns: list[Column] = []
    for i, attribute in enumerate(known):
        if attribute.is_nominal:
            columns.append(_codes(array[:, i].tolist(), attribute))
        else:
            columns.append(_as_numbers(array[:, i], attribute.name))
    return Table(known, columns, array.shape[0])


def _from_sparse(X: Any, attributes: Sequence[Attribute] | None) -> Table:
    known = _numbered(X.shape[1]) if attributes is None else attributes
    _expect_width(X.shape[1], known)
    if X.dtype.kind == "c":
        raise DataError("Complex data not supported; give real numbers")
    matrix = sp.csc_array(X, dtype=X.dtype if X.dtype in (np.float32, np.float64) else np.float64)
    if not matrix.has_canonical_format or not matrix.data.all():
        # What was given may share its arrays with this matrix, and is not to be changed.
        matrix = matrix.copy()
        matrix.sum_duplicates()
    if np.isinf(matrix.data).any():
        at = int(np.argmax(np.isinf(matrix.data)))
        column = int(np.searchsorted(matrix.indptr, at, side="right")) - 1
        start, end = matrix.indptr[column], matrix.indptr[column + 1]
        infinite = SparseColumn(matrix.indices[start:end], matrix.data[start:end], X.shape[0])
        _reject_infinite(infinite.to_dense(), known[column].name)
    if not matrix.data.all():
        matrix.eliminate_zeros()
    numbers = SparseColumns(matrix, np.zeros(len(known), dtype=np.bool_), np.arange(len(known)))
    if not any(attribute.is_nominal for attribute in known):
        return Table(known, numbers, X.shape[0])
    columns: list[Column] = []
    for number, attribute in zip(numbers, known, strict=True):
        columns.append(_codes(number.to_dense().tolist(), attribute) if attribute.is_nominal else number)
    return Table(known, columns, X.shape[0])


def _from_frame(frame: nw.DataFrame[Any], attributes: Sequence[Attribute] | None) -> Table:
    names = [str(name) for name in frame.columns]
    if attributes is None:
        pairs = [_infer(frame.get_column(c), name) for c, name in zip(frame.columns, names, strict=True)]
        return Table([a for a, _ in pairs], [c for _, c in pairs], frame.shape[0])
    by_name = dict(zip(names, frame.columns, strict=True))
    missing = [a.name for a in attributes if a.name not in by_name]
    if missing:
        raise DataError(
            f"X lacks {len(missing)} of the columns the model was trained on: "
            f"{', '.join(map(repr, missing[:5]))}{' …' if len(missing) > 5 else ''}"
            + nearest(missing[0], [n for n in names if n not in {a.name for a in attributes}])
        )
    columns: list[Column] = []
    for attribute in attributes:
        series = frame.get_column(by_name[attribute.name])
        if attribute.is_nominal:
            columns.append(_codes(series.to_list(), attribute))
        else:
            columns.append(_numbers(series, attribute.name))
    return Table(attributes, columns, frame.shape[0])


def _infer(series: nw.Series[Any], name: str) -> tuple[Attribute, Column]:
    """The attribute that a column of a frame is, and its values."""
    kind = series.dtype
    if isinstance(kind, nw.Categorical | nw.Enum):
        # Categories come as text even where the values are numbers: the text of 2.0 is that of its value, "2".
        text_of = {str(v): category_text(v) for v in series.unique().to_list() if not is_missing(v)}
        categories = tuple(text_of.get(str(c), str(c)) for c in series.cat.get_categories().to_list())
    elif isinstance(kind, nw.Boolean):
        categories = ("False", "True")
    elif kind.is_numeric():
        return Attribute(name), _numbers(series, name)
    elif isinstance(kind, nw.String | nw.Object):
        return _infer_objects(series.to_list(), name)
    else:
        raise _unusable(name, kind)
    twice = first_repeated(categories)
    if twice is not None:
        raise DataError(f"column {name!r} has two categories that are written {twice!r}; give each its own name")
    attribute = Attribute(name, categories)
    return attribute, _codes(series.to_list(), attribute)


def _unusable(name: str, kind: Any) -> DataError:
    times = ", of times for example the seconds since 1970" if str(kind).lower()[:4] in ("date", "time", "dura") else ""
    return DataError(f"column {name!r} is of type {kind}; make it numeric{times}, categorical or text")


def _infer_array(values: NDArray[Any], name: str) -> tuple[Attribute, Column]:
    """The attribute that a column of an array of text or objects is, and its values."""
    if values.dtype.kind == "O":
        return _infer_objects(values.tolist(), name)
    # Text may have come from numbers that shared an array with text, so a column that reads as numbers is numeric.
    try:
        return Attribute(name), _as_numbers(values.astype(np.float64), name)
    except ValueError as error:
        if isinstance(error, DataError):
            raise
        return _infer_objects(values.astype(str).tolist(), name)


def _infer_objects(values: list[Any], name: str) -> tuple[Attribute, Column]:
    """Numeric if no value is text, nominal otherwise."""
    present = [v for v in values if not is_missing(v)]
    # For numpy a duration is a number, too.
    allowed = str | int | float | np.number | np.bool_
    odd = next((v for v in present if not isinstance(v, allowed) or isinstance(v, np.timedelta64)), None)
    if odd is not None:
        raise DataError(
            f"column {name!r} holds {type(odd).__name__} values; each argument must be a string or a number"
        )
    if present and all(isinstance(v, int | float | np.number) for v in present):
        return Attribute(name), _as_numbers(np.array([None if is_missing(v) else v for v in values]), name)
    attribute = Attribute(name, tuple(sorted({category_text(v) for v in present})))
    return attribute, _codes(values, attribute)


def _numbers(series: nw.Series[Any], name: str) -> NDArray[Any]:
    if series.dtype in (nw.Float32, nw.Float64) and not series.is_null().any():
        return _as_numbers(series.to_numpy(), name)
    values = [np.nan if is_missing(v) else v for v in series.to_list()]
    try:
        return _as_numbers(np.array(values, dtype=np.float64), name)
    except (TypeError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        odd = next(v for v in values if not isinstance(v, int | float))
        raise DataError(f"column {name!r} must hold numbers, found {odd!r}") from error


def is_missing(value: Any) -> bool:
    """Whether a value stands for a missing one."""
    # A missing value of any library is None or not equal to itself; pandas.NA refuses to be compared.
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:
        return True


def _codes(values: list[Any], attribute: Attribute) -> NDArray[np.int32]:
    """Index of each value among the categories; -1 where missing or not among them."""
    index = {category: code for code, category in enumerate(attribute.categories or ())}
    texts = ((None if is_missing(v) else category_text(v)) for v in values)
    return np.fromiter((-1 if t is None else index.get(t, -1) for t in texts), np.int32, len(values))


def category_text(value: Any) -> str:
    """A category as text; whole floats as whole numbers, since frames turn integers with gaps into floats.

    >>> category_text(2.0), category_text("2"), category_text(True)
    ('2', '2', 'True')
    """
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _align(table: Table, attributes: Sequence[Attribute]) -> Table:
    """The columns of a table that a model wants, with its categories recoded to the model's."""
    if table.attributes == tuple(attributes):
        return table
    position = {a.name: i for i, a in enumerate(table.attributes)}
    columns: list[Column] = []
    for attribute in attributes:
        if attribute.name not in position:
            raise DataError(
                f"the data lack the column {attribute.name!r} that the model was trained on"
                + nearest(attribute.name, position)
            )
        i = position[attribute.name]
        found = table.attributes[i]
        column = table.columns[i]
        if found.is_nominal and not attribute.is_nominal:
            raise DataError(f"column {attribute.name!r} is nominal, but the model was trained on a numeric one")
        if attribute.is_nominal and not found.is_nominal:
            # A CSV file does not say that its numbers are categories; the model does.
            column = _codes(table.column(i).tolist(), attribute)
        elif found.categories != attribute.categories:
            column = recode(table.column(i), found.categories or (), attribute.categories or ())
        columns.append(column)
    return Table(attributes, columns, table.n_rows)
