"""Data and models that the commands are given, and what is said where they cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.commands import Run, assert_mistake


def test_mistakes_in_files_are_explained(run: Run, model: Path, data: Path, tmp_path: Path) -> None:
    assert_mistake(run("show", tmp_path / "none.json"), "none.json", "no such file")
    assert_mistake(run("show", data), "data.csv")
    lacking = tmp_path / "lacking.csv"
    lacking.write_text("kind,red,blue\na,1,0\n", encoding="utf-8")
    assert_mistake(run("predict", model, lacking), "'size'")
    assert_mistake(run("evaluate", model, lacking), "'size'")
    unlabelled = tmp_path / "unlabelled.csv"
    unlabelled.write_text("size,kind\n1,a\n", encoding="utf-8")
    assert_mistake(run("evaluate", model, unlabelled), "red")


@pytest.mark.usefixtures("model_folder")
def test_a_model_that_is_not_there_is_said(run: Run) -> None:
    for command in (
        ["report", "no.json", "-o", "r.html"],
        ["export", "no.json", "--to", "sql"],
        ["diff", "no.json", "no.json"],
    ):
        result = run(*command)
        assert result.code == 2
        assert "no.json: there is no such file" in result.err
