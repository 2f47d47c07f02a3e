"""Validation inside training: rule lists grown on parts of the training data and scored on the rest.

What is expensive is done once: columns are ranked once per part for all candidates, and one pass over the rules of a
list scores all its prefixes. Lists are not grown to their end only to be cut: a few rules first, and twice as many as
long as the best length might lie further on.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule.data.inputs import TargetForm
from plurule.data.splitting import IterativeStratifiedKFold, iterative_split
from plurule.data.table import Table
from plurule.errors import ParameterError
from plurule.learning import engine as engines
from plurule.learning import native
from plurule.learning.engine import Engine
from plurule.learning.problem import Options, Problem
from plurule.model import RuleList
from plurule.prediction.scoring import Scoring
from plurule.prediction.staged import staged_measures, staged_scores
from plurule.selection.lengths import LengthCurve, curve_of

Rows = NDArray[np.intp]
Values = NDArray[np.float64]

FIRST_LIMIT = 50
"""Lists are first grown to this length."""
GROUPS = 5
"""A single validation part is scored in so many groups, to know how far its score can be trusted."""
SHOWN = 5
"""More labels than this are counted, not named."""


@dataclass(frozen=True)
class Part:
    """The rows that lists are grown on, and the groups of other rows that they are scored on."""

    train: Rows
    groups: tuple[Rows, ...]


def make_parts(cv: Any, Y: NDArray[np.uint8], positions: Rows | None = None) -> list[Part]:
    """The parts of the training data.

    Parameters
    ----------
    cv
        Number of folds, share of the rows to hold out, a scikit-learn splitter, or splits.
    Y
        The labels, whose shares folds and held-out rows keep. Nothing is left to chance.
    positions
        Where each row of `Y` is in the data that splits, if they are given as such, are about: without the rows of
        weight 0. Unless given, it is the same data.
    """
    is_number = isinstance(cv, Real) and not isinstance(cv, bool)
    if is_number and isinstance(cv, Integral):
        if cv < 2:
            raise ParameterError.expected("cv", cv, "at least 2 folds, or a share between 0 and 1")
        n_folds = min(int(cv), len(Y))
        if n_folds < 2:
            return []
        return [Part(train, (test,)) for train, test in IterativeStratifiedKFold(n_folds).split(Y, Y)]
    if is_number:
        share = float(cv)
        if not 0 < share < 1:
            raise ParameterError.expected("cv", cv, "at least 2 folds, or a share between 0 and 1")
        train, test = iterative_split(Y, [1 - share, share], shuffle=False)
        n_groups = min(GROUPS, len(test))
        if n_groups < 2 or not len(train):
            return []
        groups = iterative_split(Y[test], [1.0] * n_groups, shuffle=False)
        return [Part(train, tuple(test[group] for group in groups if len(group)))]
    return [Part(train, (test,)) for train, test in given_splits(cv, Y, positions)]


def hold_out(problem: Problem, positions: Rows, share: float) -> tuple[Problem, Rows, Problem | None]:
    """The problem without a share of its rows, where the others are, and those rows; None if there are too few."""
    kept, held_out = iterative_split(problem.Y, [1 - share, share], shuffle=False)
    if not len(kept) or not len(held_out):
        return problem, positions, None
    return _part_of(problem, kept), positions[kept], _part_of(problem, held_out)


def given_splits(cv: Any, Y: NDArray[np.uint8], positions: Rows | None = None) -> list[tuple[Rows, Rows]]:
    """What a splitter, or splits, give."""
    from sklearn.model_selection import check_cv

    allowed = "a number of folds, a share between 0 and 1, a splitter of scikit-learn or splits"
    if isinstance(cv, bool | str) or not (hasattr(cv, "split") or hasattr(cv, "__iter__")):
        raise ParameterError.expected("cv", cv, allowed)
    truth = Y[:, 0] if Y.shape[1] == 1 else Y
    splits = check_cv(cv, truth, classifier=True).split(np.zeros((len(Y), 1)), truth)
    if positions is not None and not hasattr(cv, "split"):
        splits = ((np.flatnonzero(np.isin(positions, rows)) for rows in split) for split in splits)
    return [(np.sort(np.asarray(train, dtype=np.intp)), np.asarray(test, dtype=np.intp)) for train, test in splits]


@dataclass(frozen=True, eq=False)
class Folds:
    """A training problem in parts."""

    problem: Problem
    parts: Sequence[Part]
    form: TargetForm
    engine: Engine = "native"
    n_jobs: int = 1
    both: bool = False
    """Whether a label takes part only if there are negatives of it, too."""

    def fit_for(self, scoring: Scoring) -> Folds:
        """The same for a scorer that is not defined where a label is present in all rows, as the area under a curve."""
        if self.both or scoring.scorer is None or not len(self.kept):
            return self
        nothing = RuleList((), self.problem.table.attributes, self.problem.labels)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            curve = self._score([nothing for _ in self.parts], scoring, ())[scoring.name]
        return self if len(curve.defined) == len(curve.scores) else replace(self, both=True)

    @cached_property
    def kept(self) -> Rows:
        """The labels of which every group of rows that is scored has a positive."""
        groups = [self.problem.Y[group] for part in self.parts for group in part.groups]
        everywhere = [Y.any(axis=0) & (not self.both or ~Y.all(axis=0)) for Y in groups]
        return np.flatnonzero(np.logical_and.reduce(everywhere)) if everywhere else np.zeros(0, dtype=np.intp)

    @cached_property
    def left_out(self) -> tuple[str, ...]:
        """Names of the other labels."""
        kept = set(self.kept.tolist())
        return tuple(label for i, label in enumerate(self.problem.labels) if i not in kept)

    def can_choose(self, what: str) -> bool:
        """Whether there is anything to choose by; says which labels cannot be looked at."""
        if not self.parts:
            warnings.warn(f"{what}: too few rows to hold some out; nothing is chosen", stacklevel=3)
            return False
        if self.left_out:
            names = ", ".join(repr(name) for name in self.left_out[:SHOWN])
            more = f" and {len(self.left_out) - SHOWN} more" if len(self.left_out) > SHOWN else ""
            outcome = "left out of the choice" if len(self.kept) else "nothing is chosen"
            where = "in some part of the validation data"
            lacking = "no positive, or no negative," if self.both else "no positive"
            warnings.warn(f"{what}: {lacking} of {names}{more} {where}; {outcome}", stacklevel=3)
        return len(self.kept) > 0

    @cached_property
    def _problems(self) -> list[Problem]:
        return [_part_of(self.problem, part.train) for part in self.parts]

    @cached_property
    def _held_out(self) -> list[list[Table]]:
        return [[self.problem.table[group] for group in part.groups] for part in self.parts]

    @cached_property
    def _columns(self) -> dict[tuple[int, int | None], Any]:
        return {}

    def prepare(self, max_bins: Iterable[int | None]) -> None:
        """Rank the columns of every part, once for all lists that are learned from it."""
        if self.engine != "native":
            return
        for bins in set(max_bins):
            missing = [i for i in range(len(self.parts)) if (i, bins) not in self._columns]
            if bins is None and missing:
                everything = native.prepare(self.problem.table)
                for i in missing:
                    self._columns[i, None] = everything.subset(self.parts[i].train.astype(np.int32))
            elif missing:
                for i in missing:
                    part = self._problems[i]
                    weights = None if np.all(part.weights == 1.0) else part.weights
                    self._columns[i, bins] = native.prepare(part.table, bins, weights)

    def learn(self, part: int, options: Options) -> RuleList:
        """A list from the rows of one part."""
        problem = self._problems[part]
        if self.engine != "native" or not engines.native_knows(options):
            return engines.learn(problem, options, self.engine, self.n_jobs)
        self.prepare([options.max_bins])
        return native.learn(problem, options, self.n_jobs, columns=self._columns[part, options.max_bins])

    def curves(self, options: Options, scoring: Scoring, also: Iterable[str] = ()) -> dict[str, LengthCurve]:
        """Scores of the lists by length, as far as it takes to know which length is best.

        Parameters
        ----------
        options
            Of the learner; its `n_rules` is the most that lists are grown to.
        scoring
            What lengths are compared by.
        also
            Measures of `plurule.metrics` to compute besides.

        Returns
        -------
        dict of str to LengthCurve
            By name of the measure; empty if no rule is found in any part.
        """
        limit, finished = FIRST_LIMIT, False
        while not finished:
            curves, finished = self.grown_to(limit, options, scoring, also)
            limit *= 2
        return curves

    def grown_to(
        self, limit: int, options: Options, scoring: Scoring, also: Iterable[str] = ()
    ) -> tuple[dict[str, LengthCurve], bool]:
        """The scores of lists of at most so many rules, and whether longer ones are not worth it."""
        most = limit if options.n_rules is None else min(limit, options.n_rules)
        lists = [self.learn(part, replace(options, n_rules=most)) for part in range(len(self.parts))]
        if not any(lists):
            return {}, True
        curves = self._score(lists, scoring, also)
        if not len(curves[scoring.name].defined):
            return curves, True
        ended = most == options.n_rules or all(len(rules) < most for rules in lists)
        return curves, ended or is_far_enough(curves[scoring.name], most)

    def _score(self, lists: Sequence[RuleList], scoring: Scoring, also: Iterable[str]) -> dict[str, LengthCurve]:
        measures = [name for name in dict.fromkeys((scoring.name, *also)) if name != scoring.name or not scoring.scorer]
        scores: dict[str, list[Values]] = {name: [] for name in (scoring.name, *measures)}
        for rules, part, tables in zip(lists, self.parts, self._held_out, strict=True):
            for rows, table in zip(part.groups, tables, strict=True):
                known = self.problem.weights[rows]
                held_out = (rules, table, self.problem.Y[rows])
                weights = None if np.all(known == 1.0) else known
                for name, values in staged_measures(*held_out, measures, weights, self.kept).items():
                    scores[name].append(values)
                if scoring.scorer is not None:
                    scores[scoring.name].append(staged_scores(*held_out, scoring, self.form, weights, self.kept))
        # What a list of no rules scores is where the scores start, but it is no list to choose.
        conditions = [_from_one_rule(np.cumsum([0, *(len(rule.body) for rule in rules)])) for rules in lists]
        at_least = max(1, len(self.problem.initial_rules))
        return {
            name: curve_of(name, [_from_one_rule(v) for v in values], conditions, self.left_out, at_least)
            for name, values in scores.items()
        }


def say_undefined(what: str, curves: Iterable[LengthCurve]) -> None:
    """Say that scores are not defined on some parts of the validation data, if that is so."""
    odd = [curve for curve in curves if len(curve.defined) < len(curve.scores)]
    if odd:
        worst = min(odd, key=lambda curve: len(curve.defined))
        parts = f"{len(worst.scores) - len(worst.defined)} of {len(worst.scores)} parts of the validation data"
        outcome = "they are left out of the choice" if len(worst.defined) else "nothing is chosen by it"
        warnings.warn(f"{what}: {worst.measure} is not defined on {parts}; {outcome}", stacklevel=3)


def is_far_enough(curve: LengthCurve, grown: int) -> bool:
    """Whether lists are long enough to believe that longer ones are not worth it.

    So it is if the best length lies well behind, or if the second half of the rules gained no more than one standard
    error.

    >>> flat, rising = np.array([[0.5, 0.6, 0.62, 0.61], [0.4, 0.6, 0.58, 0.6]]), np.array([[0.1, 0.2, 0.3, 0.4]] * 2)
    >>> [is_far_enough(LengthCurve("micro_f1", scores, np.arange(4.0)), grown=4) for scores in (flat, rising)]
    [True, False]
    """
    best = curve.best
    if grown >= best + max(10, best // 2):
        return True
    mean = curve.mean
    first_half = mean[curve.at_least - 1 : (grown + 1) // 2]
    return bool(len(first_half) and first_half.max() >= mean[best - 1] - curve.standard_error[best - 1])


def _from_one_rule(values: NDArray[Any]) -> Values:
    """Without the score of no rules, unless that is all there is."""
    return np.asarray(values[1:] if len(values) > 1 else values, dtype=np.float64)


def _part_of(problem: Problem, rows: Rows) -> Problem:
    return replace(problem, table=problem.table[rows], Y=problem.Y[rows], weights=problem.weights[rows])
