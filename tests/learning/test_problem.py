"""What a training problem knows of itself."""

from __future__ import annotations

import tracemalloc

import numpy as np

from helpers.problems import make_problem
from plurule.model import LabelCondition, OneOfCondition


def test_the_weights_of_labels_are_added_up_in_less_memory_than_the_labels_take() -> None:
    Y = np.random.default_rng(0).integers(0, 2, (20_000, 26)).tolist()
    problem = make_problem({}, Y, weights=np.arange(20_000).tolist())
    tracemalloc.start()
    try:
        found = problem.label_weights
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.tolist() == (np.arange(20_000)[:, None] * problem.Y).sum(axis=0).tolist()
    assert peak < problem.Y.nbytes


def test_weights_of_one_are_none_to_speak_of() -> None:
    assert make_problem({}, [[1], [0]]).sample_weight is None
    assert make_problem({}, [[1], [0]], weights=[2, 2]).sample_weight is not None


def test_translate_keeps_conditions_on_labels_whatever_the_columns() -> None:
    problem = make_problem({"colour": ["x", "y", "z", "x"]}, [[1, 0, 1], [0, 1, 0], [0, 0, 1], [1, 1, 0]])
    more = problem.with_conditions(("sets", "negation"))
    assert more.derived
    for label in range(3):
        condition = LabelCondition(problem.labels[label], label, True)
        assert more.translate(condition) == condition
    own = OneOfCondition("colour", 0, ("x",))
    assert more.translate(own) == own
