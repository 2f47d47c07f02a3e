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

from plurule.data.targets import by_name, label_matrix
from plurule.errors import DataError, nearest

MEASURE_TITLES = {
    "hamming_accuracy": "Hamming accuracy",
    "micro_f1": "micro F1",
    "macro_f1": "macro F1",
    "subset_accuracy": "subset accuracy",
    "example_f1": "example-based F1",
    "precision": "precision (micro)",
    "recall": "recall (micro)",
}
"""The measures of `plurule.metrics`."""

SHORT_MEASURES = {"hamming_accuracy": "HA", "micro_f1": "Mic F1", "macro_f1": "Mac F1", "subset_accuracy": "SA"}
"""Those of the paper, as it abbreviates them."""

CHARACTERISTICS = {
    "rules": "rules",
    "conditions": "conditions",
    "label_conditions": "conditions on labels",
    "multi_label_heads": "multi-label heads",
    "labels_per_multi_label_head": "labels per multi-label head",
    "stop_rules": "stop rules",
}
"""Counts of `RuleList.characteristics`."""


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
"""λ to try for F-measures: the best λ is half of the F that is reached, and these are halves of 0.3, 0.44, 0.6, 0.76
and 0.9. The steps are not measured by a committed script."""


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


# λ of 0.5 for accuracy: a prediction gains where it is right more often than wrong. That follows from the measure and
# is not measured. Precision and recall have no λ of their own, and try all.
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
SCORER_ALIASES = {
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


BINARY_SCORERS = ("f1", "jaccard")
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
    if scoring in SCORER_ALIASES and (not one_label or scoring in ("accuracy", "f1_samples")):
        return MEASURES[SCORER_ALIASES[scoring]]
    if scoring in BINARY_SCORERS and not one_label:
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
    for name in SCORER_ALIASES:
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
    total: Values | None = None
    """What all instances weigh, by prediction; unless given, the sum of the weights."""

    def hamming_accuracy(self) -> Values:
        total = self.weights.sum() if self.total is None else self.total
        pairs = np.broadcast_to(total * self.tp.shape[-1], self.tp.shape[:-1])
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


@dataclass(frozen=True)
class PredictionCounts:
    """Counts of several predictions, in a form that adds up over parts of the rows."""

    tp: Values
    fp: Values
    """Predictions × labels: the weight of the rows for which a label is predicted rightly, and wrongly."""
    positives: Values
    """(Predictions ×) labels: the weight of the rows that have a label."""
    total: Values
    """Per prediction, the weight of the rows."""
    rows: tuple[Values, ...] = ()
    """Per prediction, how much the rows weigh that have the same counts: (right, predicted, present, weight), sorted.
    Left out where no measure asks for them."""

    @classmethod
    def by_group(
        cls,
        truth: NDArray[np.bool_],
        predicted: NDArray[np.bool_],
        weights: Values,
        groups: NDArray[Any],
        n_groups: int,
        by_row: bool,
    ) -> PredictionCounts:
        """Count labels × rows by the group of each row, as if each group had a prediction of its own."""

        groups = groups.astype(np.intp)
        shape = n_groups, len(truth)
        sums = []
        for marks in (truth & predicted, predicted, truth):
            label, row = np.nonzero(marks)
            of_pairs = np.bincount(groups[row] * shape[1] + label, weights[row], shape[0] * shape[1])
            sums.append(of_pairs.reshape(shape).astype(np.float64))
        tp, all_predicted, positives = sums
        total = np.bincount(groups, weights, n_groups).astype(np.float64)
        rows: tuple[Values, ...] = ()
        if by_row:
            per_row = np.stack([*(m.sum(axis=0) for m in (truth & predicted, predicted, truth)), weights], axis=1)
            rows = tuple(_merged(per_row[groups == group]) for group in range(n_groups))
        return cls(tp, all_predicted - tp, positives, total, rows)

    def __add__(self, other: PredictionCounts) -> PredictionCounts:
        rows = tuple(_merged(np.concatenate(pair)) for pair in zip(self.rows, other.rows, strict=True))
        sums = self.tp + other.tp, self.fp + other.fp, self.positives + other.positives, self.total + other.total
        return PredictionCounts(*sums, rows)

    def without_each(self) -> PredictionCounts:
        """Return the counts of all groups together, and without each of them."""
        each = (self.tp, self.fp, self.positives, self.total)
        of_all = (sums.sum(axis=0, keepdims=True) for sums in each)
        tp, fp, positives, total = (np.concatenate([a, a - own]) for a, own in zip(of_all, each, strict=True))
        rows: tuple[Values, ...] = ()
        if self.rows:
            everything = _merged(np.concatenate(self.rows))
            without = (_merged(np.concatenate([everything, own * [1, 1, 1, -1]])) for own in self.rows)
            rows = (everything, *without)
        return PredictionCounts(tp, fp, positives, total, rows)

    def scores(self, measure: Measure) -> Values:
        """Return the score of each prediction."""
        nothing = np.zeros(0)
        if not measure.is_of_rows:
            return measure.of_counts(
                Counts(self.tp, self.fp, self.positives, nothing, nothing, nothing, nothing, self.total)
            )
        of_rows = (Counts(nothing, nothing, nothing, *rows.T) for rows in self.rows)
        return np.array([measure.of_counts(counts) for counts in of_rows])


def best_label_set(frequency: Values, total: float, measure: Measure) -> tuple[NDArray[np.bool_], float]:
    """Return which labels are best to predict for every row, and the score, by a measure made of sums per label.

    `frequency` is the weight of the rows with each label, `total` that of all rows. No set is better than as many of
    the most frequent labels.
    """
    # Equally frequent labels in their own order; labels that never occur are never right.
    order = np.argsort(-frequency, kind="stable")[: np.count_nonzero(frequency)]
    nothing = np.zeros(0)
    # Row k predicts the k most frequent labels.
    predicted = np.zeros((len(order) + 1, len(frequency)))
    predicted[:, order] = np.tri(len(order) + 1, len(order), -1)
    tp, fp = predicted * frequency, predicted * (total - frequency)
    totals = np.full(len(predicted), total)
    scores = measure.of_counts(Counts(tp, fp, frequency, nothing, nothing, nothing, nothing, totals))
    best = int(np.argmax(scores))
    return predicted[best] > 0, float(scores[best])


def _merged(rows: Values) -> Values:
    """Return rows of three counts and a weight, those of the same counts as one."""
    counts, which = np.unique(rows[:, :3], axis=0, return_inverse=True)
    weights = np.bincount(which.ravel(), rows[:, 3], len(counts))
    return np.column_stack([counts, weights])[weights != 0]


def ratios(numerator: Values, denominator: Values, empty: float = 0.0) -> Values:
    """Quotients; what 0/0 is, is given."""
    result = np.full(np.shape(denominator), float(empty))
    return np.divide(numerator, denominator, out=result, where=np.not_equal(denominator, 0))
