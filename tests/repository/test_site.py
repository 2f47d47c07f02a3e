"""The site can be built from what is here; building it is left to `make docs`."""

from __future__ import annotations

import ast
import re
import runpy
from pathlib import Path

import pytest

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
    listed = [
        (ROOT / "docs" / f"{name}.md").read_text() for name in ("index", "guide", "reference", "results", "project")
    ]
    contents = "\n".join(listed)
    assert page.stem == "index" or re.search(rf"^{re.escape(page.stem)}$", contents, re.MULTILINE)
