"""Output on terminals, in pipes and in files."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.commands import Run, assert_mistake
from helpers.rule_lists import make_rules
from plurule import RuleList
from plurule.cli.terminal import console, visible

EVIL = "red\x1b[2J\x07\x9b31m\u202e"
"""A name that clears the screen, rings the bell, and reverses the text that follows."""


@pytest.fixture
def evil_model(tmp_path: Path) -> Path:
    path = tmp_path / "model\x1b[2J.json"
    rules = make_rules('"{}" <- x > 1 and kind = "{}"'.replace("{}", EVIL), {"x": None, "kind": (EVIL, "b")}, (EVIL,))
    rules.save(path)
    return path


def test_visible_escapes_characters_that_control_a_terminal() -> None:
    assert visible(EVIL) == "red\\x1b[2J\\x07\\x9b31m\\u202e"
    assert visible("a\tb\n← ∧ ¬é") == "a\tb\n← ∧ ¬é"
    assert visible("lone \udcff") == "lone \\udcff"


@pytest.mark.parametrize(
    "command",
    [
        ["show", "MODEL"],
        ["show", "MODEL", "--plain"],
        ["show", "MODEL", "--check"],
        ["show", "MODEL", "--label", "\x1b[2J"],
        ["show", "MODEL", "--data", "DATA"],
        ["edit", "MODEL", "--remove", "1"],
        ["diff", "MODEL", "MODEL"],
        ["edit", "MODEL", "--move", "1", "1", "-o", "new\x1b[2J.json"],
        ["report", "MODEL", "-o", "page\x1b[2J.html"],
        ["evaluate", "no\x1b[2J.csv"],
        ["\x1b[2J"],
    ],
    ids=lambda command: " ".join(command).replace("\x1b", ""),
)
def test_names_and_files_cannot_control_the_terminal(
    run: Run, evil_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    data = tmp_path / "data\x1b[2J.csv"
    data.write_text(f"x,kind,{EVIL}\n1,b,1\n2,b,0\n", encoding="utf-8")
    result = run(*(str({"MODEL": evil_model, "DATA": data}.get(word, word)) for word in command))
    assert not set("\x1b\x07\x9b\u202e") & set(result.out + result.err)


def test_output_for_another_program_is_not_escaped(run: Run, evil_model: Path) -> None:
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


def test_output_is_utf_8_whatever_the_encoding_of_the_terminal(tmp_path: Path) -> None:
    make_rules("¬r <- x > 1 and k = é", {"x": None, "k": ("é", "b")}, ("r",)).save(tmp_path / "m.json")
    commands = ("show m.json", "show m.json --plain", "fit --help", "export m.json --to markdown")
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    program = [sys.executable, "-c", SEVERAL, *commands]
    done = subprocess.run(program, capture_output=True, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    _, *pages = done.stdout.decode("utf-8").split("COMMAND ")
    assert len(pages) == len(commands)
    assert all("¬r" in page and "x > 1 ∧ k = é" in page for page in pages[:2])


def test_names_are_never_taken_for_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    console().print("[red]a[/red] :smile: 3")
    assert sys.stdout.getvalue() == "[red]a[/red] :smile: 3\n"  # type: ignore[attr-defined]


def test_model_on_standard_output_is_not_mixed_with_text(run: Run, tmp_path: Path) -> None:
    result = run("fit", "world-flags", "--learner", "relaxed-pruning", "--max-rules", 2, "-o", "-")
    assert len(json.loads(result.out)["rules"]) == 2
    assert "2 rules for 7 labels" in result.err
    (tmp_path / "m.json").write_text(result.out)
    edited = run("edit", tmp_path / "m.json", "--remove", 1, "-o", "-")
    assert len(json.loads(edited.out)["rules"]) == 1
    assert "rule 1" in edited.err


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudoterminals")
def test_output_in_80_columns_breaks_no_word(tmp_path: Path, flags_rules: RuleList) -> None:
    import pty

    flags_rules.save(tmp_path / "model.json")
    commands = ("show model.json", "show model.json --dependencies", "explain model.json world-flags --limit 2")
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
    tested = {flags_rules.attributes[i].name for i in flags_rules.tested_attributes()}
    assert all(name in pages[0] for name in tested)
    assert "co-occurrence:" in pages[1]


# Output files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        ("fit", "world-flags", "-o"),
        ("report", "model.json", "-o"),
        ("predict", "model.json", "data.csv", "-o"),
        ("export", "model.json", "--to", "sql", "-o"),
        ("edit", "model.json", "--remove", "1", "-o"),
    ],
)
def test_output_that_cannot_be_written_is_refused_before_the_work(
    run: Run, command: tuple[str, ...], model_folder: Path
) -> None:
    refused = run(*command, model_folder / "nowhere" / "file.csv")
    assert_mistake(refused, f"there is no folder {model_folder / 'nowhere'}")
    assert refused.out == ""
    assert_mistake(run(*command, model_folder), "folder")


@pytest.mark.parametrize(
    "command",
    [
        ("fit", "data.csv", "--labels", "red,blue", "-o", "data.csv"),
        ("fit", "data*.csv", "--labels", "red,blue", "-o", "data.csv"),
        ("fit", "world-flags", "--initial-rules", "model.json", "-o", "model.json"),
        ("fit", "world-flags", "--constraints", "data.csv", "-o", "data.csv"),
        ("predict", "model.json", "data.csv", "-o", "data.csv"),
        ("predict", "model.json", "data.csv", "-o", "model.json"),
        ("explain", "model.json", "data.csv", "-o", "data.csv"),
        ("report", "model.json", "--data", "data.csv", "-o", "data.csv"),
        ("report", "model.json", "-o", "model.json"),
        ("export", "model.json", "--to", "text", "-o", "model.json"),
        ("edit", "model.json", "--remove", "1", "--data", "data.csv", "-o", "data.csv"),
        ("edit", "model.json", "--simplify", "--data", "data.csv", "-o", "data.csv"),
        ("predict", "model.json", "data.csv", "-o", "link.csv"),
        ("predict", "model.json", "data.csv", "-o", "./folder/../data.csv"),
    ],
)
def test_output_that_is_an_input_is_refused(run: Run, command: tuple[str, ...], model_folder: Path) -> None:
    (model_folder / "link.csv").symlink_to("data.csv")
    (model_folder / "folder").mkdir()
    before = {path.name: path.read_text() for path in model_folder.iterdir() if path.is_file()}
    assert_mistake(run(*command), f"{command[-1].removeprefix('./')}: is an input of this command")
    assert {path.name: path.read_text() for path in model_folder.iterdir() if path.is_file()} == before


def test_model_can_be_edited_in_place(run: Run, model_folder: Path) -> None:
    assert run("edit", "model.json", "--remove", "1", "-o", "model.json").code == 0
    assert len(RuleList.load(model_folder / "model.json")) == 2


def test_output_that_is_protected_is_refused_before_the_work(
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
