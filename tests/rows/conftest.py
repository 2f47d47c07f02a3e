"""What tests of rows in parts share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from helpers.scans import LABELS, model
from plurule import read


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The scheduler of a cluster of two worker processes, which are replaced if they are killed."""
    distributed: Any = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as workers:
        yield workers.scheduler_address


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Numbers of many values, few values and gaps; texts; labels that depend on them."""
    rng = np.random.default_rng(1)
    n_rows = 1500
    frame = pd.DataFrame(
        {"a": rng.normal(size=n_rows), "b": rng.integers(0, 9, n_rows), "c": rng.exponential(size=n_rows)}
    )
    frame.loc[rng.random(n_rows) < 0.1, "c"] = np.nan
    frame["d"] = rng.choice(["north", "south", 'east, "far"', "west\nand more"], n_rows)
    frame["one"] = ((frame["a"] > 0.3) & (frame["b"] < 6)).astype(int)
    frame["two"] = ((frame["c"] > 0.5) | (frame["d"] == "south")).astype(int)
    frame["three"] = (rng.random(n_rows) < 0.2 + 0.5 * frame["two"]).astype(int)
    return frame


@pytest.fixture(scope="module")
def expected(frame: pd.DataFrame) -> str:
    """The model of a short list by the paper's learner, from memory."""
    return model(read(frame, LABELS))


@pytest.fixture
def files(frame: pd.DataFrame, tmp_path: Path) -> Path:
    """The pattern of two Parquet files."""
    (tmp_path / "data").mkdir()
    frame[:850].to_parquet(tmp_path / "data" / "a.parquet", index=False)
    frame[850:].to_parquet(tmp_path / "data" / "b.parquet", index=False)
    return tmp_path / "data" / "*.parquet"
