"""`plurule discover`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helpers.commands import Run, assert_mistake

pytestmark = pytest.mark.usefixtures("model_folder")


def test_patterns_are_shown_with_what_was_counted(run: Run) -> None:
    result = run("discover", "world-flags", "--exclusions", "-k", "4", "--resamples", "2")
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[0] == "4 patterns, found on 96 rows, counted and tested on 97 others"
    assert lines[1].split() == ["#", "labels", "←", "where", "rows", "holds", "lift", "p", "found", "again"]
    assert len(lines) == 7
    assert "significant at 5 %" in lines[-1]


def test_patterns_are_printed_as_json_and_written_as_a_page(run: Run) -> None:
    result = run("discover", "world-flags", "-k", "2", "--resamples", "0", "--json", "--html", "page.html")
    found = json.loads(result.out)
    assert len(found) == 2
    assert set(found[0]) >= {"head", "body", "support", "confidence", "lift", "p_value", "p_holm"}
    assert result.err.startswith("page.html: 2 patterns, ")
    assert "Labels that go together: world-flags" in Path("page.html").read_text(encoding="utf-8")


def test_mistakes_are_one_line(run: Run) -> None:
    assert_mistake(run("discover", "world-flags", "--test-size", "2"), "--test-size must be")
    assert_mistake(run("discover", "world-flags", "-k", "0"), "--patterns must be a whole number of at least 1, got 0")
    assert_mistake(run("discover", "world-flags", "--random-state", "x"), "--random-state must be")
    assert_mistake(run("discover", "world-flags", "--random-state", "-1"), "--random-state must be")
    assert_mistake(run("discover", "world-flags", "--html", "nowhere/page.html"), "nowhere")
    assert_mistake(run("discover", "data.csv", "--labels", "last:2"), "at least 20 rows")
