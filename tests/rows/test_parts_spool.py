"""Columns in files: the rows of all parts, mapped to memory."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from helpers.parts import spooled
from plurule._rows.parts import SpooledColumns
from plurule.data import Dataset
from plurule.data.dataset import SparseColumns
from plurule.data.inputs import labelled_data


@pytest.fixture
def columns(tmp_path: Path) -> SpooledColumns:
    """Two columns of ten rows: numbers of 32 bits, and codes."""
    np.arange(10, dtype=np.float32).tofile(tmp_path / "column-0")
    (np.arange(10, dtype=np.int32) % 3).tofile(tmp_path / "column-1")
    return SpooledColumns(tmp_path, [np.dtype("f4"), np.dtype("i4")], 10)


def test_columns_are_read_from_their_files(columns: SpooledColumns) -> None:
    assert len(columns) == 2
    assert columns[0].tolist() == list(range(10))
    assert columns[1].dtype == np.int32


def test_narrow_columns_stay_narrow(columns: SpooledColumns) -> None:
    assert columns[0].dtype == columns.take(np.array([1, 5]))[0].dtype == np.float32


def test_columns_end_after_the_last(columns: SpooledColumns) -> None:
    assert [len(column) for column in columns] == [10, 10]
    with pytest.raises(IndexError):
        columns[2]


def test_slice_of_columns_is_a_tuple_of_columns(columns: SpooledColumns) -> None:
    first, second = columns[0:2]
    assert first.tolist() == columns[0].tolist()
    assert second.tolist() == columns[1].tolist()
    assert columns[1:1] == ()


def test_columns_are_not_written_to(columns: SpooledColumns) -> None:
    with pytest.raises(ValueError, match="read-only"):
        columns[0][0] = 7


@pytest.mark.parametrize("first", [None, np.array([1, 2, 4, 7, 9]), np.arange(3, 9), np.arange(0)], ids=str)
@pytest.mark.parametrize("second", [np.array([0, 2]), np.arange(1, 4), np.arange(0)], ids=str)
def test_take_of_take_gives_the_rows_of_the_rows(columns: SpooledColumns, first: Any, second: Any) -> None:
    rows = np.arange(10) if first is None else first
    taken = columns if first is None else columns.take(first)
    second = second[second < len(rows)]
    again = taken.take(second)
    assert again.n_rows == len(second)
    assert again[0].tolist() == rows[second].astype(float).tolist()
    assert again[1].tolist() == (rows[second] % 3).tolist()


def test_take_of_neighbouring_rows_copies_nothing(columns: SpooledColumns) -> None:
    neighbours = columns.take(np.arange(3, 9)).take(np.arange(1, 4))
    assert isinstance(neighbours.picked, slice)
    assert not neighbours[0].flags.owndata
    assert neighbours[0].tolist() == [4, 5, 6]


# Spooling ------------------------------------------------------------------------------------------------------------


def make_data() -> Dataset:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=50), "b": rng.normal(size=50).astype(np.float32)})
    frame["c"] = rng.choice(["x", "y", None], 50)
    frame.loc[3, "a"] = np.nan
    return labelled_data(frame, rng.integers(0, 2, (50, 3)))[0]


@pytest.mark.parametrize("places", [[], [20], [0, 20, 20, 50]], ids=str)
def test_spool_writes_the_rows_of_all_parts(places: list[int], tmp_path: Path) -> None:
    data = make_data()
    ends = [0, *places, 50]
    found = spooled([data[start:end] for start, end in itertools.pairwise(ends)], tmp_path)
    assert isinstance(found.X.columns, SpooledColumns)
    assert len(found) == 50
    assert np.array_equal(found.Y, np.asarray(data.Y))
    for column, expected in zip(found.X.columns, data.X.columns, strict=True):
        assert column.dtype == expected.dtype
        np.testing.assert_array_equal(column, expected)


def test_spool_writes_one_file_per_column_and_one_of_labels(tmp_path: Path) -> None:
    spooled([make_data()], tmp_path)
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert sizes == {"column-0": 400, "column-1": 200, "column-2": 200, "labels": 150}


def test_spool_keeps_sparse_columns_in_memory(tmp_path: Path) -> None:
    X = sp.random_array((40, 7), density=0.2, format="csr", rng=np.random.default_rng(0))
    Y = np.random.default_rng(1).integers(0, 2, (40, 2))
    parts = [labelled_data(X[rows], Y[rows])[0] for rows in (slice(0, 15), slice(15, 40))]
    found = spooled(parts, tmp_path)
    assert isinstance(found.X.columns, SparseColumns)
    np.testing.assert_array_equal(found.X.columns.picked_matrix().toarray(), X.toarray())


def test_table_of_columns_in_files_gives_the_rows_that_are_asked_for(tmp_path: Path) -> None:
    data = make_data()
    found = spooled([data[:20], data[20:]], tmp_path)
    rows = np.array([1, 5, 30, 49])
    for column, expected in zip(found.X[rows].columns, data.X[rows].columns, strict=True):
        np.testing.assert_array_equal(column, expected)
