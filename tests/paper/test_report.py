"""The report: self-contained, complete, and made from plain data."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from plurule.model import Assignment, Attribute, Head, LabelCondition, NumericCondition, Rule, RuleList
from plurule.model import file as model_file
from plurule.paper import analysis, figures, published
from plurule.paper.code import code_fingerprint
from plurule.paper.experiment import Results
from plurule.paper.materials import EMBEDDED
from plurule.paper.report import page_data, write_report
from plurule.paper.selected_rules import choose_labels, equivalences, rules_about, selections
from plurule.paper.statements import Statement, check_statements
from plurule.paper.statistics import Comparison


@pytest.fixture(scope="module")
def written(results: Results, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Statement]]:
    folder = tmp_path_factory.mktemp("report")
    return folder, write_report(results, folder)


class Page(HTMLParser):
    """Collects what a page refers to, and checks that what is opened is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.sources: list[str] = []
        self.anchors: set[str] = set()
        self.links: set[str] = set()
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.sources += [value for name, value in attrs if name in ("src", "srcset", "data") and value]
        self.sources += [named["href"] or ""] if tag == "link" else []
        self.links |= {named["href"] or ""} if tag == "a" else set()
        self.anchors |= {named["id"] or ""} if "id" in named else set()
        if tag not in ("meta", "img", "br", "link", "input", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def parsed(folder: Path) -> Page:
    page = Page()
    page.feed((folder / "report.html").read_text(encoding="utf-8"))
    return page


def test_the_page_needs_no_other_file_and_no_network(written: tuple[Path, list[Statement]]):
    page = parsed(written[0])
    assert page.open == []
    assert len(page.sources) == 6
    assert all(source.startswith("data:image/svg+xml;base64,") for source in page.sources)
    assert {link.removeprefix("#") for link in page.links} <= page.anchors
    style = re.search(r"<style>(.*?)</style>", (written[0] / "report.html").read_text(encoding="utf-8"), re.DOTALL)
    assert style is not None
    assert "url(" not in style[1]
    assert "@import" not in style[1]


def test_the_page_says_which_code_made_it(written: tuple[Path, list[Statement]]):
    assert f"(code {code_fingerprint()})" in (written[0] / "report.html").read_text(encoding="utf-8")


def test_the_page_shows_every_statement_with_its_verdict(written: tuple[Path, list[Statement]]):
    folder, statements = written
    text = " ".join(" ".join(parsed(folder).text).split())
    assert len(statements) >= 30
    for statement in statements:
        assert " ".join(statement.text.split()) in text
        assert statement.word in text
        assert statement.verdict.numbers
    with (folder / "tables" / "statements.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["verdict"] for row in rows] == [statement.word for statement in statements]


def test_figures_of_the_same_data_are_the_same_files(results: Results, tmp_path: Path):
    for folder in (tmp_path / "one", tmp_path / "two"):
        folder.mkdir()
        drawing = figures.changes(analysis.pairs(results))
        assert drawing is not None
        drawing.write(folder)
        drawing.close()
    for name in ("model-changes.svg", "model-changes.png"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_tables_hold_every_set_objective_and_lift(written: tuple[Path, list[Statement]], results: Results):
    with (written[0] / "tables" / "candidates.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 6 * 3
    assert {row["objective"] for row in rows} == set(results.plan.objectives)
    best = [row for row in rows if row["rank"] == "1"]
    assert [row["lift"] for row in best] == [results.sets[EMBEDDED].chosen(o) for o in results.plan.objectives]


def test_names_in_the_data_cannot_change_the_page(results: Results, tmp_path: Path):
    nasty = replace(results, failures={"<script>alert(1)</script>": "<b>bold</b> & co"})
    write_report(nasty, tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_models_of_a_finished_experiment_can_be_read(results: Results):
    for objective in results.plan.objectives:
        for relaxed in (False, True):
            model = model_file.load(results.model_path(EMBEDDED, objective, relaxed))
            assert len(model) == results.final(EMBEDDED, objective, relaxed)["size"]["rules"]


def test_the_effort_adds_up(results: Results):
    (row,) = analysis.effort(results)
    assert row["models"] == len(results.records)
    moments = [*results.finished_at.values(), *(session["at"] for session in results.sessions)]
    assert row["clock_s"] == pytest.approx(max(moments) - min(moments), abs=0.2)


def test_published_numbers_are_complete():
    assert set(published.CHARACTERISTICS) == set(published.WINS) == set(published.BIRDS_LIFTS)
    for row in published.WINS.values():
        assert all(tally.wins + tally.losses + tally.ties == 7 for tally in row)


def test_a_plain_page_data_has_no_objects_that_compute(results: Results):
    rules = selections(results)
    data = page_data(results, rules, check_statements(results, rules))
    assert data["wins"][0]["cells"][0]["ours"].keys() == {"wins", "losses", "ties", "lead"}
    assert data["run"]["models"] == len(results.records)


# Selected rules ----------------------------------------------------------------------------------------------------


def rule(head: str, *body: object, tp: float = 1) -> Rule:
    labels = ("a", "b", "c")
    assignments = tuple(Assignment(name, labels.index(name), True) for name in head.split())
    return Rule(Head(assignments), tuple(body), tp=tp)  # type: ignore[arg-type]


WIDE = NumericCondition("width", 0, ">", 2.0)
IF_A = LabelCondition("a", 0, True)
ATTRIBUTES, LABELS = (Attribute("width"),), ("a", "b", "c")


def test_a_label_condition_and_a_head_that_say_the_same_are_found():
    normal = RuleList((rule("a", WIDE), rule("b", IF_A), rule("c", WIDE)), ATTRIBUTES, LABELS)
    relaxed = RuleList((rule("a b", WIDE), rule("c")), ATTRIBUTES, LABELS)
    (found,) = equivalences(normal, relaxed, "a")
    assert (found.condition_rule, found.label_rule, found.joint_rule) == (normal[0], normal[1], relaxed[0])
    assert equivalences(normal, relaxed, "c") == []
    assert choose_labels(normal, relaxed, 1) == ["a"]


def test_labels_that_are_never_predicted_together_with_others_are_not_chosen():
    model = RuleList((rule("a", WIDE), rule("b")), ATTRIBUTES, LABELS)
    assert choose_labels(model, model, 2) == []


def test_rules_about_a_label_predict_it_or_ask_for_it():
    model = RuleList((rule("a", WIDE), rule("b", IF_A), rule("c")), ATTRIBUTES, LABELS)
    assert rules_about(model, "a") == model.rules[:2]


# Critical differences ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ranks", "distance", "expected"),
    [
        ((1.0, 2.0, 3.0), 1.5, [(1.0, 2.0), (2.0, 3.0)]),
        ((1.0, 2.0, 3.0), 5.0, [(1.0, 3.0)]),
        ((1.0, 2.0, 3.0), 0.5, []),
        ((1.0, 2.0, 3.0), None, []),
    ],
)
def test_what_is_not_told_apart_is_joined_once(
    ranks: tuple[float, ...], distance: float | None, expected: list[tuple[float, float]]
):
    comparison = Comparison(("x", "y", "z"), ranks, 3, None, distance)
    assert figures._indistinct(comparison.by_rank(), distance) == expected
