"""Scores with intervals, beside the best constant prediction and chance."""

from __future__ import annotations

import numpy as np
import pytest

from plurule._prediction.assessment import assess, best_constant
from plurule.metrics import METRICS, scores

RANDOM = np.random.default_rng(4)
Y = (RANDOM.random((300, 4)) < [0.1, 0.3, 0.5, 0.7]).astype(int)
NOISY = np.where(RANDOM.random(Y.shape) < 0.2, 1 - Y, Y)


@pytest.mark.parametrize("weights", [None, RANDOM.random(300)])
def test_scores_lie_in_their_intervals_and_are_those_of_the_measures(weights: np.ndarray | None) -> None:
    found = assess(Y, NOISY, sample_weight=weights)
    assert {name: one.score for name, one in found.items()} == pytest.approx(scores(Y, NOISY, sample_weight=weights))
    assert all(one.low <= one.score <= one.high for one in found.values())
    for name in METRICS:
        assert found[name].constant == pytest.approx(best_constant(Y, name, weights).score)


def test_labels_that_are_in_no_row_of_some_samples_do_not_shift_intervals() -> None:
    rare = (RANDOM.random((300, 60)) < 0.01).astype(int)
    found = assess(rare, np.where(RANDOM.random(rare.shape) < 0.005, 1 - rare, rare))
    assert all(0 <= one.low <= one.score <= one.high <= 1 for one in found.values())


def test_intervals_cover_the_score_on_all_rows_also_where_rare_labels_are_missing() -> None:
    random = np.random.default_rng(0)
    shares = np.array([0.3, 0.2, 0.1, 0.05, 0.03])

    def draw(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
        truth = random.random((n_rows, 5)) < shares
        guess = random.random((n_rows, 5)) < shares
        return truth.astype(int), np.where(random.random((n_rows, 5)) < 0.8, truth, guess).astype(int)

    expected = scores(*draw(200_000))
    samples = [assess(*draw(50)) for _ in range(40)]
    for name in METRICS:
        covered = np.mean([one[name].low <= expected[name] <= one[name].high for one in samples])
        assert covered >= 0.8, name  # of 40, fewer than 32 at 95 % happen less than once in 1,000 times


def test_an_interval_is_as_wide_as_samples_differ() -> None:
    found = assess(Y, NOISY)["subset_accuracy"]
    share = found.score
    assert found.high - found.low == pytest.approx(2 * 1.96 * np.sqrt(share * (1 - share) / len(Y)), rel=0.25)


def test_chance_is_what_predictions_score_that_have_nothing_to_do_with_the_rows() -> None:
    expected = np.mean([scores(Y, NOISY[RANDOM.permutation(300)])["micro_f1"] for _ in range(50)])
    assert assess(Y, NOISY)["micro_f1"].chance == pytest.approx(expected, abs=0.02)
    assert assess(Y, np.ones_like(Y))["recall"].chance == 1


def test_the_same_data_give_the_same_figures() -> None:
    assert assess(Y, NOISY) == assess(Y, NOISY)
