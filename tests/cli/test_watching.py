"""Progress and the time left."""

from __future__ import annotations

import io

from rich.console import Console

from plurule.cli.watching import Estimate, ProgressWatch


def test_the_time_left_is_not_guessed_before_anything_is_known():
    estimate = Estimate()
    estimate.begin("a", 10, 0, 1.0)
    assert estimate.clock_left("a") is None
    assert estimate.clock_left("all") is None


def test_a_set_at_work_is_judged_by_its_own_tasks():
    estimate = Estimate()
    estimate.begin("a", 10, 4, 1.0)
    estimate.begin("b", 10, 10, 1.0)
    estimate.advance("a", 2.0)
    assert estimate.cpu_left("a") == 10.0
    assert estimate.cpu_left("b") == 0.0


def test_a_bar_shows_how_many_candidates_are_finished():
    shown = io.StringIO()
    watch = ProgressWatch(Console(file=shown, force_terminal=True, width=100), quiet=True)
    progress = watch.counting("flags")
    with watch.showing():
        for done in range(4):
            progress(done, 15)
    assert "flags" in shown.getvalue()
    assert "3/15" in shown.getvalue()
