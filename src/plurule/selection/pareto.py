"""The best that short lists score: points that no other point beats in score, rules and conditions at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from plurule.selection.lengths import LengthCurve, axes_for

Size: TypeAlias = Literal["rules", "conditions"]

CLOSE = 1e-12
"""Scores that differ by less differ by rounding only."""


@dataclass(frozen=True)
class Point:
    """A candidate, cut after some rules, and what that scored on validation data."""

    candidate: int
    """Its position in `cv_results_`."""
    params: dict[str, Any]
    rules: int
    conditions: float
    """Mean number of conditions of the lists."""
    score: float
    standard_error: float

    def __str__(self) -> str:
        chosen = ", ".join(f"{name}={value}" for name, value in self.params.items())
        return f"{self.rules} rules, {self.conditions:.1f} conditions: {self.score:.4f} ({chosen})"


def points(candidate: int, params: dict[str, Any], curve: LengthCurve) -> list[Point]:
    """What a candidate scores, cut after 1, 2, … rules; initial rules are not cut off."""
    measured = zip(curve.conditions, curve.mean, curve.standard_error, strict=True)
    return [
        Point(candidate, params, rules, float(conditions), float(score), float(error))
        for rules, (conditions, score, error) in enumerate(measured, start=1)
        if rules >= curve.at_least
    ]


def front(candidates: Sequence[Point]) -> list[Point]:
    """The points that no other beats, shortest first.

    >>> short = Point(0, {}, rules=2, conditions=4.0, score=0.5, standard_error=0.1)
    >>> long = Point(0, {}, rules=5, conditions=9.0, score=0.6, standard_error=0.1)
    >>> bad = Point(1, {}, rules=5, conditions=9.0, score=0.4, standard_error=0.1)
    >>> [point.rules for point in front([bad, long, short])]
    [2, 5]
    """
    kept: list[Point] = []
    # In this order nothing is beaten by what comes later.
    for point in sorted(candidates, key=lambda p: (p.rules, p.conditions, -p.score, p.candidate)):
        if not any(p.conditions <= point.conditions and p.score >= point.score - CLOSE for p in kept):
            kept.append(point)
    return kept


def best_within(
    points: Sequence[Point], max_rules: int | None = None, max_conditions: float | None = None
) -> Point | None:
    """The highest score of a size, the shortest of several; None if nothing is that small."""
    small = [
        point
        for point in points
        if (max_rules is None or point.rules <= max_rules)
        and (max_conditions is None or point.conditions <= max_conditions)
    ]
    return min(small, key=lambda p: (-round(p.score, 12), p.rules, p.conditions), default=None)


def best_by_size(points: Sequence[Point], size: Size = "rules") -> list[Point]:
    """The points that are better than all smaller ones, one per size, from small to large."""
    steps: list[Point] = []
    for point in sorted(points, key=lambda p: (getattr(p, size), -p.score)):
        if not steps or point.score > steps[-1].score + CLOSE:
            steps.append(point)
    return steps


def plot_front(
    every: Sequence[Point], chosen: Point | None, measure: str, against: Size = "rules", ax: Any = None
) -> Any:
    """Draw the best score of every size up to which it is the best; gives the matplotlib axes."""
    ax = axes_for(ax)
    ax.scatter([getattr(p, against) for p in every], [p.score for p in every], s=6, alpha=0.25, color="grey")
    steps = best_by_size(every, against)
    sizes, scores = [getattr(p, against) for p in steps], [p.score for p in steps]
    ax.step(sizes, scores, where="post", marker="o", markersize=4, label="best up to that size")
    if chosen is not None:
        style = {"marker": "D", "color": "black", "capsize": 3, "label": f"chosen: {chosen.rules} rules"}
        ax.errorbar(getattr(chosen, against), chosen.score, chosen.standard_error, **style)
    ax.set(xlabel=against, ylabel=measure.replace("_", " "))
    ax.legend()
    return ax
