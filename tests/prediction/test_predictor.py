"""What every estimator that predicts with rules has."""

from __future__ import annotations

import numpy as np
import pytest

from plurule import RuleListClassifier


def test_what_attributes_decide_is_their_importance() -> None:
    X = np.column_stack([np.arange(12.0), np.tile([0.0, 1.0], 6), np.zeros(12)])
    Y = np.column_stack([X[:, 0] > 5, X[:, 1]]).astype(int)
    classifier = RuleListClassifier.published().fit(X, Y)
    importances = classifier.feature_importances_
    assert importances.sum() == pytest.approx(1.0)
    assert (importances[:2] > 0.2).all()
    assert importances[2] == 0
    assert not hasattr(RuleListClassifier(), "feature_importances_")
