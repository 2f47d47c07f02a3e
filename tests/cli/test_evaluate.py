"""`plurule evaluate`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from helpers.commands import Run, assert_mistake
from plurule import RelaxedPruningClassifier, RuleListClassifier
from plurule.cli.evaluate import mean_and_deviation
from plurule.data.splitting import IterativeStratifiedKFold, copies
from plurule.datasets import load_world_flags
from plurule.metrics import METRICS, scores

QUICK = ("--learner", "relaxed-pruning", "--max-rules", 5, "--folds", 2)


# A model -------------------------------------------------------------------------------------------------------------


def test_evaluate_scores_a_model(run: Run, model: Path, data: Path) -> None:
    scores = json.loads(run("evaluate", model, data, "--json").out)
    assert scores["subset_accuracy"] == 1.0
    assert scores["micro_f1"] == 1.0
    assert scores["instances"] == 6


def test_evaluate_compares_the_scores_of_a_model(run: Run, model: Path, data: Path) -> None:
    out = run("evaluate", model, data).out
    assert "6 instances, 2 labels, 2 rules" in out
    assert all(title in out for title in ("Hamming accuracy", "score", "to (95 %)", "best constant", "chance"))


@pytest.mark.parametrize(
    "option",
    ["--folds 3", "--labels red", "--drop size", "--seed 0", "--n-jobs 1", "--learner rule-list", "--max-rules 3"],
)
def test_evaluate_refuses_options_of_cross_validation_with_a_model(
    run: Run, model: Path, data: Path, option: str
) -> None:
    name = option.split()[0]
    assert_mistake(run("evaluate", model, data, *option.split()), f"{name} is an option of cross-validation")


def test_evaluate_needs_data_besides_a_model(run: Run, model: Path) -> None:
    assert_mistake(run("evaluate", model), "is a model; also give the data")


def test_evaluate_refuses_three_files(run: Run, model: Path, data: Path) -> None:
    assert_mistake(run("evaluate", model, data, data), "3 files are given")


# Cross-validation ----------------------------------------------------------------------------------------------------


def expected_scores(classifier: RuleListClassifier | RelaxedPruningClassifier, folds: int) -> list[dict[str, float]]:
    """The scores of a classifier by fold."""
    flags = load_world_flags()
    rows = []
    splitter = IterativeStratifiedKFold(folds, shuffle=True, random_state=0)
    for train, test in splitter.split(flags.X, flags.Y, copies(flags.X, flags.Y)):
        model = classifier.fit(flags[train])
        rows.append(scores(flags.Y[test], model.predict(flags[test])))
    return rows


@pytest.mark.parametrize(
    ("options", "classifier"),
    [
        (("--folds", 2, "--cv", 2), RuleListClassifier(cv=2)),
        (QUICK, RelaxedPruningClassifier(max_rules=5)),
    ],
)
def test_evaluate_cross_validates_what_fit_trains(
    run: Run, options: tuple[object, ...], classifier: RuleListClassifier | RelaxedPruningClassifier
) -> None:
    result = run("evaluate", "world-flags", *options, "--json")
    assert result.code == 0, result.err
    found = json.loads(result.out)
    rows = expected_scores(classifier, 2)
    for name in METRICS:
        values = [row[name] for row in rows]
        assert [fold[name] for fold in found["folds"]] == pytest.approx(values)
        assert found["mean"][name] == pytest.approx(np.mean(values))
        assert found["deviation"][name] == pytest.approx(np.std(values))


def test_evaluate_shows_the_learner_and_its_scores(run: Run) -> None:
    out = run("evaluate", "world-flags", *QUICK).out
    assert "193 instances, 2 folds, 7 labels, RelaxedPruningClassifier" in out
    for title in ("Hamming accuracy", "micro F1", "example-based F1", "deviation", "best constant", "rules"):
        assert title in out


def test_evaluate_shuffles_the_rows_by_the_seed(run: Run) -> None:
    first, second = (run("evaluate", "world-flags", *QUICK, "--seed", seed, "--json").out for seed in (0, 1))
    assert first != second


def test_evaluate_cross_validates_a_column_of_classes(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "classes.csv"
    path.write_text("x,kind\n" + "".join(f"{i},{'abc'[i // 20]}\n" for i in range(60)))
    result = run("evaluate", path, "--labels", "kind", "--folds", 2, "--learner", "relaxed-pruning", "--json")
    assert result.code == 0, result.err
    assert json.loads(result.out)["mean"]["micro_f1"] > 0.8


def test_evaluate_chooses_the_lift_in_every_fold(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("x,a,b\n" + "".join(f"{i},{int(i > 15)},{int(i > 20)}\n" for i in range(40)))
    options = ("--learner", "relaxed-pruning", "--lift", "auto", "--folds", 2, "--cv", 2, "--json")
    result = run("evaluate", path, "--labels", "a,b", *options)
    assert result.code == 0, result.err
    assert json.loads(result.out)["mean"]["micro_f1"] > 0.8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--folds", 1), "Invalid value for '--folds'"),
        (("--folds", 194), "--folds 194: there are only 193 rows"),
        (("--lift", "bar"), "Invalid value for '--lift'"),
        (("--n-jobs", 0), "--n-jobs must be a whole number other than 0"),
        (("--beam-width", 2), "add --learner relaxed-pruning"),
    ],
)
def test_evaluate_refuses_wrong_values(run: Run, options: tuple[object, ...], message: str) -> None:
    assert_mistake(run("evaluate", "world-flags", *options), message)


def test_mean_and_deviation_of_folds() -> None:
    assert mean_and_deviation([{"rules": 4.0}, {"rules": 6.0}]) == ({"rules": 5.0}, {"rules": 1.0})
