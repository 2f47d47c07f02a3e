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
from inspect import signature
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from plurule.errors import DataError, nearest
from plurule.label_matrix import by_name, label_matrix

Values = NDArray[np.float64]

__all__ = [
    "METRICS",
    "SCORERS",
    "example_f1",
    "hamming_accuracy",
    "macro_f1",
    "micro_f1",
    "precision",
    "recall",
    "scores",
    "subset_accuracy",
]


def hamming_accuracy(Y_true: Any, Y_pred: Any, *, sample_weight: ArrayLike | None = None) -> float:
    """Share of the pairs of instance and label that are predicted rightly.

    Parameters
    ----------
    Y_true, Y_pred
        The true and the predicted labels.
    sample_weight
        Weight of each instance.

    Examples
    --------
    >>> hamming_accuracy([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.75
    """
    return float(count(Y_true, Y_pred, sample_weight).hamming_accuracy())


def subset_accuracy(Y_true: Any, Y_pred: Any, *, sample_weight: ArrayLike | None = None) -> float:
    """Share of the instances of which every label is predicted rightly.

    Parameters
    ----------
    Y_true, Y_pred
        The true and the predicted labels.
    sample_weight
        Weight of each instance.

    Examples
    --------
    >>> subset_accuracy([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.5
    """
    return float(count(Y_true, Y_pred, sample_weight).subset_accuracy())


def micro_f1(Y_true: Any, Y_pred: Any, *, sample_weight: ArrayLike | None = None, empty: float = 0.0) -> float:
    """Harmonic mean of precision and recall over all pairs of instance and label.

    Parameters
    ----------
    Y_true, Y_pred
        The true and the predicted labels.
    sample_weight
        Weight of each instance.
    empty
        What it is where no label is present and none predicted.

    Examples
    --------
    >>> round(micro_f1([[1, 0], [1, 1]], [[1, 0], [0, 1]]), 3)
    0.8
    """
    return float(count(Y_true, Y_pred, sample_weight).micro_f1(empty))


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
    return float(count(Y_true, Y_pred, sample_weight).macro_f1(empty))


def example_f1(Y_true: Any, Y_pred: Any, *, sample_weight: ArrayLike | None = None, empty: float = 0.0) -> float:
    """Mean over the instances of the F1 of their labels, as scikit-learn's `f1_samples` with `zero_division=0`.

    Parameters
    ----------
    Y_true, Y_pred
        The true and the predicted labels.
    sample_weight
        Weight of each instance.
    empty
        What an instance scores that has no label and gets none.

    Examples
    --------
    >>> round(example_f1([[1, 0], [1, 1]], [[1, 0], [0, 1]]), 3)
    0.833
    """
    return float(count(Y_true, Y_pred, sample_weight).example_f1(empty))


def precision(Y_true: Any, Y_pred: Any, *, sample_weight: ArrayLike | None = None, empty: float = 0.0) -> float:
    """Share of the labels predicted as present that are, over all pairs of instance and label.

    Parameters
    ----------
    Y_true, Y_pred
        The true and the predicted labels.
    sample_weight
        Weight of each instance.
    empty
        What it is where nothing is predicted as present.

    Examples
    --------
    >>> precision([[1, 0], [1, 1]], [[1, 1], [0, 1]])
    0.6666666666666666
    """
    return float(count(Y_true, Y_pred, sample_weight).precision(empty))


def recall(Y_true: Any, Y_pred: Any, *, sample_weight: ArrayLike | None = None, empty: float = 0.0) -> float:
    """Share of the present labels that are predicted as present, over all pairs of instance and label.

    Parameters
    ----------
    Y_true, Y_pred
        The true and the predicted labels.
    sample_weight
        Weight of each instance.
    empty
        What it is where nothing is present.

    Examples
    --------
    >>> recall([[1, 0], [1, 1]], [[1, 1], [0, 1]])
    0.6666666666666666
    """
    return float(count(Y_true, Y_pred, sample_weight).recall(empty))


METRICS: dict[str, Callable[..., float]] = {
    "hamming_accuracy": hamming_accuracy,
    "micro_f1": micro_f1,
    "macro_f1": macro_f1,
    "subset_accuracy": subset_accuracy,
    "example_f1": example_f1,
    "precision": precision,
    "recall": recall,
}
"""The functions by name; for all of them more is better."""


def scores(Y_true: Any, Y_pred: Any, *, sample_weight: ArrayLike | None = None) -> dict[str, float]:
    """All measures at once, by name.

    Parameters
    ----------
    Y_true, Y_pred
        The true and the predicted labels.
    sample_weight
        Weight of each instance.

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
    if name not in globals():
        from sklearn.metrics import make_scorer

        globals()[name] = {measure: make_scorer(function) for measure, function in METRICS.items()}
    return globals()[name]


# Measures to select by -----------------------------------------------------------------------------------------------

Scorer = Callable[..., float]
"""As scikit-learn has them: a function of a fitted classifier, X and Y."""

F_THRESHOLDS = (0.15, 0.22, 0.3, 0.38, 0.45)
"""For F-measures: half of the values that can be reached."""


@dataclass(frozen=True)
class Measure:
    """A measure to score and select rule lists by, with what the selection has to know about it."""

    name: str
    scorer: Scorer | None = None
    """A scorer of scikit-learn that computes it; None if it is computed from counts."""
    gain_thresholds: tuple[float, ...] = (*F_THRESHOLDS, 0.5)
    """The shares λ of right predictions to try, from which on a prediction gains."""
    weighs_labels_equally: bool = False
    needs_positives: bool = True
    """Whether labels without positives in the held-out data are left out."""
    is_of_rows: bool = False
    """Whether rows are scored one by one; else the sums per label are enough."""

    def of_counts(self, counts: Counts) -> Values:
        """The score of counts."""
        return np.asarray(getattr(counts, self.name)())


_ALL = (
    Measure("hamming_accuracy", gain_thresholds=(0.5,), needs_positives=False),
    Measure("micro_f1", gain_thresholds=F_THRESHOLDS, needs_positives=False),
    Measure("macro_f1", gain_thresholds=F_THRESHOLDS, weighs_labels_equally=True),
    Measure("subset_accuracy", gain_thresholds=(0.5,), needs_positives=False, is_of_rows=True),
    Measure("example_f1", gain_thresholds=F_THRESHOLDS, needs_positives=False, is_of_rows=True),
    Measure("precision", needs_positives=False),
    Measure("recall", needs_positives=False),
)
MEASURES = {measure.name: measure for measure in _ALL}
"""The measures that are computed from counts, by name."""
SAME_AS = {
    "accuracy": "subset_accuracy",
    "f1_micro": "micro_f1",
    "f1_macro": "macro_f1",
    "f1_samples": "example_f1",
    "precision_micro": "precision",
    "recall_micro": "recall",
}
"""Scorers of scikit-learn that compute one of the measures."""
_LABELS_FIRST = ("y_true", "Y_true", "labels_true")
"""Names of the first parameter of a metric; that of a scorer is the classifier."""


OF_ONE_LABEL = ("f1", "jaccard")
"""Scorers of scikit-learn that do not say how labels are averaged."""


def find_measure(scoring: Any, one_label: bool = False) -> Measure:
    """The measure of a name or a scorer; equivalent scorers are the same measure.

    Where there is `one_label`, scorers of scikit-learn that average labels average its presence and absence, and are
    none of the measures.

    >>> find_measure("f1_micro") == find_measure("micro_f1")
    True
    """
    if not isinstance(scoring, str):
        return _find_scorer(scoring, one_label)
    if scoring in MEASURES:
        return MEASURES[scoring]
    if scoring in SAME_AS and (not one_label or scoring in ("accuracy", "f1_samples")):
        return MEASURES[SAME_AS[scoring]]
    if scoring in OF_ONE_LABEL and not one_label:
        raise ValueError(f"scoring {scoring!r} is of one label, but there are several: {_allowed()}")
    if scoring == "f1":
        return MEASURES["micro_f1"]
    from sklearn.metrics import get_scorer, get_scorer_names

    if scoring not in get_scorer_names():
        hint = nearest(scoring, [*MEASURES, *get_scorer_names()])
        allowed = f"{hint} ({_allowed()})" if "did you mean" in hint else f": {_allowed()}"
        raise ValueError(f"unknown scoring {scoring!r}{allowed}")
    return Measure(scoring, get_scorer(scoring))


def _find_scorer(scorer: Any, one_label: bool) -> Measure:
    """The measure that a scorer computes, or one of its own."""
    from sklearn.metrics import get_scorer

    if not callable(scorer):
        raise ValueError(f"scoring must be the name of a measure or a scorer, got {scorer!r}: {_allowed()}")
    _refuse_metric(scorer)
    for name, own in __getattr__("SCORERS").items():
        if own is scorer:
            return MEASURES[name]
    for name in SAME_AS:
        if repr(get_scorer(name)) == repr(scorer):
            return find_measure(name, one_label)
    return Measure("score", scorer)


def _allowed() -> str:
    names = ", ".join(repr(name) for name in MEASURES)
    return f"give {names}, or a scorer of scikit-learn for several labels, such as 'f1_macro' or 'roc_auc'"


def _refuse_metric(function: Callable[..., Any]) -> None:
    """Raise an error if a function of true and predicted labels is given for a scorer."""
    own = next((name for name, metric in METRICS.items() if metric is function), None)
    if own is not None:
        raise ValueError(f"scoring: {own} is a function of labels, not a scorer; give its name, {own!r}")
    try:
        first = next(iter(signature(function).parameters), "")
    except (TypeError, ValueError):
        # Not every callable says what it takes.
        return
    if first in _LABELS_FIRST:
        name = getattr(function, "__name__", repr(function))
        raise ValueError(
            f"scoring: {name} is a function of labels, not a scorer; give sklearn.metrics.make_scorer({name}, …), "
            "with average='micro' or the like where there are several labels"
        )


# Counts --------------------------------------------------------------------------------------------------------------


@dataclass
class Counts:
    """Counts of right and wrong predictions, and the measures of them; of several predictions, one in each row."""

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

    def example_f1(self, empty: float = 0.0) -> Values:
        return self._mean(ratios(2.0 * self.right, self.predicted + self.present, empty))

    def precision(self, empty: float = 0.0) -> Values:
        return ratios(self.tp.sum(axis=-1), (self.tp + self.fp).sum(axis=-1), empty)

    def recall(self, empty: float = 0.0) -> Values:
        positives = np.broadcast_to(self.positives, self.tp.shape)
        return ratios(self.tp.sum(axis=-1), positives.sum(axis=-1), empty)

    def _mean(self, of_rows: NDArray[Any]) -> Values:
        return ratios(self.weights @ of_rows, self.weights.sum())


def count(Y_true: Any, Y_pred: Any, sample_weight: ArrayLike | None = None) -> Counts:
    """Count right and wrong predictions."""
    (true, names), (predicted, others) = label_matrix(Y_true, "Y_true"), label_matrix(Y_pred, "Y_pred")
    if names is not None and others is not None and set(names) == set(others):
        predicted = by_name(predicted, others, names)
    elif names is not None and others is not None:
        odd = next(iter(sorted(set(names) ^ set(others))))
        raise DataError(f"Y_true and Y_pred are frames with different columns: only one of them has {odd!r}")
    true, predicted = (sp.csr_array(matrix, dtype=np.float64) for matrix in (true, predicted))
    if true.shape != predicted.shape:
        sizes = [f"{matrix.shape[0]} rows and {matrix.shape[1]} labels" for matrix in (true, predicted)]
        raise DataError(f"Y_true has {sizes[0]}, Y_pred has {sizes[1]}; they must be the same")
    weight = np.ones(true.shape[0]) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (true.shape[0],):
        raise DataError(f"sample_weight has shape {weight.shape}, expected one weight for each of {true.shape[0]} rows")
    return count_weighted(true, predicted, weight[None, :])[0]


def count_weighted(true: Any, predicted: Any, weights: Values) -> list[Counts]:
    """Return the counts of predictions by each row of weights; labels are sparse matrices of 0 and 1."""
    both = true.multiply(predicted)
    right, n_predicted, n_present = (np.asarray(matrix.sum(axis=1)).ravel() for matrix in (both, predicted, true))
    tp, all_predicted, positives = (np.asarray((matrix.T @ weights.T).T) for matrix in (both, predicted, true))
    return [
        Counts(tp[i], all_predicted[i] - tp[i], positives[i], right, n_predicted, n_present, weights[i])
        for i in range(len(weights))
    ]


def ratios(numerator: Values, denominator: Values, empty: float = 0.0) -> Values:
    """Quotients; what 0/0 is, is given."""
    result = np.full(np.shape(denominator), float(empty))
    return np.divide(numerator, denominator, out=result, where=np.not_equal(denominator, 0))
