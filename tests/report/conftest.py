"""A report in a browser, and a small list of rules to report on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.browser import Open
from helpers.rule_lists import make_rules
from plurule.data.dataset import Table
from plurule.model import RuleList
from plurule.report import to_html


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
