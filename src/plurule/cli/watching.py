"""How far long work is: a bar for everything and one per data set, with the time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TaskID, TextColumn
from rich.text import Text

from plurule.cli import terminal
from plurule.errors import PluruleError

ALL = "all"
STOPPED = 130
"""What a program ends with that was stopped by Ctrl-C."""


@dataclass
class Part:
    """A data set and how far it is."""

    total: int
    done: int
    weight: float
    """How long its tasks take, compared with those of others, as far as one can guess."""
    seconds: float = 0.0
    measured: int = 0

    @property
    def left(self) -> int:
        """Tasks still to be done."""
        return max(self.total - self.done, 0)


class Estimate:
    """How much time is left.

    Data sets differ by orders of magnitude. Those at work are judged by their own finished tasks, those not begun by
    their weights and the seconds that a unit of weight took so far.

    >>> estimate = Estimate()
    >>> estimate.begin("flags", total=10, done=0, weight=1.0)
    >>> estimate.begin("birds", total=10, done=0, weight=20.0)
    >>> for _ in range(10):
    ...     estimate.advance("flags", seconds=0.5)
    >>> estimate.cpu_left("birds")
    100.0
    """

    def __init__(self) -> None:
        self.parts: dict[str, Part] = {}
        self._started: float | None = None

    def begin(self, name: str, total: int, done: int, weight: float) -> None:
        """A data set is to be worked on."""
        self.parts[name] = Part(total, done, weight)

    def advance(self, name: str, seconds: float) -> None:
        """One more task is finished."""
        # The clock starts with the first result, lest the start of the workers be taken for slow work.
        self._started = time.monotonic() if self._started is None else self._started
        part = self.parts[name]
        part.done += 1
        part.seconds += seconds
        part.measured += 1

    def cpu_left(self, name: str) -> float | None:
        """Seconds of CPU that a data set still takes; None if nobody can know yet."""
        part = self.parts[name]
        if not part.left:
            return 0.0
        if part.measured:
            return part.left * part.seconds / part.measured
        weight = sum(p.weight * p.measured for p in self.parts.values())
        seconds = sum(p.seconds for p in self.parts.values())
        return part.left * part.weight * seconds / weight if weight and seconds else None

    def clock_left(self, name: str) -> float | None:
        """Seconds by the clock; the tasks that run side by side are those that did so far."""
        names = list(self.parts) if name == ALL else [name]
        parts = [self.cpu_left(one) for one in names]
        spent = sum(part.seconds for part in self.parts.values())
        elapsed = 0.0 if self._started is None else time.monotonic() - self._started
        if not spent or not elapsed or any(part is None for part in parts):
            return None
        return sum(part for part in parts if part is not None) * elapsed / spent


class _TimeLeft(ProgressColumn):
    """The time left, as a clock."""

    def __init__(self, estimate: Estimate) -> None:
        super().__init__()
        self._estimate = estimate

    def render(self, task: Any) -> Text:
        if task.fields.get("failed"):
            return Text("failed", style="red")
        if task.finished:
            return Text("done", style="green")
        left = self._estimate.clock_left(task.fields["name"])
        return Text("" if left is None else f"about {rounded(left)} left", style="dim")


def rounded(seconds: float) -> str:
    """A duration that nobody would mistake for exact.

    >>> rounded(42), rounded(200), rounded(9000)
    ('42 s', '3 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class ProgressWatch:
    """Shows on standard error how far an experiment is; in a log, one line per data set, unless it is quiet."""

    def __init__(self, console: Console, quiet: bool = False) -> None:
        self._console = console
        self._quiet = quiet
        self._estimate = Estimate()
        self._bars: dict[str, TaskID] = {}
        self._progress = Progress(
            TextColumn("{task.fields[name]}", justify="right"),
            BarColumn(bar_width=32),
            TextColumn("{task.completed:.0f}/{task.total:.0f}"),
            _TimeLeft(self._estimate),
            console=console,
            refresh_per_second=4,
            disable=not console.is_terminal,
        )

    def begin(self, dataset: str, total: int, done: int, weight: float) -> None:
        """A data set is to be worked on."""
        self._estimate.begin(dataset, total, done, weight)
        if ALL not in self._bars:
            self._bars[ALL] = self._progress.add_task("", total=0, name=ALL)
        self._bars[dataset] = self._progress.add_task("", total=total, completed=done, name=dataset)
        self._update(ALL)

    def advance(self, dataset: str, seconds: float) -> None:
        """One more task is finished."""
        self._estimate.advance(dataset, seconds)
        self._update(dataset)
        self._update(ALL)
        part = self._estimate.parts[dataset]
        if not part.left and not self._console.is_terminal and not self._quiet:
            self._console.print(f"{dataset}: {part.total} results, {part.seconds:.1f} s of CPU", soft_wrap=True)

    def failed(self, dataset: str, error: str) -> None:
        """A data set is given up."""
        part = self._estimate.parts[dataset]
        part.total = part.done
        self._progress.update(self._bars[dataset], failed=True)
        self._progress.stop_task(self._bars[dataset])
        self._update(ALL)
        self._console.print(Text(f"{dataset}: {error}", style="red"), soft_wrap=True)

    def _update(self, name: str) -> None:
        parts = self._estimate.parts
        shown = list(parts.values()) if name == ALL else [parts[name]]
        self._progress.update(self._bars[name], total=sum(p.total for p in shown), completed=sum(p.done for p in shown))

    def counting(self, name: str) -> Callable[[int, int], None]:
        """A function that is told how many pieces of one work are finished, and how many there are."""
        last = time.monotonic()

        def progress(done: int, total: int) -> None:
            nonlocal last
            now = time.monotonic()
            if done == 0:
                self.begin(name, total, 0, 1.0)
            else:
                self.advance(name, now - last)
            last = now

        return progress

    @contextmanager
    def showing(self) -> Iterator[None]:
        """Show the bars while a block runs."""
        with self._progress:
            yield


@contextmanager
def stoppable(console: Console, kept: str) -> Iterator[None]:
    """End the program in one sentence when the user presses Ctrl-C (or a system asks it to end) in the block."""
    import signal

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


def messages() -> Console:
    """Where progress and notes go, so that results can be piped elsewhere."""
    return terminal.console(stderr=True)


def check_jobs(jobs: int | None) -> int:
    """Number of processes; None or -1 is one per core."""
    from plurule import parameters

    if jobs is not None and jobs != -1 and jobs < 1:
        raise PluruleError(f"--jobs {jobs}, expected at least 1, or -1 for all cores")
    return parameters.check_jobs(-1 if jobs is None else jobs)


@contextmanager
def workers(jobs: int, dask: str | None = None) -> Iterator[Executor | None]:
    """What runs the work: processes here, or a Dask cluster."""
    from plurule.distributed.cluster import cluster
    from plurule.selection.executing import processes

    with processes(jobs) if dask is None else cluster(dask) as executor:
        yield executor
