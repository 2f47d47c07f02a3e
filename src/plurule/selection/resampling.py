"""Lists learned from rows that are drawn with replacement: weights instead of copies, and one prepared table."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from plurule.learning import engine as engines
from plurule.learning import native
from plurule.learning.binning import with_short_thresholds
from plurule.learning.engine import Engine
from plurule.learning.problem import Options, Problem
from plurule.learning.weights import exact_weights
from plurule.model import RuleList


def draw(n_rows: int, samples: int, random_state: Any = None) -> NDArray[np.int32]:
    """Per sample and row, how often the row is drawn, as many times as there are rows.

    >>> draw(4, samples=2, random_state=0)
    array([[2, 1, 0, 1],
           [0, 0, 0, 4]], dtype=int32)
    """
    chance = check_random_state(random_state)
    drawn = [np.bincount(chance.randint(n_rows, size=n_rows), minlength=n_rows) for _ in range(samples)]
    return np.array(drawn, dtype=np.int32).reshape(samples, n_rows)


def learn_from_samples(
    problem: Problem, options: Sequence[Options], samples: NDArray[np.int32], engine: Engine = "native", n_jobs: int = 1
) -> list[RuleList]:
    """One list per sample; where there are several options, they take turns."""
    columns = {}
    if engine == "native":
        weights = None if np.all(problem.weights == 1.0) else problem.weights
        bins = {one.max_bins for one in options}
        columns = {most: native.prepare(problem.table, most, weights) for most in bins}

    def learn(turn: int) -> RuleList:
        chosen = options[turn % len(options)]
        weights = exact_weights(problem.weights * samples[turn], problem.n_labels)
        sample = replace(problem, weights=weights)
        # Columns that are made from labels are those of the sample.
        if engine != "native" or sample.with_conditions(chosen.conditions) is not sample:
            return engines.learn(sample, chosen, engine)
        learned = native.learn(sample, chosen, columns=columns[chosen.max_bins])
        return with_short_thresholds(learned, problem.table, len(problem.initial_rules))

    with ThreadPoolExecutor(n_jobs) as threads:
        return list(threads.map(learn, range(len(samples))))
