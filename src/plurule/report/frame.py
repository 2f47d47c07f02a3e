"""The frame of a chart over the number of rules: its edges, its axes, and where a value lies in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

Tick: TypeAlias = tuple[float, str]
"""A mark on an axis: where it is, and what stands there."""


@dataclass(frozen=True, slots=True)
class Frame:
    """Rules from `first` to `last` go from left to right, values from `low` on over a `span` from bottom to top."""

    first: int
    last: int
    low: float
    span: float
    marks: tuple[tuple[float, str], ...]
    """Values with a tick on the upright axis, and what stands there."""
    width: int = 720
    height: int = 300
    left: int = 46
    right: int = 708
    top: int = 12
    bottom: int = 260

    @property
    def x_ticks(self) -> tuple[Tick, ...]:
        """The ticks of numbers of rules."""
        counts = (self.first, *(count for count in round_steps(self.last) if count > self.first))
        return tuple((self.x(count), str(count)) for count in counts)

    @property
    def y_ticks(self) -> tuple[Tick, ...]:
        """The ticks of values."""
        return tuple((self.y(value), text) for value, text in self.marks)

    def x(self, count: int) -> float:
        """How far right a number of rules lies."""
        return round(self.left + (self.right - self.left) * (count - self.first) / max(self.last - self.first, 1), 2)

    def y(self, value: float) -> float:
        """How far down a value lies."""
        return round(self.bottom - (self.bottom - self.top) * (value - self.low) / self.span, 2)

    def points(self, values: Sequence[float]) -> list[tuple[float, float]]:
        """Where the values of the first, second, third … number of rules lie."""
        return [(self.x(count), self.y(value)) for count, value in enumerate(values, start=self.first)]


def path(points: Sequence[tuple[float, float]]) -> str:
    """A line through points, as SVG writes it.

    >>> path([(46, 12), (50.25, 20)])
    'M46,12 50.25,20'
    """
    return "M" + " ".join(f"{x:g},{y:g}" for x, y in points)


def round_steps(most: int) -> list[int]:
    """Whole numbers from 0 to at most `most`, about five, with round steps.

    >>> round_steps(23), round_steps(3)
    ([0, 5, 10, 15, 20], [0, 1, 2, 3])
    """
    step, factors = 1, (2, 5, 10)
    while most > 6 * step:
        scale = 10 ** (len(str(step)) - 1)
        step = next(scale * factor for factor in factors if scale * factor > step)
    return list(range(0, most + 1, step))
