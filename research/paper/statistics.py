"""Comparing learners over several data sets: wins and losses, average ranks, Friedman's test, Nemenyi's distance.

After Demšar, *Statistical Comparisons of Classifiers over Multiple Data Sets*, 2006.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

DIGITS = 12
"""Scores that agree to this many digits are equal."""


@dataclass(frozen=True)
class Tally:
    """How often one learner was better, worse, and as good as another."""

    wins: int = 0
    losses: int = 0
    ties: int = 0

    @classmethod
    def parse(cls, text: str) -> Tally:
        """Read what was written as `wins/losses/ties`."""
        return cls(*map(int, text.split("/")))

    @property
    def lead(self) -> int:
        """By how much wins outnumber losses."""
        return self.wins - self.losses

    def __str__(self) -> str:
        return "/".join(map(str, astuple(self)))

    def __add__(self, other: Tally) -> Tally:
        return Tally(*map(sum, zip(astuple(self), astuple(other), strict=True)))


def tally(ours: ArrayLike, theirs: ArrayLike) -> Tally:
    """Wins, losses and ties of `ours` against `theirs`, more being better."""
    difference = np.round(np.asarray(ours, dtype=float) - np.asarray(theirs, dtype=float), DIGITS)
    return Tally(*(int((np.sign(difference) == sign).sum()) for sign in (1, -1, 0)))


def sign_test(result: Tally) -> float:
    """Probability of a result at least as one-sided if both were equally good; ties are shared out."""
    from scipy.stats import binomtest

    # An odd tie is left out, as Demšar suggests.
    wins, losses = result.wins + result.ties // 2, result.losses + result.ties // 2
    return float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0


def average_ranks(scores: ArrayLike) -> NDArray[np.float64]:
    """Average rank of each learner (column) over the data sets (rows); the best has rank 1, ties share ranks."""
    from scipy.stats import rankdata

    return rankdata(-np.round(np.asarray(scores, dtype=float), DIGITS), axis=1).mean(axis=0)


@dataclass(frozen=True)
class Comparison:
    """Several learners over several data sets."""

    ranks: dict[str, float]
    """Average rank of each learner."""
    n_sets: int
    p_value: float | None
    """Of Friedman's test in the form of Iman and Davenport: how likely such ranks are if all were equally good."""
    critical_difference: float | None
    """Ranks that differ by less are not told apart by Nemenyi's test."""

    def by_rank(self) -> list[tuple[str, float]]:
        """Learners and their average ranks, best first; of equal ones the first stays first."""
        return sorted(self.ranks.items(), key=lambda pair: pair[1])


def compare(names: Sequence[str], scores: ArrayLike, alpha: float = 0.05) -> Comparison:
    """Rank learners (columns of `scores`) over data sets (rows); the tests need two sets and three learners."""
    table = np.asarray(scores, dtype=float)
    n_sets, n_learners = table.shape
    ranks = dict(zip(names, average_ranks(table).tolist(), strict=True))
    if n_sets < 2 or n_learners < 3:
        return Comparison(ranks, n_sets, None, None)
    return Comparison(ranks, n_sets, friedman(table), nemenyi(n_learners, n_sets, alpha))


def friedman(scores: ArrayLike) -> float:
    """P-value of Friedman's test in the form of Iman and Davenport, which is less conservative."""
    from scipy.stats import f, friedmanchisquare

    table = np.round(np.asarray(scores, dtype=float), DIGITS)
    n_sets, n_learners = table.shape
    if np.all(table == table[:, :1]):
        return 1.0
    chi_square = float(friedmanchisquare(*table.T).statistic)
    most = n_sets * (n_learners - 1)
    if chi_square >= most:
        return 0.0
    statistic = (n_sets - 1) * chi_square / (most - chi_square)
    return float(f.sf(statistic, n_learners - 1, (n_learners - 1) * (n_sets - 1)))


def nemenyi(n_learners: int, n_sets: int, alpha: float = 0.05) -> float:
    """Critical difference of average ranks."""
    from scipy.stats import studentized_range

    quantile = float(studentized_range.ppf(1 - alpha, n_learners, np.inf)) / np.sqrt(2)
    return float(quantile * np.sqrt(n_learners * (n_learners + 1) / (6 * n_sets)))


def rank_correlation(x: ArrayLike, y: ArrayLike) -> float:
    """Spearman's correlation of ranks; 0 where one of the two does not vary."""
    from scipy.stats import spearmanr

    if min(len(np.unique(x)), len(np.unique(y))) < 2:
        return 0.0
    return round(float(spearmanr(x, y).statistic), DIGITS)
