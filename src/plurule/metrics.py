"""How good predictions are: Hamming accuracy, F1, subset accuracy and their kin.

Every function takes the true and the predicted labels as 0/1 matrices of instances × labels, dense, sparse or as
frames (two are compared by name); a 1-D array is one label. Each works as the `scoring` of a scikit-learn search
through `SCORERS`:

>>> from sklearn.model_selection import cross_val_score  # doctest: +SKIP
>>> cross_val_score(classifier, X, Y, scoring=SCORERS["micro_f1"])  # doctest: +SKIP

What is 0/0 (no label predicted and none to find) counts as 0, unless `empty` says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import cleandoc
from typing import Any, Literal, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from plurule.errors import DataError, nearest
from plurule.label_matrix import by_name, label_matrix

Values = NDArray[np.float64]
Measure = TypeVar("Measure", bound=Callable[..., Any])
OF_ALL = """Y_true, Y_pred
    The true and the predicted labels.
sample_weight
    Weight of each instance.
"""

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


def of_labels(measure: Measure) -> Measure:
    """The same function, with the parameters that all measures have in its docstring, before its own."""
    title = "Parameters\n----------\n"
    summary, _, rest = cleandoc(measure.__doc__ or "").partition("\n\n")
    own = rest.removeprefix(title)
    measure.__doc__ = f"{summary}\n\n{title}{OF_ALL}" + (own if own != rest else f"\n{rest}")
    return measure


@of_labels
def hamming_accuracy(Y_true: Any, Y_pred: Any, *, sample_weight: ArrayLike | None = None) -> float:
    """Share of the pairs of instance and label that are predicted rightly.

    Examples
    --------
    >>> hamming_accuracy([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.75
    """
    return float(count(Y_true, Y_pred, sample_weight).hamming_accuracy())


@of_labels
def subset_accuracy(Y_true: Any, Y_pred: Any, *, sample_weight: ArrayLike | None = None) -> float:
    """Share of the instances of which every label is predicted rightly.

    Examples
    --------
    >>> subset_accuracy([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.5
    """
    return float(count(Y_true, Y_pred, sample_weight).subset_accuracy())


@of_labels
def micro_f1(Y_true: Any, Y_pred: Any, *, sample_weight: ArrayLike | None = None, empty: float = 0.0) -> float:
    """Harmonic mean of precision and recall over all pairs of instance and label.

    Parameters
    ----------
    empty
        What it is where no label is present and none predicted.

    Examples
    --------
    >>> round(micro_f1([[1, 0], [1, 1]], [[1, 0], [0, 1]]), 3)
    0.8
    """
    return float(count(Y_true, Y_pred, sample_weight).micro_f1(empty))


@of_labels
def macro_f1(Y_true: Any, Y_pred: Any, *, sample_weight: ArrayLike | None = None, empty: float = 0.0) -> float:
    """Mean over the labels of the harmonic mean of precision and recall.

    Parameters
    ----------
    empty
        What a label scores that is neither present nor predicted anywhere: 0 as scikit-learn does, or 1.

    Examples
    --------
    >>> truth, predicted = [[1, 0, 0], [1, 1, 0]], [[1, 0, 0], [1, 0, 0]]
    >>> round(macro_f1(truth, predicted), 3), round(macro_f1(truth, predicted, empty=1), 3)
    (0.333, 0.667)
    """
    return float(count(Y_true, Y_pred, sample_weight).macro_f1(empty))


@of_labels
def macro_f1_empty_is_1(Y_true: Any, Y_pred: Any, *, sample_weight: ArrayLike | None = None) -> float:
    """Macro F1 in which a label that is neither present nor predicted anywhere scores 1.

    Examples
    --------
    >>> macro_f1_empty_is_1([[1, 0], [1, 0]], [[1, 0], [1, 0]])
    1.0
    """
    return float(count(Y_true, Y_pred, sample_weight).macro_f1_empty_is_1())


@of_labels
def example_f1(Y_true: Any, Y_pred: Any, *, sample_weight: ArrayLike | None = None, empty: float = 0.0) -> float:
    """Mean over the instances of the F1 of their labels.

    Parameters
    ----------
    empty
        What an instance scores that has no label and gets none.

    Examples
    --------
    >>> round(example_f1([[1, 0], [1, 1]], [[1, 0], [0, 1]]), 3)
    0.833
    """
    return float(count(Y_true, Y_pred, sample_weight).example_f1(empty))


@of_labels
def precision(
    Y_true: Any,
    Y_pred: Any,
    *,
    averaging: Literal["micro", "macro"] = "micro",
    sample_weight: ArrayLike | None = None,
    empty: float = 0.0,
) -> float:
    """Share of the labels predicted as present that are, over all pairs (micro) or per label (macro).

    Parameters
    ----------
    averaging
        Over all pairs (`"micro"`), or the mean over the labels (`"macro"`).
    empty
        What it is, of all pairs or of a label, where nothing is predicted as present.

    Examples
    --------
    >>> precision([[1, 0], [1, 1]], [[1, 1], [0, 1]])
    0.6666666666666666
    """
    return float(count(Y_true, Y_pred, sample_weight).precision(averaging, empty))


@of_labels
def recall(
    Y_true: Any,
    Y_pred: Any,
    *,
    averaging: Literal["micro", "macro"] = "micro",
    sample_weight: ArrayLike | None = None,
    empty: float = 0.0,
) -> float:
    """Share of the present labels that are predicted as present, over all pairs (micro) or per label (macro).

    Parameters
    ----------
    averaging
        Over all pairs (`"micro"`), or the mean over the labels (`"macro"`).
    empty
        What it is, of all pairs or of a label, where nothing is present.

    Examples
    --------
    >>> recall([[1, 0], [1, 1]], [[1, 1], [0, 1]])
    0.6666666666666666
    """
    return float(count(Y_true, Y_pred, sample_weight).recall(averaging, empty))


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


@of_labels
def scores(Y_true: Any, Y_pred: Any, *, sample_weight: ArrayLike | None = None) -> dict[str, float]:
    """All measures at once, by name.

    Examples
    --------
    >>> scores([[1, 0], [1, 1]], [[1, 0], [0, 1]])["subset_accuracy"]
    0.5
    """
    counts = count(Y_true, Y_pred, sample_weight)
    return {name: float(getattr(counts, name)()) for name in METRICS}


def get_metric(name: str) -> Callable[..., float]:
    """The measure of that name.

    Parameters
    ----------
    name
        One of `METRICS`.

    Examples
    --------
    >>> get_metric("micro_f1")([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.8
    """
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


@dataclass
class Counts:
    """What predictions get right and wrong, and the measures of that; of several predictions, one in each row."""

    tp: Values
    fp: Values
    positives: Values
    """Per label, as sums of weights: `positives` have it."""
    right: NDArray[Any]
    predicted: NDArray[Any]
    present: NDArray[Any]
    """Per instance: how many labels it has and is predicted to have, is predicted to have, has."""
    weights: Values

    def hamming_accuracy(self) -> Values:
        pairs = np.full(self.tp.shape[:-1], self.weights.sum() * self.tp.shape[-1])
        return ratios(pairs - (self.fp + self.positives - self.tp).sum(axis=-1), pairs)

    def subset_accuracy(self) -> Values:
        return self._mean((self.right == self.predicted) & (self.right == self.present))

    def micro_f1(self, empty: float = 0.0) -> Values:
        return ratios(2 * self.tp.sum(axis=-1), (self.tp + self.fp + self.positives).sum(axis=-1), empty)

    def macro_f1(self, empty: float = 0.0) -> Values:
        return np.asarray(ratios(2 * self.tp, self.tp + self.fp + self.positives, empty).mean(axis=-1))

    def macro_f1_empty_is_1(self) -> Values:
        return self.macro_f1(empty=1.0)

    def example_f1(self, empty: float = 0.0) -> Values:
        return self._mean(ratios(2.0 * self.right, self.predicted + self.present, empty))

    def precision(self, averaging: str = "micro", empty: float = 0.0) -> Values:
        return _averaged(self.tp, self.tp + self.fp, averaging, empty)

    def recall(self, averaging: str = "micro", empty: float = 0.0) -> Values:
        return _averaged(self.tp, np.broadcast_to(self.positives, self.tp.shape), averaging, empty)

    def _mean(self, of_rows: NDArray[Any]) -> Values:
        return ratios(self.weights @ of_rows, self.weights.sum())


def count(Y_true: Any, Y_pred: Any, sample_weight: ArrayLike | None = None) -> Counts:
    """What predictions get right and wrong."""
    (true, names), (predicted, others) = label_matrix(Y_true, "Y_true"), label_matrix(Y_pred, "Y_pred")
    if names is not None and others is not None and set(names) == set(others):
        predicted = by_name(predicted, others, names)
    elif names is not None and others is not None:
        odd = next(iter(sorted(set(names) ^ set(others))))
        raise DataError(f"Y_true and Y_pred are frames with different columns: only one of them has {odd!r}")
    true, predicted = (sp.csr_array(matrix, dtype=np.float64) for matrix in (true, predicted))
    found, expected = (f"{matrix.shape[0]} rows and {matrix.shape[1]} labels" for matrix in (true, predicted))
    if found != expected:
        raise DataError(f"Y_true has {found}, Y_pred has {expected}; they must be the same")
    weight = np.ones(true.shape[0]) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (true.shape[0],):
        raise DataError(f"sample_weight has shape {weight.shape}, expected one weight for each of {found}")
    both = true.multiply(predicted)
    tp = weight @ both
    right, told, present = (np.asarray(matrix.sum(axis=1)).ravel() for matrix in (both, predicted, true))
    return Counts(tp, weight @ predicted - tp, weight @ true, right, told, present, weight)


def ratios(numerator: Values, denominator: Values, empty: float = 0.0) -> Values:
    """Quotients; what 0/0 is, is given."""
    result = np.full(np.shape(denominator), float(empty))
    return np.divide(numerator, denominator, out=result, where=np.not_equal(denominator, 0))


def _averaged(numerator: Values, denominator: Values, averaging: str, empty: float) -> Values:
    if averaging == "micro":
        return ratios(numerator.sum(axis=-1), denominator.sum(axis=-1), empty)
    if averaging == "macro":
        return np.asarray(ratios(numerator, denominator, empty).mean(axis=-1))
    raise ValueError(f"averaging must be 'micro' or 'macro', got {averaging!r}")
