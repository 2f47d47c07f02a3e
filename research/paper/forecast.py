"""Progress of a run and the time that is left, by the CPU seconds that data sets are known to take."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from research.paper.sets import CPU_SECONDS, QUICK_SECONDS

UNKNOWN = (40.0, 20.0)
"""Seconds of a data set that is not known: cross-validation, and what follows the choice of the lifts."""
LEAST = 5.0
"""Seconds after which the pace of a run is known."""
EVERY = 30.0
"""Seconds between two lines where there is no terminal."""


class Forecast:
    """Share of a run that is done, and the seconds that are left at the pace so far."""

    def __init__(
        self, sets: Sequence[str], clock: Callable[[], float] = time.monotonic, is_quick: bool = False
    ) -> None:
        known = QUICK_SECONDS if is_quick else CPU_SECONDS
        self._expected = {name: known.get(name, UNKNOWN) for name in sets}
        self._done = dict.fromkeys(sets, 0.0)
        self._clock = clock
        self._start: tuple[float, float] | None = None

    def update(self, name: str, stage: int, done: int, total: int) -> None:
        """Record the finished tasks of a stage of a data set."""
        if self._start is None:
            # What an earlier run has done says nothing about the pace of this one.
            self._done[name] = self._seconds(name, stage, done - 1, total)
            self._start = self._clock(), self.seconds_done
        self._done[name] = self._seconds(name, stage, done, total)

    def _seconds(self, name: str, stage: int, done: int, total: int) -> float:
        expected = self._expected[name]
        return sum(expected[:stage]) + expected[stage] * max(done, 0) / max(total, 1)

    @property
    def seconds_done(self) -> float:
        """Expected CPU seconds of what is done."""
        return sum(self._done.values())

    @property
    def _seconds_of_all(self) -> float:
        return sum(map(sum, self._expected.values()))

    @property
    def share(self) -> float:
        """Share of the run that is done."""
        return self.seconds_done / self._seconds_of_all

    @property
    def seconds_left(self) -> float | None:
        """Seconds by the clock that are left; None before anything is known about the pace."""
        if self._start is None:
            return None
        began, before = self._start
        elapsed = self._clock() - began
        progressed = self.seconds_done - before
        if progressed <= 0 or elapsed < LEAST:
            return None
        return elapsed / progressed * (self._seconds_of_all - self.seconds_done)

    def __str__(self) -> str:
        left = self.seconds_left
        text = f"{self.share:.0%} done"
        if left is None:
            return text
        return f"{text}, about {left / 60:.0f} min left" if left >= 90 else f"{text}, about {left:.0f} s left"


class Display:
    """One bar per data set and the time that is left; a line now and then where there is no terminal."""

    def __init__(self, console: Console, sets: Sequence[str], is_quick: bool = False) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        self._console = console
        self._bars = Progress(*columns, TextColumn("{task.fields[left]}"), console=console)
        self._ids: dict[tuple[str, int], TaskID] = {}
        self._forecast = Forecast(sets, is_quick=is_quick)
        self._last = -EVERY

    def __enter__(self) -> Display:
        if self._console.is_terminal:
            self._bars.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._console.is_terminal:
            self._bars.stop()

    def __call__(self, name: str, stage: int, done: int, total: int) -> None:
        self._forecast.update(name, stage, done, total)
        title = f"{name}, {('folds', 'models')[stage]}"
        if self._console.is_terminal:
            if (name, stage) not in self._ids:
                self._ids[name, stage] = self._bars.add_task(title, left="")
            self._bars.update(self._ids[name, stage], completed=done, total=total, left=str(self._forecast))
        elif time.monotonic() - self._last >= EVERY or done == total:
            self._last = time.monotonic()
            self._console.print(f"{title}: {done} of {total}; {self._forecast}")
