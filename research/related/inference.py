"""Label inference (LI-MLC): labels that others imply are left out of training, and inferred from these afterwards.

Reference: F. Charte, A. J. Rivera, M. J. del Jesus and F. Herrera, *LI-MLC: a label inference methodology for
addressing high dimensionality in the label space for multilabel classification*, IEEE TNNLS 25, 2014.

Differs from it: premises have at most `max_premise` labels and are counted directly instead of with FP-growth; a label
is left out only if the kept labels infer at least `min_recall` of its occurrences, since the others are lost.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from plurule import RuleListClassifier
from research.related.base import COUNT, NUMBER, SHARE, MultiLabelClassifier, fit_labels, predicted_matrix
from research.related.label_rules import choose_inferred, mine_label_rules
from research.related.labels import Labels


class LabelInference(MultiLabelClassifier):
    """Train a classifier without labels that others imply, and infer these.

    Parameters
    ----------
    estimator
        Any classifier of label matrices; `None` for `RuleListClassifier()`.
    min_support
        Least number of training rows with premise and conclusion.
    min_confidence
        Least share of the rows with the premise that have the conclusion.
    max_premise
        Most labels of a premise.
    max_sets
        Mining is stopped with an error when there are more premises.
    min_recall
        Least share of the training rows with a label that the others must infer for the label to be left out.

    Attributes
    ----------
    estimator_ : object
        The classifier of the labels that are not inferred.
    label_rules_ : list of LabelRule
        The implications that infer the others.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **dict.fromkeys(("min_confidence", "min_recall"), SHARE),
        "min_support": NUMBER,
        **dict.fromkeys(("max_premise", "max_sets"), COUNT),
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        min_support: float = 5,
        min_confidence: float = 0.8,
        max_premise: int = 2,
        min_recall: float = 0.5,
        max_sets: int = 500_000,
    ) -> None:
        self.estimator = estimator
        self.min_support = min_support
        self.min_confidence = min_confidence
        self.max_premise = max_premise
        self.min_recall = min_recall
        self.max_sets = max_sets

    def _learn(self, X: Any, Y: Labels) -> None:
        rules = mine_label_rules(Y, self.min_support, self.min_confidence, self.max_premise, self.max_sets)
        self.label_rules_ = choose_inferred(rules, Y, self.min_recall)
        inferred = {rule.conclusion for rule in self.label_rules_}
        self.trained_ = np.array([label for label in range(Y.shape[1]) if label not in inferred])
        estimator = RuleListClassifier() if self.estimator is None else clone(self.estimator)
        self.estimator_ = fit_labels(estimator, X, Y[:, self.trained_])

    def _predict(self, X: Any) -> Labels:
        labels = np.zeros((X.shape[0], len(self.label_names_)), dtype=np.int8)
        labels[:, self.trained_] = predicted_matrix(self.estimator_.predict(X), X.shape[0])
        for rule in self.label_rules_:
            labels[labels[:, rule.premise].all(axis=1), rule.conclusion] = 1
        return labels
