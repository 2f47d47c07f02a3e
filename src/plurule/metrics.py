"""How good predictions are: Hamming accuracy, F1, subset accuracy and their kin.

Every function takes the true and the predicted labels as 0/1 matrices of instances × labels, dense, sparse or as
frames; a 1-D array is one label. Each works as the `scoring` of a scikit-learn search through `SCORERS`:

>>> from sklearn.model_selection import cross_val_score  # doctest: +SKIP
>>> cross_val_score(classifier, X, Y, scoring=SCORERS["micro_f1"])  # doctest: +SKIP

What is 0/0 (no label predicted and none to find) counts as 0, unless `empty` says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from plurule.errors import DataError, nearest
from plurule.label_matrix import label_matrix

Values = NDArray[np.float64]


__all__ = [
    "METRICS",
    "SCORERS",
    "example_f1",
    "get_metric",
    "hamming_accuracy",
    "macro_f1",
    "macro_f1_empty_is_1",
    "micro_f1",
    "precision",
    "recall",
    "scores",
    "subset_accuracy",
]


def hamming_accuracy(Y_true: Any, Y_pred: Any, *, sample_weight: ArrayLike | None = None) -> float:
    """Share of the pairs of instance and label that are predicted rightly.

    >>> hamming_accuracy([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.75
    """
    counts = count(Y_true, Y_pred, sample_weight)
    return ratio(float((counts.tp + counts.tn).sum()), float(sum(part.sum() for part in counts)))


def subset_accuracy(Y_true: Any, Y_pred: Any, *, sample_weight: ArrayLike | None = None) -> float:
    """Share of the instances of which every label is predicted rightly.

    >>> subset_accuracy([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.5
    """
    true, predicted, weight = _aligned(Y_true, Y_pred, sample_weight)
    wrong = np.asarray(abs(true - predicted).sum(axis=1)).ravel()
    return ratio(float(weight @ (wrong == 0)), float(weight.sum()))


def micro_f1(Y_true: Any, Y_pred: Any, *, sample_weight: ArrayLike | None = None, empty: float = 0.0) -> float:
    """Harmonic mean of precision and recall over all pairs of instance and label.

    >>> round(micro_f1([[1, 0], [1, 1]], [[1, 0], [0, 1]]), 3)
    0.8
    """
    tp, fp, _, fn = (float(part.sum()) for part in count(Y_true, Y_pred, sample_weight))
    return ratio(2 * tp, 2 * tp + fp + fn, empty)


def macro_f1(Y_true: Any, Y_pred: Any, *, sample_weight: ArrayLike | None = None, empty: float = 0.0) -> float:
    """Mean over the labels of the harmonic mean of precision and recall.

    Parameters
    ----------
    Y_true, Y_pred
        The true and the predicted labels.
    sample_weight
        Weight of each instance.
    empty
        What a label scores that is neither present nor predicted anywhere: 0 as scikit-learn does, or 1.

    Examples
    --------
    >>> truth, predicted = [[1, 0, 0], [1, 1, 0]], [[1, 0, 0], [1, 0, 0]]
    >>> round(macro_f1(truth, predicted), 3), round(macro_f1(truth, predicted, empty=1), 3)
    (0.333, 0.667)
    """
    tp, fp, _, fn = count(Y_true, Y_pred, sample_weight)
    return float(ratios(2 * tp, 2 * tp + fp + fn, empty).mean())


def macro_f1_empty_is_1(Y_true: Any, Y_pred: Any, *, sample_weight: ArrayLike | None = None) -> float:
    """Macro F1 in which a label that is neither present nor predicted anywhere scores 1."""
    return macro_f1(Y_true, Y_pred, sample_weight=sample_weight, empty=1.0)


def example_f1(Y_true: Any, Y_pred: Any, *, sample_weight: ArrayLike | None = None, empty: float = 0.0) -> float:
    """Mean over the instances of the F1 of their labels.

    >>> round(example_f1([[1, 0], [1, 1]], [[1, 0], [0, 1]]), 3)
    0.833
    """
    true, predicted, weight = _aligned(Y_true, Y_pred, sample_weight)
    both = np.asarray(true.multiply(predicted).sum(axis=1)).ravel()
    either = np.asarray(true.sum(axis=1)).ravel() + np.asarray(predicted.sum(axis=1)).ravel()
    return ratio(float(weight @ ratios(2.0 * both, either, empty)), float(weight.sum()))


def precision(
    Y_true: Any,
    Y_pred: Any,
    *,
    averaging: Literal["micro", "macro"] = "micro",
    sample_weight: ArrayLike | None = None,
    empty: float = 0.0,
) -> float:
    """Share of the labels predicted as present that are, over all pairs (micro) or per label (macro).

    >>> precision([[1, 0], [1, 1]], [[1, 1], [0, 1]])
    0.6666666666666666
    """
    tp, fp, _, _ = count(Y_true, Y_pred, sample_weight)
    return _averaged(tp, tp + fp, averaging, empty)


def recall(
    Y_true: Any,
    Y_pred: Any,
    *,
    averaging: Literal["micro", "macro"] = "micro",
    sample_weight: ArrayLike | None = None,
    empty: float = 0.0,
) -> float:
    """Share of the present labels that are predicted as present, over all pairs (micro) or per label (macro).

    >>> recall([[1, 0], [1, 1]], [[1, 1], [0, 1]])
    0.6666666666666666
    """
    tp, _, _, fn = count(Y_true, Y_pred, sample_weight)
    return _averaged(tp, tp + fn, averaging, empty)


METRICS: dict[str, Callable[..., float]] = {
    "hamming_accuracy": hamming_accuracy,
    "micro_f1": micro_f1,
    "macro_f1": macro_f1,
    "macro_f1_empty_is_1": macro_f1_empty_is_1,
    "subset_accuracy": subset_accuracy,
    "example_f1": example_f1,
    "precision": precision,
    "recall": recall,
}
"""The measures by name; for all of them more is better."""


def scores(Y_true: Any, Y_pred: Any, *, sample_weight: ArrayLike | None = None) -> dict[str, float]:
    """All measures at once, by name.

    >>> scores([[1, 0], [1, 1]], [[1, 0], [0, 1]])["subset_accuracy"]
    0.5
    """
    return {name: metric(Y_true, Y_pred, sample_weight=sample_weight) for name, metric in METRICS.items()}


def get_metric(name: str) -> Callable[..., float]:
    """The measure of that name."""
    if name not in METRICS:
        raise ValueError(f"unknown measure {name!r}{nearest(str(name), METRICS)}")
    return METRICS[name]


SCORERS: dict[str, Any]
"""The measures as scikit-learn scorers, by name: `cross_val_score(…, scoring=SCORERS["micro_f1"])`, or all at once:
`cross_validate(…, scoring=SCORERS)`."""


def __getattr__(name: str) -> Any:
    # Made when first asked for, since scikit-learn's metrics take long to import.
    if name != "SCORERS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sklearn.metrics import make_scorer

    globals()[name] = {measure: make_scorer(function) for measure, function in METRICS.items()}
    return globals()[name]


class Counts(NamedTuple):
    """Per label: the weight of the instances in each cell of the confusion matrix."""

    tp: Values
    fp: Values
    tn: Values
    fn: Values


def count(Y_true: Any, Y_pred: Any, sample_weight: ArrayLike | None = None) -> Counts:
    """The confusion matrix of every label."""
    true, predicted, weight = _aligned(Y_true, Y_pred, sample_weight)
    tp = weight @ true.multiply(predicted)
    fp = weight @ predicted - tp
    fn = weight @ true - tp
    return Counts(tp, fp, weight.sum() - tp - fp - fn, fn)


def _aligned(Y_true: Any, Y_pred: Any, sample_weight: ArrayLike | None) -> tuple[Any, Any, Values]:
    true, predicted = _matrix(Y_true, "Y_true"), _matrix(Y_pred, "Y_pred")
    if true.shape != predicted.shape:
        raise DataError(f"Y_true has {_shape(true)}, Y_pred has {_shape(predicted)}; they must be the same")
    if sample_weight is None:
        return true, predicted, np.ones(true.shape[0])
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (true.shape[0],):
        raise DataError(f"sample_weight has shape {weight.shape}, expected one weight for each of {_shape(true)}")
    return true, predicted, weight


def _shape(matrix: Any) -> str:
    return f"{matrix.shape[0]} rows and {matrix.shape[1]} labels"


def _matrix(Y: Any, name: str) -> Any:
    """A sparse 0/1 matrix of floats."""
    return sp.csr_array(label_matrix(Y, name)[0], dtype=np.float64)


def ratio(numerator: float, denominator: float, empty: float = 0.0) -> float:
    """A quotient; what 0/0 is, is given."""
    return numerator / denominator if denominator else empty


def ratios(numerator: Values, denominator: Values, empty: float = 0.0) -> Values:
    """Quotients; what 0/0 is, is given."""
    result = np.full(len(denominator), float(empty))
    return np.divide(numerator, denominator, out=result, where=denominator != 0)


def _averaged(numerator: Values, denominator: Values, averaging: str, empty: float) -> float:
    if averaging == "micro":
        return ratio(float(numerator.sum()), float(denominator.sum()), empty)
    if averaging == "macro":
        return float(ratios(numerator, denominator, empty).mean())
    raise ValueError(f"averaging must be 'micro' or 'macro', got {averaging!r}")
