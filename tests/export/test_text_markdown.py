"""Rules as a Markdown table: what it shows can be read back, whatever the names."""

from __future__ import annotations

import re

import pytest

from helpers.rule_lists import HOSTILE_NAMES, make_rules, random_rule_list, without_counts
from plurule.export.text import to_markdown
from plurule.model.text import parse


@pytest.mark.parametrize("seed", range(10))
def test_the_rules_of_a_markdown_table_are_read_back(seed: int) -> None:
    rule_list, _ = random_rule_list(seed, HOSTILE_NAMES)
    lines = to_markdown(rule_list).split("\n")[2:]
    assert len(lines) == len(rule_list)
    for number, (line, rule) in enumerate(zip(lines, rule_list, strict=True), start=1):
        cells = re.split(r"(?<!\\)(?:\\\\)*\|", line)[1:-1]
        assert len(cells) == 7
        text = re.sub(r"\\(.)", r"\1", cells[1].strip())
        assert parse(text, rule_list.attributes, rule_list.labels) == without_counts(rule)
        assert cells[0].strip() == str(number)
        assert float(cells[2]) == rule.tp


def test_markdown_holds_no_markup_of_names() -> None:
    rule_list = make_rules('"<b>*x*</b>" <- "a|b" > 1', {"a|b": None}, ("<b>*x*</b>",))
    assert to_markdown(rule_list).split("\n")[2] == (r'| 1 | "\<b\>\*x\*\</b\>" ← a\|b \> 1 | 0 | 0 | 0.000 | 0 |  |')
