"""How ARFF spells names and values: quotes and escapes."""

from __future__ import annotations

import re

QUOTED = r"""'(?:[^'\\]++|\\.)*+'|"(?:[^"\\]++|\\.)*+\""""
"""Pattern of a quoted token; a newline never occurs inside, it is written `\\n`."""

_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|[0-7]{1,3}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")

# Words that every ARFF reader takes as they stand; all else is quoted.
_PLAIN = re.compile(r"[A-Za-z0-9_.+/:;<>=*&^$#~()\[\]|!-]+")
_WRITTEN = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def unquote(token: str) -> str:
    r"""What a token, quoted or not, stands for.

    >>> unquote(r"'Swainson\'s Thrush'"), unquote(r"m\'usica")
    ("Swainson's Thrush", "m\\'usica")
    """
    if len(token) < 2 or token[0] not in "'\"" or token[-1] != token[0]:
        return token
    inner = token[1:-1]
    return _ESCAPE.sub(_unescape, inner) if "\\" in inner else inner


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] == "u" and len(code) > 1:
        # Half of a surrogate pair is no character; its escape stays as it is.
        return match[0] if 0xD800 <= int(code[1:], 16) <= 0xDFFF else chr(int(code[1:], 16))
    if code[0] in "01234567":
        return chr(int(code, 8))
    return _ESCAPED.get(code, code)


def quote(text: str) -> str:
    r"""A name or value as ARFF writes it.

    >>> quote("red"), quote("Swainson's Thrush"), quote(""), quote("?")
    ('red', "'Swainson\\'s Thrush'", "''", "'?'")
    """
    if _PLAIN.fullmatch(text):
        return text
    escaped = "".join(_WRITTEN.get(c) or (c if c >= " " else f"\\u{ord(c):04x}") for c in text)
    return f"'{escaped}'"


def parse_number(text: str) -> float | None:
    """The number a text spells, None if it spells none (`1_000` and `inf` do not).

    >>> parse_number("1e3"), parse_number("1_000")
    (1000.0, None)
    """
    return float(text) if _NUMBER.fullmatch(text) else None
