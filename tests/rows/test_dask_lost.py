"""Workers that are killed change nothing, and a cluster that is lost is one sentence."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plurule import DataError, PluruleError, RuleListClassifier
from plurule._rows.dask import DaskCovers
from plurule.model.file import dumps

distributed: Any = pytest.importorskip("distributed")
dask: Any = pytest.importorskip("dask")

from plurule.dask import scan  # noqa: E402  # needs Dask

SHORT: dict[str, Any] = {"max_rules": 4, "cv": 2, "lift": None}
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).normal(size=(800, 4)).round(3)
    return X, np.column_stack([X[:, 0] > 0.5, (X[:, 1] > 0) & (X[:, 2] < 1)]).astype(np.int64)


@pytest.fixture(scope="module")
def expected(data: Any) -> str:
    return dumps(RuleListClassifier(**SHORT).fit(*data).rule_list_)


def partitions(data: Any) -> list[Any]:
    return [dask.delayed(tuple(array[start : start + 200] for array in data)) for start in range(0, 800, 200)]


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
def test_worker_that_is_killed_in_the_middle_changes_nothing(
    fatal: int, fragile: Any, data: Any, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, total = [], DaskCovers.total

    def total_and_kill(self: DaskCovers, question: Any, *arguments: Any) -> Any:
        asked.append(question)
        if len(asked) == fatal:
            os.kill(next(iter(fragile.run(os.getpid).values())), signal.SIGKILL)
        return total(self, question, *arguments)

    monkeypatch.setattr(DaskCovers, "total", total_and_kill)
    found = RuleListClassifier(**SHORT).fit(scan(partitions(data), client=fragile))
    assert len(asked) > fatal
    assert dumps(found.rule_list_) == expected


def count_and_die(block: Any, file: str) -> int:
    """Return the number of rows; the first who is asked dies."""
    with contextlib.suppress(FileExistsError):
        os.close(os.open(file, os.O_CREAT | os.O_EXCL))
        os.kill(os.getpid(), signal.SIGKILL)
    return len(block)


def test_total_survives_a_worker_that_dies_while_it_counts(fragile: Any, tmp_path: Path) -> None:
    workers, given = itertools.cycle(fragile.nthreads()), {"allow_other_workers": True, "pure": False}
    blocks = [fragile.submit(list, range(n), workers=[next(workers)], **given) for n in (3, 4, 5)]
    covers = DaskCovers(fragile, blocks)
    assert covers.total(count_and_die, str(tmp_path / "killed")) == 12
    assert covers.total(len) == 12


def double(block: Any) -> Any:
    return 2 * np.asarray(block)


def test_gather_gives_rows_in_the_order_of_the_blocks(fragile: Any) -> None:
    workers = itertools.cycle(fragile.nthreads())
    blocks = [fragile.submit(list, [n, n], workers=[next(workers)], pure=False) for n in range(6)]
    found = DaskCovers(fragile, blocks).gather(double)
    assert found.tolist() == [0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10]


def complain(block: Any, number: int) -> int:
    raise DataError(f"such a block: {block}, {number}")


def test_total_raises_the_error_of_a_function(fragile: Any) -> None:
    with pytest.raises(DataError, match="such a block"):
        DaskCovers(fragile, [fragile.submit(list, range(3), pure=False)]).total(complain, 1)


def test_total_raises_the_error_of_a_block(fragile: Any) -> None:
    blocks = [fragile.submit(list, range(3), pure=False), fragile.submit(complain, [], 1, pure=False)]
    with pytest.raises(DataError, match="such a block"):
        DaskCovers(fragile, blocks).total(len)


def lose_scheduler(cluster: Any, client: Any) -> None:
    cluster.close()


def lose_workers(cluster: Any, client: Any) -> None:
    cluster.sync(cluster.workers[0].close)


def lose_client(cluster: Any, client: Any) -> None:
    client.close()


@pytest.mark.parametrize(
    ("lose", "when"), [(lose_client, 0), (lose_client, 5), (lose_workers, 0), (lose_workers, 5), (lose_scheduler, 5)]
)
def test_lost_cluster_is_one_sentence(lose: Any, when: int, data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plurule._rows.dask._SECONDS_WITHOUT_WORKERS", 1)
    total = DaskCovers.total
    asked = []
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as cluster:
        client = distributed.Client(cluster, set_as_default=False)

        def total_and_lose(self: DaskCovers, question: Any, *arguments: Any) -> Any:
            asked.append(question)
            if len(asked) == when:
                lose(cluster, client)
            return total(self, question, *arguments)

        monkeypatch.setattr(DaskCovers, "total", total_and_lose)
        in_parts = scan([dask.delayed(data)], client=client)
        if when == 0:
            lose(cluster, client)
        with pytest.raises(PluruleError, match="the Dask cluster was lost while a model was learned"):
            RuleListClassifier(**SHORT).fit(in_parts)
        client.close()


def test_threads_of_one_worker_give_the_model_of_memory(data: Any, expected: str) -> None:
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=3, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        found = RuleListClassifier(**SHORT).fit(scan(partitions(data), client=client))
    assert dumps(found.rule_list_) == expected
