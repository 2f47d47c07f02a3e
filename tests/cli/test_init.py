"""The whole program: its commands, their help, and imports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import typer

from helpers.commands import Run, assert_mistake
from plurule.cli import app

COMMANDS = ("demo", "fit", "predict", "evaluate", "show", "explain", "report", "export", "diff", "edit", "discover")
HEAVY = ("numpy", "scipy", "sklearn", "pandas", "polars", "pyarrow", "narwhals", "joblib", "matplotlib", "jinja2")


def program(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "plurule", *map(str, arguments)], capture_output=True, text=True, encoding="utf-8"
    )


def test_program_has_eleven_commands() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    assert sorted(commands) == sorted(COMMANDS)


@pytest.mark.parametrize("command", ["tune", "convert", "reproduce", "data", "simplify", "dependencies"])
def test_removed_command_is_unknown(run: Run, command: str) -> None:
    assert_mistake(run(command), f"No such command '{command}'")


def test_misspelled_command_is_suggested(run: Run) -> None:
    assert_mistake(run("evalute", "data.csv"), "Did you mean 'evaluate'?")


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)])
def test_help_fits_80_columns_and_shortens_nothing(
    run: Run, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    result = run(*command, "--help")
    assert result.code == 0
    assert max(map(len, result.out.splitlines())) <= 80
    assert "..." not in result.out.partition("\n")[2]
    assert not any(line.endswith("-") for line in result.out.splitlines()), "a word is broken at its hyphen"


def test_every_argument_and_option_has_help() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    for command in commands.values():
        shown = (parameter for parameter in command.params if not getattr(parameter, "hidden", False))
        assert [parameter.name for parameter in shown if not parameter.help] == []


@pytest.mark.parametrize("arguments", ["--help", "fit --help", "--version"])
def test_help_imports_no_heavy_modules(arguments: str) -> None:
    code = (
        "import sys\nfrom plurule.cli import app, terminal\n"
        f"try: terminal.run(app, {arguments.split()!r})\n"
        f"finally: print('imported:', sorted({set(HEAVY)!r} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8")
    assert result.stdout.endswith("imported: []\n"), result.stdout + result.stderr


def test_version_is_printed(run: Run) -> None:
    assert run("--version").out.startswith("plurule 0.")


def test_mistake_ends_the_program_with_one_line_and_code_2(tmp_path: Path) -> None:
    result = program("fit", tmp_path / "nothing.csv", "--labels", "red")
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert "nothing.csv" in result.stderr
    assert "Traceback" not in result.stderr


def test_interrupt_during_imports_prints_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from plurule.__main__ import main; main()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "")
