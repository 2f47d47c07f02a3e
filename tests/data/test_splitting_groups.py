"""Rows that belong together are never divided."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from plurule import RuleListClassifier, discover
from plurule.data import IterativeStratifiedKFold
from plurule.data.inputs import encode, labelled_data
from plurule.data.splitting import copies, iterative_split, number_groups
from plurule.errors import DataError


def noise(seed: int, n_rows: int = 60, times: int = 4) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, 6))
    Y = (generator.random((n_rows, 3)) < 0.3).astype(int)
    order = generator.permutation(n_rows * times)
    return np.tile(X, (times, 1))[order], np.tile(Y, (times, 1))[order]


@pytest.mark.parametrize("seed", range(5))
def test_folds_keep_groups_together_and_all_rows(seed: int) -> None:
    generator = np.random.default_rng(seed)
    Y = generator.integers(0, 2, (80, 3))
    groups = generator.integers(0, 20, 80)
    seen = []
    for train, test in IterativeStratifiedKFold(4, shuffle=True, random_state=seed).split(Y, Y, groups):
        assert not set(groups[train]) & set(groups[test])
        seen += test.tolist()
    assert sorted(seen) == list(range(80))
    first, second = iterative_split(Y, [0.7, 0.3], random_state=seed, groups=groups)
    assert not set(groups[first]) & set(groups[second])


def test_folds_without_groups_of_several_rows_are_those_without_groups() -> None:
    Y = np.random.default_rng(0).integers(0, 2, (50, 3))
    plain = [test.tolist() for _, test in IterativeStratifiedKFold(3).split(Y, Y)]
    alone = [test.tolist() for _, test in IterativeStratifiedKFold(3).split(Y, Y, np.arange(50))]
    assert alone == plain


def test_more_folds_than_groups_are_refused() -> None:
    Y = np.ones((6, 1), int)
    with pytest.raises(DataError, match="3 folds of 2 groups"):
        list(IterativeStratifiedKFold(3).split(Y, Y, [0, 0, 0, 1, 1, 1]))
    with pytest.raises(DataError, match="groups has 2 rows and y 6"):
        list(IterativeStratifiedKFold(2).split(Y, Y, [0, 1]))


def test_copies_are_the_rows_that_pandas_calls_duplicates() -> None:
    generator = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "a": generator.integers(0, 30, 200).astype(float),
            "b": generator.choice(["x", "y"], 200),
            "c": np.where(generator.random(200) < 0.3, np.nan, 1.5),
        }
    )
    frame["y"] = (frame["a"] > 12).astype(int)
    data, _ = labelled_data(frame[["a", "b", "c"]], frame[["y"]], None, None, None)
    expected = frame.groupby(list(frame.columns), dropna=False, sort=False).ngroup().to_numpy()
    assert np.array_equal(copies(data.X, data.Y), number_groups(expected))


def test_copies_of_sparse_and_dense_rows_are_the_same() -> None:
    X = np.random.default_rng(2).integers(0, 2, (100, 6)).astype(float)
    Y = np.zeros((100, 1), np.int8)
    assert np.array_equal(copies(encode(X), Y), copies(encode(sp.csr_array(X)), Y))


def test_rows_of_few_discrete_attributes_are_no_copies() -> None:
    generator = np.random.default_rng(8)
    X = generator.integers(0, 2, (300, 5)).astype(float)
    Y = (generator.random((300, 1)) < np.where(X[:, :1] > 0, 0.8, 0.2)).astype(int)
    assert len(np.unique(copies(encode(X), Y))) == 300
    assert len(RuleListClassifier().fit([[0.0], [1.0]] * 10, [[0], [1]] * 10).rule_list_[0].body) == 1


def test_fit_holds_copies_out_together_and_says_how_many_there_are() -> None:
    """Rows that are in training and held out at once make noise look like a model."""
    X, Y = noise(3)
    with pytest.warns(UserWarning, match="180 of 240 rows are copies of others"):
        classifier = RuleListClassifier().fit(X, Y)
    fresh_X, fresh_Y = noise(4, 2000, 1)
    predicted = classifier.predict(fresh_X)
    truth = 2 * (predicted * fresh_Y).sum() / (predicted.sum() + fresh_Y.sum())
    assert abs(classifier.chosen_["score"] - truth) < 3 * classifier.chosen_["standard_error"] + 0.02


def test_fit_holds_groups_out_together() -> None:
    generator = np.random.default_rng(5)
    patients = np.repeat(np.arange(40), 6)
    X = generator.normal(size=(40, 5))[patients] + generator.normal(scale=1e-3, size=(240, 5))
    Y = (generator.random((40, 2)) < 0.4).astype(int)[patients]
    alone = RuleListClassifier().fit(X, Y).chosen_["score"]
    together = RuleListClassifier().fit(X, Y, groups=patients).chosen_["score"]
    assert together < alone - 0.1
    with pytest.raises(DataError, match="groups has 3 rows, expected one for each of the 240 rows"):
        RuleListClassifier().fit(X, Y, groups=[1, 2, 3])


def test_discover_divides_no_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y = noise(6, 100)
    divided = []

    def split(*arguments: Any, **options: Any) -> Any:
        divided.append(options["groups"])
        return iterative_split(*arguments, **options)

    module = importlib.import_module("plurule.inspection.discover")
    monkeypatch.setattr(module, "iterative_split", split)
    with pytest.warns(UserWarning, match="300 of 400 rows are copies"):
        discover(X, Y)
    assert len(np.unique(divided[0])) == 100
