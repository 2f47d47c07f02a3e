"""Scores with what it takes to judge them: an interval, the best constant prediction, and chance."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from plurule.label_matrix import label_matrix
from plurule.metrics import METRICS, count
from plurule.prediction.constant import best_constant

RESAMPLES = 200
PERMUTATIONS = 20
LEVEL = 0.95


class Assessed(NamedTuple):
    """A score and what to compare it with."""

    score: float
    low: float
    """The score would be between these on 95 of 100 other samples of as many rows: a bootstrap over the rows, around
    the score (rare labels are in no row of some samples, which shifts measures that count empty labels)."""
    high: float
    constant: float
    """The score of the label set that is best to predict for every row (knowing the true labels of these rows)."""
    chance: float
    """The mean score if the same predictions are dealt out to the rows at random."""


def assess(Y_true: Any, Y_pred: Any, *, sample_weight: ArrayLike | None = None) -> dict[str, Assessed]:
    """All measures by name, each with an interval, the best constant prediction, and chance.

    >>> Y = [[1, 0], [1, 1], [0, 1], [1, 0]] * 10
    >>> found = assess(Y, [[1, 0], [1, 0], [0, 1], [1, 0]] * 10)["subset_accuracy"]
    >>> found.score, round(found.low, 2), round(found.high, 2), found.constant
    (0.75, 0.6, 0.88, 0.5)
    """
    whole = count(Y_true, Y_pred, sample_weight)
    true, predicted = (sp.csr_array(label_matrix(Y)[0]) for Y in (Y_true, Y_pred))
    random, n_rows = np.random.default_rng(0), len(whole.weights)
    drawn = [np.bincount(random.integers(0, max(n_rows, 1), n_rows), minlength=n_rows) for _ in range(RESAMPLES)]
    resampled = [count(true, predicted, whole.weights * times) for times in drawn]
    dealt = [count(true, predicted[random.permutation(n_rows)], whole.weights) for _ in range(PERMUTATIONS)]
    found = {}
    for name in METRICS:
        score, *others = (float(getattr(counts, name)()) for counts in (whole, *resampled, *dealt))
        low, middle, high = np.quantile(others[:RESAMPLES], [(1 - LEVEL) / 2, 0.5, (1 + LEVEL) / 2])
        low, high = np.clip(np.array([low, high]) + score - middle, 0.0, 1.0).tolist()
        constant = best_constant(true, name, whole.weights).score
        found[name] = Assessed(score, low, high, constant, float(np.mean(others[RESAMPLES:])))
    return found
