"""Tasks on any executor: the same results, and processes that die, fail, and are no longer wanted."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from plurule.errors import PluruleError
from plurule.selection.executing import MOST_DEATHS, Processes, Shared, ctrl_c_later, place_of, processes, run, threads
from plurule.selection.journal import Journal

NUMBERS = list(range(1000))


@dataclass(frozen=True)
class Add:
    """Adds a number to the sum of what is shared."""

    number: int

    def __call__(self, shared: list[int]) -> int:
        return sum(shared) + self.number


@dataclass(frozen=True)
class Kill:
    """Kills its own process, as a system does that is out of memory; the first times, or always."""

    marks: Path
    times: int

    def __call__(self, shared: list[int]) -> int:
        done = len(list(self.marks.iterdir()))
        if done < self.times:
            (self.marks / str(done)).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return -1


@dataclass(frozen=True)
class Fail:
    """Ends in an error."""

    def __call__(self, shared: list[int]) -> int:
        raise ZeroDivisionError("nobody thought of this")


@dataclass
class Counted:
    """Counts how often it travels."""

    travelled: list[int] = field(default_factory=list)

    def __getstate__(self) -> dict[str, Any]:
        self.travelled.append(1)
        return {"travelled": []}


@dataclass(frozen=True)
class Look:
    """Says in which process it is."""

    def __call__(self, shared: Counted) -> int:
        time.sleep(0.01)
        return os.getpid()


def additions(count: int) -> dict[str, Any]:
    return {f"task {i}": Add(i) for i in range(count)}


EXPECTED = {f"task {i}": sum(NUMBERS) + i for i in range(60)}


@pytest.mark.parametrize(
    "make",
    [
        lambda: nullcontext(None),
        lambda: threads(1),
        lambda: threads(3),
        lambda: processes(1),
        lambda: processes(2),
        lambda: ThreadPoolExecutor(2),
        lambda: ProcessPoolExecutor(2, multiprocessing.get_context("spawn")),
    ],
)
def test_every_task_is_run_once_with_the_same_result_on_any_executor(make: Any) -> None:
    with make() as executor:
        results = list(run(Shared(NUMBERS), additions(60), executor))
    assert len(results) == 60
    assert dict(results) == EXPECTED


def test_what_is_shared_travels_about_once_per_process_and_not_at_all_to_threads() -> None:
    shared = Counted()
    with threads(2) as executor:
        assert {pid for _, pid in run(Shared(shared), {str(i): Look() for i in range(20)}, executor)} == {os.getpid()}
    assert shared.travelled == []
    with processes(2) as executor:
        pids = {pid for _, pid in run(Shared(shared), {str(i): Look() for i in range(40)}, executor)}
    assert os.getpid() not in pids
    assert len(shared.travelled) == 1, "it is packed once"


def test_killed_processes_are_replaced_and_their_tasks_done_by_others(tmp_path: Path) -> None:
    with processes(2) as executor:
        tasks = {**additions(20), "killer": Kill(tmp_path, times=MOST_DEATHS - 1), **additions(60)}
        results = dict(run(Shared(NUMBERS), tasks, executor))
    assert results == EXPECTED | {"killer": -1}


def test_a_task_that_always_kills_its_process_is_given_up_and_the_executor_goes_on(tmp_path: Path) -> None:
    with processes(2) as executor:
        with pytest.raises(PluruleError, match=f"its process ended {MOST_DEATHS} times; is the memory full"):
            list(run(Shared(NUMBERS), {"killer": Kill(tmp_path, times=100)}, executor))
        assert dict(run(Shared(NUMBERS), additions(60), executor)) == EXPECTED


@pytest.mark.parametrize("make", [lambda: nullcontext(None), lambda: threads(2), lambda: processes(2)])
def test_an_error_in_a_task_says_in_which_and_the_executor_goes_on(make: Any) -> None:
    with make() as executor:
        with pytest.raises(ZeroDivisionError, match="nobody thought of this") as raised:
            list(run(Shared(NUMBERS), {**additions(5), "odd": Fail(), **additions(60)}, executor))
        assert raised.value.__notes__[-1] == "odd"
        assert place_of(raised.value).startswith("test_executing.py, line ")
        assert dict(run(Shared(NUMBERS), additions(60), executor)) == EXPECTED


def test_what_is_recorded_is_not_computed_again(tmp_path: Path) -> None:
    few = dict(list(additions(60).items())[:10])
    with Journal(tmp_path / "j.jsonl") as journal:
        assert len(dict(run(Shared(NUMBERS), few, None, journal))) == 10
    with Journal(tmp_path / "j.jsonl") as journal:
        again = dict.fromkeys(few, Fail()) | {key: task for key, task in additions(60).items() if key not in few}
        assert dict(run(Shared(NUMBERS), again, None, journal)) == EXPECTED
        assert journal.results == EXPECTED


def test_what_is_kept_of_a_result_is_what_is_recorded(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.jsonl") as journal:
        found = dict(run(Shared(NUMBERS), additions(3), None, journal, lambda key, result: f"{key}: {result}"))
        assert found == journal.results == {key: f"{key}: {EXPECTED[key]}" for key in additions(3)}


def test_the_processes_end_at_once_when_they_are_no_longer_wanted() -> None:
    executor: Executor = Processes(2)
    pids = {pid for _, pid in run(Shared(Counted()), {str(i): Look() for i in range(10)}, executor)}
    futures = [executor.submit(time.sleep, 600) for _ in range(4)]
    executor.shutdown(cancel_futures=True)
    assert all(future.done() for future in futures)
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_a_ctrl_c_while_a_process_starts_comes_later_and_is_not_lost() -> None:
    went_on = []

    def start() -> None:
        with ctrl_c_later():
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)
            went_on.append(True)

    with pytest.raises(KeyboardInterrupt):
        start()
    assert went_on
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
