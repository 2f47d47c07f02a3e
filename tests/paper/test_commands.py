"""`plurule tune` and `plurule evaluate`, as people use them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from sklearn.model_selection import KFold

from plurule import RuleListClassifier, RuleListClassifierCV
from plurule.cli import app, errors
from plurule.cli.tune_wide import progress_on
from plurule.cli.watching import Estimate, ProgressWatch
from plurule.datasets import load_world_flags
from plurule.lifts import find_lift
from plurule.metrics import scores
from plurule.model import file as model_file

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("COLUMNS", "140")
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            errors.run(app, [str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    return run


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """A data set that comes as a training and a test file."""
    header = "@relation 'pair: -C 2'\n@attribute a {0,1}\n@attribute b {0,1}\n@attribute x numeric\n@data\n"
    for part, start in (("train", 0), ("test", 3)):
        rows = [f"{int(x > 15)},{int(x > 20)},{x}" for x in range(start, start + 30)]
        (tmp_path / f"pair-{part}.arff").write_text(header + "\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path / "pair"


# tune -----------------------------------------------------------------------------------------------------------------


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
    assert [row["rank"] for row in rows] == ["1", "2", "3", ""]
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
    search = RuleListClassifierCV(protocol="paper", scoring="micro_f1").fit(X, Y)
    assert float(best["micro_f1"]) == pytest.approx(search.best_score_, abs=1e-5)
    assert model_file.load(model).rules == search.rule_list_.rules


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
    assert "objectives was micro-f+, now ha+" in err


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
    assert "Error: t.jsonl: the folds of world-flags have changed" in err


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


# fit ------------------------------------------------------------------------------------------------------------------


def test_fit_learns_from_the_training_part_of_a_pair_and_says_so(run: Run, pair: Path, tmp_path: Path):
    by_default, by_name, both = (tmp_path / f"{name}.json" for name in ("default", "train", "all"))
    code, out, err = run("fit", pair, "-o", by_default)
    assert code == 0, err
    assert "from 30 instances" in out
    assert "Learned from the training part" in out
    assert "training part" not in run("fit", pair, "--split", "train", "-o", by_name)[1]
    assert by_default.read_bytes() == by_name.read_bytes()
    assert "from 60 instances" in run("fit", pair, "--split", "all", "-o", both)[1]


# evaluate -------------------------------------------------------------------------------------------------------------


def test_evaluate_trains_on_one_part_of_a_pair_and_scores_on_the_other(run: Run, pair: Path):
    code, out, err = run("evaluate", pair, "--lift", "none", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["hamming_accuracy"] == 1.0
    assert found["rules"] >= 1


def test_evaluate_scores_by_cross_validation_with_mean_and_deviation(run: Run):
    code, out, err = run("evaluate", "world-flags", "--folds", "3", "--lift", "kln at 3: 1.08", "--json")
    assert code == 0, err
    found = json.loads(out)
    flags = load_world_flags()
    expected = []
    for train, test in KFold(3, shuffle=True, random_state=0).split(flags.Y):
        model = RuleListClassifier.published(lift=find_lift("kln at 3: 1.08"))
        model.fit(flags[train])
        expected.append(scores(flags.Y[test], model.predict(flags[test])))
    for name in expected[0]:
        values = [fold[name] for fold in expected]
        assert found["mean"][name] == pytest.approx(np.mean(values))
        assert found["deviation"][name] == pytest.approx(np.std(values))
        assert [fold[name] for fold in found["folds"]] == pytest.approx(values)


def test_evaluate_shows_a_table_and_writes_csv(run: Run, tmp_path: Path):
    target = tmp_path / "scores.csv"
    code, out, err = run("evaluate", "world-flags", "--folds", "2", "-o", target)
    assert code == 0, err
    for title in (
        "Hamming accuracy",
        "micro F1",
        "macro F1 (an empty label scores 1)",
        "example-based F1",
        "deviation",
    ):
        assert title in out
    rows = list(csv.DictReader(io.StringIO(target.read_text(encoding="utf-8"))))
    assert [row["fold"] for row in rows] == ["1", "2", "mean", "deviation"]
    mean = (float(rows[0]["micro_f1"]) + float(rows[1]["micro_f1"])) / 2
    assert float(rows[2]["micro_f1"]) == pytest.approx(mean, abs=1e-5)


def test_evaluate_scores_what_fit_learns_if_asked_for_the_default_learner(run: Run, pair: Path, tmp_path: Path):
    model = tmp_path / "model.json"
    assert run("fit", pair, "--split", "train", "-o", model)[0] == 0
    _, expected, _ = run("evaluate", model, pair, "--split", "test", "--json")
    code, out, err = run("evaluate", pair, "--learner", "default", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found.items() >= json.loads(expected).items()
    assert found["rules"] == len(model_file.load(model))
    code, out, err = run("evaluate", "world-flags", "--learner", "default", "--folds", "2")
    assert code == 0, err
    assert "193 instances, 2 folds, 7 labels, the default learner" in out
    for option, value in (("--objective", "ha+"), ("--lift", "none")):
        code, _, err = run("evaluate", pair, "--learner", "default", option, value)
        assert code == 2
        assert f"{option} has no meaning with --learner default" in err


def test_evaluate_can_choose_the_lift_anew_in_every_fold(run: Run, pair: Path):
    code, out, err = run("evaluate", pair, "--lift", "tune", "--csv", "--objective", "macro-f+")
    assert code == 0, err
    assert next(csv.DictReader(io.StringIO(out)))["subset_accuracy"] == "1.0"


def test_evaluate_needs_data_beside_a_model_and_not_folds(run: Run, pair: Path, tmp_path: Path):
    model = tmp_path / "model.json"
    assert run("fit", pair, "--split", "train", "-o", model)[0] == 0
    assert run("evaluate", model, pair, "--split", "test")[0] == 0
    code, _, err = run("evaluate", model)
    assert code == 2
    assert "is a model; give the data" in err
    for option, value in (
        *(("--folds", "3"), ("--labels", "nonsense"), ("--objective", "ha+"), ("--lift", "none")),
        *(("--seed", "0"), ("--jobs", "1"), ("--learner", "default")),
    ):
        code, _, err = run("evaluate", model, pair, option, value)
        assert code == 2
        assert f"{option} has no meaning with a model" in err
        assert "leave out one of the two" in err
    assert run("evaluate", model, pair, pair)[0] == 2
    assert run("evaluate", model, pair, "--json", "--csv")[0] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--lift", "kln at 3: 1.08, none"), "2 lifts; give one lift, or tune"),
        (("--lift", "bar"), "lift 'bar' is not understood"),
        (("--objective", "foo"), "unknown objective"),
        (("--jobs", "0"), "--jobs 0"),
    ],
)
def test_what_evaluate_cannot_use_is_said_before_any_training(run: Run, arguments: tuple[str, ...], message: str):
    code, _, err = run("evaluate", "world-flags", *arguments)
    assert code == 2
    assert message in err


# Time left ------------------------------------------------------------------------------------------------------------


def test_the_time_left_is_not_guessed_before_anything_is_known():
    estimate = Estimate()
    estimate.begin("a", 10, 0, 1.0)
    assert estimate.clock_left("a") is None
    assert estimate.clock_left("all") is None


def test_a_set_at_work_is_judged_by_its_own_tasks():
    estimate = Estimate()
    estimate.begin("a", 10, 4, 1.0)
    estimate.begin("b", 10, 10, 1.0)
    estimate.advance("a", 2.0)
    assert estimate.cpu_left("a") == 10.0
    assert estimate.cpu_left("b") == 0.0
