"""Choosing β, the lift, signs, the head mode and the length together.

Every candidate is grown once per fold. One pass over its rules scores all lengths, so the length costs nothing: a
candidate is compared by the best length it has, and its list is cut there, or by the one-standard-error rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np

from plurule.learning.problem import Options
from plurule.lifts import KLN, NoLift
from plurule.prediction.scoring import Scoring
from plurule.selection.folds import FIRST_LIMIT, Folds, say_undefined
from plurule.selection.lengths import LengthCurve
from plurule.selection.pareto import Point, front, points

Parameters = dict[str, Any]
Grid = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]

Progress = Callable[[int, int], None]
"""Told how many candidates are finished, and how many there are."""

BETAS = (0.4, 0.6, 1.0)


def default_grid(has_beta: bool = True, has_lift: bool = True, lifts: Sequence[Any] | None = None) -> list[Any]:
    """What is searched unless told otherwise: β with each lift, and with signs and head mode turned one at a time.

    >>> from sklearn.model_selection import ParameterGrid
    >>> len(ParameterGrid(default_grid()))
    15
    """
    beta: dict[str, Sequence[Any]] = {"heuristic__beta": BETAS} if has_beta else {}
    among = (KLN(k=0.07), NoLift(), KLN(k=0.2)) if lifts is None else tuple(lifts)
    lift: dict[str, Sequence[Any]] = {"lift": among} if has_lift else {}
    return [beta | lift, beta | {"predict_absence": [True]}, beta | {"fix_head": [False]}]


@dataclass(frozen=True, eq=False)
class Searched:
    """What the candidates scored."""

    candidates: list[Parameters]
    curves: list[dict[str, LengthCurve]]
    """Per candidate and measure, the scores by length; empty for a candidate that learned nothing."""
    measure: str
    n_parts: int
    shortest: bool = False
    """Whether a list is cut at the shortest length within one standard error of the best, instead of the best."""

    @cached_property
    def every_point(self) -> list[Point]:
        """All candidates at all lengths."""
        curves = [(i, curves[self.measure]) for i, curves in enumerate(self.curves) if curves]
        return [point for i, curve in curves for point in points(i, self.candidates[i], curve)]

    @cached_property
    def front(self) -> list[Point]:
        """Those that no other beats."""
        return front(self.every_point)

    @cached_property
    def order(self) -> list[int]:
        """Positions of the candidates, best first: by the score at their best length, then the shorter list."""

        def rank(i: int) -> tuple[float, int]:
            if not self.curves[i]:
                return np.inf, 0
            curve = self.curves[i][self.measure]
            return -round(curve.score(curve.best), 12), curve.best

        return sorted(range(len(self.candidates)), key=rank)

    def length(self, candidate: int) -> int | None:
        """After how many rules its list is cut; None if it learned nothing."""
        if not self.curves[candidate]:
            return None
        curve = self.curves[candidate][self.measure]
        return curve.chosen if self.shortest else curve.best

    def tabulate(self) -> dict[str, Any]:
        """The results in the form that scikit-learn's searches give them; scores are those of the lists as cut."""
        table: dict[str, Any] = {"params": self.candidates}
        for name in dict.fromkeys(name for candidate in self.candidates for name in candidate):
            values = np.empty(len(self.candidates), dtype=object)
            values[:] = [candidate.get(name) for candidate in self.candidates]
            given = [name in candidate for candidate in self.candidates]
            table[f"param_{name}"] = np.ma.MaskedArray(values, mask=np.logical_not(given))
        lengths = [self.length(i) for i in range(len(self.candidates))]
        for measure in dict.fromkeys(name for curves in self.curves for name in curves):
            scores = np.full((len(self.candidates), self.n_parts), np.nan)
            for i, (curves, length) in enumerate(zip(self.curves, lengths, strict=True)):
                if length is not None:
                    scores[i] = curves[measure].scores[:, length - 1]
            for part, column in enumerate(scores.T):
                table[f"split{part}_test_{measure}"] = column
            # Parts on which the score is not defined are left out, as in the choice.
            known = [row[np.isfinite(row)] for row in scores]
            table[f"mean_test_{measure}"] = np.array([row.mean() if len(row) else np.nan for row in known])
            table[f"std_test_{measure}"] = np.array([row.std() if len(row) else np.nan for row in known])
        table["n_rules"] = np.array([0 if length is None else length for length in lengths])
        table["mean_conditions"] = np.array(
            [
                0.0 if length is None else float(curves[self.measure].conditions[length - 1])
                for curves, length in zip(self.curves, lengths, strict=True)
            ]
        )
        table["rank_test_score"] = np.empty(len(self.candidates), dtype=np.int32)
        table["rank_test_score"][self.order] = np.arange(1, len(self.candidates) + 1)
        return table


def search(
    folds: Folds,
    candidates: Sequence[Parameters],
    options: Sequence[Options],
    scoring: Scoring,
    also: Iterable[str],
    shortest: bool,
    n_jobs: int | None,
    progress: Progress | None = None,
) -> Searched:
    """Grow and score every candidate; in threads, which share the ranked columns.

    All are grown to a few rules first. Only those that come within one standard error of the best are grown on.
    """
    from joblib import Parallel, delayed

    counter = _Counter(len(options), progress)
    folds.prepare(sorted({o.max_bins for o in options}, key=lambda bins: bins or 0))
    also, limit = tuple(also), FIRST_LIMIT
    curves: list[dict[str, LengthCurve]] = [{} for _ in options]
    growing = list(range(len(options)))
    while growing:
        grow = counter.counting(folds.grown_to)
        tasks = [delayed(grow)(limit, options[i], scoring, also) for i in growing]
        grown = dict(zip(growing, Parallel(n_jobs=n_jobs, prefer="threads")(tasks), strict=True))
        for i, (found, _) in grown.items():
            curves[i] = found
        known = [curve for curve in _by_measure(curves, scoring.name) if len(curve.defined)]
        best = max((curve.score(curve.best) for curve in known), default=0.0)
        growing = [i for i, (found, finished) in grown.items() if not finished and _hopeful(found[scoring.name], best)]
        counter.reach(len(options) - len(growing))
        limit *= 2
    say_undefined("RuleListClassifierCV", _by_measure(curves, scoring.name))
    curves = [found if found and len(found[scoring.name].defined) else {} for found in curves]
    n_parts = sum(len(part.groups) for part in folds.parts)
    return Searched(list(candidates), curves, scoring.name, n_parts, shortest)


Grown = tuple[dict[str, LengthCurve], bool]


class _Counter:
    """Counts the candidates that are not grown on, in threads, and tells."""

    def __init__(self, total: int, progress: Progress | None):
        self.done, self.total, self.progress, self.lock = 0, total, progress, Lock()
        if progress is not None:
            progress(0, total)

    def counting(self, grow: Callable[..., Grown]) -> Callable[..., Grown]:
        """A function that grows a candidate and counts it if it is finished."""

        def counted(*arguments: Any) -> Grown:
            grown = grow(*arguments)
            if grown[1]:
                with self.lock:
                    self._count()
            return grown

        return counted

    def reach(self, done: int) -> None:
        """Count up to a number, since candidates are also given up."""
        with self.lock:
            while self.done < done:
                self._count()

    def _count(self) -> None:
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, self.total)


def _by_measure(curves: Iterable[dict[str, LengthCurve]], measure: str) -> list[LengthCurve]:
    return [found[measure] for found in curves if found]


def _hopeful(curve: LengthCurve, best: float) -> bool:
    return bool(curve.score(curve.best) + curve.standard_error[curve.best - 1] >= best)
