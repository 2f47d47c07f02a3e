"""`plurule report`."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.commands import Result, Run

pytestmark = pytest.mark.usefixtures("model_folder")


def test_report_writes_a_page(run: Run) -> None:
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
    assert result.err == "Note: plain.csv has none of the labels of the model, so no scores are computed\n"


def test_report_names_rows_by_the_id_column(run: Run) -> None:
    Path("named.csv").write_text("id;stripes;continent;red;blue\n007;3,5;Asia;1;0\nx</script>;1,5;Africa;0;1\n")
    given = ("report", "model.json", "-o", "report.html", "--id", "id", "--decimal", ",")
    result = run(*given, "-d", "named.csv")
    assert result == Result(0, result.out, "")
    page = Path("report.html").read_text(encoding="utf-8")
    assert '{"name":"007","values":[3.5,1],"truth":[0]}' in page
    assert '{"name":"x\\u003c/script\\u003e"' in page
    assert "give --data" in run(*given).err


def test_report_names_the_missing_label(run: Run) -> None:
    Path("half.csv").write_text("stripes,continent,red\n3,Asia,1\n")
    result = run("report", "model.json", "-d", "half.csv", "-o", "report.html")
    assert result.code == 2
    assert "blue" in result.err
    assert run("report", "model.json", "-o", "nowhere/report.html").code == 2
