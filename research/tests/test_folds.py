"""Folds of the paper."""

from __future__ import annotations

import numpy as np
import pytest

from research.paper.folds import JavaRandom, make_folds, mulan_order


def test_generator_gives_the_numbers_of_java():
    random = JavaRandom(42)
    assert [random.next_int(10) for _ in range(10)] == [0, 3, 8, 4, 0, 5, 5, 8, 9, 3]


def test_mulan_order_is_that_of_java():
    assert sorted(mulan_order(50).tolist()) == list(range(50))
    held_out = [test.tolist() for _, test in make_folds("mulan", 6)]
    assert held_out[0] == sorted(mulan_order(6)[:2].tolist())


@pytest.mark.parametrize(("folds", "count"), [("mulan", 5), ("3", 3)])
def test_every_row_is_held_out_once(folds: str, count: int):
    splits = make_folds(folds, 17, seed=2)
    assert len(splits) == count
    assert sorted(np.concatenate([test for _, test in splits]).tolist()) == list(range(17))
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(17))
