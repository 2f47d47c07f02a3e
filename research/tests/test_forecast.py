"""Share of a run that is done, and the time that is left."""

from __future__ import annotations

import pytest

from research.paper.forecast import Forecast
from research.paper.sets import CPU_SECONDS


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_time_left_follows_the_pace_of_this_run():
    clock = Clock()
    forecast = Forecast(["a", "b"], clock)
    assert forecast.seconds_left is None
    # Half of the folds of the first set were done by an earlier run.
    forecast.update("a", 0, 51, 100)
    clock.now = 10.0
    forecast.update("a", 0, 100, 100)
    share = forecast.share
    assert forecast.seconds_left == pytest.approx(10 * (1 - share) / (share * 50 / 100), rel=0.03)


def test_finished_sets_are_all_of_the_run():
    forecast = Forecast(["flags", "CAL500"])
    for name in ("flags", "CAL500"):
        forecast.update(name, 0, 9, 9)
        forecast.update(name, 1, 9, 9)
    assert forecast.share == pytest.approx(1)


def test_larger_sets_are_a_larger_share():
    forecast = Forecast(["flags", "CAL500"])
    forecast.update("flags", 1, 5, 5)
    flags, large = (sum(CPU_SECONDS[name]) for name in ("flags", "CAL500"))
    assert forecast.share == pytest.approx(flags / (flags + large))
