"""Comparing learners: small tables that can be checked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import f, friedmanchisquare

from research.paper.figures import _indistinct
from research.paper.statistics import (
    Tally,
    average_ranks,
    compare,
    friedman,
    nemenyi,
    rank_correlation,
    sign_test,
    tally,
)


def test_wins_losses_and_ties_are_counted():
    assert tally([0.5, 0.6, 0.7, 0.8], [0.4, 0.7, 0.7, 0.8]) == Tally(1, 1, 2)


def test_scores_that_differ_by_rounding_only_are_ties():
    assert tally([0.1 + 0.2], [0.3]) == Tally(0, 0, 1)


def test_tallies_add_up():
    assert Tally(1, 2, 3) + Tally(4, 0, 1) == Tally(5, 2, 4)


def test_a_tally_is_read_as_it_is_written():
    assert Tally.parse(str(Tally(3, 1, 2))) == Tally(3, 1, 2)


def test_the_best_has_rank_1_and_ties_share_their_ranks():
    assert average_ranks([[0.9, 0.8, 0.9, 0.1]]).tolist() == [1.5, 3.0, 1.5, 4.0]


@pytest.mark.parametrize(
    # Critical values q of Demšar (2006), Table 5: for 0.05 and 2, 4, 10 learners.
    ("learners", "quantile"),
    [(2, 1.960), (4, 2.569), (10, 3.164)],
)
def test_nemenyis_distance_uses_the_published_quantiles(learners: int, quantile: float):
    expected = quantile * np.sqrt(learners * (learners + 1) / (6 * 7))
    assert nemenyi(learners, n_sets=7) == pytest.approx(expected, rel=1e-3)


def test_friedmans_test_in_the_form_of_iman_and_davenport():
    def statistic(chi_square: float) -> float:
        return 13 * chi_square / (14 * 3 - chi_square)

    # Demšar (2006): chi square 9.28 over 14 sets and 4 learners gives F = 3.69 with 3 and 39 degrees of freedom.
    assert statistic(9.28) == pytest.approx(3.69, abs=0.01)
    scores = np.random.default_rng(0).random((14, 4))
    expected = f.sf(statistic(friedmanchisquare(*scores.T).statistic), 3, 39)
    assert friedman(scores) == pytest.approx(expected)


def test_equal_learners_are_not_told_apart_and_ordered_ones_are():
    assert friedman(np.ones((5, 3))) == 1.0
    assert friedman(np.tile([0.1, 0.2, 0.3], (5, 1))) == 0.0


def test_too_few_sets_or_learners_are_ranked_but_not_tested():
    one = compare(["a", "b", "c"], [[0.1, 0.2, 0.3]])
    assert (one.by_rank()[0], one.p_value, one.critical_difference) == (("c", 1.0), None, None)
    two = compare(["a", "b"], [[0.1, 0.2], [0.3, 0.1]])
    assert two.critical_difference is None


def test_the_sign_test_is_symmetric_and_shares_ties():
    assert sign_test(Tally(9, 1, 0)) == sign_test(Tally(1, 9, 0))
    assert sign_test(Tally(5, 5, 0)) == sign_test(Tally(0, 0, 10)) == 1.0
    assert sign_test(Tally(0, 0, 0)) == 1.0


def test_rank_correlation_of_a_constant_is_zero():
    assert rank_correlation([1, 2, 3], [5, 5, 5]) == 0.0
    assert rank_correlation([1.0, 1.1, 1.2], [9, 5, 1]) == -1.0


@pytest.mark.parametrize(
    ("distance", "expected"),
    [(1.5, [(1.0, 2.0), (2.0, 3.0)]), (5.0, [(1.0, 3.0)]), (0.5, []), (None, [])],
)
def test_ranks_within_the_critical_difference_are_joined(distance: float | None, expected: list[tuple[float, float]]):
    assert _indistinct((1.0, 2.0, 3.0), distance) == expected
