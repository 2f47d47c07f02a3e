"""Commands made of functions: what they write to is looked at before the work, what has no meaning is refused."""

from __future__ import annotations

import os
from pathlib import Path
from typing import get_args

import pytest

from helpers.commands import Run
from plurule.cli import COMMANDS
from plurule.cli.commands import arguments_of


def test_what_names_a_file_to_write_is_marked_as_such() -> None:
    found = [(one.name, get_args(one.annotation)) for command in COMMANDS for one in arguments_of(command)]
    files = [(name, kinds[1]) for name, kinds in found if kinds and kinds[0] in (Path, Path | None)]
    told = {name for name, known in files if "write" in known.help.lower()}
    assert told == {name for name, known in files if known.writable} == {"output", "target", "html", "table"}


@pytest.mark.parametrize(
    "arguments",
    [
        ("fit", "world-flags", "-o"),
        ("tune", "world-flags", "--table"),
        ("discover", "world-flags", "--html"),
        ("evaluate", "world-flags", "-o"),
        ("convert", "world-flags"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_the_work(run: Run, arguments: tuple[str, ...], tmp_path: Path):
    refused = run(*arguments, str(tmp_path / "nowhere" / "file.csv"))
    assert refused.code == 2
    assert f"there is no folder {tmp_path / 'nowhere'}" in refused.err
    assert refused.out == ""


def test_the_first_option_without_a_meaning_is_named_with_the_reason(run: Run) -> None:
    refused = run("tune", "world-flags", "--wide", "--seed", "1", "--lifts", "paper")
    assert (refused.code, refused.out) == (2, "")
    assert "--lifts has no meaning with --wide: it tries lifts of its own; leave out one of the two" in refused.err


def test_a_file_that_is_protected_is_refused_before_the_work(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model.json").write_text("mine")
    allowed = os.access
    # Whoever runs the tests may be allowed everything.
    monkeypatch.setattr(os, "access", lambda path, mode, **more: mode != os.W_OK and allowed(path, mode, **more))
    refused = run("fit", "world-flags", "-o", tmp_path / "model.json")
    assert (refused.code, refused.out) == (2, "")
    assert "is not writable" in " ".join(refused.err.split())
    assert (tmp_path / "model.json").read_text() == "mine"
