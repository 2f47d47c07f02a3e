"""Fingerprints of rows, so that a model can tell what it was trained on from what is new to it.

A fingerprint has 32 bits. It is the same whether a row comes dense or sparse, from a file or a frame, and says nothing
about labels. Of a million other rows, about 200 have by chance the fingerprint of one of a million trained on.
What must be the same when work goes on, or comes from a cache, has a digest.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule.data.table import SparseColumn, SparseColumns, Table
from plurule.model import RuleList

Hashes = NDArray[np.uint64]

PACKED = np.dtype("<u4")
ROWS, VALUES = 1 << 12, 1 << 14
"""Looked at together."""


def fingerprints(table: Table) -> NDArray[np.uint32]:
    """The fingerprint of each row.

    >>> from plurule.data.encoding import encode
    >>> a, b, c = fingerprints(encode([[0.0, 1.0], [1.0, 0.0], [-0.0, 1.0]])).tolist()
    >>> a == c, a == b
    (True, False)
    """
    return (row_hashes(table) >> np.uint64(32)).astype(np.uint32)


def row_hashes(table: Table) -> Hashes:
    """A number for each row, made of the numbers and codes that are not 0, and where they stand."""
    sums = np.zeros(len(table), dtype=np.uint64)
    if isinstance(table.columns, SparseColumns):
        matrix = table.columns.picked_matrix()
        places = np.repeat(np.arange(matrix.shape[1], dtype=np.uint64), np.diff(matrix.indptr))
        np.add.at(sums, matrix.indices, _mixed(matrix.data, places))
    else:
        columns = list(enumerate(table.columns))
        for place, column in columns:
            if isinstance(column, SparseColumn):
                sums[column.rows] += _mixed(column.values, np.uint64(place))
        dense = [(place, column) for place, column in columns if not isinstance(column, SparseColumn)]
        for start in range(0, len(table), ROWS):  # as much at a time as stays in a cache
            rows = slice(start, start + ROWS)
            step = max(1, VALUES // len(sums[rows]))
            for part in (dense[i : i + step] for i in range(0, len(dense), step)):
                values = np.array([column[rows] for _, column in part], np.float64)
                sums[rows] += _mixed(values, np.array([[place] for place, _ in part], np.uint64)).sum(axis=0)
    return _scrambled(sums)


def pack(rows: NDArray[np.uint32]) -> bytes:
    """Fingerprints as a rule list keeps them: each once, in order."""
    return different(rows).astype(PACKED).tobytes()


def different(numbers: NDArray[Any]) -> NDArray[Any]:
    """Each number once, in order. Of whole numbers `np.unique` of NumPy 2.4 makes a table: of millions much slower.

    >>> different(np.array([3, 1, 3])).tolist(), different(np.array([], dtype=int)).tolist()
    ([1, 3], [])
    """
    ordered = np.sort(numbers)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]


def trained_on(rule_list: RuleList, table: Table) -> NDArray[np.bool_] | None:
    """Which rows of a table (with the attributes of the rule list) it was trained on; None if that cannot be known."""
    if rule_list.trained_on is None or table.lacking:
        return None
    return np.isin(fingerprints(table), np.frombuffer(rule_list.trained_on, dtype=PACKED))


def in_words(n_trained: int | None, n_rows: int) -> str:
    """How many rows were trained on, as a sentence.

    >>> in_words(312, 555), in_words(0, 65), in_words(None, 65)
    ('312 of the 555 rows were trained on', 'none of the 65 rows was trained on', '')
    """
    if n_trained is None:
        return ""
    return f"{n_trained or 'none'} of the {n_rows} rows {'were' if n_trained > 1 else 'was'} trained on"


def digest(*values: Any) -> str:
    """A short text that differs if values do, in whatever they are made of."""
    told = hashlib.sha256()
    for value in values:
        if isinstance(value, np.ndarray):
            told.update(f"{value.dtype}{value.shape}".encode() + value.tobytes())
        elif isinstance(value, Mapping):
            told.update(digest(*value, *value.values()).encode())
        elif isinstance(value, list | tuple):
            told.update(f"{type(value).__name__}{len(value)}{digest(*value)}".encode())
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = digest(*(getattr(value, field.name) for field in dataclasses.fields(value)))
            told.update(f"{type(value).__module__}.{type(value).__qualname__}{fields}".encode())
        else:
            told.update(f"{value!r}\0".encode())
    return told.hexdigest()[:16]


def _mixed(values: NDArray[np.generic], place: Hashes | np.uint64) -> Hashes:
    """A number for each value and its place; 0 for the value 0."""
    numbers = values.astype(np.float64)
    numbers[np.isnan(numbers)] = np.nan  # one of many
    with np.errstate(over="ignore"):
        mixed = _scrambled(numbers.view(np.uint64) ^ _scrambled(np.atleast_1d(place) + np.uint64(1)))
    return np.where(numbers == 0, np.uint64(0), mixed)


def _scrambled(numbers: Hashes) -> Hashes:
    """Every bit of the result depends on every bit of the number: the finaliser of SplitMix64 (Steele et al. 2014)."""
    numbers = numbers ^ (numbers >> np.uint64(30))
    numbers *= np.uint64(0xBF58476D1CE4E5B9)
    numbers ^= numbers >> np.uint64(27)
    numbers *= np.uint64(0x94D049BB133111EB)
    numbers ^= numbers >> np.uint64(31)
    return numbers
