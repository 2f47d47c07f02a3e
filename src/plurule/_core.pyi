"""The compiled core: `plurule.learning.native` learns with it, `plurule.prediction.decide` predicts."""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

class Columns:
    def __init__(self, n_rows: int, max_bins: int, weights: NDArray[np.float64] | None, n_threads: int = 1) -> None: ...
    def add_dense(self, columns: list[NDArray[Any]], categories: NDArray[np.int32]) -> None: ...
    def add_sparse(
        self,
        ends: NDArray[np.int64],
        rows: NDArray[np.int32],
        values: NDArray[Any],
        picked: NDArray[np.int64],
        categories: NDArray[np.int32],
    ) -> None: ...

class Formula(Enum):
    f_measure = ...
    accuracy = ...
    precision = ...
    recall = ...
    laplace = ...
    m_estimate = ...
    relative_accuracy = ...
    gain = ...
    custom = ...

class HeadSearch(Enum):
    single = ...
    decomposable = ...
    relaxed = ...

class Options:
    averages_labels: bool
    head_search: HeadSearch
    lift: list[float]
    predict_absence: bool
    label_conditions: bool
    fix_head: bool
    beam_width: int
    remaining: float
    stop_threshold: float
    max_conditions: int
    min_coverage: float
    allowed_attributes: list[int]
    def set_heuristic(self, formula: Formula, parameter: float = 0.0) -> None: ...
    def set_custom_heuristic(self, function: Callable[..., NDArray[np.float64]]) -> None: ...
    def set_labels_apart(self, apart: NDArray[np.uint8]) -> None: ...
    def set_exclusive_labels(self, groups: NDArray[np.int32]) -> None: ...
    def set_hierarchy(self, above: NDArray[np.uint8]) -> None: ...
    def set_directions(self, barred: NDArray[np.uint8], nominal: NDArray[np.uint8], by_label: bool) -> None: ...
    def set_min_precision(self, threshold: float, of_label: bool, when_finished: bool) -> None: ...

class Run:
    def __init__(
        self,
        columns: Columns,
        truth: NDArray[np.uint8],
        weights: NDArray[np.float64] | None,
        options: Options,
        n_threads: int = 1,
        predicted: NDArray[np.int8] | None = None,
        in_training: NDArray[np.uint8] | None = None,
        head_labels: NDArray[np.uint8] | None = None,
    ) -> None: ...
    def learn(
        self,
        n_rules: int | None = None,
        progress: Callable[[int, float], None] | None = None,
        rules_before: int = 0,
    ) -> None: ...
    def rules(self) -> list[Any]: ...
    def undecided(self) -> list[tuple[float, float]]: ...

def decide(
    n_rows: int,
    columns: list[NDArray[Any] | tuple[NDArray[np.int32], NDArray[Any]]],
    conditions: list[tuple[int, int, float]],
    rules: list[tuple[list[int], list[tuple[int, bool]], bool]],
    predicted: NDArray[np.int8],
    decided_by: NDArray[np.int32] | None,
    going_on: NDArray[np.bool_] | None,
    n_threads: int,
) -> None: ...
def count_block(
    columns: list[NDArray[Any]],
    slots: list[int],
    rows: NDArray[np.uint32],
    states: NDArray[np.uint8],
    labels: NDArray[np.int32],
    whole: bool,
    weights: NDArray[np.float64] | None,
    listed: NDArray[np.uint32] | None,
    row_starts: NDArray[np.int64] | None,
    sums: NDArray[np.float64],
) -> None: ...
def has_avx2() -> bool: ...

class PoolSelection:
    def __init__(
        self,
        n_conditions: NDArray[np.float64],
        sums: NDArray[np.float64],
        label_weights: NDArray[np.float64],
        min_precision: float,
        forbidden: NDArray[np.uint8],
        excludes: Sequence[Sequence[int]],
        groups: Sequence[Sequence[int]],
        hierarchy: Sequence[tuple[int, int]],
        criteria: Sequence[tuple[float, float, bool, Sequence[float], Sequence[int]]],
        max_rules: int,
        cache_size: int,
    ) -> None: ...
    def choose(self) -> list[tuple[int, int, list[int]]]: ...
    def update(self, covered: NDArray[np.float64]) -> None: ...
    def chosen(self) -> list[list[tuple[int, list[int], bool, list[int]]]]: ...

class PoolRows:
    def __init__(
        self,
        n_rows: int,
        holds: NDArray[np.uint8],
        open: NDArray[np.uint8],
        present: NDArray[np.uint8],
        weights: NDArray[np.float64] | None,
    ) -> None: ...
    def take(self, asked: Sequence[tuple[int, int, Sequence[int]]], sums: NDArray[np.float64]) -> None: ...
    def select(self, selection: PoolSelection) -> None: ...
