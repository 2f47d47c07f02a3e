"""Measures on held-out rows: what is left out, and what is said about it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import KFold

from plurule import RuleListClassifier
from plurule.datasets import load_world_flags
from plurule.metrics import micro_f1


@pytest.fixture(scope="module")
def flags() -> Any:
    return load_world_flags()


def test_label_without_a_positive_in_some_fold_is_left_out_with_one_warning(flags: Any) -> None:
    Y = flags.Y.copy()
    Y[:, 1] = 0
    Y[[3, 40], 1] = 1
    classifier = RuleListClassifier(scoring="macro_f1", cv=3, lift=None)
    with pytest.warns(UserWarning, match="no positive of 'green' in some fold; left out of the choice") as warned:
        classifier.fit(flags.X, Y, label_names=flags.label_names)
    assert len([w for w in warned if "left out" in str(w.message)]) == 1
    assert warned[0].filename == __file__
    assert classifier.length_curve_.left_out == (flags.label_names[1],)


def test_label_without_a_negative_in_some_fold_is_left_out_where_a_scorer_needs_one(flags: Any) -> None:
    Y = flags.Y.copy()
    Y[: len(Y) // 4 + 1, 1] = 1
    classifier = RuleListClassifier(scoring="roc_auc", cv=KFold(4), max_rules=3, lift=None)
    with pytest.warns(UserWarning, match="no positive, or no negative, of 'green' in some fold") as warned:
        classifier.fit(flags.X, Y, label_names=flags.label_names)
    assert len([w for w in warned if "left out" in str(w.message)]) == 1
    assert np.isfinite(classifier.length_curve_.scores).all()
    assert "green" in classifier.length_curve_.left_out


def sometimes_undefined(classifier: Any, X: Any, Y: Any) -> float:
    return float("nan") if len(Y) == 49 else micro_f1(Y, classifier.predict(X))


def never_defined(classifier: Any, X: Any, Y: Any) -> float:
    return float("nan")


def test_fold_on_which_a_scorer_is_not_defined_is_left_out_with_one_warning(flags: Any) -> None:
    classifier = RuleListClassifier(scoring=sometimes_undefined, cv=KFold(4), max_rules=3, lift=None)
    with pytest.warns(UserWarning, match="score is not defined on fold 1 of 4; left out of the choice") as warned:
        classifier.fit(flags.X, flags.Y)
    assert len([w for w in warned if "not defined" in str(w.message)]) == 1
    assert len(classifier.length_curve_.defined) == 3


def test_scorer_that_is_never_defined_gives_the_best_constant_with_a_warning(flags: Any) -> None:
    classifier = RuleListClassifier(scoring=never_defined, cv=4, max_rules=3, lift=None)
    with pytest.warns(UserWarning, match=r"score is not defined on any fold; the best constant .* is returned"):
        classifier.fit(flags.X, flags.Y)
    assert all(not rule.body for rule in classifier.rule_list_)
    assert classifier.chosen_["how"] == "1 rule: no list can be scored"


def test_labels_that_no_fold_can_score_give_the_best_constant_with_a_warning() -> None:
    X = np.arange(12.0)[:, None]
    Y = np.eye(12, 2, dtype=int)
    with pytest.warns(UserWarning, match="no label can be scored; the best constant prediction is returned"):
        classifier = RuleListClassifier(scoring="macro_f1", cv=3).fit(X, Y)
    assert np.isnan(classifier.chosen_["constant"])
