"""What a data set looks like, in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from plurule.data.dataset import Dataset
from plurule.data.table import SparseColumn, Table

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class Description:
    """The usual numbers about a multi-label data set.

    `cardinality` is the number of labels per instance, `density` that divided by the number of labels, `missing` the
    share of the values that are missing, and `duplicates` the number of instances that equal an earlier one in all
    attributes and labels. `Y` are the labels themselves, as a sparse matrix.
    """

    rows: int
    numeric: int
    nominal: int
    labels: int
    cardinality: float
    density: float
    label_sets: int
    unlabelled: int
    missing: float
    duplicates: int
    positives: dict[str, int]
    Y: sp.csr_array
    weighted: bool

    @property
    def never_positive(self) -> list[str]:
        """Labels that no instance has."""
        return [name for name, count in self.positives.items() if count == 0]

    def together(self, labels: Sequence[int]) -> NDArray[np.int64]:
        """How many instances have both of each two of these labels (the pairs of all may be more than memory holds)."""
        chosen = self.Y[:, list(labels)].toarray()
        return chosen.T @ chosen


def describe(data: Dataset) -> Description:
    """Count what there is to count about a data set.

    >>> from plurule.data import read
    >>> about = describe(read(([[1.0], [1.0], [2.0]], [[1, 0], [1, 0], [0, 0]])))
    >>> about.label_sets, about.duplicates, about.never_positive
    (2, 1, ['y1'])
    """
    nominal = sum(attribute.is_nominal for attribute in data.attributes)
    labels = sp.csr_array(data.Y, dtype=np.int64)
    label_codes = _row_codes(Table([], [], len(data)), labels)
    codes = _row_codes(data.X, labels)
    cells = len(data) * len(data.attributes)
    return Description(
        rows=len(data),
        numeric=len(data.attributes) - nominal,
        nominal=nominal,
        labels=len(data.label_names),
        cardinality=data.cardinality,
        density=data.cardinality / len(data.label_names) if data.label_names else 0.0,
        label_sets=len(np.unique(label_codes)),
        unlabelled=int((np.diff(labels.indptr) == 0).sum()),
        missing=sum(map(_missing, data.X.columns)) / cells if cells else 0.0,
        duplicates=len(data) - len(np.unique(codes)),
        positives=dict(zip(data.label_names, labels.sum(axis=0).tolist(), strict=True)),
        Y=labels,
        weighted=data.weights is not None,
    )


def _missing(column: Any) -> int:
    values = column.values if isinstance(column, SparseColumn) else column
    return int((np.isnan(values) if values.dtype.kind == "f" else values < 0).sum())


def _row_codes(table: Table, labels: Any) -> NDArray[np.uint64]:
    """A number for each row, the same for equal rows and, but for a chance of one in billions, only for them.

    The sum over the columns of a mixed-up value that is not 0; rows need not be written out, however wide they are.
    """
    codes = np.zeros(len(table), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for i, column in enumerate(table.columns):
            if isinstance(column, SparseColumn):
                codes[column.rows] += _mix(column.values.astype(np.float64), i)
            else:
                rows = np.flatnonzero(column != 0)
                codes[rows] += _mix(column[rows].astype(np.float64), i)
        labelled, columns = labels.nonzero()
        np.add.at(codes, labelled, _scramble((columns.astype(np.uint64) + np.uint64(len(table.columns) + 1)) * _GOLDEN))
    return codes


def _mix(values: NDArray[np.float64], column: int) -> NDArray[np.uint64]:
    # One bit pattern for all that is missing.
    bits = np.where(np.isnan(values), np.nan, values).view(np.uint64)
    return _scramble(bits ^ _scramble(np.array([column + 1], dtype=np.uint64) * _GOLDEN))


def _scramble(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
