"""Weights: in units of their own, and exact in every sum."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plurule import RelaxedPruningClassifier
from plurule._learning.problem import check_weights, exact_weights


@pytest.mark.parametrize(
    ("given_weights", "expected"),
    [
        ([1, 2, 3], [1, 2, 3]),
        ([2, 3], [2, 3]),
        ([0.1, 0.2, 0.3], [1, 2, 3]),
        ([0.7, 2.1, 0.0], [1, 3, 0]),
        ([4, 4, 4], [1, 1, 1]),
        ([1e-300] * 3, [1, 1, 1]),
        ([1e308] * 3, [1, 1, 1]),
        ([1 / 3, 2 / 3], [1, 2]),
    ],
)
def test_weights_are_counted_in_the_greatest_unit_of_which_they_are_multiples(
    given_weights: list[float], expected: list[float]
) -> None:
    assert check_weights(given_weights, len(given_weights), n_labels=4).tolist() == expected


def test_one_number_weighs_every_row() -> None:
    assert check_weights(3, n_rows=2, n_labels=5).tolist() == [1.0, 1.0]


def test_weights_without_a_common_unit_are_counted_in_units_of_their_mean() -> None:
    for odd in ([1, np.sqrt(2), np.pi], [1e-6, 1.0, 1.0]):
        weights = check_weights(odd, 3, n_labels=1)
        np.testing.assert_allclose(weights, np.array(odd) / np.mean(odd), atol=1e-8)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=20).filter(any), st.sampled_from([0.1, 1e-100, 1e100, 1 / 3]))
def test_a_common_factor_makes_no_difference(multiples: list[int], factor: float) -> None:
    weights = np.array(multiples, dtype=float)
    scaled = check_weights(factor * weights, len(weights), n_labels=3)
    np.testing.assert_array_equal(scaled, weights / np.gcd.reduce(multiples))


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=30), st.integers(1, 50))
def test_sums_are_exact_in_any_order(weights: list[float], n_labels: int) -> None:
    exact = exact_weights(np.array(weights), n_labels)
    total = sum(Fraction(w) for w in exact.tolist()) * n_labels
    assert Fraction(float(np.sum(np.tile(exact, n_labels)))) == total
    assert Fraction(sum(sorted(np.tile(exact, n_labels).tolist()))) == total


def test_rounded_weights_do_not_keep_a_rule_below_the_least_coverage() -> None:
    X, Y = [[1.0], [1.0], [1.0]], [[1], [1], [1]]
    for weight, least in ((0.7, 2.1), (0.1, 3), (1, 3)):
        fitted = RelaxedPruningClassifier(min_coverage=least).fit(X, Y, [weight] * 3)
        assert len(fitted.rule_list_) == 1
