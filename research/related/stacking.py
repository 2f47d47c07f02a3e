"""Stacked rules: the labels that a first round predicts are attributes of a second round, repeated to a fixpoint.

Reference: E. Loza Mencía and F. Janssen, *Learning rules for multi-label classification: a stacking and a
separate-and-conquer approach*, Machine Learning 105, 2016 (bootstrapped stacking).

As published, the second round is trained on the true labels of the training instances. Differs from it: lists are
learned by plurule instead of JRip; with `second_round="predictions"`, the second round is trained on out-of-fold
predictions of the first, so that its rules have seen labels as unreliable as those they will test.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils._param_validation import Interval, StrOptions

from plurule import RelaxedPruningClassifier, RuleList
from plurule.data import IterativeStratifiedKFold
from plurule.model import Attribute, Condition, LabelCondition, RangeCondition, Rule
from research.related.base import COUNT, MultiLabelClassifier
from research.related.binary_relevance import BinaryRelevanceRules, learn_label
from research.related.columns import is_table, read_columns
from research.related.labels import Labels


class StackedRules(MultiLabelClassifier):
    """Rule lists per label whose bodies test attributes and the predictions for other labels.

    Parameters
    ----------
    estimator
        The learner of one label's list: a classifier of plurule; `None` for `RelaxedPruningClassifier()`.
    second_round
        What the second round is trained on beside the attributes: `"labels"` for the true labels, `"predictions"` for
        those that the first round predicts for instances it was not trained on.
    cv
        Number of folds of these predictions.
    max_rounds
        How often the second round is applied at most, where predictions do not settle before.

    Attributes
    ----------
    first_ : BinaryRelevanceRules
        The first round.
    rule_list_ : RuleList
        The second round, with predictions for other labels as label conditions.

    Examples
    --------
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]] * 5, [[1, 1], [1, 1], [0, 0], [0, 0]] * 5
    >>> StackedRules(cv=2).fit(X, Y).predict([[0.5], [2.5]])
    array([[1, 1],
           [0, 0]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "second_round": [StrOptions({"labels", "predictions"})],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "max_rounds": COUNT,
    }

    def __init__(
        self, estimator: Any = None, *, second_round: str = "labels", cv: int = 3, max_rounds: int = 10
    ) -> None:
        self.estimator = estimator
        self.second_round = second_round
        self.cv = cv
        self.max_rounds = max_rounds

    def _learn(self, X: Any, Y: Labels) -> None:
        estimator = RelaxedPruningClassifier() if self.estimator is None else self.estimator
        first = BinaryRelevanceRules(estimator)
        known = Y if self.second_round == "labels" else self._held_out_predictions(first, X, Y)
        self.first_ = clone(first).fit(X, labels_for_fit(Y))
        rules: list[Rule] = []
        for label, name in enumerate(self.label_names_):
            # The label itself is hidden: all its values are the same.
            others = known.copy()
            others[:, label] = 0
            rules += learn_label(estimator, beside(X, others, self.label_names_), Y[:, label], label, name)
        attributes = read_columns(X).attributes
        extended = read_columns(beside(X, known, self.label_names_)).attributes
        self._second = RuleList(tuple(rules), extended, self.label_names_)
        n_attributes = len(attributes)
        named = [_with_label_conditions(rule, n_attributes, self.label_names_) for rule in rules]
        self.rule_list_ = RuleList(tuple(named), attributes, self.label_names_)

    def _held_out_predictions(self, first: BinaryRelevanceRules, X: Any, Y: Labels) -> Labels:
        """Return what first rounds predict for the instances that they were not trained on."""
        predicted = np.zeros_like(Y)
        if len(Y) >= self.cv:
            for rows, held_out in IterativeStratifiedKFold(self.cv).split(Y, Y):
                of_fold = clone(first).fit(take_rows(X, rows), labels_for_fit(Y[rows]))
                predicted[held_out] = of_fold._predict(take_rows(X, held_out))
        return predicted

    def _predict(self, X: Any) -> Labels:
        labels = np.asarray(self.first_._predict(X), dtype=np.int8)
        for _ in range(self.max_rounds):
            before = labels
            labels = np.asarray(self._second.predict(beside(X, before, self.label_names_)), dtype=np.int8)
            if np.array_equal(labels, before):
                break
        return labels


def take_rows(X: Any, rows: Any) -> Any:
    """Return some rows of a frame, a table, an array or a sparse matrix."""
    return X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]


def labels_for_fit(Y: Labels) -> Any:
    """Return a label matrix in a form whose single column may be constant."""
    return Y if Y.shape[1] > 1 else Y[:, 0]


def beside(X: Any, labels: Labels, names: tuple[str, ...]) -> Any:
    """Return the attributes and, in further columns, labels."""
    if is_table(X):
        attributes = [*X.attributes, *(Attribute(f"{name} (predicted)") for name in names)]
        return type(X)(attributes, [*X.columns, *labels.T.astype(np.float64)])
    if isinstance(X, pd.DataFrame):
        columns = [f"{name} (predicted)" for name in names]
        return pd.concat([X, pd.DataFrame(labels, columns=columns, index=X.index)], axis=1)
    if sp.issparse(X):
        return sp.hstack([X, sp.csr_matrix(labels.astype(np.float64))], format="csr")
    return np.hstack([X, labels])


def _with_label_conditions(rule: Rule, n_attributes: int, names: tuple[str, ...]) -> Rule:
    """Return a rule whose tests of further columns are label conditions."""
    body: list[Condition] = []
    for condition in rule.body:
        label = condition.index - n_attributes
        if label < 0:
            body.append(condition)
        else:
            assert isinstance(condition, RangeCondition)
            body.append(LabelCondition(names[label], label, condition.above is not None))
    return replace(rule, body=tuple(body))
