"""Tables: the attributes of some instances, column by column, as every engine reads them.

A column is an array or a `SparseColumn`. Numeric columns hold floats with NaN for a missing value, nominal
columns hold the index of the category (int32) with -1 for a missing one. A `SparseColumn` names the rows
that differ from 0 (the number 0, or the first category).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from plurule.errors import DataError, first_repeated
from plurule.model import Attribute


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
        columns: Sequence[Column],
        n_rows: int | None = None,
        lacking: tuple[str, ...] = (),
    ):
        self.lacking = lacking
        """Names of columns that were not there, and hold missing values only."""
        self.attributes = tuple(attributes)
        """Names and kinds of the columns."""
        self.columns = columns if isinstance(columns, SparseColumns) else tuple(columns)
        if len(self.attributes) != len(self.columns):
            raise DataError(f"{len(self.columns)} columns, {len(self.attributes)} attributes named")
        lengths = {columns.n_rows} if isinstance(columns, SparseColumns) else set(map(len, self.columns))
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

    def has(self, name: str) -> bool:
        """Whether a column is called so."""
        return name in self._names

    def repeated_name(self) -> str | None:
        """The first name that a column before has; None if all are different."""
        return first_repeated(self.names)

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self.names)

    def __len__(self) -> int:
        return self.n_rows

    def column(self, index: int) -> NDArray[Any]:
        """One column, dense."""
        column = self.columns[index]
        return column.to_dense() if isinstance(column, SparseColumn) else column

    def select(self, columns: Sequence[int]) -> Table:
        """Some of the columns, in the given order."""
        some = [self.columns[i] for i in columns] if isinstance(self.columns, tuple) else self.columns.select(columns)
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
        if isinstance(self.columns, SparseColumns):
            return Table(self.attributes, self.columns.take(picked), len(picked))
        columns = [c.take(picked) if isinstance(c, SparseColumn) else c[picked] for c in self.columns]
        return Table(self.attributes, columns, len(picked))

    def __iter__(self) -> Iterator[NDArray[Any]]:
        raise TypeError("a table is not iterable; use table.column(i) or table[rows]")

    def __repr__(self) -> str:
        nominal = sum(a.is_nominal for a in self.attributes)
        return f"Table({self.n_rows} rows, {len(self.columns) - nominal} numeric and {nominal} nominal columns)"
