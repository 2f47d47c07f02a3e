"""Progress and the time left."""

from __future__ import annotations

import io

from rich.console import Console

from plurule.cli.watching import ALL, ProgressWatch


def shown_by(watch: ProgressWatch) -> dict[str, tuple[float, float]]:
    return {task.fields["name"]: (task.completed, task.total or 0) for task in watch.shown.tasks}


def terminal() -> tuple[Console, io.StringIO]:
    written = io.StringIO()
    return Console(file=written, force_terminal=True, width=100), written


def test_the_time_left_is_not_guessed_before_anything_is_known():
    console, written = terminal()
    watch = ProgressWatch(console)
    with watch.shown:
        watch.begin("a", 10, 4, 1.0)
    assert "4/10" in written.getvalue()
    assert "-:--:--" in written.getvalue()


def test_everything_is_measured_by_the_weight_of_what_is_left():
    watch = ProgressWatch(terminal()[0])
    watch.begin("light", 10, 4, 1.0)
    watch.begin("heavy", 10, 0, 20.0)
    assert shown_by(watch) == {ALL: (0, 206), "light": (4, 10), "heavy": (0, 10)}
    watch.advance("light", 2.0)
    watch.advance("heavy", 2.0)
    assert shown_by(watch) == {ALL: (21, 206), "light": (5, 10), "heavy": (1, 10)}
    watch.failed("heavy", "out of memory")
    assert shown_by(watch)[ALL] == (21, 26)


def test_a_log_has_a_line_per_finished_set():
    written = io.StringIO()
    watch = ProgressWatch(Console(file=written, width=100))
    watch.begin("a", 2, 1, 1.0)
    watch.advance("a", 1.5)
    assert written.getvalue() == "a: 2 results, 1.5 s of CPU\n"
