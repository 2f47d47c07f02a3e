"""Label constraints: implications and exclusions among labels are mined, and predictions are repaired by them.

References: S.-H. Park and J. Fürnkranz, *Multi-label classification with label constraints*, 2008 (repair of
predictions); C. Papagiannopoulou, G. Tsoumakas and I. Tsamardinos, *Discovering and exploiting deterministic label
relationships in multi-label learning*, KDD 2015 (entailments and exclusion sets on probabilities).

Differs from them: any classifier may be repaired, not only rankings by pairwise comparison; instead of a Bayesian
network with leak nodes its closed form is computed for disjoint exclusion sets first, then for entailments.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from plurule import RuleListClassifier
from research.related import base
from research.related.base import NUMBER, SHARE, MultiLabelClassifier
from research.related.columns import Mask
from research.related.constraint_mining import Constraints, mine_constraints
from research.related.labels import Labels


def repair(Y: Labels, confidence: NDArray[np.float64], constraints: Constraints) -> Labels:
    """Return label sets without a violated constraint, which keep the more confident predictions.

    Labels are decided one by one, the most confident first. A present label decides those it implies, those it
    excludes, and those that imply any of these; an absent one decides those that imply it. A label whose presence
    contradicts a decision is absent, which never does: no present label implies it.
    """
    repaired = Y.copy()
    for row in range(len(Y)):
        if constraints.violations(Y[row : row + 1]):
            repaired[row] = _repair_row(Y[row], confidence[row], constraints)
    return repaired


def _repair_row(labels: Labels, confidence: NDArray[np.float64], constraints: Constraints) -> Labels:
    decided = np.full(len(labels), -1, dtype=np.int8)
    for label in np.argsort(-confidence, kind="stable"):
        if decided[label] >= 0:
            continue
        present = constraints.implies[label].copy()
        present[label] = True
        absent = constraints.excludes[present].any(axis=0)
        contradicts = (decided[present] == 0).any() or (decided[absent] == 1).any() or absent[present].any()
        if labels[label] and not contradicts:
            decided[present] = 1
        else:
            absent = np.zeros(len(labels), dtype=bool)
            absent[label] = True
        decided[absent | constraints.implies[:, absent].any(axis=1)] = 0
    return decided


def exclusion_sets(excludes: Mask) -> list[list[int]]:
    """Return disjoint sets of labels that exclude each other, the labels with most exclusions first."""
    order = np.argsort(-excludes.sum(axis=1), kind="stable").tolist()
    free = [label for label in order if excludes[label].any()]
    sets: list[list[int]] = []
    while free:
        group: list[int] = []
        for label in free:
            if excludes[label, group].all():
                group.append(label)
        free = [label for label in free if label not in group]
        if len(group) > 1:
            sets.append(group)
    return sets


def soften(probabilities: NDArray[np.float64], constraints: Constraints) -> NDArray[np.float64]:
    """Return the probabilities given the constraints.

    Of an exclusion set at most one label is present: the posterior of independent labels is odds / (1 + sum of odds).
    A label is present if one that implies it is, or by itself: the probability of a disjunction.
    """
    result = np.clip(probabilities, 1e-6, 1 - 1e-6)
    for group in exclusion_sets(constraints.excludes):
        odds = result[:, group] / (1 - result[:, group])
        result[:, group] = odds / (1 + odds.sum(axis=1, keepdims=True))
    own = result.copy()
    for label in range(result.shape[1]):
        causes = np.append(np.flatnonzero(constraints.implies[:, label]), label)
        result[:, label] = 1 - np.prod(1 - own[:, causes], axis=1)
    return result


class LabelConstraints(MultiLabelClassifier):
    """Repair the predictions of a classifier by constraints that hold among the training labels.

    Parameters
    ----------
    estimator
        Any classifier of label matrices; `None` for `RuleListClassifier()`.
    min_support
        Least number of training rows with the premise of an implication.
    min_confidence
        Least share of these rows for which the constraint holds.
    min_expected
        Least number of training rows that would have both labels of an exclusion if these were independent.
    soft
        Whether probabilities are adjusted by the constraints before labels are chosen and repaired.

    Attributes
    ----------
    estimator_ : object
        The fitted classifier.
    constraints_ : Constraints
        The mined constraints, which no prediction violates.
    """

    _parameter_constraints: ClassVar[Any] = {
        **dict.fromkeys(("min_support", "min_expected"), NUMBER),
        "min_confidence": SHARE,
        "soft": ["boolean"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        min_support: float = 5,
        min_confidence: float = 1.0,
        min_expected: float = 3,
        soft: bool = False,
    ) -> None:
        self.estimator = estimator
        self.min_support = min_support
        self.min_confidence = min_confidence
        self.min_expected = min_expected
        self.soft = soft

    def _learn(self, X: Any, Y: Labels) -> None:
        estimator = RuleListClassifier() if self.estimator is None else clone(self.estimator)
        self.constraints_ = mine_constraints(Y, self.min_support, self.min_confidence, self.min_expected)
        self.estimator_ = base.fit_labels(estimator, X, Y)

    def _predict(self, X: Any) -> Labels:
        n_labels = len(self.label_names_)
        probabilities = base.positive_probabilities(self.estimator_, X, n_labels)
        if self.soft:
            probabilities = soften(probabilities, self.constraints_)
            labels = (probabilities >= 0.5).astype(np.int8)
        else:
            labels = base.predicted_matrix(self.estimator_.predict(X), X.shape[0])
        return repair(labels, np.abs(probabilities - 0.5), self.constraints_)

    @property
    def rule_list_(self) -> Any:
        """The rules of the repaired classifier, where it has any."""
        return self.estimator_.rule_list_
