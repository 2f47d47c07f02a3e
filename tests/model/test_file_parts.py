"""Parts of a model file that few models have: groups of labels, and how the length of the list was chosen."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import pytest

from helpers.rule_lists import make_rules
from plurule.errors import ModelError
from plurule.model import LengthChoice
from plurule.model import file as model_file
from plurule.model.naming import Meaning

RULES = make_rules("a <- x > 1", {"x": None}, ("a", "b", "größe"))


def test_groups_and_hierarchy_of_labels_come_back() -> None:
    rules = replace(RULES, groups=((0, 1),), hierarchy=((2, 0),))
    content = json.loads(model_file.dumps(rules))
    assert (content["groups"], content["hierarchy"]) == ([["a", "b"]], [["größe", "a"]])
    read = model_file.loads(json.dumps(content))
    assert (read.groups, read.hierarchy) == (rules.groups, rules.hierarchy)


@pytest.mark.parametrize(
    ("group", "message"),
    [
        (["a"], "Expected `array` of length >= 2 - at `$.groups[0]`"),
        (["a", "a"], "two labels of a group are called 'a', expected different names"),
        (["a", "grösse"], "there is no label 'grösse'; did you mean 'größe'?"),
    ],
)
def test_a_group_that_is_none_is_shown_as_it_is_written(group: list[str], message: str) -> None:
    content = json.loads(model_file.dumps(RULES)) | {"groups": [group]}
    with pytest.raises(ModelError) as refusal:
        model_file.loads(json.dumps(content))
    assert str(refusal.value).removeprefix("model: ").removeprefix("is damaged: ") == message


@pytest.mark.parametrize(
    "more", [{}, {"how": "best"}, {"constant": 0.0}, {"expected": (0.5, 0.125)}, {"how": "best", "constant": 0.25}]
)
def test_how_a_length_was_chosen_comes_back_and_what_is_not_known_is_not_said(more: dict[str, object]) -> None:
    choice = LengthChoice("micro_f1", (0.5, 0.75), (0.0, 0.25), 2, **more)
    text = model_file.dumps(replace(RULES, length_choice=choice))
    assert model_file.loads(text).length_choice == choice
    told = set(json.loads(text)["length_choice"])
    assert told == {"measure", "mean", "standard_error", "chosen", *more}


def test_what_rules_attributes_and_names_have_seldom_comes_back() -> None:
    (rule,) = RULES
    rules = replace(
        RULES,
        rules=(replace(rule, locked=True, stability=0.75),),
        attributes=(replace(RULES.attributes[0], only_0_and_1=True),),
        dictionary={"a": Meaning("the first")},
    )
    read = model_file.loads(model_file.dumps(rules))
    assert (read[0].locked, read[0].stability) == (True, 0.75)
    assert read.attributes[0].only_0_and_1
    assert read.dictionary == rules.dictionary


@pytest.mark.parametrize("version", [True, 1.5, None, "3"])
def test_a_version_that_is_none_is_refused(version: object) -> None:
    content = json.loads(model_file.dumps(RULES)) | {"version": version}
    with pytest.raises(ModelError, match="is damaged: its version is"):
        model_file.loads(json.dumps(content))


def test_load_refuses_labels_that_imply_each_other() -> None:
    content = json.loads(model_file.dumps(RULES)) | {"hierarchy": [["a", "b"], ["b", "a"]]}
    with pytest.raises(ModelError, match="hierarchy: labels imply each other"):
        model_file.loads(json.dumps(content))


@pytest.mark.parametrize("part", ["hierarchy", "groups"])
def test_load_of_thousands_of_related_labels_completes_heads(part: str) -> None:
    labels = [f"l{i}" for i in range(3000)]
    related = [list(pair) for pair in pairwise(labels)] if part == "hierarchy" else [labels]
    rule = {"head": [{"label": "l0", "present": True}], "body": []}
    content = json.loads(model_file.dumps(RULES)) | {"labels": labels, "rules": [rule], part: related}
    rules = model_file.loads(json.dumps(content))
    assert len(rules[0].head) == len(labels)
    assert rules.predict_proba([[1.0]]).shape == (1, len(labels))
