"""A real browser for the tests of pages."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from helpers.requirements import lacking
from plurule._prediction.apply import decide
from plurule.data.dataset import Table
from plurule.model import RuleList
from plurule.model.naming import visible

Open = Callable[..., Any]
"""Writes the report on rules (and data), opens it, and gives back the browser."""

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-prefers-reduced-motion",  # a click would miss what is still scrolling
    "--window-size=1280,900",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, driven by Selenium."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        lacking("browser", "no Chromium with chromedriver is installed")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    running = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    running.set_page_load_timeout(120)
    yield running
    running.quit()


def css(browser: Any, selector: str) -> list[Any]:
    return list(browser.find_elements("css selector", selector))


def one(browser: Any, selector: str) -> Any:
    return browser.find_element("css selector", selector)


def eventually(browser: Any, condition: Callable[[], Any]) -> bool:
    """Whether a condition holds, at once or soon: a page follows its address or a click a moment later."""
    from selenium.webdriver.support.ui import WebDriverWait

    return bool(WebDriverWait(browser, 30).until(lambda _: condition()))


def reads(browser: Any, selector: str, text: str) -> bool:
    """Whether an element shows a text, at once or soon."""
    return eventually(browser, lambda: one(browser, selector).text == text)


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


def what_if(browser: Any, value: str) -> set[str]:
    """Pick an instance in the page; the names of the labels it predicts."""
    choose(browser, "#pick", value)
    return set(
        browser.execute_script("return [...document.querySelectorAll('#predicted > .label')].map((l) => l.textContent)")
    )


PICK_EACH = """
const picker = document.getElementById("pick");
return plurule.model.instances.map((instance, place) => {
  picker.value = String(place);
  picker.dispatchEvent(new Event("change"));
  const labels = [...document.querySelectorAll("#predicted > .label")].map((l) => l.textContent);
  return [Number(instance.name.slice(9)), labels, plurule.outcome.decidedBy];
});
"""


def assert_what_if_predicts(browser: Any, rule_list: RuleList, table: Table) -> None:
    """Each instance is picked in the page, one of them as a reader does it."""
    predicted = decide(rule_list, table)
    found = browser.execute_script(PICK_EACH)
    assert found
    for row, labels, decided_by in found:
        expected = {visible(rule_list.labels[l]) for l in np.flatnonzero(predicted.labels()[row])}
        assert set(labels) == expected, row
        assert decided_by == predicted.decided_by[row].tolist(), row
    assert what_if(browser, "0") == set(found[0][1])
