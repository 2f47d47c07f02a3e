"""Data sets: in memory, in files (ARFF of Mulan and MEKA, CSV, Parquet), and cut into parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plurule._lazy import attach

if TYPE_CHECKING:
    from plurule.data.dataset import Dataset, DataWarning, concatenate
    from plurule.data.dictionary import describe
    from plurule.data.readers.reading import read, read_pair, read_table
    from plurule.data.splitting import IterativeStratifiedKFold, iterative_split, iterative_train_test_split
    from plurule.data.writing import convert, write

_HOMES = {
    "plurule.data.dataset": ("Dataset", "DataWarning", "concatenate"),
    "plurule.data.dictionary": ("describe",),
    "plurule.data.readers.reading": ("read", "read_pair", "read_table"),
    "plurule.data.splitting": ("IterativeStratifiedKFold", "iterative_split", "iterative_train_test_split"),
    "plurule.data.writing": ("convert", "write"),
}

__all__ = [
    "DataWarning",
    "Dataset",
    "IterativeStratifiedKFold",
    "concatenate",
    "convert",
    "describe",
    "iterative_split",
    "iterative_train_test_split",
    "read",
    "read_pair",
    "read_table",
    "write",
]

__getattr__ = attach(__name__, {name: home for home, names in _HOMES.items() for name in names})


def __dir__() -> list[str]:
    return sorted(__all__)
