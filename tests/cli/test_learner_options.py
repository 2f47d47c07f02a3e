"""The options that make a learner."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.commands import Run, assert_mistake
from plurule import RuleListClassifier
from plurule.cli.learner_options import learner_parameters, make_learner, make_lift, read_names
from plurule.errors import PluruleError
from plurule.heuristics import FMeasure, MEstimate, ShrunkenFMeasure
from plurule.learning.min_precision import MinPrecision
from plurule.lifts import KLN, NoLift, Root


def test_every_parameter_of_the_classifier_is_an_option() -> None:
    parameters = set(RuleListClassifier().get_params(deep=False))
    owners = {name.partition("__")[0] for name in learner_parameters()}
    assert parameters - owners == {"verbose"}
    assert owners - parameters == {"lift_height", "lift_at"}
    assert {parameter.option for name, parameter in learner_parameters().items() if "__" in name} == {
        *("--beta", "--m", "--lam"),
        *("--min-precision", "--min-precision-of", "--min-precision-when"),
        *("--refine-against", "--fixed-head-counts"),
    }


def test_the_help_tells_what_each_option_means_and_what_it_is_if_left_out(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = run("fit", "--help").out
    assert max(map(len, text.splitlines())) <= 80
    words = " ".join(text.split())
    for parameter in learner_parameters().values():
        assert parameter.text, f"{parameter.name} is not described in the docstring"
        assert parameter.option in words
    assert "--beam-width N How many rules are refined side by side, at most 1000. [default: 1]" in words
    assert "--averaging micro|macro micro sums the counts" in words
    assert "`" not in text
    assert "None" not in text
    assert not any(line.endswith("-") for line in text.splitlines()), "a word is broken at its hyphen"


def test_what_is_given_reaches_the_classifier() -> None:
    given = {"max_bins": "4", "max_conditions": "none", "min_coverage": "2.5", "n_rules": "auto", "fix_head": False}
    learner = make_learner({**given, "beam_width": None, "cv": "0.25"})
    expected = {"max_bins": 4, "max_conditions": None, "min_coverage": 2.5, "n_rules": "auto", "cv": 0.25}
    assert learner.get_params(deep=False) == RuleListClassifier(**expected, fix_head=False).get_params(deep=False)
    assert make_learner({"n_rules": "all"}, published=True).max_bins is None


def test_the_least_precision_changes_in_the_part_that_is_given() -> None:
    published = RuleListClassifier.published().min_precision
    learner = make_learner({"min_precision__threshold": "0.3"}, published=True)
    assert learner.min_precision == MinPrecision(0.3, published.of, published.when)
    assert make_learner({"min_precision__of": "head"}).min_precision == MinPrecision(0.5, of="head")


def test_heuristics_are_given_by_name_and_parameters() -> None:
    given = {"heuristic": "shrunken_f_measure", "heuristic__beta": "1", "heuristic__m": "2"}
    assert make_learner(given).heuristic == ShrunkenFMeasure(beta=1.0, m=2.0)
    assert make_learner({"heuristic": "m_estimate", "heuristic__m": "3"}).heuristic == MEstimate(m=3.0)
    assert make_learner({"heuristic__beta": "2"}).heuristic == FMeasure(beta=2.0)
    with pytest.raises(ValueError, match="--m is a parameter of shrunken_f_measure and m_estimate, not of f_measure"):
        make_learner({"heuristic__m": "1"})


def test_lifts_are_given_by_kind_height_and_labels_or_in_one_word() -> None:
    assert make_lift("root", 1.5, 3) == make_lift("root at 3: 1.5", None, None) == Root.at(3, 1.5)
    assert make_lift(None, 1.2, None) == KLN.at(3, 1.2)
    assert make_lift("none", None, None) == NoLift()
    with pytest.raises(ValueError, match=r"--lift kln at 3: 1.08 says how high it is; leave out --lift-height"):
        make_lift("kln at 3: 1.08", 1.1, None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--rules", "-5"), "--rules must be auto, none or a whole number of at least 1, got -5"),
        (("--rules", "0"), "--rules must be"),
        (("--cv", "1"), "--cv must be at least 2 folds, or a share between 0 and 1, got 1"),
        (("--cv", "many"), "--cv must be a number of folds"),
        (("--beam-width", "0"), "--beam-width must be a whole number from 1 to 1000, got 0"),
        (("--beam-width", "2.5"), "--beam-width must be a whole number from 1 to 1000, got 2.5"),
        (("--max-bins", "many"), "--max-bins must be none or a whole number of at least 2, got many"),
        (("--min-precision", "2"), "--min-precision must be a number from 0 to 1, got 2.0"),
        (("--min-precision-of", "rule"), "--min-precision-of must be label or head, got rule"),
        (("--simplify", "2"), "--simplify must be"),
        (("--beta", "-1"), "--beta must be a number of at least 0, got -1.0"),
        (("--lift-height", "0.5"), "--lift-height must be at least 1, got 0.5"),
        (("--lift-at", "two"), "--lift-at must be a whole number, got two"),
        (("--jobs", "0"), "--jobs must be a whole number other than 0"),
        (("--jobs", "0", "--choose-lift", "micro_f1"), "--jobs must be a whole number other than 0"),
        (("--head-search", "relaxd"), "--head-search must be single, "),
    ],
)
def test_errors_name_the_option(run: Run, options: tuple[str, ...], message: str) -> None:
    assert_mistake(run("fit", "world-flags", *options), f"Error: {message}")


HUGE = str(2**70)


@pytest.mark.parametrize(
    "options",
    [
        ("--max-bins", "99999999999"),
        ("--max-conditions", HUGE, "--rules", "2"),
        ("--rules", HUGE),
        ("--cv", HUGE, "--max-conditions", "0"),
        ("--jobs", HUGE),
        ("--jobs", "-" + HUGE),
        ("--lift-at", HUGE),
        ("--lift-height", "1e308", "--rules", "2"),
    ],
)
def test_numbers_beyond_all_bounds_are_no_mistake(run: Run, pair: Path, options: tuple[str, ...]) -> None:
    result = run("fit", f"{pair}-train.arff", *options)
    assert result.code == 0, result.err


@pytest.mark.parametrize(
    "options",
    [
        ("--beam-width", HUGE),
        ("--min-coverage", "1e400"),
        ("--beta", "nan"),
        ("--simplify", "nan"),
        ("--lift-height", "nan"),
        ("--lift", "peak", "--lift-at", HUGE),
        ("--lift", "root", "--lift-height", "1e308"),
        ("--max-bins", "9" * 5000),
    ],
)
def test_numbers_that_make_no_sense_are_refused_in_a_sentence(run: Run, options: tuple[str, ...]) -> None:
    assert_mistake(run("fit", "world-flags", *options), "must be")


def test_what_a_length_is_chosen_on_may_be_a_splitter() -> None:
    found = make_learner({"cv": "ShuffleSplit(n_splits=3, test_size=0.2)"}).cv
    assert (type(found).__name__, found.n_splits, found.test_size) == ("ShuffleSplit", 3, 0.2)
    assert [make_learner({"cv": text}).cv for text in ("4", "0.25")] == [4, 0.25]
    with pytest.raises(PluruleError, match="nonsense"):
        make_learner({"cv": "nonsense"})


def test_names_that_hold_a_comma_are_quoted_and_a_second_name_may_be_left_out() -> None:
    found = read_names(['"red, dark",blue', "green"], "--increasing", "NAME[,LABEL]")
    assert found == [["red, dark", "blue"], "green"]
