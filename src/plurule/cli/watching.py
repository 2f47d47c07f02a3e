"""How far long work is: a bar for everything and one per data set, with the time left."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager

from rich.console import Console
from rich.progress import Task
from rich.text import Text

from plurule.cli import terminal
from plurule.errors import PluruleError
from plurule.progress import Counted, Watch, bars, counting, sharing

ALL = "all"
STOPPED = 130
"""What a program ends with that was stopped by Ctrl-C."""


class ProgressWatch(Watch):
    """Shows on standard error how far an experiment is; in a log, one line per data set."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bars: dict[str, Task] = {}
        self.shown = bars(console)
        """Shown in a block with it."""

    def begin(self, dataset: str, total: int, done: int, weight: float) -> None:
        # The bar of everything counts what tasks weigh, not how many there are.
        for name, size in ((ALL, 0), (dataset, total)):
            if name not in self._bars:
                self.shown.add_task("", total=size, name=name, done="", note="", weight=weight, seconds=0.0)
                self._bars[name] = self.shown.tasks[-1]
        self._move(self._bars[dataset], done)
        self._grow(weight * (total - done))

    def advance(self, dataset: str, seconds: float) -> None:
        bar = self._bars[dataset]
        bar.fields["seconds"] += seconds
        self._move(bar, 1)
        self.shown.advance(self._bars[ALL].id, bar.fields["weight"])
        if bar.finished and not self._console.is_terminal:
            cpu = f"{bar.fields['seconds']:.1f} s of CPU"
            self._console.print(f"{dataset}: {bar.total:.0f} results, {cpu}", soft_wrap=True)

    def failed(self, dataset: str, error: str) -> None:
        bar = self._bars[dataset]
        self._grow(-bar.fields["weight"] * ((bar.total or 0) - bar.completed))
        self.shown.update(bar.id, note="failed")
        self.shown.stop_task(bar.id)
        self._console.print(Text(f"{dataset}: {error}", style="red"), soft_wrap=True)

    def _move(self, bar: Task, steps: int) -> None:
        self.shown.advance(bar.id, steps)
        self.shown.update(bar.id, done=f"{bar.completed:.0f}/{bar.total:.0f}")

    def _grow(self, weight: float) -> None:
        self.shown.update(self._bars[ALL].id, total=(self._bars[ALL].total or 0) + weight)


@contextmanager
def stoppable(console: Console, kept: str) -> Iterator[None]:
    """End the program in one sentence when the user presses Ctrl-C (or a system asks it to end) in the block."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        console.print(Text(f"Stopped. {kept}", style="yellow"), soft_wrap=True)
        sys.exit(STOPPED)
    finally:
        signal.signal(signal.SIGTERM, before)


def check_jobs(jobs: int | None) -> int:
    """Number of processes; None or -1 is one per core."""
    from plurule import parameters

    if jobs is not None and jobs != -1 and jobs < 1:
        raise PluruleError(f"--jobs {jobs}, expected at least 1, or -1 for all cores")
    return parameters.check_jobs(-1 if jobs is None else jobs)


def workers(jobs: int, dask: str | None = None) -> AbstractContextManager[Executor | None]:
    """What runs the work: processes here, or a Dask cluster."""
    from plurule.distributed.cluster import cluster
    from plurule.selection.executing import processes

    return processes(jobs) if dask is None else cluster(dask)


@contextmanager
def working(name: str, kept: str, jobs: int = 1, dask: str | None = None) -> Iterator[tuple[Counted, Executor | None]]:
    """Long work in the block: what is told how far it is, and what runs it; `kept` says what is left if it is ended."""
    notes = terminal.console(stderr=True)
    with stoppable(notes, kept), workers(jobs, dask) as executor, counting(notes, name) as progress:
        yield progress, executor


@contextmanager
def waiting(name: str, kept: str = "Nothing was written.") -> Iterator[Callable[[float], None]]:
    """A bar in the block if it takes a second; moves to and fro unless told which share is done."""
    notes = terminal.console(stderr=True)
    with stoppable(notes, kept), sharing(notes, name) as progress:
        yield progress
