"""Scores of rule lists by their length, on held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule.errors import warn
from plurule.lifts import axes_for
from plurule.model import LengthChoice
from plurule.model.naming import amount

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class LengthCurve:
    """Scores of lists truncated after 1, 2, … rules, on held-out rows.

    Parameters
    ----------
    measure
        Name of the score.
    scores
        Per fold and length. A list that ended earlier keeps its last score. A fold on which the score is not defined
        (NaN) at some length is left out of the mean.
    conditions
        Per length, the mean number of conditions of the lists.
    left_out
        Labels that were left out, because some fold has no positive of them.
    at_least
        The least length to choose: the number of initial rules, if there are any.
    cut
        The length that was chosen, if one was.

    Examples
    --------
    >>> curve = LengthCurve("micro_f1", np.array([[0.4, 0.6, 0.7, 0.6], [0.5, 0.8, 0.8, 0.7]]), np.arange(1, 5))
    >>> curve.best
    3
    >>> curve.cut_after(2)
    LengthCurve: micro_f1 of 1 to 4 rules on 2 folds; best 0.750 with 3, chosen 0.700 with 2
    """

    measure: str
    scores: Values
    conditions: Values
    left_out: tuple[str, ...] = ()
    at_least: int = 1
    cut: int | None = None

    def __repr__(self) -> str:
        shown = f"LengthCurve: {self.measure} of 1 to {self.scores.shape[1]} rules on {len(self.scores)} folds"
        if not len(self.defined):
            return f"{shown}; not defined on any"
        shown = f"{shown}; best {self.score(self.best):.3f} with {self.best}"
        return shown if self.cut is None else f"{shown}, chosen {self.score(self.cut):.3f} with {self.cut}"

    @property
    def defined(self) -> Values:
        """The scores of the folds on which the score is defined."""
        return self.scores[np.isfinite(self.scores).all(axis=1)]

    @property
    def mean(self) -> Values:
        """Mean score per length; NaN if the score is not defined on any fold."""
        defined = self.defined
        return defined.mean(axis=0) if len(defined) else np.full(self.scores.shape[1], np.nan)

    @property
    def standard_error(self) -> Values:
        """Standard error of the mean, per length; 0 with a single fold."""
        return standard_error(self.defined)

    @property
    def best(self) -> int:
        """The length of the highest mean score; the shortest, if there are several."""
        mean = self.mean[self.at_least - 1 :]
        return int(np.argmax(mean >= mean.max() - 1e-12)) + self.at_least

    def score(self, length: int) -> float:
        """Mean score of the lists cut after that many rules."""
        return float(self.mean[min(length, self.scores.shape[1]) - 1])

    @property
    def best_score(self) -> float:
        """Mean score at the best length; less than any other if the score is not defined."""
        return self.score(self.best) if len(self.defined) else -np.inf

    def on(self, folds: NDArray[np.intp]) -> LengthCurve:
        """The curve of some of the folds."""
        return replace(self, scores=self.scores[folds])

    def cut_after(self, length: int) -> LengthCurve:
        """The same curve, with the length that was chosen."""
        return replace(self, cut=length)

    def choice(self, length: int, how: str = "", constant: float | None = None) -> LengthChoice | None:
        """What a list that was cut after so many rules keeps of the curve; None if no score is defined."""
        if not len(self.defined) or not 1 <= length <= self.scores.shape[1]:
            return None
        mean, error = (tuple(float(f"{v:.6g}") for v in values) for values in (self.mean, self.standard_error))
        return LengthChoice(self.measure, mean, error, length, how, constant)

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve and the chosen length; return the matplotlib axes."""
        ax = axes_for(ax)
        lengths = np.arange(1, self.scores.shape[1] + 1)
        mean, spread = self.mean, self.standard_error
        (line,) = ax.plot(lengths, mean, label="mean of the folds")
        ax.fill_between(lengths, mean - spread, mean + spread, alpha=0.2, color=line.get_color(), linewidth=0)
        if self.cut is not None:
            chosen = f"chosen: {amount(self.cut, 'rule')}"
            ax.axvline(self.cut, linestyle="--", linewidth=1, color="black", label=chosen)
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


def warn_undefined(who: str, measure: str, scores: Sequence[Values]) -> None:
    """Warn if scores, each folds × lengths, are not defined on some folds."""
    undefined = max((np.flatnonzero(~np.isfinite(curve).all(axis=1)) + 1 for curve in scores), key=len)
    if len(undefined):
        n_folds = len(scores[0])
        folds = f"fold{'s' * (len(undefined) > 1)} {', '.join(map(str, undefined))} of {n_folds}"
        outcome = "left out of the choice" if len(undefined) < n_folds else "nothing is chosen by it"
        warn(f"{who}: {measure} is not defined on {folds}; {outcome}")
