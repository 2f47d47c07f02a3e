"""What a terminal can be told."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.commands import Run
from helpers.rule_lists import make_rules
from plurule.classifier import RuleListClassifier
from plurule.cli.terminal import console, visible, wrapped
from plurule.datasets import load_world_flags
from plurule.model import file as model_file

EVIL = "red\x1b[2J\x07\x9b31m\u202e"
"""A name that clears the screen, rings the bell, and turns what follows around."""


@pytest.fixture
def evil_model(tmp_path: Path) -> Path:
    path = tmp_path / "model\x1b[2J.json"
    rules = make_rules('"{}" <- x > 1 and kind = "{}"'.replace("{}", EVIL), {"x": None, "kind": (EVIL, "b")}, (EVIL,))
    model_file.save(rules, path)
    return path


def test_no_character_is_left_that_commands_a_terminal() -> None:
    assert visible(EVIL) == "red\\x1b[2J\\x07\\x9b31m\\u202e"
    assert visible("a\tb\n← ∧ ¬é") == "a\tb\n← ∧ ¬é"
    assert visible("lone \udcff") == "lone \\udcff"


@pytest.mark.parametrize(
    "command",
    [
        ["show", "MODEL"],
        ["show", "MODEL", "--plain"],
        ["show", "MODEL", "--label", "\x1b[2J"],
        ["edit", "remove", "MODEL", "1"],
        ["diff", "MODEL", "MODEL"],
        ["edit", "move", "MODEL", "1", "1", "-o", "new\x1b[2J.json"],
        ["report", "MODEL", "-o", "page\x1b[2J.html"],
        ["evaluate", "no\x1b[2J.csv"],
        ["data", "describe", "DATA", "--labels", "last:1"],
        ["data", "info", "\x1b[2J"],
        ["convert", "DATA", "new\x1b[2J.tsv", "--labels", "last:1"],
        ["\x1b[2J"],
    ],
    ids=lambda command: " ".join(command).replace("\x1b", ""),
)
def test_names_and_files_cannot_command_the_terminal(
    run: Run, evil_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    data = tmp_path / "data\x1b[2J.csv"
    data.write_text(f"x,kind,{EVIL}\n1,b,1\n2,b,0\n", encoding="utf-8")
    result = run(*(str({"MODEL": evil_model, "DATA": data}.get(word, word)) for word in command))
    assert not set("\x1b\x07\x9b\u202e") & set(result.out + result.err)


def test_data_for_another_program_is_left_as_it_is(run: Run, evil_model: Path) -> None:
    assert f'"{EVIL}"' in run("export", evil_model, "--to", "sql").out


SEVERAL = """
import sys
from plurule.cli import app, terminal
for command in sys.argv[1:]:
    print("COMMAND", command)
    try:
        terminal.run(app, command.split())
    except SystemExit as end:
        if end.code:
            raise
"""
"""Runs commands one after the other, until one fails, in a process that starts once."""


def test_where_the_encoding_has_no_arrows_ascii_is_written(tmp_path: Path) -> None:
    model_file.save(make_rules("¬r <- x > 1 and k = é", {"x": None, "k": ("é", "b")}, ("r",)), tmp_path / "m.json")
    (tmp_path / "t.csv").write_text("x,r,s\n1,1,1\n2,0,1\n")
    commands = ("show m.json", "show m.json --plain", "data describe t.csv --labels r,s", "fit --help")
    commands += ("export m.json --to markdown",)
    # As LC_ALL=C is where Python does not make UTF-8 of it, or a terminal with an encoding of its own.
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    program = [sys.executable, "-c", SEVERAL, *commands]
    done = subprocess.run(program, capture_output=True, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    _, *shown = done.stdout.split(b"COMMAND ")
    assert len(shown) == len(commands)
    for page in shown[:2]:
        assert b"!r" in page
        assert b"x > 1 and k = \\xe9" in page
        assert page.isascii()


def test_names_are_never_taken_for_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    console().print("[red]a[/red] :smile: 3")
    assert sys.stdout.getvalue() == "[red]a[/red] :smile: 3\n"  # type: ignore[attr-defined]


def test_a_model_goes_to_standard_output_alone(run: Run, tmp_path: Path) -> None:
    result = run("fit", "world-flags", "--rules", 2, "-o", "-")
    assert len(json.loads(result.out)["rules"]) == 2
    assert "2 rules for 7 labels" in result.err
    (tmp_path / "m.json").write_text(result.out)
    edited = run("edit", "remove", tmp_path / "m.json", 1, "-o", "-")
    assert len(json.loads(edited.out)["rules"]) == 1
    assert "rule 1" in edited.err


def test_lines_end_between_words_and_what_follows_is_indented() -> None:
    text = "instance 1: red\n  blue: present by rule 8, since un_since = 1993 >= 1966 and stars = 0 <= 4\n\n" + "x" * 90
    lines = wrapped(text, 40).split("\n")
    assert lines[:2] == ["instance 1: red", "  blue: present by rule 8, since"]
    assert all(line.startswith("      ") for line in lines[2:4])
    assert lines[-2:] == ["", "x" * 90]
    assert " ".join(wrapped(text, 40).split()) == " ".join(text.split())


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudoterminals")
def test_what_is_shown_in_80_columns_breaks_no_word(tmp_path: Path) -> None:
    import pty

    flags = load_world_flags()
    rules = RuleListClassifier(heuristic="f_measure", n_rules=6).fit(flags).rule_list_
    rules.save(tmp_path / "model.json")
    commands = ("show model.json", "dependencies model.json", "explain model.json world-flags --limit 2")
    main, terminal = pty.openpty()
    env = {**os.environ, "COLUMNS": "80", "TERM": "dumb"}
    program = [sys.executable, "-c", SEVERAL, *commands]
    with subprocess.Popen(program, stdout=terminal, stderr=terminal, env=env, cwd=tmp_path) as running:
        os.close(terminal)
        shown = b""
        try:
            while piece := os.read(main, 4096):
                shown += piece
        except OSError:
            pass  # the other end is closed
    os.close(main)
    assert running.returncode == 0, shown.decode()
    assert max(map(len, shown.decode().splitlines())) <= 80
    _, *pages = shown.decode().split("COMMAND ")
    assert len(pages) == len(commands)
    words = {attribute.name for attribute in rules.attributes} | {"co-occurrence:", "precision", "conditions"}
    for page in pages:
        lines = page.splitlines()
        assert any(name in line for name in words for line in lines[1:])
    tested = {rules.attributes[i].name for i in rules.tested_attributes()}
    assert all(name in pages[0] for name in tested)
