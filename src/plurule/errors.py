"""The errors a user can cause; each says what was wrong, where, and what to do."""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Iterable
from typing import Any

_LONGEST, _COMPARED = 60, 2000


class PluruleError(ValueError):
    """Something the user gave cannot be used; the message says why and what would work."""


class DataError(PluruleError):
    """A data file or table cannot be used."""


class ModelError(PluruleError):
    """A model file or rule list cannot be used."""


class ParameterError(PluruleError):
    """A parameter has a value that it cannot have.

    Attributes
    ----------
    parameter
        Its name.
    value
        What was given.
    problem
        What is wrong with it, as the rest of a sentence that begins with the name.
    owner
        The class it belongs to, where that is not the estimator itself: `"FMeasure"`.

    Examples
    --------
    >>> error = ParameterError.expected("beam_width", 0, "a whole number of at least 1")
    >>> print(error)
    beam_width must be a whole number of at least 1, got 0
    >>> print("--beam-width", error.problem)
    --beam-width must be a whole number of at least 1, got 0
    """

    def __init__(self, parameter: str, value: Any, problem: str, owner: str | None = None):
        super().__init__(f"{owner}: {parameter} {problem}" if owner else f"{parameter} {problem}")
        self.parameter, self.value, self.problem, self.owner = parameter, value, problem, owner

    @classmethod
    def expected(cls, parameter: str, value: Any, what: str, owner: str | None = None) -> ParameterError:
        """The parameter must be something else than the value."""
        return cls(parameter, value, f"must be {what}, got {value!r}", owner)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.parameter, self.value, self.problem, self.owner)


def warn(message: str) -> None:
    """Warn about the line of the user's code that called the library."""
    frame = sys._getframe(1)
    level = 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("plurule."):
        frame = frame.f_back
        level += 1
    warnings.warn(message, stacklevel=level)


def nearest(name: str, known: Iterable[str], count: int = 3) -> str:
    """End of a sentence that helps someone who mistyped a name.

    Comparing texts takes time that grows with their length, so long ones, and very many, are left out.
    """
    if len(name) > _LONGEST:
        return ""
    known = list(known)
    compared = [k for k in known if len(k) <= _LONGEST][:_COMPARED]
    close = difflib.get_close_matches(name, compared, n=count, cutoff=0.6)
    if close:
        return "; did you mean " + " or ".join(repr(c) for c in close) + "?"
    shown = compared[:10]
    more = f" and {len(known) - len(shown)} more" if len(known) > len(shown) else ""
    return f"; known are {', '.join(map(repr, shown))}{more}" if shown else ""


def first_repeated(names: Iterable[str]) -> str | None:
    """The first name that was there before, None if all are different."""
    names = list(names)
    if len(set(names)) == len(names):
        return None
    seen: set[str] = set()
    return next((name for name in names if name in seen or seen.add(name)), None)  # type: ignore[func-returns-value]


def amount(number: int, noun: str) -> str:
    """Return a number of things as text.

    >>> amount(1, "rule"), amount(2, "rule")
    ('1 rule', '2 rules')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"
