"""Heuristics: how good a rule is, from its confusion matrix.

A heuristic is an object with one function of four arrays, `evaluate(tp, fp, tn, fn)`; the arrays have any
(equal) shape and the result has it too. With `averaging="micro"` it is given the matrices summed over the labels of
a head, with `"macro"` one matrix per label, and the values are averaged.

Two properties decide which head searches find the best head (Rapp et al. 2018):

- *decomposable*: a head reaches the best value if and only if each of its labels alone does;
- *anti-monotone*: adding a label to a head that is worse than the best cannot make it the best.

The mean of values reaches their maximum only where all do, so every heuristic is decomposable when
macro-averaged; what a class states is the property under micro-averaging.

To write your own:

>>> class Odds(Heuristic):
...     def evaluate(self, tp, fp, tn, fn):
...         return ratio(tp, fp + 1)
>>> float(Odds().evaluate(np.array(6.0), np.array(1.0), np.array(0.0), np.array(0.0)))
3.0
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plurule._parameters import Allowed, Parametrised, number

Averaging: TypeAlias = Literal["micro", "macro"]
Counts: TypeAlias = NDArray[np.float64]

AVERAGINGS: tuple[Averaging, ...] = ("micro", "macro")
BETA = number(0, closed="both")
"""At least 0; infinity is recall alone."""


__all__ = [
    "FMeasure",
    "Gain",
    "HammingAccuracy",
    "Heuristic",
    "Laplace",
    "MEstimate",
    "Precision",
    "Recall",
    "SubsetAccuracy",
    "WeightedRelativeAccuracy",
]


def ratio(numerator: Counts, denominator: Counts) -> Counts:
    """Element-wise quotient, with 0/0 = 0.

    Parameters
    ----------
    numerator, denominator
        Arrays of one shape, or that broadcast to one.

    Examples
    --------
    >>> ratio(np.array([1.0, 0.0]), np.array([4.0, 0.0]))
    array([0.25, 0.  ])
    """
    zero = np.zeros(np.broadcast(numerator, denominator).shape)
    return np.divide(numerator, denominator, out=zero, where=np.asarray(denominator) != 0)


class Heuristic(Parametrised):
    """Base class of all heuristics, and of one's own: a function of the confusion matrices of rules.

    Examples
    --------
    >>> class Jaccard(Heuristic):
    ...     def evaluate(self, tp, fp, tn, fn):
    ...         return ratio(tp, tp + fp + fn)
    >>> tp, fp, tn, fn = (np.array([count]) for count in (6.0, 2.0, 8.0, 4.0))
    >>> Jaccard().evaluate(tp, fp, tn, fn)
    array([0.5])

    `RelaxedPruningClassifier(heuristic=Jaccard())` learns with it, by the native engine as well.
    """

    micro_decomposable: ClassVar[bool] = False
    """Whether a head of labels that all reach the best value reaches it too, when counts are summed."""

    example_based: ClassVar[bool] = False
    """Whether it counts instances that are right as a whole, instead of pairs of instance and label."""

    additive: ClassVar[bool] = False
    """Whether the value of a head is the sum over its labels; then only labels with a positive value are in heads."""

    label_mean: ClassVar[bool] = False
    """Whether the value of a head is the mean over its labels under both averagings."""

    @abstractmethod
    def evaluate(self, tp: Counts, fp: Counts, tn: Counts, fn: Counts) -> Counts:
        """Value of each confusion matrix; higher is better."""

    # Of a default that is an object, scikit-learn asks that it can be called.
    def __call__(self, tp: Counts, fp: Counts, tn: Counts, fn: Counts) -> Counts:
        """The same as `evaluate`."""
        return self.evaluate(tp, fp, tn, fn)

    def averages_labels(self, averaging: Averaging) -> bool:
        """Whether the value of a head is the mean of its labels' values."""
        return not self.additive and (self.label_mean or averaging == "macro")

    def is_decomposable(self, averaging: Averaging) -> bool:
        """Whether the best head consists of all labels that alone reach the best value."""
        return not self.example_based and (self.averages_labels(averaging) or self.micro_decomposable)

    def is_anti_monotone(self, averaging: Averaging) -> bool:
        """Whether a head below the best stays below it when labels are added."""
        return self.example_based or self.is_decomposable(averaging)


class FMeasure(Heuristic):
    """Weighted harmonic mean of precision and recall.

    Parameters
    ----------
    beta
        How much more recall counts than precision; below 1, precision counts more.

    Examples
    --------
    >>> one = np.array([1.0])
    >>> FMeasure(beta=0.5).evaluate(2 * one, one, 0 * one, 3 * one)
    array([0.58823529])
    """

    micro_decomposable = True
    allowed: ClassVar[Allowed] = {"beta": [BETA]}

    def __init__(self, beta: float = 0.5):
        self.beta = beta

    def evaluate(self, tp: Counts, fp: Counts, tn: Counts, fn: Counts) -> Counts:
        square = float(self.beta) * float(self.beta)
        if np.isinf(square):
            return ratio(tp, tp + fn)
        right = (1 + square) * tp
        return ratio(right, right + square * fn + fp)


class HammingAccuracy(Heuristic):
    """Share of right decisions, those about uncovered instances among them.

    Examples
    --------
    >>> tp, fp, tn, fn = (np.array([count]) for count in (6.0, 2.0, 8.0, 4.0))
    >>> HammingAccuracy().evaluate(tp, fp, tn, fn)
    array([0.7])
    """

    label_mean = True

    def evaluate(self, tp: Counts, fp: Counts, tn: Counts, fn: Counts) -> Counts:
        return ratio(tp + tn, tp + fp + tn + fn)


class Precision(Heuristic):
    """Share of the predictions that are right.

    Examples
    --------
    >>> tp, fp, tn, fn = (np.array([count]) for count in (6.0, 2.0, 8.0, 4.0))
    >>> Precision().evaluate(tp, fp, tn, fn)
    array([0.75])
    """

    micro_decomposable = True

    def evaluate(self, tp: Counts, fp: Counts, tn: Counts, fn: Counts) -> Counts:
        return ratio(tp, tp + fp)


class Recall(Heuristic):
    """Share of what could be found that is found.

    Examples
    --------
    >>> tp, fp, tn, fn = (np.array([count]) for count in (6.0, 2.0, 8.0, 4.0))
    >>> Recall().evaluate(tp, fp, tn, fn)
    array([0.6])
    """

    micro_decomposable = True

    def evaluate(self, tp: Counts, fp: Counts, tn: Counts, fn: Counts) -> Counts:
        return ratio(tp, tp + fn)


class Laplace(Heuristic):
    """Precision, pulled towards one half as if one right and one wrong prediction had been seen before.

    Examples
    --------
    >>> tp, fp, tn, fn = (np.array([count]) for count in (6.0, 2.0, 8.0, 4.0))
    >>> Laplace().evaluate(tp, fp, tn, fn)
    array([0.7])
    """

    def evaluate(self, tp: Counts, fp: Counts, tn: Counts, fn: Counts) -> Counts:
        return ratio(tp + 1, tp + fp + 2)


class MEstimate(Heuristic):
    """Precision, pulled towards the share of positives as if `m` predictions of that quality had been seen.

    The default is the value that Janssen and Fürnkranz (2010, *On the quest for optimal rule learning
    heuristics*) found best over many data sets.

    Parameters
    ----------
    m
        How many predictions a rule is judged by that it did not make.

    Examples
    --------
    >>> tp, fp, tn, fn = (np.array([count]) for count in (6.0, 2.0, 8.0, 4.0))
    >>> MEstimate(m=0).evaluate(tp, fp, tn, fn), MEstimate(m=8).evaluate(tp, fp, tn, fn)
    (array([0.75]), array([0.625]))
    """

    allowed: ClassVar[Allowed] = {"m": [number(0)]}

    def __init__(self, m: float = 22.466):
        self.m = m

    def evaluate(self, tp: Counts, fp: Counts, tn: Counts, fn: Counts) -> Counts:
        prior = ratio(tp + fn, tp + fp + tn + fn)
        return ratio(tp + self.m * prior, tp + fp + self.m)


class WeightedRelativeAccuracy(Heuristic):
    """Coverage times the gain in precision over always predicting.

    Examples
    --------
    >>> tp, fp, tn, fn = (np.array([count]) for count in (6.0, 2.0, 8.0, 4.0))
    >>> WeightedRelativeAccuracy().evaluate(tp, fp, tn, fn)
    array([0.1])
    """

    def evaluate(self, tp: Counts, fp: Counts, tn: Counts, fn: Counts) -> Counts:
        # One quotient of exact counts, so that equal values come out equal.
        total = tp + fp + tn + fn
        return ratio(tp * total - (tp + fp) * (tp + fn), total * total)


class Gain(Heuristic):
    """Right predictions minus a share `lam` of all predictions, summed over the labels of a head: TP − λ(TP + FP).

    A measure such as micro F1 rises with every prediction whose precision is above some threshold (half of the F1
    that is reached); the gain is what a rule adds above the threshold λ. It is linear, so the best head of a body is
    every label with a positive term: no lift is needed to get heads of several labels, and none is used. With λ = ½
    it is the gain in Hamming accuracy. `averaging` does not matter: the values of labels are added up.

    Parameters
    ----------
    lam
        λ, above 0 and below 1: how precise a prediction must be to be worth making.

    Examples
    --------
    >>> tp, fp, none = np.array([6.0, 2.0]), np.array([4.0, 3.0]), np.zeros(2)
    >>> Gain(lam=0.4).evaluate(tp, fp, none, none)
    array([2., 0.])
    """

    additive = True
    allowed: ClassVar[Allowed] = {"lam": [number(0, 1, closed="neither")]}

    def __init__(self, lam: float = 0.5):
        self.lam = lam

    def evaluate(self, tp: Counts, fp: Counts, tn: Counts, fn: Counts) -> Counts:
        asked = self.lam * (tp + fp)
        gain = tp - asked
        # What is 0 in exact arithmetic is 0.
        return np.where(np.abs(gain) <= 1e-12 * asked, 0.0, gain)


class SubsetAccuracy(Heuristic):
    """Share of instances that are right as a whole.

    A covered instance is right if every assignment of the head is, an uncovered one if no label of the
    head is present; instances with no open head label are left out. The four counts given to `evaluate` are
    of instances, not of pairs.

    Examples
    --------
    Seven of ten instances are right:

    >>> tp, fp, tn, fn = (np.array([count]) for count in (3.0, 1.0, 4.0, 2.0))
    >>> SubsetAccuracy().evaluate(tp, fp, tn, fn)
    array([0.7])
    """

    example_based = True

    def evaluate(self, tp: Counts, fp: Counts, tn: Counts, fn: Counts) -> Counts:
        return ratio(tp + tn, tp + fp + tn + fn)


BUILT_IN: tuple[type[Heuristic], ...] = (
    FMeasure,
    HammingAccuracy,
    Precision,
    Recall,
    Laplace,
    MEstimate,
    WeightedRelativeAccuracy,
    Gain,
    SubsetAccuracy,
)
