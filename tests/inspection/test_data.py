"""The data that a rule list is looked at with: columns and labels find the names of the list."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from helpers.rule_lists import make_rules
from plurule.data import read
from plurule.errors import DataError
from plurule.inspection.data import match, match_both

RULES = make_rules("red <- x > 1\nblue <- red", {"x": None, "y": None}, ("red", "blue"))
TRUTH = [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    "Y",
    [
        TRUTH,
        sp.csr_array(TRUTH),
        pd.DataFrame({"blue": [0, 1], "green": [1, 1], "red": [1, 0]}),
        [{"red"}, {"blue"}],
        ["red", "blue"],
    ],
    ids=["matrix", "sparse", "frame", "sets", "classes"],
)
def test_labels_come_in_the_order_of_the_list_whatever_they_are_given_as(Y: Any) -> None:
    table, truth, weights = match_both(RULES, [[1.0, 2.0], [3.0, 4.0]], Y)
    assert truth.tolist() == TRUTH
    assert truth.dtype == np.uint8
    assert table.names == ("x", "y")
    assert weights is None


def test_a_data_set_brings_its_labels_and_weights() -> None:
    data = read(pd.DataFrame({"blue": [0, 1], "y": [2.0, 4.0], "red": [1, 0], "x": [1.0, 3.0]}), labels=["blue", "red"])
    table, truth, weights = match(RULES, data)
    assert truth is not None
    assert truth.tolist() == TRUTH
    assert table.column(0).tolist() == [1.0, 3.0]
    assert weights is None
    assert match(RULES, data, sample_weight=[1.0, 2.0])[2] is not None
    assert match(RULES, replace(data, weights=np.array([1.0, 2.0])))[2] is not None


def test_only_what_rules_test_must_be_there() -> None:
    with pytest.warns(UserWarning, match="the data lack 1 of the model's columns, which no rule tests"):
        assert match(RULES, pd.DataFrame({"x": [1.0]}))[0].absent_columns == ("y",)
    with pytest.raises(DataError, match="the data lack 1 of the columns the model was trained on: 'x'"):
        match(RULES, pd.DataFrame({"y": [1.0]}))


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        (None, "the true labels are needed as well"),
        ([[1, 0]], "X has 2 rows and Y has 1"),
        ([[1, 0, 1], [0, 0, 1]], "the rule list has 2 labels; give one column per label"),
        (pd.DataFrame({"red": [1, 0]}), "the data lack the label 'blue' of the rule list"),
    ],
)
def test_labels_that_do_not_fit_are_refused(Y: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        match_both(RULES, [[1.0, 2.0], [3.0, 4.0]], Y)
