"""What the values of label columns say: present or absent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from plurule.data.place import shown
from plurule.data.readers.raw import RawTable
from plurule.data.table import SparseColumns
from plurule.errors import DataError
from plurule.model import Attribute

# What people write for absent and present.
_ABSENT = frozenset({"0", "false", "no", "0.0"})
_PRESENT = frozenset({"1", "true", "yes", "1.0"})

# An array of labels is preferred up to this many cells; beyond, rare labels are kept sparse.
_DENSE_CELLS = 1 << 27
_DENSE_SHARE = 1 / 16


def label_matrix(raw: RawTable, positions: Sequence[int]) -> Any:
    """0 and 1 for each row and each of the given columns: an int8 array, or sparse where that is far smaller."""
    attributes = [raw.table.attribute(i) for i in positions]
    meanings = _Meanings(attributes)
    shape = (len(raw.table), len(positions))
    cells = shape[0] * shape[1]
    columns = raw.table.columns
    if not isinstance(columns, SparseColumns):
        values = np.array([raw.table.column(i) for i in positions]).reshape(shape[::-1])
        decided = meanings.of(np.arange(shape[1])[:, None], values)
        if cells and decided.min() < 0:
            label, row = np.unravel_index(int(np.argmin(decided)), decided.shape)
            raise _refusal(raw, attributes[label], values[label, row], int(row))
        return np.ascontiguousarray(decided.T)
    part = columns.select(positions)
    matrix = part.matrix[:, part.picked]
    labels = np.repeat(np.arange(shape[1]), np.diff(matrix.indptr))
    decided = meanings.of(labels, matrix.data)
    if len(decided) and decided.min() < 0:
        at = int(np.argmin(decided))
        raise _refusal(raw, attributes[labels[at]], matrix.data[at], int(matrix.indices[at]))
    defaults = meanings.of(np.arange(shape[1]), np.zeros(shape[1]))
    listed = np.diff(matrix.indptr)
    for label in np.flatnonzero((defaults < 0) & (listed < shape[0])):
        rows = np.setdiff1d(np.arange(shape[0]), matrix.indices[matrix.indptr[label] : matrix.indptr[label + 1]])
        raise _refusal(raw, attributes[label], 0, int(rows[0]))
    if cells > _DENSE_CELLS:
        if (defaults > 0).any():
            raise raw.place.error(
                f"{cells} labels are present unless a row says otherwise, more than fit; declare the labels as {{0,1}}"
            )
        if len(decided) < cells * _DENSE_SHARE:
            present = sp.csc_array((decided, matrix.indices, matrix.indptr), shape=shape).tocsr()
            present.eliminate_zeros()
            return present
    Y = np.empty(shape, dtype=np.int8)
    Y[:] = defaults
    Y[matrix.indices, labels] = decided
    return Y


class _Meanings:
    """What each value of each of some label columns says: 0 absent, 1 present, -1 neither."""

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        known: dict[tuple[str, ...] | None, list[int]] = {None: [0, 1]}
        for attribute in attributes:
            if attribute.categories not in known:
                known[attribute.categories] = [_category_meaning(c) for c in attribute.categories or ()]
        # One more column at the end says what -1, a missing value, does: neither.
        width = max(map(len, known.values())) + 1
        rows = {categories: [*meanings, *[-1] * (width - len(meanings))] for categories, meanings in known.items()}
        self._table = np.array([rows[a.categories] for a in attributes], dtype=np.int8).reshape(-1, width)
        self._numeric = np.array([a.categories is None for a in attributes], dtype=np.bool_)

    def of(self, labels: NDArray[Any], values: NDArray[Any]) -> NDArray[np.int8]:
        """What values of the labels with the given numbers say."""
        if self._numeric.any():
            # A number other than 0 and 1 says as little as a missing value.
            odd = self._numeric[labels] & ~((values == 0) | (values == 1))
            values = np.where(odd, -1, values)
        return self._table[labels, values.astype(np.intp)]


def _category_meaning(category: str) -> int:
    text = category.strip().lower()
    return 0 if text in _ABSENT else 1 if text in _PRESENT else -1


def _refusal(raw: RawTable, attribute: Attribute, value: float, row: int) -> DataError:
    if attribute.categories is not None:
        found = None if value < 0 or not attribute.categories else attribute.categories[int(value)]
    else:
        found = None if np.isnan(value) else f"{value:g}"
    what = "a missing value" if found is None else f"the value {shown(found)}"
    where = raw.at_row(row) if raw.lines is not None else f"{raw.place}, row {row + 1}"
    return DataError(f"{where}: {what} for label {shown(attribute.name)}, expected 0 or 1")
