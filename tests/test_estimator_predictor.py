"""What every estimator that predicts with rules has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from helpers.rule_lists import make_rules
from plurule import RelaxedPruningClassifier, RuleListClassifier


def test_what_attributes_decide_is_their_importance() -> None:
    X = np.column_stack([np.arange(12.0), np.tile([0.0, 1.0], 6), np.zeros(12)])
    Y = np.column_stack([X[:, 0] > 5, X[:, 1]]).astype(int)
    classifier = RelaxedPruningClassifier().fit(X, Y)
    importances = classifier.feature_importances_
    assert importances.sum() == pytest.approx(1.0)
    assert (importances[:2] > 0.2).all()
    assert importances[2] == 0
    assert not hasattr(RuleListClassifier(), "feature_importances_")


def test_the_decisions_of_a_rule_are_shared_by_the_attributes_that_it_tests() -> None:
    rules = make_rules("a <- x > 1 and y > 1 and y <= 3\na <- x > 0\na <-", {"x": None, "y": None, "z": None}, ("a",))
    counts = (((4.0, 2.0),), ((2.0, 0.0),), ((9.0, 9.0),))
    counted = [replace(rule, decided=decided) for rule, decided in zip(rules, counts, strict=True)]
    classifier = RuleListClassifier.from_rule_list(replace(rules, rules=tuple(counted)))
    assert classifier.feature_importances_.tolist() == [5 / 8, 3 / 8, 0]
    without = RuleListClassifier.from_rule_list(replace(rules, rules=tuple(counted[2:])))
    assert without.feature_importances_.tolist() == [0, 0, 0]


def test_a_set_of_labels_is_right_if_all_of_it_is() -> None:
    X, sets = [[0.0], [1.0], [2.0], [3.0]], [{"a"}, {"a"}, {"a", "b"}, {"a", "b"}]
    classifier = RelaxedPruningClassifier(remaining=0, min_coverage=0).fit(X, sets)
    assert classifier.score(X, [{"a"}, {"b"}, {"a", "b"}, {"a"}], sample_weight=[1, 1, 2, 4]) == pytest.approx(3 / 8)


def test_explanations_say_which_rows_they_are_of() -> None:
    X = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}, index=list("abcdef"))
    classifier = RelaxedPruningClassifier().fit(X, [[1], [1], [1], [0], [0], [0]])
    assert [one.instance for one in classifier.explain(X)] == list("abcdef")


def test_nothing_is_scored_before_there_are_rules() -> None:
    with pytest.raises(NotFittedError):
        RuleListClassifier().score([[1.0]], [[1]])


def test_it_says_that_it_takes_missing_values_and_categories_and_texts() -> None:
    tags = RuleListClassifier().__sklearn_tags__()
    assert tags.classifier_tags.multi_label
    assert tags.target_tags.multi_output
    kinds = tags.input_tags
    assert (kinds.sparse, kinds.allow_nan, kinds.categorical, kinds.string) == (True, True, True, True)
