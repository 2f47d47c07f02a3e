"""Weights of instances: only their ratios matter, and every sum of them is exact."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule.data.dataset import check_row_weights
from plurule.errors import DataError

Weights = NDArray[np.float64]

SMALLEST_UNIT = 1e-3
"""Of the mean weight; a common divisor below that is taken for chance."""
FINEST = 2.0**-30
"""What weights in units of their mean are rounded to, so that a common factor makes no difference."""


def check_weights(sample_weight: Any, n_rows: int, n_labels: int) -> Weights:
    """One non-negative weight per row, in units of their own; `None` weighs every row 1.

    The unit is the greatest number of which all weights are whole multiples: weights 1, 2 and 3 are as if rows were
    there once, twice and three times, and 0.1, 0.2 and 0.3 are the same. Where there is no such number (or it is less
    than a thousandth of the mean weight), the unit is the mean weight.

    >>> check_weights([0.7, 2.1, 0.7], n_rows=3, n_labels=1)
    array([1., 3., 1.])
    """
    if sample_weight is None:
        return np.broadcast_to(1.0, n_rows)  # which takes no memory
    weights = check_row_weights(sample_weight, n_rows, "sample_weight")
    if not weights.any():
        raise DataError("sample_weight is zero for every row; there is nothing to learn from")
    weights = weights / weights.max()
    return exact_weights(_in_common_units(weights, weights[weights > 0].mean()), n_labels)


def _in_common_units(weights: Weights, mean: float) -> Weights:
    unit = 0.0
    for weight in np.unique(weights[weights > 0]).tolist():
        while weight > 1e-9 * mean:
            unit, weight = weight, abs(math.remainder(unit, weight))
        if unit < SMALLEST_UNIT * mean:
            break
    else:
        multiples = np.round(weights / unit)
        if np.abs(weights / unit - multiples).max() < 1e-6:
            return multiples
    return np.round(weights / mean / FINEST) * FINEST


def exact_weights(weights: Weights, n_labels: int) -> Weights:
    """Weights rounded to a grid on which every sum over instances and labels is exact in floating point.

    Whole numbers stay as they are. Counts then do not depend on the order in which they were added up, which
    is what makes a model the same for every engine and any number of threads.

    >>> exact_weights(np.array([1.0, 2.0]), n_labels=3)
    array([1., 2.])
    """
    total = float(weights.sum()) * max(n_labels, 1)
    if total == 0:
        return weights
    # 2**50 leaves room for the factors (1 + beta²) and the like.
    grid = 2.0 ** (np.floor(np.log2(total)) - 50)
    return np.round(weights / grid) * grid
