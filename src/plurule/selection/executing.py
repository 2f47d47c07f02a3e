"""Running tasks on the cores of this machine: worker processes that can die, be killed or be told to stop.

Each worker is fed through its own pipe, a few tasks ahead. If one dies, its tasks are given to another; if this program
dies, the workers see their pipes close and end.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, Protocol

from plurule.errors import PluruleError
from plurule.paper.protocol import Task
from plurule.selection.trials import Material, Result, Workbench

_AHEAD = 2
"""Tasks that a worker has at a time: one at work and one waiting, so that it never idles."""
_MOST_DEATHS = 3
"""How often the same task may take its worker with it."""


@dataclass(frozen=True)
class Outcome:
    """What became of a task: its result, or the error it ended with."""

    task: Task
    result: Result | None
    error: str = ""


class Runner(Protocol):
    """Something that runs tasks."""

    def run(self, tasks: Iterable[Task], wanted: Callable[[Task], bool]) -> Iterator[Outcome]:
        """Run the tasks, in any order; those that are no longer wanted when their turn comes are left out."""

    def close(self) -> None:
        """End at once whatever still runs."""


def core_count() -> int:
    """Number of cores that this program may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS, Windows
        return os.cpu_count() or 1


@dataclass
class _Worker:
    process: Any
    pipe: Connection
    tasks: deque[Task] = field(default_factory=deque)


class LocalRunner:
    """Runs tasks in processes on this machine."""

    def __init__(self, materials: Mapping[str, Material], jobs: int) -> None:
        self._materials = dict(materials)
        # Spawned processes share no locks, threads or pipes with this one, and work alike everywhere.
        self._context = multiprocessing.get_context("spawn")
        self._jobs = max(jobs, 1)
        self._workers: list[_Worker] = []
        self._deaths: dict[str, int] = {}

    def run(self, tasks: Iterable[Task], wanted: Callable[[Task], bool]) -> Iterator[Outcome]:
        """Run the tasks; outcomes come in the order in which they are finished."""
        waiting = deque(tasks)
        while True:
            self._feed(waiting, wanted)
            busy = [worker for worker in self._workers if worker.tasks]
            if not busy:
                return
            ready = wait([worker.pipe for worker in busy])
            for worker in busy:
                if worker.pipe in ready:
                    yield from self._collect(worker, waiting)

    def close(self) -> None:
        """Kill the workers."""
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.process.join()
            worker.pipe.close()
        self._workers = []

    def _feed(self, waiting: deque[Task], wanted: Callable[[Task], bool]) -> None:
        while waiting:
            if not wanted(waiting[0]):
                waiting.popleft()
                continue
            worker = self._freest()
            if worker is None:
                return
            task = waiting.popleft()
            worker.tasks.append(task)
            try:
                worker.pipe.send(task)
            except OSError:
                # It has died; its pipe will say so, and its tasks go to another.
                return

    def _freest(self) -> _Worker | None:
        worker = min(self._workers, key=lambda w: len(w.tasks), default=None)
        if (worker is None or worker.tasks) and len(self._workers) < self._jobs:
            worker = self._start()
        return None if worker is None or len(worker.tasks) >= _AHEAD else worker

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_work, args=(theirs, self._materials), daemon=True)
        with deaf_to_ctrl_c():
            process.start()
        theirs.close()
        worker = _Worker(process, ours)
        self._workers.append(worker)
        return worker

    def _collect(self, worker: _Worker, waiting: deque[Task]) -> Iterator[Outcome]:
        try:
            result, error = worker.pipe.recv()
        except (EOFError, OSError):
            yield from self._bury(worker, waiting)
            return
        yield Outcome(worker.tasks.popleft(), result, error)

    def _bury(self, worker: _Worker, waiting: deque[Task]) -> Iterator[Outcome]:
        """Give the tasks of a dead worker back; one that keeps killing workers is given up."""
        self._workers.remove(worker)
        worker.process.join()
        worker.pipe.close()
        first = worker.tasks.popleft()
        deaths = self._deaths[first.key] = self._deaths.get(first.key, 0) + 1
        waiting.extendleft(reversed(worker.tasks))
        if deaths < _MOST_DEATHS:
            waiting.appendleft(first)
        else:
            code = worker.process.exitcode
            yield Outcome(first, None, f"its process ended {deaths} times with code {code}; is the memory full?")


def _work(pipe: Connection, materials: Mapping[str, Material]) -> None:
    """What a worker process does: tasks in, results out, until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    workbench = Workbench(materials)
    while True:
        try:
            task = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer = attempt(workbench, task)
            pipe.send(answer)
        except OSError:
            return


def attempt(workbench: Workbench, task: Task) -> tuple[Result | None, str]:
    """The result of a task, or what went wrong."""
    try:
        return workbench.run(task), ""
    except Exception as error:
        return None, described(error)


def described(error: Exception) -> str:
    """An error in one line; one that nobody foresaw with its kind and its place."""
    if isinstance(error, PluruleError | OSError | ImportError | MemoryError):
        return str(error) or type(error).__name__
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({os.path.basename(place.filename)}, line {place.lineno})"


@contextmanager
def deaf_to_ctrl_c() -> Iterator[None]:
    """For starting processes: a Ctrl-C in the terminal reaches all of them, and who starts deaf to it never dies of it.

    For this process it comes when the block ends; it is not lost.
    """
    if not hasattr(signal, "pthread_sigmask") or threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[object] = []
    # It is started with the first process, and lets signals through.
    resource_tracker.ensure_running()
    # What is started takes over the mask; here, other threads of the process may still be sent the signal.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    before = signal.signal(signal.SIGINT, lambda *signalled: heard.append(signalled))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, before)
    if heard:
        signal.raise_signal(signal.SIGINT)
