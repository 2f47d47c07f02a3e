"""Trying candidates on folds, and choosing among them.

Every candidate is learned once per fold. Either all lengths of its lists are scored, which one pass over the rules
does: a candidate is then compared by the best length it has, and its list is cut there, or by the one-standard-error
rule. Or whole lists are compared, as the paper does: the best mean wins; ties go to the higher Hamming accuracy, then
to the higher subset accuracy, then to the higher lift, then to the first.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from plurule.data.fingerprint import digest
from plurule.learning.problem import Options
from plurule.lifts import KLN, KLN_GIVEN_AT, Lift, NoLift, Peak, as_table
from plurule.selection.executing import Shared, run
from plurule.selection.folds import Folds, data_fingerprint, parts_fingerprint
from plurule.selection.journal import Journal
from plurule.selection.lengths import LengthCurve, Point, front, points
from plurule.selection.trials import Evaluation, Result, Trial

Parameters = dict[str, Any]
Grid = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]
AnyLift = Lift | Callable[[int], float] | None
Curves = dict[str, LengthCurve]
"""Scores by length, by measure; empty for a candidate that learned nothing."""

Progress = Callable[[int, int], None]
"""Told how many candidates are finished, and how many there are."""

BETAS = (0.4, 0.6, 1.0)
LOW_BARS = (0.2, 0.3)
"""Where good rules are rare, F-measures gain from rules that are wrong more often than right."""
TIE_BREAKERS = ("hamming_accuracy", "subset_accuracy")
FIRST_LIMIT = 50
"""Lists are first grown to this length."""


def default_grid(has_beta: bool = True, has_lift: bool = True, lifts: Sequence[Any] | None = None) -> list[Any]:
    """What is searched unless told otherwise: β with each lift, with signs and head mode turned one at a time, and low
    bars for the precision of rules.
    """
    beta: dict[str, Sequence[Any]] = {"heuristic__beta": BETAS} if has_beta else {}
    among = (KLN(k=0.07), NoLift(), KLN(k=0.2)) if lifts is None else tuple(lifts)
    lift: dict[str, Sequence[Any]] = {"lift": among} if has_lift else {}
    low: dict[str, Sequence[Any]] = {"heuristic__beta": [max(BETAS)], "min_precision": LOW_BARS}
    return [beta | lift, beta | {"predict_absence": [True]}, beta | {"fix_head": [False]}, *([low] if has_beta else [])]


def height(lift: AnyLift, n_labels: int) -> float:
    """How high a lift is, to break ties: a peak at its top, any other function at three labels."""
    if isinstance(lift, Peak):
        return float(lift.lift)
    if isinstance(lift, Lift):
        return float(lift.at_length(KLN_GIVEN_AT, max(n_labels, KLN_GIVEN_AT)))
    return float(as_table(lift, n_labels)[min(KLN_GIVEN_AT, n_labels) - 1])


def best_first(means: Iterable[float], lift_height: float) -> tuple[float, ...]:
    """What whole lists are sorted by: the mean scores, of which the first counts most, then how high the lift is.

    Means that differ by rounding only are ties, and so are those that are not defined.
    """
    return tuple(np.inf if np.isnan(value) else -round(value, 12) for value in (*means, lift_height))


def search(
    evaluation: Evaluation,
    options: Sequence[Options],
    executor: Executor | None = None,
    journal: Journal | None = None,
    progress: Progress | None = None,
) -> list[Curves]:
    """Learn and score every candidate.

    If all lengths are scored, lists are not grown to their end only to be cut. All are grown to a few rules first, and
    to twice as many as long as the best length of a candidate might lie further on, and its score comes within one
    standard error of the best.
    The `n_rules` of a candidate's options is the most that its lists are grown to.
    """
    shared, measure, done = Shared(evaluation), evaluation.scoring.name, -1

    def count_to(number: int) -> None:
        nonlocal done
        while done < number:
            done += 1
            if progress is not None:
                progress(done, len(options))

    if journal is not None:
        _expect_unchanged(journal, evaluation, options)
    found: list[Curves] = [{} for _ in options]
    growing = list(range(len(options)))
    limit = FIRST_LIMIT if evaluation.by_length else None
    count_to(0)
    while growing:
        finished = set()
        grown = {candidate: options[candidate].up_to(limit) for candidate in growing}
        for candidate, results in _by_candidate(shared, grown, limit, executor, journal):
            found[candidate] = evaluation.curves(results)
            if limit is None or _is_finished(found[candidate].get(measure), results, options[candidate], limit):
                finished.add(candidate)
                count_to(done + 1)
        known = [curves[measure] for curves in found if curves and len(curves[measure].defined)]
        best = max((curve.score(curve.best) for curve in known), default=0.0)
        left = [(i, found[i][measure]) for i in growing if i not in finished]
        growing = [i for i, curve in left if curve.score(curve.best) + curve.standard_error[curve.best - 1] >= best]
        count_to(len(options) - len(growing))
        limit = None if limit is None else 2 * limit
    return found


def _by_candidate(
    shared: Shared,
    options: Mapping[int, Options],
    limit: int | None,
    executor: Executor | None,
    journal: Journal | None,
) -> Iterator[tuple[int, list[Result]]]:
    """Per candidate, in the order in which they are finished, the results of all parts."""
    parts = range(shared.value.folds.n_parts)
    stage = "whole lists" if limit is None else f"{limit} rules"
    places = {f"{stage}/candidate {i}/part {part}": (i, part) for i in options for part in parts}
    results: dict[int, dict[int, Result]] = {i: {} for i in options}
    trials = {key: Trial(options[i], part) for key, (i, part) in places.items()}
    for key, result in run(shared, trials, executor, journal):
        i, part = places[key]
        results[i][part] = result
        if len(results[i]) == len(parts):
            yield i, [results[i][part] for part in parts]


def _expect_unchanged(journal: Journal, evaluation: Evaluation, options: Sequence[Options]) -> None:
    """Refuse to go on with the results of other data, folds or candidates."""
    assert isinstance(evaluation.folds, Folds)  # whose rows are in memory
    journal.expect("the data", data_fingerprint(evaluation.folds.problem))
    journal.expect("the folds", parts_fingerprint(evaluation.folds.parts))
    asked = (evaluation.scoring.name, evaluation.also, evaluation.by_length, evaluation.left_out)
    tried = [vars(one) | {"lift": one.lift.tolist()} for one in options]
    journal.expect("the candidates", digest(asked, tried))


def _is_finished(curve: LengthCurve | None, results: Sequence[Result], options: Options, limit: int) -> bool:
    """Whether longer lists than those of so many rules are not worth it, or there are none."""
    if curve is None or not len(curve.defined) or options.up_to(limit).n_rules == options.n_rules:
        return True
    return all(len(result["conditions"]) <= limit for result in results) or is_far_enough(curve, limit)


def is_far_enough(curve: LengthCurve, grown: int) -> bool:
    """Whether lists are long enough to believe that longer ones are not worth it.

    So it is if the best length lies well behind, or if the second half of the rules gained no more than one standard
    error.
    """
    best = curve.best
    if grown >= best + max(10, best // 2):
        return True
    mean = curve.mean
    first_half = mean[curve.at_least - 1 : (grown + 1) // 2]
    return bool(len(first_half) and first_half.max() >= mean[best - 1] - curve.standard_error[best - 1])


def say_undefined(what: str, curves: Iterable[LengthCurve]) -> None:
    """Say that scores are not defined on some parts of the validation data, if that is so."""
    odd = [curve for curve in curves if len(curve.defined) < len(curve.scores)]
    if odd:
        worst = min(odd, key=lambda curve: len(curve.defined))
        parts = f"{len(worst.scores) - len(worst.defined)} of {len(worst.scores)} parts of the validation data"
        outcome = "they are left out of the choice" if len(worst.defined) else "nothing is chosen by it"
        warnings.warn(f"{what}: {worst.measure} is not defined on {parts}; {outcome}", stacklevel=4)


def chosen_from(curve: LengthCurve | None) -> LengthCurve | None:
    """The curve, if a length can be chosen by it; says where the score is not defined."""
    if curve is None:
        return None
    say_undefined("n_rules='auto'", [curve])
    return curve if len(curve.defined) else None


@dataclass(frozen=True, eq=False)
class Searched:
    """What the candidates scored."""

    candidates: list[Parameters]
    curves: list[Curves]
    measure: str
    n_parts: int
    shortest: bool = False
    """Whether a list is cut at the shortest length within one standard error of the best, instead of the best."""
    heights: Sequence[float] | None = None
    """Where whole lists are compared, how high the lift of each candidate is."""

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

        def rank(i: int) -> tuple[float, ...]:
            if not self.curves[i]:
                return np.inf, 0
            if self.heights is not None:
                means = [self.curves[i][name].score(1) for name in (self.measure, *TIE_BREAKERS)]
                return best_first(means, self.heights[i])
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
        whole = self.heights is not None
        lengths = [1 if whole else self.length(i) for i in range(len(self.candidates))]
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
        if whole:
            table["mean_rules"] = np.array([float(curves[self.measure].rules[0]) for curves in self.curves])
        else:
            table["n_rules"] = np.array([length or 0 for length in lengths])
        conditions = [curves[self.measure].conditions if curves else np.zeros(1) for curves in self.curves]
        table["mean_conditions"] = np.array([c[(n or 1) - 1] for c, n in zip(conditions, lengths, strict=True)])
        table["rank_test_score"] = np.empty(len(self.candidates), dtype=np.int32)
        table["rank_test_score"][self.order] = np.arange(1, len(self.candidates) + 1)
        return table
