"""The report in a real browser: sort, filter, open a rule, try instances; with the keyboard as well."""

from __future__ import annotations

import csv
import io
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.rule_lists import HOSTILE_NAMES, learned, make_rules, random_rule_list
from plurule.data.encoding import encode
from plurule.data.table import Table
from plurule.model import Rule, RuleList
from plurule.model.naming import visible
from plurule.prediction.decide import decide
from plurule.report import to_html

Open = Callable[..., Any]


@pytest.fixture
def open_report(browser: Any, tmp_path: Path) -> Open:
    """Write a report, open it, and check that the browser has nothing to complain about."""

    def write_and_open(rule_list: RuleList, *data: Any, **options: Any) -> Any:
        path = tmp_path / "report.html"
        path.write_text(to_html(rule_list, *data, **options), encoding="utf-8")
        browser.get_log("browser")
        browser.get(path.as_uri())
        assert browser.get_log("browser") == []
        return browser

    return write_and_open


def css(browser: Any, selector: str) -> list[Any]:
    return list(browser.find_elements("css selector", selector))


def one(browser: Any, selector: str) -> Any:
    return browser.find_element("css selector", selector)


def shown_rules(browser: Any) -> list[int]:
    """Numbers of the rules that the table shows, in its order."""
    return [int(n) for n in browser.execute_script(
        "return [...document.querySelectorAll('#rule-table tr[data-rule]')].filter((r) => r.offsetParent !== null)"
        ".map((r) => Number(r.dataset.rule) + 1)"
    )]  # fmt: skip


def fill(browser: Any, selector: str, text: str) -> None:
    element = one(browser, selector)
    element.clear()
    element.send_keys(text)


def choose(browser: Any, selector: str, value: str) -> None:
    from selenium.webdriver.support.select import Select

    Select(one(browser, selector)).select_by_value(value)


def press(browser: Any, *keys: str) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(browser).send_keys(*keys).perform()


RULES = """
red, white <- stripes > 2 and continent = Asia
¬red <- stripes <= 1
blue <- red and area > 5
¬blue, ¬white, red <- continent = Africa [stop]
white <- area <= 3
"""
NAMES: dict[str, tuple[str, ...] | None] = {"stripes": None, "continent": ("Africa", "Asia"), "area": None}
LABELS = ("red", "white", "blue")


@pytest.fixture
def small() -> tuple[RuleList, Table, Any]:
    rule_list = make_rules(RULES.strip(), NAMES, LABELS)
    random = np.random.default_rng(0)
    table = Table(
        rule_list.attributes,
        [random.integers(0, 5, 40).astype(float), random.integers(-1, 2, 40).astype(np.int32), random.normal(4, 3, 40)],
    )
    truth = (random.random((40, 3)) < 0.4).astype(int)
    return rule_list.edit(table, truth).rule_list, table, truth


def trained_precision(rule: Rule) -> float:
    right, wrong = np.sum(rule.decided, axis=0)
    return float(right / (right + wrong)) if right + wrong else -1.0


def test_rules_are_sorted_by_each_column(open_report: Open, small: Any) -> None:
    rule_list, table, truth = small
    browser = open_report(rule_list, table, truth)
    assert shown_rules(browser) == [1, 2, 3, 4, 5]
    keys = {
        "size": lambda rule: len(rule.head),
        "conditions": lambda rule: len(rule.body),
        "coverage": lambda rule: rule.coverage,
        "precision": trained_precision,
    }
    for name, key in keys.items():
        for direction, sign in (("descending", -1), ("ascending", 1)):
            one(browser, f"th[data-sort={name}] button").click()
            expected = sorted(range(1, 6), key=lambda number: (sign * key(rule_list[number - 1]), number))
            assert shown_rules(browser) == expected, (name, direction)
            assert one(browser, f"th[data-sort={name}]").get_attribute("aria-sort") == direction
    one(browser, "th[data-sort=number] button").click()
    assert shown_rules(browser) == [1, 2, 3, 4, 5]


def test_rules_are_filtered_by_text_label_attribute_size_and_coverage(open_report: Open, small: Any) -> None:
    rule_list, table, truth = small
    browser = open_report(rule_list, table, truth)
    status = one(browser, "#shown")
    assert status.text == "All 5 rules"
    fill(browser, "#filter-text", "africa")
    assert shown_rules(browser) == [4]
    assert status.text == "1 of 5 rules"
    fill(browser, "#filter-text", "white asia")
    assert shown_rules(browser) == [1]
    one(browser, "#filters button[type=reset]").click()
    browser.execute_async_script("setTimeout(arguments[0], 50)")
    assert shown_rules(browser) == [1, 2, 3, 4, 5]
    choose(browser, "#filter-label", "2")
    assert shown_rules(browser) == [3, 4]
    choose(browser, "#filter-size", "1")
    assert shown_rules(browser) == [3]
    one(browser, "#filters button[type=reset]").click()
    browser.execute_async_script("setTimeout(arguments[0], 50)")
    area = next(o for o in css(browser, "#filter-attribute option") if o.text == "area")
    choose(browser, "#filter-attribute", area.get_attribute("value"))
    assert shown_rules(browser) == [3, 5]
    choose(browser, "#filter-attribute", "")
    least = sorted(rule.coverage for rule in rule_list)[2]
    fill(browser, "#filter-coverage", str(least))
    assert shown_rules(browser) == [n for n, rule in enumerate(rule_list, start=1) if rule.coverage >= least]


def test_a_rule_is_opened_by_a_click(open_report: Open, small: Any) -> None:
    rule_list, table, truth = small
    browser = open_report(rule_list, table, truth)
    one(browser, "tr[data-rule='0'] td.body").click()
    detail = one(browser, "#rule-1-detail")
    assert "stripes > 2" in detail.text
    assert "continent = Asia" in detail.text
    assert "40 instances come as far as this rule." in detail.text
    covered = int(decide(rule_list[:1], table).labels()[:, 0].sum())
    assert f"leaves {covered} instances" in detail.text
    assert f"{covered} of the 40 instances in this page" in detail.text
    button = one(browser, "tr[data-rule='0'] button")
    assert button.get_attribute("aria-expanded") == "true"
    assert button.get_attribute("aria-controls") == "rule-1-detail"
    one(browser, "#rule-1-detail .examples button").click()
    assert one(browser, "#pick").get_attribute("value") != ""
    browser.execute_script("window.scrollTo(0, 0)")
    one(browser, "tr[data-rule='0'] td.head").click()
    assert css(browser, "#rule-1-detail") == []


def test_rules_are_reached_and_opened_with_the_keyboard(open_report: Open, small: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    browser = open_report(*small)
    browser.execute_script("document.querySelector(\"tr[data-rule='0'] button\").focus()")
    press(browser, Keys.ENTER)
    assert css(browser, "#rule-1-detail")
    press(browser, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert browser.switch_to.active_element.text == "3"
    press(browser, Keys.SPACE)
    assert css(browser, "#rule-3-detail")
    press(browser, Keys.ESCAPE)
    assert css(browser, "#rule-3-detail") == []
    press(browser, Keys.ARROW_UP)
    assert browser.switch_to.active_element.text == "2"
    browser.refresh()
    press(browser, Keys.TAB)
    assert browser.switch_to.active_element.text == "Skip to the rules"


def test_everything_that_can_be_focused_has_a_name(open_report: Open, small: Any) -> None:
    browser = open_report(*small)
    one(browser, "tr[data-rule='0'] button").click()
    browser.execute_cdp_cmd("Accessibility.enable", {})
    nodes = browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    focusable = [
        n for n in nodes if any(p["name"] == "focusable" and p["value"]["value"] for p in n.get("properties", []))
    ]
    nameless = [
        n["role"]["value"]
        for n in focusable
        if not n.get("name", {}).get("value") and n["role"]["value"] != "RootWebArea"
    ]
    assert len(focusable) > 30
    assert nameless == []
    roles = {n["role"]["value"] for n in nodes if not n.get("ignored")}
    assert {"navigation", "main", "table", "columnheader", "search", "status", "heading"} <= roles


def what_if(browser: Any, value: str) -> set[str]:
    """Pick an instance in the page; the names of the labels it predicts."""
    choose(browser, "#pick", value)
    return set(
        browser.execute_script("return [...document.querySelectorAll('#predicted > .label')].map((l) => l.textContent)")
    )


def assert_what_if_predicts(browser: Any, rule_list: RuleList, table: Table) -> None:
    predicted = decide(rule_list, table)
    instances = browser.execute_script("return plurule.model.instances.map((i) => Number(i.name.slice(9)))")
    for place, row in enumerate(instances):
        expected = {visible(rule_list.labels[l]) for l in np.flatnonzero(predicted.labels()[row])}
        assert what_if(browser, str(place)) == expected, row
        fired = browser.execute_script("return plurule.outcome.decidedBy")
        assert fired == predicted.decided_by[row].tolist(), row


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


def test_hostile_names_do_no_harm(open_report: Open) -> None:
    rule_list, table = random_rule_list(2, HOSTILE_NAMES, n_rules=25)
    truth = np.random.default_rng(0).integers(0, 2, size=(len(table), len(rule_list.labels)))
    browser = open_report(rule_list, table, truth, title='</title><script>window.hacked = true</script>"><img src=x>')
    for button in css(browser, "tr[data-rule] button")[:10]:
        button.click()
    assert_what_if_predicts(browser, rule_list, table[:])
    assert browser.execute_script("return window.hacked") is None
    assert css(browser, "img, iframe, object, embed") == []
    assert len(css(browser, "script")) == 2
    assert browser.title.startswith("</title><script>")
    options = [o.text for o in css(browser, "#filter-label option")][1:]
    assert [" ".join(visible(label).split()) for label in rule_list.labels] == [" ".join(o.split()) for o in options]
    assert browser.get_log("browser") == []


def test_a_script_that_gets_into_the_page_is_not_run(open_report: Open, small: Any, tmp_path: Path) -> None:
    rule_list, table, truth = small
    html = to_html(rule_list, table, truth)
    path = tmp_path / "attacked.html"
    path.write_text(
        html.replace("<footer>", "<script>window.hacked = true</script><footer onclick='hacked()'>"), "utf-8"
    )
    browser = open_report(rule_list)
    browser.get(path.as_uri())
    assert browser.execute_script("return window.hacked") is None
    assert any("Content Security Policy" in entry["message"] for entry in browser.get_log("browser"))


def test_the_page_asks_the_network_for_nothing(open_report: Open, small: Any) -> None:
    browser = open_report(*small)
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0


def test_colours_follow_the_system_and_the_button(open_report: Open, small: Any) -> None:
    browser = open_report(*small)

    def brightness() -> int:
        colour = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))

    media = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    assert brightness() < 150
    one(browser, "#theme").click()
    assert brightness() > 600
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    one(browser, "#theme").click()
    assert brightness() < 150


def test_nothing_sticks_out_of_a_narrow_screen(open_report: Open, small: Any) -> None:
    browser = open_report(*small)
    size = {"width": 380, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        one(browser, "tr[data-rule='0'] button").click()
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 380
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_report_without_data_opens_and_predicts(open_report: Open, small: Any) -> None:
    rule_list, _, _ = small
    browser = open_report(rule_list)
    assert not one(browser, "#pick").is_displayed()
    stripes = next(c for c in css(browser, ".field label") if c.text == "stripes")
    one(browser, f"#{stripes.get_attribute('for')}").send_keys("0.5")
    assert [item.text.split("\n")[0] for item in css(browser, "#fired li")] == ["Rule 2 ¬red"]


def test_thousands_of_rules_are_shown_in_parts(open_report: Open) -> None:
    text = "\n".join(
        f"y{i % 20}, y{(i * 7 + 1) % 20} <- x{i % 30} > {i} and x{(i + 7) % 30} <= {2 * i}"
        for i in range(1, 2001)
        if i % 20 != (i * 7 + 1) % 20
    )
    rule_list = make_rules(text, {f"x{i}": None for i in range(30)}, tuple(f"y{i}" for i in range(20)))
    count = len(rule_list)
    table = encode(np.random.default_rng(0).uniform(0, 2000, size=(50, 30)), rule_list.attributes)
    browser = open_report(rule_list, table)
    assert shown_rules(browser) == list(range(1, 401))
    one(browser, "th[data-sort=number] button").click()
    assert shown_rules(browser)[:3] == [count, count - 1, count - 2]
    fill(browser, "#filter-text", "1999")
    assert len(shown_rules(browser)) == 1
    one(browser, "#filters button[type=reset]").click()
    browser.execute_async_script("setTimeout(arguments[0], 50)")
    browser.execute_script("document.getElementById('show-all').click()")
    assert len(shown_rules(browser)) == count
    assert_what_if_predicts(browser, rule_list, table)


def test_the_rules_that_are_shown_are_saved_as_csv(open_report: Open, tmp_path: Path) -> None:
    rule_list = make_rules('"=red" <- x > 1\nblue <- x <= 3 and "=red"', {"x": None}, ("=red", "blue"))
    rule_list = rule_list.edit(X := [[0.0], [2.0]], Y := [[0, 1], [1, 1]]).rule_list
    browser = open_report(rule_list, X, Y)
    one(browser, "th[data-sort=number] button").click()
    browser.execute_cdp_cmd("Page.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    one(browser, "#save-rules").click()
    lines = read_when_there(tmp_path / "rules.csv")
    assert [line["rule"] for line in lines] == ["2", "1"]
    assert [line["if"] for line in lines] == ["x ≤ 3 ∧ =red", "x > 1"]
    # What would be a formula is marked as text.
    assert [line["labels"] for line in lines] == ["blue", "'=red"]
    assert [(line["right_in_training"], line["decided_in_training"]) for line in lines] == [("1", "1"), ("1", "1")]
    assert [float(line["right_on_data"]) for line in lines] == [1, 1]


def read_when_there(path: Path) -> list[dict[str, str]]:
    for _ in range(100):
        if path.exists():
            return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
        time.sleep(0.05)
    raise AssertionError(f"{path.name} was not saved")


def test_all_rules_are_on_paper(open_report: Open, small: Any) -> None:
    browser = open_report(*small)
    browser.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert shown_rules(browser) == [1, 2, 3, 4, 5]
        assert not one(browser, "#what-if").is_displayed()
        assert not one(browser, "nav").is_displayed()
        assert "A label with ¬ is predicted to be absent." in one(browser, "#how-to-read").text
        assert one(browser, ".signature").is_displayed()
        browser.execute_script("window.dispatchEvent(new Event('afterprint'))")
        assert one(browser, "#how-to-read").get_attribute("open") is None
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
