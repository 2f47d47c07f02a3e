"""The commands that look at a model, change it and export it."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from helpers.rule_lists import make_rules
from plurule.cli import app, errors
from plurule.datasets import load_world_flags
from plurule.inspection import parse_rules
from plurule.model import file as model_file

DATA = "stripes,continent,red,blue\n3,Asia,1,0\n1,Africa,0,1\n,Asia,1,1\n4,Africa,1,0\n"
RULES = "red <- stripes > 2 and continent = Asia\nblue <- stripes <= 2\nred <- stripes > 3 [stop]"


@dataclass
class Result:
    code: int
    out: str
    err: str


Run = Callable[..., Result]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs a command in this process, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    (tmp_path / "data.csv").write_text(DATA)
    rules = make_rules(RULES, {"stripes": None, "continent": ("Africa", "Asia")}, ("red", "blue"))
    model_file.save(rules, tmp_path / "model.json")

    def run(*arguments: object) -> Result:
        with pytest.raises(SystemExit) as ended:
            errors.run(app, [str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return Result(int(ended.value.code or 0), captured.out, captured.err)

    return run


def rules_of(path: str) -> list[str]:
    return [rule.to_text() for rule in model_file.load(path)]


def test_report_writes_one_page(run: Run) -> None:
    result = run("report", "model.json", "--data", "data.csv", "-o", "report.html", "--title", "Flags <3")
    assert result == Result(0, result.out, "")
    assert result.out.startswith("report.html: 3 rules, ")
    page = Path("report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "Flags &lt;3" in page
    assert "Scores on the 4 instances" in page


def test_report_works_without_data_and_without_labels(run: Run) -> None:
    assert run("report", "model.json", "-o", "report.html").code == 0
    Path("plain.csv").write_text("stripes,continent\n3,Asia\n")
    result = run("report", "model.json", "-d", "plain.csv", "-o", "report.html")
    assert result.code == 0
    assert result.err == "Note: plain.csv has none of the labels of the model, so nothing is scored\n"


def test_report_says_which_label_is_missing(run: Run) -> None:
    Path("half.csv").write_text("stripes,continent,red\n3,Asia,1\n")
    result = run("report", "model.json", "-d", "half.csv", "-o", "report.html")
    assert result.code == 2
    assert "blue" in result.err
    assert run("report", "model.json", "-o", "nowhere/report.html").code == 2


def test_edit_adds_removes_replaces_and_moves_rules(run: Run) -> None:
    added = run("edit", "add", "model.json", "¬blue <- continent = Asia", "--at", 1, "-d", "data.csv", "-o", "new.json")
    assert added.code == 0
    assert "+ rule 1: ¬blue ← continent = Asia" in added.out
    assert "Hamming accuracy: " in added.out
    assert "Written to new.json: 4 rules" in added.out
    assert model_file.load("new.json")[0].coverage == 2
    assert run("edit", "remove", "new.json", 2, 3, "-o", "new.json").code == 0
    assert rules_of("new.json") == ["¬blue ← continent = Asia", "red ← stripes > 3"]
    assert run("edit", "replace", "new.json", 2, "red <- stripes >= 1", "-o", "new.json").code == 0
    assert run("edit", "move", "new.json", 2, 1, "-o", "new.json").code == 0
    assert rules_of("new.json") == ["red ← stripes > 0.9999999999999999", "¬blue ← continent = Asia"]
    assert run("edit", "reorder", "new.json", 2, 1, "-o", "new.json").code == 0
    assert rules_of("new.json")[0] == "¬blue ← continent = Asia"
    assert rules_of("model.json")[0] == "red ← stripes > 2 ∧ continent = Asia"


def test_edit_writes_nothing_unless_told_where(run: Run) -> None:
    result = run("edit", "remove", "model.json", 1)
    assert "Nothing was written" in result.out
    assert len(rules_of("model.json")) == 3


def test_locked_rules_stay(run: Run) -> None:
    assert "now marked locked" in run("edit", "lock", "model.json", 1, "-o", "model.json").out
    refused = run("edit", "remove", "model.json", 1, "-o", "model.json")
    assert refused.code == 2
    assert "cannot remove rule 1, it is locked" in refused.err
    assert run("edit", "unlock", "model.json", 1, "-o", "model.json").code == 0
    assert run("edit", "remove", "model.json", 1, "-o", "model.json").code == 0


def test_an_edit_that_cannot_be_read_is_pointed_at(run: Run) -> None:
    result = run("edit", "add", "model.json", "red <- stripes > 2 and continent = Asien")
    assert result.code == 2
    assert result.out == ""
    assert result.err == (
        "Error: character 36: attribute 'continent' has no category 'Asien'; did you mean 'Asia'?\n"
        "    red <- stripes > 2 and continent = Asien\n"
        "                                       ^\n"
    )


def test_an_edit_that_makes_a_rule_useless_is_said(run: Run) -> None:
    result = run("edit", "add", "model.json", "red <- stripes > 5", "-d", "data.csv")
    assert "note: rule 4 (red ← stripes > 5) is unreachable" in result.out


def test_diff_compares_two_models(run: Run) -> None:
    run("edit", "remove", "model.json", 2, "-o", "new.json")
    result = run("diff", "model.json", "new.json", "--data", "data.csv")
    assert result.out.startswith("- rule 2: blue ← stripes <= 2\nother labels for 1 of 4 instances:\n  blue: +0 −1\n")
    content = json.loads(run("diff", "model.json", "new.json", "-d", "data.csv", "--json").out)
    assert content["rules"][0]["change"] == "removed"
    assert content["rows_that_differ"] == [1]
    assert content["scores"]["hamming_accuracy"] == [0.75, 0.625]


def test_simplify_says_what_it_drops(run: Run) -> None:
    result = run("simplify", "model.json", "data.csv", "-o", "short.json")
    assert result.code == 0
    assert result.out.startswith("dropped ")
    assert "the same labels for all 4 instances" in result.out
    assert len(rules_of("short.json")) <= 3


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


def test_explain_says_which_rule_decided(run: Run) -> None:
    result = run("explain", "model.json", "data.csv", "--row", 3, "--row", 0)
    assert result.out.startswith("instance 3: red (ended by rule 3)\n  red: present by rule 3, since stripes = 4 > 3")
    assert "instance 0: red\n" in result.out
    rows = list(csv.DictReader(io.StringIO(run("explain", "model.json", "data.csv", "--as", "csv").out)))
    assert len(rows) == 8
    assert rows[0]["because"] == "stripes = 3 > 2 and continent = Asia"
    page = run("explain", "model.json", "data.csv", "--as", "html", "--limit", 1).out
    assert "Instance 0" in page
    assert "Instance 1" not in page
    outside = run("explain", "model.json", "data.csv", "--row", 4)
    assert outside.code == 2
    assert "there is no row 4; rows are numbered from 0 to 3" in outside.err


def test_dependencies_are_listed(run: Run, tmp_path: Path) -> None:
    flags = load_world_flags()
    attributes = {a.name: a.categories for a in flags.X.attributes}
    rules = make_rules("red, white <- continent = Asia\n¬blue <- red", attributes, flags.label_names)
    model_file.save(rules, tmp_path / "flags.json")
    result = run("dependencies", "flags.json", "--data", "world-flags")
    assert result.out.startswith("co-occurrence: red, white where continent = Asia (")
    assert run("dependencies", "flags.json", "--as", "dot").out.startswith("digraph labels {")
    rows = list(csv.DictReader(io.StringIO(run("dependencies", "flags.json", "--as", "csv").out)))
    assert [row["kind"] for row in rows] == ["co-occurrence", "exclusion"]


def test_a_model_that_is_not_there_is_said(run: Run) -> None:
    for command in (
        ["report", "no.json", "-o", "r.html"],
        ["export", "no.json", "--to", "sql"],
        ["diff", "no.json", "no.json"],
    ):
        result = run(*command)
        assert result.code == 2
        assert "no.json: there is no such file" in result.err
