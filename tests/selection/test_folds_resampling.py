"""Lists of rows drawn with replacement."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plurule.classifier import RuleListClassifier
from plurule.data.encoding import encode
from plurule.learning import engine as engines
from plurule.learning.options import check_options
from plurule.learning.problem import Problem
from plurule.selection.folds import draw, learn_from_samples

CHANCE = np.random.default_rng(0)
X = CHANCE.normal(size=(60, 3))
Y = np.stack([X[:, 0] > 0, X[:, 1] + X[:, 2] > 0.5], axis=1).astype(np.uint8)
PROBLEM = Problem(encode(X), ("a", "b"), Y, np.ones(60))


def options(**parameters: object) -> object:
    return check_options(RuleListClassifier(n_rules=6, **parameters).get_params(deep=False), 2)


def test_as_many_rows_are_drawn_as_there_are() -> None:
    drawn = draw(50, samples=20, random_state=0)
    assert (drawn.sum(axis=1) == 50).all()
    assert 0.3 < (drawn == 0).mean() < 0.44
    assert (draw(50, samples=20, random_state=0) == drawn).all()


def test_a_list_of_a_sample_is_that_of_the_weighted_rows() -> None:
    samples = draw(60, samples=3, random_state=1)
    exact = options(max_bins=None)
    found = learn_from_samples(PROBLEM, [exact], samples, n_jobs=2)
    assert found == learn_from_samples(PROBLEM, [exact], samples, engine="reference")
    assert found[0] == engines.learn(replace(PROBLEM, weights=samples[0].astype(float)), exact)


def test_bins_are_those_of_all_rows_and_options_take_turns() -> None:
    samples = draw(60, samples=2, random_state=1)
    found = learn_from_samples(PROBLEM, [options(max_bins=4), options(max_bins=2)], samples)
    thresholds = [
        {(c.index, c.threshold) for rule in one for c in rule.body if hasattr(c, "threshold")} for one in found
    ]
    assert all(len([t for index, t in thresholds[0] if index == i]) <= 3 for i in range(3))
    for index, threshold in thresholds[1]:
        assert (X[:, index] <= threshold).sum() == 30
