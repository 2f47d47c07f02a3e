"""What a training problem knows of itself."""

from __future__ import annotations

import tracemalloc

import numpy as np

from helpers.problems import make_problem


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
