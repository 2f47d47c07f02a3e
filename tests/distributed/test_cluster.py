"""A Dask cluster of several worker processes, one of which is killed on the way."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from plurule.distributed.cluster import DaskRunner
from plurule.errors import PluruleError
from plurule.paper.materials import EMBEDDED
from plurule.paper.protocol import Plan, Task
from plurule.selection.trials import Material, Workbench

distributed: Any = pytest.importorskip("distributed")


def tasks(count: int) -> list[Task]:
    return Plan(sets=(EMBEDDED,)).fold_tasks(EMBEDDED, n_labels=7, n_folds=5)[::5][:count]


def without_times(results: dict[str, Any]) -> dict[str, Any]:
    return {key: {k: v for k, v in result.items() if k != "seconds"} for key, result in results.items()}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster


def test_a_cluster_gives_the_same_results_though_a_worker_is_killed(cluster: Any, material: Material):
    workbench = Workbench({EMBEDDED: material})
    expected = {task.key: workbench.run(task) for task in tasks(120)}
    runner = DaskRunner({EMBEDDED: material}, cluster.scheduler_address)
    found: dict[str, Any] = {}
    workers = runner._client.run(os.getpid)
    assert len(set(workers.values())) == 3
    try:
        for outcome in runner.run(tasks(120), lambda task: True):
            assert outcome.result is not None, outcome.error
            assert outcome.task.key not in found
            found[outcome.task.key] = outcome.result
            if len(found) == 30:
                os.kill(next(iter(workers.values())), signal.SIGKILL)
    finally:
        runner.close()
    assert without_times(found) == without_times(expected)


def test_an_error_in_a_task_is_an_outcome_not_the_end(cluster: Any, material: Material):
    runner = DaskRunner({EMBEDDED: material}, cluster.scheduler_address)
    odd = Task("fold", EMBEDDED, "ha+", "peak 99: 1.1", 0)
    try:
        outcomes = {o.task.key: o for o in runner.run([odd, *tasks(3)], lambda task: True)}
    finally:
        runner.close()
    assert "Peak" in outcomes[odd.key].error
    assert sum(outcome.result is not None for outcome in outcomes.values()) == 3


def test_other_folds_of_the_same_data_on_the_same_workers_are_used(cluster: Any, material: Material):
    backwards = replace(material, splits=material.splits[::-1])
    found = []
    for one in (material, backwards):
        runner = DaskRunner({EMBEDDED: one}, cluster.scheduler_address)
        folds = [Task("fold", EMBEDDED, "ha+", "none", fold) for fold in range(5)]
        try:
            scores = {o.task.part: (o.result or {}).get("scores") for o in runner.run(folds, lambda task: True)}
        finally:
            runner.close()
        found.append([scores[fold] for fold in range(5)])
    assert found[0] == found[1][::-1]
    assert found[0] != found[1]


def test_tasks_that_are_not_wanted_are_left_out(cluster: Any, material: Material):
    runner = DaskRunner({EMBEDDED: material}, cluster.scheduler_address)
    try:
        outcomes = list(runner.run(tasks(20), lambda task: task.objective == "macro-f+"))
    finally:
        runner.close()
    assert outcomes
    assert {outcome.task.objective for outcome in outcomes} == {"macro-f+"}


def test_workers_with_other_code_are_refused(cluster: Any, material: Material, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("plurule.selection.code.code_fingerprint", lambda: "0123456789ab")
    with pytest.raises(PluruleError, match=r"has plurule .* \(code \w+\), this is plurule .* \(code 0123456789ab\)"):
        DaskRunner({EMBEDDED: material}, cluster.scheduler_address)


def test_a_scheduler_that_is_not_there_is_said_to_be_missing(material: Material):
    with pytest.raises(PluruleError, match="no Dask scheduler answers at"):
        DaskRunner({EMBEDDED: material}, "tcp://127.0.0.1:1")


def test_a_scheduler_without_workers_is_not_waited_for(material: Material):
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as empty,
        pytest.raises(PluruleError, match="has no workers"),
    ):
        DaskRunner({EMBEDDED: material}, empty.scheduler_address)
