"""Training and test parts as each learner needs them."""

from __future__ import annotations

import numpy as np

from plurule import Dataset, read
from research.data import read_parts, require_data_set
from research.matrices import one_hot

KNOWN = ("flags", "emotions", "birds", "medical", "scene", "yeast", "enron", "CAL500", "tmc2007-500", "bibtex")
"""The ten data sets of the README's table."""
HARD = ("CHD_49", "langlog", "slashdot", "imdb")
"""Data sets on which good single rules are rare."""
SETS = (*KNOWN, *HARD)
IMDB_ROWS = 12_000
"""Rows drawn from the data set that has no test part; two thirds of them to train."""


def parts_of(name: str) -> tuple[Dataset, Dataset]:
    """Read the training and the test part of a data set."""
    data_set = require_data_set(name)
    if name != "imdb":
        return read_parts(data_set)
    whole = read(data_set.train)
    rows = np.random.default_rng(0).permutation(len(whole))[:IMDB_ROWS]
    end = 2 * IMDB_ROWS // 3
    return whole[np.sort(rows[:end])], whole[np.sort(rows[end:])]


def features_of(train: Dataset, test: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Return both parts for scikit-learn; sparse if the training part is."""
    X = one_hot(train)
    X_test = one_hot(test)
    return (X.tocsr() if hasattr(X, "tocsr") else X), (X_test.tocsr() if hasattr(X_test, "tocsr") else X_test)
