"""`plurule export`."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from helpers.commands import Run, assert_mistake
from plurule import RuleList
from plurule.export import FORMATS
from plurule.model.text import parse_rules

pytestmark = pytest.mark.usefixtures("model_folder")


@pytest.mark.parametrize("form", sorted(set(FORMATS) - {"xlsx", "onnx"}))
def test_export_writes_every_format(run: Run, form: str) -> None:
    printed = run("export", "model.json", "--to", form)
    assert printed.code == 0
    written = run("export", "model.json", "--to", form, "-o", "out.txt")
    assert (written.code, written.out) == (0, f"out.txt: 3 rules, {form}\n")
    assert Path("out.txt").read_text(encoding="utf-8") == printed.out
    assert "stripes" in printed.out


@pytest.mark.parametrize(("form", "start"), [("xlsx", b"PK"), ("onnx", b"\x08")])
def test_export_writes_formats_that_are_no_text(run: Run, form: str, start: bytes) -> None:
    assert run("export", "model.json", "--to", form, "-o", "out").code == 0
    assert Path("out").read_bytes().startswith(start)


def test_export_keeps_bytes_from_a_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert_mistake(
        run("export", "model.json", "--to", "xlsx"), "this format is not for a terminal; give a file with -o"
    )


def test_export_help_lists_every_format(run: Run) -> None:
    shown = " ".join(run("export", "--help").out.split())
    for name, entry in FORMATS.items():
        assert f"{name} ({entry.description})" in shown


def test_export_lists_the_formats_and_what_they_cannot_express(run: Run) -> None:
    listed = run("export", "--formats")
    assert listed.code == 0
    assert len(listed.out.splitlines()) == len(FORMATS)
    assert "csv (.csv): the same table as CSV; cannot express: nothing" in listed.out


def test_export_refuses_an_unknown_format_and_options_of_others(run: Run) -> None:
    assert_mistake(run("export", "model.json", "--to", "jdn"), "there is no export format 'jdn'; did you mean 'jdm'")
    wrong = run("export", "model.json", "--to", "text", "--dialect", "duckdb")
    assert_mistake(wrong, "the format text has no option 'dialect'")


def test_exported_sql_runs_in_a_database(run: Run) -> None:
    query = run("export", "model.json", "--to", "sql", "--table", "flags", "--key", "id").out
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE flags (id, stripes, continent)")
    connection.execute("INSERT INTO flags VALUES (7, 3, 'Asia')")
    assert connection.execute(query).fetchall() == [(7, 1, 0)]


def test_export_suggests_the_dialect_that_was_meant(run: Run) -> None:
    result = run("export", "model.json", "--to", "sql", "--dialect", "sqlit")
    assert_mistake(result, "there is no SQL dialect 'sqlit'; did you mean 'sqlite'")


def test_exported_text_is_read_back(run: Run) -> None:
    text = run("export", "model.json", "--to", "text").out
    rules = RuleList.load("model.json")
    assert parse_rules(text, rules.attributes, rules.labels) == rules.rules
