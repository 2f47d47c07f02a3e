"""scikit-learn's own checks of an estimator."""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from plurule.classifier import RuleListClassifier
from plurule.classifier_cv import RuleListClassifierCV
from plurule.lifts import KLN, NoLift


@parametrize_with_checks([RuleListClassifier(), RuleListClassifierCV(lifts=[NoLift(), KLN(0.1)], cv=2)])
def test_the_estimators_keep_the_conventions_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)
