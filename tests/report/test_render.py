"""The report as a file: complete in itself, and harmless whatever the names."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest

from helpers.rule_lists import HOSTILE_NAMES, labels_for, learned, make_rules, random_rule_list
from plurule.data.inputs import encode
from plurule.inspection.dependencies import dependencies
from plurule.inspection.explain import explain
from plurule.model import RuleList
from plurule.model.naming import visible
from plurule.report import to_html
from plurule.report.summary import summarise

VOID = {"meta", "input", "link", "br", "img", "hr"}


class Structure(HTMLParser):
    """Checks that tags are closed in order, and collects what may be dangerous."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.ids: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value) for name, value in attrs]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data)


def structure(html: str) -> Structure:
    parsed = Structure()
    parsed.feed(html)
    parsed.close()
    assert parsed.open == []
    return parsed


NAMES = (
    *("with data", "without labels", "without data", "hostile", "no rules", "no rules, no data", "no instances"),
    "one label",
)


@cache
def html_of(what: str) -> str:
    """A page by what is special about it, made when it is first looked at."""
    rule_list, table = random_rule_list(1)
    hostile, hostile_table = random_rule_list(2, HOSTILE_NAMES, n_rules=25)
    empty = RuleList((), rule_list.attributes, rule_list.labels)
    one = make_rules("red <- x > 1", {"x": None}, ("red",))
    script = "</title><script>hacked()</script>"
    return {
        "with data": lambda: to_html(rule_list, table, labels_for(table, rule_list), title="A title"),
        "without labels": lambda: to_html(rule_list, table),
        "without data": lambda: to_html(rule_list),
        "hostile": lambda: to_html(hostile, hostile_table, labels_for(table, hostile), title=script),
        "no rules": lambda: to_html(empty, table, labels_for(table, empty)),
        "no rules, no data": lambda: to_html(empty),
        "no instances": lambda: to_html(rule_list, table[:0], labels_for(table[:0], rule_list)),
        "one label": lambda: to_html(one, [[1.0], [2.0]], [[1], [0]]),
    }[what]()


@pytest.mark.parametrize("what", NAMES)
def test_a_page_is_well_formed_and_needs_nothing_from_elsewhere(what: str) -> None:
    html = html_of(what)
    page = structure(html)
    assert len(page.ids) == len(set(page.ids))
    for tag, name, value in page.attributes:
        assert not name.startswith("on"), (tag, name)
        assert name not in ("style", "srcset", "action", "formaction", "ping"), (tag, name)
        if name in ("src", "href", "data", "poster"):
            assert value is not None
            assert value.startswith("#"), (tag, name, value)
    assert html.count("<script") == 2
    assert html.count("</script") == 2


@pytest.mark.parametrize("what", NAMES)
def test_only_our_own_script_and_style_are_allowed_to_run(what: str) -> None:
    html = html_of(what)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None
    for element, directive in (("script", "script-src"), ("style", "style-src")):
        content = html.split(f"<{element}>", 1)[1].split(f"</{element}>", 1)[0]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy.group(1)
    assert policy.group(1).startswith("default-src 'none'")


def test_labels_point_to_controls_and_references_to_elements() -> None:
    page = structure(html_of("with data"))
    for tag, name, value in page.attributes:
        if name in ("for", "aria-labelledby", "aria-controls") or (name == "href" and value != "#"):
            assert (value or "").removeprefix("#") in page.ids, (tag, name, value)


def test_hostile_names_are_shown_as_text() -> None:
    hostile, _ = random_rule_list(2, HOSTILE_NAMES, n_rules=25)
    shown = " ".join(structure(html_of("hostile")).text)
    for label in hostile.labels:
        assert visible(label) in shown
    assert "\u202e" not in shown
    assert "\u2066" not in shown


def test_a_notebook_shows_rules_explanations_and_graphs() -> None:
    hostile, table = random_rule_list(2, HOSTILE_NAMES, n_rules=60)
    for html in (
        hostile._repr_html_(),
        explain(hostile, table)._repr_html_(),
        dependencies(hostile).to_graph()._repr_html_(),
    ):
        assert html is not None
        page = structure(html)
        assert not any(name.startswith("on") for _, name, _ in page.attributes)
        assert "<script" not in html
    assert "… and 10 more rules" in str(hostile._repr_html_())
    assert "… and 50 more instances" in explain(hostile, table)._repr_html_()


@pytest.mark.parametrize("name", ["flags", "birds", "CAL500D"])
def test_learned_lists_are_reported(shared_data: Path, name: str) -> None:
    rule_list, test = learned(shared_data, name, True)
    structure(to_html(rule_list, test, title=name))
    assert summarise(rule_list, test).instances == len(encode(test.X))
