"""Figure 1 and table 1 of the paper: the numbers that are printed there."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from plurule.datasets import load_world_flags
from research.paper.example import (
    COVERED,
    best_head,
    decomposable_head,
    hamming_averages,
    lifted_table,
    nodes,
    search,
)
from research.paper.recipe import compare


def test_values_of_all_heads_are_the_printed_ones():
    values = {"".join(str(label + 1) for label in node.head): node.value for node in nodes()}
    printed = {"1": "2/3", "2": "2/3", "3": "1/3", "4": "0", "12": "2/3", "13": "1/2", "14": "1/3", "23": "1/2"}
    printed |= {"24": "1/3", "34": "1/6", "123": "5/9", "124": "4/9", "134": "1/3", "234": "1/3", "1234": "5/12"}
    assert values == {head: Fraction(value) for head, value in printed.items()}


def test_lifted_values_with_rounded_lifts_are_the_printed_ones():
    printed = {node.head: node.printed for node in nodes()}
    assert printed[0, 1] == Fraction(11, 15)
    assert printed[0, 1, 2] == Fraction(23, 36)
    assert printed[0, 1, 2, 3] == Fraction(119, 240)


def test_search_follows_the_outer_left_path_and_stops_at_three_labels():
    assert search() == [(0,), (0, 1), (0, 1, 2)]
    bounds = {node.head: node.bound for node in nodes() if node.step}
    assert bounds[0, 1, 2] == pytest.approx(0.661, abs=0.003)
    assert best_head() == (0, 1)


def test_decomposable_recipe_gives_the_same_head():
    assert decomposable_head() == best_head()


def test_table_has_the_printed_lifted_values():
    rows = lifted_table()
    assert [row["printed"] for row in rows] == ["0.7000", "0.7169", "0.7056"]
    assert [f"{row['lift']:.2f}" for row in rows] == [row["printed_lift"] for row in rows]
    assert np.argmax([row["lifted"] for row in rows]) == 1


def test_hamming_accuracy_differs_by_averaging_once_pairs_are_closed():
    assert hamming_averages() == (Fraction(2, 3), Fraction(5, 8))


def test_covered_vectors_are_those_of_the_figure():
    assert COVERED == ((0, 1, 1, 0), (1, 1, 0, 0), (1, 0, 0, 0))


def test_recipe_with_fixed_heads_learns_the_lists_of_relaxed_search_without_lift():
    data = load_world_flags()
    assert compare(data, "macro-f+").fixed
    assert compare(data, "micro-f+-").fixed
    assert not compare(data, "ha+").free
