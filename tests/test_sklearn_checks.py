"""scikit-learn's own checks of an estimator."""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from plurule.classifier import RuleListClassifier


@parametrize_with_checks([RuleListClassifier()])
def test_the_estimators_keep_the_conventions_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)
