"""Parts of the training data: lists are learned from some rows and scored on others.

What is expensive is done once: columns are ranked once, cut to each part once, and shared by all lists that are learned
from it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from plurule.data import Dataset
from plurule.data.fingerprint import digest, fingerprints, pack
from plurule.data.splitting import IterativeStratifiedKFold, iterative_split
from plurule.data.table import Table
from plurule.errors import ParameterError, PluruleError
from plurule.label_matrix import dense
from plurule.learning import engine as engines
from plurule.learning import native
from plurule.learning.binning import with_short_thresholds
from plurule.learning.covering import Progress
from plurule.learning.engine import Engine
from plurule.learning.problem import Options, Problem
from plurule.learning.weights import check_weights, exact_weights
from plurule.model import Rule, RuleList
from plurule.prediction.staged import staged_measures
from plurule.selection.gain_cover import Body, Price, counted, satisfied, select_here, staged_selection
from plurule.selection.training_data import Scores, Selection, TrainingData

Rows = NDArray[np.intp]

GROUPS = 5
"""A single validation part is scored in so many groups, to know how far its score can be trusted."""

MOST_COUNTS = 20_000_000
"""Training runs of lists that may grow, on data of at most this size (values times labels, or rows, times columns), are
kept, to go on from where they are …"""

MOST_COUNTS_IN_ALL = 8 * MOST_COUNTS
"""… up to this size together, the latest of them."""

_preparing = threading.RLock()


@dataclass(frozen=True)
class Part:
    """The rows that lists are learned from, and the groups of rows that they are scored on."""

    train: Rows
    groups: tuple[Rows, ...] = ()
    """None of them: lists are scored on the test data of the folds."""


def make_parts(cv: Any, Y: NDArray[np.uint8], positions: Rows | None = None) -> list[Part]:
    """The parts of the training data: `cv` is a number of folds, a share to hold out, a splitter, or splits.

    Folds and held-out rows keep the shares of the labels; nothing is left to chance. Splits that are given as such may
    be about data with more rows (of weight 0); `positions` says where in them each row of `Y` is.
    """
    is_number = isinstance(cv, Real) and not isinstance(cv, bool)
    if is_number and not (0 < float(cv) < 1 or (isinstance(cv, Integral) and int(cv) >= 2)):
        raise ParameterError.expected("cv", cv, "at least 2 folds, or a share between 0 and 1")
    if is_number and isinstance(cv, Integral):
        n_folds = min(int(cv), len(Y))
        if n_folds < 2:
            return []
        return [Part(train, (test,)) for train, test in IterativeStratifiedKFold(n_folds).split(Y, Y)]
    if is_number:
        train, test = iterative_split(Y, [1 - float(cv), float(cv)], shuffle=False)
        n_groups = min(GROUPS, len(test))
        if n_groups < 2 or not len(train):
            return []
        groups = iterative_split(Y[test], [1.0] * n_groups, shuffle=False)
        return [Part(train, tuple(test[group] for group in groups if len(group)))]
    return [Part(train, (test,)) for train, test in _given_splits(cv, Y, positions)]


def _given_splits(cv: Any, Y: NDArray[np.uint8], positions: Rows | None = None) -> list[tuple[Rows, Rows]]:
    """What a splitter, or splits, give; rows ascending."""
    from sklearn.model_selection import check_cv

    allowed = "a number of folds, a share between 0 and 1, a splitter of scikit-learn or splits"
    if isinstance(cv, bool | str) or not (hasattr(cv, "split") or hasattr(cv, "__iter__")):
        raise ParameterError.expected("cv", cv, allowed)
    truth = Y[:, 0] if Y.shape[1] == 1 else Y
    try:
        found = list(check_cv(cv, truth, classifier=True).split(np.zeros((len(Y), 1)), truth))
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


def data_fingerprint(*problems: Problem) -> str:
    """A short text that differs if names, values, labels or weights do."""
    columns = ([digest(p.table.column(i)) for i in range(p.table.shape[1])] for p in problems)
    pairs = zip(problems, columns, strict=True)
    return digest(*((repr((p.table.attributes, p.labels)), values, p.Y, p.weights) for p, values in pairs))


def parts_fingerprint(parts: Iterable[Part]) -> str:
    """A short text that differs if the parts do."""
    return digest(*parts)


def _size(problem: Problem, options: Options) -> int:
    """What a training run takes in memory, by and large."""
    n_rows, n_columns = problem.n_instances, len(problem.table.columns)
    n_values = min(n_rows, options.max_bins or n_rows)
    return max(1, n_rows, n_values * problem.n_labels) * max(1, n_columns)


@dataclass(frozen=True, eq=False)
class Folds(TrainingData):
    """A training problem in parts, with all rows in memory."""

    problem: Problem
    parts: Sequence[Part]
    test: Problem | None = None
    """What lists of parts without groups are scored on."""
    engine: Engine = "native"
    n_jobs: int = 1

    @property
    def n_parts(self) -> int:
        return len(self.parts)

    def split(self, cv: Any, positions: Rows | None = None) -> Self:
        return replace(self, parts=make_parts(cv, self.problem.Y, positions))

    def everything(self) -> Self:
        return replace(self, parts=[Part(np.arange(self.problem.n_instances))])

    def held_out(self, part: int) -> list[Problem]:
        """The rows that lists of a part are scored on, by group."""
        groups = self.parts[part].groups
        if not groups:
            return [] if self.test is None else [self.test]
        return self._once(("held out", part), lambda: [rows_of(self.problem, group) for group in groups])

    def training(self, part: int) -> Problem:
        """The rows that lists of a part are learned from."""
        rows = self.parts[part].train
        if len(rows) == self.problem.n_instances:
            return self.problem
        return self._once(("training", part), lambda: rows_of(self.problem, rows))

    def learn(self, part: int, options: Options, may_grow: bool = False) -> RuleList:
        if self.engine != "native":
            return engines.learn(self.training(part), options, self.engine, self.n_jobs)
        return self._go_on(part, options, may_grow)

    def learn_one(self, options: Options, progress: Progress | None = None) -> RuleList:
        return engines.learn(self.problem, options, self.engine, self.n_jobs, progress)

    def staged(self, asked: Sequence[tuple[RuleList, int]], measures: Sequence[str], kept: Rows | None) -> list[Scores]:
        return [
            [
                staged_measures(rule_list, rows.table, rows.Y, measures, rows.sample_weight, kept)
                for rows in self.held_out(part)
            ]
            for rule_list, part in asked
        ]

    def selections(
        self, pools: Sequence[Sequence[Body]], prices: Sequence[Price], n_rules: int, measure: str | None, kept: Rows
    ) -> Iterator[list[Selection]]:
        for part, bodies in enumerate(pools):
            scored_on = [] if measure is None else self.held_out(part)
            groups = [(rows, satisfied(bodies, rows.table)) for rows in scored_on]
            found = []
            for chosen in select_here(bodies, self.training(part), prices, n_rules):
                stages = [staged_selection(holds, chosen, rows.Y == 1, rows.weights, kept) for rows, holds in groups]
                found.append(Selection(chosen, [one.scores(str(measure)).tolist() for one in stages]))
            yield found

    def counted(self, part: int, rules: tuple[Rule, ...], lam: float) -> RuleList:
        return counted(rules, self.training(part), lam)

    def values_for(self, rule_list: RuleList) -> Table:
        return self.problem.table

    def fingerprints(self) -> bytes:
        return pack(fingerprints(self.problem.table))

    def _go_on(self, part: int, options: Options, may_grow: bool) -> RuleList:
        """A list by the native engine, continued where a shorter one was learned with the same options before."""
        problem, columns = self._derived(part, options), self._columns(part, options)
        key, run = None, None
        if may_grow:
            key = "run", part, repr(vars(options) | {"n_rules": None, "lift": options.lift.tobytes()})
            with _preparing:
                run = self._made.pop(key, None)
        if run is None or (options.n_rules is not None and options.n_rules < run.n_rules):
            run = native.Run(problem, replace(options, n_rules=None), self.n_jobs, columns)
        learned, size = run.learn(options.n_rules), _size(problem, options)
        if may_grow and options.n_rules is not None and not run.ended and size <= MOST_COUNTS:
            with _preparing:
                kept = [k for k in self._made if k[0] == "run"]
                for old in kept[: max(0, len(kept) - MOST_COUNTS_IN_ALL // size + 1)]:
                    del self._made[old]
                self._made[key] = run
        return learned

    def _derived(self, part: int, options: Options) -> Problem:
        """The rows that lists of a part are learned from, with columns for all kinds of conditions asked for."""
        problem, kinds = self.training(part), options.conditions
        return self._once(("derived", part, kinds), lambda: problem.with_conditions(kinds)) if kinds else problem

    def _columns(self, part: int, options: Options) -> Any:
        """The ranked columns of a part."""
        prepare = partial(native.prepare, n_jobs=self.n_jobs)
        problem, max_bins = self._derived(part, options), options.max_bins
        if max_bins is not None or problem.derived:
            weights = None if max_bins is None else problem.sample_weight
            key = "bins", part, max_bins, options.conditions
            return self._once(key, lambda: prepare(problem.table, max_bins, weights))
        everything = self._once("columns", lambda: prepare(self.problem.table))
        if problem is self.problem:
            return everything
        return self._once(("columns", part), lambda: everything.subset(self.parts[part].train.astype(np.int32)))

    def _once(self, key: Any, make: Callable[[], Any]) -> Any:
        with _preparing:
            if key not in self._made:
                self._made[key] = make()
            return self._made[key]

    @cached_property
    def _made(self) -> dict[Any, Any]:
        return {}

    def __getstate__(self) -> dict[str, Any]:
        """What was made can be made again elsewhere, and ranked columns cannot travel."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


# Rows that are drawn with replacement: weights instead of copies, and one prepared table -----------------------------


def draw(n_rows: int, samples: int, random_state: Any = None) -> NDArray[np.int32]:
    """Per sample and row, how often the row is drawn, as many times as there are rows."""
    chance = check_random_state(random_state)
    drawn = [np.bincount(chance.randint(n_rows, size=n_rows), minlength=n_rows) for _ in range(samples)]
    return np.array(drawn, dtype=np.int32).reshape(samples, n_rows)


def learn_from_samples(
    problem: Problem, options: Sequence[Options], samples: NDArray[np.int32], engine: Engine = "native", n_jobs: int = 1
) -> list[RuleList]:
    """One list per sample; where there are several options, they take turns."""
    columns = {}
    if engine == "native":
        bins = {one.max_bins for one in options}
        columns = {most: native.prepare(problem.table, most, problem.sample_weight) for most in bins}

    def learn(turn: int) -> RuleList:
        chosen = options[turn % len(options)]
        weights = exact_weights(problem.weights * samples[turn], problem.n_labels)
        sample = replace(problem, weights=weights)
        # Columns that are made from labels are those of the sample.
        if engine != "native" or sample.with_conditions(chosen.conditions) is not sample:
            return engines.learn(sample, chosen, engine)
        learned = native.learn(sample, chosen, columns=columns[chosen.max_bins])
        return with_short_thresholds(learned, problem.table, len(problem.initial_rules))

    with ThreadPoolExecutor(n_jobs) as threads:
        return list(threads.map(learn, range(len(samples))))
