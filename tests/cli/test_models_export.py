"""`plurule export`."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from helpers.commands import Run
from plurule.inspection import parse_rules
from plurule.model import file as model_file

pytestmark = pytest.mark.usefixtures("model_folder")


@pytest.mark.parametrize("form", ["sql", "python", "markdown", "latex", "text"])
def test_export_writes_every_form(run: Run, form: str) -> None:
    printed = run("export", "model.json", "--to", form)
    assert printed.code == 0
    assert run("export", "model.json", "--to", form, "-o", "out.txt").code == 0
    assert Path("out.txt").read_text(encoding="utf-8") == printed.out
    assert "stripes" in printed.out


def test_exported_sql_runs(run: Run) -> None:
    query = run("export", "model.json", "--to", "sql", "--table", "flags", "--key", "id").out
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE flags (id, stripes, continent)")
    connection.execute("INSERT INTO flags VALUES (7, 3, 'Asia')")
    assert connection.execute(query).fetchall() == [(7, 1, 0)]
    wrong = run("export", "model.json", "--to", "sql", "--dialect", "sqlit")
    assert wrong.code == 2
    assert "there is no SQL dialect 'sqlit'; did you mean 'sqlite'" in wrong.err


def test_exported_text_is_read_back(run: Run) -> None:
    text = run("export", "model.json", "--to", "text").out
    rules = model_file.load("model.json")
    assert parse_rules(text, rules.attributes, rules.labels) == rules.rules
