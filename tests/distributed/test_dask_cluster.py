"""Errors about a cluster that cannot be used."""

from __future__ import annotations

from typing import Any

import pytest

from plurule.distributed.dask import parts_on_cluster
from plurule.errors import PluruleError

distributed: Any = pytest.importorskip("distributed")


def test_workers_with_another_version_are_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plurule.__version__", "0.0.1")
    with pytest.raises(PluruleError, match=r"has plurule .*, this is plurule 0.0.1; install the same version"):
        parts_on_cluster(address, [])


@pytest.mark.usefixtures("impatient")
def test_a_scheduler_that_is_not_there_is_said_to_be_missing() -> None:
    with pytest.raises(PluruleError, match="no Dask scheduler answers at"):
        parts_on_cluster("tcp://127.0.0.1:1", [])


def test_a_scheduler_without_workers_is_not_waited_for() -> None:
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as empty,
        pytest.raises(PluruleError, match="has no workers"),
    ):
        parts_on_cluster(empty.scheduler_address, [])
