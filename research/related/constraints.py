"""Label constraints: implications and exclusions among labels are mined, and predictions are repaired by them.

References: S.-H. Park and J. Fürnkranz, *Multi-label classification with label constraints*, 2008 (repair of
predictions); C. Papagiannopoulou, G. Tsoumakas and I. Tsamardinos, *Discovering and exploiting deterministic label
relationships in multi-label learning*, KDD 2015 (entailments and exclusion sets on probabilities).

Differs from them: any classifier may be repaired, not only rankings by pairwise comparison; instead of a Bayesian
network with leak nodes, the posterior of independent labels given all constraints is computed, by listing the label
sets that are allowed for labels that constraints connect.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from plurule import RuleListClassifier
from research.related import base
from research.related.base import NUMBER, SHARE, MultiLabelClassifier
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


def soften(probabilities: NDArray[np.float64], constraints: Constraints, max_states: int = 4096) -> NDArray[np.float64]:
    """Return the probabilities of independent labels given that no constraint is violated.

    They are exact as long as labels that constraints connect have at most `max_states` allowed label sets. Of larger
    groups, constraints are left out, the weakest first.
    """
    result = np.clip(probabilities, 1e-6, 1 - 1e-6)
    log_odds = np.log(result / (1 - result))
    for labels, states in allowed_states(constraints, max_states):
        weights = log_odds[:, labels] @ states.T
        weights = np.exp(weights - weights.max(axis=1, keepdims=True))
        result[:, labels] = weights @ states / weights.sum(axis=1, keepdims=True)
    return result


def allowed_states(constraints: Constraints, max_states: int) -> list[tuple[list[int], Labels]]:
    """Return the groups of connected labels, each with the label sets (rows) that violate no constraint.

    Constraints are taken in their order, the strongest first; one that would make a group with more than `max_states`
    allowed label sets is left out.

    >>> excludes = np.array([[False, True], [True, False]])
    >>> ((labels, states),) = allowed_states(Constraints(np.zeros_like(excludes), excludes), 4)
    >>> labels, states.tolist()
    ([0, 1], [[0, 0], [0, 1], [1, 0]])
    """
    none = np.zeros_like(constraints.implies)
    taken = Constraints(none, none.copy())
    groups: dict[int, tuple[list[int], Labels]] = {}
    for kind, first, second in constraints.by_strength():
        trial = Constraints(taken.implies.copy(), taken.excludes.copy())
        if kind == "implies":
            trial.implies[first, second] = True
        else:
            trial.excludes[first, second] = trial.excludes[second, first] = True
        together: set[int] = {first, second}
        for label in (first, second):
            together |= set(groups[label][0]) if label in groups else set()
        labels = sorted(together)
        states = _list_states(trial, labels, max_states)
        if states is not None:
            taken = trial
            groups |= dict.fromkeys(labels, (labels, states))
    return [group for label, group in sorted(groups.items()) if label == group[0][0]]


def _list_states(constraints: Constraints, labels: list[int], most: int) -> Labels | None:
    """Return the allowed label sets of some labels; nothing if there are more than `most`."""
    states = np.zeros((1, 0), dtype=np.int8)
    for place, label in enumerate(labels):
        before = labels[:place]
        n_states = len(states)
        absent = ~(states.astype(bool) & constraints.implies[before, label]).any(axis=1)
        # Present, the label needs those it implies and forbids those it excludes.
        present = ~((states == 0) & constraints.implies[label, before]).any(axis=1)
        present &= ~(states.astype(bool) & constraints.excludes[label, before]).any(axis=1)
        zeros, ones = np.zeros((n_states, 1), dtype=np.int8), np.ones((n_states, 1), dtype=np.int8)
        states = np.vstack([np.hstack([states, zeros])[absent], np.hstack([states, ones])[present]])
        if len(states) > most:
            return None
    return states[np.lexsort(states.T[::-1])]


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
        Whether labels are chosen by their probabilities given the constraints, before they are repaired.

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
