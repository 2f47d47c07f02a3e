"""The best that can be predicted without looking: one label set for every instance."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plurule.data.table import Table
from plurule.data.targets import TargetForm
from plurule.label_matrix import dense, label_matrix
from plurule.metrics import Counts
from plurule.model import Assignment, Head, Rule, RuleList
from plurule.prediction.scoring import Scorer, Scoring, check_scoring
from plurule.prediction.staged import OF_ROWS, staged_scores

ONE_BY_ONE = 16
"""For a scorer of which nothing is known, this many labels are added one at a time, later ones in growing steps."""


class Constant(NamedTuple):
    """One label set for every instance, and what it scores."""

    labels: NDArray[np.bool_]
    score: float


def best_constant(
    Y: Any,
    scoring: str | Scorer | Scoring,
    sample_weight: ArrayLike | None = None,
    form: TargetForm | None = None,
) -> Constant:
    """The label set that scores best if it is predicted for every instance.

    Compared are the 0, 1, 2, … most frequent labels and the most frequent label set. No other set is better by Hamming
    accuracy, subset accuracy, F1 (micro or macro), precision or recall; by other scores one may be. `form` is that of
    the labels that a scorer expects.

    >>> best_constant([[1, 0], [1, 1], [0, 1], [1, 0]], "micro_f1")
    Constant(labels=array([ True,  True]), score=0.7692307692307693)
    >>> best_constant([[1, 0], [1, 1], [0, 1], [1, 0]], "subset_accuracy")
    Constant(labels=array([ True, False]), score=0.5)
    """
    scoring = scoring if isinstance(scoring, Scoring) else check_scoring(scoring)
    truth = dense(label_matrix(Y)[0])
    n_rows, n_labels = truth.shape
    weights = np.ones(n_rows) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    frequency = weights @ truth
    # Equally frequent labels in their own order; labels that never occur are never right.
    order = np.argsort(-frequency, kind="stable")[: np.count_nonzero(frequency)]
    nested = [order[:k] for k in _sizes(len(order), scoring)]
    labels, best = order[:0], np.nan
    for stages in (nested, [order[:0], _most_frequent(truth, weights)]):
        if scoring.scorer is None and scoring.name not in OF_ROWS:
            scores = _by_label(stages, frequency, weights, scoring.name)
        else:
            rules = _constant_rules(stages, frequency, float(weights.sum()))
            given = None if sample_weight is None else weights
            scores = staged_scores(rules, Table((), (), n_rows), truth, scoring, form or TargetForm(), given)
        for stage, score in zip(stages, scores.tolist(), strict=False):
            if score > best or np.isnan(best):
                labels, best = stage, score
    return Constant(np.isin(np.arange(n_labels), labels), best)


def _by_label(
    stages: list[NDArray[np.intp]], frequency: NDArray[np.float64], weights: NDArray[np.float64], measure: str
) -> NDArray[np.float64]:
    """What label sets score by a measure that is made of sums per label: no row needs to be looked at."""
    predicted, nothing = np.zeros((len(stages), len(frequency))), np.zeros(0)
    for row, labels in zip(predicted, stages, strict=True):
        row[labels] = 1.0
    tp, fp = predicted * frequency, predicted * (weights.sum() - frequency)
    return np.asarray(getattr(Counts(tp, fp, frequency, nothing, nothing, nothing, weights), measure)())


def _sizes(n_labels: int, scoring: Scoring) -> list[int]:
    """How many labels to try; all numbers, unless every score is an effort."""
    sizes = [0]
    while sizes[-1] < n_labels:
        step = 1 if scoring.scorer is None else 1 + sizes[-1] // ONE_BY_ONE
        sizes.append(min(sizes[-1] + step, n_labels))
    return sizes


def _most_frequent(truth: NDArray[np.int8], weights: NDArray[np.float64]) -> NDArray[np.intp]:
    """The label set that most instances have, by weight."""
    if not truth.size:
        return np.zeros(0, np.intp)
    bits = np.packbits(truth, axis=1)  # which compare as a whole, in the same order, and many times as fast
    _, first, which = np.unique(bits.view(f"V{bits.shape[1]}"), return_index=True, return_inverse=True)
    return np.flatnonzero(truth[first[np.argmax(np.bincount(which.ravel(), weights))]])


def _constant_rules(stages: list[NDArray[np.intp]], frequency: NDArray[np.float64], total: float) -> RuleList:
    """Rules without conditions, which predict what each stage has more than the one before."""
    rules = []
    for before, after in pairwise(stages):
        added = np.setdiff1d(after, before).tolist()
        decided = tuple((float(frequency[label]), total - float(frequency[label])) for label in added)
        if added:
            rules.append(Rule(Head(tuple(Assignment(f"y{i}", i, True) for i in added)), decided=decided))
    # Of the labels that rules decide, nothing is left.
    left = ~np.isin(np.arange(len(frequency)), stages[-1])
    undecided = tuple(zip((left * (total - frequency)).tolist(), (left * frequency).tolist(), strict=True))
    return RuleList(tuple(rules), (), tuple(f"y{i}" for i in range(len(frequency))), undecided)
