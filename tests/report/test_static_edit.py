"""The rules of a report under edit, in a real browser: buttons, keyboard, scores, and the edit script."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.browser import Open, css, eventually, fill, one, press
from helpers.rule_lists import HOSTILE_NAMES, learned_classes, random_rule_list
from plurule._prediction.apply import decide
from plurule.data.dataset import Table
from plurule.inspection.edit import apply_script
from plurule.metrics import METRICS
from plurule.model import Attribute, RuleList
from plurule.model.text import write

SAVED = "return new Promise((done) => {plurule.saveFile = (name, texts) => done([name, texts.join('')]);"
SAVED += "document.getElementById('save-edits').click()})"


@pytest.fixture
def editing(open_report: Open, small: Any) -> Any:
    """A report whose editor is open."""
    browser = open_report(*small)
    open_editor(browser)
    return browser


def open_editor(browser: Any) -> None:
    """Open the editor and wait for its rules, which are drawn when it has been opened."""
    one(browser, "#edit-details summary").click()
    assert eventually(browser, lambda: css(browser, "#edit-list li"))


def script(browser: Any) -> str:
    name, text = browser.execute_script(SAVED)
    assert name == "edits.json"
    return str(text)


def button(browser: Any, action: str, number: int) -> Any:
    return one(browser, f"#edit-list li:nth-child({number}) [data-action={action}]")


def scores(browser: Any, column: int) -> list[str]:
    return [cell.text for cell in css(browser, f"#edit-scores tbody td:nth-child({column})")]


def test_edits_are_scored_at_once_and_applied_by_their_script(editing: Any, small: Any) -> None:
    rule_list, table, truth = small
    button(editing, "delete", 2).click()
    button(editing, "down", 1).click()
    button(editing, "lock", 3).click()
    threshold = one(editing, "#edit-list li:nth-child(2) .threshold")
    threshold.clear()
    threshold.send_keys("3.5\n")
    fill(editing, "#add-text", "white, ¬blue <- 1 <= stripes < 3 and not blue and continent in {Africa, Asia} [stop]")
    fill(editing, "#add-at", "2")
    press(editing, "\ue007")
    assert one(editing, "#edit-problem").text == ""
    edited = apply_script(rule_list.edit(table, truth), script(editing)).rule_list
    assert [write(rule) for rule in edited] == [
        "blue ← red ∧ area > 5",
        "white, ¬blue ← 1 <= stripes < 3 ∧ ¬blue ∧ continent in {Africa, Asia} [stop]",
        "red, white ← stripes > 3.5 ∧ continent = Asia",
        "red, ¬white, ¬blue ← continent = Africa [stop, locked]",
        "white ← area <= 3",
    ]
    for column, rules in ((2, rule_list), (3, edited)):
        predicted = decide(rules, table).labels()
        names = ("hamming_accuracy", "micro_f1", "subset_accuracy")
        assert scores(editing, column) == [f"{100 * METRICS[name](truth, predicted):.1f} %" for name in names]
    others = (decide(edited, table).labels() != decide(rule_list, table).labels()).any(axis=1).sum()
    assert one(editing, "#edit-status").text == f"5 edits. Other labels for {others} of the 40 instances in this page."


def test_edits_are_made_and_undone_with_the_keyboard_alone(editing: Any) -> None:
    one(editing, "#add-text").send_keys("red <- white\n")
    assert len(css(editing, "#edit-list li")) == 6
    press(editing, "\ue004", "\ue004", "\ue004", "\ue004")  # number, Add, then the first rule: its threshold, down
    assert editing.switch_to.active_element.get_attribute("data-action") == "down"
    press(editing, " ")
    assert editing.switch_to.active_element.get_attribute("aria-label") == "Move rule 2 down"
    press(editing, "\ue004", " ", "\ue004")
    assert one(editing, "#edit-list li:nth-child(2) .mark").text == "locked"
    one(editing, "#undo").send_keys(" ", " ", " ")
    assert one(editing, "#edit-status").text == "No edits yet."
    assert editing.switch_to.active_element.get_attribute("id") == "add-text"


def test_a_locked_rule_can_only_be_unlocked(editing: Any) -> None:
    button(editing, "lock", 1).click()
    item = one(editing, "#edit-list li:nth-child(1)")
    assert [control.text for control in item.find_elements("css selector", "button:enabled")] == ["Unlock"]
    assert not item.find_elements("css selector", "input:enabled")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("red <- stripes > two", "expected a number, found “two”"),
        ("green <- stripes > 2", "expected a label, found “green"),
        ("red", "expected ',' and a label, or '<-', found the end of the text"),
        ("red <- continent = Europe", "expected a category of continent, found “Europe”"),
        ("red, red <-", "expected each label once"),
        ("red <- unknown > 1", "expected a label or an attribute that rules of this page test"),
        ("red <- 5 < area <= 3", "expected an interval that holds a number"),
    ],
)
def test_what_is_no_rule_is_explained_and_changes_nothing(editing: Any, text: str, problem: str) -> None:
    one(editing, "#add-text").send_keys(f"{text}\n")
    assert problem in one(editing, "#edit-problem").text
    assert one(editing, "#edit-status").text == "No edits yet."
    assert one(editing, "#add-text").get_attribute("aria-invalid") == "true"


def test_a_number_that_is_none_changes_nothing(editing: Any) -> None:
    threshold = one(editing, "#edit-list .threshold")
    threshold.clear()
    threshold.send_keys("\ue004")
    assert "gives no range" in one(editing, "#edit-problem").text
    assert one(editing, "#edit-status").text == "No edits yet."


PARSE = """
return arguments[0].map((text) => {
  const rules = [...plurule.model.rules.slice(0, 5), plurule.parseRule(text)];
  return plurule.model.instances.map(({ values }) => plurule.decide(values, rules).predicted);
});
"""


@pytest.mark.parametrize("seed", range(8))
def test_text_of_a_rule_means_the_same_in_the_page(open_report: Open, seed: int) -> None:
    rule_list, table = random_rule_list(seed, HOSTILE_NAMES if seed % 2 else None)
    assert_means_the_same(open_report(rule_list, table), rule_list, table)


def test_text_of_a_rule_implies_the_same_labels_in_the_page(open_report: Open) -> None:
    rule_list, table = learned_classes()
    assert rule_list.groups
    assert rule_list.hierarchy
    assert_means_the_same(open_report(rule_list, table), rule_list, table)


def assert_means_the_same(browser: Any, rule_list: RuleList, table: Table) -> None:
    found = browser.execute_script(PARSE, [write(rule) for rule in rule_list])
    for rule, predicted in zip(rule_list, found, strict=True):
        shorter = replace(rule_list, rules=(*rule_list.rules[:5], rule))
        np.testing.assert_array_equal(np.array(predicted), decide(shorter, table).predicted)


def test_text_with_names_like_numbers_and_signs_means_the_same_in_the_page(open_report: Open) -> None:
    rules = '"no" <- 12 <= 2\nred <- 1 < "1-2" <= 2\n"no", red <- no "sun" and 0.5 < "12" <= 3'
    columns = (Attribute("12"), Attribute("1-2"), Attribute("sun", only_0_and_1=True))
    rule_list = RuleList.from_text(rules, columns, ["no", "red"])
    values = [np.repeat([1.0, 2.0, 3.0], 6), np.tile([1.0, 2.0, 3.0], 6), np.tile([0.0, 1.0], 9)]
    table = Table(columns, values)
    assert_means_the_same(open_report(rule_list, table), rule_list, table)


@pytest.mark.parametrize("seed", range(2))
def test_numbers_of_rules_with_odd_names_are_edited(open_report: Open, seed: int) -> None:
    rule_list, table = random_rule_list(seed, HOSTILE_NAMES)
    browser = open_report(rule_list, table)
    open_editor(browser)
    count = browser.execute_script(
        "let n = document.querySelectorAll('#edit-list .threshold').length; for (let i = 0; i < n; i++) {"
        "const input = document.querySelectorAll('#edit-list .threshold')[i];"
        "input.dispatchEvent(new Event('change')); } return n"
    )
    edits = script(browser)
    assert count == len(json.loads(edits)["edits"]) > 0
    assert apply_script(rule_list.edit(), edits).diff().same_rules


def test_a_page_without_instances_is_edited_without_scores(open_report: Open, small: Any, tmp_path: Path) -> None:
    browser = open_report(small[0])
    open_editor(browser)
    button(browser, "delete", 1).click()
    assert "holds no instances" in one(browser, "#edit-status").text
    assert not one(browser, "#edit-scores").is_displayed()
