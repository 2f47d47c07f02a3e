"""Errors, warnings and interrupts as one line."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import typer

from helpers.commands import Run, assert_mistake
from plurule.cli import app, terminal
from plurule.errors import DataError, ParameterError


def failing_app(error: BaseException) -> typer.Typer:
    """An application with one command that raises an error."""
    app = typer.Typer(cls=terminal.Program, **terminal.SETTINGS)

    @app.command()
    def fail() -> None:
        raise error

    @app.command()
    def other() -> None:
        """Typer makes a group of two commands only."""

    return app


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(28, "No space left on device", "out.csv"), "out.csv: No space left on device"),
        (ValueError("two\nlines [red]not markup[/red]"), "two lines [red]not markup[/red]"),
        (ModuleNotFoundError("No module named 'x'"), "No module named 'x'"),
        (MemoryError(), "not enough memory"),
        (ValueError(), "ValueError"),
        (
            ParameterError.expected("max_bins", None, "a number, 'all' or None"),
            "--max-bins must be a number, all or none, got none",
        ),
        (ParameterError.expected("labels", 9, "at most 7", owner="Peak"), "Peak: labels must be at most 7, got 9"),
    ],
)
def test_errors_become_one_sentence(
    error: Exception, sentence: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    with pytest.raises(SystemExit) as end:
        terminal.run(failing_app(error), ["fail"])
    assert (end.value.code, capsys.readouterr().err) == (2, f"Error: {sentence}\n")


def test_bug_in_the_program_keeps_its_traceback() -> None:
    with pytest.raises(AssertionError):
        terminal.run(failing_app(AssertionError("a bug")), ["fail"])


def test_debug_keeps_the_traceback_of_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        terminal.run(app, ["fit", str(tmp_path / "none.csv"), "--labels", "a", "--debug"])


def test_interrupted_command_says_so_and_ends_with_code_130(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    with pytest.raises(SystemExit) as end:
        terminal.run(failing_app(KeyboardInterrupt()), ["fail"])
    assert (end.value.code, capsys.readouterr().err) == (130, "Interrupted; no output was written.\n")


def test_each_warning_for_users_is_printed_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = typer.Typer(**terminal.SETTINGS)

    @app.command()
    def warn() -> None:
        warnings.simplefilter("always")
        for text in ("once", "once", "another"):
            warnings.warn(text, UserWarning, stacklevel=1)
        warnings.warn("only for developers", DeprecationWarning, stacklevel=1)

    with pytest.raises(SystemExit):
        terminal.run(app, [])
    assert capsys.readouterr().err == "Note: once\nNote: another\n"


def test_mistake_in_a_file_names_the_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "toys.csv").write_text("area,red,blue\n1,1,0\n1,2\n")
    result = run("discover", tmp_path / "toys.csv", "--labels", "last:2")
    assert_mistake(result, "toys.csv", "line 3")
    assert result.err.count("\n") == 1
    assert result.out == ""


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (("fit", "d.csv", "--n-rules", "5"), "--max-rules"),
        (("fit", "d.csv", "--label", "red"), "--labels"),
        (("evaluate", "d.csv", "--fold", "5"), "--folds"),
        (("edit", "m.json", "--dat", "d.csv"), "--data"),
    ],
)
def test_unknown_option_suggests_similar_ones(run: Run, arguments: tuple[str, ...], option: str) -> None:
    assert_mistake(run(*arguments), f"No such option: {arguments[-2]}", f"{option}")


def test_reader_that_ends_early_ends_the_program_quietly() -> None:
    code = "import sys, typer; from plurule.cli import terminal; app = typer.Typer()\n@app.command()\ndef main():\n"
    code += "    print('x\\n' * 200_000)\nterminal.run(app, [])"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
