"""Data sets: in memory, in files (ARFF of Mulan and MEKA, CSV, Parquet), and split for validation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plurule._lazy import attach

if TYPE_CHECKING:
    from plurule.data.dataset import Dataset, DataWarning
    from plurule.data.reading import read
    from plurule.data.splitting import IterativeStratifiedKFold, iterative_split, iterative_train_test_split

__all__ = [
    "DataWarning",
    "Dataset",
    "IterativeStratifiedKFold",
    "iterative_split",
    "iterative_train_test_split",
    "read",
]

__getattr__ = attach(
    __name__,
    {
        "plurule.data.dataset": ["Dataset", "DataWarning"],
        "plurule.data.reading": ["read"],
        "plurule.data.splitting": ["IterativeStratifiedKFold", "iterative_split", "iterative_train_test_split"],
    },
)


def __dir__() -> list[str]:
    return sorted(__all__)
