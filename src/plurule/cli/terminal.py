"""Where the output of commands goes: a terminal, or whatever else is behind standard output, and files; and errors."""

from __future__ import annotations

import codecs
import os
import re
import shutil
import sys
import textwrap
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.segment import Segment
from rich.text import Text

from plurule.errors import ModelError, PluruleError
from plurule.files import in_bytes, write_text
from plurule.model.text import RuleTextError

EXIT_CODE = 2
"""What the program ends with when the user can mend the problem, as for a wrong option."""
_DEBUG = "--debug"
STANDARD_OUTPUT = Path("-")

WIDTH_IN_A_PIPE = 200
"""Text that goes to a file or another program is not cut at the width of a terminal."""

ASCII = {
    "←": "<-", "→": "->", "∧": "and", "¬": "!", "≤": "<=", "≥": ">=", "…": "...", "±": "+/-", "−": "-", "×": "x",
    "─": "-", "·": ".", "░": ":", "▒": "+", "▓": "%", "█": "#", "β": "beta", "ρ": "rho",
}  # fmt: skip
"""What is written where the encoding has no such sign."""

_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that command a terminal, turn the direction of writing, or cannot be written."""


def visible(text: str) -> str:
    r"""Text in which no name can command the terminal, and that standard output can encode."""
    text = _UNSAFE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
    encoding = sys.stdout.encoding or "utf-8"
    return text if encoding.lower().startswith("utf") else text.encode(encoding, _HANDLER).decode(encoding)


def _replace(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    character = error.object[error.start]
    return ASCII.get(character) or character.encode("unicode_escape").decode(), error.start + 1


_HANDLER = "plurule"
codecs.register_error(_HANDLER, _replace)


def prepare(*streams: Any) -> None:
    """Let streams write what their encoding does not have as something that it has."""
    for stream in streams:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=_HANDLER)


def say(text: object, stderr: bool = False, wrap: bool = True) -> None:
    """Print text for people; in a terminal, lines end between words unless they must stay whole."""
    stream = sys.stderr if stderr else sys.stdout
    shown = visible(str(text))
    print(wrapped(shown, shutil.get_terminal_size().columns) if wrap and stream.isatty() else shown, file=stream)


def wrapped(text: str, width: int) -> str:
    """Text whose lines are no longer than a terminal is wide; what follows a line is indented."""
    lines = []
    for line in text.split("\n"):
        indent = line[: len(line) - len(line.lstrip(" "))]
        options: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
        parts = textwrap.wrap(
            line.lstrip(" "), width, initial_indent=indent, subsequent_indent=f"{indent}    ", **options
        )
        lines += parts if len(line) > width else [line]
    return "\n".join(lines)


class _Visible(Console):
    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else visible(text), style, control)


def console(stderr: bool = False) -> Console:
    """Where commands print what people read: results on standard output, notes and progress on standard error."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else WIDTH_IN_A_PIPE
    return _Visible(stderr=stderr, highlight=False, markup=False, emoji=False, width=width)


# Files ---------------------------------------------------------------------------------------------------------------


def takes_output(output: Path | None) -> bool:
    """Whether a file that is asked for is standard output, so that what people read must go elsewhere."""
    return output == STANDARD_OUTPUT


def check_writable(*paths: Path) -> None:
    """Raise an error now if a file could not be written after a long training."""
    for path in paths:
        if path.is_dir() and not takes_output(path):
            raise ModelError(f"{path}: is a folder; give the name of a file to write")
        if not path.parent.is_dir():
            raise ModelError(f"{path}: there is no folder {path.parent}; create it first")


def put(text: str, output: Path | None, wrap: bool = False) -> None:
    """Write text, with a line end, to a file or to standard output; what is wrapped has whole words in a terminal."""
    text = text if text.endswith("\n") else text + "\n"
    if output is not None and not takes_output(output):
        write_text(output, text)
    elif sys.stdout.isatty():
        shown = visible(text)
        sys.stdout.write(wrapped(shown, shutil.get_terminal_size().columns) if wrap else shown)
    else:
        # Another program gets what a file would hold.
        sys.stdout.flush()
        sys.stdout.buffer.write(in_bytes(text))
        sys.stdout.buffer.flush()


# Errors: one line that says what is wrong, and no traceback unless asked for -----------------------------------------


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
