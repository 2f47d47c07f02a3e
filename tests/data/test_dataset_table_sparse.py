"""Wide tables: many sparse columns in one matrix behave as the columns they stand for."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from plurule.data.dataset import SparseColumn, SparseColumns, Table
from plurule.data.inputs import encode
from plurule.model import Attribute

CATEGORIES = ("no", "yes", "maybe")


@st.composite
def cells(draw: st.DrawFn) -> NDArray[Any]:
    """Numbers in even columns, codes in odd ones."""
    rows, columns = draw(st.integers(0, 6)), draw(st.integers(1, 5))
    numbers = st.sampled_from([0.0, 0.0, 1.5, -2.0, np.nan])
    codes = st.sampled_from([0.0, 0.0, 1.0, 2.0, -1.0])
    values = [draw(numbers if j % 2 == 0 else codes) for _ in range(rows) for j in range(columns)]
    return np.array(values).reshape(rows, columns)


def wide(dense: NDArray[Any]) -> Table:
    nominal = np.arange(dense.shape[1]) % 2 == 1
    matrix = sp.csc_array(dense)
    categories = [CATEGORIES if is_nominal else None for is_nominal in nominal]
    names = [f"a{i}" for i in range(dense.shape[1])]
    return Table(list(map(Attribute, names, categories)), SparseColumns(matrix, nominal, np.arange(dense.shape[1])))


def assert_holds(table: Table, dense: NDArray[Any], columns: list[int]) -> None:
    assert table.shape == dense.shape
    assert table.names == tuple(f"a{i}" for i in columns)
    for position, i in enumerate(columns):
        attribute = Attribute(f"a{i}", CATEGORIES if i % 2 else None)
        assert table.attributes[position] == attribute
        column = table.columns[position]
        assert isinstance(column, SparseColumn)
        assert column.rows.dtype == np.int32
        assert (np.diff(column.rows) > 0).all()
        np.testing.assert_array_equal(table.column(position), dense[:, position])
        assert table.column(position).dtype == (np.int32 if i % 2 else np.float64)


@settings(max_examples=150, deadline=None)
@given(cells(), st.data())
def test_rows_and_columns_can_be_taken_in_any_order(dense: NDArray[Any], data: st.DataObject) -> None:
    table = wide(dense)
    everything = list(range(dense.shape[1]))
    assert_holds(table, dense, everything)
    columns = data.draw(st.lists(st.sampled_from(everything), unique=True))
    rows = data.draw(st.lists(st.integers(0, len(dense) - 1), max_size=8)) if len(dense) else []
    picked = np.array(rows, dtype=np.intp)
    assert_holds(table.select(columns), dense[:, columns], columns)
    assert_holds(table[picked], dense[picked], everything)
    assert_holds(table.select(columns)[picked], dense[picked][:, columns], columns)
    assert_holds(table[picked].select(columns), dense[picked][:, columns], columns)
    assert_holds(pickle.loads(pickle.dumps(table)), dense, everything)


@settings(max_examples=100, deadline=None)
@given(cells(), st.data())
def test_a_single_sparse_column_gives_rows_in_any_order(dense: NDArray[Any], data: st.DataObject) -> None:
    column = wide(dense).columns[0]
    assert isinstance(column, SparseColumn)
    rows = data.draw(st.lists(st.integers(0, len(dense) - 1), max_size=8)) if len(dense) else []
    taken = column.take(np.array(rows, dtype=np.intp))
    np.testing.assert_array_equal(taken.to_dense(), dense[rows, 0] if rows else np.empty(0))


def test_columns_are_a_sequence() -> None:
    columns = wide(np.array([[1.0, 2.0, 3.0]])).columns
    assert len(columns) == len(list(columns)) == 3
    assert [c.values.tolist() for c in columns[1:]] == [[2], [3]]
    assert columns[-1].to_dense().tolist() == [3]  # type: ignore[union-attr]
    with pytest.raises(IndexError):
        columns[3]


def test_a_sparse_matrix_is_kept_as_it_is() -> None:
    table = encode(sp.random_array((20, 1000), density=0.01, rng=0))
    assert isinstance(table.columns, SparseColumns)
    assert table[[1, 3]].shape == (2, 1000)


def test_numbers_are_categories_where_a_model_says_so() -> None:
    table = Table([Attribute("zone")], [np.array([2.0, np.nan, 7.0, 1.0])])
    aligned = encode(table, (Attribute("zone", ("1", "2")),))
    assert aligned.column(0).tolist() == [1, -1, -1, 0]
