"""Reported scores are those of new data, within their standard errors."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from plurule import RuleListClassifier
from plurule.metrics import micro_f1
from plurule.selection.estimate import Estimate, draw_groups


def draw(generator: np.random.Generator, n_rows: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows of which labels depend on nothing, on two attributes by thresholds, or smoothly on all: hard for rules."""
    X = generator.normal(size=(n_rows, 6))
    rates = np.tile([0.5, 0.3, 0.2, 0.4], (n_rows, 1))
    if kind == "thresholds":
        rates[:, 0] = np.where(X[:, 0] > 0.3, 0.8, 0.15)
        rates[:, 1] = np.where((X[:, 0] > 0.3) & (X[:, 1] < 0.5), 0.7, 0.1)
    elif kind == "smooth":
        rates = 1 / (1 + np.exp(0.8 - 1.2 * X[:, :4] - 0.8 * X[:, [1, 2, 3, 0]]))
    return X, (generator.random(rates.shape) < rates).astype(int)


def simulate(n_rows: int, kind: str, times: int) -> tuple[float, float]:
    """Return how often the 95 % interval covers the score on new data, and how often a list is learned."""
    generator = np.random.default_rng(n_rows)
    covered = 0
    lists = 0
    for _ in range(times):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            classifier = RuleListClassifier().fit(*draw(generator, n_rows, kind))
        X, Y = draw(generator, 20_000, kind)
        chosen = classifier.chosen_
        covered += abs(micro_f1(Y, classifier.predict(X)) - chosen["score"]) <= 1.96 * chosen["standard_error"]
        lists += any(rule.body for rule in classifier.rule_list_)
    return covered / times, lists / times


@pytest.mark.parametrize("n_rows", [60, 200])
def test_noise_gives_the_constant_and_an_honest_score(n_rows: int) -> None:
    covered, lists = simulate(n_rows, "noise", times=20)
    assert covered >= 0.7
    assert lists <= 0.15


@pytest.mark.parametrize("kind", ["thresholds", "smooth"])
def test_signal_gives_a_list_and_an_honest_score(kind: str) -> None:
    covered, lists = simulate(200, kind, times=10)
    assert covered >= 0.7
    assert lists >= 0.7


@pytest.mark.long
@pytest.mark.parametrize("n_rows", [60, 200, 800, 2000])
@pytest.mark.parametrize("kind", ["noise", "thresholds", "smooth"])
def test_intervals_cover_the_score_on_new_data(n_rows: int, kind: str) -> None:
    covered, lists = simulate(n_rows, kind, times=300)
    assert covered >= (0.85 if n_rows == 60 else 0.9)
    assert n_rows == 60 or covered <= 0.98
    if kind == "noise":
        assert lists <= 0.05
    elif n_rows >= 200:
        assert lists >= 0.85


def test_groups_that_are_left_out_keep_rows_together() -> None:
    groups = np.random.default_rng(0).integers(0, 30, 200)
    drawn = draw_groups(groups, 10)
    assert set(drawn) == set(range(10))
    assert all(len(set(drawn[groups == group])) == 1 for group in range(30))


def test_estimate_is_better_if_the_gain_is_more_than_chance() -> None:
    assert Estimate(0.52, 0.03, 0.50, 0.03, gain_error=0.01).is_better
    assert not Estimate(0.52, 0.01, 0.50, 0.01, gain_error=0.02).is_better
    assert not Estimate(0.50, 0.0, 0.50, 0.0, gain_error=0.0).is_better
