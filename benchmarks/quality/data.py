"""Training and test parts as each learner likes them best."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from benchmarks.engine.data import as_matrix
from numpy.typing import NDArray

from plurule.data import Dataset, read
from plurule.data.table import SparseColumn, Table

SETS = ("flags", "emotions", "birds", "medical", "scene", "yeast", "enron", "CAL500", "tmc2007-500", "bibtex")
KNOWN = SETS
"""The ten sets of the README's table."""
HARD = ("CHD_49", "langlog", "slashdot", "imdb")
"""Where good single rules are rare; looked for in `data-hard` beside the folder of the others."""
SETS = (*KNOWN, *HARD)
IMDB_ROWS = 12_000
"""Drawn at random from the set that is not split; two thirds of them to train."""


def parts_of(name: str, folder: Path) -> tuple[Dataset, Dataset]:
    """The training and the test part of a set."""
    place = next((f / name for f in (folder, folder.parent / "data-hard") if (f / name).is_dir()), folder / name)
    if name != "imdb":
        return read(place, split="train"), read(place, split="test")
    rows = np.random.default_rng(0).permutation(len(whole := read(next(place.glob("*.arff*")))))[:IMDB_ROWS]
    end = 2 * IMDB_ROWS // 3
    return whole[np.sort(rows[:end])], whole[np.sort(rows[end:])]


def labels(data: Dataset) -> NDArray[np.uint8]:
    """The labels as a 0/1 matrix."""
    return np.asarray(data.Y.todense() if sp.issparse(data.Y) else data.Y, dtype=np.uint8)


def save(name: str, folder: Path, target: Path) -> tuple[Path, Path]:
    """Both parts of a data set for plurule and scikit-learn, and for mlrl; written once."""
    ours, theirs = target / f"{name}.pickle", target / f"{name}.npz"
    if not ours.exists():
        train, test = parts_of(name, folder)
        ours.write_bytes(pickle.dumps(((train.X, labels(train)), (test.X, labels(test)))))
        arrays: dict[str, Any] = {"train_Y": labels(train)}
        for part, data in (("train", train), ("test", test)):
            arrays |= {f"{part}_{key}": value for key, value in as_matrix(data.X).items()}
        arrays["nominal"] = np.array(nominal(train.X), dtype=np.uint32)
        np.savez(theirs, **arrays)
    return ours, theirs


def nominal(table: Table) -> list[int]:
    """Positions of the nominal attributes."""
    return [i for i, attribute in enumerate(table.attributes) if attribute.is_nominal]


def as_features(table: Table) -> Any:
    """For scikit-learn: one column per category of an attribute with more than two; sparse where the table is."""
    columns: list[Any] = []
    for attribute, column in zip(table.attributes, table.columns, strict=True):
        if isinstance(column, SparseColumn):
            indices = (column.rows, np.zeros_like(column.rows))
            columns.append(sp.csc_array((column.values.astype(np.float32), indices), shape=(len(table), 1)))
        elif attribute.categories is not None and len(attribute.categories) > 2:
            columns += [(column == i).astype(np.float32)[:, None] for i in range(len(attribute.categories))]
        else:
            columns.append(np.asarray(column, dtype=np.float32)[:, None])
    if any(sp.issparse(column) for column in columns):
        return sp.hstack([sp.csc_array(column) for column in columns], format="csr")
    return np.hstack(columns)
