"""Tables: picked by rows, aligned to a model, describing themselves."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.datasets import columns
from helpers.problems import make_table
from plurule.data.dataset import Table
from plurule.data.inputs import encode
from plurule.errors import DataError
from plurule.model import Attribute

# Tables ----------------------------------------------------------------------------------------------------


def test_rows_of_a_table_are_picked_by_indices_masks_and_slices():
    table = make_table({"a": [1, 2, 3], "b": ["x", None, "y"]})
    assert columns(table[[2, 0, 0]]) == [[3, 1, 1], ["y", "x", "x"]]
    assert columns(table[np.array([True, False, True])]) == [[1, 3], ["x", "y"]]
    assert columns(table[1:]) == [[2, 3], [None, "y"]]
    assert columns(table[1]) == [[2], [None]]
    assert len(table[[]]) == 0


def test_columns_of_a_table_are_not_picked_by_index():
    with pytest.raises(IndexError, match="rows only"):
        make_table({"a": [1]})[0, 0]


def test_a_table_is_aligned_to_a_model_by_name_with_its_categories_recoded():
    table = make_table({"zone": ["SW", "NE", "moon", None], "area": [1, 2, 3, 4]})
    aligned = encode(table, (Attribute("area"), Attribute("zone", ("NE", "NW", "SW"))))
    assert columns(aligned) == [[1, 2, 3, 4], ["SW", "NE", None, None]]


def test_a_table_that_lacks_a_column_or_has_it_in_another_kind_is_refused():
    table = make_table({"zone": ["SW"]})
    with pytest.raises(DataError, match="lack 1 of the columns the model was trained on: 'area'"):
        encode(table, (Attribute("area"),))
    with pytest.raises(DataError, match="'zone' must hold numbers, found 'SW'"):
        encode(table, (Attribute("zone"),))


def test_columns_of_different_lengths_make_no_table():
    with pytest.raises(DataError, match=r"different lengths: \[1, 2\]"):
        Table([Attribute("a"), Attribute("b")], [np.zeros(1), np.zeros(2)])
    with pytest.raises(DataError, match="1 columns, 2 attributes"):
        Table([Attribute("a"), Attribute("b")], [np.zeros(1)])


def test_a_table_without_columns_knows_its_length():
    assert make_table({}, 3).shape == (3, 0)
    assert make_table({}, 3)[[0, 1]].shape == (2, 0)


def test_a_table_describes_itself():
    assert repr(make_table({"a": [1], "b": ["x"]})) == "Table(1 rows, 1 numeric and 1 nominal columns)"
