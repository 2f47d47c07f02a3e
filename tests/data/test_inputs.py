"""What the estimators are given becomes one data set."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from plurule.data import Dataset, read
from plurule.data.inputs import labelled_data, unpack
from plurule.errors import DataError

X = np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 7.0], [4.0, 8.0]])
Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])


@pytest.fixture
def data() -> Dataset:
    frames = pd.DataFrame(X, columns=["area", "zone"]), pd.DataFrame(Y, columns=["red", "blue"])
    made = read(frames)
    return Dataset(made.X, made.Y, made.label_names, np.array([1.0, 2.0, 1.0, 0.0]))


def test_labels_without_names_are_numbered_and_never_called_like_a_column() -> None:
    frame = pd.DataFrame(X, columns=["x0", "y1"])
    assert labelled_data(frame, Y)[0].label_names == ("y0_label", "y1_label")
    assert labelled_data(frame.rename(columns={"y1": "spam"}), ["ham", "spam"] * 2)[0].label_names == ("spam_label",)


def test_the_later_of_two_classes_is_the_label() -> None:
    assert labelled_data(X, ["spam", "ham", "ham", "ham"])[0].label_names == ("spam",)
    assert labelled_data(X, [0, 1, 1, 1])[0].label_names == ("y",)
    assert labelled_data(X, pd.Series([0, 1, 0, 1], name="bought"))[0].label_names == ("bought",)
    found, form = labelled_data(X, [2, 1, 2, 1])
    assert found.Y.ravel().tolist() == [1, 0, 1, 0]
    assert form.classes is not None
    assert form.labels(found.Y).tolist() == [2, 1, 2, 1]


def test_a_sparse_target_is_remembered_as_sparse() -> None:
    found, form = labelled_data(X, sp.csr_array(Y))
    assert form.sparse
    assert sp.issparse(form.labels(np.asarray(Y)))
    np.testing.assert_array_equal(found.Y.toarray(), Y)


def test_a_data_set_brings_its_names_labels_and_weights(data: Dataset) -> None:
    found, form = labelled_data(data)
    assert found.label_names == ("red", "blue")
    assert found.weights is not None
    assert found.weights.tolist() == [1, 2, 1, 0]
    assert form.classes is None
    renamed, _ = labelled_data(data, sample_weight=3, label_names=["r", "b"])
    assert renamed.label_names == ("r", "b")
    assert renamed.weights is not None
    assert renamed.weights.tolist() == [3] * 4
    with pytest.raises(DataError, match="y is given though X is a data set"):
        labelled_data(data, Y)


def test_the_labels_of_a_data_set_are_matched_by_name(data: Dataset) -> None:
    table, labels, weights = unpack(data, None, None, ["blue", "red"])
    assert table is data.X
    np.testing.assert_array_equal(labels, Y[:, ::-1])
    assert weights is data.weights
    assert unpack(X, Y, None, ["blue"]) == (X, Y, None)
