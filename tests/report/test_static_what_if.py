"""The panel of a report in a real browser: instances that are entered, picked, changed and compared."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.browser import Open, assert_what_if_predicts, choose, css, fill, one, what_if
from helpers.rule_lists import learned, learned_classes, make_rules, random_rule_list
from plurule._prediction.apply import decide, probabilities
from plurule.classifier import RuleListClassifier
from plurule.data.dataset import Table
from plurule.data.inputs import encode
from plurule.model import RuleList


@pytest.mark.parametrize("name", ["emotions", "flags"])
def test_what_if_predicts_what_python_predicts_for_200_instances(
    open_report: Open, shared_data: Path, name: str
) -> None:
    rule_list, test = learned(shared_data, name, name == "flags")
    table = encode(test.X, rule_list.attributes)
    browser = open_report(rule_list, test, examples=200)
    assert len(css(browser, "#pick option")) == min(200, len(table)) + 1
    assert_what_if_predicts(browser, rule_list, table)


@pytest.mark.parametrize("seed", range(4))
def test_what_if_predicts_the_same_at_thresholds_and_for_missing_values(open_report: Open, seed: int) -> None:
    rule_list, table = random_rule_list(seed, n_rules=30)
    browser = open_report(rule_list, table)
    assert_what_if_predicts(browser, rule_list, table)


def test_what_if_predicts_exactly_one_class_of_each_column(open_report: Open) -> None:
    rule_list, table = learned_classes()
    browser = open_report(rule_list, table)
    assert_what_if_predicts(browser, rule_list, table)


def test_values_next_to_a_threshold_fall_on_the_right_side(open_report: Open) -> None:
    thresholds = [0.1, 1 / 3, 123456.789, 5e-324, 1e300, -2.5e-7, 9007199254740993.0]
    text = "\n".join(f"l{i} <- x{i} > {t!r}" for i, t in enumerate(thresholds))
    rule_list = make_rules(
        text, {f"x{i}": None for i in range(len(thresholds))}, tuple(f"l{i}" for i in range(len(thresholds)))
    )
    rows = [
        [math.nextafter(t, -math.inf) for t in thresholds],
        thresholds,
        [math.nextafter(t, math.inf) for t in thresholds],
    ]
    browser = open_report(rule_list, np.array(rows))
    assert [len(what_if(browser, str(row))) for row in range(3)] == [0, 0, len(thresholds)]


def test_an_instance_of_ones_own_is_entered(open_report: Open, small: Any) -> None:
    rule_list, table, truth = small
    browser = open_report(rule_list, table, truth)
    one(browser, "#clear").click()
    assert one(browser, "#predicted").text == "none"
    assert one(browser, "#ended").text == "No rule fires: every label is absent by default."
    by_name = {c.text: one(browser, f"#{c.get_attribute('for')}") for c in css(browser, ".field label")}
    by_name["stripes"].send_keys("2.5")
    by_name["continent"].send_keys("Asia")
    assert one(browser, "#predicted").text == "red white"
    by_name["area"].send_keys("6")
    assert one(browser, "#predicted").text == "red white blue"
    assert [item.text.split("\n")[0] for item in css(browser, "#fired li")] == ["Rule 1 red white", "Rule 3 blue"]
    assert "stripes > 2 (it is 2.5)" in one(browser, "#fired").text
    by_name["stripes"].send_keys("x")
    assert by_name["stripes"].get_attribute("aria-invalid") == "true"
    assert one(browser, "#predicted").text == "none"
    by_name["continent"].send_keys("Africa")
    assert "Rule 4 is a stop rule and ends the instance." in one(browser, "#ended").text
    one(browser, "#fired button").click()
    browser.execute_async_script("setTimeout(arguments[0], 50)")
    assert css(browser, "#rule-4-detail")


def field(browser: Any, name: str) -> Any:
    label = next(label for label in css(browser, ".field label") if label.text == name)
    return one(browser, f"#{label.get_attribute('for')}")


def test_probabilities_are_those_of_python(open_report: Open, small: Any) -> None:
    for rule_list, table in (small[:2], random_rule_list(3, n_rules=20), learned_classes()):
        browser = open_report(rule_list, table)
        found = browser.execute_script(
            "return plurule.model.instances.map((_, i) => plurule.model.labels.map("
            "(_, label) => plurule.probability(plurule.outcomeOf(i), label)))"
        )
        expected = probabilities(rule_list, decide(rule_list, table))
        for group in map(list, rule_list.groups):
            expected[:, group] /= expected[:, group].sum(axis=1, keepdims=True)
        np.testing.assert_allclose(np.array(found, float), expected, rtol=1e-15)


def test_what_is_near_is_the_fewest_conditions_that_change_a_prediction(open_report: Open) -> None:
    text = "red <- stars > 4 and area <= 3\nblue <- stars <= 4\ngreen <- stars > 8 and area > 5 and red"
    rule_list = make_rules(text, {"stars": None, "area": None}, ("red", "blue", "green"))
    browser = open_report(rule_list, [[6.0, 4.0], [0.0, 9.0]])
    assert [item.text for item in css(browser, "#near li")] == [
        "adds red if area ≤ 3 (it is 4) – Rule 1 Try it",
        "adds blue if stars ≤ 4 (it is 6) – Rule 2 Try it",
    ]
    css(browser, "#near button.small")[1].click()
    assert one(browser, "#predicted").text == "blue"
    assert field(browser, "stars").get_attribute("value") == "4"
    assert browser.switch_to.active_element.get_attribute("id") == "reset"
    assert one(browser, "#pick").get_attribute("value") == ""
    one(browser, "#reset").click()
    assert field(browser, "stars").get_attribute("value") == "6"
    assert one(browser, "#predicted").text == "none"


def near(browser: Any, place: int) -> list[dict[str, Any]]:
    return list(browser.execute_script(f"return plurule.near(plurule.model.instances[{place}].values, 10)"))


def changed(rule_list: RuleList, table: Table, row: int, values: list[Any]) -> Table:
    """The row with other values of the attributes that rules test, in a table of its own."""
    columns = [np.array(table.column(i)[row : row + 1]) for i in range(len(table.columns))]
    for index, value in zip(rule_list.tested_attributes(), values, strict=True):
        columns[index][0] = value if value is not None else -1 if rule_list.attributes[index].is_nominal else np.nan
    return Table(rule_list.attributes, columns)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_said_to_change_a_prediction_does_so(open_report: Open, seed: int) -> None:
    rule_list, table = random_rule_list(seed, n_rules=40)
    rule_list = replace(rule_list, rules=tuple(rule for rule in rule_list if len(rule.body) > 1))
    browser = open_report(rule_list, table, examples=len(table))
    predicted = decide(rule_list, table).labels()
    said = 0
    for row in range(0, len(table), 4):
        for item in near(browser, row):
            after = decide(rule_list, changed(rule_list, table, row, item["changed"]))
            expected = {
                (int(i), int(after.labels()[0, i])) for i in np.flatnonzero(after.labels()[0] != predicted[row])
            }
            assert {(label, present) for label, present in item["changes"]} == expected
            assert any(after.decided_by[0, label] == item["place"] for label, _ in item["changes"])
            said += 1
    assert said > 5


def test_a_rule_that_lacks_one_condition_is_found(open_report: Open) -> None:
    # The first rule decides red before; nothing can make the second one say otherwise.
    rule_list = make_rules(
        "red <- x > 0\n¬red <- y > 0\nblue <- z = b", {"x": None, "y": None, "z": ("a", "b")}, ("red", "blue")
    )
    table = Table(rule_list.attributes, [np.array([1.0]), np.array([0.0]), np.array([0], np.int32)])
    browser = open_report(rule_list, table)
    assert [(item["place"], item["changes"]) for item in near(browser, 0)] == [(2, [[1, 1]])]


def test_a_slider_goes_over_the_values_of_the_data(open_report: Open) -> None:
    from selenium.webdriver.common.keys import Keys

    rule_list = make_rules("red <- stars > 4\nblue <- share > 0.5", {"stars": None, "share": None}, ("red", "blue"))
    browser = open_report(rule_list, [[0.0, 0.25], [7.0, 0.75]])
    slider = one(browser, "input[type=range][aria-label='stars, slider']")
    assert [slider.get_attribute(name) for name in ("min", "max", "step", "value")] == ["0", "7", "1", "0"]
    slider.send_keys(*[Keys.ARROW_RIGHT] * 5)
    assert field(browser, "stars").get_attribute("value") == "5"
    assert one(browser, "#predicted").text == "red"
    share = one(browser, "input[type=range][aria-label='share, slider']")
    share.send_keys(Keys.END)
    assert field(browser, "share").get_attribute("value") == "0.75"
    fill(browser, "#" + field(browser, "stars").get_attribute("id"), "3")
    assert slider.get_attribute("value") == "3"
    one(browser, "#clear").click()
    assert "unset" in slider.get_attribute("class")
    assert field(browser, "stars").get_attribute("value") == ""


def test_an_attribute_of_0_and_1_is_chosen_as_no_or_yes(open_report: Open) -> None:
    X = [[0.0], [1.0]] * 10
    rules = RuleListClassifier().fit(X, [[0], [1]] * 10, label_names=["red"]).rule_list_
    browser = open_report(rules, X)
    assert [option.text for option in css(browser, ".field option")] == ["(missing)", "no", "yes"]
    assert (what_if(browser, "0"), what_if(browser, "1")) == (set(), {"red"})
    assert_what_if_predicts(browser, rules, encode(X))


def test_two_instances_are_compared(open_report: Open, small: Any) -> None:
    rule_list, _, _ = small
    columns = [np.array([3.0, 0.0]), np.array([1, 1], np.int32), np.array([6.0, 6.0])]
    browser = open_report(rule_list, Table(rule_list.attributes, columns), ids=["Bhutan", "Chad"])
    assert not one(browser, "#differing").is_displayed()
    choose(browser, "#compare", "1")
    assert [cell.text for cell in css(browser, "#differing-table th, #differing-table td")] == [
        *("Attribute", "Bhutan", "Chad"),
        *("stripes", "3", "0"),
    ]
    assert [cell.text for cell in css(browser, "#likely thead th")] == [
        "Label",
        "Bhutan",
        "decided by",
        "Chad",
        "decided by",
    ]
    by_label = {row.text.split()[0]: row.text.split(maxsplit=1)[1] for row in css(browser, "#likely tbody tr")}
    assert by_label["red"].endswith("Rule 2")
    fill(browser, "#" + field(browser, "stripes").get_attribute("id"), "0")
    assert one(browser, "#differing-table tbody").text == "in no attribute that the rules test"
    assert one(browser, "#pick option").text == "Bhutan, changed"


@pytest.mark.parametrize("width", [380, 1280])
def test_long_names_of_instances_stay_in_their_place(open_report: Open, small: Any, width: int) -> None:
    rule_list, table, truth = small
    browser = open_report(rule_list, table, truth, ids=[f"dish {i} " + "with sauce and rice " * 8 for i in range(40)])
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 1000}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        right = "return document.querySelector(arguments[0]).getBoundingClientRect().right"
        edge = browser.execute_script(right, "#instance-form fieldset")
        for control in ("#pick", "#compare", "#next"):
            assert browser.execute_script(right, control) <= edge + 1
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
