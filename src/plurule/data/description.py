"""What a data set looks like, in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from plurule.data.dataset import Dataset
from plurule.data.encoding import encode
from plurule.data.fingerprint import different, row_hashes
from plurule.data.table import SparseColumn


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
    # Equal rows have equal hashes, and others, but for a chance of one in billions, other ones.
    label_hashes = row_hashes(encode(labels))
    hashes = row_hashes(data.X) + np.uint64(3) * label_hashes
    cells = len(data) * len(data.attributes)
    return Description(
        rows=len(data),
        numeric=len(data.attributes) - nominal,
        nominal=nominal,
        labels=len(data.label_names),
        cardinality=data.cardinality,
        density=data.cardinality / len(data.label_names) if data.label_names else 0.0,
        label_sets=len(different(label_hashes)),
        unlabelled=int((np.diff(labels.indptr) == 0).sum()),
        missing=sum(map(_missing, data.X.columns)) / cells if cells else 0.0,
        duplicates=len(data) - len(different(hashes)),
        positives=dict(zip(data.label_names, labels.sum(axis=0).tolist(), strict=True)),
        Y=labels,
        weighted=data.weights is not None,
    )


def _missing(column: Any) -> int:
    values = column.values if isinstance(column, SparseColumn) else column
    return int((np.isnan(values) if values.dtype.kind == "f" else values < 0).sum())
