"""A cluster of worker processes gives the model that one process gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from plurule import (
    Constraints,
    DataError,
    RelaxedPruningClassifier,
    RelaxedPruningClassifierCV,
    RuleListClassifier,
)
from plurule import scan as scan_files
from plurule._rows.dask import DaskData, parts_on_cluster
from plurule.lifts import KLN, NoLift
from plurule.model.file import dumps

distributed: Any = pytest.importorskip("distributed")
dask: Any = pytest.importorskip("dask")
da: Any = pytest.importorskip("dask.array")

from plurule.dask import scan  # noqa: E402  # needs Dask

SHORT: dict[str, Any] = {"max_rules": 6, "cv": 2, "lift": None}
LABELS = ["one", "two", "three", "four"]


@pytest.fixture(scope="module")
def client(address: str) -> Iterator[Any]:
    with distributed.Client(address) as client:
        client.wait_for_workers(2)
        yield client


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 6)).round(3)
    Y = np.column_stack([X[:, 0] > 0.5, (X[:, 1] > 0) & (X[:, 2] < 1), X[:, 3] + X[:, 0] > 1, rng.random(1200) < 0.2])
    return X, Y.astype(np.int64)


@pytest.fixture(scope="module")
def frame(data: tuple[np.ndarray, np.ndarray]) -> pd.DataFrame:
    frame = pd.DataFrame(data[0], columns=list("abcdef")).assign(g=np.where(data[1][:, 0], "yes", "no"))
    return frame.join(pd.DataFrame(data[1], columns=LABELS))


@pytest.fixture(scope="module")
def expected(data: tuple[np.ndarray, np.ndarray]) -> RuleListClassifier:
    """The model from memory."""
    return RuleListClassifier(**SHORT).fit(*data)


def partitions(data: Any, size: int = 450) -> list[Any]:
    """Delayed partitions of (X, y), the last without rows."""
    n_rows = data[0].shape[0]
    starts = [*range(0, n_rows, size), n_rows]
    return [dask.delayed(tuple(array[start : start + size] for array in data)) for start in starts]


def assert_same_model(found: Any, expected: Any) -> None:
    assert dumps(found.rule_list_) == dumps(expected.rule_list_)
    assert found.labels_without_rules_ == expected.labels_without_rules_
    assert getattr(found, "chosen_", None) == getattr(expected, "chosen_", None)


# Collections ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1200, 999, 250])
def test_arrays_of_any_chunks_give_the_model_of_one_array(rows: int, client: Any, data: Any, expected: Any) -> None:
    X, Y = (da.from_array(array, chunks=(rows, -1)) for array in data)
    found = RuleListClassifier(**SHORT).fit(scan(X.rechunk((rows, 3)), Y))
    assert_same_model(found, expected)
    predicted = X.map_blocks(found.predict, dtype=np.int64)
    assert np.array_equal(predicted.compute(), expected.predict(data[0]))


def test_frames_with_their_labels_and_weights_give_the_model_of_one_frame(client: Any, frame: pd.DataFrame) -> None:
    dd: Any = pytest.importorskip("dask.dataframe")
    weights = np.random.default_rng(1).integers(0, 4, len(frame))
    X, Y = frame.drop(columns=LABELS), frame[LABELS]
    parts = dd.from_pandas(frame.assign(weight=weights), npartitions=5)
    in_parts = scan(parts[list(X.columns)], parts[LABELS], parts["weight"], client=client)
    assert_same_model(RuleListClassifier(**SHORT).fit(in_parts), RuleListClassifier(**SHORT).fit(X, Y, weights))


def test_delayed_frames_of_which_some_columns_are_labels_give_the_model_of_one_frame(
    client: Any, frame: pd.DataFrame
) -> None:
    parts = [dask.delayed(frame[start : start + 500]) for start in range(0, 1500, 500)]
    found = RuleListClassifier(**SHORT).fit(scan(parts, labels=LABELS))
    assert_same_model(found, RuleListClassifier(**SHORT).fit(frame.drop(columns=LABELS), frame[LABELS]))


def test_files_that_workers_read_give_the_model_of_memory(address: str, frame: pd.DataFrame, tmp_path: Path) -> None:
    frame[:700].to_parquet(tmp_path / "a.parquet", index=False)
    frame[700:].to_parquet(tmp_path / "b.parquet", index=False)
    data = parts_on_cluster(address, scan_files(tmp_path / "*.parquet", LABELS).parts())
    found = RuleListClassifier(**SHORT).fit(data)
    data.client.close()
    assert_same_model(found, RuleListClassifier(**SHORT).fit(frame.drop(columns=LABELS), frame[LABELS]))


def test_classes_of_which_partitions_have_only_some_give_the_model_of_memory(client: Any) -> None:
    X, y = np.arange(90.0)[:, None], np.repeat(["ant", "bee", "cow"], 30)
    expected = RuleListClassifier(**SHORT).fit(X, y)
    found = RuleListClassifier(**SHORT).fit(scan(*(da.from_array(array, chunks=25) for array in (X, y))))
    assert_same_model(found, expected)
    assert found.predict(X).tolist() == expected.predict(X).tolist()
    assert np.array_equal(found.predict_proba(X), expected.predict_proba(X))


@pytest.mark.parametrize("given", [SHORT, SHORT | {"scoring": "roc_auc", "max_rules": 3}], ids=str)
def test_sparse_and_wide_partitions_give_the_model_of_one_matrix(given: dict[str, Any], client: Any) -> None:
    rng = np.random.default_rng(5)
    X = scipy.sparse.random_array((1500, 60), density=0.03, format="csr", rng=rng)
    Y = np.column_stack([X[:, [i]].toarray()[:, 0] + X[:, [i + 1]].toarray()[:, 0] > 0.3 for i in range(5)]).astype(int)
    parts = [dask.delayed((X[n : n + 400], Y[n : n + 400])) for n in range(0, 1500, 400)]
    assert_same_model(RuleListClassifier(**given).fit(scan(parts)), RuleListClassifier(**given).fit(X, Y))


# Settings ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "learner",
    [
        RuleListClassifier(cv=0.3, max_rules=5, scoring="macro_f1"),
        RuleListClassifier(**SHORT, scoring="subset_accuracy"),
        RuleListClassifier(cv=2, max_rules=2, lift=None, scoring="roc_auc", max_conditions=1),
        RuleListClassifier(**SHORT, conditions="all"),
        RuleListClassifier(**SHORT, max_grown_rows=300),
        RuleListClassifier(**SHORT, constraints=Constraints(hierarchy={"y2": "y0"}, forbidden_attributes=["x1"])),
        RelaxedPruningClassifier(max_rules=5, max_bins=32),
        RelaxedPruningClassifier(max_rules=5, max_bins=32, max_grown_rows=1199),
        RelaxedPruningClassifier(max_rules=5, max_conditions=2, conditions="missing, sets"),
        RelaxedPruningClassifierCV(
            RelaxedPruningClassifier(max_rules=3, max_conditions=2, max_bins=8), lifts=[NoLift(), KLN(0.3)], cv=2
        ),
    ],
    ids=lambda learner: repr(learner)[:90],
)
def test_parameters_mean_on_a_cluster_what_they_mean_in_memory(learner: Any, client: Any, data: Any) -> None:
    X, Y = data
    Y = Y.copy()
    Y[:, 0] |= Y[:, 2]
    expected = learner.fit(X, Y)
    rule_list = dumps(expected.rule_list_)
    chosen, missing = getattr(expected, "chosen_", None), expected.labels_without_rules_
    found = learner.fit(scan(partitions((X, Y)), client=client))
    assert dumps(found.rule_list_) == rule_list
    assert getattr(found, "chosen_", None) == chosen
    assert found.labels_without_rules_ == missing


@pytest.mark.parametrize("rules", ["y1 <- x1 > 0.5", "not y3 <- x5 > 1 [stop]\ny0 <- x0 > 1"])
def test_initial_rules_and_weights_give_the_model_of_memory(rules: str, client: Any, data: Any) -> None:
    weights = np.random.default_rng(3).choice([0, 0.5, 1, 2.5], 1200)
    expected = RuleListClassifier(**SHORT).fit(*data, weights, initial_rules=rules)
    in_parts = scan(partitions((*data, weights)), client=client)
    assert_same_model(RuleListClassifier(**SHORT).fit(in_parts, initial_rules=rules), expected)


def test_max_grown_rows_is_reported_in_how(client: Any, data: Any) -> None:
    found = RuleListClassifier(**SHORT, max_grown_rows=300).fit(scan(partitions(data), client=client))
    assert ", grown on 300 of 1,200 rows by 2-fold cross-validation; " in found.chosen_["how"]


# The cluster ---------------------------------------------------------------------------------------------------------


def test_partition_with_an_error_is_named(client: Any, frame: pd.DataFrame) -> None:
    parts = [dask.delayed(frame[:900]), dask.delayed(frame[900:].assign(two=5))]
    with pytest.raises(DataError, match=r"partition 1: .*two"):
        RuleListClassifier(**SHORT).fit(scan(parts, labels=LABELS))


def test_partition_that_changes_is_refused(client: Any, data: Any) -> None:
    def read(n_rows: int) -> Any:
        # Every computation gives other values.
        return np.random.default_rng().normal(size=(n_rows, 2)), np.eye(n_rows, 2, dtype=int)

    in_parts = scan([dask.delayed(read, pure=False)(50)], client=client)
    with pytest.raises(DataError, match="partition 0: has other rows than before"):
        RuleListClassifier(**SHORT).fit(in_parts)


def test_source_without_rows_is_refused(client: Any, data: Any) -> None:
    with pytest.raises(DataError, match="the source holds no rows"):
        RuleListClassifier(**SHORT).fit(scan([dask.delayed(tuple(array[:0] for array in data))], client=client))


def test_client_that_is_nobody_s_default_is_enough(
    client: Any, data: Any, expected: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody(*_: Any) -> None:
        raise ValueError("No clients found")

    in_parts = scan(partitions(data), client=client)
    monkeypatch.setattr("distributed.client.default_client", nobody)
    assert_same_model(RuleListClassifier(**SHORT).fit(in_parts), expected)


def test_partitions_are_freed_once_rows_are_covered(client: Any, data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [dask.delayed(lambda rows: tuple(a[rows] for a in data))(slice(n, n + 300)) for n in range(0, 1200, 300)]
    held: list[set[str]] = []

    def score(classifier: Any, X: Any, Y: Any) -> float:
        held.append({key for keys in client.has_what().values() for key in keys})
        return float((classifier.predict(X) == Y).mean())

    RuleListClassifier(cv=2, max_rules=1, lift=None, scoring=score).fit(scan(parts, client=client))
    assert held
    assert not {part.key for part in parts} & held[-1]


def test_scanned_partitions_know_their_names_and_number(client: Any, data: Any) -> None:
    in_parts = scan(partitions(data), client=client)
    assert isinstance(in_parts, DaskData)
    assert len(in_parts) == 1200
    assert in_parts.label_names == ("y0", "y1", "y2", "y3")
