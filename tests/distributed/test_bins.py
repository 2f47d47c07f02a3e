"""Bins that are counted part by part are those of the whole column."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from helpers.campaigns import numbers
from plurule.distributed import bins
from plurule.distributed.bins import Ends, add_weighed, cut, gaps_to_open, in_order, merge, survey
from plurule.learning.binning import rank


def ends_of(column: np.ndarray, weights: np.ndarray | None, places: list[int], max_bins: int, most: int) -> Ends:
    ends = [0, *sorted(places), len(column)]
    rows = [slice(start, end) for start, end in itertools.pairwise(ends)]
    found = merge([survey(column[part], most) for part in rows], most)
    if found.distinct is not None and len(found.distinct) <= max_bins:
        return Ends(found.distinct, found.distinct)
    parts = [in_order(column[part], None if weights is None else weights[part]) for part in rows]
    counts = parts[0].count(found.sample)
    for part in parts[1:]:
        counts = counts + part.count(found.sample)
    gaps = gaps_to_open(counts, max_bins)
    opened = add_weighed([part.inside(found.sample, gaps) for part in parts])
    return cut(counts, found.sample, opened, gaps, max_bins)


def random_column(rng: np.random.Generator, n_rows: int) -> np.ndarray:
    kinds = [
        rng.normal(size=n_rows),
        np.sort(rng.normal(size=n_rows)),
        rng.integers(0, 60, n_rows).astype(float),
        np.round(rng.exponential(size=n_rows), 2),
        rng.choice([-1.7e308, 1.7e308, 5e-324, 0.0, -0.0, 1.0, float(np.nextafter(1.0, 2.0))], n_rows),
    ]
    return kinds[rng.integers(len(kinds))]


@pytest.mark.parametrize("batch", numbers(2, 30))
def test_the_ends_of_all_bins_are_those_of_the_whole_column(batch: int, monkeypatch: pytest.MonkeyPatch):
    for seed in range(batch * 60, batch * 60 + 60):
        rng = np.random.default_rng([20, seed])
        n_rows, max_bins = int(rng.integers(1, 2000)), int(rng.integers(2, 40))
        column, most = random_column(rng, n_rows), max(max_bins, int(rng.integers(1, 200)))
        weights = (None, rng.integers(1, 5, n_rows) / 8.0, rng.integers(1, 5, n_rows) * 1.0)[seed % 3]
        monkeypatch.setattr(bins, "SAMPLE", int(rng.integers(2, 50)))
        monkeypatch.setattr(bins, "PIVOTS", int(rng.integers(2, 100)))
        places = rng.integers(0, n_rows + 1, rng.integers(0, 8)).tolist()
        found, expected = ends_of(column, weights, places, max_bins, most), rank(column, max_bins, weights)
        assert found.lowest.tolist() == expected.lowest.tolist(), f"seed {seed}"
        assert found.highest.tolist() == expected.highest.tolist(), f"seed {seed}"


def test_only_the_values_of_gaps_in_which_a_bin_begins_are_gathered():
    column = np.arange(100_000.0)
    found = merge([survey(column, 1024)], 1024)
    ordered = in_order(column, None)
    counts = ordered.count(found.sample)
    assert len(ordered.inside(found.sample, gaps_to_open(counts, 32)).values) < len(column) / 5
