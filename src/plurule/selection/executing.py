"""Running independent tasks on any executor: here, in threads, in processes, or on a cluster.

A task is a function of what all tasks share (a data set and its folds). What is shared is sent to a process only when
it says that it lacks it, so that it travels once, to whatever worker there is.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import pickle
import re
import signal
import threading
import traceback
import uuid
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from functools import cached_property, partial
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import Any

from joblib import cpu_count

from plurule.errors import PluruleError
from plurule.selection.journal import Journal

Task = Callable[[Any], Any]
"""A function of what is shared; it must be possible to pickle it if it is run in another process."""

FIRST, MOST = 2, 256
"""Tasks that are handed out at first, and at most. Each result that comes back makes room for one more."""
MOST_DEATHS = 3
"""How often a task may be at work in a process that dies."""
FEW_PROCESSES = 16
"""More than these are started only if there are as many cores: they would only cost memory."""
_KEPT = 4
"""How much of what is shared a process keeps that it was sent to."""


class Shared:
    """What all tasks work on."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.name = uuid.uuid4().hex

    @cached_property
    def packed(self) -> bytes:
        """The form in which it travels."""
        return pickle.dumps(self.value)


def run(
    shared: Shared,
    tasks: Mapping[str, Task],
    executor: Executor | None = None,
    journal: Journal | None = None,
    keep: Callable[[str, Any], Any] = lambda key, result: result,
) -> Iterator[tuple[str, Any]]:
    """The results by name, in the order in which they are finished; without an executor one after the other, here.

    Results are recorded in the journal; those that are there already come first and are not computed again. `keep` is
    called with each new result before it is recorded, and gives what is to be kept of it.
    """
    recorded = {} if journal is None else {key: journal.results[key] for key in tasks if key in journal.results}
    yield from recorded.items()
    left = {key: task for key, task in tasks.items() if key not in recorded}
    for key, result in _run_here(shared, left) if executor is None else _run_on(executor, shared, left):
        kept = keep(key, result)
        if journal is not None:
            journal.add(key, kept)
        yield key, kept


def _run_here(shared: Shared, tasks: Mapping[str, Task]) -> Iterator[tuple[str, Any]]:
    for key, task in tasks.items():
        with _told_which(key):
            result = task(shared.value)
        yield key, result


def _run_on(executor: Executor, shared: Shared, tasks: Mapping[str, Task]) -> Iterator[tuple[str, Any]]:
    waiting = deque(tasks)
    running: dict[Future[tuple[bool, Any]], str] = {}
    lacking: set[str] = set()
    deaths: Counter[str] = Counter()
    room = FIRST
    _here[shared.name] = shared.value
    try:
        while waiting or running:
            while waiting and len(running) < room:
                key = waiting.popleft()
                packed = shared.packed if key in lacking else None
                running[executor.submit(_attempt, shared.name, packed, tasks[key])] = key
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                key = running.pop(future)
                try:
                    with _told_which(key):
                        found, result = future.result()
                except BrokenExecutor:
                    # A process died, and nobody knows of which task: few are tried at a time from here on.
                    deaths[key] += 1
                    if deaths[key] == MOST_DEATHS:
                        raise PluruleError(
                            f"{key}: its process ended {MOST_DEATHS} times; is the memory full?"
                        ) from None
                    waiting.appendleft(key)
                    room = FIRST
                except CancelledError:
                    raise PluruleError("the executor was lost; what was finished is kept") from None
                else:
                    if found:
                        room = min(room + 1, MOST)
                        yield key, result
                    else:
                        lacking.add(key)
                        waiting.appendleft(key)
    finally:
        del _here[shared.name]
        for future in running:
            future.cancel()


@contextmanager
def _told_which(key: str) -> Iterator[None]:
    """An error says in which task it happened."""
    try:
        yield
    except (BrokenExecutor, CancelledError):
        raise
    except Exception as error:
        error.add_note(key)
        raise


def place_of(error: BaseException) -> str:
    """Where an error happened, also one that came from another process."""
    if isinstance(error.__cause__, BaseException) and type(error.__cause__).__name__ == "_RemoteTraceback":
        found = re.findall(r'File "([^"]+)", line (\d+)', str(error.__cause__))
    else:
        found = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    return f"{os.path.basename(found[-1][0])}, line {found[-1][1]}" if found else "nobody knows where"


# Where tasks are run -------------------------------------------------------------------------------------------------

_here: dict[str, Any] = {}
"""What is shared by the tasks that this process handed out; its own threads find it here."""
_sent: dict[str, Any] = {}
"""What was sent to this process, what was used last at the end."""
_sending = threading.Lock()
# Ranked columns must not outlive the engine at the end of a process.
atexit.register(_sent.clear)


def _attempt(name: str, packed: bytes | None, task: Task) -> tuple[bool, Any]:
    """The result of a task; or that what it works on is not here and must be sent."""
    with _sending:
        if name not in _here:
            if name not in _sent and packed is None:
                return False, None
            _sent[name] = _sent.pop(name) if name in _sent else pickle.loads(packed or b"")
            while len(_sent) > _KEPT:
                del _sent[next(iter(_sent))]
        value = _here[name] if name in _here else _sent[name]
    return True, task(value)


# Executors -----------------------------------------------------------------------------------------------------------


class Processes(Executor):
    """Processes on this machine that do not hear Ctrl-C, end when this process does, and are replaced if they die."""

    def __init__(self, n_jobs: int) -> None:
        self._n_jobs = min(n_jobs, max(cpu_count(), FEW_PROCESSES))
        self._start()

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Hand out a call."""
        # A Ctrl-C in the terminal reaches all processes of it; those that start without hearing it do not die of it.
        with ctrl_c_later():
            try:
                return self._pool.submit(function, *args, **kwargs)
            except BrokenExecutor:
                self.shutdown()
                self._start()
                return self._pool.submit(function, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes; with `cancel_futures` at once, whatever they are at."""
        if cancel_futures:
            self._lifeline.close()
        self._pool.shutdown(wait, cancel_futures=cancel_futures)
        self._lifeline.close()
        self._other_end.close()

    def _start(self) -> None:
        # Spawned processes share no locks, threads or pipes with this one, and work alike everywhere.
        context = multiprocessing.get_context("spawn")
        self._other_end, self._lifeline = context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(self._n_jobs, context, _begin, (self._other_end,))


def _begin(lifeline: Connection) -> None:
    """What a new process does first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()


def _end_with(lifeline: Connection) -> None:
    """End this process when the one that started it closes its end of the pipe, or dies."""
    try:
        lifeline.poll(None)
    finally:
        os._exit(1)


@contextmanager
def ctrl_c_later() -> Iterator[None]:
    """What is started in the block does not hear Ctrl-C; for this process it comes when the block ends."""
    if not hasattr(signal, "pthread_sigmask") or threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[object] = []
    # It is started with the first process, and would let signals through again.
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


@contextmanager
def _as_many(make: Callable[[int], Executor], n_jobs: int) -> Iterator[Executor | None]:
    """An executor that is ended at once when the block is; for one job, nothing but this thread."""
    if n_jobs == 1:
        yield None
        return
    executor = make(n_jobs)
    try:
        yield executor
    finally:
        executor.shutdown(cancel_futures=True)


threads = partial(_as_many, ThreadPoolExecutor)
processes = partial(_as_many, Processes)
