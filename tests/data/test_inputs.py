"""What the estimators are given becomes one data set."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from plurule.classifier import RuleListClassifier
from plurule.data import Dataset, IterativeStratifiedKFold, iterative_train_test_split, read
from plurule.data.inputs import encode, labelled_data, unpack
from plurule.errors import DataError
from plurule.metrics import scores
from plurule.relaxed_pruning import RelaxedPruningClassifier

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
    assert labelled_data(frame.rename(columns={"y1": "spam"}), ["ham", "spam"] * 2)[0].label_names[1] == "spam_label"


def test_a_label_is_not_called_like_a_column_of_a_sparse_matrix_which_has_no_names() -> None:
    assert labelled_data(sp.csr_array(X), Y, label_names=["x2", "x01"])[0].label_names == ("x2", "x01")
    with pytest.raises(DataError, match="both named 'x1'"):
        labelled_data(sp.csr_array(X), Y, label_names=["red", "x1"])
    with pytest.raises(DataError, match="several columns are named 'x1'"):
        Dataset(encode(sp.csr_array(X)), Y, ("red", "x1"))
    with pytest.raises(DataError, match="several columns are named 'red'"):
        Dataset(encode(sp.csr_array(X)), Y, ("red", "red"))


def test_fit_of_a_sparse_matrix_gives_the_model_of_the_dense_one() -> None:
    parameters: dict[str, Any] = {"max_rules": 2, "min_coverage": 1}
    sparse = RelaxedPruningClassifier(**parameters).fit(sp.csr_array(X), Y).rule_list_
    assert sparse == RelaxedPruningClassifier(**parameters).fit(X, Y).rule_list_


@pytest.mark.parametrize("matrix", [X, X.tolist(), sp.csr_array(X)])
def test_feature_names_name_the_columns_of_arrays_and_sparse_matrices(matrix: Any) -> None:
    found = labelled_data(matrix, Y, feature_names=["area", "age"])[0]
    assert found.attribute_names == ("area", "age")
    np.testing.assert_array_equal(found.to_numpy()[0], X)


def test_feature_names_must_be_as_many_as_columns() -> None:
    with pytest.raises(DataError, match="feature_names holds 1 name, but X has 2 columns"):
        labelled_data(X, Y, feature_names=["area"])
    with pytest.raises(DataError, match="feature_names holds 1 name, but X has 2 columns"):
        labelled_data(X, Y, feature_names="ab")


def test_feature_names_must_be_unique() -> None:
    with pytest.raises(DataError, match="feature_names holds 'area' twice"):
        labelled_data(X, Y, feature_names=["area", "area"])


def test_feature_names_may_not_be_names_of_labels() -> None:
    with pytest.raises(DataError, match="both named 'red'"):
        labelled_data(X, Y, label_names=["red", "blue"], feature_names=["area", "red"])


@pytest.mark.parametrize("kind", ["pandas", "polars", "table", "data set"])
def test_feature_names_are_refused_where_columns_have_names(kind: str, data: Dataset) -> None:
    named: dict[str, Any] = {
        "pandas": pd.DataFrame(X, columns=["area", "zone"]),
        "polars": pl.DataFrame(X, schema=["area", "zone"]),
        "table": data.X,
        "data set": data,
    }
    with pytest.raises(DataError, match="the columns of X have names"):
        labelled_data(named[kind], None if kind == "data set" else Y, feature_names=["a", "b"])


def test_two_classes_are_two_labels_and_absence_and_presence_are_one() -> None:
    for first, second in (("legit", "fraud"), ("fraud", "legit")):
        found = labelled_data(X, [first, second, second, second])[0]
        assert found.label_names == ("fraud", "legit")
        assert found.groups == ((0, 1),)
    assert labelled_data(X, [True, False, True, True])[0].label_names == ("y",)
    assert labelled_data(X, [0, 1, 1, 1])[0].label_names == ("y",)
    assert labelled_data(X, pd.Series([0, 1, 0, 1], name="bought"))[0].label_names == ("bought",)
    found, form = labelled_data(X, [2, 1, 2, 1])
    assert found.Y.tolist() == [[0, 1], [1, 0], [0, 1], [1, 0]]
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


def test_true_labels_of_which_the_model_knows_only_some_are_not_taken_by_position() -> None:
    frame = pd.DataFrame({"blue": [1, 0], "red": [0, 1]})
    np.testing.assert_array_equal(unpack(None, frame, None, ["red", "blue"])[1], [[0, 1], [1, 0]])
    with pytest.raises(DataError, match="the data lack the label 'white'"):
        unpack(None, frame, None, ["red", "white"])
    np.testing.assert_array_equal(unpack(None, frame, None, ["y0", "y1"])[1], [[1, 0], [0, 1]])


# What is given is never changed ----------------------------------------------------------------------------


def untidy(matrix: np.ndarray, kind: type) -> Any:
    """A sparse matrix with stored zeros, indices that do not ascend and, of fractions, duplicates to be summed up."""
    rows, columns = np.nonzero(np.ones_like(matrix))
    values, times = (matrix[rows, columns], 1) if matrix.dtype.kind == "i" else (matrix[rows, columns] / 2, 2)
    if kind is sp.coo_array:
        return sp.coo_array((np.tile(values, times), (np.tile(rows, times), np.tile(columns, times))), matrix.shape)
    major, minor = (rows, columns) if kind is sp.csr_array else (columns, rows)
    order = np.repeat(np.lexsort((-minor, major)), times)
    lengths = np.bincount(major[order])
    return kind((values[order], minor[order], np.concatenate([[0], np.cumsum(lengths)])), shape=matrix.shape)


def arrays_of(given: Any) -> list[np.ndarray]:
    """The arrays that an object is made of."""
    if sp.issparse(given):
        return [given.data, *(given.coords if given.format == "coo" else (given.indices, given.indptr))]
    if isinstance(given, np.ndarray):
        return [given]
    if isinstance(given, Dataset):
        return [*(given.X.column(i) for i in range(given.X.shape[1])), *arrays_of(given.Y)]
    return [np.asarray(given[name]) for name in given.columns]


def state(given: Any) -> Any:
    flags = (
        (given.has_sorted_indices, given.has_canonical_format) if getattr(given, "format", "") in ("csr", "csc") else ()
    )
    return flags, [(a.tobytes(), a.dtype, a.flags.writeable) for a in arrays_of(given)]


def read_only(given: Any) -> Any:
    for array in arrays_of(given):
        array.flags.writeable = False
    return given


NUMBERS = np.where(np.arange(60).reshape(20, 3) % 4 == 0, 0.0, np.arange(60.0).reshape(20, 3))
TRUTH = (NUMBERS[:, :2] > [20, 30]).astype(np.int64)
GIVEN: dict[str, Any] = {
    "array": lambda M: M.copy(),
    "columns first": np.asfortranarray,
    "read-only array": lambda M: read_only(M.copy()),
    "csr": sp.csr_array,
    "csc": sp.csc_matrix,
    "untidy csr": lambda M: untidy(M, sp.csr_array),
    "untidy csc": lambda M: untidy(M, sp.csc_array),
    "untidy coo": lambda M: untidy(M, sp.coo_array),
    "read-only csc": lambda M: read_only(sp.csc_array(M)),
    "read-only untidy csc": lambda M: read_only(untidy(M, sp.csc_array)),
    "read-only untidy csr": lambda M: read_only(untidy(M, sp.csr_array)),
    "pandas": lambda M: pd.DataFrame(M, columns=[f"c{i}" for i in range(M.shape[1])]),
    "polars": lambda M: pl.DataFrame(M, schema=[f"c{i}" for i in range(M.shape[1])]),
}


@pytest.mark.parametrize("name", GIVEN)
def test_nothing_that_is_given_is_changed(name: str) -> None:
    X, Y = GIVEN[name](NUMBERS), GIVEN[name](TRUTH)
    if not sp.issparse(Y) and not isinstance(Y, np.ndarray):
        Y = (
            Y.rename(columns={"c0": "l", "c1": "m"})
            if isinstance(Y, pd.DataFrame)
            else Y.rename({"c0": "l", "c1": "m"})
        )
    before = state(X), state(Y)
    expected = RuleListClassifier(min_coverage=1, max_rules=3).fit(NUMBERS, TRUTH)
    model = RuleListClassifier(min_coverage=1, max_rules=3).fit(X, Y)
    rules = model.rule_list_
    calls: dict[str, Any] = {
        "predict": lambda: model.predict(X),
        "predict_proba": lambda: model.predict_proba(X),
        "score": lambda: model.score(X, Y),
        "staged_score": lambda: model.staged_score(X, Y, "micro_f1"),
        "staged_predict": lambda: list(model.staged_predict(X)),
        "decide": lambda: model.decide(X),
        "explain": lambda: model.explain(X).to_records(),
        "auto": lambda: RuleListClassifier(cv=2).fit(X, Y),
        "scores": lambda: scores(Y, Y),
        "folds": lambda: list(IterativeStratifiedKFold(2).split(X, Y)),
        "split": lambda: iterative_train_test_split(X, Y, random_state=0),
        "read": lambda: read((X, Y)),
        "dependencies": lambda: rules.dependencies(X, Y),
        "simplify": lambda: rules.simplify(X, Y),
        "html": lambda: rules.to_html(X, Y),
    }
    assert (state(X), state(Y)) == before, "fit"
    for call, function in calls.items():
        function()
        assert (state(X), state(Y)) == before, call
    found, wanted = model.predict(X), expected.predict(NUMBERS)
    np.testing.assert_array_equal(found.toarray() if sp.issparse(found) else found, wanted)


def test_threads_may_predict_on_one_untidy_matrix() -> None:
    chance = np.random.default_rng(0)
    dense = np.where(chance.random((3000, 20)) < 0.5, chance.random((3000, 20)), 0)
    model = RelaxedPruningClassifier(max_rules=5).fit(dense, dense[:, :2] > 0.4)
    matrix = untidy(dense, sp.csc_array)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(model.predict, [matrix] * 8))
    for labels in found:
        np.testing.assert_array_equal(labels, model.predict(dense))
