"""Data and models that the commands are given, and what is said where they cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.commands import Run, assert_mistake
from helpers.rule_lists import make_rules
from plurule.cli.loading import _bytes
from plurule.model import file as model_file


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


def test_decimal_commas_and_columns_to_drop_are_known_wherever_data_are_read(run: Run, tmp_path: Path) -> None:
    data, model = tmp_path / "data.csv", tmp_path / "model.json"
    lines = [f"r{i};{i},5;{int(i > 12)};{int(i % 8 > 3)}" for i in range(24)]
    data.write_text("\n".join(["id;size;red;blue", *lines]), encoding="utf-8")
    reading = ("--decimal", ",", "--drop", "id")
    assert run("fit", data, "-l", "red,blue", *reading, "-o", model).code == 0
    first = model_file.load(model)[0].to_text()
    for command in (
        ("evaluate", data, "-l", "red,blue", "--folds", "2", *reading),
        ("tune", data, "-l", "red,blue", "--lifts", "kln at 3: 1.08", "--folds", "2", "--jobs", "1", *reading),
        ("discover", data, "-l", "red,blue", "--resamples", "0", *reading),
        ("evaluate", model, data, "--decimal", ","),
        ("report", model, "-d", data, "-o", tmp_path / "report.html", "--decimal", ","),
        ("dependencies", model, "-d", data, "--decimal", ","),
        ("diff", model, model, "-d", data, "--decimal", ","),
        ("simplify", model, data, "--decimal", ","),
        ("edit", "add", model, first, "-d", data, "--decimal", ","),
    ):
        result = run(*command)
        assert result.code == 0, (command, result.err)
        assert "nominal" not in result.err
    assert_mistake(run("evaluate", model, data, "--drop", "id"), "--drop has no meaning with a model")


def test_half_characters_in_a_model_end_no_command(run: Run, tmp_path: Path, data: Path) -> None:
    model, saved = tmp_path / "model.json", tmp_path / "saved.json"
    rules = make_rules('"\ud800" <- size > 3', {"size": None}, ("\ud800", "blue"))
    model_file.save(rules, model)
    assert "\\ud800" in model.read_text(encoding="utf-8")
    assert model_file.load(model) == rules
    for command in (
        ("show", model),
        ("predict", model, data),
        ("explain", model, data),
        ("explain", model, data, "--as", "html"),
        ("report", model, "-o", tmp_path / "report.html"),
        *(("export", model, "--to", form) for form in ("python", "markdown", "latex", "text")),
        ("edit", "lock", model, "1", "-o", saved),
    ):
        result = run(*command)
        assert result.code == 0, (command, result.err)
    assert model_file.load(saved).labels == ("\ud800", "blue")
    assert_mistake(run("export", model, "--to", "sql"), "half of a character")


def test_sizes_are_read_as_people_write_them() -> None:
    assert [_bytes(size) for size in ("1.5 GB", "500MB", "7 b")] == [1_500_000_000, 500_000_000, 7]
