"""Weights of rows find their way through searches, cross-validation and pipelines (scikit-learn's metadata routing)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn import clone, config_context
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from plurule import RelaxedPruningClassifier, RelaxedPruningClassifierCV, RuleListClassifier

RANDOM = np.random.default_rng(0)
X = RANDOM.integers(0, 6, size=(60, 3)).astype(float)
Y = np.column_stack([X[:, 0] > 2, (X[:, 1] > 1) ^ (RANDOM.random(60) < 0.2)]).astype(int)
WEIGHTS = RANDOM.integers(0, 4, 60).astype(float)
ONE_LIST = RelaxedPruningClassifier(max_rules=3)
ESTIMATORS = {
    "RuleListClassifier": RuleListClassifier(max_rules=3),
    "RelaxedPruningClassifier": ONE_LIST,
    "RelaxedPruningClassifierCV": RelaxedPruningClassifierCV(ONE_LIST, lifts=[None, "kln"], cv=2),
}


@pytest.fixture(autouse=True)
def _routing() -> Iterator[None]:
    with config_context(enable_metadata_routing=True):
        yield


@pytest.fixture(params=ESTIMATORS)
def estimator(request: pytest.FixtureRequest) -> Any:
    chosen = clone(ESTIMATORS[request.param])
    return chosen.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)


def test_cross_validation_gives_every_fold_its_weights(estimator: Any) -> None:
    folds = KFold(3)
    found = cross_validate(estimator, X, Y, cv=folds, params={"sample_weight": WEIGHTS}, return_estimator=True)
    for fitted, score, (train, test) in zip(found["estimator"], found["test_score"], folds.split(X), strict=True):
        expected = clone(estimator).fit(X[train], Y[train], sample_weight=WEIGHTS[train])
        assert score == expected.score(X[test], Y[test], sample_weight=WEIGHTS[test])
        np.testing.assert_array_equal(fitted.predict(X), expected.predict(X))


def test_a_search_gives_weights_to_its_candidates(estimator: Any) -> None:
    grid = {"n_jobs": [1, 2]}
    search = GridSearchCV(estimator, grid, cv=KFold(2)).fit(X, Y, sample_weight=WEIGHTS)
    expected = clone(estimator).fit(X, Y, sample_weight=WEIGHTS)
    np.testing.assert_array_equal(search.predict(X), expected.predict(X))
    assert search.score(X, Y, sample_weight=WEIGHTS) == expected.score(X, Y, sample_weight=WEIGHTS)


def test_a_pipeline_gives_weights_to_its_last_step(estimator: Any) -> None:
    fitted = make_pipeline(MinMaxScaler(), estimator).fit(X, Y, sample_weight=WEIGHTS)
    scaled = MinMaxScaler().fit_transform(X)
    expected = clone(estimator).fit(scaled, Y, sample_weight=WEIGHTS)
    assert fitted.score(X, Y, sample_weight=WEIGHTS) == expected.score(scaled, Y, sample_weight=WEIGHTS)


def test_weights_that_nobody_asked_for_are_refused() -> None:
    with pytest.raises(ValueError, match="sample_weight"):
        cross_validate(clone(ONE_LIST), X, Y, params={"sample_weight": WEIGHTS}, error_score="raise")
