"""What the writers share."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from plurule.errors import DataError
from plurule.files import replacing

_SMALL, _LARGE = 1e-12, 1e15


def write_packed(path: Path, text: str) -> None:
    """Write a text file as UTF-8, whole or not at all, compressed if its name ends in .gz or .bz2."""
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:
        odd = error.object[error.start]
        raise DataError(f"{path.name}: the character {odd!r} of a name or value cannot be written as UTF-8") from error
    if content.startswith(b"\xef\xbb\xbf"):
        # Readers take this for a byte order mark; a second one protects the first name that begins so.
        content = b"\xef\xbb\xbf" + content
    if path.suffix.lower() == ".gz":
        # Without a time stamp the same data give the same file.
        content = gzip.compress(content, 6, mtime=0)
    elif path.suffix.lower() == ".bz2":
        content = bz2.compress(content)
    try:
        with replacing(path) as temporary:
            temporary.write_bytes(content)
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror or error})") from error


def number_text(value: float) -> str:
    """The shortest text that reads back as the same number.

    Numbers of a usual size are written without an exponent, which is faster to read.

    >>> number_text(4.0), number_text(0.1), number_text(0.00001), number_text(1e-300)
    ('4', '0.1', '0.00001', '1e-300')
    """
    text = repr(value)
    if "e" in text and _SMALL < abs(value) < _LARGE:
        return str(np.format_float_positional(value, trim="-"))
    return text.removesuffix(".0")


def unused_name(wanted: str, names: Sequence[str]) -> str:
    """A name that no other column has.

    >>> unused_name("weight", ["weight", "area"])
    'weight_'
    """
    while wanted in names:
        wanted += "_"
    return wanted
