"""`plurule tune` with the paper's protocol."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from helpers.commands import Run
from plurule import RuleListClassifier, RuleListClassifierCV
from plurule.datasets import load_world_flags
from plurule.lifts import NoLift, find_lift, paper_lifts
from plurule.model import file as model_file


def test_tune_shows_the_candidates_and_writes_the_model_with_the_best_lift(run: Run, tmp_path: Path):
    model, table = tmp_path / "model.json", tmp_path / "candidates.csv"
    lifts = "peak 2: 1.08, kln at 3: 1.08, kln at 3: 1.24"
    code, out, err = run(
        "tune", "world-flags", "--objective", "ha+-", "--lifts", lifts, "--folds", "3", "-o", model, "--table", table
    )
    assert code == 0, err
    assert "no lift" in out
    with table.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["rank"] for row in rows] == ["1", "2", "3", "4"]
    assert f"Chosen lift: {rows[0]['lift']}" in out
    flags = load_world_flags()
    lift = find_lift(rows[0]["lift"])
    expected = RuleListClassifier.published(heuristic="hamming_accuracy", predict_absence=True, lift=lift)
    expected.fit(flags)
    assert model_file.load(model).rules == expected.rule_list_.rules


def test_tune_does_what_the_papers_protocol_does_in_python(run: Run, tmp_path: Path):
    model, table = tmp_path / "model.json", tmp_path / "candidates.csv"
    assert run("tune", "world-flags", "--jobs", "1", "-o", model, "--table", table)[0] == 0
    with table.open(encoding="utf-8", newline="") as lines:
        best = next(csv.DictReader(lines))
    X, Y = load_world_flags(return_X_y=True, as_frame=True)
    search = RuleListClassifierCV(protocol="paper", lifts=[*paper_lifts(7), NoLift()], scoring="micro_f1").fit(X, Y)
    assert float(best["mean_test_micro_f1"]) == pytest.approx(search.best_score_, abs=1e-5)
    assert model_file.load(model).rules == search.rule_list_.rules


def test_tune_chooses_by_the_measure_that_is_asked_for(run: Run):
    code, out, err = run(
        "tune", "world-flags", "--measure", "subset_accuracy", "--lifts", "peak 2: 1.08", "--folds", "2"
    )
    assert code == 0, err
    assert "subset accuracy" in out


def test_tune_takes_the_training_part_of_a_pair(run: Run, pair: Path):
    code, out, err = run(
        "tune", pair, "--lifts", "kln at 3: 1.08", "--folds", "ShuffleSplit(n_splits=2,random_state=0)"
    )
    assert code == 0, err
    assert "30 instances, 2 labels, 2 folds" in out


def test_tune_goes_on_from_its_journal(run: Run, tmp_path: Path):
    arguments = ("tune", "world-flags", "--lifts", "peak 2: 1.08", "--folds", "2", "--journal", tmp_path / "t.jsonl")
    _, first, _ = run(*arguments)
    size = (tmp_path / "t.jsonl").read_bytes().count(b'{"task"')
    _, second, _ = run(*arguments)
    assert first == second
    assert (tmp_path / "t.jsonl").read_bytes().count(b'{"task"') == size == 4
    code, _, err = run(*arguments, "--objective", "ha+")
    assert code == 2
    assert "objective was micro-f+, now ha+" in err


def test_tune_goes_on_with_the_folds_of_a_splitter_that_draws_them(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    arguments = ("tune", "world-flags", "--lifts", "peak 2: 1.08", "--journal", "t.jsonl", "--folds")
    _, first, _ = run(*arguments, "ShuffleSplit(n_splits=2)")
    code, second, err = run(*arguments, "ShuffleSplit(n_splits=2)")
    assert code == 0, err
    assert first == second
    Path("t.jsonl").unlink()
    chance = "ShuffleSplit(n_splits=2, random_state=None)"
    assert run(*arguments, chance)[0] == 0
    code, _, err = run(*arguments, chance)
    assert code == 2
    assert "Error: t.jsonl: the folds have changed" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--objective", "f"), "unknown objective"),
        (("--measure", "accuracy"), "unknown measure"),
        (("--lifts", "peak 9: 1.1"), "none of the lifts fits 7 labels"),
        (("--folds", "1000"), "cannot split"),
        (("--jobs", "-5"), "--jobs -5"),
        (("-o", "no/such/folder/model.json"), "there is no folder"),
    ],
)
def test_what_tune_cannot_use_is_said_before_any_training(run: Run, arguments: tuple[str, ...], message: str):
    code, _, err = run("tune", "world-flags", *arguments)
    assert code == 2
    assert message in err
