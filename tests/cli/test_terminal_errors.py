"""What the program says when something is wrong."""

from __future__ import annotations

import subprocess
import sys
import warnings

import pytest
import typer

from plurule.cli import terminal


def test_errors_of_every_kind_become_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    app = typer.Typer()

    @app.command()
    def fail(kind: str) -> None:
        warnings.warn("only for developers", DeprecationWarning, stacklevel=1)
        raise {
            "disk": OSError(28, "No space left on device", "out.csv"),
            "text": ValueError("two\nlines [red]not markup[/red]"),
            "module": ModuleNotFoundError("No module named 'x'"),
            "empty": ValueError(),
        }[kind]

    sentences = {}
    for kind in ("disk", "text", "module", "empty"):
        with pytest.raises(SystemExit) as end:
            terminal.run(app, [kind])
        assert end.value.code == 2
        sentences[kind] = capsys.readouterr().err
    assert sentences == {
        "disk": "Error: out.csv: No space left on device\n",
        "text": "Error: two lines [red]not markup[/red]\n",
        "module": "Error: No module named 'x'\n",
        "empty": "Error: ValueError\n",
    }


def test_a_mistake_in_the_program_itself_keeps_its_traceback() -> None:
    app = typer.Typer(pretty_exceptions_enable=False)

    @app.command()
    def broken() -> None:
        raise AssertionError("a bug")

    with pytest.raises(AssertionError):
        terminal.run(app, [])


def test_a_reader_that_has_had_enough_ends_the_program_quietly() -> None:
    code = "import sys, typer; from plurule.cli import terminal; app = typer.Typer()\n@app.command()\ndef main():\n"
    code += "    print('x\\n' * 200_000)\nterminal.run(app, [])"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
