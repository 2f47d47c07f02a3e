"""The search behind `discover`: where labels may go together, which do there, and which patterns to take.

A pattern has parts: the conditions on attributes, taken together, and each of its labels. It is worth its leverage: by
how much everything holds together more often than if one part were independent of the others, for the part of which
that is true the least (Webb, *Self-sufficient itemsets*, 2010). A label that is merely frequent adds nothing to that.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule.classifier import RuleListClassifier
from plurule.heuristics import FMeasure, Gain, Heuristic
from plurule.learning.problem import Problem
from plurule.model import Condition, RuleList
from plurule.selection.gain_cover import bodies_of, satisfied

Mask = NDArray[np.bool_]
Shares = NDArray[np.float64]

HEURISTICS: tuple[Heuristic, ...] = (Gain(0.2), Gain(0.4), FMeasure(1.0))
"""What the lists are learned by whose bodies say where to look."""
RULES_PER_LIST = 30
PAIRS_LEARNED = 30
"""The pairs of labels with most leverage everywhere are learned like labels, which finds where they go together."""
PAIRS_PER_PLACE = 25
GROWN = 300
"""Pairs to which further labels are added, over all places."""
MOST_CANDIDATES = 1000


def longer(labels: int) -> float:
    """What leverage is multiplied with: a pattern of more labels may have somewhat less of it."""
    return 1 + 0.3 * math.log(labels)


@dataclass(frozen=True)
class Literals:
    """Labels, and their absence where that is asked for, as columns that are true or not."""

    holds: Mask
    n_labels: int
    weights: Shares
    """Of the rows; they add up to 1."""

    @staticmethod
    def of(problem: Problem, absent: bool) -> Literals:
        present = problem.Y.astype(bool)
        holds = np.hstack([present, ~present]) if absent else present
        return Literals(holds, problem.n_labels, problem.weights / problem.weights.sum())

    def share(self, rows: Mask) -> Shares:
        """Of all rows, the share that is among the given ones and has each literal."""
        return np.asarray(self.weights[rows] @ self.holds[rows])

    def together(self, rows: Mask, kept: NDArray[np.intp]) -> Shares:
        """Of all rows, the share that is among the given ones and has both literals, for each pair."""
        here = self.holds[np.ix_(rows, kept)].astype(np.float64)
        return np.asarray((here * self.weights[rows, None]).T @ here)

    def all_hold(self, literals: Sequence[int]) -> Mask:
        return np.asarray(self.holds[:, list(literals)].all(axis=1))

    def parts(self, candidate: Candidate) -> Mask:
        """Per part of a candidate, where it holds."""
        hold = self.holds[:, list(candidate.literals)].T
        return np.vstack([hold, candidate.covered]) if candidate.place else hold

    def clashes(self, kept: NDArray[np.intp]) -> Mask:
        """Pairs that are no pattern: a literal with itself or its opposite, and two labels that are absent."""
        label, absent = kept % self.n_labels, kept >= self.n_labels
        return (label[:, None] == label) | (absent[:, None] & absent)


@dataclass(frozen=True)
class Candidate:
    """Labels that may go together, and where."""

    place: tuple[Condition, ...]
    literals: tuple[int, ...]
    value: float
    covered: Mask
    """Where the conditions hold."""
    rows: Mask
    """Where everything holds."""

    def labels(self, n_labels: int) -> NDArray[np.intp]:
        """The labels it is about, present or absent, in order."""
        return np.sort(np.array(self.literals, dtype=np.intp) % n_labels)


def places(problem: Problem, max_conditions: int, n_jobs: int) -> list[Any]:
    """Bodies on attributes to look at, with the rows that they cover: those of some lists, and what they begin with."""
    found: dict[bytes, tuple[tuple[Condition, ...], Mask]] = {}
    bodies = bodies_of(_lists(problem, max_conditions, n_jobs) if max_conditions else ())
    for body, rows in zip(bodies, satisfied(bodies, problem.table), strict=True):
        known = found.get(rows.tobytes())
        if rows.any() and (known is None or len(body) < len(known[0])):
            found[rows.tobytes()] = body, rows
    return list(found.values())


def _lists(problem: Problem, max_conditions: int, n_jobs: int) -> Iterator[RuleList]:
    """Lists for the labels, and for the pairs of labels that go together most."""
    literals = Literals.of(problem, absent=False)
    everywhere = np.ones(problem.n_instances, dtype=bool)
    pairs = [pair for _, pair in _pairs(literals, (), everywhere, 0.0, PAIRS_LEARNED)]
    targets: list[tuple[NDArray[np.uint8], Heuristic]] = [(problem.Y, heuristic) for heuristic in HEURISTICS]
    if pairs:
        together = np.stack([literals.all_hold(pair) for pair in pairs], axis=1).astype(np.uint8)
        targets.append((together, FMeasure(1.0)))
    for target, heuristic in targets:
        learner = RuleListClassifier(
            heuristic=heuristic, min_precision=0.2, n_rules=RULES_PER_LIST, max_conditions=max_conditions, n_jobs=n_jobs
        )
        yield learner.fit(problem.table, target, problem.weights).rule_list_


def candidates(literals: Literals, where: list[Any], max_labels: int, min_share: float) -> list[Candidate]:
    """Patterns of two labels and more, the most valuable first."""
    pairs = [
        (value, place, rows, pair)
        for place, rows in where
        for value, pair in _pairs(literals, place, rows, min_share, PAIRS_PER_PLACE)
    ]
    pairs.sort(key=lambda found: -found[0])
    made: dict[tuple[Any, ...], Candidate] = {}
    for i, (value, place, rows, pair) in enumerate(pairs):
        most = max_labels if i < GROWN else 2
        grown, value = _grow(literals, place, rows, pair, value, most, min_share)
        key = place, grown
        everything = rows & literals.all_hold(grown)
        made.setdefault(key, Candidate(place, grown, value * longer(len(grown)), rows, everything))
    return sorted(made.values(), key=lambda candidate: -candidate.value)[:MOST_CANDIDATES]


def _pairs(
    literals: Literals, place: tuple[Condition, ...], rows: Mask, min_share: float, most: int
) -> list[tuple[float, tuple[int, int]]]:
    """The pairs of literals with most leverage in a place, with it."""
    here = literals.share(rows)
    kept = np.flatnonzero(here >= max(min_share, 1e-12))
    if len(kept) < 2:
        return []
    all_rows = np.ones(len(rows), dtype=bool)
    overall, here = literals.share(all_rows)[kept], here[kept]
    both = literals.together(rows, kept)
    expected = np.maximum(np.outer(overall, here), np.outer(here, overall))
    if place:
        covered = float(literals.weights[rows].sum())
        expected = np.maximum(expected, covered * literals.together(all_rows, kept))
    leverage = np.where(literals.clashes(kept) | (both < min_share - 1e-12), -1.0, both - expected)
    first, second = np.triu_indices(len(kept), 1)
    values = leverage[first, second]
    order = np.argsort(-values, kind="stable")[:most]
    return [(float(values[i]), (int(kept[first[i]]), int(kept[second[i]]))) for i in order.tolist() if values[i] > 1e-9]


def _grow(
    literals: Literals,
    place: tuple[Condition, ...],
    rows: Mask,
    grown: tuple[int, ...],
    value: float,
    max_labels: int,
    min_share: float,
) -> tuple[tuple[int, ...], float]:
    """Add the literal that keeps most of the leverage, as long as the longer pattern is worth more."""
    weights = literals.weights
    everything = literals.share(np.ones(len(rows), dtype=bool))
    while len(grown) < max_labels:
        hold = literals.all_hold(grown)
        both = literals.share(rows & hold)
        expected = everything * float(weights[rows & hold].sum())
        if place:
            expected = np.maximum(expected, float(weights[rows].sum()) * literals.share(hold))
        for one in grown:
            others = literals.all_hold([other for other in grown if other != one])
            expected = np.maximum(expected, everything[one] * literals.share(rows & others))
        leverage = both - expected
        leverage[both < min_share - 1e-12] = -1.0
        # Neither what is there already, nor its absence where that is a literal.
        leverage[np.isin(np.arange(len(leverage)) % literals.n_labels, np.array(grown) % literals.n_labels)] = -1.0
        best = int(leverage.argmax())
        if leverage[best] * longer(len(grown) + 1) <= value * longer(len(grown)):
            break
        grown, value = tuple(sorted((*grown, best))), float(leverage[best])
    return grown, value


def choose(found: Sequence[Candidate], n_labels: int) -> Iterator[Candidate]:
    """Candidates that are valuable and new, by weighted covering.

    A pair of row and label weighs 1 / (1 + the number of patterns so far that hold for it), and the value of a pattern
    is weighed with the mean over its pairs (after CN2-SD: Lavrač et al., *Subgroup Discovery with CN2-SD*, 2004). The
    same labels are taken again only in a place that shares less than half of its rows with those before.
    """
    left = list(found)
    used = np.zeros((len(left[0].rows) if left else 0, n_labels))
    while left:
        worth = [one.value * float(np.mean(1 / (1 + used[np.ix_(one.rows, one.labels(n_labels))]))) for one in left]
        best = left.pop(int(np.argmax(worth)))
        labels = best.labels(n_labels)
        used[np.ix_(best.rows, labels)] += 1
        left = [
            one
            for one in left
            if not np.array_equal(one.labels(n_labels), labels)
            or 2 * np.count_nonzero(one.covered & best.covered) < np.count_nonzero(one.covered | best.covered)
        ]
        yield best


def independence(patterns: Sequence[Mask]) -> Shares:
    """Per pattern, the largest p-value of Fisher's exact test of a part against all the others together.

    Each pattern is a matrix with a row per part. The test is one-sided: do they hold together more often than if they
    were independent? Its p-value is the tail of a hypergeometric distribution.
    """
    from scipy.stats import hypergeom

    counts = []
    for number, parts in enumerate(patterns):
        both = parts.all(axis=0).sum()
        for i, part in enumerate(parts):
            rest = np.delete(parts, i, axis=0).all(axis=0)
            counts.append((number, both - 1, len(part), part.sum(), rest.sum()))
    largest = np.zeros(len(patterns))
    if counts:
        number, *arguments = np.array(counts).T
        np.maximum.at(largest, number, np.minimum(hypergeom.sf(*arguments), 1.0))
    return largest
