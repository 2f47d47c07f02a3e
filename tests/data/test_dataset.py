"""Data sets: handed to the estimators, and given back as frames and arrays."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier

from plurule.data import Dataset
from plurule.data.dataset import Table
from plurule.datasets import load_world_flags
from plurule.errors import DataError
from plurule.model import Attribute
from plurule.relaxed_pruning import RelaxedPruningClassifier


def small(**changes: Any) -> Dataset:
    made: dict[str, Any] = {
        "X": Table([Attribute("a"), Attribute("b", ("x", "y", "z"))], [np.array([1.5, np.nan]), np.array([1, -1])]),
        "Y": np.array([[1, 0], [0, 1]]),
        "label_names": ("l", "m"),
    }
    return Dataset(**(made | changes))


def test_frames_hold_what_the_data_set_holds() -> None:
    X, Y = small(row_names=("one", "two")).to_pandas()
    assert X.index.tolist() == Y.index.tolist() == ["one", "two"]
    assert X["b"].cat.categories.tolist() == ["x", "y", "z"]
    assert X["b"].tolist()[0] == "y"
    assert X.isna().to_numpy().tolist() == [[False, False], [True, True]]
    assert Y.to_dict("list") == {"l": [1, 0], "m": [0, 1]}
    X, Y = small(Y=sp.csr_array([[1, 0], [0, 1]])).to_pandas()
    assert Y.to_dict("list") == {"l": [1, 0], "m": [0, 1]}


def test_arrays_hold_numbers_of_categories_and_nan() -> None:
    X, Y = small().to_numpy()
    np.testing.assert_array_equal(X, [[1.5, 1], [np.nan, np.nan]])
    np.testing.assert_array_equal(Y, [[1, 0], [0, 1]])


def test_a_forest_learns_from_the_arrays() -> None:
    X, Y = load_world_flags().to_numpy()
    assert RandomForestClassifier(n_estimators=2, random_state=0).fit(X, Y).predict(X).shape == Y.shape


def test_to_pandas_without_pandas_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"to_pandas needs pandas; install it with: pip install 'plurule\[pandas\]'"):
        small().to_pandas()


def test_names_of_rows_go_with_the_rows() -> None:
    data = small(row_names=["one", "two"])
    assert data[[1, 0]].row_names == ("two", "one")
    with pytest.raises(DataError, match="1 row names, expected one for each of 2 rows"):
        small(row_names=["one"])


def test_a_classifier_learns_from_a_data_set_and_predicts_for_one() -> None:
    flags = load_world_flags()
    weighted = Dataset(flags.X, flags.Y, flags.label_names, np.linspace(0, 2, len(flags)))
    for data in (flags, weighted):
        model = RelaxedPruningClassifier(max_rules=5).fit(data)
        by_parts = RelaxedPruningClassifier(max_rules=5).fit(data.X, data.Y, data.weights, label_names=data.label_names)
        assert model.rule_list_ == by_parts.rule_list_
        assert model.feature_names_in_.tolist() == list(data.attribute_names)
        np.testing.assert_array_equal(model.predict(data), model.predict(data.X))
        np.testing.assert_array_equal(model.predict_proba(data), model.predict_proba(data.X))
        assert model.score(data) == model.score(data.X, data.Y, data.weights)
        np.testing.assert_array_equal(model.staged_score(data), model.staged_score(data.X, data.Y, None, data.weights))
        assert len(model.explain(data)) == len(data)


def test_labels_of_a_data_set_in_another_order_are_scored_by_name() -> None:
    flags = load_world_flags()
    model = RelaxedPruningClassifier(max_rules=5).fit(flags)
    turned = Dataset(flags.X, flags.Y[:, ::-1], flags.label_names[::-1])
    assert model.score(turned) == model.score(flags)


def test_a_data_set_of_frames_is_the_same_again() -> None:
    X, Y = load_world_flags().to_pandas()
    assert isinstance(X, pd.DataFrame)
    model = RelaxedPruningClassifier(max_rules=3).fit(X, Y)
    assert model.rule_list_ == RelaxedPruningClassifier(max_rules=3).fit(load_world_flags()).rule_list_
