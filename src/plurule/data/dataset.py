"""Data sets: attributes of some instances and the labels they carry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from plurule.data.table import Table
from plurule.errors import DataError, first_repeated
from plurule.label_matrix import dense, label_matrix
from plurule.model import Attribute
from plurule.model.head import Groups, Hierarchy
from plurule.model.naming import amount


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
        names = [self.X.repeated_name(), first_repeated(self.label_names), *filter(self.X.has, self.label_names)]
        twice = next((name for name in names if name is not None), None) if self.label_names else None
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
