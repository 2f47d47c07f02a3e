"""Learners that rule lists are compared with: the best constant prediction, trees and forests of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from plurule.metrics import METRICS, micro_f1

THRESHOLDS = np.arange(1, 100) / 100


def tree_per_label() -> Any:
    """Return a decision tree per label, with default settings."""
    from sklearn.multioutput import MultiOutputClassifier
    from sklearn.tree import DecisionTreeClassifier

    return MultiOutputClassifier(DecisionTreeClassifier(random_state=0))


def random_forest() -> Any:
    """Return a random forest with default settings."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=0)


class BestConstant:
    """The label set with the best score on the training part, among the most frequent labels."""

    def __init__(self, scoring: str):
        self.scoring = scoring

    def fit(self, X: Any, Y: Any) -> BestConstant:
        """Find the label set."""
        order = np.argsort(-Y.sum(axis=0, dtype=np.int64), kind="stable")
        candidates = np.zeros((Y.shape[1] + 1, Y.shape[1]), dtype=np.uint8)
        for size in range(1, Y.shape[1] + 1):
            candidates[size, order[:size]] = 1
        measure = METRICS[self.scoring]
        self.labels = max(candidates, key=lambda labels: measure(Y, np.broadcast_to(labels, Y.shape)))
        return self

    def predict(self, X: Any) -> Any:
        """Return the label set, for each row."""
        return np.tile(self.labels, (X.shape[0], 1))


class TunedForest:
    """A random forest whose threshold has the best micro F1 out of bag."""

    def fit(self, X: Any, Y: Any) -> TunedForest:
        """Grow the trees for labels that vary, then choose the threshold."""
        self.always = Y.all(axis=0)
        self.varies = np.flatnonzero(Y.any(axis=0) & ~self.always)
        if not len(self.varies):
            return self
        varying = Y[:, self.varies]
        # A forest of a single label wants a column.
        target = varying[:, 0] if len(self.varies) == 1 else varying
        self.forest = random_forest().set_params(oob_score=True).fit(X, target)
        votes = np.nan_to_num(self.forest.oob_decision_function_[:, 1]).reshape(varying.shape)
        self.threshold = max(THRESHOLDS, key=lambda threshold: micro_f1(varying, votes >= threshold))
        return self

    def predict(self, X: Any) -> Any:
        """Return the labels with enough votes."""
        predicted = np.tile(self.always, (X.shape[0], 1))
        if len(self.varies):
            probabilities = self.forest.predict_proba(X)
            by_label = probabilities if isinstance(probabilities, list) else [probabilities]
            votes = np.column_stack([of_label[:, 1] for of_label in by_label])
            predicted[:, self.varies] = votes >= self.threshold
        return predicted
