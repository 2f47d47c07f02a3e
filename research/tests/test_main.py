"""`python -m research.paper`: missing data are reported before the run; arguments that differ are refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from research.paper.__main__ import main

FEW = ("--sets", "world-flags", "--objectives", "ha+", "--repeats", "1", "--jobs", "1", "--quick")


@pytest.fixture
def no_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No folder of data sets, and an empty cache."""
    monkeypatch.delenv("PLURULE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("no_data")
@pytest.mark.parametrize("arguments", [(), ("--quick",)])
def test_missing_data_are_named_before_the_run(
    arguments: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 2
    printed = capsys.readouterr()
    assert re.search("data sets are missing in .*: flags, emotions", printed.err)
    assert "python -m research.data" in printed.err
    assert "PLURULE_DATA" in printed.err
    assert "hold here" not in printed.out
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("no_data")
def test_all_missing_sets_are_named_with_what_they_are_built_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    for name in ("flags", "emotions", "birds", "medical", "scene", "yeast"):
        write_data_set(tmp_path, name)
    assert main(["--data", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    message = " ".join(capsys.readouterr().err.split())
    assert f"data sets are missing in {tmp_path}: CAL500D (built from CAL500)." in message


def write_data_set(folder: Path, name: str) -> None:
    (folder / name).mkdir()
    for part in ("train", "test"):
        (folder / name / f"{name}-{part}.arff").write_text("changed")


def test_changed_files_are_named_before_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    write_data_set(tmp_path, "flags")
    write_data_set(tmp_path, "emotions")
    assert main(["--quick", "--data", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    message = " ".join(capsys.readouterr().err.split())
    assert (
        "flags-train.arff has been changed (its SHA-256 is not 1861cdab7f8b…); remove it and get it again." in message
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("no_data")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--sets", "hous"), "data set 'hous' is not in"),
        (("--sets", ","), "--sets is empty"),
        (("--sets", "world-flags", "--objectives", "ha"), "unknown objective 'ha'; known are micro-f+"),
        (("--sets", "world-flags", "--lifts", "peek 3: 1.1"), "lift 'peek 3: 1.1' is not understood"),
        (("--sets", "world-flags", "--folds", "one"), "--folds one, expected a number from 2 on, or mulan"),
        (("--data", "nowhere"), "nowhere is not a folder"),
    ],
)
def test_arguments_that_cannot_be_used_are_explained(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
):
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--jobs=0", "must be a whole number of at least 1"),
        ("--seed=-1", "must be a whole number of at least 0"),
        ("--repeats=0", "must be a whole number of at least 1"),
    ],
)
def test_numbers_out_of_range_are_refused(option: str, message: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main(["--sets", "world-flags", option])
    assert message in capsys.readouterr().err


def test_an_output_that_is_a_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "file"
    file.touch()
    assert main([*FEW, "--out", str(file)]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_run_writes_a_report_and_refuses_other_arguments(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("research.paper.report.draw_all", lambda analysis, folder: {})
    out = ("--out", str(tmp_path))
    assert main([*FEW, "--lifts", "peak 2: 1.08", *out]) == 0
    assert re.search(r"\d+ of \d+ published statements hold here", capsys.readouterr().out)
    assert (tmp_path / "report.html").is_file()
    assert main([*FEW, "--lifts", "peak 2: 1.04", *out]) == 2
    assert "lifts was peak 2: 1.08, now peak 2: 1.04" in " ".join(capsys.readouterr().err.split())
