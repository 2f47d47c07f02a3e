"""Progress bars on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from rich.console import Console

Counted: TypeAlias = Callable[[int, int], None]
"""Is called with the number of finished pieces of work, and the number of all."""

SOON = 1.0
"""Seconds until a bar is shown."""


@contextmanager
def progress_bar(name: str, after: float = SOON, console: Console | None = None) -> Iterator[Callable[[float], None]]:
    """Show a progress bar on standard error while the block runs, if it takes longer than `after` seconds.

    The function that is returned takes the share of the work that is done; until it is called, the bar moves back and
    forth.
    """
    # Imported here, so that estimators do not wait for it.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(bar_width=32), TaskProgressColumn(), TimeRemainingColumn())
    console = console or Console(stderr=True)
    bars = Progress(*columns, console=console, refresh_per_second=4, transient=True, disable=not console.is_terminal)
    bar = bars.add_task(name, total=None)
    start = Timer(after, bars.start)
    start.daemon = True
    start.start()
    try:
        yield lambda share: bars.update(bar, completed=share, total=1.0)
    finally:
        start.cancel()
        start.join()
        bars.stop()


@contextmanager
def progress_callback(verbose: bool | int | Counted, name: str) -> Iterator[Counted | None]:
    """Return the function that a user gave as `verbose`, one that shows a bar if `verbose` is true, or None."""
    if callable(verbose) or not verbose:
        yield verbose if callable(verbose) else None
        return
    with progress_bar(name, after=0) as show:
        yield lambda n_done, n_all: show(n_done / n_all)
