"""Edit scripts: what they do, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from plurule import RuleList
from plurule.errors import ModelError
from plurule.inspection.edit import apply_script, rules_digest
from plurule.model.text import RuleTextError, write

RULES = RuleList.from_text("red <- x > 2\nblue <- red\nred <- x > 1 [locked]", ["x"], ["red", "blue"])


def run(*edits: Any, rules: str = rules_digest(RULES)) -> list[str]:
    edited = apply_script(RULES.edit(), json.dumps({"rules": rules, "edits": edits}), "edits.json")
    return [write(rule) for rule in edited.rule_list]


def test_script_applies_each_kind_of_edit_in_order() -> None:
    assert run(
        {"do": "unlock", "numbers": [3]},
        {"do": "remove", "numbers": [3]},
        {"do": "move", "number": 2, "to": 1},
        {"do": "replace", "number": 2, "rule": "red <- x > 5"},
        {"do": "add", "rule": "¬blue <- [stop]", "at": 3},
        {"do": "lock", "numbers": [1, 2]},
    ) == ["blue ← red [locked]", "red ← x > 5 [locked]", "¬blue ← [stop]"]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ({"do": "erase", "numbers": [1]}, "edit 1: there is no edit 'erase'"),
        ({"do": ["remove"]}, "edit 1: there is no edit"),
        ("remove", "edit 1: there is no edit None"),
        ({"do": "remove", "numbers": ["1"]}, "edit 1: expected a list of numbers as 'numbers'"),
        ({"do": "remove", "numbers": 1}, "edit 1: expected a list of numbers as 'numbers', found 1"),
        ({"do": "move", "number": 1}, "edit 1: expected a number as 'to', found None"),
        ({"do": "move", "number": True, "to": 1}, "edit 1: expected a number as 'number', found True"),
        ({"do": "lock", "numbers": [1], "why": ""}, "edit 1: lock takes numbers only"),
        ({"do": "remove", "numbers": [9]}, "edit 1: there is no rule 9"),
        ({"do": "remove", "numbers": [3]}, "edit 1: cannot remove rule 3, it is locked"),
    ],
)
def test_script_refuses_what_is_no_edit(edit: Any, message: str) -> None:
    with pytest.raises(ModelError, match=r"edits\.json") as error:
        run(edit)
    assert message in str(error.value)


def test_script_refuses_text_that_is_no_rule() -> None:
    with pytest.raises(RuleTextError, match=r"edits\.json, edit 1, .*expected a number"):
        run({"do": "add", "rule": "red <- x > y", "at": 1})


def test_script_for_other_rules_is_refused() -> None:
    with pytest.raises(ModelError, match="was made for other rules"):
        run(rules="0" * 16)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"edits": 1}', "not json", b"\xff\xfe", b"\x80 no text"])
def test_script_of_another_form_is_refused(text: str | bytes) -> None:
    with pytest.raises(ModelError, match=r"edits.json: (is no JSON|expected an object)"):
        apply_script(RULES.edit(), text, "edits.json")


def test_script_may_begin_with_the_mark_of_utf_8() -> None:
    script = json.dumps({"rules": rules_digest(RULES), "edits": [{"do": "remove", "numbers": [1]}]})
    assert len(apply_script(RULES.edit(), script.encode("utf-8-sig")).rule_list) == 2
