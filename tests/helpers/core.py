"""Calls of the compiled core itself, right but for what a test changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from plurule import _core

VALUES = np.array([1, 2, 3, 3, 2, np.nan])
TRUTH = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]], dtype=np.uint8)


def some_columns(max_bins: int = 0) -> _core.Columns:
    columns = _core.Columns(6, max_bins, None)
    columns.add_dense([VALUES], ints(-1))
    return columns


def learn(n_rules: Any = None, progress: Any = None, **changes: Any) -> Any:
    """The rules and what is undecided, by the core itself, with options that are right but for the changes."""
    run = start_run(**changes)
    run.learn(n_rules, progress)
    return run.rules(), run.undecided()


def start_run(
    columns: Any = ..., truth: Any = TRUTH, weights: Any = None, n_threads: Any = 1, **changes: Any
) -> _core.Run:
    """A training run with options that are right but for the changes."""
    options = _core.Options()
    options.lift = [1.0, 1.0, 1.0]
    for name, value in changes.items():
        if name in SETTERS:
            getattr(options, f"set_{name}")(*value)
        else:
            setattr(options, name, value)
    return _core.Run(some_columns() if columns is ... else columns, truth, weights, options, n_threads)


SETTERS = ("heuristic", "custom_heuristic", "min_precision", "labels_apart")


def ints(*values: int) -> Any:
    return np.array(values, dtype=np.int32)


def one_sparse(rows: Any, values: Any, categories: int = -1) -> tuple[Any, ...]:
    """The arguments that add one sparse column."""
    return np.array([0, len(rows)]), rows, values, np.array([0]), ints(categories)
