"""Rules per label: one rule list is learned for each label, as if the others did not exist.

Reference: E. Loza Mencía and F. Janssen, *Learning rules for multi-label classification: a stacking and a
separate-and-conquer approach*, Machine Learning 105, 2016 (the binary relevance baseline).

Differs from it: the lists are learned by plurule's learner instead of JRip.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from plurule import ParameterError, RelaxedPruningClassifier, RuleList
from plurule.model import Assignment, Head, Rule
from research.related.base import MultiLabelClassifier
from research.related.columns import read_columns
from research.related.labels import Labels


class BinaryRelevanceRules(MultiLabelClassifier):
    """One rule list per label.

    Parameters
    ----------
    estimator
        The learner of one label's list: a classifier of plurule; `None` for `RelaxedPruningClassifier()`.

    Attributes
    ----------
    rule_list_ : RuleList
        The lists of all labels, one after the other. No rule ends an instance, since the lists are independent.

    Examples
    --------
    >>> X, Y = [[1.0], [2.0], [3.0], [4.0]], [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> print(BinaryRelevanceRules().fit(X, Y).rule_list_)
    y0 ← x0 <= 2.5   (TP 2, FP 0)
    y1 ← x0 > 2.5   (TP 2, FP 0)
    """

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def _learn(self, X: Any, Y: Labels) -> None:
        estimator = RelaxedPruningClassifier() if self.estimator is None else self.estimator
        rules: list[Rule] = []
        for label, name in enumerate(self.label_names_):
            rules += learn_label(estimator, X, Y[:, label], label, name)
        self.rule_list_ = RuleList(tuple(rules), read_columns(X).attributes, self.label_names_)

    def _predict(self, X: Any) -> Any:
        return self.rule_list_.predict(X)


def learn_label(estimator: Any, X: Any, y: Any, label: int, name: str) -> list[Rule]:
    """Return the rules of one label, with its place among all labels; none if it is always absent."""
    if not np.any(y):
        return []
    learned = clone(estimator).fit(X, y[:, None])
    if not hasattr(learned, "rule_list_"):
        what = "must learn a rule list, as RelaxedPruningClassifier() and RuleListClassifier() do"
        raise ParameterError("estimator", estimator, f"{what}; {estimator!r} does not")
    return [_renamed(rule, label, name) for rule in learned.rule_list_]


def _renamed(rule: Rule, label: int, name: str) -> Rule:
    """Return a rule about the only label of its list as one about a label of several."""
    (assignment,) = rule.head
    return replace(rule, head=Head((Assignment(name, label, assignment.present),)), stop=False)
