"""`plurule fit` on data that are read in parts: the model that it writes is that of the data in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from helpers.commands import Run, assert_mistake
from plurule.model.file import load

GIVEN = ["--labels", "one,two", "--heuristic", "f_measure", "--rules", "6"]


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


def test_a_pattern_of_files_and_little_memory_give_the_model_of_the_data_in_memory(run: Run, folder: Path):
    assert run("fit", folder / "all.csv", *GIVEN, "-o", folder / "whole.json").code == 0
    parts = run("fit", folder / "part-*.parquet", *GIVEN, "-o", folder / "parts.json")
    assert parts.code == 0, parts.err
    assert "6 rules for 2 labels from 2000 instances" in parts.out
    small = run("fit", folder / "all.csv", *GIVEN, "--memory", "30 kB", "-o", folder / "small.json")
    assert small.code == 0, small.err
    whole, *others = (load(folder / name) for name in ("whole.json", "parts.json", "small.json"))
    assert others == [whole, whole]


def test_what_does_not_work_in_parts_is_said_with_the_option_to_give(run: Run, folder: Path):
    result = run("fit", folder / "part-*.parquet", "--labels", "one,two")
    assert_mistake(result, "--heuristic", "needs all rows in memory")
    assert_mistake(run("fit", folder / "all.csv", *GIVEN, "--memory", "much"), "write for example 500MB or 2GB")
    result = run("fit", folder / "part-*.parquet", *GIVEN, "--choose-lift", "micro_f1")
    assert_mistake(result, "need data that are read as a whole")
