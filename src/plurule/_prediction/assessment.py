"""Scores with references: an interval, the best constant prediction, and chance."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from plurule._prediction.staged import staged_scores
from plurule.data.dataset import Table
from plurule.data.targets import TargetForm, dense, label_matrix
from plurule.metrics import (
    MEASURES,
    METRICS,
    Counts,
    Measure,
    Scorer,
    best_label_set,
    count,
    find_measure,
)
from plurule.model import Assignment, Head, Rule, RuleList

# None of these is measured. More resamples and permutations are slower, and their ends and means less noisy.
RESAMPLES = 200
PERMUTATIONS = 20
LEVEL = 0.95
ONE_BY_ONE = 16
"""For a scorer of which nothing is known, this many labels are added one at a time, later ones in growing steps. Not
measured."""


class Assessed(NamedTuple):
    """A score and what to compare it with."""

    score: float
    low: float
    """Lower end of a 95 % confidence interval of the score on all rows like these, by a bootstrap over the rows. The F1
    of a label that is neither present nor predicted in a sample is unknown: 0 for this end, 1 for the other."""
    high: float
    constant: float
    """The score of the label set that is best to predict for every row (knowing the true labels of these rows)."""
    chance: float
    """The mean score if the same predictions are assigned to the rows at random."""


def assess(Y_true: Any, Y_pred: Any, *, sample_weight: ArrayLike | None = None) -> dict[str, Assessed]:
    """Return all measures by name, each with an interval, the best constant prediction, and chance.

    >>> Y = [[1, 0], [1, 1], [0, 1], [1, 0]] * 10
    >>> assessed = assess(Y, [[1, 0], [1, 0], [0, 1], [1, 0]] * 10)["subset_accuracy"]
    >>> assessed.score, round(assessed.low, 2), round(assessed.high, 2), assessed.constant
    (0.75, 0.6, 0.88, 0.5)
    """
    whole = count(Y_true, Y_pred, sample_weight)
    true, predicted = (sp.csr_array(label_matrix(Y)[0]) for Y in (Y_true, Y_pred))
    random, n_rows = np.random.default_rng(0), len(whole.weights)
    # A bootstrap sample as weights: how often each row was drawn, int64[rows].
    drawn = [np.bincount(random.integers(0, max(n_rows, 1), n_rows), minlength=n_rows) for _ in range(RESAMPLES)]
    resampled = [count(true, predicted, whole.weights * times) for times in drawn]
    # Predictions of other rows: labels keep their frequencies, and lose what they have to do with the truth.
    dealt = [count(true, predicted[random.permutation(n_rows)], whole.weights) for _ in range(PERMUTATIONS)]
    assessed = {}
    for name in METRICS:
        low = _end(name, whole, resampled, (1 - LEVEL) / 2)
        # A label that a sample lost is 0 at the lower end and 1 at the upper one.
        unknown = {"empty": 1.0} if MEASURES[name].weighs_labels_equally else {}
        high = _end(name, whole, resampled, (1 + LEVEL) / 2, **unknown)
        score = float(getattr(whole, name)())
        chance = float(np.mean([getattr(counts, name)() for counts in dealt]))
        constant = best_constant(true, name, whole.weights).score
        assessed[name] = Assessed(score, low, high, constant, chance)
    return assessed


def _end(name: str, whole: Counts, resampled: Sequence[Counts], quantile: float, **options: float) -> float:
    """Return an end of a confidence interval around the score of the whole."""
    score, *others = (float(getattr(counts, name)(**options)) for counts in (whole, *resampled))
    middle, end = np.quantile(others, [0.5, quantile])
    # Shifted, so that the median of the samples is the score: samples miss rare labels, which biases their scores.
    return float(np.clip(end + score - middle, 0.0, 1.0))


# The best constant prediction ----------------------------------------------------------------------------------------


class Constant(NamedTuple):
    """One label set for every instance, and what it scores."""

    labels: NDArray[np.bool_]
    score: float


def best_constant(
    Y: Any,
    scoring: str | Scorer | Measure,
    sample_weight: ArrayLike | None = None,
    form: TargetForm | None = None,
) -> Constant:
    """Return the label set that scores best if it is predicted for every instance.

    Compared are the 0, 1, 2, … most frequent labels and the most frequent label set. No other set is better by Hamming
    accuracy, subset accuracy, F1 (micro or macro), precision or recall; by other scores one may be. `form` is that of
    the labels that a scorer expects.

    >>> best_constant([[1, 0], [1, 1], [0, 1], [1, 0]], "micro_f1")
    Constant(labels=array([ True,  True]), score=0.7692307692307693)
    >>> best_constant([[1, 0], [1, 1], [0, 1], [1, 0]], "subset_accuracy")
    Constant(labels=array([ True, False]), score=0.5)
    """
    scoring = scoring if isinstance(scoring, Measure) else find_measure(scoring)
    truth = dense(label_matrix(Y)[0])
    n_rows, n_labels = truth.shape
    weights = np.ones(n_rows) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    frequency = weights @ truth
    if scoring.scorer is None and not scoring.is_of_rows:
        return Constant(*best_label_set(frequency, float(weights.sum()), scoring))
    # Nested sets are the prefixes of one list of rules, scored in one pass; the most frequent set is a second list.
    # As in `best_label_set`: the most frequent labels first, none that never occurs.
    order = np.argsort(-frequency, kind="stable")[: np.count_nonzero(frequency)]
    nested = [order[:k] for k in _sizes(len(order), scoring)]
    labels, best = nested[0], np.nan
    given = None if sample_weight is None else weights
    for stages in (nested, [nested[0], _most_frequent(truth, weights)]):
        rules = _constant_rules(stages, frequency, float(weights.sum()))
        scores = staged_scores(rules, Table((), (), n_rows), truth, scoring, form or TargetForm(), given)
        for stage, score in zip(stages, scores.tolist(), strict=False):
            if score > best or np.isnan(best):
                labels, best = stage, score
    return Constant(np.isin(np.arange(n_labels), labels), best)


def _sizes(n_labels: int, scoring: Measure) -> list[int]:
    """Return how many labels to try; all numbers, unless every score is an effort."""
    sizes = [0]
    while sizes[-1] < n_labels:
        # 0, 1, …, 16, 18, 20, …, 32, 35, …: steps of one sixteenth.
        step = 1 if scoring.scorer is None else 1 + sizes[-1] // ONE_BY_ONE
        sizes.append(min(sizes[-1] + step, n_labels))
    return sizes


def _most_frequent(truth: NDArray[np.int8], weights: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the label set that most instances have, by weight."""
    if not truth.size:
        return np.zeros(0, np.intp)
    bits = np.packbits(truth, axis=1)  # which compare as a whole, in the same order, and many times as fast
    _, first, which = np.unique(bits.view(f"V{bits.shape[1]}"), return_index=True, return_inverse=True)
    return np.flatnonzero(truth[first[np.argmax(np.bincount(which.ravel(), weights))]])


def _constant_rules(stages: list[NDArray[np.intp]], frequency: NDArray[np.float64], total: float) -> RuleList:
    """Return rules without conditions, which predict what each stage has more than the one before."""
    rules = []
    # Rule k adds what stage k has more; a rule without conditions covers all rows, so all of them are counted.
    for before, after in pairwise(stages):
        added = np.setdiff1d(after, before).tolist()
        decided = tuple((float(frequency[label]), total - float(frequency[label])) for label in added)
        if added:
            rules.append(Rule(Head(tuple(Assignment(f"y{i}", i, True) for i in added)), decided=decided))
    # Of the labels that rules decide, nothing is left.
    left = ~np.isin(np.arange(len(frequency)), stages[-1])
    undecided = tuple(zip((left * (total - frequency)).tolist(), (left * frequency).tolist(), strict=True))
    return RuleList(tuple(rules), (), tuple(f"y{i}" for i in range(len(frequency))), undecided)
