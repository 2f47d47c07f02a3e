"""What experts tell the learner: rules to start with, and what learned rules must and must not use."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import numpy as np
import pytest

from helpers.rule_lists import make_rules
from plurule._learning.initial_rules import as_initial_rules
from plurule.constraints import Constraints
from plurule.errors import DataError, ModelError
from plurule.model import Attribute, RangeCondition

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


def test_forbidden_pairs_meet_neither_in_a_head_nor_across_a_rule() -> None:
    constraints = Constraints(forbidden_label_pairs=[("red", "blue")])
    assert violations(constraints, "red, ¬blue <-\nblue <- red\ngreen <- red and blue\nred, green <-") == [
        "relates red and blue, which is forbidden",
        "relates red and blue, which is forbidden",
    ]


def test_an_attribute_with_a_direction_is_tested_on_one_side_only() -> None:
    constraints = Constraints(increasing=["area"], decreasing=[("population", "blue")])
    kept = "red <- area > 1 and zone = N\n¬red <- area <= 1\nblue <- population <= 2\nred <- population > 2"
    assert violations(constraints, f"{kept}\nred <- area is missing\n¬blue <- population > 3") == []
    broken = "red, blue <- area <= 1\n¬red <- 1 < area <= 2\nblue <- population > 3\nred, ¬blue <- area > 2"
    assert violations(constraints, broken) == [
        "tests area <= 1 to predict red, but area is increasing for it",
        "tests area <= 1 to predict blue, but area is increasing for it",
        "tests 1 < area <= 2 to predict ¬red, but area is increasing for it",
        "tests population > 3 to predict blue, but population is decreasing for it",
        "tests area > 2 to predict ¬blue, but area is increasing for it",
    ]


def test_yes_is_more_than_no() -> None:
    attributes, labels = {"smoker": ("Yes", "No")}, ("ill",)
    text = "ill <- smoker = Yes\nill <- smoker = No\n¬ill <- smoker ≠ Yes\nill <- smoker ≠ Yes\nill <- smoker in {Yes}"
    found = Constraints(increasing=["smoker"]).violations(make_rules(text, attributes, labels))
    assert [said.split()[1] for said in found] == ["2", "4"]


def test_what_a_label_implies_must_keep_to_directions_too() -> None:
    hierarchy, exclusive = {"red": "green"}, [("red", "blue")]
    constraints = Constraints(increasing=[("area", "green")], hierarchy=hierarchy)
    assert violations(constraints, "red <- area > 1\n¬red <- area > 1\nred <- area <= 1\nblue <- area <= 1") == [
        "tests area <= 1 to predict red, but area is directed for a label that it implies"
    ]
    constraints = Constraints(increasing=[("area", "blue")], exclusive_labels=exclusive)
    assert violations(constraints, "red <- area <= 1\nred <- area > 1") == [
        "tests area > 1 to predict red, but area is directed for a label that it implies"
    ]


def test_an_initial_rule_against_a_direction_is_named() -> None:
    resolved = Constraints(increasing=["area"]).resolve(ATTRIBUTES, LABELS)
    given = as_initial_rules("red <- area > 1\nred <- area <= 1 and zone = N", ATTRIBUTES, LABELS)
    with pytest.raises(ModelError, match=r"initial rule 2 \(red ← area <= 1 ∧ zone = N\) tests area <= 1 .*; change"):
        resolved.expect_directed(given)


def test_labels_imply_all_that_is_above_them() -> None:
    resolved = Constraints(hierarchy={"red": "blue", "blue": ["green"]}).resolve(ATTRIBUTES, LABELS)
    assert resolved.hierarchy == ((0, 1), (1, 2))
    resolved.expect_kept_by(np.array([[1, 1, 1], [0, 0, 1]]), LABELS)
    with pytest.raises(
        DataError, match=r"row 1 has the label 'red' without 'blue', which it implies \(2 such rows\): add"
    ):
        resolved.expect_kept_by(np.array([[1, 1, 1], [1, 0, 1], [1, 0, 0]]), LABELS)


def test_locked_rules_may_do_anything() -> None:
    constraints = Constraints(forbidden_attributes=["zone"])
    assert violations(constraints, "red <- zone = N [locked]") == []


def test_a_rule_is_allowed_if_there_is_nothing_against_it() -> None:
    resolved = Constraints(["zone"], [("red", "blue")]).resolve(ATTRIBUTES, LABELS)
    texts = {
        "blue, green <- area > 1": True,
        "blue <- population > 1": True,
        "red <- area > 1 and blue": False,
        "red <- area > 1 and zone = N": False,
    }
    for text, allowed in texts.items():
        assert (not [*resolved.objections(make_rules(text, NAMES, tuple(LABELS))[0], LABELS)]) == allowed, text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"forbidden_attributes": ["aera"]}, "forbidden_attributes: there is no attribute 'aera'; did you mean 'area'"),
        ({"forbidden_label_pairs": [("red", "bleu")]}, "forbidden_label_pairs: there is no label 'bleu'; did you mean"),
        ({"increasing": ["zone"]}, "increasing: attribute 'zone' is nominal, and its categories have no order; give a"),
        ({"increasing": ["aera"]}, "increasing: there is no attribute 'aera'; did you mean 'area'"),
        ({"decreasing": [("area", "violet")]}, "decreasing: there is no label 'violet'"),
        (
            {"increasing": ["area"], "decreasing": [("area", "blue")]},
            "attribute 'area' is both increasing and decreasing for label 'blue'; leave out one",
        ),
        ({"hierarchy": {"red": "violet"}}, "hierarchy: there is no label 'violet'"),
        (
            {"hierarchy": {"red": "blue", "blue": "green", "green": "red"}},
            "hierarchy: 'red' implies itself .see 'red', 'blue', 'green'.; leave out one of the pairs",
        ),
        (
            {"hierarchy": {"red": "blue"}, "forbidden_label_pairs": [("red", "blue")]},
            "hierarchy: 'red' implies 'blue', but they must not go together",
        ),
        (
            {"hierarchy": {"red": ["blue", "green"]}, "exclusive_labels": [("blue", "green")]},
            "hierarchy: where 'red' is present, labels are implied of which only one can be present",
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
    with pytest.raises(ModelError, match=r"increasing must be a list of attributes, or pairs .* got the text 'area'"):
        Constraints(increasing="area")
    with pytest.raises(ModelError, match="hierarchy must map labels to those above them, such as"):
        Constraints(hierarchy="red")  # type: ignore[arg-type]


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


@pytest.mark.parametrize(
    "odd",
    [
        {"forbidden_label_pairs": [("red", "red")]},
        {"forbidden_attributes": [("area", "zone")]},
        {"exclusive_labels": [("red",)]},
        {"exclusive_labels": ["red", "blue"]},
        {"increasing": [("area", "red", "blue")]},
        {"hierarchy": [("red", "blue", "green")]},
    ],
)
def test_items_with_too_few_or_too_many_names_are_refused(odd: dict[str, list[object]]) -> None:
    ((parameter, given),) = odd.items()
    with pytest.raises(ModelError, match=f"{parameter} must .*, got {re.escape(repr(given[0]))}"):
        Constraints(**odd)  # type: ignore[arg-type]


def test_an_attribute_may_be_directed_for_a_label_of_the_same_name() -> None:
    assert Constraints(increasing=[("area", "area")]).increasing == (("area", "area"),)


@pytest.mark.parametrize("wrong", ["jazz", ["jazz"], [("jazz", "music", "art")], [("jazz",)]])
def test_a_hierarchy_that_is_no_pairs_is_refused(wrong: Any) -> None:
    with pytest.raises(ModelError, match="hierarchy must map labels to those above them"):
        Constraints(hierarchy=wrong)


def test_of_a_hierarchy_that_runs_in_a_circle_only_the_circle_is_named() -> None:
    asked = Constraints(hierarchy=[("c", "a"), ("a", "b"), ("b", "a")])
    with pytest.raises(ModelError, match=r"implies itself \(see 'a', 'b'\)"):
        asked.resolve((), ("a", "b", "c"))


def test_a_direction_bars_one_side_of_presence_and_the_other_of_absence() -> None:
    resolved = Constraints(increasing=["x"], decreasing=["y"]).resolve((Attribute("x"), Attribute("y")), ("a",))
    tests = [RangeCondition(name, i, **{bound: 0.5}) for i, name in enumerate("xy") for bound in ("at_most", "above")]
    absent, present = resolved.forbidden_heads(tests)[:, 0].T.tolist()
    assert absent == [False, True, True, False]
    assert present == [True, False, False, True]


def test_a_pair_with_an_unknown_label_is_refused_by_the_name_of_the_parameter() -> None:
    with pytest.raises(ModelError, match="forbidden_label_pairs: there is no label 'rad'; did you mean 'red'"):
        Constraints(forbidden_label_pairs=[("rad", "blue")]).resolve(ATTRIBUTES, LABELS)


def test_labels_may_be_named_by_numbers_as_columns_of_frames_are() -> None:
    names = (), ("0", "1")
    for hierarchy in ([(0, 1)], {0: [1]}, {0: 1}):
        assert Constraints(hierarchy=hierarchy).resolve(*names).hierarchy == ((0, 1),)  # type: ignore[arg-type]
    assert Constraints(forbidden_label_pairs=[(0, 1)]).resolve(*names) is not None  # type: ignore[list-item]


@pytest.mark.parametrize(
    "odd",
    [
        {"hierarchy": [("red", None)]},
        {"hierarchy": [(["red"], "blue")]},
        {"forbidden_label_pairs": {"red": None}},
        {"forbidden_label_pairs": [[["red"], "blue"]]},
        {"exclusive_labels": {"red": 1}},
        {"increasing": [("area",)]},
        {"increasing": [b"area"]},
        {"forbidden_attributes": [None]},
    ],
)
def test_odd_names_are_refused_in_a_sentence(odd: dict[str, Any]) -> None:
    ((parameter, _),) = odd.items()
    with pytest.raises(ModelError, match=parameter):
        Constraints(**odd).resolve(ATTRIBUTES, LABELS)


def test_attributes_may_be_the_keys_of_a_dictionary() -> None:
    assert Constraints(forbidden_attributes=dict.fromkeys(["area"])).forbidden_attributes == ("area",)


def test_with_hierarchy_without_pairs_computes_nothing_about_groups() -> None:
    labels = [f"class {i}" for i in range(400)]
    grouped = Constraints(exclusive_labels=[labels]).resolve([Attribute("x")], labels)
    assert grouped.with_hierarchy((), labels).must_differ is grouped.must_differ
