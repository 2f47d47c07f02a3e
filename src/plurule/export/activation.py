"""Rules as features: which rules of a list are active for an instance, for use in a scikit-learn pipeline."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import ClassifierTags, InputTags
from sklearn.utils.validation import check_is_fitted

from plurule.data.encoding import encode
from plurule.model import RuleList
from plurule.prediction.decide import replay


class RuleActivations(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """Turns instances into 0/1 features, one per rule.

    Parameters
    ----------
    rules
        A rule list, or a classifier with a `rule_list_` such as `RuleListClassifier`, which is fitted (as a copy) when
        the transformer is. None learns with `RuleListClassifier()`.
    active
        `"covers"`: the rule's body holds and no stop rule ended the instance before; `"decides"`: the rule is the one
        that decides at least one label.
    sparse_output
        Whether to give a sparse matrix.

    Attributes
    ----------
    rule_list_ : RuleList
        The rules, one feature each.

    Examples
    --------
    >>> from plurule import RuleList
    >>> rules = RuleList.from_text("red <- stripes > 2\\nred, white <- stripes > 1", ["stripes"], ["red", "white"])
    >>> transformer = RuleActivations(rules).fit([[0.0], [2.0], [3.0]])
    >>> transformer.transform([[0.0], [2.0], [3.0]])
    array([[0, 0],
           [0, 1],
           [1, 1]], dtype=int8)
    >>> transformer.get_feature_names_out().tolist()
    ['1: red ← stripes > 2', '2: red, white ← stripes > 1']
    """

    rule_list_: RuleList

    def __init__(
        self, rules: Any = None, *, active: Literal["covers", "decides"] = "covers", sparse_output: bool = False
    ):
        self.rules = rules
        self.active = active
        self.sparse_output = sparse_output

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, **fit_params: Any) -> Self:
        """Learn the rules from instances, labels and their weights, unless they were given."""
        if self.active not in ("covers", "decides"):
            raise ValueError(f"active must be 'covers' or 'decides', got {self.active!r}")
        if isinstance(self.rules, RuleList):
            self.rule_list_ = self.rules
        else:
            from plurule.classifier import RuleListClassifier

            classifier = RuleListClassifier() if self.rules is None else clone(self.rules)
            self.rule_list_ = classifier.fit(X, y, sample_weight, **fit_params).rule_list_
        self.n_features_in_ = len(self.rule_list_.attributes)
        return self

    def transform(self, X: Any) -> Any:
        """Which rules are active: one row per instance, one column per rule."""
        check_is_fitted(self, "rule_list_")
        table = encode(X, self.rule_list_.attributes)
        steps = replay(self.rule_list_, table)
        masks = (step.covered if self.active == "covers" else np.logical_or.reduce(step.decided) for step in steps)
        rows = [np.flatnonzero(mask) for mask in masks]
        ends = np.cumsum([0, *map(len, rows)])
        indices = np.concatenate(rows) if rows else np.zeros(0, dtype=np.intp)
        shape = len(table), len(self.rule_list_)
        matrix = sp.csc_array((np.ones(len(indices), dtype=np.int8), indices, ends), shape=shape)
        return matrix.tocsr() if self.sparse_output else matrix.toarray()

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The number and the text of each rule."""
        check_is_fitted(self, "rule_list_")
        names = [f"{number}: {rule.to_text()}" for number, rule in enumerate(self.rule_list_, start=1)]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = not isinstance(self.rules, RuleList)
        # What it learns the rules from is what a classifier learns from.
        tags.classifier_tags = ClassifierTags(multi_class=False, multi_label=True)
        tags.input_tags = InputTags(sparse=True, allow_nan=True, categorical=True, string=True)
        tags.transformer_tags.preserves_dtype = []
        return tags
