"""The one gate for labels: what passes it, what it refuses, and that it changes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from plurule.data.targets import by_name, dense, label_matrix
from plurule.errors import DataError

Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])


@pytest.mark.parametrize(
    "matrix",
    [
        Y,
        Y.astype(np.int8),
        Y.tolist(),
        Y.astype(bool),
        Y.astype(float),
        Y.astype(object),
        np.asfortranarray(Y),
        sp.csr_array(Y),
        sp.coo_matrix(Y.astype(float)),
        sp.csc_array(Y.astype(bool)),
        pd.DataFrame(Y),
        pd.DataFrame(Y.astype(bool)).astype({0: "boolean"}),
        pl.DataFrame(Y),
    ],
    ids=lambda matrix: type(matrix).__name__,
)
def test_labels_are_read_from_any_kind_of_matrix(matrix: Any) -> None:
    found, _ = label_matrix(matrix)
    assert found.dtype == np.int8
    assert sp.issparse(found) == sp.issparse(matrix)
    np.testing.assert_array_equal(dense(found), Y)


def test_names_are_those_of_a_frame() -> None:
    assert label_matrix(pd.DataFrame(Y, columns=["red", "blue"]))[1] == ("red", "blue")
    assert label_matrix(Y)[1] is None
    with pytest.raises(DataError, match="Y has several labels named 'red'"):
        label_matrix(pd.DataFrame(Y, columns=["red", "red"]))


@pytest.mark.parametrize("column", [[1, 0], np.array([1, 0]), pd.Series([1, 0]), pl.Series([1, 0])])
def test_a_single_label_may_be_one_dimensional(column: Any) -> None:
    assert label_matrix(column)[0].tolist() == [[1], [0]]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([[1, 0], [0, 3]], "label 'y1', row 1: P contains 3, expected 0 or 1"),
        (
            [[1, 0], [0, -1]],
            r"label 'y1', row 1: P contains -1, expected 0 or 1; for labels of -1 and 1 give \(Y > 0\)",
        ),
        ([[1, 0.5]], "label 'y1', row 0: P contains 0.5"),
        ([[np.nan]], "label 'y0', row 0: P contains NaN, expected 0 or 1; leave out rows"),
        ([[-np.inf]], r"label 'y0', row 0: P contains infinity \(-inf\)"),
        ([["1"]], "label 'y0', row 0: P contains '1'"),
        ([[None]], "label 'y0', row 0: P contains None"),
        ([[1j]], "P must hold 0 and 1 only, got values of type complex"),
        (np.zeros((1, 1, 1)), r"P must be a matrix of instances × labels, got an array of shape \(1, 1, 1\)"),
        ([["red"], ["red", "blue"]], "P is not a matrix: .*MultiLabelBinarizer"),
        (sp.csr_array([[0, 0], [256, 0]]), "label 'y0', row 1: P contains 256"),
        (sp.coo_array(([1, 1], ([1, 1], [0, 0]))), "label 'y0', row 1: P contains 2"),
        (pd.DataFrame({"red": [1], "blue": [7]}), "label 'blue', row 0: P contains 7"),
        (pl.DataFrame({"red": [1, None]}), "label 'red', row 1: P contains NaN"),
        (pd.Series([0, 2], name="red"), "label 'red', row 1: P contains 2"),
    ],
)
def test_what_is_not_0_or_1_is_refused_with_its_label_and_row(labels: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        label_matrix(labels, "P")


def test_stored_zeros_and_duplicates_are_summed_up_in_a_copy() -> None:
    stored = sp.csr_array((np.array([1, -1, 1, 0]), np.array([1, 1, 0, 1]), np.array([0, 4])), shape=(1, 2))
    before = stored.data.copy(), stored.indices.copy(), stored.indptr.copy()
    found, _ = label_matrix(stored)
    assert found.toarray().tolist() == [[1, 0]]
    assert found.nnz == 1
    for array, was in zip((stored.data, stored.indices, stored.indptr), before, strict=True):
        np.testing.assert_array_equal(array, was)


def test_columns_are_picked_by_name() -> None:
    for matrix in (Y, sp.csr_array(Y)):
        np.testing.assert_array_equal(dense(by_name(matrix, ["red", "blue"], ["blue", "red"])), Y[:, ::-1])
    with pytest.raises(DataError, match="lack the label 'rde' of the rule list; did you mean 'red'"):
        by_name(Y, ["red", "blue"], ["rde"])


def test_columns_are_picked_by_name_in_the_order_of_the_model() -> None:
    assert by_name(np.array([[1, 0]], dtype=np.int8), ["red", "blue"], ["blue"]).tolist() == [[0]]


def test_true_and_false_are_one_and_zero() -> None:
    matrix, names = label_matrix([[1, 0], [True, False]])
    assert (matrix.tolist(), matrix.dtype, names) == ([[1, 0], [1, 0]], np.int8, None)
