"""Bars on standard error that show how far long work is, with the time left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

Counted: TypeAlias = Callable[[int, int], None]
"""Told how many pieces of a work are finished, and how many there are."""

SOON = 1.0
"""Seconds that work may take without a bar."""


def bars(console: Console, transient: bool = False) -> Progress:
    """Bars with a name, how much is done, and the time left; none in a log."""
    # Imported here, so that estimators do not wait for it.
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.fields[name]}", justify="right"),
        BarColumn(bar_width=32),
        TextColumn("{task.fields[done]}"),
        TimeRemainingColumn(elapsed_when_finished=True),
        TextColumn("{task.fields[note]}", style="red"),
        console=console,
        refresh_per_second=4,
        # Data sets differ by orders of magnitude, and so do the speeds at which the bar of all of them moves.
        speed_estimate_period=600,
        transient=transient,
        disable=not console.is_terminal,
    )


@contextmanager
def counting(console: Console, name: str) -> Iterator[Counted]:
    """A bar in the block, and what is told how far the work is."""
    with bars(console) as shown:
        bar = shown.add_task("", total=None, name=name, done="", note="")
        yield lambda done, total: shown.update(bar, completed=done, total=total, done=f"{done}/{total}")


@contextmanager
def sharing(console: Console, name: str, after: float = SOON) -> Iterator[Callable[[float], None]]:
    """A bar in the block if it takes longer than some seconds, gone when it ends; told the share that is done."""
    shown = bars(console, transient=True)
    bar = shown.add_task("", total=None, name=name, done="", note="")
    start = Timer(after, shown.start)
    start.daemon = True
    start.start()
    try:
        yield lambda share: shown.update(bar, completed=share, total=1.0, done=f"{share:.0%}")
    finally:
        start.cancel()
        start.join()
        shown.stop()


@contextmanager
def told(verbose: bool | int | Counted, name: str) -> Iterator[Counted | None]:
    """Who is told how far the work in the block is: a function that was given, a bar if verbose, or nobody."""
    if callable(verbose) or not verbose:
        yield verbose if callable(verbose) else None
        return
    from rich.console import Console

    with counting(Console(stderr=True), name) as show:
        yield show


class Watch:
    """Is told how far an experiment is; this one tells nobody."""

    def begin(self, dataset: str, total: int, done: int, weight: float) -> None:
        """A data set is to be worked on: so many tasks, some of them done, each with a weight."""

    def advance(self, dataset: str, seconds: float) -> None:
        """One more task is finished; it took that many seconds of CPU."""

    def failed(self, dataset: str, error: str) -> None:
        """A data set is given up."""
