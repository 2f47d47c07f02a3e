"""The whole protocol: per data set cross-validation, the choice, the final models, their times and their sensitivity.

Everything that is finished goes to a journal at once; whatever is there already is not done again.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from plurule.errors import PluruleError
from plurule.lifts import NONE, find_lift
from plurule.model import file as model_file
from plurule.paper.materials import Material, load_material, work_of
from plurule.paper.protocol import Plan, Reference, Task
from plurule.parameters import check_jobs
from plurule.progress import Watch
from plurule.selection.code import code_fingerprint, version
from plurule.selection.executing import Shared, place_of, run
from plurule.selection.folds import data_fingerprint, parts_fingerprint
from plurule.selection.journal import Journal, JournalError
from plurule.selection.objectives import find_objective
from plurule.selection.search import Searched, height
from plurule.selection.trials import Result

SENSITIVITY_SET = "flags"


@dataclass
class SetResults:
    """What was found out about one data set."""

    facts: dict[str, Any]
    """Numbers of instances, attributes and labels, and labels per instance."""
    ranking: dict[str, list[str]]
    """Per objective, the lifts, best first."""

    def chosen(self, objective: str) -> str:
        return self.ranking[objective][0]


@dataclass
class Results:
    """Everything an experiment found out."""

    plan: Plan
    sets: dict[str, SetResults]
    records: Mapping[str, Result]
    """The result of every task."""
    failures: dict[str, str]
    """Data sets that failed, and why."""
    missing: tuple[str, ...]
    """Data sets of the paper that were not there."""
    sessions: list[dict[str, Any]]
    finished_at: Mapping[str, float]
    folder: Path
    reference: Reference

    def final(self, dataset: str, objective: str, relaxed: bool) -> Task:
        """The task that learned a final model."""
        return Task("final", dataset, objective, self.sets[dataset].chosen(objective) if relaxed else NONE)

    @property
    def sensitivity_set(self) -> str | None:
        return sensitivity_set(tuple(self.sets))


@dataclass
class Experiment:
    """A protocol that is being carried out in a folder."""

    plan: Plan
    folder: Path
    """Where the journal and the models go."""
    places: Mapping[str, str]
    """Where each data set of the plan is."""
    executor: Executor | None = None
    """What runs the tasks; None runs them here."""
    watch: Watch = Watch()  # noqa: RUF009  # remembers nothing
    """Who is told how far it is."""
    missing: Iterable[str] = ()
    """Data sets that were wanted and are not there; the results remember them."""
    reference: Reference = Reference()  # noqa: RUF009  # frozen
    """Models of another program to compare with."""
    _journal: Journal = field(init=False)
    _materials: dict[str, Material] = field(default_factory=dict, init=False)
    _failures: dict[str, str] = field(default_factory=dict, init=False)

    def run(self) -> Results:
        """Do all that is not done yet."""
        with Journal(self.folder / "journal.jsonl", self.plan.arguments()) as journal:
            self._journal = journal
            self._load()
            journal.begin_session(machine_facts())
            sets: dict[str, SetResults] = {}
            for name in self._materials:
                with self._giving_up(name):
                    sets[name] = self._run_set(name)
            self._make_up_sensitivity(sets)
            done = journal.results, self._failures, tuple(self.missing), journal.sessions, journal.finished_at
            return Results(self.plan, sets, *done, self.folder, self.reference)

    def _load(self) -> None:
        """Read the data sets; one that cannot be read does not keep the others from going on."""
        for name in self.plan.sets:
            with self._giving_up(name, begun=False):
                material = load_material(self.places[name], self.plan.folds, self.plan.seed, self.plan.labels)
                if not self.plan.candidates(material.n_labels):
                    lifts = ", ".join(self.plan.lifts)
                    raise PluruleError(f"none of the lifts fits {material.n_labels} labels: {lifts}")
                folds = material.folds
                contents = data_fingerprint(folds.problem, *filter(None, [folds.test]))
                self._journal.expect(f"the contents of {name}", contents)
                self._journal.expect(f"the folds of {name}", parts_fingerprint(folds.parts))
                self._materials[name] = material
        for name, material in self._materials.items():
            done = sum(key.split("/")[1] == name for key in self._journal.results)
            weight = float(len(material.train) * len(material.train.attributes) * material.n_labels)
            stand_in = dict.fromkeys(self.plan.objectives, "kln at 3: 1.00")
            folds_and_later = self.plan.fold_tasks(name, material.n_labels, material.n_folds)
            folds_and_later += self._later_tasks(name, stand_in)
            self.watch.begin(name, len(folds_and_later), done, weight)

    @contextmanager
    def _giving_up(self, name: str, begun: bool = True) -> Iterator[None]:
        """What goes wrong in the block is the failure of one data set; only the journal concerns all of them."""
        try:
            yield
        except JournalError:
            raise
        except Exception as error:
            self._failures[name] = described(error)
            if not begun:
                self.watch.begin(name, 1, 0, 0.0)
            self.watch.failed(name, self._failures[name])

    def _later_tasks(self, name: str, chosen: Mapping[str, str]) -> list[Task]:
        """What follows the choice of the lifts."""
        material = self._materials[name]
        tasks = self.plan.later_tasks(name, len(material.train), material.n_labels, chosen)
        tasks += self.reference.tasks(name)
        if name == sensitivity_set(tuple(self._materials)):
            tasks += self.plan.sensitivity_tasks(name, material.n_labels)
        return tasks

    def _run_set(self, name: str) -> SetResults:
        material = self._materials[name]
        evaluation, n_folds, results = material.evaluation(), material.n_folds, self._journal.results
        shared, lifts = Shared(evaluation), self.plan.candidates(material.n_labels)
        self._run_tasks(self.plan.fold_tasks(name, material.n_labels, n_folds), material, shared)
        found = SetResults(data_facts(material), {})
        heights = [height(find_lift(lift), material.n_labels) for lift in lifts]
        for objective in self.plan.objectives:
            tasks = ([Task("fold", name, objective, lift, fold) for fold in range(n_folds)] for lift in lifts)
            curves = [evaluation.curves([results[task.key] for task in own]) for own in tasks]
            tried = Searched([{} for _ in lifts], curves, find_objective(objective).measure, n_folds, heights=heights)
            found.ranking[objective] = [lifts[i] for i in tried.order]
        chosen = {objective: found.chosen(objective) for objective in self.plan.objectives}
        self._run_tasks(self._later_tasks(name, chosen), material, shared)
        return found

    def _make_up_sensitivity(self, sets: Mapping[str, SetResults]) -> None:
        """The sensitivity analysis on another data set, if the one that was meant for it failed."""
        name = sensitivity_set(tuple(sets))
        if name is not None:
            material = self._materials[name]
            tasks = self.plan.sensitivity_tasks(name, material.n_labels)
            with self._giving_up(name):
                self._run_tasks(tasks, material, Shared(material.evaluation()), told=False)

    def _run_tasks(self, tasks: Sequence[Task], material: Material, shared: Shared, told: bool = True) -> None:
        results = self._journal.results
        for task in tasks:
            if task.kind == "final" and not model_path(self.folder, task).is_file():
                results.pop(task.key, None)
        missing = {task.key: task for task in tasks if task.key not in results}
        work = {key: work_of(task, material) for key, task in missing.items()}
        for key, result in run(shared, work, self.executor, self._journal, partial(self._keep_model, missing)):
            if told:
                self.watch.advance(missing[key].dataset, sum(result["seconds"].values()))

    def _keep_model(self, tasks: Mapping[str, Task], key: str, result: Result) -> Result:
        """Write the model of a final task to its file before the task counts as done."""
        if "model" not in result:
            return result
        path = model_path(self.folder, tasks[key])
        path.parent.mkdir(exist_ok=True)
        model_file.save(result["model"], path)
        return {name: value for name, value in result.items() if name != "model"}


def described(error: Exception) -> str:
    """An error in one line, with the task it happened in; one that nobody foresaw with its kind and its place."""
    text = str(error) or type(error).__name__
    if not isinstance(error, PluruleError | OSError | ImportError | MemoryError):
        text = f"{type(error).__name__}: {error} ({place_of(error)})"
    return ": ".join([*getattr(error, "__notes__", ()), text])


def sensitivity_set(names: tuple[str, ...]) -> str | None:
    """The data set for the sensitivity analysis: the paper's, or the first."""
    return SENSITIVITY_SET if SENSITIVITY_SET in names else next(iter(names), None)


def model_path(folder: Path, task: Task) -> Path:
    """Where a final model is kept."""
    dataset, lift = (re.sub(r"[^\w .+-]", "", name) for name in (task.dataset, task.lift))
    if dataset != task.dataset:
        # Another set may differ in nothing but what was left out.
        dataset += f" {hashlib.sha256(task.dataset.encode()).hexdigest()[:8]}"
    return folder / "models" / f"{dataset} {task.objective} {lift}.json"


def data_facts(material: Material) -> dict[str, Any]:
    train, test = material.train, material.test
    nominal = sum(attribute.is_nominal for attribute in train.attributes)
    return {
        "train": len(train),
        "test": len(test),
        "numeric": len(train.attributes) - nominal,
        "nominal": nominal,
        "labels": material.n_labels,
        "cardinality": round(train.cardinality, 3),
    }


def machine_facts() -> dict[str, Any]:
    """Where and with what the work is done."""
    return {
        "machine": f"{_processor()}, {check_jobs(-1)} cores, {platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "plurule": version(),
        "code": code_fingerprint(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        name = platform.processor()
    return name or os.environ.get("PROCESSOR_IDENTIFIER", "unknown processor")
