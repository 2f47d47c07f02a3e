"""The search for patterns, against naive twins."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from plurule._learning.problem import Problem
from plurule.data.inputs import encode
from plurule.inspection.discover import (
    Candidate,
    Literals,
    _grow,
    _pairs,
    choose,
    independence,
    longer,
    places,
)
from plurule.model import RangeCondition

PLACE = (RangeCondition("x0", 0, above=0.0),)


def leverage(literals: Literals, place: tuple[Any, ...], rows: Any, chosen: tuple[int, ...]) -> float:
    """By its definition: the parts one after the other."""
    parts = [literals.holds[:, i] for i in chosen] + ([rows] if place else [])
    weight = lambda masks: float(literals.weights[np.logical_and.reduce(masks)].sum())  # noqa: E731
    rest = [weight([other for j, other in enumerate(parts) if j != i]) for i in range(len(parts))]
    return weight(parts) - max(weight([part]) * r for part, r in zip(parts, rest, strict=True))


@st.composite
def problems(draw: st.DrawFn) -> tuple[Literals, tuple[Any, ...], Any]:
    chance = np.random.default_rng(draw(st.integers(0, 10**6)))
    n_rows, n_labels = draw(st.integers(4, 30)), draw(st.integers(2, 5))
    Y = (chance.random((n_rows, n_labels)) < draw(st.sampled_from([0.3, 0.6]))).astype(np.uint8)
    weights = chance.integers(1, 4, n_rows).astype(float) if draw(st.booleans()) else np.ones(n_rows)
    literals = Literals.of(Problem(encode(np.zeros((len(Y), 1))), (), Y, weights), absent=draw(st.booleans()))
    if draw(st.booleans()):
        return literals, (), np.ones(n_rows, dtype=bool)
    return literals, PLACE, chance.random(n_rows) < 0.6


@given(problems())
def test_the_best_pairs_are_those_of_exhaustive_search(problem: Any) -> None:
    literals, place, rows = problem
    n_labels = literals.n_labels
    expected = [
        value
        for pair in combinations(range(literals.holds.shape[1]), 2)
        if pair[0] % n_labels != pair[1] % n_labels and pair[0] < n_labels
        if (value := leverage(literals, place, rows, pair)) > 1e-9
    ]
    found = _pairs(literals, place, rows, 0.0, most=5)
    assert [value for value, _ in found] == pytest.approx(sorted(expected, reverse=True)[:5])
    for value, pair in found:
        assert value == pytest.approx(leverage(literals, place, rows, pair))


@given(problems())
def test_a_grown_pattern_has_the_leverage_it_says_and_is_worth_more(problem: Any) -> None:
    literals, place, rows = problem
    for value, pair in _pairs(literals, place, rows, 0.0, most=3):
        grown, grown_value = _grow(literals, place, rows, pair, value, max_labels=4, min_share=0.0)
        assert set(pair) <= set(grown)
        assert len({one % literals.n_labels for one in grown}) == len(grown) <= 4
        assert grown_value == pytest.approx(leverage(literals, place, rows, grown))
        assert grown_value * longer(len(grown)) >= value * longer(2) - 1e-12


def test_covered_pairs_weigh_less_so_that_something_new_comes_next() -> None:
    rows = np.zeros((3, 12), dtype=bool)
    rows[0, :6], rows[1, 4:8], rows[2, 6:] = True, True, True
    found = [
        Candidate((), (0, 1), 1.0, rows[0], rows[0]),
        Candidate((), (0, 1, 2), 0.9, rows[0], rows[0]),
        Candidate((), (3, 4), 0.8, rows[2], rows[2]),
    ]
    assert [one.literals for one in choose(found, 5)] == [(0, 1), (3, 4), (0, 1, 2)]
    assert list(choose([], 5)) == []


def test_the_same_labels_come_again_only_in_another_place() -> None:
    left, middle, right = (np.isin(np.arange(9), part) for part in (range(4), range(1, 5), range(4, 9)))
    found = [Candidate((), (0, 1), value, rows, rows) for value, rows in ((1.0, left), (0.9, middle), (0.1, right))]
    assert [one.value for one in choose(found, 2)] == [1.0, 0.1]


def test_places_are_what_bodies_begin_with_each_set_of_rows_once() -> None:
    chance = np.random.default_rng(0)
    X = chance.normal(size=(120, 3))
    Y = np.stack([X[:, 0] > 0, X[:, 0] + X[:, 1] > 0], axis=1).astype(np.uint8)
    problem = Problem(encode(X), ("a", "b"), Y, np.ones(120))
    found = places(problem, max_conditions=2, n_jobs=1)
    assert found[0][0] == ()
    assert len({rows.tobytes() for _, rows in found}) == len(found) > 2
    assert {body[:1] for body, _ in found if len(body) == 2} <= {body for body, _ in found}
    assert [body for body, _ in places(problem, max_conditions=0, n_jobs=1)] == [()]


@given(st.integers(0, 10**6), st.integers(2, 4))
def test_the_test_of_a_pattern_is_the_largest_of_fishers_exact_tests(seed: int, n_parts: int) -> None:
    parts = np.random.default_rng(seed).random((n_parts, 25)) < 0.5
    expected = []
    for i, part in enumerate(parts):
        rest = np.delete(parts, i, axis=0).all(axis=0)
        table = [[(a & b).sum() for b in (rest, ~rest)] for a in (part, ~part)]
        expected.append(fisher_exact(table, alternative="greater").pvalue)
    assert independence([parts, parts]) == pytest.approx([max(expected)] * 2)
