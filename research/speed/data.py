"""Data of the benchmarks: training parts of data sets, and generated data of any size."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from plurule import Dataset, read
from research.data import require_data_set
from research.matrices import as_arrays, category_codes, label_matrix, nominal_columns

CHUNK = 50_000


def training_part(name: str) -> Dataset:
    """Read the training part of a data set, or all of one that has no test part."""
    return read(require_data_set(name).train)


def save_for_us(name: str, target: Path) -> Path:
    """Write a training part as plurule reads it; once."""
    path = target / f"{name}.pickle"
    if not path.exists():
        data = training_part(name)
        path.write_bytes(pickle.dumps((data.X, label_matrix(data))))
    return path


def save_for_peer(name: str, target: Path) -> Path:
    """Write a training part as mlrl-seco reads it; once."""
    path = target / f"{name}.npz"
    if not path.exists():
        data = training_part(name)
        nominal = np.array(nominal_columns(data), dtype=np.uint32)
        np.savez(path, Y=label_matrix(data), nominal=nominal, **as_arrays(category_codes(data)))
    return path


def generate_words(rows: int, attributes: int, labels: int, seed: int = 0) -> tuple[Any, NDArray[np.uint8]]:
    """Generate fifty words per row, frequent ones more often; a label is present where one of two of its words is."""
    rng = np.random.default_rng(seed)
    words = (attributes * rng.random((rows, 50)) ** 3).astype(np.int32)
    entries = np.ones(words.size), (np.repeat(np.arange(rows), 50), words.ravel())
    X = sp.csc_array(entries, shape=(rows, attributes))
    X.data[:] = 1.0
    chosen = (attributes * rng.random((2, labels)) ** 6).astype(np.int32)
    return X, ((X[:, chosen[0]].toarray() + X[:, chosen[1]].toarray()) > 0).astype(np.uint8)


def generate_classes(rows: int, attributes: int, classes: int, seed: int = 0) -> tuple[Any, NDArray[np.intp]]:
    """Generate equally frequent classes of one column: the rank of a sum of three attributes and some noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, attributes), dtype=np.float32)
    score = X[:, :3] @ np.array([3.0, 1.7, 1.0]) + 0.3 * rng.standard_normal(rows)
    return X, score.argsort().argsort() * classes // rows


def generate(rows: int, attributes: int, labels: int, seed: int = 0) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    """Generate normal attributes; a label is present where two of them and some noise are high: about one in six.

    Made in chunks, so that nothing but the result takes memory.
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
