"""Where the marks of the score curve go: what lists of each length scored, and where the list was cut."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass

from plurule.model import LengthChoice
from plurule.report.frame import Frame, path, round_steps

MARGIN = 0.08
"""Of the height, above and below the curve."""


@dataclass(frozen=True, slots=True)
class LengthDrawing:
    """Scores over the number of rules."""

    frame: Frame
    path: str
    band: str
    """The curve, one standard error up and down."""
    cut: tuple[float, float]
    choice: LengthChoice
    samples: tuple[tuple[int, str, str], ...]
    """After some numbers of rules: mean score and standard error, to be read as a table."""


def draw_length(choice: LengthChoice | None) -> LengthDrawing | None:
    """The curve of the scores by length."""
    if choice is None:
        return None
    most = len(choice.mean)
    low, high = (list(map(side, choice.mean, choice.standard_error)) for side in (operator.sub, operator.add))
    span = (max(high) - min(low)) or 1.0
    least, span = min(low) - MARGIN * span, span * (1 + 2 * MARGIN)
    marks = tuple((score, f"{score:g}") for score in score_steps(least, least + span))
    frame = Frame(first=1, last=most, low=least, span=span, marks=marks)
    counts = sorted({1, choice.chosen, choice.best, *(c for c in round_steps(most) if c)})
    return LengthDrawing(
        frame,
        path(frame.points(choice.mean)),
        path([*frame.points(high), *reversed(frame.points(low))]) + "Z",
        (frame.x(choice.chosen), frame.y(choice.mean[choice.chosen - 1])),
        choice,
        tuple((c, f"{choice.mean[c - 1]:.3f}", f"{choice.standard_error[c - 1]:.3f}") for c in counts),
    )


def score_steps(low: float, high: float) -> list[float]:
    """Round numbers between two scores, about five.

    >>> score_steps(0.31, 0.78)
    [0.4, 0.5, 0.6, 0.7]
    """
    step = 10 ** math.floor(math.log10((high - low) / 2))
    while (high - low) / step > 6:
        step *= 2 if (high - low) / step <= 12 else 5
    return [round(i * step, 10) for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
