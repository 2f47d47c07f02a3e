"""What collections of Dask become, what workers do, and clusters that cannot be used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.rows import random_bodies, random_roles, random_rows
from plurule._rows.dask import Counter, joined, learn_from, parts_on_cluster, scan
from plurule._rows.rows import CoverBlock
from plurule.errors import DataError, ParameterError, PluruleError

distributed: Any = pytest.importorskip("distributed")
da: Any = pytest.importorskip("dask.array")

X, Y = np.arange(12.0).reshape(6, 2), np.eye(6, 3, dtype=int)


# Workers -------------------------------------------------------------------------------------------------------------


def test_counter_adds_up_its_blocks() -> None:
    def count(block: Any, factor: float) -> np.ndarray:
        return np.array([factor * len(block)])

    blocks: Any = [np.arange(2), np.arange(3), np.arange(5)]
    assert Counter(blocks, [0, 1, 2]).total(count, (10.0,)).tolist() == [100]


def test_counter_numbers_the_rows_of_its_blocks() -> None:
    def double(block: Any) -> Any:
        return 2 * block

    found = Counter([np.arange(2), np.arange(3)], [4, 1]).rows(double, ())  # type: ignore[list-item]
    assert [(number, rows.tolist()) for number, rows in found] == [(4, [0, 2]), (1, [0, 2, 4])]


def test_counter_of_cover_blocks_counts_all_their_rows() -> None:
    rng = np.random.default_rng(0)
    problem = random_rows(rng)
    pools, roles = [random_bodies(rng, 10)], random_roles(rng, problem.n_instances)
    blocks = [CoverBlock.of(problem, pools, roles, rows) for rows in (slice(0, 60), slice(60, 150))]
    whole = CoverBlock.of(problem, pools, roles, slice(0, 150))
    assert Counter(blocks, [0, 1]).total(CoverBlock.label_sums, (0,)).tolist() == whole.label_sums(0).tolist()


def test_joined_gives_the_rows_of_all_parts_in_order() -> None:
    problem = random_rows(np.random.default_rng(0), weighted=True)
    parts = [problem.take(np.arange(a, b)) for a, b in ((0, 40), (40, 40), (40, 150))]
    again = joined(parts)
    assert np.array_equal(again.Y, problem.Y)
    assert np.array_equal(again.weights, problem.weights)
    for column, expected in zip(again.table.columns, problem.table.columns, strict=True):
        np.testing.assert_array_equal(column, expected)


def test_learn_from_gives_the_training_rows_of_the_sample() -> None:
    problem = random_rows(np.random.default_rng(0))
    is_training = np.arange(150) % 3 > 0
    assert np.array_equal(learn_from(problem, lambda one: one.Y, is_training), problem.Y[is_training])
    assert np.array_equal(learn_from(problem, lambda one: one.Y, None), problem.Y)


# Scanning ------------------------------------------------------------------------------------------------------------


def test_scan_refuses_collections_with_other_partitions() -> None:
    with pytest.raises(DataError, match=r"have 2, 3 partitions"):
        scan(da.from_array(X, chunks=(3, 2)), da.from_array(Y, chunks=(2, 3)))


def test_scan_refuses_a_checkpoint_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"checkpoint is no longer there: .*leave it out, and fit again"):
        scan(da.from_array(X), da.from_array(Y), checkpoint=tmp_path / "rules.jsonl")


# Clusters ------------------------------------------------------------------------------------------------------------


def test_workers_with_another_version_are_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plurule.__version__", "0.0.1")
    with pytest.raises(PluruleError, match=r"has plurule .*, this is plurule 0.0.1; install the same version"):
        parts_on_cluster(address, [])


@pytest.mark.usefixtures("impatient")
def test_scheduler_that_does_not_answer_is_named() -> None:
    with pytest.raises(PluruleError, match="no Dask scheduler answers at"):
        parts_on_cluster("tcp://127.0.0.1:1", [])


def test_scheduler_without_workers_is_not_waited_for() -> None:
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as empty,
        pytest.raises(PluruleError, match="has no workers"),
    ):
        parts_on_cluster(empty.scheduler_address, [])
