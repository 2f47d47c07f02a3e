"""The whole protocol: per data set cross-validation, the choice, the final models, their times and their sensitivity.

Everything that is finished goes to a journal at once; whatever is there already is not done again.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from plurule.errors import PluruleError
from plurule.files import write_text
from plurule.lifts import NONE
from plurule.paper.choosing import Candidate, candidate, ranked
from plurule.paper.materials import load_material
from plurule.paper.protocol import Plan, Task
from plurule.paper.reference import Reference
from plurule.selection.code import code_fingerprint
from plurule.selection.executing import Runner, described
from plurule.selection.journal import Journal, JournalError
from plurule.selection.objectives import find_objective
from plurule.selection.trials import Material, Result

SENSITIVITY_SET = "flags"


class Watch(Protocol):
    """Someone who looks on while tasks are run."""

    def begin(self, dataset: str, total: int, done: int, weight: float) -> None:
        """A data set is to be worked on; `done` of its `total` tasks were finished by an earlier run.

        The weight says roughly how long its tasks take compared with those of others.
        """

    def advance(self, dataset: str, seconds: float) -> None:
        """One more task is finished; it took that many seconds of CPU."""

    def failed(self, dataset: str, error: str) -> None:
        """A data set is given up."""


class NoWatch:
    """Looks away."""

    def begin(self, dataset: str, total: int, done: int, weight: float) -> None:
        """Nothing."""

    def advance(self, dataset: str, seconds: float) -> None:
        """Nothing."""

    def failed(self, dataset: str, error: str) -> None:
        """Nothing."""


class Record(Protocol):
    """Where results are kept."""

    results: dict[str, Any]

    def add(self, key: str, result: Any) -> None:
        """Keep a result."""


@dataclass
class Memory:
    """Results that are kept for as long as the program runs."""

    results: dict[str, Any] = field(default_factory=dict)

    def add(self, key: str, result: Any) -> None:
        """Keep a result."""
        self.results[key] = result


def run_tasks(
    tasks: Iterable[Task],
    runner: Runner,
    record: Record,
    watch: Watch,
    keep: Callable[[Task, Result], Result] = lambda task, result: result,
    is_done: Callable[[Task], bool] | None = None,
) -> dict[str, str]:
    """Run what is not done yet; gives, for data sets that failed, the error.

    Parameters
    ----------
    tasks
        What to run.
    runner
        What runs it.
    record
        Where results go, and where finished ones are found.
    watch
        Who is told.
    keep
        Called with each result before it is recorded; gives what is to be recorded.
    is_done
        Whether a task needs no running; by default, whether its result is recorded.
    """
    failures: dict[str, str] = {}
    done = is_done or (lambda task: task.key in record.results)
    open_tasks = [task for task in tasks if not done(task)]
    for outcome in runner.run(open_tasks, lambda task: task.dataset not in failures):
        dataset = outcome.task.dataset
        if outcome.result is None:
            if dataset not in failures:
                failures[dataset] = f"{outcome.task.key}: {outcome.error}"
                watch.failed(dataset, outcome.error)
            continue
        record.add(outcome.task.key, keep(outcome.task, outcome.result))
        watch.advance(dataset, sum(outcome.result["seconds"].values()))
    return failures


@dataclass
class SetResults:
    """What was found out about one data set."""

    name: str
    facts: dict[str, Any]
    """Numbers of instances, attributes and labels, and labels per instance."""
    ranking: dict[str, list[Candidate]]
    """Per objective, the lifts, best first."""
    baseline: dict[str, Candidate]
    """Per objective, no lift."""

    def chosen(self, objective: str) -> str:
        """The lift that was chosen for an objective."""
        return self.ranking[objective][0].lift


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

    def final(self, dataset: str, objective: str, relaxed: bool) -> Result:
        """The result of a final model."""
        lift = self.sets[dataset].chosen(objective) if relaxed else NONE
        return self.records[Task("final", dataset, objective, lift).key]

    def model_path(self, dataset: str, objective: str, relaxed: bool) -> Path:
        """Where a final model is."""
        lift = self.sets[dataset].chosen(objective) if relaxed else NONE
        return model_path(self.folder, Task("final", dataset, objective, lift))

    @property
    def sensitivity_set(self) -> str | None:
        """The data set of the sensitivity analysis."""
        return sensitivity_set(tuple(self.sets))


class Experiment:
    """A protocol that is being carried out in a folder.

    Parameters
    ----------
    plan
        What decides the numbers.
    folder
        Where the journal and the models go.
    places
        Where each data set of the plan is.
    make_runner
        Makes what runs the tasks, given the data sets.
    watch
        Who is told how far it is.
    missing
        Data sets that were wanted and are not there; the results remember them.
    reference
        Models of another program to compare with.
    """

    def __init__(
        self,
        plan: Plan,
        folder: Path,
        places: Mapping[str, str],
        make_runner: Callable[[Mapping[str, Material]], Runner],
        watch: Watch | None = None,
        missing: Iterable[str] = (),
        reference: Reference = Reference(),  # noqa: B008  # frozen
    ) -> None:
        self.plan = plan
        self.folder = folder
        self._places = dict(places)
        self._make_runner = make_runner
        self._watch = watch or NoWatch()
        self._missing = tuple(missing)
        self._reference = reference

    def run(self) -> Results:
        """Do all that is not done yet."""
        from plurule import __version__

        path = self.folder / "journal.jsonl"
        with Journal(path, self.plan.arguments(), __version__, code_fingerprint()) as journal:
            materials, failures = self._load(journal)
            journal.begin_session(machine_facts())
            sets: dict[str, SetResults] = {}
            runner = self._make_runner(materials)
            try:
                for name in materials:
                    try:
                        found = self._run_set(name, materials, runner, journal, failures)
                    except JournalError:
                        raise
                    except Exception as error:
                        self._give_up(name, described(error), failures)
                        # It may still be at work on that set.
                        runner.close()
                        runner = self._make_runner(materials)
                        continue
                    if found is not None:
                        sets[name] = found
                failures.update(self._make_up_sensitivity(sets, runner, journal))
            finally:
                runner.close()
            return Results(
                self.plan,
                sets,
                journal.results,
                failures,
                self._missing,
                journal.sessions,
                journal.finished_at,
                self.folder,
                self._reference,
            )

    def _load(self, journal: Journal) -> tuple[dict[str, Material], dict[str, str]]:
        """Read the data sets; one that cannot be read does not keep the others from going on."""
        materials: dict[str, Material] = {}
        failures: dict[str, str] = {}
        for name in self.plan.sets:
            try:
                material = load_material(self._places[name], self.plan.folds, self.plan.seed, self.plan.labels)
                if not self.plan.candidates(material.n_labels):
                    raise PluruleError(
                        f"none of the lifts fits {material.n_labels} labels: {', '.join(self.plan.lifts)}"
                    )
            except Exception as error:
                self._watch.begin(name, 1, 0, 0.0)
                self._give_up(name, described(error), failures)
                continue
            expect_unchanged(journal, name, material)
            materials[name] = material
        for name, material in materials.items():
            done = sum(key.split("/")[1] == name for key in journal.results)
            weight = float(len(material.train) * len(material.train.attributes) * material.n_labels)
            self._watch.begin(name, self._total(name, materials), done, weight)
        return materials, failures

    def _give_up(self, name: str, error: str, failures: dict[str, str]) -> None:
        failures[name] = error
        self._watch.failed(name, error)

    def _total(self, name: str, materials: Mapping[str, Material]) -> int:
        stand_in = dict.fromkeys(self.plan.objectives, "kln at 3: 1.00")
        folds = self.plan.fold_tasks(name, materials[name].n_labels, len(materials[name].splits))
        return len(folds) + len(self._later_tasks(name, materials, stand_in))

    def _later_tasks(self, name: str, materials: Mapping[str, Material], chosen: Mapping[str, str]) -> list[Task]:
        """What follows the choice of the lifts."""
        material = materials[name]
        tasks = [
            *self.plan.final_tasks(name, chosen),
            *self.plan.variant_tasks(name, len(material.train), material.n_labels, chosen),
            *self.plan.timing_tasks(name, chosen),
        ]
        tasks += self._reference.tasks(name)
        if name == sensitivity_set(tuple(materials)):
            tasks += self.plan.sensitivity_tasks(name, material.n_labels)
        return tasks

    def _run_set(
        self,
        name: str,
        materials: Mapping[str, Material],
        runner: Runner,
        journal: Journal,
        failures: dict[str, str],
    ) -> SetResults | None:
        material = materials[name]
        n_folds = len(material.splits)
        folds = self.plan.fold_tasks(name, material.n_labels, n_folds)
        failures.update(run_tasks(folds, runner, journal, self._watch))
        if name in failures:
            return None
        found = SetResults(name, data_facts(material), {}, {})
        for objective in self.plan.objectives:
            candidates = [
                candidate(journal.results, name, objective, lift, n_folds)
                for lift in self.plan.candidates(material.n_labels)
            ]
            measure = find_objective(objective).measure
            found.ranking[objective] = ranked(candidates, measure, material.n_labels)
            found.baseline[objective] = candidate(journal.results, name, objective, NONE, n_folds)
        chosen = {objective: found.chosen(objective) for objective in self.plan.objectives}
        later = self._later_tasks(name, materials, chosen)
        failures.update(run_tasks(later, runner, journal, self._watch, self._keep_model, self._is_done(journal)))
        return None if name in failures else found

    def _make_up_sensitivity(self, sets: Mapping[str, SetResults], runner: Runner, journal: Journal) -> dict[str, str]:
        """The sensitivity analysis on another data set, if the one that was meant for it failed."""
        name = sensitivity_set(tuple(sets))
        if name is None:
            return {}
        tasks = self.plan.sensitivity_tasks(name, sets[name].facts["labels"])
        return run_tasks(tasks, runner, journal, NoWatch())

    def _keep_model(self, task: Task, result: Result) -> Result:
        """Write the model of a final task to its file before the task counts as done."""
        if "model" not in result:
            return result
        path = model_path(self.folder, task)
        path.parent.mkdir(exist_ok=True)
        write_text(path, result["model"])
        return {name: value for name, value in result.items() if name != "model"}

    def _is_done(self, journal: Journal) -> Callable[[Task], bool]:
        def is_done(task: Task) -> bool:
            there = task.kind != "final" or model_path(self.folder, task).is_file()
            return task.key in journal.results and there

        return is_done


def expect_unchanged(journal: Journal, name: str, material: Material) -> None:
    """Refuse to go on if the journal belongs to other data of that name, or to other folds."""
    journal.expect(f"the contents of {name}", material.fingerprint())
    journal.expect(f"the folds of {name}", material.folds_fingerprint())


def sensitivity_set(names: tuple[str, ...]) -> str | None:
    """The data set for the sensitivity analysis: the paper's, or the first."""
    return SENSITIVITY_SET if SENSITIVITY_SET in names else next(iter(names), None)


def model_path(folder: Path, task: Task) -> Path:
    """Where a final model is kept.

    >>> model_path(Path("out"), Task("final", "birds", "ha+-", "peak 3: 1.04")).name
    'birds ha+- peak 3 1.04.json'
    """
    name = f"{task.dataset} {task.objective} {task.lift}"
    return folder / "models" / (re.sub(r"[^\w .+-]", "", name) + ".json")


def data_facts(material: Material) -> dict[str, Any]:
    """What describes a data set."""
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
    import numpy as np

    from plurule import __version__
    from plurule.selection.executing import core_count

    return {
        "machine": f"{_processor()}, {core_count()} cores, {platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "plurule": __version__,
        "code": code_fingerprint(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        name = platform.processor()
    return name or os.environ.get("PROCESSOR_IDENTIFIER", "unknown processor")
