"""`plurule evaluate`, as people use it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import KFold

from helpers.commands import Run
from plurule import RuleListClassifier
from plurule.cli.evaluate import spread
from plurule.datasets import load_world_flags
from plurule.lifts import find_lift
from plurule.metrics import METRICS, scores
from plurule.model import file as model_file


def test_evaluate_scores_on_labelled_data(run: Run, model: Path, data: Path) -> None:
    assert "Hamming accuracy" in run("evaluate", model, data).out
    scores = json.loads(run("evaluate", model, data, "--json").out)
    assert "What rules decide is right in 100.0%, in training in 100.0%" in run("evaluate", model, data).out
    assert scores["subset_accuracy"] == 1.0
    assert scores["micro_f1"] == 1.0


def test_a_model_is_scored_on_the_test_part_and_says_what_it_was_trained_on(run: Run, pair: Path, tmp_path: Path):
    model = tmp_path / "model.json"
    assert run("fit", pair, "-o", model).code == 0
    out = run("evaluate", model, pair).out
    assert "rows was trained on" in out or "rows were trained on" in out
    assert all(title in out for title in ("score", "from", "to (95 %)", "best constant", "chance"))
    test, both = (json.loads(run("evaluate", model, pair, *split, "--json").out) for split in ((), ("--split", "all")))
    assert test["instances"] < both["instances"]
    assert both["trained_on"] >= both["instances"] - test["instances"]
    assert test["low"]["micro_f1"] <= test["micro_f1"] <= test["high"]["micro_f1"]
    rows = list(csv.DictReader(io.StringIO(run("evaluate", model, pair, "--csv").out)))
    assert [row["row"] for row in rows] == ["score", "low", "high", "constant", "chance"]
    assert run("fit", pair, "-o", model, "--no-remember-rows").code == 0
    assert "trained on" not in run("evaluate", model, pair).out


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
    assert [row["fold"] for row in rows] == ["1", "2", "mean", "deviation", "constant"]
    mean = (float(rows[0]["micro_f1"]) + float(rows[1]["micro_f1"])) / 2
    assert float(rows[2]["micro_f1"]) == pytest.approx(mean, abs=1e-5)


def test_evaluate_scores_what_fit_learns_if_asked_for_the_default_learner(run: Run, pair: Path, tmp_path: Path):
    model = tmp_path / "model.json"
    assert run("fit", pair, "--split", "train", "-o", model)[0] == 0
    _, expected, _ = run("evaluate", model, pair, "--split", "test", "--json")
    code, out, err = run("evaluate", pair, "--learner", "default", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found.items() >= {name: json.loads(expected)[name] for name in METRICS}.items()
    assert found["constant"] == json.loads(expected)["constant"]
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


def test_folds_are_summed_up_by_mean_and_deviation() -> None:
    assert spread([{"rules": 4.0}, {"rules": 6.0}]) == ({"rules": 5.0}, {"rules": 1.0})
