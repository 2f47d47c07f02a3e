"""The protocol: per data set cross-validation, choice of the lifts, final models, training times, sensitivity.

Every finished task goes to the journal at once; tasks in the journal are not run again.
"""

from __future__ import annotations

import hashlib
import platform
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import scipy.sparse as sp

import plurule
from plurule import Dataset, PluruleError, RuleList
from plurule.metrics import macro_f1, scores
from research.data import parse_labels, read_parts
from research.files import DataSet
from research.machine import processor
from research.paper.candidates import count_candidates
from research.paper.folds import Rows, make_folds
from research.paper.journal import Journal, JournalError, Result, code_fingerprint
from research.paper.lifts import NONE, LiftName
from research.paper.objectives import find_objective
from research.paper.protocol import Plan, Reference, Task

_CODE = ("candidates", "folds", "lifts", "objectives", "protocol")
"""Modules that results depend on, beside this one."""
KEPT = ("final", "near")
"""Kinds of tasks whose models are kept."""
SENSITIVITY_SET = "flags"
TIE_BREAKERS = ("hamming_accuracy", "subset_accuracy")
MULAN_MACRO_F1 = "macro_f1_mulan"
"""Macro F1 where a label that is neither present nor predicted anywhere scores 1, as in the library Mulan."""
DIGITS = 12
"""Means that agree to this many digits are ties."""
SHORTEST_TIMING = 0.05
"""CPU seconds of a measured time at least; shorter trainings are repeated."""

Progress = Callable[[str, int, int, int], None]
"""Called with the name of a data set, its stage (0: cross-validation, 1: what follows), and its tasks, done and all."""


@dataclass
class SetResults:
    """Facts about a data set, and per objective the lifts, best first."""

    facts: dict[str, Any]
    ranking: dict[str, list[str]]
    near: dict[str, list[str]] = field(default_factory=dict)
    """Lifts whose mean is within one standard error of the best, the chosen one first."""
    mulan: dict[str, str] = field(default_factory=dict)
    """Lift that is chosen by the macro F1 of Mulan, for objectives that are chosen by macro F1."""

    def chosen(self, objective: str) -> str:
        """Return the chosen lift of an objective."""
        return self.ranking[objective][0]


@dataclass
class Results:
    """Everything that an experiment found."""

    plan: Plan
    sets: dict[str, SetResults]
    records: Mapping[str, Result]
    """Result of every task."""
    failures: dict[str, str]
    """Data sets that failed, and why."""
    sessions: list[dict[str, Any]]
    finished_at: Mapping[str, float]
    folder: Path
    reference: Reference

    def final(self, dataset: str, objective: str, relaxed: bool) -> Task:
        """Return the task that learned a final model."""
        return Task("final", dataset, objective, self.sets[dataset].chosen(objective) if relaxed else NONE)

    @property
    def sensitivity_set(self) -> str | None:
        """Data set of the sensitivity analysis."""
        return sensitivity_set(tuple(self.sets))


@dataclass
class Experiment:
    """A protocol that is carried out in a folder."""

    plan: Plan
    folder: Path
    """Place of the journal and the models."""
    data: Mapping[str, DataSet]
    """Data set of each name in the plan."""
    n_jobs: int = 1
    progress: Progress = lambda name, stage, done, total: None
    reference: Reference = field(default_factory=Reference)

    def run(self) -> Results:
        """Run all tasks that are not in the journal."""
        contents = {name: data_fingerprint(self.data[name]) for name in self.plan.sets}
        versions = {"plurule": plurule.__version__, "code": run_fingerprint()}
        journal = Journal(self.folder / "journal.jsonl", self.plan.arguments() | versions)
        for name, fingerprint in contents.items():
            journal.claim(name, fingerprint)
        journal.begin_session(machine_facts() | versions)
        sets: dict[str, SetResults] = {}
        failures: dict[str, str] = {}
        for name in self.plan.sets:
            try:
                sets[name] = self._run_set(name, journal)
            except JournalError:
                raise
            except Exception as error:
                # One data set that fails does not keep the others from going on.
                is_expected = isinstance(error, PluruleError | OSError | MemoryError)
                failures[name] = str(error) if is_expected else f"{type(error).__name__}: {error}"
        return Results(
            plan=self.plan,
            sets=sets,
            records={key: found for key, found in journal.results.items() if key.split("/")[1] in self.plan.sets},
            failures=failures,
            sessions=journal.sessions,
            finished_at=journal.finished_at,
            folder=self.folder,
            reference=self.reference,
        )

    def _run_set(self, name: str, journal: Journal) -> SetResults:
        material = load_material(self.data[name], self.plan)
        lifts = self.plan.candidates(material.n_labels)
        if not lifts:
            raise PluruleError(f"none of the lifts fits {material.n_labels} labels: {', '.join(self.plan.lifts)}")
        n_folds = len(material.folds)
        self._run_tasks(self.plan.fold_tasks(name, material.n_labels, n_folds), journal, stage=0)
        results = SetResults(data_facts(material), {})
        for objective in self.plan.objectives:
            folds = {
                lift: [journal.results[Task("fold", name, objective, lift, fold).key] for fold in range(n_folds)]
                for lift in lifts
            }
            results.ranking[objective] = rank_lifts(folds, find_objective(objective).measure, material.n_labels)
            measure = find_objective(objective).measure
            results.near[objective] = near_lifts(folds, results.ranking[objective], measure)
            if measure == "macro_f1":
                results.mulan[objective] = rank_lifts(folds, MULAN_MACRO_F1, material.n_labels)[0]
        also = {
            objective: list(dict.fromkeys([*lifts, results.mulan.get(objective, lifts[0])]))
            for objective, lifts in results.near.items()
        }
        chosen = {objective: results.chosen(objective) for objective in self.plan.objectives}
        tasks = self.plan.later_tasks(name, len(material.train), material.n_labels, chosen, also)
        tasks += self.reference.tasks(name)
        if name == sensitivity_set(self.plan.sets):
            tasks += self.plan.sensitivity_tasks(name, material.n_labels)
        self._run_tasks(tasks, journal, stage=1)
        return results

    def _run_tasks(self, tasks: Sequence[Task], journal: Journal, stage: int) -> None:
        for task in tasks:
            if task.kind in KEPT and not model_path(self.folder, task).is_file():
                journal.results.pop(task.key, None)
        left = [task for task in tasks if task.key not in journal.results]
        parallel = joblib.Parallel(n_jobs=self.n_jobs, return_as="generator_unordered")
        run = joblib.delayed(partial(run_task, plan=self.plan))
        done = len(tasks) - len(left)
        for task, result, model in parallel(run(task, self.data[task.dataset]) for task in left):
            if model is not None:
                path = model_path(self.folder, task)
                path.parent.mkdir(exist_ok=True)
                model.save(path)
            journal.add(task.key, result)
            done += 1
            self.progress(task.dataset, stage, done, len(tasks))


def sensitivity_set(names: tuple[str, ...]) -> str | None:
    """Return the data set of the sensitivity analysis: the paper's, or the first."""
    return SENSITIVITY_SET if SENSITIVITY_SET in names else next(iter(names), None)


def rank_lifts(folds: Mapping[str, Sequence[Result]], measure: str, n_labels: int) -> list[str]:
    """Sort lifts by the mean of a measure over the folds, best first.

    Ties go to the higher Hamming accuracy, then to the higher subset accuracy, the higher lift, the first.
    """

    def key(lift: str) -> tuple[float, ...]:
        means = [np.mean([fold["scores"][name] for fold in folds[lift]]) for name in (measure, *TIE_BREAKERS)]
        values = [*means, LiftName.parse(lift).height_for_ties(n_labels)]
        return tuple(-round(float(value), DIGITS) for value in values)

    return sorted(folds, key=key)


def near_lifts(folds: Mapping[str, Sequence[Result]], ranking: Sequence[str], measure: str) -> list[str]:
    """Return the lifts whose mean of a measure over the folds is within one standard error of that of the first.

    The standard error is the deviation of the folds of the first lift over the root of their number.
    """
    values = {lift: np.array([fold["scores"][measure] for fold in folds[lift]]) for lift in ranking}
    best = values[ranking[0]]
    least = best.mean() - best.std() / np.sqrt(len(best))
    return [lift for lift in ranking if round(float(values[lift].mean() - least), DIGITS) >= 0]


# Data -----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Material:
    """Training and test part of a data set, and the folds of the training part."""

    train: Dataset
    test: Dataset
    folds: list[tuple[Rows, Rows]]

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return len(self.train.label_names)


@lru_cache(maxsize=2)
def load_material(data_set: DataSet, plan: Plan) -> Material:
    """Read a data set and make its folds; every process does so once."""
    train, test = read_parts(data_set, plan.seed, parse_labels(plan.labels))
    if train.label_names != test.label_names:
        raise PluruleError(f"{data_set.name}: the training and the test part have different labels")
    return Material(train, test, make_folds(plan.folds, len(train), plan.seed))


def data_fingerprint(data_set: DataSet) -> str:
    """Return a short text that differs if the files of a data set do."""
    digest = hashlib.sha256()
    for path in filter(None, (data_set.train, data_set.test)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def data_facts(material: Material) -> dict[str, Any]:
    """Return the sizes of a data set."""
    attributes = material.train.attributes
    nominal = sum(attribute.is_nominal for attribute in attributes)
    return {
        "train": len(material.train),
        "test": len(material.test),
        "numeric": len(attributes) - nominal,
        "nominal": nominal,
        "labels": material.n_labels,
        "cardinality": round(material.train.cardinality, 3),
    }


# Tasks ----------------------------------------------------------------------------------------------------------------


def run_task(task: Task, data_set: DataSet, plan: Plan) -> tuple[Task, Result, RuleList | None]:
    """Run a task; the model is returned if it is to be kept."""
    material = load_material(data_set, plan)
    try:
        if task.kind == "timing":
            return task, measure_times(task, material), None
        result, model = learn_and_score(task, material)
    except Exception as error:
        raise PluruleError(f"{task.key}: {type(error).__name__}: {error}") from error
    return task, result, model if task.kind in KEPT else None


def learn_and_score(task: Task, material: Material) -> tuple[Result, RuleList]:
    """Learn a model from the part of the data that a task asks for, and score it on another one."""
    train = material.train
    test = material.test
    if task.kind == "fold":
        rows, held_out = material.folds[task.part]
        train = material.train[rows]
        test = material.train[held_out]
    elif task.kind == "sensitivity":
        test = train
    start = time.thread_time()
    learner = make_learner(task).fit(train)
    learned = time.thread_time()
    predicted = learner.predict(test.X)
    measured = scores(test.Y, predicted, sample_weight=test.weights)
    measured[MULAN_MACRO_F1] = macro_f1(test.Y, predicted, sample_weight=test.weights, empty=1.0)
    seconds = {"train": round(learned - start, 6), "score": round(time.thread_time() - learned, 6)}
    model = learner.rule_list_
    size = model_size(model)
    if task.kind in KEPT:
        size["distinct_predictions"] = len(np.unique(label_array(predicted), axis=0))
    if task.kind == "final":
        size["candidates"] = count_candidates(model, train)
    return {"scores": measured, "size": size, "seconds": seconds}, model


def make_learner(task: Task) -> Any:
    """Return the learner of a task."""
    variants: dict[str, dict[str, Any]] = {
        "free head": {"fix_head": False},
        "exhaustive": {"head_search": "exhaustive"},
    }
    return find_objective(task.objective).learner(task.lift, **variants.get(task.variant, {}))


def label_array(predicted: Any) -> Any:
    """Return predictions as an array."""
    return np.asarray(predicted.todense() if sp.issparse(predicted) else predicted)


def model_size(model: RuleList) -> dict[str, float]:
    """Return the counts of a model that the tables show."""
    lengths = model.head_sizes()
    size = model.characteristics()
    size["head_labels"] = sum(length * count for length, count in lengths.items())
    size["longest_head"] = max(lengths, default=0)
    return size


def measure_times(task: Task, material: Material) -> Result:
    """Measure training with no lift, with a lift, and with no lift again, which shows the noise; backwards in turn."""
    objective = find_objective(task.objective)
    lifts = {"normal": NONE, "relaxed": task.lift, "normal again": NONE}
    order = reversed(lifts.items()) if task.part % 2 else lifts.items()
    return {"seconds": {name: training_time(objective.learner(lift), material.train) for name, lift in order}}


def training_time(learner: Any, train: Dataset) -> float:
    """Return the CPU seconds of one training; short trainings are repeated and averaged."""
    count = 0
    start = time.thread_time()
    while count == 0 or time.thread_time() - start < SHORTEST_TIMING:
        learner.fit(train)
        count += 1
    return round((time.thread_time() - start) / count, 6)


def model_path(folder: Path, task: Task) -> Path:
    """Return the file of a final model."""
    lift = re.sub(r"[^\w .+-]", "", task.lift)
    return folder / "models" / f"{task.dataset} {task.objective} {lift}.json"


def run_fingerprint() -> str:
    """Return a short text that differs if plurule or the code of the tasks does."""
    return code_fingerprint(*(sys.modules[f"{__package__}.{name}"] for name in _CODE), sys.modules[__name__])


def machine_facts() -> dict[str, Any]:
    """Describe the machine and its Python."""
    return {
        "machine": f"{processor()}, {joblib.cpu_count()} cores, {platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
