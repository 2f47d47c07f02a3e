"""Parts of the training data: lists are learned from some rows and scored on others.

What is expensive is done once: columns are ranked once, cut to each part once, and shared by all lists that are learned
from it.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from plurule.data import Dataset
from plurule.data.splitting import IterativeStratifiedKFold, copies, iterative_split
from plurule.data.table import Table
from plurule.errors import ParameterError, PluruleError, warn
from plurule.label_matrix import dense
from plurule.learning import engine as engines
from plurule.learning import native
from plurule.learning.covering import Progress
from plurule.learning.engine import Engine
from plurule.learning.problem import Options, Problem, check_weights
from plurule.model import Rule, RuleList
from plurule.prediction.apply import decide
from plurule.selection.pool import (
    Body,
    Choice,
    SelectionCriterion,
    SelectionLimits,
    choices_key,
    counted,
    initial_decisions,
    rules_of,
    satisfied,
    select_here,
    staged_selection,
)
from plurule.selection.scoring import Scoring
from plurule.selection.training_data import HeldOutRows, Selection, TrainingData

Rows = NDArray[np.intp]

MANY_COPIES = 0.01
"""More copies than this share of the rows are reported."""
GROUPS = 5
"""A single validation part is scored in so many groups, to know how far its score can be trusted."""

_preparing = threading.RLock()


@dataclass(frozen=True)
class Part:
    """The rows that lists are learned from, and the groups of rows that they are scored on."""

    train: Rows
    groups: tuple[Rows, ...] = ()


def make_parts(cv: Any, Y: NDArray[np.uint8], positions: Rows | None = None, groups: Rows | None = None) -> list[Part]:
    """The parts of the training data: `cv` is a number of folds, a share to hold out, a splitter, or splits.

    Folds and held-out rows keep the shares of the labels and never divide a group of rows; nothing is left to chance.
    Splits that are given as such may be about data with more rows (of weight 0); `positions` says where in them each
    row of `Y` is.
    """
    is_number = isinstance(cv, Real) and not isinstance(cv, bool)
    if is_number and not (0 < float(cv) < 1 or (isinstance(cv, Integral) and int(cv) >= 2)):
        raise ParameterError.expected("cv", cv, "at least 2 folds, or a share between 0 and 1")
    if is_number and isinstance(cv, Integral):
        n_folds = min(int(cv), len(Y) if groups is None else len(np.unique(groups)))
        if n_folds < 2:
            return []
        return [Part(train, (test,)) for train, test in IterativeStratifiedKFold(n_folds).split(Y, Y, groups)]
    if is_number:
        train, test = iterative_split(Y, [1 - float(cv), float(cv)], shuffle=False, groups=groups)
        n_groups = min(GROUPS, len(test))
        if n_groups < 2 or not len(train):
            return []
        test_groups = iterative_split(Y[test], [1.0] * n_groups, shuffle=False)
        return [Part(train, tuple(test[group] for group in test_groups if len(group)))]
    return [Part(train, (test,)) for train, test in _given_splits(cv, Y, positions, groups)]


def warn_of_copies(groups: Rows) -> None:
    """Warn if many rows are copies of others."""
    n_copies = len(groups) - len(np.unique(groups))
    if n_copies > MANY_COPIES * len(groups):
        many = f"{n_copies} of {len(groups)} rows are copies of others, with the same attributes and labels"
        warn(f"{many}; a row and its copies are held out together")


def _given_splits(
    cv: Any, Y: NDArray[np.uint8], positions: Rows | None = None, groups: Rows | None = None
) -> list[tuple[Rows, Rows]]:
    """What a splitter, or splits, give; rows ascending."""
    from sklearn.model_selection import check_cv

    allowed = "a number of folds, a share between 0 and 1, a splitter of scikit-learn or splits"
    if isinstance(cv, bool | str) or not (hasattr(cv, "split") or hasattr(cv, "__iter__")):
        raise ParameterError.expected("cv", cv, allowed)
    truth = Y[:, 0] if Y.shape[1] == 1 else Y
    try:
        found = list(check_cv(cv, truth, classifier=True).split(np.zeros((len(Y), 1)), truth, groups))
    except (TypeError, ValueError) as error:
        raise PluruleError(f"{cv!r} cannot split these data: {error}") from None
    if positions is not None and not hasattr(cv, "split"):
        found = [tuple(np.flatnonzero(np.isin(positions, rows)) for rows in split) for split in found]
    splits = [(np.sort(np.asarray(a, dtype=np.intp)), np.sort(np.asarray(b, dtype=np.intp))) for a, b in found]
    empty = next((i for i, (train, test) in enumerate(splits) if not len(train) or not len(test)), None)
    if empty is not None:
        raise PluruleError(f"{cv!r} leaves a part of fold {empty + 1} empty; use fewer folds")
    return splits


def rows_of(problem: Problem, rows: Rows) -> Problem:
    """The problem with some of its rows."""
    return replace(problem, table=problem.table[rows], Y=problem.Y[rows], weights=problem.weights[rows])


def problem_of(data: Dataset) -> Problem:
    """A data set as the engines want it."""
    weights = check_weights(data.weights, len(data), len(data.label_names))
    return Problem(data.X, tuple(data.label_names), dense(data.Y).view(np.uint8), weights)


@dataclass(frozen=True, eq=False)
class Folds(TrainingData):
    """A training problem in parts, with all rows in memory."""

    problem: Problem
    parts: Sequence[Part]
    engine: Engine = "native"
    n_jobs: int = 1
    groups: Rows | None = None
    """The group of each row; rows of a group are held out together."""

    @property
    def n_parts(self) -> int:
        return len(self.parts)

    def split(self, cv: Any, positions: Rows | None = None) -> Self:
        groups = self.groups
        if groups is None:
            groups = copies(self.problem.table, self.problem.Y)
            warn_of_copies(groups)
        with warnings.catch_warnings():
            if self.groups is None:
                warnings.filterwarnings("ignore", "The groups parameter is ignored")  # nobody gave any
            parts = make_parts(cv, self.problem.Y, positions, groups)
        return replace(self, parts=parts, groups=groups)

    def everything(self) -> Self:
        return replace(self, parts=[Part(np.arange(self.problem.n_instances))])

    def held_out(self, part: int) -> list[Problem]:
        """The rows that lists of a part are scored on, by group."""
        groups = self.parts[part].groups
        return self._cached(("held out", part), lambda: [rows_of(self.problem, group) for group in groups])

    def training(self, part: int) -> Problem:
        """The rows that lists of a part are learned from."""
        rows = self.parts[part].train
        if len(rows) == self.problem.n_instances:
            return self.problem
        return self._cached(("training", part), lambda: rows_of(self.problem, rows))

    def learn(self, part: int, options: Options) -> RuleList:
        if self.engine != "native":
            return engines.learn(self.training(part), options, self.engine, self.n_jobs)
        return native.learn(self._derived(part, options), options, self.n_jobs, columns=self._columns(part, options))

    def learn_one(self, options: Options, progress: Progress | None = None) -> RuleList:
        return engines.learn(self.problem, options, self.engine, self.n_jobs, progress)

    def selections(
        self,
        pools: Sequence[Sequence[Body]],
        criteria: Sequence[SelectionCriterion],
        limits: SelectionLimits,
        scoring: Scoring | None = None,
    ) -> Iterator[list[Selection]]:
        for part, bodies in enumerate(pools):
            by_criterion = select_here(bodies, self.training(part), criteria, limits)
            if scoring is None:
                yield [Selection(choices, []) for choices in by_criterion]
            elif scoring.measure.scorer is None:
                yield self._score_counts(part, bodies, by_criterion, scoring)
            else:
                yield self._score_lists(part, bodies, by_criterion, scoring)

    def _score_counts(
        self, part: int, bodies: Sequence[Body], by_criterion: Sequence[list[Choice]], scoring: Scoring
    ) -> list[Selection]:
        """Return selections with their scores by a measure that is made of counts."""
        groups = [(rows, satisfied(bodies, rows.table), initial_decisions(rows)) for rows in self.held_out(part)]
        known: dict[Any, list[list[float]]] = {}  # criteria often choose alike
        selections = []
        for choices in by_criterion:
            key = choices_key(choices)
            if key not in known:
                stages = [
                    staged_selection(holds, choices, rows.Y == 1, rows.weights, scoring.labels, initial)
                    for rows, holds, initial in groups
                ]
                known[key] = [one.scores(scoring.measure.name)[1:].tolist() for one in stages]
            selections.append(Selection(choices, known[key]))
        return selections

    def _score_lists(
        self, part: int, bodies: Sequence[Body], by_criterion: Sequence[list[Choice]], scoring: Scoring
    ) -> list[Selection]:
        """Return selections with their scores by a scorer, which is given the list of every length."""
        training = self.training(part)
        groups = self.held_out(part)
        known: dict[Any, list[float]] = {}
        selections = []
        for choices in by_criterion:
            by_length = []
            for length in range(len(choices) + 1):
                key = choices_key(choices[:length])
                if key not in known:
                    rule_list = counted(rules_of(bodies, choices[:length], training), training, 0.5)
                    known[key] = [scoring.score(rule_list, rows) for rows in groups]
                by_length.append(known[key])
            selections.append(Selection(choices, [list(scores) for scores in zip(*by_length, strict=True)]))
        return selections

    def predicted(self, lists: Sequence[RuleList]) -> HeldOutRows:
        by_part = []
        for part, rule_list in enumerate(lists):
            rows, groups = self.held_out_rows(part)
            by_part.append(HeldOutRows(rows.Y, decide(rule_list, rows.table).labels(), rows.weights, groups))
        return HeldOutRows.join(by_part)

    def held_out_rows(self, part: int) -> tuple[Problem, Rows]:
        rows = np.concatenate(self.parts[part].groups)
        return rows_of(self.problem, rows), rows if self.groups is None else self.groups[rows]

    def counted(self, part: int, rules: tuple[Rule, ...], lam: float) -> RuleList:
        return counted(rules, self.training(part), lam)

    def values_for(self, rule_list: RuleList) -> Table:
        return self.problem.table

    def _derived(self, part: int, options: Options) -> Problem:
        """The rows that lists of a part are learned from, with columns for all kinds of conditions asked for."""
        problem, kinds = self.training(part), options.conditions
        return self._cached(("derived", part, kinds), lambda: problem.with_conditions(kinds)) if kinds else problem

    def _columns(self, part: int, options: Options) -> Any:
        """The ranked columns of a part."""
        prepare = partial(native.prepare, n_jobs=self.n_jobs)
        problem, max_bins = self._derived(part, options), options.max_bins
        weights = None if max_bins is None else problem.sample_weight
        key = "columns", part, max_bins, options.conditions
        return self._cached(key, lambda: prepare(problem.table, max_bins, weights))

    def _cached(self, key: Any, make: Callable[[], Any]) -> Any:
        with _preparing:
            if key not in self._cache:
                self._cache[key] = make()
            return self._cache[key]

    @cached_property
    def _cache(self) -> dict[Any, Any]:
        return {}

    def __getstate__(self) -> dict[str, Any]:
        """What was made can be made again elsewhere, and ranked columns cannot travel."""
        return {field.name: getattr(self, field.name) for field in fields(self)}
