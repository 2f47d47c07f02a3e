"""What the user sees when something goes wrong: one line that says what, and no traceback unless asked for."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import typer
from rich.text import Text

from plurule.cli.terminal import console, prepare
from plurule.errors import PluruleError

EXIT_CODE = 2
"""What the program ends with when the user can mend the problem, as for a wrong option."""

_DEBUG = "--debug"


def run(app: typer.Typer, arguments: Sequence[str] | None = None) -> None:
    """Run a typer application as the whole program.

    Whatever the user can mend (a damaged file, an unknown name, a disk that is full) becomes one red line on
    standard error, below which a rule that cannot be read is pointed at, and exit code 2; warnings become one yellow
    line. With `--debug` anywhere among the arguments, or PLURULE_DEBUG set, errors keep their traceback.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = _DEBUG in given or bool(os.environ.get("PLURULE_DEBUG"))
    prepare(sys.stdout, sys.stderr)
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            app(args=[argument for argument in given if argument != _DEBUG], standalone_mode=True)
        except (PluruleError, OSError, ImportError, ValueError, OverflowError, MemoryError) as error:
            if debug:
                raise
            if isinstance(error, BrokenPipeError):
                # Whoever reads our output has had enough, as `head` does; nothing more can be said to them.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                sys.exit(1)
            fail(_sentence(error))


def fail(message: str) -> None:
    """End the program with a red line."""
    console(stderr=True).print(Text(f"Error: {message}", style="red"), soft_wrap=not sys.stderr.isatty())
    sys.exit(EXIT_CODE)


def _sentence(error: Exception) -> str:
    from plurule.model.text import RuleTextError

    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return f"not enough memory ({error})" if str(error) else "not enough memory"
    if isinstance(error, RuleTextError):
        # Its last line points at the place in the line before.
        return str(error)
    return " ".join(str(error).split("\n")) or type(error).__name__


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    if issubclass(category, UserWarning):
        console(stderr=True).print(Text(f"Note: {message}", style="yellow"), soft_wrap=True)
