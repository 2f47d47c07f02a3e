"""The score of a procedure on held-out rows, its standard error, and whether it is better than the best constant.

Each fold is predicted by the list that the other folds choose. The standard error is that of a jackknife which leaves
out groups of rows: folds are drawn so that they are alike, and their scores vary less than those of new data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from plurule.metrics import count_weighted
from plurule.model import RuleList
from plurule.selection.folds import rows_of
from plurule.selection.scoring import Scoring
from plurule.selection.training_data import HeldOutRows, TrainingData

Values = NDArray[np.float64]

MAX_GROUPS = 100
"""Groups of rows that the jackknife leaves out, one after the other."""
MAX_GROUPS_OF_SCORER = 20
"""The same where every score is a call of a scorer."""
Z = 1.6448536269514722
"""The 95 % quantile of the normal distribution: a list replaces the constant if chance does so in one of 20 cases."""


class Estimate(NamedTuple):
    """A score on held-out rows, beside that of the best constant prediction."""

    score: float
    error: float
    """Its standard error."""
    constant: float
    constant_error: float
    gain_error: float
    """The standard error of the difference of the two scores."""

    @property
    def is_better(self) -> bool:
        """Whether the score is above that of the constant by more than chance."""
        return bool(self.score - self.constant > Z * self.gain_error)


def estimate(
    folds: TrainingData, scoring: Scoring, lists: Sequence[RuleList], constants: Sequence[RuleList]
) -> Estimate:
    """Return the score of a list for each fold, which its held-out rows had no part in, and of constants."""
    by_list, by_constant = (_leave_groups_out(folds, scoring, one) for one in (lists, constants))
    return Estimate(
        float(by_list[0]),
        jackknife_error(by_list[1:]),
        float(by_constant[0]),
        jackknife_error(by_constant[1:]),
        jackknife_error(by_list[1:] - by_constant[1:]),
    )


def jackknife_error(scores: Values) -> float:
    """Return the standard error of a score from its values without each of some groups of equal size.

    >>> values = np.arange(10.0)
    >>> without_each = (values.sum() - values) / 9
    >>> bool(np.isclose(jackknife_error(without_each), values.std(ddof=1) / 10**0.5))
    True
    """
    if len(scores) < 2:
        return 0.0
    return float(np.sqrt((len(scores) - 1) * np.mean((scores - scores.mean()) ** 2)))


def _leave_groups_out(folds: TrainingData, scoring: Scoring, lists: Sequence[RuleList]) -> Values:
    """Return the score of all held-out rows, and without each group of them."""
    if scoring.measure.scorer is not None:
        return _leave_groups_out_of_scorer(folds, scoring, lists)
    rows = HeldOutRows.join([folds.predicted(fold, rule_list) for fold, rule_list in enumerate(lists)])
    groups = draw_groups(rows.groups, MAX_GROUPS)
    left = np.vstack([np.ones(len(groups), np.bool_), np.arange(groups.max(initial=-1) + 1)[:, None] != groups])
    true, predicted = (sp.csr_array(Y[:, scoring.labels], dtype=np.float64) for Y in (rows.truth, rows.labels))
    return np.array([scoring.measure.of_counts(c) for c in count_weighted(true, predicted, left * rows.weights)])


def _leave_groups_out_of_scorer(folds: TrainingData, scoring: Scoring, lists: Sequence[RuleList]) -> Values:
    """Return the same for a scorer: the mean over the folds on which it is defined."""
    held_out = [folds.held_out_rows(fold) for fold in range(len(lists))]
    drawn = draw_groups(np.concatenate([groups for _, groups in held_out]), MAX_GROUPS_OF_SCORER)
    drawn_of_folds = np.split(drawn, np.cumsum([len(groups) for _, groups in held_out])[:-1])
    scores = []
    for left_out in range(-1, int(drawn.max(initial=-1)) + 1):
        of_folds = []
        for rule_list, (rows, _), of_fold in zip(lists, held_out, drawn_of_folds, strict=True):
            kept = np.flatnonzero(of_fold != left_out)
            if len(kept):
                of_folds.append(scoring.score(rule_list, rows_of(rows, kept)))
        scores.append(np.nanmean(of_folds) if np.isfinite(of_folds).any() else np.nan)
    return np.array(scores)


def draw_groups(groups: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """Return the group of each row in at most so many larger groups, at random; rows that belong together stay so."""
    places = np.unique(groups, return_inverse=True)[1].ravel()
    n_groups = int(places.max(initial=-1)) + 1
    order = np.random.default_rng(0).permutation(n_groups)
    return order[places] % min(most, max(n_groups, 1))
