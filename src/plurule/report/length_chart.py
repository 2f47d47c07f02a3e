"""Where the marks of the score curve go: what lists of each length scored, and where the list was cut."""

from __future__ import annotations

import math
from dataclasses import dataclass

from plurule.model import LengthChoice
from plurule.report.charts import (
    CURVE_BOTTOM,
    CURVE_HEIGHT,
    CURVE_LEFT,
    CURVE_RIGHT,
    CURVE_TOP,
    CURVE_WIDTH,
    Tick,
    round_steps,
)

MARGIN = 0.08
"""Of the height, above and below the curve."""


@dataclass(frozen=True, slots=True)
class LengthDrawing:
    """Scores over the number of rules."""

    width: int
    height: int
    left: float
    right: float
    top: float
    bottom: float
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    path: str
    band: str
    """The curve, one standard error up and down."""
    cut: tuple[float, float]
    measure: str
    chosen: int
    chosen_score: str
    best: int
    best_score: str
    samples: tuple[tuple[int, str, str], ...]
    """After some numbers of rules: mean score and standard error, to be read as a table."""


def draw_length(choice: LengthChoice | None) -> LengthDrawing | None:
    """The curve of the scores by length."""
    if choice is None:
        return None
    most = len(choice.mean)
    low = [mean - error for mean, error in zip(choice.mean, choice.standard_error, strict=True)]
    high = [mean + error for mean, error in zip(choice.mean, choice.standard_error, strict=True)]
    least, span = min(low), (max(high) - min(low)) or 1.0
    least, span = least - MARGIN * span, span * (1 + 2 * MARGIN)
    left, right = CURVE_LEFT, CURVE_WIDTH - CURVE_RIGHT
    top, bottom = CURVE_TOP, CURVE_HEIGHT - CURVE_BOTTOM

    def x(count: int) -> float:
        return round(left + (right - left) * (count - 1) / max(most - 1, 1), 2)

    def y(score: float) -> float:
        return round(bottom - (bottom - top) * (score - least) / span, 2)

    def along(scores: list[float]) -> list[str]:
        return [f"{x(i):g},{y(score):g}" for i, score in enumerate(scores, start=1)]

    counts = sorted({1, choice.chosen, choice.best, *(c for c in round_steps(most) if c)})
    steps = score_steps(least, least + span)
    return LengthDrawing(
        CURVE_WIDTH,
        CURVE_HEIGHT,
        left,
        right,
        top,
        bottom,
        tuple(Tick(x(count), str(count)) for count in (1, *round_steps(most)[1:])),
        tuple(Tick(y(score), f"{score:g}") for score in steps),
        "M" + " ".join(along(list(choice.mean))),
        "M" + " ".join([*along(high), *reversed(along(low))]) + "Z",
        (x(choice.chosen), y(choice.mean[choice.chosen - 1])),
        choice.measure,
        choice.chosen,
        f"{choice.mean[choice.chosen - 1]:.3f}",
        choice.best,
        f"{choice.mean[choice.best - 1]:.3f}",
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
