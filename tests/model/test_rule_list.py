"""Rule lists as sequences, as text and as frames."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest

from helpers.rule_lists import random_rule_list
from plurule.errors import ModelError
from plurule.model import (
    Assignment,
    Attribute,
    Head,
    LabelCondition,
    LengthChoice,
    OneOfCondition,
    RangeCondition,
    Rule,
    RuleList,
)
from plurule.model.text import RuleTextError, parse_rules

RED, GREEN, WHITE = Assignment("red", 0, True), Assignment("green", 1, False), Assignment("white", 4, True)
COLOURS = RangeCondition("colours", 8, above=4.5)
EUROPE = OneOfCondition("landmass", 0, ("Europe",))
FLAG_RULE = Rule(Head((RED, WHITE)), (COLOURS, EUROPE), tp=166, fp=38, coverage=102, value=0.8, stop=False)


@pytest.fixture
def rule_list() -> RuleList:
    rules = (
        FLAG_RULE,
        Rule(Head((GREEN,)), (LabelCondition("red", 0, True),), tp=5, fp=0, stop=True),
        Rule(Head((RED, GREEN, WHITE)), tp=3, fp=3, stop=True),
    )
    attributes = (Attribute("landmass", ("Asia", "Europe")), Attribute("colours"))
    return RuleList(rules, attributes, ("red", "green", "blue", "gold", "white"))


def test_a_rule_list_shows_itself_short_and_readable(rule_list: RuleList) -> None:
    assert repr(rule_list).split("\n") == [
        "RuleList: 3 rules, 5 labels, 2 attributes",
        "   1  red, white ← colours > 4.5 ∧ landmass = Europe   (TP 166, FP 38)",
        "   2  ¬green ← red   (TP 5, FP 0, stop)",
        "   3  red, ¬green, white ←   (TP 3, FP 3, stop)",
    ]
    long = RuleList(rule_list.rules * 20, rule_list.attributes, rule_list.labels)
    assert repr(long).split("\n")[-1] == "… and 50 more rules"
    assert len(repr(long).split("\n")) == 12


def test_a_rule_list_reads_as_one_rule_per_line(rule_list):
    assert str(rule_list).splitlines() == [str(rule) for rule in rule_list]
    assert str(rule_list[:0]) == "(no rules: every label is absent)"


def test_everything_is_frozen_and_hashable(rule_list):
    with pytest.raises(FrozenInstanceError):
        FLAG_RULE.tp = 1  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        COLOURS.above = 1.0  # type: ignore[misc]
    assert len({COLOURS, EUROPE, LabelCondition("red", 0, True), RED, FLAG_RULE, rule_list}) == 6


def test_a_rule_knows_its_precision_and_label_conditions(rule_list):
    assert FLAG_RULE.precision == 166 / 204
    assert Rule(Head((RED,))).precision == 0
    assert [len(rule.label_conditions) for rule in rule_list] == [0, 1, 0]


def test_a_rule_list_is_a_sequence_and_a_slice_of_it_a_rule_list(rule_list):
    assert len(rule_list) == 3
    assert rule_list[-1] == rule_list.rules[2]
    assert isinstance(rule_list[:2], RuleList)
    assert list(rule_list[:2]) == list(rule_list)[:2]
    assert rule_list[:2].labels == rule_list.labels
    assert FLAG_RULE in rule_list
    assert rule_list.index(FLAG_RULE) == 0


def test_the_first_rules_leave_undecided_what_the_others_decided() -> None:
    rules = (
        Rule(Head((RED, GREEN)), tp=9, fp=4, decided=((5.0, 1.0), (4.0, 3.0))),
        Rule(Head((RED, GREEN)), tp=3, fp=3, decided=((2.0, 1.0), (1.0, 2.0))),
        Rule(Head((RED,))),  # written by hand: it decided nothing
    )
    choice = LengthChoice("micro_f1", (0.4, 0.6, 0.7), (0.1, 0.1, 0.1), chosen=3)
    whole = RuleList(rules, (), ("red", "green"), ((10.0, 20.0), (30.0, 40.0)), choice)
    # Red is predicted present, so that right ones are present; green is predicted absent.
    assert whole[:2].undecided == whole.undecided
    assert whole[:1].undecided == ((10.0 + 1.0, 20.0 + 2.0), (30.0 + 1.0, 40.0 + 2.0))
    assert whole[:0].undecided == ((10.0 + 2.0, 20.0 + 7.0), (30.0 + 5.0, 40.0 + 5.0))
    assert whole[1:2].undecided == whole.undecided, "not the first rules: nothing is known of what the others leave"
    assert whole[:].length_choice == choice
    assert whole[:2].length_choice is None
    assert RuleList(rules, (), ("red", "green"))[:1].undecided == ()


def test_a_rule_list_survives_pickling(rule_list):
    assert pickle.loads(pickle.dumps(rule_list)) == rule_list


def test_characteristics_count_what_the_paper_counts(rule_list):
    assert rule_list.characteristics() == {
        "rules": 3,
        "conditions": 3,
        "label_conditions": 1,
        "multi_label_heads": 2,
        "labels_per_multi_label_head": 2.5,
        "stop_rules": 2,
    }
    assert rule_list[:0].characteristics()["labels_per_multi_label_head"] == 0
    assert rule_list.head_sizes() == {1: 1, 2: 1, 3: 1}


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_a_frame_has_one_row_per_rule(rule_list, backend):
    pytest.importorskip(backend)
    frame = rule_list.to_frame(backend)
    assert {name: list(frame[name]) for name in frame.columns} == {
        "rule": [1, 2, 3],
        "head": ["red, white", "¬green", "red, ¬green, white"],
        "body": ["colours > 4.5 ∧ landmass = Europe", "red", ""],
        "labels": [2, 1, 3],
        "conditions": [2, 1, 0],
        "training_tp": [166, 5, 3],
        "training_fp": [38, 0, 3],
        "training_precision": [166 / 204, 1, 0.5],
        "training_coverage": [102, 0, 0],
        "value": [0.8, 0, 0],
        "stop": [False, True, True],
    }


def test_a_rule_list_is_saved_and_loaded(tmp_path: Path) -> None:
    rule_list, _ = random_rule_list(2)
    rule_list.save(tmp_path / "model.json")
    assert RuleList.load(tmp_path / "model.json") == rule_list


def test_a_list_is_made_of_text_and_an_attribute_may_be_a_name() -> None:
    attributes = (Attribute("stripes"), Attribute("sea", ("no", "yes")))
    text = "# flags\nred <- stripes > 2 and sea = yes [stop]\n\nwhite <- red"
    made = RuleList.from_text(text, ["stripes", attributes[1]], ["red", "white"])
    assert made == RuleList(parse_rules(text, attributes, ("red", "white")), attributes, ("red", "white"))
    assert made[0].stop
    with pytest.raises(RuleTextError, match="line 2"):
        RuleList.from_text("red <-\nblue <-", [], ["red"])


@pytest.mark.parametrize(
    ("attributes", "labels", "said"),
    [
        ("x", ["red"], r"attributes must be a list of names, got the text 'x'; write \['x'\]"),
        (["x"], "red", "labels must be a list of names"),
        (["x", "x"], ["red"], "two attributes are named 'x'"),
        (["x"], ["red", "red"], "two labels are named 'red'"),
    ],
)
def test_names_that_are_no_list_or_not_different_are_refused(attributes: Any, labels: Any, said: str) -> None:
    with pytest.raises(ModelError, match=said):
        RuleList.from_text("red <-", attributes, labels)
