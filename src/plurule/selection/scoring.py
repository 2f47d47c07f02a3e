"""Scores of rule lists on held-out rows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from plurule.data.targets import TargetForm
from plurule.errors import warn
from plurule.learning.problem import Problem
from plurule.metrics import Measure
from plurule.model import RuleList
from plurule.prediction.staged import score_list

SHOWN = 5
"""More labels than this are counted, not named."""


@dataclass(frozen=True, eq=False)
class Scoring:
    """A measure, and what it is computed from."""

    measure: Measure
    form: TargetForm
    """The form of labels that a scorer expects."""
    labels: NDArray[np.intp]
    """The labels that are looked at."""

    def score(self, rule_list: RuleList, rows: Problem) -> float:
        """Return the score of a list on some rows."""
        weights = rows.sample_weight
        scores = score_list(rule_list, rows.table, rows.Y, [self.measure], self.form, weights, self.labels)
        return scores[self.measure.name]

    def left_out(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the names of the labels that are not looked at."""
        kept = set(self.labels.tolist())
        return tuple(name for label, name in enumerate(names) if label not in kept)


def find_scoring(measure: Measure, form: TargetForm, problem: Problem, held_out: Sequence[Problem]) -> Scoring:
    """Return how lists are scored on groups of held-out rows.

    Where the measure is not defined without positives of a label, labels of which some group has none are left out,
    with a warning; where it is not defined without negatives either, those that lack them, too.
    """
    everything = Scoring(measure, form, np.arange(problem.n_labels))
    if not measure.needs_positives or not held_out:
        return everything
    positive = np.logical_and.reduce([rows.Y.any(axis=0) for rows in held_out])
    scoring = Scoring(measure, form, np.flatnonzero(positive))
    missing = "no positive"
    if measure.scorer is not None and positive.any() and not _is_defined(scoring, problem, held_out):
        both = positive & ~np.logical_or.reduce([rows.Y.all(axis=0) for rows in held_out])
        scoring = Scoring(measure, form, np.flatnonzero(both))
        missing = "no positive, or no negative,"
    left_out = scoring.left_out(problem.labels)
    if left_out:
        names = ", ".join(repr(name) for name in left_out[:SHOWN])
        more = f" and {len(left_out) - SHOWN} more" if len(left_out) > SHOWN else ""
        outcome = "left out of the choice" if len(scoring.labels) else "no list can be scored"
        warn(f"{measure.name}: {missing} of {names}{more} in some fold; {outcome}")
    return scoring


def _is_defined(scoring: Scoring, problem: Problem, held_out: Sequence[Problem]) -> bool:
    """Return whether a list without rules has a score on all held-out rows."""
    score = partial(scoring.score, problem.listed(()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return all(np.isfinite(score(rows)) for rows in held_out)
