"""What experts tell the learner: rules to start with, and what learned rules must and must not use."""

from __future__ import annotations

import copy
import pickle

import pytest

from helpers.rule_lists import make_rules
from plurule.errors import ModelError
from plurule.learning.constraints import Constraints, as_initial_rules
from plurule.model import Attribute

ATTRIBUTES = [Attribute("area"), Attribute("population"), Attribute("zone", ("N", "S"))]
LABELS = ["red", "blue", "green"]
NAMES = {a.name: a.categories for a in ATTRIBUTES}


def violations(constraints: Constraints, text: str) -> list[str]:
    return [v.split(") ", 1)[1] for v in constraints.violations(make_rules(text, NAMES, tuple(LABELS)))]


def test_a_forbidden_attribute_may_not_be_tested() -> None:
    constraints = Constraints(forbidden_attributes=["zone"])
    assert violations(constraints, "red <- zone = N and area > 1\nblue <- area > 1") == [
        "tests zone, which is forbidden"
    ]
    assert constraints.resolve(ATTRIBUTES, LABELS).allowed_attributes.tolist() == [True, True, False]


def test_every_rule_tests_one_of_the_required_attributes() -> None:
    constraints = Constraints(required_attributes=["zone", "area"])
    said = "tests none of the attributes of which one is required"
    assert violations(constraints, "red <- zone = N\nblue <- population > 1\nblue <- red\nblue <-") == [said] * 3


def test_forbidden_pairs_meet_neither_in_a_head_nor_across_a_rule() -> None:
    constraints = Constraints(forbidden_label_pairs=[("red", "blue")])
    assert violations(constraints, "red, ¬blue <-\nblue <- red\ngreen <- red and blue\nred, green <-") == [
        "relates red and blue, which is forbidden",
        "relates red and blue, which is forbidden",
    ]


def test_required_pairs_are_predicted_together_and_chain() -> None:
    constraints = Constraints(required_label_pairs=[("red", "blue"), ("green", "blue")])
    assert violations(constraints, "red, ¬blue, green <-") == []
    assert violations(constraints, "red <-") == [
        "predicts red without blue, which is required",
        "predicts red without green, which is required",
    ]


def test_locked_rules_may_do_anything() -> None:
    constraints = Constraints(forbidden_attributes=["zone"])
    assert violations(constraints, "red <- zone = N [locked]") == []


def test_a_rule_is_allowed_if_there_is_nothing_against_it() -> None:
    resolved = Constraints(["zone"], ["area"], [("red", "blue")], [("blue", "green")]).resolve(ATTRIBUTES, LABELS)
    texts = {
        "blue, green <- area > 1": True,
        "blue <- area > 1": False,
        "red <- population > 1": False,
        "red <- area > 1 and blue": False,
        "red <- area > 1 and zone = N": False,
    }
    for text, allowed in texts.items():
        assert resolved.allows(make_rules(text, NAMES, tuple(LABELS))[0]) == allowed, text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"forbidden_attributes": ["aera"]}, "forbidden_attributes: there is no attribute 'aera'; did you mean 'area'"),
        ({"required_attributes": ["x"]}, "required_attributes: there is no attribute 'x'; known are 'area'"),
        ({"forbidden_label_pairs": [("red", "bleu")]}, "forbidden_label_pairs: there is no label 'bleu'; did you mean"),
        ({"forbidden_attributes": ["area"], "required_attributes": ["area"]}, "'area' is both required and forbidden"),
        (
            {"forbidden_label_pairs": [("red", "green")], "required_label_pairs": [("red", "blue"), ("blue", "green")]},
            "labels 'red' and 'green' must go together and must not",
        ),
    ],
)
def test_constraints_that_cannot_be_kept_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        Constraints(**arguments).resolve(ATTRIBUTES, LABELS)  # type: ignore[arg-type]


def test_texts_where_lists_are_expected_are_refused() -> None:
    with pytest.raises(ModelError, match=r"must be a list of names, got the text 'area'; write \['area'\]"):
        Constraints(forbidden_attributes="area")
    with pytest.raises(ModelError, match="must be a list of pairs of different labels, got 'ab'"):
        Constraints(forbidden_label_pairs=["ab"])


def test_constraints_are_values() -> None:
    constraints = Constraints(["zone"], forbidden_label_pairs=[["red", "blue"]])
    assert constraints == Constraints(("zone",), forbidden_label_pairs=(("red", "blue"),))
    assert pickle.loads(pickle.dumps(constraints)) == copy.deepcopy(constraints) == constraints
    assert hash(constraints) == hash(copy.copy(constraints))


def test_initial_rules_are_locked_and_matched_by_name() -> None:
    elsewhere = make_rules("blue <- area > 2 [stop]", {"zone": ("S", "N"), "area": None}, ("blue", "red"))
    for given in (elsewhere, list(elsewhere), ["blue <- area > 2 [stop]"], "blue <- area > 2 [stop]"):
        (rule,) = as_initial_rules(given, ATTRIBUTES, LABELS)
        assert (rule.head.assignments[0].index, rule.body[0].index) == (1, 0)
        assert rule.stop
        assert rule.locked


def test_an_initial_rule_that_cannot_be_read_is_named() -> None:
    with pytest.raises(ModelError, match="initial rule 2, character 1: there is no label 'violet'"):
        as_initial_rules(["red <-", "violet <-"], ATTRIBUTES, LABELS)
