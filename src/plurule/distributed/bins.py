"""The ranks that `learning.binning` gives on a whole column, from parts of it that are never together.

A few passes over the parts count values, exactly. The first takes the values of columns that have few, and a sample of
the others. The second counts what equals a value of the sample and what lies between two of them. A bin begins inside
few of these gaps; the third pass gets the values in those. The sample decides how many they are, not what comes out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SAMPLE = 257
"""Values that stand for those of a column in one part."""
PIVOTS = 4096
"""Values of all samples that others are counted between, at least; of many rows, four times the root of their number,
which keeps both the counts and the values in the gaps small."""


class Survey(NamedTuple):
    """First look at a column of one part."""

    distinct: Floats | None
    """Its values, ascending; None if there are too many."""
    sample: Floats
    fraction: float = np.nan
    """A value that is not a whole number, if there is one."""


class Counts(NamedTuple):
    """Weights at pivots, and in the gaps before, between and behind them."""

    at: Floats
    within: Floats
    lowest: Floats
    highest: Floats

    def __add__(self, other: Counts) -> Counts:  # type: ignore[override]  # added up, not put behind each other
        lowest, highest = np.minimum(self.lowest, other.lowest), np.maximum(self.highest, other.highest)
        return Counts(self.at + other.at, self.within + other.within, lowest, highest)


class Weighed(NamedTuple):
    """Distinct values, ascending, and the weight of each."""

    values: Floats
    weights: Floats


NOTHING = Weighed(np.zeros(0), np.zeros(0))


@dataclass(frozen=True)
class Ends:
    """The lowest and the highest value of each rank."""

    lowest: Floats
    highest: Floats


def survey(column: Floats, most: int) -> Survey:
    """A first look at a column without missing values."""
    ordered = np.sort(column)
    distinct = ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered
    fractions = distinct[distinct != np.floor(distinct)]
    fraction = float(fractions[0]) if len(fractions) else np.nan
    if len(distinct) <= most:
        return Survey(distinct, distinct, fraction)
    return Survey(None, ordered[np.linspace(0, len(ordered) - 1, SAMPLE).astype(np.intp)], fraction)


def merge(parts: Iterable[Survey], most: int, n_rows: int = 0) -> Survey:
    """Join the surveys of all parts: the values of the column if there are few, else pivots."""
    parts = list(parts)
    fraction = next((part.fraction for part in parts if not np.isnan(part.fraction)), np.nan)
    distinct: Floats | None = np.zeros(0)
    for part in parts:
        distinct = None if part.distinct is None or distinct is None else np.union1d(distinct, part.distinct)
    if distinct is not None and len(distinct) <= most:
        return Survey(distinct, distinct, fraction)
    pivots = np.unique(np.concatenate([part.sample for part in parts]))
    places = np.linspace(0, len(pivots) - 1, max(PIVOTS, int(4 * n_rows**0.5)))
    return Survey(None, pivots[np.unique(places.astype(np.intp))], fraction)


@dataclass(frozen=True)
class Sorted:
    """A column in order, without missing values, and the weight of what comes before each place."""

    values: Floats
    before: Floats

    def gaps(self, pivots: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Beginnings and ends of the gaps before, between and behind pivots."""
        left, right = (np.searchsorted(self.values, pivots, side=side) for side in ("left", "right"))
        return np.concatenate([[0], right]), np.concatenate([left, [len(self.values)]])

    def count(self, pivots: Floats) -> Counts:
        """The weight of the values at pivots and in the gaps, and the ends of what is in each gap."""
        starts, ends = self.gaps(pivots)
        at = self.before[starts[1:]] - self.before[ends[:-1]]
        filled, values = ends > starts, np.append(self.values, np.nan)
        lowest = np.where(filled, values[starts], np.inf)
        highest = np.where(filled, values[ends - 1], -np.inf)
        return Counts(at, self.before[ends] - self.before[starts], lowest, highest)

    def inside(self, pivots: Floats, gaps: NDArray[np.intp]) -> Weighed:
        """The values in some gaps."""
        starts, ends = self.gaps(pivots)
        places = np.concatenate([np.zeros(0, np.intp), *(np.arange(starts[g], ends[g]) for g in gaps)])
        return _weighed(self.values[places], self.before[places + 1] - self.before[places])


def in_order(column: Floats, weights: Floats | None) -> Sorted:
    """A column in order, without missing values; rows weigh 1, unless given."""
    known = np.flatnonzero(~np.isnan(column))
    if weights is None:
        return Sorted(np.sort(column[known]), np.arange(len(known) + 1, dtype=np.float64))
    order = known[np.argsort(column[known])]
    return Sorted(column[order], np.concatenate([[0.0], np.cumsum(weights[order])]))


def gaps_to_open(counts: Counts, max_bins: int | None) -> NDArray[np.intp]:
    """The gaps inside which a bin may begin; all, if there may be a bin for every value."""
    if _at_least(counts) <= (max_bins or 0):
        return np.flatnonzero(counts.within > 0)
    if max_bins is None:
        return np.zeros(0, np.intp)  # pivots are all values
    before = np.concatenate([[0.0], np.cumsum(counts.at + counts.within[:-1])])
    total = before[-1] + counts.within[-1]
    first, last = (np.floor(held * max_bins / total) for held in (before, before + counts.within))
    return np.flatnonzero((counts.within > 0) & (first != last))


def add_weighed(parts: Sequence[Weighed]) -> Weighed:
    """The values of all parts, each once."""
    values, weights = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    return _weighed(values, weights)


def _at_least(counts: Counts) -> int:
    """A number of different values that there are at least."""
    return int((counts.at > 0).sum() + (counts.within > 0).sum())


def cut(counts: Counts, pivots: Floats, opened: Weighed, gaps: NDArray[np.intp], max_bins: int | None) -> Ends:
    """The ranks of the column: what shares a bin shares a rank."""
    whole = np.setdiff1d(np.flatnonzero(counts.within > 0), gaps)
    lowest = np.concatenate([pivots, counts.lowest[whole], opened.values])
    highest = np.concatenate([pivots, counts.highest[whole], opened.values])
    held = np.concatenate([counts.at, counts.within[whole], opened.weights])
    order = np.argsort(lowest, kind="stable")
    order = order[held[order] > 0]
    lowest, highest, held = lowest[order], highest[order], held[order]
    if max_bins is None or (len(held) <= max_bins and np.array_equal(lowest, highest)):
        return Ends(lowest, highest)
    before = np.concatenate(([0.0], np.cumsum(held)[:-1]))
    bins = np.floor(before * max_bins / held.sum())
    _, first = np.unique(bins, return_index=True)
    return Ends(lowest[first], highest[np.append(first[1:], len(bins)) - 1])


def _weighed(column: Floats, weights: Floats) -> Weighed:
    values, inverse = np.unique(column, return_inverse=True)
    return Weighed(values, np.bincount(inverse, weights, len(values)).astype(np.float64))
