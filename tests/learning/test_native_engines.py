"""Choosing an engine: each gives the same list, with thresholds that are short."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.learning import ENGINES, Engine, learn
from plurule._learning.problem import Options, Problem
from plurule.data.inputs import encode
from plurule.heuristics import HammingAccuracy
from plurule.lifts import NoLift, as_table
from plurule.model import RangeCondition


@pytest.mark.parametrize("engine", ENGINES)
def test_thresholds_are_the_shortest_numbers_between_two_values(engine: Engine) -> None:
    table = encode(np.array([[2.8962534], [2.8962536], [1.0], [4.0]]))
    problem = Problem(table, ("a",), np.array([[0], [1], [0], [1]], np.uint8), np.ones(4))
    (rule,) = learn(problem, Options(as_table(NoLift(), 1), heuristic=HammingAccuracy()), engine)
    (condition,) = rule.body
    assert isinstance(condition, RangeCondition)
    assert repr(condition.threshold) == "2.8962535"


def test_engines_tell_their_progress_and_learn_the_same() -> None:
    chance = np.random.default_rng(0)
    table = encode(chance.normal(size=(60, 3)))
    problem = Problem(table, ("a", "b"), chance.integers(0, 2, (60, 2)).astype(np.uint8), np.ones(60))
    told: dict[str, list[float]] = {engine: [] for engine in ENGINES}
    options = Options(as_table(NoLift(), 2))
    found = [learn(problem, options, e, progress=lambda _, share, e=e: told[e].append(share)) for e in ENGINES]
    assert found[0].rules == found[1].rules
    assert told["native"] == told["reference"]
    assert told["native"] == sorted(told["native"])
