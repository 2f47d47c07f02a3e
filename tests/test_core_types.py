"""Every array that the core is given has the type it expects, or is refused: nothing is converted behind its back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from plurule import _core

N_ROWS, N_LABELS = 6, 3
DTYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c16", "O", "U1"]
Arrays = dict[str, NDArray[Any]]


def columns() -> _core.Columns:
    made = _core.Columns(N_ROWS, 0, None)
    made.add_dense([np.arange(N_ROWS, dtype=np.float64)], np.array([-1], np.int32))
    return made


def options() -> _core.Options:
    made = _core.Options()
    made.lift = [1.0] * N_LABELS
    return made


def zeros(*shape: int, dtype: str) -> NDArray[Any]:
    return np.zeros(shape, dtype)


def add_dense(categories: NDArray[Any]) -> None:
    columns().add_dense([np.zeros(N_ROWS)], categories)


def add_codes(codes: NDArray[Any]) -> None:
    columns().add_dense([codes], np.array([2], np.int32))


def add_values(values: NDArray[Any]) -> None:
    columns().add_dense([values], np.array([-1], np.int32))


def add_sparse(**arrays: Any) -> None:
    columns().add_sparse(**arrays)


def learn(**arrays: Any) -> None:
    _core.Run(columns=columns(), options=options(), **arrays).learn()


def decide(**arrays: Any) -> None:
    column = arrays.pop("sparse_rows", None)
    given = arrays.pop("values", np.zeros(N_ROWS)) if column is None else (column, np.zeros(1))
    conditions, rules = [(1, 0, -1.0)], [([0], [(0, True)], False)]
    _core.decide(n_rows=N_ROWS, columns=[given], conditions=conditions, rules=rules, n_threads=1, **arrays)


def select(**arrays: Any) -> _core.PoolSelection:
    criterion = _core.Criterion(0.5, 0.0, False, [1.0] * N_LABELS, [])
    nothing: dict[str, Any] = {"excludes": [], "groups": [], "hierarchy": []}
    return _core.PoolSelection(min_precision=0.0, criteria=[criterion], max_rules=2, cache_size=1, **nothing, **arrays)


SELECTION: Arrays = {
    "n_conditions": zeros(1, dtype="f8"),
    "sums": np.full((2, N_LABELS, 1), 4.0),
    "label_weights": np.ones(N_LABELS),
    "forbidden": zeros(2, N_LABELS, 1, dtype="u1"),
}


def update(covered: NDArray[Any]) -> None:
    selection = select(**SELECTION)
    assert len(selection.choose()) == N_LABELS
    selection.update(covered)


ENTRIES: dict[str, tuple[Callable[..., None], Arrays]] = {
    "Columns": (
        lambda weights: _core.Columns(N_ROWS, 2, weights) and None,
        {"weights": zeros(N_ROWS, dtype="f8")},
    ),
    "add_dense": (add_dense, {"categories": np.array([-1], np.int32)}),
    "add_codes": (add_codes, {"codes": zeros(N_ROWS, dtype="i4")}),
    "add_values": (add_values, {"values": zeros(N_ROWS, dtype="f8")}),
    "add_sparse": (
        add_sparse,
        {
            "ends": np.array([0, 1], np.int64),
            "rows": zeros(1, dtype="i4"),
            "values": zeros(1, dtype="f8"),
            "picked": zeros(1, dtype="i8"),
            "categories": np.array([-1], np.int32),
        },
    ),
    "Run": (
        learn,
        {
            "truth": zeros(N_ROWS, N_LABELS, dtype="u1"),
            "weights": np.ones(N_ROWS),
            "predicted": zeros(N_ROWS, N_LABELS, dtype="i1"),
            "in_training": np.ones(N_ROWS, np.uint8),
            "head_labels": zeros(N_LABELS, dtype="u1"),
        },
    ),
    "set_labels_apart": (
        lambda apart: options().set_labels_apart(apart),
        {"apart": zeros(N_LABELS, N_LABELS, dtype="u1")},
    ),
    "set_exclusive_labels": (
        lambda groups: options().set_exclusive_labels(groups),
        {"groups": zeros(N_LABELS, dtype="i4")},
    ),
    "set_hierarchy": (lambda above: options().set_hierarchy(above), {"above": zeros(N_LABELS, N_LABELS, dtype="u1")}),
    "set_directions": (
        lambda **arrays: options().set_directions(by_label=False, **arrays),
        {"forbidden": zeros(2, 2 * N_LABELS, dtype="u1"), "nominal": zeros(1, dtype="u1")},
    ),
    "decide": (
        decide,
        {
            "predicted": zeros(N_ROWS, N_LABELS, dtype="i1"),
            "decided_by": zeros(N_ROWS, N_LABELS, dtype="i4"),
            "going_on": zeros(N_ROWS, dtype="?"),
            "sparse_rows": zeros(1, dtype="i4"),
        },
    ),
    "decide_values": (
        decide,
        {
            "predicted": zeros(N_ROWS, N_LABELS, dtype="i1"),
            "decided_by": zeros(N_ROWS, N_LABELS, dtype="i4"),
            "going_on": zeros(N_ROWS, dtype="?"),
            "values": zeros(N_ROWS, dtype="f8"),
        },
    ),
    "PoolSelection": (lambda **arrays: select(**arrays) and None, SELECTION),
    "update": (update, {"covered": zeros(N_LABELS, 2, 1, dtype="f8")}),
    "PoolRows": (
        lambda **arrays: _core.PoolRows(n_rows=N_ROWS, **arrays) and None,
        {
            "rows": zeros(1, dtype="u1"),
            "holds": zeros(1, 1, dtype="u1"),
            "present": zeros(N_LABELS, 1, dtype="u1"),
            "open": zeros(N_LABELS, 1, dtype="u1"),
            "predicted": zeros(N_LABELS, 1, dtype="u1"),
            "weights": np.ones(N_ROWS),
        },
    ),
}
EVERY_ARRAY = [(entry, name) for entry, (_, arrays) in ENTRIES.items() for name in arrays]
ALSO_ACCEPTED = {
    ("add_values", "values"): "f4",
    ("add_sparse", "values"): "f4",
    ("decide_values", "values"): "f4",
}


@pytest.mark.parametrize(("entry", "name"), EVERY_ARRAY)
def test_arrays_of_another_type_are_refused(entry: str, name: str):
    call, arrays = ENTRIES[entry]
    call(**arrays)
    for dtype in DTYPES:
        other = arrays[name].astype(dtype)
        if other.dtype == arrays[name].dtype or dtype == ALSO_ACCEPTED.get((entry, name)):
            call(**arrays | {name: other})
            continue
        with pytest.raises((TypeError, ValueError, RuntimeError)):
            call(**arrays | {name: other})


def test_arrays_that_are_written_to_are_the_arrays_that_were_given():
    predicted, decided_by, going_on = (np.full((N_ROWS, N_LABELS), 5, dtype) for dtype in (np.int8, np.int32, np.bool_))
    decide(predicted=predicted, decided_by=decided_by, going_on=np.ascontiguousarray(going_on[:, 0]))
    assert predicted.tolist() == [[1, -1, -1]] * N_ROWS
    assert decided_by.tolist() == [[0, -1, -1]] * N_ROWS
