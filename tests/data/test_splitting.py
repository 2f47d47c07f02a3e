"""Iterative stratification: every part gets its share of every label."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import KFold, cross_validate

from helpers.requirements import data_set
from plurule import RelaxedPruningClassifier
from plurule import data as io
from plurule.data.splitting import IterativeStratifiedKFold, iterative_split, iterative_train_test_split
from plurule.errors import DataError


def random_labels(rows: int, shares: list[float], seed: int = 0) -> NDArray[np.int8]:
    return (np.random.default_rng(seed).random((rows, len(shares))) < shares).astype(np.int8)


def naive(Y: NDArray[Any], n_parts: int) -> list[int]:
    """The algorithm of Sechidis et al. word for word, with ties broken by the first."""
    rows, labels = range(len(Y)), range(Y.shape[1])
    size = [len(Y) / n_parts] * n_parts
    wanted = [[Y[:, l].sum() / n_parts for _ in range(n_parts)] for l in labels]
    part = [-1] * len(Y)
    while any(p < 0 for p in part):
        counts = [sum(Y[i, l] for i in rows if part[i] < 0) for l in labels]
        positive = [l for l in labels if counts[l] > 0]
        rarest = min(positive, key=lambda l: counts[l]) if positive else None
        for i in rows:
            if part[i] >= 0 or (rarest is not None and not Y[i, rarest]):
                continue
            preference = size if rarest is None else wanted[rarest]
            part[i] = max(range(n_parts), key=lambda j: (round(preference[j], 6), round(size[j], 6), -j))
            size[part[i]] -= 1
            for l in labels:
                wanted[l][part[i]] -= Y[i, l]
    return part


@settings(max_examples=80, deadline=None)
@given(st.integers(3, 25), st.integers(1, 4), st.integers(2, 3), st.integers(0, 10**6))
def test_the_folds_are_those_of_the_published_algorithm(rows: int, labels: int, folds: int, seed: int) -> None:
    Y = random_labels(rows, [0.4, 0.1, 0.7, 0.3][:labels], seed)
    expected = naive(Y, folds)
    for fold, (_, test) in enumerate(IterativeStratifiedKFold(folds).split(Y, Y)):
        assert test.tolist() == [i for i in range(rows) if expected[i] == fold]


@settings(max_examples=50, deadline=None)
@given(st.integers(4, 40), st.integers(2, 4), st.booleans(), st.integers(0, 10**6))
def test_folds_are_a_partition(rows: int, folds: int, shuffle: bool, seed: int) -> None:
    Y = random_labels(rows, [0.3, 0.05], seed)
    splitter = IterativeStratifiedKFold(folds, shuffle=shuffle, random_state=seed if shuffle else None)
    tests = []
    for train, test in splitter.split(None, Y):
        assert sorted([*train, *test]) == list(range(rows))
        tests.append(test)
    assert sorted(itertools.chain(*tests)) == list(range(rows))
    assert splitter.get_n_splits() == folds == len(tests)


def test_rare_labels_are_spread_where_plain_folds_leave_some_out() -> None:
    Y = np.zeros((100, 2), dtype=int)
    Y[:5, 0] = 1
    Y[50:, 1] = 1
    for _, test in IterativeStratifiedKFold(5).split(Y, Y):
        assert Y[test].sum(axis=0).tolist() == [1, 10]
        assert len(test) == 20


def test_the_same_seed_gives_the_same_folds_and_another_seed_others() -> None:
    Y = random_labels(60, [0.5, 0.2, 0.1])

    def folds(seed: int) -> list[list[int]]:
        splitter = IterativeStratifiedKFold(3, shuffle=True, random_state=seed)
        return [test.tolist() for _, test in splitter.split(Y, Y)]

    assert folds(1) == folds(1)
    assert folds(1) != folds(2)


def test_labels_may_come_in_any_form() -> None:
    Y = random_labels(30, [0.5, 0.2])
    expected = [test.tolist() for _, test in IterativeStratifiedKFold(3).split(Y, Y)]
    named = ["a", "b"]
    for form in (sp.csr_matrix(Y), sp.coo_array(Y), Y.astype(bool), Y.tolist(), pd.DataFrame(Y, columns=named),
                 pl.DataFrame(Y, schema=named)):  # fmt: skip
        assert [test.tolist() for _, test in IterativeStratifiedKFold(3).split(Y, form)] == expected


def test_classes_of_a_single_target_are_stratified_too() -> None:
    y = np.array(["a"] * 6 + ["b"] * 3)
    for _, test in IterativeStratifiedKFold(3).split(y, y):
        assert sorted(y[test]) == ["a", "a", "b"]


def test_it_serves_cross_validation_of_scikit_learn() -> None:
    Y = random_labels(60, [0.5, 0.2])
    X = np.column_stack([Y[:, 0] + np.arange(60) / 100, np.arange(60.0)])
    cv = IterativeStratifiedKFold(3, shuffle=True, random_state=0)
    scores = cross_validate(RelaxedPruningClassifier(max_rules=3), X, Y, cv=cv)
    assert len(scores["test_score"]) == 3
    table = io.read((X, Y)).X
    on_table = cross_validate(RelaxedPruningClassifier(max_rules=3), table, Y, cv=cv)
    np.testing.assert_array_equal(scores["test_score"], on_table["test_score"])
    assert repr(cv) == "IterativeStratifiedKFold(n_splits=3, shuffle=True, random_state=0)"
    assert clone(cv, safe=False) is not cv
    with config_context(enable_metadata_routing=True):
        routed = cross_validate(RelaxedPruningClassifier(max_rules=3), X, Y, cv=cv)
    np.testing.assert_array_equal(scores["test_score"], routed["test_score"])


def test_parts_have_their_shares() -> None:
    Y = random_labels(1000, [0.5, 0.1, 0.02])
    parts = iterative_split(Y, [6, 2, 2], random_state=0)
    for rows, share in zip(parts, (0.6, 0.2, 0.2), strict=True):
        assert abs(len(rows) - 1000 * share) <= 3
        assert (abs(Y[rows].sum(axis=0) - Y.sum(axis=0) * share) <= 2).all()


def test_data_are_cut_into_training_and_test_parts() -> None:
    Y = random_labels(100, [0.5, 0.1])
    X = pd.DataFrame({"row": np.arange(100)})
    X_train, X_test, Y_train, Y_test = iterative_train_test_split(X, Y, test_size=0.2, random_state=0)
    assert len(X_test) == len(Y_test) == 20
    np.testing.assert_array_equal(Y[X_test["row"]], Y_test)
    np.testing.assert_array_equal(Y[X_train["row"]], Y_train)
    data = io.read((X, Y))
    train, test = iterative_train_test_split(data, test_size=0.2, random_state=0)
    assert test.X.column(0).tolist() == X_test["row"].tolist()
    assert len(train) == 80


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda Y: IterativeStratifiedKFold(1), "n_splits=1, expected a whole number of at least 2"),
        (lambda Y: IterativeStratifiedKFold(2.5), "n_splits=2.5, expected a whole number"),
        (lambda Y: IterativeStratifiedKFold(3, random_state=0), "random_state has no effect without shuffle=True"),
        (lambda Y: list(IterativeStratifiedKFold(3).split(Y)), "y is missing"),
        (lambda Y: list(IterativeStratifiedKFold(9).split(Y, Y)), "9 folds of 4 instances"),
        (lambda Y: list(IterativeStratifiedKFold(2).split(Y[:3], Y)), "X has 3 rows and y 4"),
        (
            lambda Y: list(IterativeStratifiedKFold(2).split(Y, Y + 1)),
            "row 0: y contains 2, expected 0 or 1",
        ),
        (lambda Y: list(IterativeStratifiedKFold(2).split(Y, Y * np.nan)), "label 'y0', row 0: y contains NaN"),
        (lambda Y: list(IterativeStratifiedKFold(2).split(Y, [["x", "y"]] * 4)), "label 'y0', row 0: y contains 'x'"),
        (lambda Y: iterative_train_test_split(Y, Y, test_size=1.5), "test_size=1.5, expected a share"),
        (lambda Y: iterative_train_test_split(Y, Y, test_size=4), "test_size=4, expected a share between 0 and 1"),
        (lambda Y: iterative_train_test_split(Y), "Y is missing"),
        (lambda Y: iterative_train_test_split(Y[:2], Y), "X has 2 rows and Y 4"),
        (lambda Y: iterative_split(Y, [1]), "expected at least two numbers above 0"),
    ],
)
def test_bad_input_is_refused(call: Any, message: str) -> None:
    with pytest.raises((ValueError, DataError), match=message.replace("(", r"\(")):
        call(np.array([[1, 0], [0, 1], [1, 1], [0, 0]]))


@pytest.mark.parametrize("name", ["birds", "bibtex", "delicious"])
def test_real_labels_are_spread_more_evenly_than_by_chance(shared_data: Path, name: str) -> None:
    Y = io.read(data_set(shared_data, name)).Y

    def unevenness(splitter: Any) -> float:
        return float(np.mean([abs(Y[test].sum(axis=0) - Y.sum(axis=0) / 5).mean() for _, test in splitter.split(Y, Y)]))

    stratified = unevenness(IterativeStratifiedKFold(5, shuffle=True, random_state=0))
    assert stratified < 0.6 * unevenness(KFold(5, shuffle=True, random_state=0))
