"""`plurule fit` on data that are read in parts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from helpers.commands import Run, assert_mistake
from plurule.model.file import load

GIVEN = ["--labels", "one,two", "--learner", "relaxed-pruning", "--max-bins", "32", "--max-rules", "6"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(2000, 3)).round(4), columns=list("abc"))
    frame["one"], frame["two"] = (frame["a"] > 0.2).astype(int), (frame["b"] + frame["c"] > 1).astype(int)
    frame.to_csv(folder / "all.csv", index=False)
    frame[:1100].to_parquet(folder / "part-1.parquet", index=False)
    frame[1100:].to_parquet(folder / "part-2.parquet", index=False)
    return folder


def test_fit_learns_the_same_model_from_files_in_parts(run: Run, folder: Path):
    assert run("fit", folder / "all.csv", *GIVEN, "-o", folder / "whole.json").code == 0
    parts = run("fit", folder / "part-*.parquet", *GIVEN, "-o", folder / "parts.json")
    assert parts.code == 0, parts.err
    assert "5 rules for 2 labels from 2000 instances" in parts.out
    small = run("fit", folder / "all.csv", *GIVEN, "--memory", "30 kB", "-o", folder / "small.json")
    assert small.code == 0, small.err
    whole, *others = (load(folder / name) for name in ("whole.json", "parts.json", "small.json"))
    assert others == [whole, whole]


@contextmanager
def started(folder: Path, workers: int, **environment: str) -> Iterator[str]:
    """A scheduler and its workers, started on the command line."""
    pytest.importorskip("distributed")
    file = folder / "scheduler.json"
    start = [sys.executable, "-m", "dask"]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    given = ["--scheduler-file", str(file), "--dashboard-address", ":0"]
    local = ["--host", "127.0.0.1"]
    running = [subprocess.Popen([*start, "scheduler", *given, *local, "--port", "0"], **quiet)]
    try:
        worker = [*start, "worker", *given, *local, "--nthreads", "1", "--no-nanny"]
        running += [subprocess.Popen(worker, **quiet, env=os.environ | environment) for _ in range(workers)]
        address = ""
        for _ in range(600):
            if file.exists() and (found := file.read_text()):
                address = json.loads(found)["address"]
                break
            time.sleep(0.1)
        with distributed_client(address) as client:
            client.wait_for_workers(workers)
        yield address
    finally:
        for process in running:
            process.terminate()
            process.wait()


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with started(tmp_path_factory.mktemp("dask"), workers=2) as address:
        yield address


def distributed_client(address: str) -> Any:
    import distributed

    return distributed.Client(address, set_as_default=False)


def test_fit_learns_the_same_model_on_a_cluster(run: Run, folder: Path, scheduler: str):
    assert run("fit", folder / "all.csv", *GIVEN, "-o", folder / "here.json").code == 0
    there = run("fit", folder / "part-*.parquet", *GIVEN, "--dask", scheduler, "-o", folder / "there.json")
    assert there.code == 0, there.err
    assert load(folder / "there.json") == load(folder / "here.json")


@pytest.mark.usefixtures("impatient")
def test_fit_names_a_scheduler_that_does_not_answer(run: Run, folder: Path):
    missing = run("fit", folder / "part-*.parquet", *GIVEN, "--dask", "tcp://127.0.0.1:1", "-o", folder / "no.json")
    assert_mistake(missing, "no Dask scheduler answers at tcp://127.0.0.1:1")


def test_fit_names_the_package_that_workers_are_missing(run: Run, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['plurule'] = None")
    with started(tmp_path, workers=1, PYTHONPATH=str(tmp_path)) as address:
        result = run("fit", folder / "part-*.parquet", *GIVEN, "--dask", address, "-o", folder / "no.json")
    assert_mistake(result, "cannot import a package (No module named 'plurule._rows'")


def test_fit_chooses_the_lift_from_files_in_parts_as_from_memory(run: Run, folder: Path) -> None:
    given = ["--labels", "one,two", "--learner", "relaxed-pruning", "--max-bins", "8", "--max-rules", "2"]
    models = []
    for data in ("all.csv", "part-*.parquet"):
        result = run("fit", folder / data, *given, "--lift", "auto", "-o", folder / "lift.json")
        assert result.code == 0, result.err
        models.append(load(folder / "lift.json"))
    assert models[0] == models[1]


def test_fit_refuses_a_memory_size_without_a_unit(run: Run, folder: Path) -> None:
    assert_mistake(run("fit", folder / "all.csv", *GIVEN, "--memory", "much"), "write for example 500MB or 2GB")


@pytest.mark.parametrize("data", ["all.csv", "part-*.parquet"])
def test_fit_refuses_a_checkpoint_with_a_sentence(run: Run, folder: Path, data: str) -> None:
    result = run("fit", folder / data, *GIVEN, "--checkpoint", folder / "rules")
    assert_mistake(result, "--checkpoint is no longer there; a fit that was interrupted begins again: leave it out")
