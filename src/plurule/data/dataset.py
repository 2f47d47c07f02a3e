"""Data sets: a table of attributes of some instances, and the labels they carry.

A column of a table is an array or a `SparseColumn`. Numeric columns hold floats with NaN for a missing value, nominal
columns hold the index of the category (int32) with -1 for a missing one. A `SparseColumn` names the rows that differ
from 0 (the number 0, or the first category).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, TypeAlias, overload

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from plurule.data.targets import dense, label_matrix
from plurule.errors import DataError, amount, first_repeated
from plurule.model import Attribute
from plurule.model.rule import Groups, Hierarchy


@dataclass(frozen=True, slots=True)
class SparseColumn:
    """A column of which only the rows listed (ascending) hold something other than 0."""

    rows: NDArray[np.int32]
    values: NDArray[Any]
    n_rows: int

    def __len__(self) -> int:
        return self.n_rows

    def to_dense(self) -> NDArray[Any]:
        """The column with its zeros written out."""
        dense = np.zeros(self.n_rows, dtype=self.values.dtype)
        dense[self.rows] = self.values
        return dense

    def take(self, rows: NDArray[np.intp]) -> SparseColumn:
        """The given rows, in the given order."""
        if len(self.rows) == 0:
            return SparseColumn(self.rows, self.values, len(rows))
        position = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        found = np.flatnonzero(self.rows[position] == rows)
        return SparseColumn(found.astype(np.int32), self.values[position[found]], len(rows))


Column: TypeAlias = NDArray[Any] | SparseColumn


@dataclass(frozen=True, slots=True, eq=False)
class SparseColumns(Sequence[SparseColumn]):
    """Many sparse columns kept as one matrix, so that a wide table costs no object per column."""

    matrix: Any
    """A `csc_array` of numbers and codes with ascending rows and no stored zeros."""
    nominal: NDArray[np.bool_]
    """Whether each column of the matrix holds codes."""
    picked: NDArray[np.intp]
    """Which columns of the matrix these are, in order."""

    @property
    def n_rows(self) -> int:
        """Length of each column."""
        return int(self.matrix.shape[0])

    def __len__(self) -> int:
        return len(self.picked)

    @overload
    def __getitem__(self, index: int) -> SparseColumn: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[SparseColumn, ...]: ...
    def __getitem__(self, index: int | slice) -> SparseColumn | tuple[SparseColumn, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        column = self.picked[index]
        start, end = self.matrix.indptr[column], self.matrix.indptr[column + 1]
        values = self.matrix.data[start:end]
        if self.nominal[column]:
            values = values.astype(np.int32)
        return SparseColumn(self.matrix.indices[start:end].astype(np.int32, copy=False), values, self.n_rows)

    def picked_matrix(self) -> Any:
        """The matrix of these columns; not to be changed."""
        all_are = np.array_equal(self.picked, np.arange(self.matrix.shape[1]))
        return self.matrix if all_are else self.matrix[:, self.picked]

    def select(self, columns: Sequence[int]) -> SparseColumns:
        """Some of the columns."""
        return SparseColumns(self.matrix, self.nominal, self.picked[np.asarray(columns, dtype=np.intp)])

    @classmethod
    def joined(cls, tables: Sequence[SparseColumns]) -> SparseColumns:
        """The rows of several tables with the same columns."""
        matrix = sp.csc_array(sp.vstack([one.picked_matrix() for one in tables], format="csc"))
        matrix.sort_indices()
        return cls(matrix, tables[0].nominal[tables[0].picked], np.arange(matrix.shape[1]))

    def take(self, rows: NDArray[np.intp]) -> SparseColumns:
        """The given rows of all columns, in the given order."""
        matrix = self.picked_matrix()[rows]
        matrix.sort_indices()
        return SparseColumns(matrix, self.nominal[self.picked], np.arange(len(self.picked)))


class Table:
    """Named columns of equal length; rows can be indexed, so scikit-learn's splitters can cut it.

    >>> table = Table([Attribute("area"), Attribute("sea", ("no", "yes"))],
    ...               [np.array([1.0, np.nan]), np.array([1, -1], dtype=np.int32)])
    >>> table.shape, table[[0]].column(1)
    ((2, 2), array([1], dtype=int32))
    """

    def __init__(
        self,
        attributes: Sequence[Attribute],
        columns: Any,
        n_rows: int | None = None,
        absent_columns: tuple[str, ...] = (),
    ):
        self.absent_columns = absent_columns
        """Names of columns that were not there, and hold missing values only."""
        self.attributes = tuple(attributes)
        """Names and kinds of the columns."""
        self.columns: Any = columns if hasattr(columns, "take") else tuple(columns)
        """Of each a `Column`; a tuple, or what makes them when they are asked for, such as `SparseColumns`."""
        if len(self.attributes) != len(self.columns):
            raise DataError(f"{len(self.columns)} columns, {len(self.attributes)} attributes named")
        lengths = set(map(len, self.columns)) if isinstance(self.columns, tuple) else {self.columns.n_rows}
        lengths |= set() if n_rows is None else {n_rows}
        if len(lengths) > 1:
            raise DataError(f"columns of different lengths: {sorted(lengths)}")
        self.n_rows = lengths.pop() if lengths else 0

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n_rows, len(self.columns)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple([a.name for a in self.attributes])

    def __len__(self) -> int:
        return self.n_rows

    def column(self, index: int) -> NDArray[Any]:
        """One column, dense."""
        column = self.columns[index]
        return column.to_dense() if isinstance(column, SparseColumn) else column

    def select(self, columns: Sequence[int]) -> Table:
        """Some of the columns, in the given order."""
        is_sparse = isinstance(self.columns, SparseColumns)
        some = self.columns.select(columns) if is_sparse else [self.columns[i] for i in columns]
        return Table([self.attributes[i] for i in columns], some, self.n_rows)

    def without(self, columns: Sequence[int]) -> Table:
        """The other columns."""
        return self.select(np.delete(np.arange(len(self.columns)), columns).tolist())

    def __getitem__(self, rows: Any) -> Table:
        if isinstance(rows, tuple):
            if len(rows) != 2 or rows[1] not in (slice(None), Ellipsis):
                raise IndexError("a table is indexed by rows only")
            rows = rows[0]
        picked = np.atleast_1d(np.arange(self.n_rows)[rows])
        if not isinstance(self.columns, tuple):
            return Table(self.attributes, self.columns.take(picked), len(picked))
        columns = [c.take(picked) if isinstance(c, SparseColumn) else c[picked] for c in self.columns]
        return Table(self.attributes, columns, len(picked))

    def __iter__(self) -> Iterator[NDArray[Any]]:
        raise TypeError("a table is not iterable; use table.column(i) or table[rows]")

    def __repr__(self) -> str:
        nominal = sum(a.is_nominal for a in self.attributes)
        return f"Table({self.n_rows} rows, {len(self.columns) - nominal} numeric and {nominal} nominal columns)"


class DataWarning(UserWarning):
    """Something in a source was left out or changed; the message says what."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """Instances with attributes and labels.

    Parameters
    ----------
    X
        The attributes.
    Y
        One row per instance, one column per label, 1 where the label is present, else 0: an int8 array, or a
        scipy sparse array where so many labels are so rare that an array would be wasteful.
    label_names
        Names of the labels, in the order of the columns of `Y`.
    weights
        Weight of each instance; None if all count the same.
    name
        What the data set is called.
    relation
        What its file calls it, which in ARFF files can be long.
    row_names
        What the instances are called; None if they have no names.
    description
        A text about the data.
    groups
        Places of labels of which exactly one is present in every row, as the classes of a column are.
    hierarchy
        Pairs of the place of a label and of the one above it, which it implies, as Mulan's XML files have them.

    Examples
    --------
    >>> data = Dataset(Table([Attribute("area")], [np.array([1.0, 2.0])]), np.array([[1, 0], [0, 0]]), ("red", "blue"))
    >>> data
    Dataset(2 instances, 1 numeric and 0 nominal attributes, 2 labels)
    >>> data.cardinality
    0.5
    """

    X: Table
    Y: Any
    label_names: tuple[str, ...]
    weights: NDArray[np.float64] | None = None
    name: str = ""
    relation: str = ""
    row_names: tuple[str, ...] | None = None
    description: str = ""
    groups: Groups = ()
    hierarchy: Hierarchy = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "label_names", tuple(self.label_names))
        object.__setattr__(self, "Y", label_matrix(self.Y)[0])
        if self.Y.shape != (len(self.X), len(self.label_names)):
            raise DataError(
                f"Y has {self.Y.shape[0]} rows and {self.Y.shape[1]} columns, "
                f"expected {len(self.X)} rows as X and {len(self.label_names)} labels as named"
            )
        if self.weights is not None:
            object.__setattr__(self, "weights", check_row_weights(self.weights, len(self.X)))
        if self.row_names is not None:
            object.__setattr__(self, "row_names", tuple(self.row_names))
            if len(self.row_names) != len(self.X):
                raise DataError(f"{len(self.row_names)} row names, expected one for each of {len(self.X)} rows")
        for group in self.groups:
            expect_exactly_one(self.Y, group, self.label_names)
        # Readers see to the names of attributes, of which there may be many; labels may clash with them.
        twice = first_repeated((*self.X.names, *self.label_names)) if self.label_names else None
        if twice is not None:
            raise DataError(f"several columns are named {twice!r}; give each attribute and label its own name")

    @classmethod
    def unlabelled(cls, X: Table, **more: Any) -> Self:
        """A data set in which every column is an attribute; `more` are its other parameters."""
        return cls(X, np.empty((len(X), 0), dtype=np.int8), (), **more)

    @property
    def attributes(self) -> Sequence[Attribute]:
        """Names and kinds of the columns of `X`."""
        return self.X.attributes

    @property
    def attribute_names(self) -> tuple[str, ...]:
        """Names of the columns of `X`."""
        return self.X.names

    @property
    def cardinality(self) -> float:
        """Labels per instance, on average (0 if there are no instances)."""
        return float(self.Y.sum(dtype=np.int64)) / len(self) if len(self) else 0.0

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, rows: Any) -> Dataset:
        """The given rows (a slice, indices or a mask)."""
        picked = np.atleast_1d(np.arange(len(self))[rows])
        weights = None if self.weights is None else self.weights[picked]
        names = None if self.row_names is None else tuple(self.row_names[i] for i in picked.tolist())
        return replace(self, X=self.X[picked], Y=self.Y[picked], weights=weights, row_names=names)

    def to_pandas(self) -> tuple[Any, Any]:
        """Attributes and labels as two pandas frames: nominal attributes are categorical, rows have their names.

        >>> table = Table([Attribute("sea", ("no", "yes"))], [np.array([1, -1])])
        >>> X, Y = Dataset(table, [[1], [0]], ("red",)).to_pandas()
        >>> X["sea"].tolist(), Y["red"].tolist()
        (['yes', nan], [1, 0])
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_pandas needs pandas; install it with: pip install 'plurule[pandas]'") from error
        rows = pd.RangeIndex(len(self)) if self.row_names is None else pd.Index(self.row_names)
        columns: dict[str, Any] = {}
        for attribute, values in self._columns():
            if attribute.categories is not None:
                columns[attribute.name] = pd.Categorical.from_codes(values, list(attribute.categories))
            else:
                columns[attribute.name] = pd.to_datetime(values, unit="s") if attribute.is_date else values
        return pd.DataFrame(columns, rows), pd.DataFrame(dense(self.Y), rows, list(self.label_names))

    def to_numpy(self) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        """Attributes and labels as two arrays, with columns as in `attribute_names` and `label_names`.

        A nominal attribute is the number of its category in `attributes`, from 0; NaN is a missing value.

        >>> table = Table([Attribute("sea", ("no", "yes"))], [np.array([1, -1])])
        >>> Dataset(table, [[1], [0]], ("red",)).to_numpy()
        (array([[ 1.],
               [nan]]), array([[1],
               [0]], dtype=int8))
        """
        X = np.empty(self.X.shape)
        for i, (attribute, values) in enumerate(self._columns()):
            X[:, i] = values if attribute.categories is None else np.where(values < 0, np.nan, values)
        return X, dense(self.Y)

    def _columns(self) -> Iterator[tuple[Attribute, NDArray[Any]]]:
        for i, attribute in enumerate(self.attributes):
            yield attribute, self.X.column(i)

    def __repr__(self) -> str:
        nominal = sum(a.is_nominal for a in self.attributes)
        name = f"{self.name}: " if self.name else ""
        return (
            f"Dataset({name}{len(self)} instances, {len(self.attributes) - nominal} numeric and {nominal} nominal "
            f"attributes, {len(self.label_names)} labels)"
        )


def check_row_weights(weights: Any, n_rows: int, name: str = "weights") -> NDArray[np.float64]:
    """A weight for each row: finite numbers of at least 0; a single number is that of every row."""
    try:
        values = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must hold numbers: {error}") from error
    if values.ndim == 0:
        values = np.full(n_rows, float(values))
    if values.shape != (n_rows,):
        raise DataError(f"{name} has shape {values.shape}, expected one weight for each of {n_rows} rows")
    odd = np.flatnonzero(~np.isfinite(values) | (values < 0))
    if len(odd):
        raise DataError(
            f"{name}, row {odd[0]}: {values[odd[0]]:g}, expected a finite number of at least 0 "
            "(Negative values in data passed to `sample_weight`)"
        )
    return values


def expect_exactly_one(Y: Any, group: Sequence[int], names: Sequence[str]) -> None:
    """Complain about the first row that has none of the labels of a group, or several."""
    present = dense(Y[:, list(group)])
    odd = np.flatnonzero(present.sum(axis=1) != 1)
    if len(odd):
        found = [names[i] for i, value in zip(group, present[odd[0]], strict=True) if value]
        has = " and ".join(map(repr, found)) if found else "none of them"
        shown = ", ".join(repr(names[i]) for i in group[:6]) + (", …" if len(group) > 6 else "")
        expected = f"exactly one of the labels {shown} must be present"
        raise DataError(f"row {odd[0]}: {expected}, found {has}; correct the row, or leave the group out")


def expect_implied(Y: Any, hierarchy: Hierarchy, names: Sequence[str]) -> None:
    """Complain about the first row that has a label without the one above it."""
    for below, above in hierarchy:
        has, needs = (dense(Y[:, [place]])[:, 0] for place in (below, above))
        odd = np.flatnonzero((has == 1) & (needs == 0))
        if len(odd):
            found = f"row {odd[0]} has the label {names[below]!r} without {names[above]!r}, which it implies"
            raise DataError(
                f"{found} ({amount(len(odd), 'such row')}): add {names[above]!r} there, "
                "or learn without the hierarchy (name the labels instead of reading an XML file that nests them, or "
                "leave the pair out)"
            )
