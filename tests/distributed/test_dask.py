"""What collections of Dask become, and what an actor counts; a real cluster learns in other tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from plurule.data.dataset import Dataset
from plurule.data.readers.reading import Reader
from plurule.distributed.dask import Counter, scan
from plurule.distributed.parts import labelled_part
from plurule.errors import DataError

X, Y = np.arange(12.0).reshape(6, 2), np.eye(6, 3, dtype=int)


def test_counter_adds_up_its_blocks() -> None:
    def weighed(block: Any, factor: float) -> np.ndarray:
        return np.array([factor * len(block)])

    for n_threads in (1, 2):
        assert Counter([np.arange(2), np.arange(3), np.arange(5)], n_threads).total(weighed, (10.0,)).tolist() == [100]


def test_a_partition_is_x_and_y_or_a_frame_with_labels_or_a_data_set() -> None:
    frame = pd.DataFrame(X, columns=["u", "v"]).assign(one=Y[:, 0], two=Y[:, 1])
    found = labelled_part(frame, Reader(["one", "two"]))
    assert (found.label_names, [a.name for a in found.attributes]) == (("one", "two"), ["u", "v"])
    assert labelled_part(found) is found
    for part in ((X, Y), [X, Y, np.arange(6.0)]):
        made = labelled_part(part)
        assert isinstance(made, Dataset)
        assert np.array_equal(np.asarray(made.Y), Y)
    assert made.weights is not None


def test_scan_refuses_collections_that_are_cut_differently() -> None:
    da = pytest.importorskip("dask.array")
    with pytest.raises(DataError, match="have 2, 3 partitions; cut them alike"):
        scan(da.from_array(X, chunks=(3, 2)), da.from_array(Y, chunks=(2, 3)))
