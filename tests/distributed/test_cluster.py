"""A Dask cluster of several worker processes, one of which is killed on the way."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

from plurule import RuleListClassifierCV
from plurule.data import Dataset
from plurule.datasets import load_world_flags
from plurule.distributed.cluster import cluster
from plurule.errors import PluruleError
from plurule.learning.problem import Options
from plurule.lifts import PAPER_LIFTS, as_table, find_lift
from plurule.prediction.scoring import Scoring
from plurule.selection.executing import Shared, run
from plurule.selection.folds import Folds, make_parts, problem_of
from plurule.selection.trials import Evaluation, Trial

distributed: Any = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def flags() -> Dataset:
    return load_world_flags()


def evaluation_of(flags: Dataset) -> Evaluation:
    problem = problem_of(flags)
    return Evaluation(Folds(problem, make_parts(5, problem.Y)), Scoring("micro_f1"), by_length=False)


def trials() -> dict[str, Trial]:
    tables = {lift: as_table(find_lift(lift), 7) for lift in PAPER_LIFTS[::4]}
    return {f"{lift}/{part}": Trial(Options(table), part) for lift, table in tables.items() for part in range(5)}


def scores(results: dict[str, Any]) -> dict[str, Any]:
    return {key: (result["scores"], result["size"]) for key, result in results.items()}


def test_a_cluster_gives_the_same_results_though_a_worker_is_killed(address: str, flags: Dataset) -> None:
    evaluation = evaluation_of(flags)
    expected = {key: trial(evaluation) for key, trial in trials().items()}
    found: dict[str, Any] = {}
    with cluster(address) as executor, distributed.Client(address, set_as_default=False) as client:
        client.wait_for_workers(2)
        workers = client.run(os.getpid)
        assert len(set(workers.values())) == 2
        for key, result in run(Shared(evaluation), trials(), executor):
            assert key not in found
            found[key] = result
            if len(found) == 10:
                os.kill(next(iter(workers.values())), signal.SIGKILL)
    assert scores(found) == scores(expected)
    assert len(found) == 35


def test_a_search_takes_the_executor_of_any_client(address: str, flags: Dataset) -> None:
    search = RuleListClassifierCV(param_grid={"heuristic__beta": [0.5, 1.0]}, cv=2)
    here = search.fit(flags).rule_list_
    with distributed.Client(address, set_as_default=False) as client:
        assert search.fit(flags, executor=client.get_executor()).rule_list_ == here


def test_an_error_in_a_task_ends_the_run_and_not_the_cluster(address: str, flags: Dataset) -> None:
    odd = Trial(Options(as_table(None, 7)), part=99)
    with cluster(address) as executor:
        with pytest.raises(IndexError):
            list(run(Shared(evaluation_of(flags)), {"odd": odd}, executor))
        few = dict(list(trials().items())[:3])
        assert len(dict(run(Shared(evaluation_of(flags)), few, executor))) == 3


def test_workers_with_other_code_are_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plurule.selection.code.code_fingerprint", lambda: "0123456789ab")
    with (
        pytest.raises(PluruleError, match=r"has plurule .* \(code \w+\), this is plurule .* \(code 0123456789ab\)"),
        cluster(address),
    ):
        pass


@pytest.mark.usefixtures("impatient")
def test_a_scheduler_that_is_not_there_is_said_to_be_missing() -> None:
    with pytest.raises(PluruleError, match="no Dask scheduler answers at"), cluster("tcp://127.0.0.1:1"):
        pass


def test_a_scheduler_without_workers_is_not_waited_for() -> None:
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as empty,
        pytest.raises(PluruleError, match="has no workers"),
        cluster(empty.scheduler_address),
    ):
        pass
