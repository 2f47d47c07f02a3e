"""The data sets of an experiment: where they are, their folds, and what a task of the protocol runs on them."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from plurule.data import Dataset, read
from plurule.data.finding import base_name, data_folders, find
from plurule.data.labels import UnknownLabels, parse_labels
from plurule.data.splitting import iterative_train_test_split
from plurule.datasets import load_world_flags
from plurule.errors import DataError, nearest
from plurule.learning import native
from plurule.learning.problem import Options, Problem
from plurule.lifts import NONE, as_table, find_lift
from plurule.metrics import METRICS
from plurule.paper.protocol import PAPER_SETS, Task
from plurule.prediction.scoring import Scoring
from plurule.selection.folds import Folds, Part, make_parts, problem_of
from plurule.selection.objectives import find_objective
from plurule.selection.splitters import find_splitter
from plurule.selection.trials import Evaluation, Result, Trial

EMBEDDED = "world-flags"
"""The name of the data that come with the package."""
TEST_SHARE = 1 / 3
"""Share of the instances that are kept for testing where a data set has no test part of its own."""

_SHORTEST_TIMING = 0.05
"""Seconds of CPU that a measured time adds up to at least; shorter trainings are repeated."""


def places_of(sources: Iterable[str], folder: Path | None, lacking: bool = False) -> dict[str, str]:
    """The place of each data set by its name; an error with the known ones if one is not there, unless it may lack.

    Sources are names, or paths of files and folders. Names are looked for in the folder, or in those where data sets
    are kept; absolute paths and the embedded data are in no folder.
    """
    if folder is not None and not folder.is_dir():
        raise DataError(f"{folder}: there is no such folder")
    found: dict[str, str] = {}
    for source in sources:
        name, place = name_of(source), source if folder is None or source == EMBEDDED else str(folder / source)
        try:
            if source != EMBEDDED:
                find(Path(place))
        except DataError:
            if lacking:
                continue
            raise DataError(f"unknown data set {source!r}{_known_instead(source, folder)}") from None
        if found.setdefault(name, place) != place:
            raise DataError(f"two data sets are called {name!r}: {found[name]} and {place}; rename one of them")
    return found


def _known_instead(source: str, folder: Path | None) -> str:
    """End of a sentence about a data set that is not there: those that are."""
    known = known_sets(folder)
    close = nearest(source, [*known, *(() if known else PAPER_SETS), EMBEDDED])
    place = "the folders for data sets" if folder is None else str(folder)
    listed = f"known there are {', '.join(known)}" if known else "there is none"
    always = f"{EMBEDDED} is always there"
    if not known:
        always += f"; for those of the paper ({', '.join(PAPER_SETS)}) give --data, or see plurule data fetch"
    return f"{close if 'did you mean' in close else ''} (looked in {place}: {listed}; {always})"


def known_sets(folder: Path | None) -> list[str]:
    """Names of the data sets in a folder, or in the folders where data sets are kept."""
    folders = data_folders() if folder is None else [folder]
    names = {path.name for place in folders if place.is_dir() for path in place.iterdir() if path.is_dir()}
    return sorted(places_of(names, folder, lacking=True), key=str.lower)


def name_of(source: str) -> str:
    """What a data set is called that is given as a name or as a path."""
    return base_name(Path(source)) or source


@dataclass(frozen=True)
class Material:
    """A data set that is ready for an experiment."""

    train: Dataset
    test: Dataset
    folds: Folds
    """The folds of the training part; then twice all of it, scored on the test part and on itself."""

    @property
    def n_labels(self) -> int:
        return len(self.train.label_names)

    @property
    def n_folds(self) -> int:
        return len(self.folds.parts) - 2

    def evaluation(self) -> Evaluation:
        """How models are scored: whole, by all measures."""
        return Evaluation(self.folds, Scoring("hamming_accuracy"), tuple(METRICS), by_length=False)


def load_material(place: str, folds: str, seed: int, labels: str | None = None) -> Material:
    """Read a data set and make its folds; `labels` says which columns are labels where the data set does not."""
    train, test = _load_parts(place, seed, labels)
    if train.label_names != test.label_names:
        raise DataError(f"{place}: the training and the test part have different labels")
    if train.weights is not None:
        # A row of weight 0 counts as if it were not there.
        train = train[train.weights > 0]
    problem = problem_of(train)
    rows = np.arange(len(train))
    parts = [*make_parts(find_splitter(folds, seed), problem.Y), Part(rows), Part(rows, (rows,))]
    return Material(train, test, Folds(problem, parts, problem_of(test)))


def _load_parts(place: str, seed: int, labels: str | None) -> tuple[Dataset, Dataset]:
    found = None if place == EMBEDDED else find(Path(place))
    if found is not None and found.train is not None and found.test is not None:
        return _read(place, labels, "train"), _read(place, labels, "test")
    data = load_world_flags() if found is None else _read(place, labels, "all")
    train, test = iterative_train_test_split(data, test_size=TEST_SHARE, random_state=seed)
    return train, test


def _read(place: str, labels: str | None, split: Literal["train", "test", "all"]) -> Dataset:
    try:
        return read(place, split=split)
    except UnknownLabels:
        if labels is None:
            raise
    return read(place, parse_labels(labels), split=split)


# What is run on them ------------------------------------------------------------------------------------------------


def work_of(task: Task, material: Material) -> Trial | Timing:
    """What is to be run for a task on a data set."""
    options = options_of(task, material.n_labels)
    if task.kind == "timing":
        plain = options_of(replace(task, lift=NONE), material.n_labels)
        return Timing(plain, options, backwards=bool(task.part % 2))
    # Behind the folds there is the whole training part, scored on the test part, and once more, scored on itself.
    parts = {"fold": task.part, "sensitivity": material.n_folds + 1}
    return Trial(options, parts.get(task.kind, material.n_folds), keep_model=task.kind == "final")


def options_of(task: Task, n_labels: int) -> Options:
    """The options of the learner that a task asks for."""
    options = find_objective(task.objective).options(as_table(find_lift(task.lift), n_labels))
    if task.variant == "free head":
        return replace(options, fix_head=False)
    if task.variant == "exhaustive":
        return replace(options, head_search="exhaustive")
    return options


@dataclass(frozen=True)
class Timing:
    """CPU time of training with no lift, with a lift, and with no lift again, which shows the noise."""

    plain: Options
    lifted: Options
    backwards: bool

    def __call__(self, evaluation: Evaluation) -> Result:
        order = {"normal": self.plain, "relaxed": self.lifted, "normal again": self.plain}
        if self.backwards:
            order = dict(reversed(order.items()))
        problem = evaluation.folds.problem
        return {"seconds": {name: _training_time(problem, options) for name, options in order.items()}}


def _training_time(problem: Problem, options: Options) -> float:
    """CPU seconds of one training, everything included, averaged over as many as it takes to measure it well."""
    count, start = 0, time.thread_time()
    while count == 0 or time.thread_time() - start < _SHORTEST_TIMING:
        native.learn(problem, options)
        count += 1
    return round((time.thread_time() - start) / count, 6)
