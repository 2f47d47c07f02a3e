"""Worker processes that die, fail, and are no longer wanted."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from plurule.paper.materials import EMBEDDED
from plurule.paper.protocol import Plan, Task
from plurule.selection.executing import LocalRunner, Outcome, deaf_to_ctrl_c
from plurule.selection.trials import Material, Workbench

ALWAYS = lambda task: True  # noqa: E731


def tasks(count: int) -> list[Task]:
    return Plan(sets=(EMBEDDED,)).fold_tasks(EMBEDDED, n_labels=7, n_folds=5)[:count]


def without_times(outcomes: list[Outcome]) -> dict[str, object]:
    return {o.task.key: o.result and {k: v for k, v in o.result.items() if k != "seconds"} for o in outcomes}


@pytest.fixture
def expected(material: Material) -> dict[str, object]:
    workbench = Workbench({EMBEDDED: material})
    return without_times([Outcome(task, workbench.run(task)) for task in tasks(60)])


@pytest.mark.parametrize("jobs", [1, 3])
def test_every_task_is_run_once_with_the_same_result_as_here(
    jobs: int, material: Material, expected: dict[str, object]
):
    runner = LocalRunner({EMBEDDED: material}, jobs)
    try:
        outcomes = list(runner.run(tasks(60), ALWAYS))
    finally:
        runner.close()
    assert len(outcomes) == 60
    assert without_times(outcomes) == expected


def test_killed_workers_are_replaced_and_their_tasks_done_by_others(material: Material, expected: dict[str, object]):
    runner = LocalRunner({EMBEDDED: material}, 2)
    outcomes = []
    try:
        for outcome in runner.run(tasks(60), ALWAYS):
            outcomes.append(outcome)
            if len(outcomes) in (5, 20, 40):
                os.kill(runner._workers[0].process.pid, signal.SIGKILL)
    finally:
        runner.close()
    assert len(outcomes) == 60
    assert without_times(outcomes) == expected


def test_a_task_that_always_kills_its_worker_is_given_up_and_the_others_go_on(material: Material):
    runner = LocalRunner({EMBEDDED: material}, 1)
    stop = threading.Event()

    def kill_first() -> None:
        # Whoever works on the first task dies, however often it is tried.
        while not stop.is_set():
            for worker in list(runner._workers):
                if worker.tasks and worker.tasks[0] == tasks(1)[0]:
                    worker.process.kill()
            time.sleep(0.01)

    killer = threading.Thread(target=kill_first)
    killer.start()
    try:
        outcomes = list(runner.run(tasks(4), ALWAYS))
    finally:
        stop.set()
        killer.join()
        runner.close()
    by_key = {outcome.task.key: outcome for outcome in outcomes}
    assert by_key[tasks(1)[0].key].result is None
    assert "3 times" in by_key[tasks(1)[0].key].error
    assert sum(outcome.result is not None for outcome in outcomes) == 3


def test_an_error_in_a_task_is_an_outcome_not_the_end(material: Material):
    odd = Task("fold", EMBEDDED, "ha+", "peak 99: 1.1", 0)
    runner = LocalRunner({EMBEDDED: material}, 1)
    try:
        outcomes = list(runner.run([odd, *tasks(2)], ALWAYS))
    finally:
        runner.close()
    assert outcomes[0].result is None
    assert "Peak" in outcomes[0].error
    assert all(outcome.result for outcome in outcomes[1:])


def test_tasks_that_are_no_longer_wanted_are_left_out(material: Material):
    runner = LocalRunner({EMBEDDED: material}, 1)
    seen: list[Outcome] = []

    def wanted(task: Task) -> bool:
        return len(seen) < 3

    try:
        seen.extend(runner.run(tasks(30), wanted))
    finally:
        runner.close()
    assert 3 <= len(seen) <= 6


def test_a_runner_can_run_again_and_again(material: Material):
    runner = LocalRunner({EMBEDDED: material}, 2)
    try:
        for _ in range(3):
            assert len(list(runner.run(tasks(4), ALWAYS))) == 4
        assert list(runner.run([], ALWAYS)) == []
    finally:
        runner.close()


def test_a_ctrl_c_while_a_process_starts_comes_later_and_is_not_lost() -> None:
    went_on = []

    def start() -> None:
        with deaf_to_ctrl_c():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
            went_on.append(True)

    with pytest.raises(KeyboardInterrupt):
        start()
    assert went_on
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
