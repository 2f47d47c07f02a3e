"""What travels to a cluster and back, and what collections of Dask become; a real cluster learns in other tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from plurule.data.dataset import Dataset
from plurule.distributed.dask_data import Counter, dask_data, labelled, packed, packed_result, total_packed, unpacked
from plurule.errors import DataError

X, Y = np.arange(12.0).reshape(6, 2), np.eye(6, 3, dtype=int)


def test_counts_travel_in_the_smallest_type_that_holds_them() -> None:
    for table in (
        np.array([[0.0, 255.0]]),
        np.array([70_000.0]),
        np.array([2.0**40]),
        np.array([0.5, -1.0]),
        np.zeros(0),
    ):
        (sent,) = packed([table])
        assert np.array_equal(unpacked(sent), table)
        assert unpacked(sent).dtype == np.float64
    assert packed(np.array([[0.0, 255.0]])).nbytes == 2
    assert packed(np.array([70_000.0])).nbytes == 4


def test_what_travels_adds_up_to_what_does_not() -> None:
    def told(block: int) -> list[Any]:
        return [block, (np.full(3, 100.0 * block), "ab"[block - 1])]

    sums = unpacked(total_packed([packed_result(told, block) for block in (1, 2)]))
    assert sums[0] == 3
    assert sums[1][0].tolist() == [300.0] * 3
    assert sums[1][1] == "ab"


def test_a_counter_adds_its_own_blocks_to_those_of_the_counters_below() -> None:
    class Answer:
        def __init__(self, value: Any):
            self.value = value

        def result(self) -> Any:
            return self.value

    class Remote:
        def total(self, function: Any, shared: Any) -> Answer:
            return Answer(Counter([np.arange(3), np.arange(5)], [], 1).total(function, shared))

    def weighed(block: Any, factor: float) -> np.ndarray:
        return np.array([factor * len(block)])

    for n_threads in (1, 2):
        told = Counter([np.arange(2)], [Remote()], n_threads).total(weighed, (10.0,))
        assert unpacked(told).tolist() == [100.0]
        assert told.dtype == np.uint8


def test_a_partition_is_x_and_y_or_a_frame_with_labels_or_a_data_set() -> None:
    frame = pd.DataFrame(X, columns=["u", "v"]).assign(one=Y[:, 0], two=Y[:, 1])
    found = labelled(["one", "two"], frame)
    assert (found.label_names, [a.name for a in found.attributes]) == (("one", "two"), ["u", "v"])
    assert labelled(None, found) is found
    for part in ((X, Y), [X, Y, np.arange(6.0)]):
        made = labelled(None, part)
        assert isinstance(made, Dataset)
        assert np.array_equal(np.asarray(made.Y), Y)
    assert made.weights is not None


def test_collections_that_are_cut_differently_are_refused_and_columns_are_put_together() -> None:
    pytest.importorskip("dask")
    da = pytest.importorskip("dask.array")
    with pytest.raises(DataError, match="have 2, 3 partitions; cut them alike"):
        dask_data(None, da.from_array(X, chunks=(3, 2)), da.from_array(Y, chunks=(2, 3)))
    data = dask_data(None, da.from_array(X, chunks=(3, 1)), da.from_array(Y, chunks=(3, 3)))
    first, second = (data.read(part.compute(scheduler="sync")) for part in data.parts)
    assert [len(first.attributes), len(first), len(second)] == [2, 3, 3]
