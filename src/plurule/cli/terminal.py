"""Where the output of commands goes: a terminal, or whatever else is behind standard output, and files."""

from __future__ import annotations

import codecs
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.segment import Segment

from plurule.errors import ModelError
from plurule.files import in_bytes, write_text

if TYPE_CHECKING:
    from plurule.model import RuleList

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
    r"""Text in which no name can command the terminal, and that standard output can encode.

    >>> print(visible("red\x1b[2J"))
    red\x1b[2J
    """
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
    """Text whose lines are no longer than a terminal is wide; what follows a line is indented.

    >>> print(wrapped("  red: present by rule 2, since stars > 4", 24))
      red: present by rule
          2, since stars > 4
    """
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


def check_writable(*paths: Path | None) -> None:
    """Raise an error now if a file could not be written after a long training."""
    for path in paths:
        if path is None or takes_output(path):
            continue
        if path.is_dir():
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


def save_model(rule_list: RuleList, output: Path) -> None:
    from plurule.model import file as model_file

    if takes_output(output):
        put(model_file.dumps(rule_list), output)
    else:
        model_file.save(rule_list, output)
