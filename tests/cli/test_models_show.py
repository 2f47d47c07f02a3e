"""`plurule show`."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.commands import Run, assert_mistake
from helpers.rule_lists import make_rules
from plurule import RelaxedPruningClassifier, RuleList, read
from plurule.datasets import load_world_flags


@pytest.fixture(scope="module")
def dependent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of the flags whose rules relate labels."""
    flags = load_world_flags()
    attributes = {a.name: a.categories for a in flags.X.attributes}
    path = tmp_path_factory.mktemp("dependent") / "flags.json"
    make_rules("red, white <- continent = Asia\n¬blue <- red", attributes, flags.label_names).save(path)
    return path


def test_show_prints_rules_and_sizes(run: Run, model: Path) -> None:
    out = run("show", model).out
    assert "2 rules of a decision list, in the order in which they are applied" in out
    assert "TP  FP  in training" in out
    assert "size <= 3" in out
    assert "conditions on labels" in out


def test_show_says_which_lists_are_decision_lists(run: Run, dependent: Path) -> None:
    assert "2 rules of a decision list, in the order in which they are applied" in run("show", dependent).out


def test_show_with_data_prints_the_precision_on_them(run: Run, model: Path, data: Path) -> None:
    out = run("show", model, "--data", data).out
    assert f"Evaluated on 6 rows of {data}" in out
    assert "right  precision (95 %)  in training" in out


def test_show_plain_prints_one_rule_per_line(run: Run, model: Path) -> None:
    assert run("show", model, "--plain").out.splitlines() == [str(rule) for rule in RuleList.load(model)]


def test_show_prints_the_first_rules_only(run: Run, model: Path) -> None:
    assert run("show", model, "--plain", "--rules", 1).out.splitlines() == [str(RuleList.load(model)[0])]
    assert "1 of 2 rules" in run("show", model, "--rules", 1).out


def test_show_prints_the_rules_of_a_label_only(run: Run, model: Path) -> None:
    lines = run("show", model, "--plain", "--label", "red").out.splitlines()
    assert lines == [str(rule) for rule in RuleList.load(model) if str(rule).startswith("red")]


def test_show_counts_one_rule_in_the_singular(run: Run, tmp_path: Path) -> None:
    make_rules("red <- x > 1", {"x": None}, ("red",)).save(tmp_path / "m.json")
    assert run("show", tmp_path / "m.json").out.startswith("1 rule, ")


def test_show_suggests_the_label_that_was_meant(run: Run, model: Path) -> None:
    assert_mistake(run("show", model, "--label", "rad"), "has no label 'rad'; did you mean 'red'?")


def test_show_check_lists_rules_that_never_apply(run: Run, tmp_path: Path) -> None:
    make_rules("red <- x > 1\nred <- x > 2", {"x": None}, ("red",)).save(tmp_path / "m.json")
    result = run("show", tmp_path / "m.json", "--check")
    assert result.out == "rule 2 (red ← x > 2) is unreachable: rule 1 decides red first\n"


def test_show_check_accepts_a_model_without_such_rules(run: Run, model: Path) -> None:
    assert run("show", model, "--check").out == "All rules can apply.\n"


def test_show_dependencies_counts_them_on_data(run: Run, dependent: Path) -> None:
    result = run("show", dependent, "--dependencies", "--data", "world-flags")
    assert result.out.startswith("co-occurrence: red, white where continent = Asia (")


def test_show_with_data_says_that_counts_per_label_are_of_training(run: Run, data: Path, tmp_path: Path) -> None:
    training = read(data, labels=["red", "blue"])
    rules = RelaxedPruningClassifier().fit(training, initial_rules="red, blue <- size > 2").rule_list_
    rules.save(tmp_path / "model.json")
    assert "right/wrong: red 1/3, blue 3/1" in run("show", tmp_path / "model.json").out
    assert "right/wrong in training: red 1/3, blue 3/1" in run("show", tmp_path / "model.json", "--data", data).out
