"""scikit-learn's own checks of an estimator."""

from __future__ import annotations

from typing import Any

import sklearn
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version

from plurule.classifier import RuleListClassifier
from plurule.classifier_cv import RuleListClassifierCV
from plurule.lifts import KLN, NoLift


def expected_failures(estimator: Any) -> dict[str, str]:
    """None with scikit-learn 1.7 and newer."""
    if parse_version(sklearn.__version__) >= parse_version("1.7"):
        return {}
    reason = "up to 1.6 the check makes classes relative to the first row and then shuffles: it compares two problems"
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}


@parametrize_with_checks(
    [
        RuleListClassifier(),
        RuleListClassifierCV(cv=2),
        RuleListClassifierCV(protocol="paper", lifts=[NoLift(), KLN(0.1)], cv=2),
    ],
    expected_failed_checks=expected_failures,
)
def test_the_estimators_keep_the_conventions_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)
