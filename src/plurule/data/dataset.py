"""Data sets: attributes of some instances and the labels they carry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from plurule.data.table import Column, SparseColumn, SparseColumns, Table
from plurule.errors import DataError
from plurule.model import Attribute


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

    def __post_init__(self) -> None:
        object.__setattr__(self, "label_names", tuple(self.label_names))
        object.__setattr__(self, "Y", _as_labels(self.Y))
        if self.Y.shape != (len(self.X), len(self.label_names)):
            raise DataError(
                f"Y has {self.Y.shape[0]} rows and {self.Y.shape[1]} columns, "
                f"expected {len(self.X)} rows as X and {len(self.label_names)} labels as named"
            )
        if self.weights is not None:
            object.__setattr__(self, "weights", _as_weights(self.weights, len(self.X)))
        _reject_duplicates((*self.X.names, *self.label_names))

    @property
    def attributes(self) -> tuple[Attribute, ...]:
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
        return replace(self, X=self.X[picked], Y=self.Y[picked], weights=weights)

    def __repr__(self) -> str:
        nominal = sum(a.is_nominal for a in self.attributes)
        name = f"{self.name}: " if self.name else ""
        return (
            f"Dataset({name}{len(self)} instances, {len(self.attributes) - nominal} numeric and {nominal} nominal "
            f"attributes, {len(self.label_names)} labels)"
        )


def _as_labels(Y: Any) -> Any:
    if sp.issparse(Y):
        matrix = sp.csr_array(Y)
        matrix.sum_duplicates()
        _expect_binary(matrix.data)
        matrix = matrix.astype(np.int8)
        matrix.eliminate_zeros()
        return matrix
    array = np.asarray(Y)
    if array.ndim != 2:
        raise DataError(f"Y must be two-dimensional, one column per label, got shape {array.shape}")
    _expect_binary(array)
    return np.ascontiguousarray(array, dtype=np.int8)


def _expect_binary(values: NDArray[Any]) -> None:
    if values.dtype == np.bool_:
        return
    try:
        wrong = (values != 0) & (values != 1)
    except TypeError:
        wrong = np.ones(values.shape, dtype=np.bool_)
    if wrong.any():
        raise DataError(f"Y holds {values[wrong][0]!r}, expected 0 for absent and 1 for present labels only")


def _as_weights(weights: Any, count: int) -> NDArray[np.float64]:
    values = np.asarray(weights, dtype=np.float64)
    if values.shape != (count,):
        raise DataError(f"{values.size} weights, expected one for each of the {count} instances")
    if not (np.isfinite(values) & (values >= 0)).all():
        raise DataError("a weight is negative, infinite or missing, expected numbers of at least 0")
    return values


def _reject_duplicates(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        seen: set[str] = set()
        twice = next(n for n in names if n in seen or seen.add(n))  # type: ignore[func-returns-value]
        raise DataError(f"several columns are named {twice!r}; give each attribute and label its own name")


def concatenate(parts: Sequence[Dataset], name: str = "") -> Dataset:
    """The rows of several data sets, one after the other; they must have the same columns.

    A nominal attribute gets the categories of all parts.
    """
    first = parts[0]
    for part in parts[1:]:
        _expect_same(first.label_names, part.label_names, first.name, part.name)
    table = concatenate_tables([part.X for part in parts], [part.name for part in parts])
    weights = None
    if any(part.weights is not None for part in parts):
        weights = np.concatenate([np.ones(len(p)) if p.weights is None else p.weights for p in parts])
    stack = sp.vstack if any(sp.issparse(part.Y) for part in parts) else np.concatenate
    return Dataset(
        table, stack([part.Y for part in parts]), first.label_names, weights, name or first.name, first.relation
    )


def concatenate_tables(tables: Sequence[Table], names: Sequence[str]) -> Table:
    """The rows of several tables, one after the other; `names` are what complaints call them."""
    if len(tables) == 1:
        return tables[0]
    for table, name in zip(tables[1:], names[1:], strict=True):
        _expect_same(tables[0].names, table.names, names[0], name)
    return _stack(tables)


def _expect_same(ours: Sequence[str], theirs: Sequence[str], our_name: str, their_name: str) -> None:
    if ours != theirs:
        odd = min({*ours} ^ {*theirs}, default=None)
        detail = f"{odd!r} is in one only" if odd is not None else "their order differs"
        raise DataError(f"{our_name!r} and {their_name!r} have different columns: {detail}")


def _stack(tables: Sequence[Table]) -> Table:
    first = tables[0]
    blocks = [table.columns for table in tables]
    if all(isinstance(b, SparseColumns) for b in blocks) and all(t.attributes == first.attributes for t in tables):
        matrix = sp.vstack([b.matrix[:, b.picked] for b in blocks if isinstance(b, SparseColumns)], format="csc")
        nominal = np.array([a.is_nominal for a in first.attributes], dtype=np.bool_)
        return Table(first.attributes, SparseColumns(matrix, nominal, np.arange(len(nominal))))
    merged = [_merge(tables, i) for i in range(len(first.attributes))]
    return Table([a for a, _ in merged], [c for _, c in merged], sum(map(len, tables)))


def _merge(tables: Sequence[Table], index: int) -> tuple[Attribute, Column]:
    attributes = [table.attributes[index] for table in tables]
    attribute = attributes[0]
    columns = [table.columns[index] for table in tables]
    if any(a.categories != attribute.categories for a in attributes):
        if any(a.is_nominal != attribute.is_nominal for a in attributes):
            raise DataError(f"attribute {attribute.name!r} is numeric in one part and nominal in another")
        known = dict.fromkeys(c for a in attributes for c in a.categories or ())
        codes = {category: code for code, category in enumerate(known)}
        columns = [_recode(t.column(index), a, codes) for t, a in zip(tables, attributes, strict=True)]
        attribute = Attribute(attribute.name, tuple(known))
    sparse = [column for column in columns if isinstance(column, SparseColumn)]
    if len(sparse) < len(columns):
        return attribute, np.concatenate([c.to_dense() if isinstance(c, SparseColumn) else c for c in columns])
    shifts = np.cumsum([0] + [len(column) for column in sparse])
    rows = np.concatenate([c.rows + shift for c, shift in zip(sparse, shifts, strict=False)]).astype(np.int32)
    return attribute, SparseColumn(rows, np.concatenate([c.values for c in sparse]), int(shifts[-1]))


def _recode(codes: NDArray[Any], attribute: Attribute, known: Mapping[str, int]) -> NDArray[np.int32]:
    new = np.array([known[c] for c in attribute.categories or ()] + [-1], dtype=np.int32)
    return new[codes]
