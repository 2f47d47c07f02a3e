"""A real cluster of worker processes gives the model that one process gives, though workers are killed."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from plurule import DataError, ParameterError, PluruleError, RelaxedPruningClassifier, RuleListClassifier, read
from plurule.distributed.dask import DaskBlocks
from plurule.model.file import dumps

distributed: Any = pytest.importorskip("distributed")
dask: Any = pytest.importorskip("dask")
da: Any = pytest.importorskip("dask.array")

from plurule.dask import scan  # noqa: E402  # needs Dask

ONE_LIST: dict[str, Any] = {"max_rules": 8, "cv": 2}
GROWN: dict[str, Any] = {"max_rules": 8, "max_bins": 32, "max_conditions": 2, "remaining": 0.0, "min_precision": 0.0}


@pytest.fixture(scope="module")
def client(address: str) -> Iterator[Any]:
    with distributed.Client(address) as client:
        client.wait_for_workers(2)
        yield client


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 6)).round(3)
    Y = np.column_stack([X[:, 0] > 0.5, (X[:, 1] > 0) & (X[:, 2] < 1), X[:, 3] + X[:, 0] > 1, rng.random(4000) < 0.2])
    return X, Y.astype(np.int64)


@pytest.fixture(scope="module")
def frame(data: tuple[np.ndarray, np.ndarray]) -> pd.DataFrame:
    frame = pd.DataFrame(data[0], columns=list("abcdef")).assign(g=np.where(data[1][:, 0], "yes", "no"))
    return frame.join(pd.DataFrame(data[1], columns=["one", "two", "three", "four"]))


LABELS = ["one", "two", "three", "four"]


def in_memory(*data: Any, **given: Any) -> RuleListClassifier:
    return RuleListClassifier(**(ONE_LIST | given)).fit(*data)


@pytest.mark.parametrize("rows", [4000, 999, 400])
def test_arrays_of_any_chunks_give_the_model_of_one_array(rows: int, client: Any, data: Any):
    expected = in_memory(*data)
    X, Y = (da.from_array(array, chunks=(rows, -1)) for array in data)
    found = RuleListClassifier(**ONE_LIST).fit(scan(X.rechunk((rows, 3)), Y))
    assert dumps(found.rule_list_) == dumps(expected.rule_list_)
    predicted = X.map_blocks(found.predict, dtype=np.int64)
    assert np.array_equal(predicted.compute(), expected.predict(data[0]))


def test_frames_with_their_labels_and_weights(client: Any, frame: pd.DataFrame):
    dd: Any = pytest.importorskip("dask.dataframe")
    weights = np.random.default_rng(1).integers(0, 4, len(frame))
    X, Y = frame.drop(columns=LABELS), frame[LABELS]
    expected = in_memory(X, Y, weights)
    parts = dd.from_pandas(frame.assign(weight=weights), npartitions=5)
    in_parts = scan(parts[list(X.columns)], parts[LABELS], parts["weight"], client=client)
    found = RuleListClassifier(**ONE_LIST).fit(in_parts)
    assert dumps(found.rule_list_) == dumps(expected.rule_list_)


def test_delayed_parts_of_which_some_columns_are_labels(client: Any, frame: pd.DataFrame):
    parts = [dask.delayed(frame[start : start + 1500]) for start in range(0, 4500, 1500)]
    found = RuleListClassifier(**ONE_LIST).fit(scan(parts, labels=LABELS))
    expected = in_memory(frame.drop(columns=LABELS), frame[LABELS])
    assert dumps(found.rule_list_) == dumps(expected.rule_list_)


@pytest.fixture(scope="module")
def fragile_cluster() -> Iterator[Any]:
    """A cluster of its own for those who kill a worker; another one is started in its place."""
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def fragile(fragile_cluster: Any) -> Any:
    """That cluster with two workers, whoever was killed before."""
    fragile_cluster.wait_for_workers(2, timeout=60)
    return fragile_cluster


@pytest.mark.parametrize("fatal", [1, 9])
def test_a_worker_that_is_killed_in_the_middle_changes_nothing(
    fatal: int, fragile: Any, data: Any, monkeypatch: pytest.MonkeyPatch
):
    asked, total = [], DaskBlocks.total

    def total_and_kill(self: DaskBlocks, function: Any, *shared: Any) -> Any:
        asked.append(function)
        if len(asked) == fatal:
            os.kill(next(iter(fragile.run(os.getpid).values())), signal.SIGKILL)
        return total(self, function, *shared)

    monkeypatch.setattr(DaskBlocks, "total", total_and_kill)
    in_parts = scan(*(da.from_array(array, chunks=(500, -1)) for array in data), client=fragile)
    found = RuleListClassifier(**ONE_LIST).fit(in_parts)
    assert len(asked) > fatal
    assert dumps(found.rule_list_) == dumps(in_memory(*data).rule_list_)


def killing(block: Any, file: str) -> int:
    """The number of rows; the first one who is asked dies."""
    with contextlib.suppress(FileExistsError):
        os.close(os.open(file, os.O_CREAT | os.O_EXCL))
        os.kill(os.getpid(), signal.SIGKILL)
    return len(block)


def test_a_worker_that_dies_while_it_counts_is_replaced(fragile: Any, tmp_path: Path):
    workers, given = itertools.cycle(fragile.nthreads()), {"allow_other_workers": True, "pure": False}
    blocks = DaskBlocks(fragile, [fragile.submit(list, range(n), workers=[next(workers)], **given) for n in (3, 4, 5)])
    assert blocks.total(killing, str(tmp_path / "killed")) == 12
    assert blocks.total(len) == 12


def broken(block: Any, number: int) -> int:
    raise DataError(f"such a block: {block}, {number}")


def test_what_a_function_says_is_wrong_comes_from_the_worker(client: Any):
    blocks = DaskBlocks(client, [client.submit(list, range(3))])
    with pytest.raises(DataError, match="such a block"):
        blocks.total(broken, 1)
    with pytest.raises(DataError, match="such a block"):
        DaskBlocks(client, [client.submit(list, range(3)), client.submit(broken, [], 1)]).total(len)


def test_a_client_that_is_nobody_s_default_is_enough(client: Any, monkeypatch: pytest.MonkeyPatch):
    def nobody(*_: Any) -> None:
        raise ValueError("No clients found")

    monkeypatch.setattr("distributed.client.default_client", nobody)
    assert DaskBlocks(client, [client.submit(list, range(3), pure=False)]).total(len) == 3


def test_the_threads_of_a_worker_share_its_blocks(data: Any):
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=3, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        parts = [dask.delayed(tuple(array[n : n + 500] for array in data)) for n in range(0, 4000, 500)]
        learner = RuleListClassifier(**ONE_LIST).fit(scan(parts, client=client))
    assert dumps(learner.rule_list_) == dumps(in_memory(*data).rule_list_)


def test_what_is_wrong_with_a_partition_is_said_with_its_number(client: Any, frame: pd.DataFrame):
    parts = [dask.delayed(frame[:900]), dask.delayed(frame[900:].assign(two=5))]
    with pytest.raises(DataError, match=r"partition 1: .*two"):
        RuleListClassifier(**ONE_LIST).fit(scan(parts, labels=LABELS))
    with pytest.raises(DataError, match="have 2, 1 partitions"):
        scan(parts, parts[:1])
    with pytest.raises(ParameterError, match="needs all rows in memory"):
        RuleListClassifier(conditions="all").fit(scan(parts[:1], labels=LABELS))


def test_the_defaults_choose_on_a_cluster_what_they_choose_in_memory(client: Any, frame: pd.DataFrame):
    parts = [dask.delayed(frame[start : start + 200]) for start in range(0, 600, 200)]
    found = RuleListClassifier(cv=2, max_rules=4, max_conditions=2).fit(scan(parts, labels=LABELS))
    expected = RuleListClassifier(cv=2, max_rules=4, max_conditions=2).fit(read(frame[:600], LABELS))
    assert dumps(found.rule_list_) == dumps(expected.rule_list_)
    assert found.chosen_ == expected.chosen_


def test_classes_of_which_partitions_lack_some_are_predicted_as_in_memory(client: Any):
    X, y = np.arange(90.0)[:, None], np.repeat(["ant", "bee", "cow"], 30)
    expected = in_memory(X, y)
    found = RuleListClassifier(**ONE_LIST).fit(scan(*(da.from_array(array, chunks=25) for array in (X, y))))
    assert dumps(found.rule_list_) == dumps(expected.rule_list_)
    assert found.predict(X).tolist() == expected.predict(X).tolist()
    assert np.array_equal(found.predict_proba(X), expected.predict_proba(X))


def test_partitions_are_freed_once_they_are_binned(client: Any, data: Any):
    parts = [dask.delayed(lambda rows: tuple(a[rows] for a in data))(slice(n, n + 1000)) for n in range(0, 4000, 1000)]
    held = []

    def look(_: int, share: float) -> None:
        held.append({key for keys in client.has_what().values() for key in keys})

    found = RelaxedPruningClassifier(**GROWN, verbose=look).fit(scan(parts, client=client))
    assert dumps(found.rule_list_) == dumps(RelaxedPruningClassifier(**GROWN).fit(*data).rule_list_)
    assert len(held) == 8
    assert not {part.key for part in parts} & set.union(*held)


def test_a_fit_goes_on_with_the_rules_of_a_cluster_that_is_gone(data: Any, tmp_path: Path):
    def ended(rules: int, share: float) -> None:
        if rules == 5:
            raise KeyboardInterrupt

    told = []
    for verbose, error in ((ended, KeyboardInterrupt), (lambda rules, _: told.append(rules), None)):
        with (
            distributed.LocalCluster(
                n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
            ) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            learner = RelaxedPruningClassifier(**GROWN, verbose=verbose)
            parts = [tuple(array[start : start + 1500] for array in data) for start in range(0, 4500, 1500)]
            delayed = [dask.delayed(part) for part in parts]
            in_parts = scan(delayed, client=client, checkpoint=tmp_path / "rules.jsonl")
            with contextlib.nullcontext() if error is None else pytest.raises(error):
                learner.fit(in_parts)
    assert told == [6, 7, 8]
    assert dumps(learner.rule_list_) == dumps(RelaxedPruningClassifier(**GROWN).fit(*data).rule_list_)


@pytest.mark.parametrize("given", [{}, {"predict_absence": True}, {"max_rules": 20}], ids=str)
def test_sparse_and_wide_data_give_the_model_of_one_matrix(given: dict[str, Any], client: Any):
    rng = np.random.default_rng(5)
    X = scipy.sparse.random_array((3000, 60), density=0.03, format="csr", rng=rng)
    Y = np.column_stack([X[:, [i]].toarray()[:, 0] + X[:, [i + 1]].toarray()[:, 0] > 0.3 for i in range(5)]).astype(int)
    parts = [dask.delayed((X[n : n + 800], Y[n : n + 800])) for n in range(0, 3000, 800)]
    found = RuleListClassifier(**(ONE_LIST | given)).fit(scan(parts))
    assert dumps(found.rule_list_) == dumps(in_memory(X, Y, **given).rule_list_)


def lose_scheduler(cluster: Any, client: Any) -> None:
    cluster.close()


def lose_workers(cluster: Any, client: Any) -> None:
    cluster.sync(cluster.workers[0].close)


def lose_client(cluster: Any, client: Any) -> None:
    client.close()


@pytest.mark.parametrize(
    ("lose", "when"), [(lose_client, 0), (lose_client, 5), (lose_workers, 0), (lose_workers, 5), (lose_scheduler, 5)]
)
def test_a_lost_cluster_is_said_in_a_sentence(lose: Any, when: int, data: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("plurule.distributed.dask._SECONDS_WITHOUT_WORKERS", 1)
    total = DaskBlocks.total
    asked = []
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as cluster:
        client = distributed.Client(cluster, set_as_default=False)

        def total_and_lose(self: DaskBlocks, function: Any, *shared: Any) -> Any:
            asked.append(function)
            if len(asked) == when:
                lose(cluster, client)
            return total(self, function, *shared)

        monkeypatch.setattr(DaskBlocks, "total", total_and_lose)
        in_parts = scan([dask.delayed(data)], client=client)
        if when == 0:
            lose(cluster, client)
        with pytest.raises(PluruleError, match="the Dask cluster was lost while a model was learned"):
            RuleListClassifier(**ONE_LIST).fit(in_parts)
        client.close()
