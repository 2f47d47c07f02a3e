"""The site can be built from what is here; building it is left to `make docs`."""

from __future__ import annotations

import ast
import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from helpers.browser import css, one
from helpers.rule_lists import make_rules

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def test_there_are_enough_examples_and_each_draws_something() -> None:
    assert len(EXAMPLES) >= 12
    for path in EXAMPLES:
        text = path.read_text(encoding="utf-8")
        assert path.name.startswith("plot_"), f"{path.name} would not be run"
        assert "plot" in text.replace(path.name, "")
        assert re.match(r"\n.+\n=+\n", ast.get_docstring(ast.parse(text), clean=False) or ""), (
            f"{path.name} has no title"
        )


def test_links_that_lead_nowhere_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="top"></h1><a href="b.html#here">b</a> <a href="https://example.org">out</a>'
    )
    (tmp_path / "b.html").write_text('<p id="here"></p><a href="a.html#top">a</a>')
    broken_links = runpy.run_path(str(ROOT / "docs" / "check_links.py"))["broken_links"]
    assert broken_links(tmp_path) == []
    (tmp_path / "b.html").write_text('<a href="a.html#bottom">a</a> <img src="c.png">')
    assert broken_links(tmp_path) == [
        "a.html links to b.html#here, but there is no such place on that page",
        "b.html links to a.html#bottom, but there is no such place on that page",
        "b.html links to c.png, which is not there",
    ]


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda path: path.name)
def test_every_page_is_in_the_table_of_contents(page: Path) -> None:
    listed = [(ROOT / "docs" / f"{name}.md").read_text() for name in ("index", "reference", "research")]
    contents = "\n".join(listed)
    assert page.stem == "index" or re.search(rf"^(.* <)?{re.escape(page.stem)}>?$", contents, re.MULTILINE)


@pytest.fixture
def own_rows(browser: Any, tmp_path: Path) -> Callable[[str], tuple[str, list[list[str]]]]:
    """Chooses a CSV file on the page of the site that predicts with two rules; what it says, and the table."""
    rules = make_rules(
        'red, white <- stripes > 2 and shape = "a, \\"b\\""\nblue <- red',
        {"stripes": None, "shape": ('a, "b"', "round"), "area": None},
        ("red", "white", "blue"),
    )
    model = re.findall(r'<script type="application/json" id="model">.*?</script>', rules.to_html(), re.DOTALL)
    (widget,) = re.findall(r'<p><input type="file".*?(?=<script)', (ROOT / "docs/try.md").read_text(), re.DOTALL)
    programs = [ROOT / "src/plurule/report/static/decide.js", ROOT / "docs/_static/try.js"]
    scripts = [f"<script>{path.read_text(encoding='utf-8')}</script>" for path in programs]
    page = tmp_path / "try.html"
    page.write_text("\n".join(['<meta charset="utf-8">', *model, widget, *scripts]), encoding="utf-8")

    def choose(text: str) -> tuple[str, list[list[str]]]:
        (tmp_path / "own.csv").write_text(text, encoding="utf-8")
        browser.get(page.as_uri())
        one(browser, "#own-file").send_keys(str(tmp_path / "own.csv"))
        wait = pytest.importorskip("selenium.webdriver.support.wait")
        wait.WebDriverWait(browser, 30).until(lambda _: one(browser, "#own-notes").text != "")
        table = [[cell.text for cell in css(row, "th, td")] for row in css(browser, "#own-table tr")]
        return one(browser, "#own-notes").text, table

    return choose


def test_rows_of_a_visitor_are_predicted_in_the_page(own_rows: Any) -> None:
    notes, table = own_rows('name;shape;stripes\n<b>A</b>;"a, ""b""";3\nB;round;9\nC;square;?\n')
    assert table == [
        ["name", "labels", "by rules"],
        ["<b>A</b>", "red, white, blue", "1, 2"],
        ["B", "none", "none"],
        ["C", "none", "none"],
    ]
    assert notes == "3 of 3 rows. Values that the rules do not know count as missing: shape “square”."


def test_a_file_that_a_visitor_cannot_use_is_told_in_a_sentence(own_rows: Any) -> None:
    notes, table = own_rows("a,b\n1,2\n")
    assert notes == "This file cannot be used: the file has none of the columns that rules test: stripes, shape."
    assert table == []
    assert own_rows('stripes,shape\n3,"a"x\n')[0].startswith("This file cannot be used: row 1: something follows")
    assert own_rows("stripes\n3\n")[0] == "1 of 1 rows. Columns that are not there count as missing: shape."
