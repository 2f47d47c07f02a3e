"""The data of the benchmarks: Mulan's training parts, and made-up data of any size."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from plurule.data import read
from plurule.data.table import SparseColumn, Table

CHUNK = 50_000


def data_folder() -> Path | None:
    """The folder of Mulan data sets: `PLURULE_DATA`, or `../shared/data` beside the checkout."""
    places = [os.environ.get("PLURULE_DATA"), Path(__file__).parents[3] / "shared" / "data"]
    return next((Path(place) for place in places if place and Path(place).is_dir()), None)


def save(name: str, folder: Path, target: Path) -> tuple[Path, Path]:
    """A training part as both libraries read it from memory; written once."""
    ours, theirs = target / f"{name}.pickle", target / f"{name}.npz"
    if not ours.exists():
        is_split = any((folder / name).glob("*-train.arff*"))
        data = read(folder / name, split="train" if is_split else "all")
        Y = np.asarray(data.Y.todense() if sp.issparse(data.Y) else data.Y, dtype=np.uint8)
        ours.write_bytes(pickle.dumps((data.X, Y)))
        nominal = [i for i, attribute in enumerate(data.X.attributes) if attribute.is_nominal]
        np.savez(theirs, Y=Y, nominal=np.array(nominal, dtype=np.uint32), **as_matrix(data.X))
    return ours, theirs


def as_matrix(table: Table) -> dict[str, Any]:
    """A table as numbers, categories by their position; sparse tables by columns."""
    dense = [column for column in table.columns if not isinstance(column, SparseColumn)]
    if len(dense) == len(table.columns):
        return {"X": np.asfortranarray(np.column_stack([_numbers(column) for column in dense]))}
    sparse = [column if isinstance(column, SparseColumn) else _sparse(column) for column in table.columns]
    matrix = sp.csc_array(
        (
            np.concatenate([_numbers(column.values) for column in sparse]),
            np.concatenate([column.rows for column in sparse]),
            np.cumsum([0, *(len(column.rows) for column in sparse)]),
        ),
        shape=table.shape,
    )
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
    return parts | {"shape": np.array(matrix.shape)}


def _numbers(column: NDArray[Any]) -> NDArray[np.float32]:
    numbers = column.astype(np.float32)
    if column.dtype.kind == "i":
        numbers[column < 0] = np.nan
    return numbers


def _sparse(column: NDArray[Any]) -> SparseColumn:
    rows = np.flatnonzero(column).astype(np.int32)
    return SparseColumn(rows, column[rows], len(column))


def made_up_words(rows: int, attributes: int, labels: int, seed: int = 0) -> tuple[Any, NDArray[np.uint8]]:
    """Fifty words in each row, frequent ones more often; a label is there where one of two of its words is."""
    rng = np.random.default_rng(seed)
    words = (attributes * rng.random((rows, 50)) ** 3).astype(np.int32)
    entries = np.ones(words.size), (np.repeat(np.arange(rows), 50), words.ravel())
    X = sp.csc_array(entries, shape=(rows, attributes))
    X.data[:] = 1.0
    chosen = (attributes * rng.random((2, labels)) ** 6).astype(np.int32)
    return X, ((X[:, chosen[0]].toarray() + X[:, chosen[1]].toarray()) > 0).astype(np.uint8)


def made_up(rows: int, attributes: int, labels: int, seed: int = 0) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    """Normal attributes; a label is there where two of them, chosen for it, and some noise are high: about one in six.

    Made in pieces, so that nothing but the result takes memory.
    """
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, attributes, (2, labels))
    X = np.empty((rows, attributes), dtype=np.float32)
    Y = np.empty((rows, labels), dtype=np.uint8)
    for start in range(0, rows, CHUNK):
        piece = slice(start, min(start + CHUNK, rows))
        X[piece] = rng.standard_normal(X[piece].shape, dtype=np.float32)
        noise = rng.standard_normal(Y[piece].shape, dtype=np.float32)
        Y[piece] = X[piece][:, first] + 0.5 * X[piece][:, second] + 0.5 * noise > 1.2
    return X, Y
