"""Running one task: learn a model, measure it, and say so in plain data.

A `Workbench` is what a process keeps between tasks. The columns of a data set are ranked once, cut to each fold once,
and shared by all objectives and lifts that are tried on it.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule import _core, metrics
from plurule.data import Dataset
from plurule.learning import native
from plurule.learning.problem import Options, Problem
from plurule.learning.weights import exact_weights
from plurule.lifts import NONE, as_table, find_lift
from plurule.model import RuleList
from plurule.model import file as model_file
from plurule.paper.protocol import Task
from plurule.prediction.decide import decide
from plurule.selection.objectives import find_objective
from plurule.selection.splitters import Splits

Result = dict[str, Any]

_PARTS_KEPT = 12
_SHORTEST_TIMING = 0.05
"""Seconds of CPU that a measured time adds up to at least; shorter trainings are repeated."""


@dataclass(frozen=True)
class Material:
    """A data set that is ready for an experiment."""

    train: Dataset
    test: Dataset
    splits: Splits
    """The folds of the training part."""

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return len(self.train.label_names)

    def fingerprint(self) -> str:
        """A short text that differs if names, values, labels or weights do."""
        digest = hashlib.sha256()
        for data in (self.train, self.test):
            digest.update(repr((data.X.attributes, data.label_names)).encode())
            for index in range(len(data.X.attributes)):
                digest.update(np.ascontiguousarray(data.X.column(index)).tobytes())
            digest.update(labels_of(data).tobytes())
            digest.update(b"" if data.weights is None else data.weights.tobytes())
        return digest.hexdigest()[:16]

    def folds_fingerprint(self) -> str:
        """A short text that differs if the folds do."""
        digest = hashlib.sha256()
        for part in (rows for split in self.splits for rows in split):
            digest.update(len(part).to_bytes(8, "little") + part.tobytes())
        return digest.hexdigest()[:16]


@dataclass(frozen=True)
class Part:
    """Rows to train on, with their columns ranked, and rows to be scored on."""

    problem: Problem
    columns: _core.Columns
    test: Dataset

    def learn(self, options: Options) -> RuleList:
        """Train on the training rows."""
        return native.learn(self.problem, options, columns=self.columns)

    def scores(self, model: RuleList) -> dict[str, float]:
        """All measures of a model on the test rows."""
        predicted = decide(model, self.test.X).labels()
        return metrics.scores(labels_of(self.test), predicted, sample_weight=self.test.weights)


class Workbench:
    """The data sets of an experiment, and what has been prepared of them in this process."""

    def __init__(self, materials: Mapping[str, Material]) -> None:
        self._materials = dict(materials)
        self._ranked: OrderedDict[str, Part] = OrderedDict()
        self._parts: OrderedDict[tuple[str, int], Part] = OrderedDict()
        # The threads of a Dask worker share a workbench.
        self._lock = threading.RLock()

    def add(self, dataset: str, material: Material) -> None:
        """Make another data set known."""
        self._materials[dataset] = material

    def run(self, task: Task) -> Result:
        """The result of a task, in a form that JSON knows."""
        if task.kind == "timing":
            return self._time(task)
        part = self._fold(task.dataset, task.part) if task.kind == "fold" else self._whole(task.dataset)
        start = time.thread_time()
        model = part.learn(options_of(task, part.problem.n_labels))
        learned = time.thread_time()
        if task.kind == "sensitivity":
            part = replace(part, test=self._materials[task.dataset].train)
        result: Result = {"scores": part.scores(model), "size": size_of(model)}
        result["seconds"] = {"train": round(learned - start, 6), "score": round(time.thread_time() - learned, 6)}
        if task.kind == "final":
            result["model"] = model_file.dumps(model)
        return result

    def _whole(self, dataset: str) -> Part:
        """The training and the test part of a data set."""
        with self._lock:
            if dataset not in self._ranked:
                material = self._materials[dataset]
                problem = problem_of(material.train)
                _keep(self._ranked, dataset, Part(problem, native.prepare(problem.table), material.test))
            return self._ranked[dataset]

    def _fold(self, dataset: str, fold: int) -> Part:
        """The training and the test rows of a fold of the training part."""
        with self._lock:
            if (dataset, fold) not in self._parts:
                whole, material = self._whole(dataset), self._materials[dataset]
                train, test = material.splits[fold]
                cut = Part(problem_of(material.train[train]), whole.columns.subset(train), material.train[test])
                _keep(self._parts, (dataset, fold), cut)
            return self._parts[dataset, fold]

    def _time(self, task: Task) -> Result:
        """CPU time of training with no lift, with the lift, and with no lift again, which shows the noise."""
        problem = self._whole(task.dataset).problem
        lifted = options_of(task, problem.n_labels)
        plain = options_of(replace(task, lift=NONE), problem.n_labels)
        order = {"normal": plain, "relaxed": lifted, "normal again": plain}
        if task.part % 2:
            order = {"normal again": plain, "relaxed": lifted, "normal": plain}
        return {"seconds": {name: _training_time(problem, options) for name, options in order.items()}}


def options_of(task: Task, n_labels: int) -> Options:
    """The options of the learner that a task asks for."""
    options = find_objective(task.objective).options(as_table(find_lift(task.lift), n_labels))
    if task.variant == "free head":
        return replace(options, fix_head=False)
    if task.variant == "exhaustive":
        return replace(options, head_search="exhaustive")
    return options


def problem_of(data: Dataset) -> Problem:
    """A data set as the engines want it."""
    Y = labels_of(data)
    weights = np.ones(len(data)) if data.weights is None else np.asarray(data.weights, dtype=np.float64)
    return Problem(data.X, data.label_names, Y, exact_weights(weights, Y.shape[1]))


def labels_of(data: Dataset) -> NDArray[np.uint8]:
    """The labels of a data set as a dense matrix."""
    Y = data.Y.toarray() if hasattr(data.Y, "toarray") else data.Y
    return np.ascontiguousarray(Y, dtype=np.uint8)


def size_of(model: RuleList) -> dict[str, float]:
    """What a model consists of."""
    lengths = model.head_sizes()
    size = model.characteristics()
    size["head_labels"] = sum(length * count for length, count in lengths.items())
    size["longest_head"] = max(lengths, default=0)
    return size


def _training_time(problem: Problem, options: Options) -> float:
    """CPU seconds of one training, everything included, averaged over as many as it takes to measure it well."""
    count, start = 0, time.thread_time()
    while count == 0 or time.thread_time() - start < _SHORTEST_TIMING:
        native.learn(problem, options)
        count += 1
    return round((time.thread_time() - start) / count, 6)


def _keep(cache: OrderedDict[Any, Part], key: Any, part: Part) -> None:
    cache[key] = part
    while len(cache) > _PARTS_KEPT:
        cache.popitem(last=False)
