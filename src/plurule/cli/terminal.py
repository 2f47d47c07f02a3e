"""What a terminal, or whatever else is behind standard output, can be told."""

from __future__ import annotations

import codecs
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.segment import Segment

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
