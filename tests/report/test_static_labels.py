"""The page of a label in a report, in a real browser."""

from __future__ import annotations

from typing import Any

import numpy as np

from helpers.browser import Open, choose, css, one, press, reads
from plurule._prediction.apply import decide


def rules_under(browser: Any, heading: str) -> list[str]:
    return [button.text for button in css(browser, f"#label-view [aria-label='{heading}'] tbody th button")]


def test_a_label_has_a_page_of_its_own(open_report: Open, small: Any) -> None:
    rule_list, table, truth = small
    browser = open_report(rule_list, table, truth)
    one(browser, "#label-table a").click()
    assert browser.execute_script("return location.hash") == "#label-0"
    assert reads(browser, "#label-name", "red")
    assert browser.switch_to.active_element.get_attribute("id") == "label-name"
    assert browser.title.startswith("red – ")
    assert not one(browser, "#rules").is_displayed()
    assert rules_under(browser, "Rules for it") == ["Rule 1", "Rule 4"]
    assert rules_under(browser, "Rules against it") == ["Rule 2"]
    assert rules_under(browser, "Rules that test it") == ["Rule 3"]
    right, wrong = rule_list[0].decided[0]
    assert (
        f"{100 * right / (right + wrong):.0f} % of {right + wrong:.0f}"
        in one(browser, "[aria-label='Rules for it']").text
    )
    predicted = decide(rule_list, table).labels()[:, 0] == 1
    groups = {
        "predicted, and right": predicted & (truth[:, 0] == 1),
        "predicted, but wrong": predicted & (truth[:, 0] == 0),
        "missed: it is there, but not predicted": ~predicted & (truth[:, 0] == 1),
    }
    expected = [f"{name} ({int(rows.sum())})" for name, rows in groups.items() if rows.any()]
    assert [heading.text for heading in css(browser, "#label-view h4")] == expected
    first = f"instance {np.flatnonzero(groups['predicted, and right'])[0]}"
    assert one(browser, "#label-view .names button").text == first
    one(browser, "#label-view .names button").click()
    assert one(browser, "#pick").find_element("css selector", "option:checked").text == first
    assert one(browser, "#rules").is_displayed()
    assert not one(browser, "#label-view").is_displayed()


def test_pages_of_labels_are_left_and_come_back_to(open_report: Open, small: Any) -> None:
    browser = open_report(*small)
    browser.execute_script("location.hash = '#label-2'")
    choose(browser, "#label-chosen", "1")
    assert reads(browser, "#label-name", "white")
    one(browser, "#next-label").click()
    assert reads(browser, "#label-name", "blue")
    one(browser, "#next-label").click()
    assert reads(browser, "#label-name", "red")
    browser.back()
    assert reads(browser, "#label-name", "blue")
    one(browser, "#label-view a[href='#labels']").click()
    assert one(browser, "#rules").is_displayed()
    assert not one(browser, "#label-view").is_displayed()
    browser.execute_script("location.hash = '#label-2'")
    assert reads(browser, "#label-name", "blue")
    one(browser, "[aria-label='Rules for it'] tbody button").click()
    browser.execute_async_script("setTimeout(arguments[0], 50)")
    assert css(browser, "#rule-3-detail")


def test_everything_on_the_page_of_a_label_is_reached_with_the_keyboard(open_report: Open, small: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    browser = open_report(*small)
    browser.execute_script("location.hash = '#label-0'")
    browser.execute_async_script("setTimeout(arguments[0], 50)")
    reached = []
    for _ in range(4):
        press(browser, Keys.TAB)
        reached.append(browser.switch_to.active_element.accessible_name)
    assert reached[:3] == ["Rules for it", "Rule 1", "Rule 4"]


def test_a_label_without_rules_and_instances_says_so(open_report: Open, small: Any) -> None:
    rule_list, _, _ = small
    browser = open_report(rule_list[:2])
    browser.execute_script("location.hash = '#label-2'")
    assert reads(browser, "#label-name", "blue")
    text = one(browser, "#label-view").text
    assert "No rule predicts it: it is never present." in text
    assert "Its instances" not in text
    browser.execute_script("location.hash = '#label-99'")
    browser.execute_async_script("setTimeout(arguments[0], 50)")
    assert one(browser, "#rules").is_displayed()
