"""The report: self-contained, complete, and made from plain data."""

from __future__ import annotations

import csv
import re
import shutil
from collections import defaultdict
from copy import deepcopy
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from research.files import EMBEDDED
from research.paper.analysis import Analysis
from research.paper.experiment import Results, run_fingerprint
from research.paper.report import (
    Statement,
    check_statements,
    clock,
    number,
    page_data,
    render,
    with_draws,
    write_tables,
)
from research.paper.statistics import Tally


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
    assert len(page.sources) == 8
    assert all(source.startswith("data:image/svg+xml;base64,") for source in page.sources)
    assert {link.removeprefix("#") for link in page.links} <= page.anchors
    style = re.search(r"<style>(.*?)</style>", (written[0] / "report.html").read_text(encoding="utf-8"), re.DOTALL)
    assert style is not None
    assert "url(" not in style[1]
    assert "@import" not in style[1]


def test_the_page_says_which_code_made_it(written: tuple[Path, list[Statement]]):
    assert f"(code {run_fingerprint()})" in (written[0] / "report.html").read_text(encoding="utf-8")


def test_the_page_shows_every_statement_with_its_verdict(written: tuple[Path, list[Statement]]):
    folder, statements = written
    text = " ".join(" ".join(parsed(folder).text).split())
    assert len(statements) >= 30
    for statement in statements:
        assert " ".join(statement.statement.split()) in text
        assert statement.verdict in text
        assert statement.numbers
    with (folder / "tables" / "statements.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["verdict"] for row in rows] == [statement.verdict for statement in statements]


def test_tables_hold_every_set_objective_and_lift(written: tuple[Path, list[Statement]], results: Results):
    with (written[0] / "tables" / "candidates.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 6 * 3
    assert {row["objective"] for row in rows} == set(results.plan.objectives)
    best = [row for row in rows if row["rank"] == "1"]
    assert [row["lift"] for row in best] == [results.sets[EMBEDDED].chosen(o) for o in results.plan.objectives]


def test_the_page_gets_plain_data(results: Results, written: tuple[Path, list[Statement]]):
    data = page_data(Analysis(results), written[1])
    assert data["run"]["models"] == len(results.records)
    assert data["verdicts"]["holds"] + data["verdicts"]["does not hold"] + data["verdicts"]["not judged"] == 33
    for cells in data["wins"]["rows"].values():
        assert all(isinstance(ours, Tally) and theirs is None for ours, theirs in cells), "no set of the paper was run"
    assert sum(map(sum, data["lift_counts"]["rows"].values())) == len(results.plan.objectives)


def test_statements_are_also_judged_by_numeric_versions(results: Results, tmp_path: Path):
    records: dict[str, Any] = {}
    (tmp_path / "models").mkdir()
    for name in ("yeastD", "yeast"):
        records |= {key.replace(EMBEDDED, name): deepcopy(result) for key, result in results.records.items()}
        for model in (results.folder / "models").iterdir():
            shutil.copy(model, tmp_path / "models" / model.name.replace(EMBEDDED, name))
    for key, result in records.items():
        if key.startswith("final/yeast/") and not key.startswith("final/yeast/ha+/none"):
            result["size"]["multi_label_heads"] = 0
    sets = dict.fromkeys(("yeastD", "yeast"), results.sets[EMBEDDED])
    both = replace(results, sets=sets, records=records, finished_at={}, folder=tmp_path)
    statements = check_statements(Analysis(both))
    (heads,) = [one for one in statements if one.statement.startswith("Relaxed pruning results in fewer label cond")]
    assert heads.numeric is not None
    assert heads.numeric.numbers.startswith("more multi-label heads in 0 of 6 (0%) cases")
    assert heads.numeric.verdict == "does not hold"
    assert heads.numbers != heads.numeric.numbers

    write_tables(Analysis(both), statements, tmp_path / "tables")
    with (tmp_path / "tables" / "statements.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["numbers_numeric"] for row in rows] == [one.numeric.numbers for one in statements]
    page = render(page_data(Analysis(both), statements), defaultdict(str))
    assert f"numeric: <b>does not hold</b>; {heads.numeric.numbers}" in page


def test_durations_and_numbers_are_written_for_people() -> None:
    assert [clock(seconds) for seconds in (4.2, 75, 3599.7, 5000, 5035)] == [
        "4.2 s",
        "1 min 15 s",
        "1 h 0 min",
        "1 h 23 min",
        "1 h 24 min",
    ]
    assert [number(value) for value in (12.0, 0.5, float("nan"), "", "1.0")] == ["12", "0.500", "–", "–", "1.000"]
    assert number(1.0, digits=2) == "1"


def test_statements_are_judged_again_with_drawn_lifts(results: Results, written: tuple[Path, list[Statement]]) -> None:
    judged = with_draws(check_statements(Analysis(results)), Analysis(results), n_draws=4)
    by_text = {statement.statement: statement for statement in judged}
    speed = by_text["Relaxed pruning is faster in most of the cases."]
    assert speed.drawn is None or "candidate bodies" in speed.numbers
    wins = next(one for one in judged if one.statement.startswith("Relaxed pruning results in a predictive"))
    assert wins.drawn is not None
    assert wins.drawn * 4 == int(wins.drawn * 4)
    training = next(one for one in judged if one.statement.startswith("Greater lifts tend"))
    assert training.drawn is None, "the sensitivity analysis does not depend on the choice"
