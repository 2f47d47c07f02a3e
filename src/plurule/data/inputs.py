"""Frames, arrays and sparse matrices as a `Table`; X and y in any form, or a data set, as one `Dataset`."""

from __future__ import annotations

import contextlib
import re
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, NamedTuple, TypeAlias

import narwhals.stable.v1 as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from plurule.data.dataset import Column, Dataset, SparseColumns, Table, check_row_weights
from plurule.data.targets import (
    TargetForm,
    by_name,
    category_text,
    collected,
    column_of_classes,
    expect_different_names,
    is_missing,
    label_matrix,
    read_target,
)
from plurule.errors import DataError, amount, first_repeated, nearest
from plurule.model import Attribute
from plurule.model.condition import YES, are_dates, format_date, parse_date

RawColumn: TypeAlias = nw.Series[Any] | NDArray[Any]
"""A column of a frame or of an array."""


class Texts(NamedTuple):
    """A column of texts: the different ones, and the place of each row's among them, -1 if it is missing."""

    distinct: Sequence[str]
    places: NDArray[Any]


_ROWS_AT_ONCE = 4096
_UNKNOWN_TO_NUMPY = (nw.Int128, nw.UInt128)
LEADING_ZERO = r"^\s*[+-]?0[0-9]"
"""Texts with a leading zero are codes, such as postal codes, not numbers."""
UNKNOWN = -2
"""Code of a category that a model does not know; -1 is that of a missing value."""


def encode(X: Any, attributes: Sequence[Attribute] | None = None, tested: Collection[int] | None = None) -> Table:
    """Turn what people have (frames, arrays, sparse matrices, tables) into a `Table`.

    With the `attributes` of a model, frames and tables are matched by name, everything else by position, and a category
    that is not among the known ones becomes a missing value; a warning says how many there are. `tested` are the places
    of the attributes that frames and tables must have, by default all; others may be missing.
    """
    if isinstance(X, Table) and (attributes is None or X.attributes == tuple(attributes)):
        return X
    if sp.issparse(X):
        return _from_sparse(X, attributes)
    n_rows, given = _by_name(X, attributes)
    if attributes is None:
        pairs = [_infer(values, name) for name, values in given.items()]
        return Table([attribute for attribute, _ in pairs], [column for _, column in pairs], n_rows)
    wanted = attributes if tested is None else [attributes[i] for i in sorted(tested)]
    _expect_names(given, wanted)
    unknown: Counter[str] = Counter()
    columns = [_column(given[a.name], a, unknown) if a.name in given else _missing(a, n_rows) for a in attributes]
    table = Table(attributes, columns, n_rows, tuple(a.name for a in attributes if a.name not in given))
    _warn(table.absent_columns, {a.name: unknown[a.name] for a in wanted if unknown[a.name]})
    return table


def _by_name(X: Any, attributes: Sequence[Attribute] | None) -> tuple[int, dict[str, Any]]:
    """How many rows there are, and the columns: those of frames and arrays, and for a table where they stand in it."""
    if isinstance(X, Table):
        return len(X), {name: (X, index) for index, name in enumerate(X.names)}
    frame = X
    if not isinstance(X, np.ndarray):
        X = collected(X)
        expect_different_names(X, "X", "column")
        frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame.shape[0], {str(name): _column_of(frame, name) for name in frame.columns}
    array = _matrix(X)
    known = _known(array.shape[1], attributes)
    _expect_finite(array, known)
    return len(array), {a.name: array[:, i] for i, a in enumerate(known)}


def _column_of(frame: nw.DataFrame[Any], name: str) -> RawColumn:
    """A column of a frame; a sparse one of pandas, which narwhals does not know, as the dense one it stands for."""
    column = frame.get_column(name)
    if isinstance(column.dtype, nw.Unknown) and hasattr(column.to_native(), "sparse"):
        return nw.from_native(column.to_native().sparse.to_dense(), series_only=True)
    return column


def _matrix(X: Any) -> NDArray[Any]:
    if isinstance(X, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(X)
        X = X.data.astype(np.result_type(X.dtype, np.float32) if X.dtype.kind in "biuf" else object)
        X[mask] = np.nan if X.dtype.kind == "f" else None
    array = np.asarray(X)
    if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
        # A list that mixes text and numbers: keep the numbers.
        array = np.asarray(X, dtype=object)
    if array.ndim != 2:
        raise DataError(
            f"X must be two-dimensional, got shape {array.shape}. Reshape your data: X.reshape(-1, 1) if it "
            "has a single feature, X.reshape(1, -1) if it is a single sample"
        )
    return array


def _known(width: int, attributes: Sequence[Attribute] | None) -> Sequence[Attribute]:
    """Return the attributes of the columns of an array: those of a model, or numbered ones."""
    if attributes is not None and width != len(attributes):
        raise DataError(f"X has {width} features, but RuleList is expecting {len(attributes)} features as input")
    return tuple(Attribute(f"x{i}") for i in range(width)) if attributes is None else attributes


def _expect_names(given: Collection[str], wanted: Sequence[Attribute]) -> None:
    names = {attribute.name for attribute in wanted}
    missing = [attribute.name for attribute in wanted if attribute.name not in given]
    if missing:
        listed = ", ".join(map(repr, missing[:5])) + (" …" if len(missing) > 5 else "")
        what = f"the data lack {len(missing)} of the columns the model was trained on: {listed}"
        raise DataError(what + nearest(missing[0], [name for name in given if name not in names]))


def _from_sparse(X: Any, attributes: Sequence[Attribute] | None) -> Table:
    known = _known(X.shape[1], attributes)
    if X.dtype.kind == "c":
        raise DataError("Complex data not supported; give real numbers")
    matrix = sp.csc_array(X, dtype=X.dtype if X.dtype in (np.float32, np.float64) else np.float64)
    if not matrix.has_canonical_format or not matrix.data.all():
        # What was given may share its arrays with this matrix, and is not to be changed.
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    numbers = SparseColumns(matrix, np.zeros(len(known), dtype=np.bool_), np.arange(len(known)))
    if not np.isfinite(matrix.data).all():
        for number, attribute in zip(numbers, known, strict=True):
            _reject_infinite(number.to_dense(), attribute.name)
    if not any(attribute.is_nominal for attribute in known):
        return Table(known, numbers, X.shape[0])
    columns = [_codes(n.to_dense(), a) if a.is_nominal else n for n, a in zip(numbers, known, strict=True)]
    return Table(known, columns, X.shape[0])


def _missing(attribute: Attribute, n_rows: int) -> Column:
    """A column of missing values, which takes no memory."""
    return np.broadcast_to(np.int32(-1) if attribute.is_nominal else np.float64(np.nan), n_rows)


def _warn(absent_columns: Sequence[str], unknown: Mapping[str, int]) -> None:
    """Say what the model does not find or does not know in the data, if anything."""
    texts = []
    if absent_columns:
        texts.append(f"the data lack {len(absent_columns)} of the model's columns, which no rule tests")
    if unknown:
        columns = ", ".join(map(repr, list(unknown)[:5])) + (" …" if len(unknown) > 5 else "")
        texts.append(f"taken as missing, since the model knows no such category: {sum(unknown.values())} of {columns}")
    if texts:
        warnings.warn("; ".join(texts), stacklevel=3)


# Columns -----------------------------------------------------------------------------------------------------------


def _infer(values: RawColumn, name: str) -> tuple[Attribute, Column]:
    """The attribute that a column is, and its values."""
    kind: Any = values.dtype
    if isinstance(values, np.ndarray):
        if kind.kind == "M":
            return Attribute(name, is_date=True), _seconds(values, name)
        if kind.kind not in "OUS":
            return Attribute(name), _numbers(values, name)
        # Text may have come from numbers that shared an array with text, so a column that reads as numbers is numeric.
        texts = values if kind.kind == "O" else values.astype(str)
        if kind.kind != "O" and _reads_as_numbers(texts.tolist()) and not _are_codes(texts.tolist()):
            return Attribute(name), _numbers(values, name)
        return _infer_objects(texts, name)
    if isinstance(kind, nw.Categorical | nw.Enum):
        # Categories come as text even where the values are numbers: the text of 2.0 is that of its value, "2".
        text_of = {str(v): category_text(v) for v in _distinct(values)[0]}
        categories = tuple(text_of.get(str(c), str(c)) for c in values.cat.get_categories().to_list())
    elif isinstance(kind, nw.Boolean):
        categories = ("False", "True")
    elif kind.is_numeric():
        return Attribute(name), _numbers(values, name)
    elif isinstance(kind, nw.String):
        categories = tuple(sorted(_distinct(values)[0]))
        if are_dates(categories):
            return Attribute(name, is_date=True), _seconds(values, name)
    elif isinstance(kind, nw.Object):
        return _infer_objects(values, name)
    elif isinstance(kind, nw.Datetime | nw.Date):
        return Attribute(name, is_date=True), _seconds(values, name)
    elif isinstance(kind, nw.Unknown) and values.null_count() == len(values):
        return Attribute(name), np.full(len(values), np.nan)
    else:
        raise _unusable(name, kind)
    repeated = first_repeated(categories)
    if repeated is not None:
        raise DataError(f"column {name!r} has two categories that are written {repeated!r}; give each its own name")
    attribute = Attribute(name, categories)
    return attribute, _codes(values, attribute)


def _distinct(values: RawColumn | Texts) -> tuple[Sequence[Any], NDArray[Any]]:
    """The different values of a column that are not missing, and the place of each value among them, or -1."""
    if isinstance(values, Texts):
        return values
    if isinstance(values, nw.Series) and isinstance(values.dtype, nw.String | nw.Categorical | nw.Enum):
        import pyarrow

        # Categories of several types, which pandas allows, are no dictionary; nor are lone surrogates.
        with contextlib.suppress(pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, UnicodeEncodeError):
            column: Any = values.to_arrow()
            if isinstance(column, pyarrow.ChunkedArray):
                column = column.combine_chunks()
            if not pyarrow.types.is_dictionary(column.type):
                column = column.dictionary_encode()
            indices = column.indices.cast(pyarrow.int64()).fill_null(-1)
            return column.dictionary.to_pylist(), indices.to_numpy(zero_copy_only=False)
    places: dict[Any, int] = {}
    # True and 1 are equal, but different values.
    keys = [None if is_missing(v) else (type(v), v) for v in _listed(values)]
    codes = np.fromiter((-1 if k is None else places.setdefault(k, len(places)) for k in keys), np.intp, len(keys))
    return [value for _, value in places], codes


def _infer_objects(values: RawColumn, name: str) -> tuple[Attribute, Column]:
    """Numeric if no value is text, nominal otherwise."""
    present = [v for v in _listed(values) if not is_missing(v)]
    if present and all(isinstance(v, date | np.datetime64) for v in present):
        return Attribute(name, is_date=True), _seconds(values, name)
    # For numpy a duration is a number, too.
    allowed = str | bytes | int | float | np.number | np.bool_
    odd = next((v for v in present if not isinstance(v, allowed) or isinstance(v, np.timedelta64)), None)
    if odd is not None:
        raise _unusable(name, type(odd).__name__, "holds {} values")
    if present and all(isinstance(v, int | float | np.number) for v in present):
        return Attribute(name), _numbers(values, name)
    categories = tuple(sorted({category_text(v) for v in present}))
    if are_dates(categories):
        return Attribute(name, is_date=True), _seconds(values, name)
    attribute = Attribute(name, categories)
    return attribute, _codes(values, attribute)


def _listed(values: RawColumn) -> list[Any]:
    return values.to_list() if isinstance(values, nw.Series) else values.tolist()


def _column(values: Any, attribute: Attribute, unknown: Counter[str]) -> Column:
    """A column as the attribute of a model, with the model's categories; the form of the model decides."""
    if isinstance(values, tuple):
        table, index = values
        found = table.attributes[index]
        if found.categories == attribute.categories and found.is_date == attribute.is_date:
            return table.columns[index]
        values = _as_texts(table.column(index), found)
    if attribute.is_nominal:
        return _codes(values, attribute, unknown)
    return _seconds(values, attribute.name) if attribute.is_date else _numbers(values, attribute.name, attribute)


def _as_texts(column: NDArray[Any], attribute: Attribute) -> Texts | NDArray[Any]:
    """A column of a table with its categories and dates as the texts that they were read from; numbers as they are."""
    if attribute.categories is not None:
        return Texts(attribute.categories, column)
    if not attribute.is_date:
        return column
    distinct, places = np.unique(column[~np.isnan(column)], return_inverse=True)
    codes = np.full(len(column), -1)
    codes[~np.isnan(column)] = places
    return Texts([str(format_date(seconds)) for seconds in distinct.tolist()], codes)


def _codes(values: RawColumn | Texts, attribute: Attribute, unknown: Counter[str] | None = None) -> NDArray[np.int32]:
    """Index of each value among the categories; -1 where missing or not among them, which `unknown` counts."""
    distinct, places = _distinct(values)
    code_of = _code_by_text(attribute)
    of_distinct = np.array([*(code_of(category_text(v)) for v in distinct), -1], dtype=np.int32)
    codes = of_distinct[places]
    if unknown is not None:
        _expect_no_numbers([v for v, code in zip(distinct, of_distinct, strict=False) if code == UNKNOWN], attribute)
        unknown[attribute.name] += int(np.count_nonzero(codes == UNKNOWN))
    return np.maximum(codes, -1)


def _code_by_text(attribute: Attribute) -> Callable[[str], int]:
    """The index of a category by its text; yes, true and 1 are the same to an attribute that instances have or not."""
    index = {category: code for code, category in enumerate(attribute.categories or ())}
    if not attribute.is_binary:
        return lambda text: index.get(text, UNKNOWN)
    by_truth = {YES[category.lower()]: code for category, code in index.items()}
    return lambda text: by_truth[YES[text.lower()]] if text.lower() in YES else UNKNOWN


def _expect_no_numbers(values: Sequence[Any], attribute: Attribute) -> None:
    """Complain about the number 1234 where the model knows the text 01234."""
    numbers = {float(v): v for v in values if isinstance(v, int | float | np.number)}
    for category in attribute.categories or () if numbers else ():
        if _reads_as_numbers([category]) and float(category) in numbers:
            raise DataError(
                f"column {attribute.name!r} holds the number {numbers[float(category)]}, but the model knows the text "
                f"{category!r}; give the column as text"
            )


def _seconds(values: RawColumn | Texts, name: str) -> NDArray[np.float64]:
    """Whole seconds since 1970-01-01 of a column of dates or their texts; NaN where missing."""
    if isinstance(values, nw.Series) and isinstance(values.dtype, nw.Datetime | nw.Date):
        import pyarrow

        column: Any = values.to_arrow()
        zone = getattr(column.type, "tz", None)
        microseconds = column.cast(pyarrow.timestamp("us", zone), safe=False).cast(pyarrow.int64())
        chunks = microseconds.chunks if isinstance(microseconds, pyarrow.ChunkedArray) else [microseconds]
        arrays = [chunk.to_numpy(zero_copy_only=False).astype(np.float64) for chunk in chunks]
        return np.floor(np.concatenate([np.zeros(0), *arrays]) / 1e6)
    if isinstance(values, np.ndarray) and values.dtype.kind == "M":
        microseconds = values.astype("datetime64[us]").astype(np.float64)
        return np.where(np.isnat(values), np.nan, np.floor(microseconds / 1e6))
    distinct, places = _distinct(values)
    seconds = [*(_seconds_of(value, name) for value in distinct), np.nan]
    return np.floor(np.array(seconds, dtype=np.float64))[places]


def _seconds_of(value: Any, name: str) -> float:
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    text = value.isoformat() if isinstance(value, date) else value
    seconds = parse_date(text) if isinstance(text, str) else None
    if seconds is None:
        raise DataError(f"column {name!r} must hold dates such as 2024-09-19, found {value!r}")
    return seconds


def _numbers(values: RawColumn | Texts, name: str, attribute: Attribute | None = None) -> NDArray[Any]:
    """Floats as they are (float32 and float64 are kept), all else as float64; NaN where missing.

    Where the attribute of a model has no values but 0 and 1, the words true and false are read, too.
    """
    if isinstance(values, Texts):
        numbers = _numbers(np.array(values.distinct, dtype=object), name, attribute)
        return np.append(numbers, np.nan)[values.places]
    if isinstance(values, np.ndarray) and values.dtype in (np.float32, np.float64):
        # The whole array was looked at.
        return values
    if isinstance(values, nw.Series) and values.dtype.is_numeric() and values.dtype not in _UNKNOWN_TO_NUMPY:
        values = values.to_numpy()
    if isinstance(values, nw.Series) or values.dtype.kind in "OUS":
        listed = [np.nan if is_missing(v) else v for v in _listed(values)]
        if attribute is not None and attribute.is_binary:
            listed = [YES.get(v.lower(), v) if isinstance(v, str) else v for v in listed]
        if not _reads_as_numbers(listed):
            odd = next(v for v in listed if not _reads_as_numbers([v]))
            raise DataError(f"column {name!r} must hold numbers, found {odd!r}")
        values = np.array(listed, dtype=np.float64)
    if values.dtype.kind == "c":
        raise DataError(f"column {name!r}: Complex data not supported; give real numbers")
    if values.dtype.kind in "mM":
        raise _unusable(name, values.dtype)
    values = values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)
    _reject_infinite(values, name)
    return values


def _reads_as_numbers(values: list[Any]) -> bool:
    try:
        np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _are_codes(texts: list[str]) -> bool:
    return any(re.match(LEADING_ZERO, text) for text in texts)


def _expect_finite(array: NDArray[Any], attributes: Sequence[Attribute]) -> None:
    """Refuse infinite numbers; rows are read one after the other, in less time than columns."""
    starts = range(0, len(array), _ROWS_AT_ONCE)
    if array.dtype in (np.float32, np.float64) and any(np.isinf(array[i : i + _ROWS_AT_ONCE]).any() for i in starts):
        for values, attribute in zip(array.T, attributes, strict=True):
            if not attribute.is_nominal:
                _reject_infinite(values, attribute.name)


def _reject_infinite(values: NDArray[Any], name: str) -> None:
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        raise DataError(
            f"column {name!r}, row {infinite[0]}: Input X contains infinity or a value too large for "
            f"{values.dtype} ({values[infinite[0]]}); replace it by a finite number or by NaN for missing"
        )


def _unusable(name: str, kind: Any, found: str = "is of type {}") -> DataError:
    times = ", of times for example in seconds" if str(kind).lower()[:4] in ("time", "dura") else ""
    # Checks of scikit-learn look for its own words.
    needed = " (each argument must be a string or a number)" if "values" in found else ""
    return DataError(f"column {name!r} {found.format(kind)}; make it numeric{times}, categorical or text{needed}")


def labelled_data(
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    label_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    *,
    allow_empty: bool = False,
) -> tuple[Dataset, TargetForm]:
    """Attributes and labels, checked, with a name for every column; and the form that `y` has.

    Parameters
    ----------
    X
        A data set, which has its own labels and weights, or the attributes in any form that `encode` reads.
    y
        The labels, in a form that `plurule.data.targets` describes.
    sample_weight
        A weight for each row.
    label_names
        Names of the labels, instead of those that `y` has.
    feature_names
        Names of the columns of an array or a sparse matrix, which have none of their own.
    allow_empty
        Whether there may be no rows, attributes or labels.

    Examples
    --------
    >>> labelled_data([[1.5], [2.5]], [[1, 0], [0, 1]])[0].label_names
    ('y0', 'y1')
    >>> labelled_data([[1.5], [2.5]], ["spam", "ham"])[0].label_names
    ('ham', 'spam')
    >>> labelled_data([[1.5], [2.5], [3.5]], ["cat", "dog", "cow"])[0].groups
    ((0, 1, 2),)
    >>> labelled_data([[1.5], [2.5]], [[1, 0], [0, 1]], label_names=["red", "blue"])[0].label_names
    ('red', 'blue')
    >>> labelled_data([[1.5], [2.5]], [[1, 0], [0, 1]], feature_names=["area"])[0].attribute_names
    ('area',)
    """
    if feature_names is not None:
        expect_no_names(X)
    if isinstance(X, Dataset):
        if y is not None:
            raise DataError("y is given though X is a data set, which has its own labels: leave y out, or give data.X")
        table, form = X.X, TargetForm(sparse=sp.issparse(X.Y))
        Y, names, named = X.Y, X.label_names, True
        sample_weight = X.weights if sample_weight is None else sample_weight
    else:
        table = encode(X) if feature_names is None else with_names(encode(X), feature_names)
        Y, names, named, form = read_target(y)
    if label_names is not None:
        if len(label_names) != len(names):
            raise DataError(f"label_names holds {len(label_names)} names, but Y has {len(names)} labels")
        names, named = tuple(map(str, label_names)), True
    for what, twice in (("column", first_repeated(table.names)), ("label", first_repeated(names))):
        if twice is not None:
            raise DataError(f"two {what}s are named {twice!r}; give each {what} its own name")
    names = disambiguate(names, frozenset(table.names).__contains__, named)
    if not allow_empty:
        if Y.shape[1] == 0:
            raise DataError("Y holds no labels; give one column per label")
        for name, rows in (("Y", Y.shape[0]), ("X", len(table))):
            if rows == 0:
                raise DataError(f"{name} holds no rows (Found array with 0 sample(s)); there is nothing to learn from")
        if not table.attributes:
            shape = f"Found array with 0 feature(s) (shape=({len(table)}, 0))"
            raise DataError(f"{shape} while a minimum of 1 is required: X has no columns")
    if not table.columns:
        # A frame without columns does not know how many rows it has.
        table = Table([], [], Y.shape[0])
    if len(table) != Y.shape[0]:
        raise DataError(f"X has {len(table)} rows, Y has {Y.shape[0]}; give the labels of every row")
    weights = None if sample_weight is None else check_row_weights(sample_weight, len(table), "sample_weight")
    groups, hierarchy = (X.groups, X.hierarchy) if isinstance(X, Dataset) else (form.groups, ())
    return Dataset(table, Y, names, weights, groups=groups, hierarchy=hierarchy), form


def expect_no_names(X: Any) -> None:
    """Complain about `feature_names` if the columns of `X` have names."""
    frame = X if sp.issparse(X) else nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, Dataset | Table | nw.DataFrame):
        raise DataError("feature_names is given though the columns of X have names; leave it out, or rename these")


def with_names(table: Table, names: Sequence[str]) -> Table:
    """The table with other names of its columns.

    >>> with_names(encode([[1.5, 2.0]]), ["area", "age"]).names
    ('area', 'age')
    """
    if isinstance(names, str) or len(names) != len(table.attributes):
        count = 1 if isinstance(names, str) else len(names)
        raise DataError(f"feature_names holds {amount(count, 'name')}, but X has {len(table.attributes)} columns")
    texts = [str(name) for name in names]
    repeated = first_repeated(texts)
    if repeated is not None:
        raise DataError(f"feature_names holds {repeated!r} twice; give each column its own name")
    attributes = [replace(a, name=name) for name, a in zip(texts, table.attributes, strict=True)]
    return Table(attributes, table.columns, len(table))


def unpack(X: Any, y: Any, sample_weight: Any, labels: Sequence[str]) -> tuple[Any, Any, Any]:
    """Attributes, labels in the order that a model has them, and weights; of a data set, if `X` is one."""
    if sp.issparse(y) or (hasattr(y, "columns") and column_of_classes(y) is None):
        y, names = label_matrix(y)
        # Names of which none is known say nothing: a model may have been trained with other ones (`label_names`).
        y = by_name(y, names, labels) if names is not None and set(names) & set(labels) else y
    if not isinstance(X, Dataset) or y is not None:
        return X.X if isinstance(X, Dataset) else X, y, sample_weight
    return X.X, by_name(X.Y, X.label_names, labels), X.weights if sample_weight is None else sample_weight


def row_ids(X: Any, n_rows: int, ids: Sequence[Any] | None = None) -> list[Any]:
    """Names of the rows: as given, of a data set or the index of a pandas frame, or else numbers from 0."""
    if ids is None and isinstance(X, Dataset):
        ids = X.row_names
    elif ids is None and not sp.issparse(X):
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        index = nw.maybe_get_index(frame) if isinstance(frame, nw.DataFrame) else None
        ids = None if index is None else index.tolist()
    if ids is None:
        return list(range(n_rows))
    if len(ids) != n_rows:
        raise DataError(f"{len(ids)} ids for {n_rows} rows; give one for each")
    return list(ids)


def disambiguate(labels: tuple[str, ...], is_column: Callable[[str], bool], named: bool) -> tuple[str, ...]:
    """Names of labels of which none is that of a column of the attributes."""
    clash = next(filter(is_column, labels), None)
    if clash is None:
        return labels
    if named:
        raise DataError(f"a column of X and a label are both named {clash!r}; rename one of them")
    return disambiguate(tuple(f"{label}_label" for label in labels), is_column, named)
