"""The report in a real browser: sort, filter, open a rule; with the keyboard as well."""

from __future__ import annotations

import csv
import io
import time
from pathlib import Path
from typing import Any

import numpy as np

from helpers.browser import Open, assert_what_if_predicts, choose, css, fill, one, press
from helpers.rule_lists import HOSTILE_NAMES, make_rules, random_rule_list
from plurule._prediction.apply import decide
from plurule.data.inputs import encode
from plurule.model import Rule
from plurule.model.naming import visible
from plurule.report import to_html


def shown_rules(browser: Any) -> list[int]:
    """Numbers of the rules that the table shows, in its order."""
    return [int(n) for n in browser.execute_script(
        "return [...document.querySelectorAll('#rule-table tr[data-rule]')].filter((r) => r.offsetParent !== null)"
        ".map((r) => Number(r.dataset.rule) + 1)"
    )]  # fmt: skip


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


def test_colours_follow_the_system_and_the_button_and_paper_is_white(open_report: Open, small: Any) -> None:
    browser = open_report(*small)

    def brightness(of: str = "backgroundColor") -> int:
        colour = browser.execute_script(f"return getComputedStyle(document.body).{of}")
        return sum(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))

    media = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    assert brightness() < 150
    one(browser, "#theme").click()
    assert brightness() > 600
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    one(browser, "#theme").click()
    assert brightness() < 150
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"} | media)
    assert (brightness(), brightness("color")) == (3 * 255, 0)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


def test_nothing_sticks_out_of_a_narrow_screen(open_report: Open, small: Any) -> None:
    browser = open_report(*small)
    size = {"width": 380, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        one(browser, "tr[data-rule='0'] button").click()
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 380
        menu = "const menu = document.querySelector('.bar-top nav'); return menu.scrollWidth <= menu.clientWidth"
        assert browser.execute_script(menu)
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
    table = encode(np.random.default_rng(0).uniform(0, 2000, size=(20, 30)), rule_list.attributes)
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
