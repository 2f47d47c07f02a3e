"""The options of the learner, and the classifier that they make."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import typer

from helpers.commands import Run, assert_mistake
from plurule import Constraints, RelaxedPruningClassifier, RelaxedPruningClassifierCV, RuleListClassifier
from plurule.cli import app, learner
from plurule.lifts import KLN, NoLift, Peak


def classifier_of(*arguments: object, command: str = "fit") -> Any:
    """The classifier that a command makes of its options."""
    made = typer.main.get_command(app).commands[command]  # type: ignore[attr-defined]
    with made.make_context(command, ["data.csv", *map(str, arguments)]) as context:
        return learner.make_classifier(context)


def parameters_of(classifier: Any) -> dict[str, Any]:
    return {name: value for name, value in classifier.get_params(deep=False).items() if name != "n_jobs"}


def test_unset_options_use_the_library_defaults() -> None:
    assert parameters_of(classifier_of()) == parameters_of(RuleListClassifier())
    assert parameters_of(classifier_of("--learner", "relaxed-pruning")) == parameters_of(RelaxedPruningClassifier())


def test_options_reach_the_rule_list_classifier() -> None:
    options = (
        "--scoring macro_f1 --max-rules 4 --max-conditions none --min-coverage 2.5 --min-precision 0.4 --lift none "
        "--score-tolerance 0.02 --predict-absence --conditions sets,missing --max-bins 8 --cv 3 --n-jobs 1"
    )
    expected = RuleListClassifier(
        scoring="macro_f1",
        max_rules=4,
        max_conditions=None,
        min_coverage=2.5,
        min_precision=0.4,
        lift=NoLift(),
        score_tolerance=0.02,
        predict_absence=True,
        conditions="sets,missing",
        max_bins=8,
        cv=3,
        n_jobs=1,
    )
    assert classifier_of(*options.split()).get_params(deep=False) == expected.get_params(deep=False)


def test_options_reach_the_relaxed_pruning_classifier() -> None:
    options = (
        "--learner relaxed-pruning --heuristic precision --averaging macro --no-label-conditions --beam-width 2 "
        "--lift peak --max-rules none --no-predict-absence --n-jobs 2"
    )
    expected = RelaxedPruningClassifier(
        heuristic="precision",
        averaging="macro",
        label_conditions=False,
        beam_width=2,
        lift=Peak(),
        max_rules=None,
        predict_absence=False,
        n_jobs=2,
    )
    assert classifier_of(*options.split()).get_params(deep=False) == expected.get_params(deep=False)


def test_relaxed_pruning_with_lift_auto_chooses_the_lift_by_cross_validation() -> None:
    options = "--learner relaxed-pruning --lift auto --max-rules 3 --scoring macro_f1 --cv 4 --n-jobs 2"
    classifier = classifier_of(*options.split())
    assert isinstance(classifier, RelaxedPruningClassifierCV)
    assert (classifier.scoring, classifier.cv, classifier.n_jobs) == ("macro_f1", 4, 2)
    assert classifier.estimator.max_rules == 3


def test_rule_list_with_auto_options_is_the_default() -> None:
    assert parameters_of(classifier_of("--lift", "auto", "--max-rules", "auto")) == parameters_of(RuleListClassifier())


@pytest.mark.parametrize("command", ["fit", "evaluate"])
def test_fit_and_evaluate_make_the_same_classifier(command: str) -> None:
    options = ("--max-rules", 5, "--lift", 1.2, "--cv", 0.25)
    expected = RuleListClassifier(max_rules=5, lift=KLN.at(3, 1.2), cv=0.25)
    assert parameters_of(classifier_of(*options, command=command)) == parameters_of(expected)


def test_fit_and_evaluate_have_the_same_learner_options() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    for command in (commands["fit"], commands["evaluate"]):
        names = {parameter.name for parameter in command.params}
        assert {*learner.PARAMETERS, "learner", "initial_rules"} <= names


@pytest.mark.parametrize(
    ("text", "lift"),
    [
        ("none", NoLift()),
        ("kln", KLN.at(3, 1.08)),
        ("peak", Peak(3, 1.08)),
        ("1.08", KLN.at(3, 1.08)),
        ("1", KLN(k=0.0)),
    ],
)
def test_lift_is_a_name_or_the_factor_of_three_labels(text: str, lift: Any) -> None:
    assert classifier_of("--lift", text).lift == lift


def test_options_have_the_names_of_the_parameters() -> None:
    rule_list = set(RuleListClassifier().get_params(deep=False))
    relaxed = set(RelaxedPruningClassifier().get_params(deep=False))
    assert set(learner.SELECTION) == rule_list - relaxed
    assert set(learner.BOTH) == rule_list & relaxed - {"verbose"}
    assert set(learner.RELAXED_PRUNING) <= relaxed - rule_list


def test_fit_has_at_most_30_options(run: Run) -> None:
    assert len(re.findall(r"^  -", run("fit", "--help").out, re.MULTILINE)) <= 30


def in_words(value: Any) -> str:
    """A value as help texts write it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value).lower()


def test_defaults_in_the_help_are_those_of_the_classifiers() -> None:
    fit = typer.main.get_command(app).commands["fit"]  # type: ignore[attr-defined]
    plain, relaxed = (cls().get_params(deep=False) for cls in (RuleListClassifier, RelaxedPruningClassifier))
    checked = []
    for parameter in fit.params:
        stated = re.search(r"Default: ([\w.]+)(?: \(relaxed-pruning: ([\w.]+)\))?\.$", parameter.help or "")
        if (
            stated is not None
            and parameter.name in learner.PARAMETERS
            and parameter.name not in ("heuristic", "conditions", "lift")
        ):
            owner = plain if parameter.name in plain else relaxed
            assert in_words(owner[parameter.name]) == stated[1], parameter.name
            if stated[2] is not None:
                assert in_words(relaxed[parameter.name]) == stated[2], parameter.name
            checked.append(parameter.name)
    assert len(checked) >= 8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--beam-width 2", "--beam-width is not an option of --learner rule-list; add --learner relaxed-pruning"),
        ("--no-label-conditions", "--label-conditions is not an option of --learner rule-list"),
        ("--heuristic precision", "--heuristic is not an option of --learner rule-list"),
        ("--learner relaxed-pruning --scoring micro_f1", "--scoring is not an option of --learner relaxed-pruning"),
        ("--learner relaxed-pruning --cv 5", "--cv is not an option of --learner relaxed-pruning"),
        ("--learner relaxed-pruning --lift auto --score-tolerance 0.1", "--score-tolerance is not an option"),
        ("--learner relaxed-pruning --max-rules auto", "--max-rules auto is for --learner rule-list"),
        ("--learner default", "'default'"),
    ],
)
def test_option_of_the_other_learner_is_refused(run: Run, options: str, message: str) -> None:
    assert_mistake(run("fit", "world-flags", *options.split()), message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--max-rules -5", "--max-rules must be"),
        ("--max-rules 0", "--max-rules must be"),
        ("--max-rules many", "Invalid value for '--max-rules': expected a whole number"),
        ("--cv 1", "--cv must be at least 2 folds, or a share between 0 and 1, got 1"),
        ("--cv many", "Invalid value for '--cv': expected a number, got many"),
        ("--max-bins many", "Invalid value for '--max-bins': expected a whole number or none, got many"),
        ("--max-bins 1", "--max-bins must be none or a whole number of at least 2, got 1"),
        ("--min-precision 2", "--min-precision must be"),
        ("--min-coverage nan", "--min-coverage must be"),
        ("--score-tolerance nan", "--score-tolerance must be"),
        ("--lift 0.5", "--lift must be at least 1, got 0.5"),
        ("--lift nan", "--lift must be at least 1, got nan"),
        ("--lift root", "Invalid value for '--lift': expected a number or none or kln or peak or auto, got root"),
        ("--n-jobs 0", "--n-jobs must be a whole number other than 0"),
        ("--scoring micro", "micro"),
        ("--conditions set", "--conditions must be"),
        ("--learner relaxed-pruning --beam-width 0", "--beam-width must be a whole number from 1 to 1000, got 0"),
        ("--learner relaxed-pruning --beam-width 1001", "--beam-width must be a whole number from 1 to 1000, got 1001"),
        ("--learner relaxed-pruning --heuristic f_mesure", "did you mean f_measure"),
        ("--learner relaxed-pruning --averaging mcro", "Invalid value for '--averaging'"),
        ("--max-bins " + "9" * 5000, "expected a whole number"),
    ],
)
def test_wrong_value_is_reported_with_the_option(run: Run, options: str, message: str) -> None:
    assert_mistake(run("fit", "world-flags", *options.split()), message)


HUGE = str(2**70)


@pytest.mark.parametrize(
    "options", ["--max-bins 99999999999", f"--max-rules {HUGE}", f"--n-jobs {HUGE}", "--lift 1e308"]
)
def test_huge_numbers_are_accepted(run: Run, data: Path, options: str) -> None:
    result = run("fit", data, "--labels", "red,blue", *options.split())
    assert result.code == 0, result.err


# Constraints ---------------------------------------------------------------------------------------------------------

TOML = """
# Why: the year of joining the UN must not matter.
forbidden_attributes = ["un_since"]
forbidden_label_pairs = [["red", "blue"]]
increasing = ["stars", ["horizontal_stripes", "green"]]

[hierarchy]
orange = "red"
"""


def test_constraints_are_read_from_a_toml_file(tmp_path: Path) -> None:
    path = tmp_path / "constraints.toml"
    path.write_text(TOML, encoding="utf-8")
    assert classifier_of("--constraints", path).constraints == Constraints(
        forbidden_attributes=["un_since"],
        forbidden_label_pairs=[["red", "blue"]],
        increasing=["stars", ["horizontal_stripes", "green"]],
        hierarchy={"orange": "red"},
    )


def test_help_names_every_constraint(run: Run) -> None:
    text = run("fit", "--help").out
    assert all(field.name in text for field in fields(Constraints) if not field.name.startswith("required_"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("forbidden_attribute = ['stars']", "there is no constraint 'forbidden_attribute'; did you mean 'forbidden_at"),
        ("forbidden_attributes = [", "c.toml: is not a TOML file"),
        ("forbidden_attributes = ['cantn']", "there is no attribute 'cantn'; did you mean 'canton'"),
        ("forbidden_label_pairs = [['red', 'bleu']]", "there is no label 'bleu'; did you mean 'blue'"),
        ("forbidden_label_pairs = ['red']", "forbidden_label_pairs"),
        ("increasing = ['continent']", "increasing: attribute 'continent' is nominal"),
        ("exclusive_labels = [['red', 'blue', 'green']]", "exactly one of the labels 'red', 'blue', 'green'"),
        (None, "c.toml: No such file or directory"),
    ],
)
def test_wrong_constraints_are_refused(run: Run, tmp_path: Path, content: str | None, message: str) -> None:
    if content is not None:
        (tmp_path / "c.toml").write_text(content, encoding="utf-8")
    assert_mistake(run("fit", "world-flags", "--constraints", tmp_path / "c.toml"), message)
