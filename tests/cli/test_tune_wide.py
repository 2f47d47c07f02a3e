"""`plurule tune --wide`."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from rich.console import Console

from helpers.commands import Run
from plurule.cli.tune_wide import progress_on
from plurule.cli.watching import ProgressWatch
from plurule.model import file as model_file


def test_tune_wide_shows_the_front_and_writes_the_best_list_of_a_size(run: Run, tmp_path: Path):
    model, table = tmp_path / "model.json", tmp_path / "candidates.csv"
    options = ("--folds", "3", "--max-rules", "6", "--jobs", "1", "--show", "4", "-o", model, "--table", table)
    code, out, err = run("tune", "world-flags", "--wide", *options)
    assert code == 0, err
    assert "15 candidates" in out
    with table.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["rank"] for row in rows] == [str(rank) for rank in range(1, 16)]
    means = [float(row["mean_test_micro_f1"]) for row in rows]
    assert means == sorted(means, reverse=True)
    ranked = out.split("The best lists")[0]
    assert all(f"{mean:.4f}" in ranked for mean in means[:4])
    assert f"beta={rows[0]['heuristic__beta']}" in ranked
    assert "Chosen: heuristic=" in out
    assert len(model_file.load(model)) <= 6
    code, _, err = run("tune", "world-flags", "--max-rules", "6")
    assert code != 0
    assert "--max-rules needs --wide" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--objective", "micro-f+"), "--objective cannot be given with --wide (--objective: the measure to choose by"),
        (("--lifts", "paper", "--seed", "0"), "--lifts, --seed cannot be given with --wide"),
        (("--journal", "j.jsonl"), "--journal cannot be given with --wide"),
        (("--dask", "tcp://localhost:1"), "--dask cannot be given with --wide"),
        (("--jobs", "0"), "--jobs 0, expected at least 1"),
        (("--folds", "1"), "1 folds, expected at least 2"),
    ],
)
def test_what_has_no_meaning_with_wide_is_refused(run: Run, arguments: tuple[str, ...], message: str):
    code, out, err = run("tune", "world-flags", "--wide", *arguments)
    assert code == 2
    assert message in err
    assert out == ""


def test_tune_wide_shows_no_tables_where_nothing_can_be_held_out(run: Run, tmp_path: Path):
    data = tmp_path / "few.csv"
    data.write_text("x,a,b\n1,1,0\n2,1,0\n3,1,0\n4,0,1\n5,0,1\n6,0,1\n", encoding="utf-8")
    code, out, err = run("tune", data, "--labels", "a,b", "--wide")
    assert code == 0, err
    assert "nothing is chosen" in err
    assert "micro F1" not in out
    assert "n_rules=None" in out


def test_a_bar_shows_how_many_candidates_are_finished():
    shown = io.StringIO()
    watch = ProgressWatch(Console(file=shown, force_terminal=True, width=100), quiet=True)
    progress = progress_on(watch, "flags")
    with watch.showing():
        for done in range(4):
            progress(done, 15)
    assert "flags" in shown.getvalue()
    assert "3/15" in shown.getvalue()
