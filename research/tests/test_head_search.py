"""The best heads are those of enumeration, and the search is that of the engine."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from plurule import RelaxedPruningClassifier
from plurule.heuristics import FMeasure
from plurule.lifts import KLN
from research.paper.head_search import (
    Counts,
    best_values,
    factors_of,
    lifted,
    lifted_by_search,
    losses,
    page,
    prefix_values,
)

N_LABELS = 5


def random_counts(seed: int, absence: bool, n_bodies: int = 4, n_rows: int = 14) -> Counts:
    random = np.random.default_rng(seed)
    Y = random.random((n_rows, N_LABELS)) < random.random(N_LABELS)
    covers = random.random((n_bodies, n_rows)) < 0.5
    is_open = random.random((n_rows, N_LABELS)) < 0.8
    return Counts.of(covers, Y, is_open, random.random(n_rows) < 0.9, absence)


def best_by_enumeration(counts: Counts, body: int, length: int) -> float:
    """The best value of all heads of a length whose labels have a true positive each."""
    values = [-np.inf]
    for labels in combinations(range(N_LABELS), length):
        for signs in product(range(counts.tp.shape[2]), repeat=length):
            places = (body, list(labels), list(signs))
            if (counts.tp[places] >= 1).all():
                total = counts.denominator[places].sum()
                values.append(float(counts.numerator[places].sum() / total) if total else 0.0)
    return max(values)


@pytest.mark.parametrize("absence", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_best_heads_are_those_of_enumeration(seed: int, absence: bool) -> None:
    counts = random_counts(seed, absence)
    expected = [[best_by_enumeration(counts, body, k) for k in range(1, N_LABELS + 1)] for body in range(4)]
    assert best_values(counts) == pytest.approx(np.array(expected))


def test_search_is_sometimes_worse_than_the_best_head_and_never_better() -> None:
    gaps = []
    for seed in range(40):
        counts = random_counts(seed, absence=False)
        tried, best = prefix_values(counts), best_values(counts)
        has_head = np.isfinite(best)
        gaps += (best[has_head] - tried[has_head]).tolist()
    assert min(gaps) >= 0
    assert max(gaps) > 0.01


def test_counts_are_those_of_a_rule() -> None:
    #           covered: right, wrong, closed;  uncovered: missed, absent
    Y = np.array([[1], [0], [1], [1], [0]], dtype=bool)
    is_open = np.array([[1], [1], [0], [0], [1]], dtype=bool)
    covers = np.array([[1, 1, 1, 0, 0]], dtype=bool)
    counts = Counts.of(covers, Y, is_open, np.ones(5, dtype=bool), absence=True, beta=0.5)
    assert counts.tp[0, 0].tolist() == [1, 1]
    # (1 + 1/4) TP, and beside it FN / 4 and FP.
    assert counts.numerator[0, 0].tolist() == [1.25, 1.25]
    assert counts.denominator[0, 0].tolist() == [1.25 + 0.25 + 1, 1.25 + 0.25 + 1]


def test_search_stops_where_no_longer_head_can_be_better() -> None:
    values = np.array([[0.9, 0.5, 0.5, 0.8]])
    # After two labels, .5 times the highest later factor is below .9: the fourth head is not seen.
    assert lifted_by_search(values, np.array([1.0, 1.1, 1.2, 1.3])).tolist() == [0.9]
    assert lifted(values, np.array([1.0, 1.1, 1.2, 1.3])) == pytest.approx([1.04])
    assert lifted_by_search(values, np.array([1.0, 1.1, 1.2, 2.0])) == pytest.approx([1.6])


@pytest.mark.parametrize("search", ["relaxed", "exhaustive"])
@pytest.mark.parametrize("seed", range(5))
def test_values_are_those_of_the_first_rule_of_the_engine(seed: int, search: str) -> None:
    random = np.random.default_rng(seed)
    columns = random.integers(0, 3, (60, 3))
    chances = np.where(columns[:, [0, 0, 1, 1]] == 0, 0.8, 0.3)
    Y = random.random((60, 4)) < chances
    frame = pd.DataFrame(columns.astype(str)).rename(columns=lambda i: f"a{i}")
    covers = [np.ones(60, dtype=bool), *(columns[:, a] == v for a in range(3) for v in range(3))]
    counts = Counts.of(np.array(covers), Y, np.ones(Y.shape, dtype=bool), np.ones(60, dtype=bool), absence=False)
    factors = factors_of("kln at 3: 1.08", 4)
    values = prefix_values(counts) if search == "relaxed" else best_values(counts)
    found = lifted_by_search(values, factors) if search == "relaxed" else lifted(values, factors)
    learner: Any = RelaxedPruningClassifier(
        heuristic=FMeasure(beta=0.5), averaging="micro", lift=KLN.at(3, 1.08), head_search=search, max_rules=1
    )
    (rule,) = learner.fit(frame, Y.astype(int)).rule_list_
    labels = [label.index for label in rule.head]
    own = counts.numerator[:, labels, 0].sum(axis=1) / counts.denominator[:, labels, 0].sum(axis=1)
    assert (own * factors[len(labels) - 1]).max() == pytest.approx(found.max())


def test_losses_are_shares_of_the_best_value() -> None:
    tried, best = np.array([[0.5, 0.4], [0.8, 0.6]]), np.array([[0.5, 0.5], [0.8, 0.8]])
    found = losses(tried, best, np.array([1.0, 1.2]))
    # .5 instead of .6, and .8 instead of .96.
    assert (found["bodies"], found["worse"]) == (2, 2)
    assert found["loss_sum"] == pytest.approx(1 / 6 + 1 / 6)
    assert found["rule_loss"] == pytest.approx(1 - 0.8 / 0.96)


def test_page_counts_searches_and_steps() -> None:
    row = {"set": "toys", "moment": 0.0, "lift": "peak 2: 1.02", "bodies": 4, "worse": 1, "loss_sum": 0.1}
    row |= {"largest_loss": 0.1, "rule_loss": 0.0}
    rows = pd.DataFrame([row | {"objective": name} for name in ("micro-f+", "micro-f+-")] * 3)
    assert "| toys | 12 | 25.0% | 10.00% | 10.0% | 3 | 0 | 0.00% |" in page(rows, "a command")
