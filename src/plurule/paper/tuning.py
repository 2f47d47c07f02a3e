"""Choosing the lift of one data set, and evaluating a learner on one, with the same machinery as the whole protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from plurule.data import Dataset
from plurule.errors import PluruleError
from plurule.files import to_csv
from plurule.lifts import NONE
from plurule.metrics import METRICS
from plurule.paper.choosing import Candidate, candidate, ranked
from plurule.paper.experiment import Memory, Record, Watch, expect_unchanged, machine_facts, run_tasks
from plurule.selection.splitters import find_splitter, make_splits
from plurule.selection.journal import Journal
from plurule.paper.protocol import Plan, Task
from plurule.selection.executing import LocalRunner, Runner
from plurule.selection.trials import Material, labels_of
from plurule.selection.lift_search import TIE_BREAKERS
from plurule.selection.splitters import find_splitter, make_splits
from plurule.selection.trials import Material, labels_of


def make_runner(materials: Mapping[str, Material], jobs: int, dask: str | None) -> Runner:
    """What runs tasks: processes here, or a Dask cluster."""
    if dask is not None:
        from plurule.distributed.cluster import DaskRunner

        return DaskRunner(materials, dask)
    return LocalRunner(materials, jobs)


class Tuning:
    """The choice of a lift for one data set and one objective."""

    def __init__(
        self,
        data: Dataset,
        objective: str,
        lifts: Sequence[str],
        measure: str,
        folds: str,
        seed: int,
        name: str | None = None,
    ) -> None:
        name = name or data.name or "data"
        splits = make_splits(find_splitter(folds, seed), labels_of(data))
        self._material = Material(data, data, splits)
        self._plan = Plan(sets=(name,), objectives=(objective,), lifts=tuple(lifts), folds=folds, seed=seed)
        self._measure = measure
        self._name, self._objective = name, objective
        if not self._plan.candidates(self._material.n_labels):
            raise PluruleError(f"none of the lifts fits {self._material.n_labels} labels: {', '.join(lifts)}")

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return len(self._material.splits)

    def run(
        self, watch: Watch, jobs: int, dask: str | None = None, journal: Path | None = None
    ) -> tuple[list[Candidate], Candidate, str]:
        """The candidates, best first; no lift; and the text of the model that was trained with the best."""
        tasks = self._plan.fold_tasks(self._name, self._material.n_labels, self.n_folds)
        with nullcontext(Memory()) if journal is None else self._journal(journal) as record:
            done = sum(task.key in record.results for task in tasks)
            watch.begin(self._name, len(tasks) + 1, done, 1.0)
            runner = make_runner({self._name: self._material}, jobs, dask)
            try:
                self._must_work(tasks, runner, record, watch)
                ranking = ranked(self._candidates(record), self._measure, self._material.n_labels)
                final = Task("final", self._name, self._objective, ranking[0].lift)
                # The model is not kept in the journal, and quick to make again.
                record.results.pop(final.key, None)
                memory = Memory()
                self._must_work([final], runner, memory, watch)
            finally:
                runner.close()
            baseline = candidate(record.results, self._name, self._objective, NONE, self.n_folds)
        return ranking, baseline, memory.results[final.key]["model"]

    def to_csv(self, ranking: Sequence[Candidate], baseline: Candidate) -> str:
        """All candidates as a table, best first."""
        rows = []
        for rank, one in enumerate([*ranking, baseline], start=1):
            row: dict[str, Any] = {"rank": rank if rank <= len(ranking) else None, "lift": one.lift}
            for name in dict.fromkeys((self._measure, *TIE_BREAKERS, *METRICS)):
                row |= {name: one.mean(name), f"{name}_deviation": one.deviation(name)}
            rows.append(row | {"rules": one.mean_size("rules"), "conditions": one.mean_size("conditions")})
        return to_csv(rows)

    def _candidates(self, record: Record) -> list[Candidate]:
        lifts = self._plan.candidates(self._material.n_labels)
        return [candidate(record.results, self._name, self._objective, lift, self.n_folds) for lift in lifts]

    def _journal(self, path: Path) -> Journal:
        from plurule import __version__

        journal = Journal(path, self._plan.arguments(), __version__, code_fingerprint())
        try:
            expect_unchanged(journal, self._name, self._material)
        except BaseException:
            journal.close()
            raise
        journal.begin_session(machine_facts())
        return journal

    @staticmethod
    def _must_work(tasks: Sequence[Task], runner: Runner, record: Record, watch: Watch) -> None:
        failures = run_tasks(tasks, runner, record, watch)
        if failures:
            raise PluruleError("; ".join(failures.values()))


def evaluate_folds(
    data: Dataset, splits: Any, objective: str, lift: str, watch: Watch, jobs: int, dask: str | None = None
) -> list[dict[str, float]]:
    """Train on each fold and score on the rest: per fold, all measures and what the model consists of."""
    name = data.name or "data"
    material = Material(data, data, splits)
    tasks = [Task("fold", name, objective, lift, fold) for fold in range(len(splits))]
    return _evaluate(name, material, tasks, watch, jobs, dask)


def evaluate_split(train: Dataset, test: Dataset, objective: str, lift: str, watch: Watch) -> list[dict[str, float]]:
    """Train on one part and score on the other."""
    name = train.name or "data"
    material = Material(train, test, [])
    return _evaluate(name, material, [Task("final", name, objective, lift)], watch, jobs=1, dask=None)


def _evaluate(
    name: str, material: Material, tasks: Sequence[Task], watch: Watch, jobs: int, dask: str | None
) -> list[dict[str, float]]:
    record = Memory()
    watch.begin(name, len(tasks), 0, 1.0)
    runner = make_runner({name: material}, jobs, dask)
    try:
        failures = run_tasks(tasks, runner, record, watch)
    finally:
        runner.close()
    if failures:
        raise PluruleError("; ".join(failures.values()))
    return [record.results[task.key]["scores"] | record.results[task.key]["size"] for task in tasks]


def spread(rows: Sequence[Mapping[str, float]]) -> tuple[dict[str, float], dict[str, float]]:
    """Mean and standard deviation of every column.

    >>> spread([{"rules": 4.0}, {"rules": 6.0}])
    ({'rules': 5.0}, {'rules': 1.0})
    """
    columns = {name: np.array([row[name] for row in rows], dtype=float) for name in rows[0]}
    return {n: float(c.mean()) for n, c in columns.items()}, {n: float(c.std()) for n, c in columns.items()}
