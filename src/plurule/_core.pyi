"""The compiled core; `plurule.learning.native` is its only user."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

class Columns:
    def __init__(self, n_rows: int, max_bins: int, weights: NDArray[np.float64] | None, pack_from: int) -> None: ...
    def add_numeric(self, column: NDArray[Any]) -> None: ...
    def add_sparse_numeric(self, rows: NDArray[np.int32], values: NDArray[Any]) -> None: ...
    def add_nominal(self, codes: NDArray[np.int32], categories: int) -> None: ...
    def add_sparse_nominal(self, rows: NDArray[np.int32], codes: NDArray[np.int32], categories: int) -> None: ...
    def subset(self, rows: NDArray[np.int32]) -> Columns: ...

def count_rows(
    columns: Columns, truth: NDArray[np.uint8], attribute: int, first: int, last: int
) -> NDArray[np.int64]: ...
def learn(
    columns: Columns,
    truth: NDArray[np.uint8],
    weights: NDArray[np.float64] | None,
    formula: int,
    parameter: float,
    shrinkage: float,
    custom: Callable[..., NDArray[np.float64]] | None,
    head_search: int,
    lift: NDArray[np.float64],
    flags: dict[str, bool],
    beam_width: int,
    remaining: float,
    stop_threshold: float,
    max_rules: int | None,
    max_conditions: int | None,
    min_coverage: float,
    n_threads: int,
    progress: Callable[[int, float], None] | None,
    predicted: NDArray[np.int8] | None = None,
    in_training: NDArray[np.uint8] | None = None,
    head_labels: NDArray[np.uint8] | None = None,
    rules_before: int = 0,
    allowed_attributes: NDArray[np.uint8] | None = None,
    required_attributes: NDArray[np.uint8] | None = None,
    apart: NDArray[np.uint8] | None = None,
    groups: NDArray[np.int32] | None = None,
) -> tuple[list[Any], list[tuple[float, float]]]: ...
