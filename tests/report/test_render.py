"""The report as a file: complete in itself, and harmless whatever the names."""

from __future__ import annotations

import base64
import builtins
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.rule_lists import HOSTILE_NAMES, learned, make_rules, random_rule_list
from plurule.classifier import RuleListClassifier
from plurule.data.encoding import encode
from plurule.inspection import dependencies, explain
from plurule.model import NumericCondition, RuleList
from plurule.model.condition import split_intervals
from plurule.model.naming import visible
from plurule.report import render, to_html
from plurule.report.charts import draw_curves, draw_graph, draw_map
from plurule.report.payload import for_script
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


def labels_for(table: Any, rule_list: RuleList, seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(0, 2, size=(len(table), len(rule_list.labels)))


def pages() -> list[tuple[str, str]]:
    rule_list, table = random_rule_list(1)
    hostile, hostile_table = random_rule_list(2, HOSTILE_NAMES, n_rules=25)
    empty = RuleList((), rule_list.attributes, rule_list.labels)
    return [
        ("with data", to_html(rule_list, table, labels_for(table, rule_list), title="A title")),
        ("without labels", to_html(rule_list, table)),
        ("without data", to_html(rule_list)),
        (
            "hostile",
            to_html(hostile, hostile_table, labels_for(table, hostile), title="</title><script>hacked()</script>"),
        ),
        ("no rules", to_html(empty, table, labels_for(table, empty))),
        ("no rules, no data", to_html(empty)),
        ("no instances", to_html(rule_list, table[:0], labels_for(table[:0], rule_list))),
        ("one label", to_html(make_rules("red <- x > 1", {"x": None}, ("red",)), [[1.0], [2.0]], [[1], [0]])),
    ]


PAGES = pages()


@pytest.mark.parametrize("html", [html for _, html in PAGES], ids=[name for name, _ in PAGES])
def test_a_page_is_well_formed_and_needs_nothing_from_elsewhere(html: str) -> None:
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


@pytest.mark.parametrize("html", [html for _, html in PAGES], ids=[name for name, _ in PAGES])
def test_only_our_own_script_and_style_are_allowed_to_run(html: str) -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None
    for element, directive in (("script", "script-src"), ("style", "style-src")):
        content = html.split(f"<{element}>", 1)[1].split(f"</{element}>", 1)[0]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy.group(1)
    assert policy.group(1).startswith("default-src 'none'")


def test_labels_point_to_controls_and_references_to_elements() -> None:
    page = structure(PAGES[0][1])
    for tag, name, value in page.attributes:
        if name in ("for", "aria-labelledby", "aria-controls") or (name == "href" and value != "#"):
            assert (value or "").removeprefix("#") in page.ids, (tag, name, value)


def test_hostile_names_are_shown_as_text() -> None:
    hostile, _ = random_rule_list(2, HOSTILE_NAMES, n_rules=25)
    shown = " ".join(structure(dict(PAGES)["hostile"]).text)
    for label in hostile.labels:
        assert visible(label) in shown
    assert "\u202e" not in shown
    assert "\u2066" not in shown


def test_nothing_ends_the_script_element_that_holds_the_model() -> None:
    text = for_script({"</script>": ["<!--", "]]>", "\u2028", "&lt;", "\ud800"]})
    assert not re.search("[<>&\u2028\u2029\ud800-\udfff]", text)
    assert json.loads(text) == {"</script>": ["<!--", "]]>", "\u2028", "&lt;", "\ud800"]}


def test_the_page_holds_the_model_and_the_instances_exactly() -> None:
    rule_list, table = random_rule_list(1)
    html = to_html(rule_list, table, labels_for(table, rule_list), examples=10)
    model = json.loads(html.split('id="model">', 1)[1].split("</script>", 1)[0])
    numeric = [c for r in rule_list for c in split_intervals(r.body) if isinstance(c, NumericCondition)]
    said = [[c[key] for key in ("above", "atMost") if key in c] for r in model["rules"] for c in r["body"]]
    assert [threshold for bounds in said for threshold in bounds] == [c.threshold for c in numeric]
    assert len(model["instances"]) == 10
    assert model["instances"][0]["name"] == "instance 0"
    assert model["instances"][-1]["name"] == f"instance {len(table) - 1}"


def test_what_is_counted_on_data_adds_up() -> None:
    rule_list, table = random_rule_list(3, n_rules=20)
    truth = labels_for(table, rule_list)
    summary = summarise(rule_list, table, truth)
    explanations = list(explain(rule_list, table))
    for number, (rule, counted) in enumerate(zip(rule_list, summary.on_data, strict=True), start=1):
        ended = sum(e.stopped_by is not None and e.stopped_by < number for e in explanations)
        assert counted.reached == len(table) - ended
        for assignment, (decided, right) in zip(rule.head, counted.decided, strict=True):
            mine = [e.instance for e in explanations if e[assignment.name].number == number]
            assert decided == len(mine)
            assert right == sum(truth[i, assignment.index] == assignment.present for i in mine)
    assert summary.curves["pairs of instance and label decided"][-1] == pytest.approx(
        sum(d.number is not None for e in explanations for d in e.decisions) / truth.size
    )
    f1 = summary.curves["micro F1 of the rules so far"]
    assert f1[-1] == pytest.approx(summary.scores["micro F1"].score)


def test_passing_counts_shrink_from_condition_to_condition() -> None:
    rule_list = make_rules("a <- x > 1 and x <= 3\nb <- a and x > 2", {"x": None}, ("a", "b"))
    summary = summarise(rule_list, [[0.0], [2.0], [3.0], [4.0]])
    assert [(c.reached, c.passing) for c in summary.on_data] == [(4, (3, 2)), (4, (2, 1))]


def test_curves_without_data_are_those_of_training() -> None:
    rule_list = make_rules("a <- x > 1\nb <-", {"x": None}, ("a", "b")).edit([[0.0], [2.0]], [[0, 1], [1, 1]]).rule_list
    assert list(summarise(rule_list).curves.values()) == [[0.0, 0.25, 0.75]]
    assert draw_curves({}) is None


def test_drawings_stay_in_their_frames() -> None:
    rule_list, table = random_rule_list(5, n_rules=40, n_labels=20)
    summary = summarise(rule_list, table, labels_for(table, rule_list))
    curves, graph = draw_curves(summary.curves), draw_graph(summary.graph)
    assert curves is not None
    assert graph is not None
    frame = curves.frame
    for line in curves.lines:
        points = [tuple(map(float, point.split(","))) for point in line.path[1:].split(" ")]
        assert all(frame.left <= x <= frame.right and frame.top <= y <= frame.bottom for x, y in points)
    assert all(0 < n.x < graph.width and 0 < n.y < graph.height for n in graph.nodes)
    heat_map = draw_map(summary.maps[0])
    half = heat_map.cell / 2
    assert all(heat_map.margin <= m - half and m + half < heat_map.size for m in heat_map.middles)
    assert all(0 <= share <= 1 for row in heat_map.map.shares for share in row)


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


def test_without_jinja2_a_report_says_what_to_install_and_a_notebook_shows_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = builtins.__import__

    def without_jinja2(name: str, *arguments: Any, **named: Any) -> Any:
        if name.startswith("jinja2"):
            raise ImportError(name)
        return real(name, *arguments, **named)

    render.environment.cache_clear()
    monkeypatch.setattr(builtins, "__import__", without_jinja2)
    rule_list, _ = random_rule_list(1)
    try:
        with pytest.raises(ImportError, match=r"reports need Jinja2: pip install 'plurule\[report\]'"):
            rule_list.to_html()
        assert rule_list._repr_html_() is None
        assert dependencies(rule_list).to_graph()._repr_html_() is None
    finally:
        monkeypatch.undo()
        render.environment.cache_clear()


@pytest.mark.parametrize("name", ["flags", "birds", "CAL500D"])
def test_learned_lists_are_reported(shared_data: Path, name: str) -> None:
    rule_list, test = learned(shared_data, name, True)
    structure(to_html(rule_list, test, title=name))
    assert summarise(rule_list, test).instances == len(encode(test.X))


def test_labels_that_no_rule_predicts_are_named() -> None:
    rule_list = make_rules("a <- x > 1\n!b <- x > 2", {"x": None}, ("a", "b", "c<"))
    assert "No rule predicts b, c&lt; to be present" in to_html(rule_list)
    assert "to be present: too rare" not in to_html(make_rules("a <- x > 1", {"x": None}, ("a",)))


def test_what_another_class_implies_is_not_shown_in_the_table_of_rules() -> None:
    classifier = RuleListClassifier(heuristic="f_measure", n_rules=3).fit(np.arange(9.0)[:, None], list("aaabbbccc"))
    html = to_html(classifier.rule_list_)
    assert "¬" not in html.split("<tbody>", 1)[1].split("</tbody>", 1)[0]
