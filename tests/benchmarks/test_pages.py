"""Tables in Markdown, and their places in pages."""

from __future__ import annotations

from pathlib import Path

from benchmarks.pages import markdown_table, put_into


def test_a_table_has_a_title_row_a_rule_and_its_rows() -> None:
    assert markdown_table(("", "a"), [("x", "1"), ("y", "2")]) == "| | a |\n|---|---|\n| x | 1 |\n| y | 2 |"


def test_a_table_is_put_between_its_marks_and_nothing_else_is_touched(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- study: begin -->\nold\n<!-- study: end -->\nafter\n", encoding="utf-8")
    put_into(page, "comparison", "new\n")
    assert "old" in page.read_text(encoding="utf-8")
    for _ in range(2):
        put_into(page, "study", "new\n")
        text = page.read_text(encoding="utf-8")
        assert text == "before\n<!-- study: begin -->\nnew\n<!-- study: end -->\nafter\n"
