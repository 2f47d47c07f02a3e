"""The score of a procedure on held-out rows, its standard error, and whether it is better than the best constant.

Each fold is predicted by the list that the other folds choose. The standard error is about the score of the list that
is returned, on new data. It has two parts:

- held-out rows are a sample: a jackknife leaves out groups of them (folds are drawn so that they are alike, and their
  scores vary less than those of new data), and its variance is raised by the ratio of held-out to training rows, as
  Nadeau and Bengio (2003) do, since the rows that a list is scored on are missing from its training;
- the list of all rows is another one than those of the folds: how much these differ by their scores on the same rows.
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
from plurule.selection.training_data import TrainingData

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
    by_rows = jackknife_error(by_list[1:]) ** 2 * (1 + _held_out_per_training(folds))
    by_learning = _variance_of_lists(folds, scoring, lists) * (1 + 1 / len(lists))
    return Estimate(
        float(by_list[0]),
        float(np.sqrt(by_rows + by_learning)),
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


def _held_out_per_training(folds: TrainingData) -> float:
    """Return the ratio of the weights of held-out and training rows, on average over the folds."""
    held_out = sum(rows.total_weight for fold in range(folds.n_parts) for rows in folds.held_out(fold))
    training = sum(folds.training(fold).total_weight for fold in range(folds.n_parts))
    return held_out / training


def _variance_of_lists(folds: TrainingData, scoring: Scoring, lists: Sequence[RuleList]) -> float:
    """Return the variance of the scores that lists of different folds have on the same rows, the held-out ones."""
    scores = [_leave_groups_out(folds, scoring, [rule_list] * len(lists), max_groups=1)[0] for rule_list in lists]
    return float(np.var(scores, ddof=1)) if len(lists) > 1 else 0.0


def _leave_groups_out(
    folds: TrainingData, scoring: Scoring, lists: Sequence[RuleList], max_groups: int = MAX_GROUPS
) -> Values:
    """Return the score of all held-out rows, and without each group of them."""
    if scoring.measure.scorer is not None:
        return _leave_groups_out_of_scorer(folds, scoring, lists, min(max_groups, MAX_GROUPS_OF_SCORER))
    rows = folds.predicted(lists)
    groups = draw_groups(rows.groups, max_groups)
    left = np.vstack([np.ones(len(groups), np.bool_), np.arange(groups.max(initial=-1) + 1)[:, None] != groups])
    true, predicted = (sp.csr_array(Y[:, scoring.labels], dtype=np.float64) for Y in (rows.truth, rows.labels))
    return np.array([scoring.measure.of_counts(c) for c in count_weighted(true, predicted, left * rows.weights)])


def _leave_groups_out_of_scorer(
    folds: TrainingData, scoring: Scoring, lists: Sequence[RuleList], max_groups: int
) -> Values:
    """Return the same for a scorer: the mean over the folds on which it is defined."""
    held_out = [folds.held_out_rows(fold) for fold in range(len(lists))]
    drawn = draw_groups(np.concatenate([groups for _, groups in held_out]), max_groups)
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
