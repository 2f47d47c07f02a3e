"""How long a rule list should be: the validation scores of its prefixes, and the choice among them.

The choice is the one-standard-error rule of Breiman et al. (1984, *Classification and Regression Trees*): the
shortest list whose mean score is at most one standard error below that of the best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule.model import LengthChoice
from plurule.model.naming import amount

Values = NDArray[np.float64]


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
        defined = self.defined
        if len(defined) < 2:
            return np.zeros(self.scores.shape[1])
        return defined.std(axis=0, ddof=1) / np.sqrt(len(defined))

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


def axes_for(ax: Any) -> Any:
    """The matplotlib axes to draw in: those given, or new ones."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plotting needs matplotlib: pip install 'plurule[plot]'") from error
    return plt.subplots()[1] if ax is None else ax


def curve_of(
    measure: str,
    scores: Sequence[Values],
    conditions: Sequence[Values],
    left_out: Sequence[str] = (),
    at_least: int = 1,
) -> LengthCurve:
    """The curve of lists of different lengths; what has ended goes on as it ended.

    >>> curve_of("micro_f1", [np.array([0.5]), np.array([0.5, 0.7])], [np.array([1.0]), np.array([2.0, 3.0])]).scores
    array([[0.5, 0.5],
           [0.5, 0.7]])
    """
    longest = max(len(values) for values in scores)

    def extended(values: Values) -> Values:
        return np.concatenate([values, np.repeat(values[-1:], longest - len(values))])

    return LengthCurve(
        measure,
        np.array([extended(values) for values in scores]),
        np.mean([extended(values) for values in conditions], axis=0),
        tuple(left_out),
        at_least,
    )
