"""The errors a user can cause; each says what was wrong, where, and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class PluruleError(ValueError):
    """Something the user gave cannot be used; the message says why and what would work."""


class DataError(PluruleError):
    """A data file or table cannot be used."""


class ModelError(PluruleError):
    """A model file or rule list cannot be used."""


def nearest(name: str, known: Iterable[str], count: int = 3) -> str:
    """End of a sentence that helps someone who mistyped a name.

    >>> nearest("colour", ["colours", "area", "zone"])
    "; did you mean 'colours'?"
    >>> nearest("x", [str(i) for i in range(3)])
    "; known are '0', '1', '2'"
    """
    known = list(known)
    close = difflib.get_close_matches(name, known, n=count, cutoff=0.6)
    if close:
        return "; did you mean " + " or ".join(repr(c) for c in close) + "?"
    shown = ", ".join(repr(k) for k in known[:10])
    more = f" and {len(known) - 10} more" if len(known) > 10 else ""
    return f"; known are {shown}{more}" if known else ""
