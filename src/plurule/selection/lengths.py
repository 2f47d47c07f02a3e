"""How long a rule list should be: the validation scores of its prefixes, and the choice among them.

The choice is the one-standard-error rule of Breiman et al. (1984, *Classification and Regression Trees*): the
shortest list whose mean score is at most one standard error below that of the best. Or the choice is left to the user:
the Pareto front has the points that no other point beats in score, rules and conditions at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plurule.lifts import axes_for
from plurule.model import LengthChoice
from plurule.model.naming import amount

Values = NDArray[np.float64]
Size: TypeAlias = Literal["rules", "conditions"]
CLOSE = 1e-12
"""Scores that differ by less differ by rounding only."""


@dataclass(frozen=True, eq=False, repr=False)
class LengthCurve:
    """Scores of lists cut after 1, 2, … rules, on data they were not learned from.

    Parameters
    ----------
    measure
        Name of the score.
    scores
        Per part of the validation data and length. A list that ended earlier keeps its last score. A part on which
        the score is not defined (NaN) at some length is left out of the mean.
    conditions
        Per length, the mean number of conditions of the lists.
    left_out
        Labels that were left out, because some part of the validation data has no positive of them.
    at_least
        The least length to choose: the number of initial rules, if there are any, which are never cut off.
    cut
        How many rules the list has that was trained on all the data, if there is one.
    rules
        The mean number of rules of the lists, where whole lists are scored and a length is that of no list.

    Examples
    --------
    >>> curve = LengthCurve("micro_f1", np.array([[0.4, 0.6, 0.7, 0.6], [0.5, 0.8, 0.8, 0.7]]), np.arange(1, 5))
    >>> curve.best, curve.chosen
    (3, 2)
    >>> curve
    LengthCurve: micro_f1 of 1 to 4 rules on 2 parts; best 0.750 with 3, chosen 0.700 with 2
    """

    measure: str
    scores: Values
    conditions: Values
    left_out: tuple[str, ...] = ()
    at_least: int = 1
    cut: int | None = None
    rules: Values = field(default_factory=lambda: np.zeros(0))

    def __repr__(self) -> str:
        shown = f"LengthCurve: {self.measure} of 1 to {self.scores.shape[1]} rules on {len(self.scores)} parts"
        if not len(self.defined):
            return f"{shown}; not defined on any"
        best, chosen = (f"{self.score(length):.3f} with {length}" for length in (self.best, self.cut or self.chosen))
        return f"{shown}; best {best}, chosen {chosen}"

    @property
    def defined(self) -> Values:
        """The scores of the parts on which the score is defined."""
        return self.scores[np.isfinite(self.scores).all(axis=1)]

    @property
    def mean(self) -> Values:
        """Mean score per length; NaN if the score is not defined on any part."""
        defined = self.defined
        return defined.mean(axis=0) if len(defined) else np.full(self.scores.shape[1], np.nan)

    @property
    def standard_error(self) -> Values:
        """Standard error of the mean, per length; 0 with a single part."""
        return standard_error(self.defined)

    @property
    def best(self) -> int:
        """The length of the highest mean score; the shortest, if there are several."""
        return self.shortest_within(0.0)

    @property
    def chosen(self) -> int:
        """The shortest length within one standard error of the best."""
        return self.shortest_within(self.standard_error[self.best - 1])

    def shortest_within(self, margin: float) -> int:
        """The shortest length whose mean score is at most `margin` below the best."""
        mean = self.mean[self.at_least - 1 :]
        return int(np.argmax(mean >= mean.max() - margin - 1e-12)) + self.at_least

    def score(self, length: int) -> float:
        """Mean score of the lists cut after that many rules."""
        return float(self.mean[min(length, self.scores.shape[1]) - 1])

    @property
    def best_score(self) -> float:
        """Mean score at the best length; less than any other if the score is not defined."""
        return self.score(self.best) if len(self.defined) else -np.inf

    def on(self, parts: NDArray[np.intp]) -> LengthCurve:
        """The curve of some of the parts."""
        return replace(self, scores=self.scores[parts])

    def cut_after(self, length: int) -> LengthCurve:
        """The curve of a list that has so many rules."""
        return replace(self, cut=length)

    def choice(self, length: int, how: str = "", constant: float | None = None) -> LengthChoice | None:
        """What a list that was cut after so many rules keeps of the curve; None if no score is defined."""
        if not len(self.defined) or not 1 <= length <= self.scores.shape[1]:
            return None
        mean, error = (tuple(float(f"{v:.6g}") for v in values) for values in (self.mean, self.standard_error))
        return LengthChoice(self.measure, mean, error, length, how, constant)

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve and where the list was cut (if there is none, would be cut); gives the matplotlib axes."""
        ax = axes_for(ax)
        lengths = np.arange(1, self.scores.shape[1] + 1)
        mean, spread = self.mean, self.standard_error
        (line,) = ax.plot(lengths, mean, label="mean of the validation parts")
        ax.fill_between(lengths, mean - spread, mean + spread, alpha=0.2, color=line.get_color(), linewidth=0)
        ax.axhline(mean[self.best - 1] - spread[self.best - 1], linestyle=":", linewidth=1, color="grey")
        cut = self.chosen if self.cut is None else self.cut
        rules = f"cut after {amount(cut, 'rule')}"
        ax.axvline(cut, linestyle="--", linewidth=1, color="black", label=rules)
        ax.set(xlabel="rules", ylabel=self.measure.replace("_", " "))
        ax.legend()
        return ax


def standard_error(values: Values) -> Values:
    """Of the mean over the first axis; 0 of a single value."""
    several = len(values) > 1
    return values.std(axis=0, ddof=1) / np.sqrt(len(values)) if several else np.zeros(values.shape[1:])


def extended(curves: Sequence[Values]) -> Values:
    """Curves along the last axis, of different lengths, as one array: what has ended goes on as it ended."""
    lengths = np.arange(max(values.shape[-1] for values in curves))
    return np.array([values[..., np.minimum(lengths, values.shape[-1] - 1)] for values in curves])


def curve_of(
    measure: str,
    scores: Sequence[Values],
    conditions: Sequence[Values],
    left_out: Sequence[str] = (),
    at_least: int = 1,
) -> LengthCurve:
    """The curve of lists of different lengths."""
    return LengthCurve(measure, extended(scores), extended(conditions).mean(axis=0), tuple(left_out), at_least)


# The Pareto front ----------------------------------------------------------------------------------------------------


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
    """The points that no other beats, shortest first."""
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
