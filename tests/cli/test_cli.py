"""The command line, as people use it."""

from __future__ import annotations

import csv
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from plurule import RuleListClassifier
from plurule.cli import app, errors
from plurule.cli.fit import fit
from plurule.datasets import load_world_flags
from plurule.model import file as model_file

TABLE = """size,kind,red,blue
1,a,1,0
2,a,1,0
3,a,1,0
4,b,0,1
5,b,0,1
6,b,0,1
"""


@dataclass
class Result:
    code: int
    out: str
    err: str


Run = Callable[..., Result]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command in this process, through the same function as the program."""
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*arguments: object) -> Result:
        with pytest.raises(SystemExit) as ended:
            errors.run(app, [str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return Result(int(ended.value.code or 0), captured.out, captured.err)

    return run


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


@pytest.fixture
def model(tmp_path: Path, data: Path, run: Run) -> Path:
    path = tmp_path / "model.json"
    assert run("fit", data, "--labels", "red,blue", "-o", path).code == 0
    return path


def read_csv(text: str) -> list[list[str]]:
    return list(csv.reader(text.splitlines()))


# The whole program -----------------------------------------------------------------------------------------


def program(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "plurule", *map(str, arguments)], capture_output=True, text=True, encoding="utf-8"
    )


def test_the_demo_shows_rules_characteristics_and_scores_beside_normal_pruning() -> None:
    result = program("demo")
    assert result.returncode == 0, result.stderr
    assert "red" in result.stdout
    assert "10 best of" in result.stdout
    rules = re.findall(r"^ *\d+  .*\d\.\d\d", result.stdout, re.MULTILINE)
    assert len(rules) == 10
    for title in ("relaxed pruning", "normal pruning", "heads of several labels", "cross-validation"):
        assert title in result.stdout
    for measure in ("Hamming accuracy", "micro F1", "macro F1", "subset accuracy"):
        (line,) = [line for line in result.stdout.splitlines() if line.startswith(measure)]
        assert len(re.findall(r"0\.\d{3}", line)) == 2


def test_a_mistake_ends_the_program_with_one_line_and_code_2(tmp_path: Path) -> None:
    result = program("fit", tmp_path / "nothing.csv", "--labels", "red")
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert "nothing.csv" in result.stderr
    assert "Traceback" not in result.stderr
    with_traceback = program("fit", tmp_path / "nothing.csv", "--labels", "red", "--debug")
    assert "Traceback" in with_traceback.stderr


def test_help_and_version_need_no_heavy_imports() -> None:
    code = "import sys, plurule.cli; print(sorted({'sklearn', 'scipy', 'pandas', 'numpy'} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "[]", result.stderr
    assert program("--version").stdout.startswith("plurule 0.")


# Commands --------------------------------------------------------------------------------------------------


def test_the_commands_are_listed(run: Run) -> None:
    out = run("--help").out
    for command in ("demo", "fit", "predict", "evaluate", "tune", "reproduce", "show", "convert", "data"):
        assert command in out
        assert run(command, "--help").code == 0


def test_fit_writes_the_model_that_the_library_learns(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "flags.json"
    result = run("fit", "world-flags", "-o", path, "--max-rules", 6, "--lift", "kln", "--lift-height", 1.2, "--absence")
    assert result.code == 0, result.err
    assert " rules for 7 labels from 193 instances" in result.out
    assert f"plurule show {path}" in result.out
    flags = load_world_flags()
    from plurule.lifts import KLN

    expected = RuleListClassifier(max_rules=6, lift=KLN.at(3, 1.2), predict_absence=True)
    expected.fit(flags)
    assert model_file.load(path) == expected.rule_list_


def test_options_left_out_are_those_of_the_library(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "flags.json"
    assert run("fit", "world-flags", "-o", path).code == 0
    flags = load_world_flags()
    expected = RuleListClassifier().fit(flags)
    assert model_file.load(path) == expected.rule_list_


def test_every_option_of_fit_is_understood(run: Run) -> None:
    options = (
        "--heuristic f_measure --beta 1 --averaging macro --presence-only --head-search relaxed "
        "--head-constraint label --lift peak --lift-at 2 --no-fix-head --fixed-head-counts pairs "
        "--refine-against plain --no-label-conditions --beam-width 2 --max-conditions 2 --min-coverage 3 --max-rules 4 "
        "--remaining 0.2 --stop-threshold 0.02 --max-bins 8 --engine reference --jobs 1"
    )
    result = run("fit", "world-flags", *options.split())
    assert result.code == 0, result.err
    assert "←" in result.out


def test_the_length_of_the_list_is_a_number_chosen_or_all(run: Run, tmp_path: Path) -> None:
    flags = load_world_flags()
    path = tmp_path / "flags.json"
    for options, parameters in (
        (("--rules", "none"), {"n_rules": None}),
        (("--rules", "all"), {"n_rules": None}),
        (("--rules", 4), {"n_rules": 4}),
        (("--rules", "auto", "--cv", 0.25), {"n_rules": "auto", "cv": 0.25}),
        (("--cv", 3), {"cv": 3}),
    ):
        assert run("fit", "world-flags", "-o", path, *options).code == 0
        expected = RuleListClassifier(**parameters).fit(flags)
        assert model_file.load(path) == expected.rule_list_


def test_the_learner_of_the_paper_is_one_option(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "flags.json"
    assert run("fit", "world-flags", "--published", "--max-rules", 8, "-o", path).code == 0
    flags = load_world_flags()
    expected = RuleListClassifier.published(max_rules=8)
    expected.fit(flags)
    assert model_file.load(path) == expected.rule_list_


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--rules", "-5"), "--rules must be auto, none (for all rules) or a whole number of at least 1, got -5"),
        (("--rules", "0"), "--rules must be"),
        (("--cv", "1"), "--cv must be at least 2 folds, or a share between 0 and 1, got 1"),
        (("--cv", "many"), "--cv must be"),
        (("--beam-width", "0"), "--beam-width must be a whole number of at least 1, got 0"),
        (("--prune", "2"), "--prune must be"),
        (("--jobs", "0"), "--jobs must be a whole number other than 0"),
        (("--jobs", "0", "--choose-lift", "micro_f1"), "--jobs must be a whole number other than 0"),
        (("--head-search", "relaxd"), "--head-search must be one of"),
    ],
)
def test_errors_of_fit_name_the_option(run: Run, options: tuple[str, ...], message: str) -> None:
    mistake(run("fit", "world-flags", *options), f"Error: {message}")


def test_every_parameter_of_the_classifier_is_an_option_of_fit() -> None:
    renamed = {"predict_absence": "absence", "n_jobs": "jobs"}
    parameters = {renamed.get(name, name) for name in RuleListClassifier().get_params(deep=False)}
    assert parameters - set(inspect.signature(fit).parameters) == {"verbose", "progress"}


def test_the_lift_can_be_chosen_by_cross_validation(run: Run) -> None:
    result = run("fit", "world-flags", "--choose-lift", "micro_f1", "--max-rules", 1, "--max-conditions", 0)
    assert result.code == 0, result.err
    assert re.search(r"Chosen lift: (KLN|Peak)\(.*\) \(micro_f1 0\.\d{3} by cross-validation\)", result.out)


def test_show_prints_the_rules(run: Run, model: Path) -> None:
    out = run("show", model).out
    assert "2 rules, in the order they are applied" in out
    assert "size <= 3.5" in out
    assert "conditions on labels" in out
    plain = run("show", model, "--plain").out.splitlines()
    assert plain == [str(rule) for rule in model_file.load(model)]
    assert run("show", model, "--plain", "--rules", 1).out.splitlines() == plain[:1]
    assert run("show", model, "--plain", "--label", "red").out.splitlines() == [p for p in plain if p.startswith("red")]
    wrong = run("show", model, "--label", "rad")
    assert wrong.code == 2
    assert "has no label 'rad'; did you mean 'red'?" in wrong.err


def test_evaluate_scores_on_labelled_data(run: Run, model: Path, data: Path) -> None:
    assert "Hamming accuracy" in run("evaluate", model, data).out
    scores = json.loads(run("evaluate", model, data, "--json").out)
    assert scores["subset_accuracy"] == 1.0
    assert scores["micro_f1"] == 1.0


def test_predict_writes_one_column_per_label(run: Run, model: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.csv"
    # Columns in another order, one more, a category and a row never seen, no labels.
    new.write_text("kind,colour,size\na,x,2\nc,y,9\n", encoding="utf-8")
    assert read_csv(run("predict", model, new).out) == [["red", "blue"], ["1", "0"], ["0", "1"]]
    output = tmp_path / "predicted.csv"
    assert run("predict", model, new, "-o", output).out == ""
    assert read_csv(output.read_text(encoding="utf-8"))[0] == ["red", "blue"]
    probabilities = np.array(read_csv(run("predict", model, new, "--proba").out)[1:], dtype=float)
    np.testing.assert_array_equal(probabilities > 0.5, [[True, False], [False, True]])


def test_a_file_that_also_has_the_labels_is_predicted_from_its_attributes(run: Run, model: Path, data: Path) -> None:
    assert read_csv(run("predict", model, data).out)[1:] == [["1", "0"]] * 3 + [["0", "1"]] * 3


# Mistakes --------------------------------------------------------------------------------------------------


def mistake(result: Result, *parts: str) -> None:
    assert result.code == 2
    for part in parts:
        assert part in result.err
    assert "Traceback" not in result.err


def test_mistakes_in_options_are_explained(run: Run, data: Path, tmp_path: Path) -> None:
    mistake(run("fit", data, "--labels", "rde"), "rde", "red")
    mistake(run("fit", data, "--labels", "kind"), "kind")
    mistake(run("fit", data), "label")
    mistake(run("fit", "world-flags", "--labels", "red"), "has its own labels")
    mistake(run("fit", "world-flags", "--split", "test"), "one whole data set")
    mistake(run("fit", "world-flags", "--heuristic", "f_mesure"), "did you mean 'f_measure'")
    mistake(run("fit", "world-flags", "--heuristic", "precision", "--beta", 1), "--beta is a parameter of f_measure")
    mistake(run("fit", "world-flags", "--lift", "none", "--lift-at", 2), "--lift none has no height")
    mistake(run("fit", "world-flags", "--lift", "peak", "--lift-at", 9), "at most the number of labels in the data, 7")
    mistake(run("fit", "world-flags", "--lift-height", 0.5), "KLN: k must be")
    mistake(run("fit", "world-flags", "--choose-lift", "micro"), "unknown scoring 'micro'")
    mistake(run("fit", "world-flags", "--head-search", "relaxd"), "did you mean 'relaxed'")
    mistake(run("fit", "world-flags", "-o", tmp_path / "no" / "model.json"), "there is no folder")
    mistake(run("fit", "world-flags", "-o", tmp_path), "is a folder")
    mistake(run("fit", "world-flags", "--max-rules", "many"), "--max-rules")
    mistake(run("nonsense"), "nonsense")


def test_mistakes_in_files_are_explained(run: Run, model: Path, data: Path, tmp_path: Path) -> None:
    mistake(run("show", tmp_path / "none.json"), "none.json", "no such file")
    mistake(run("show", data), "data.csv")
    lacking = tmp_path / "lacking.csv"
    lacking.write_text("kind,red,blue\na,1,0\n", encoding="utf-8")
    mistake(run("predict", model, lacking), "'size'")
    mistake(run("evaluate", model, lacking), "'size'")
    unlabelled = tmp_path / "unlabelled.csv"
    unlabelled.write_text("size,kind\n1,a\n", encoding="utf-8")
    mistake(run("evaluate", model, unlabelled), "red")
