"""Allowed values of parameters, and objects with parameters that scikit-learn can clone, set and search (`lift__k`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator

from plurule.errors import ParameterError, nearest

MOST_JOBS = 2**15 - 1

Allowed = dict[str, list[Any]]
"""Per parameter, the kinds of its values: of `words`, `whole`, `number`; None, "boolean", "verbose"; or a class."""


@dataclass(frozen=True)
class Words:
    """One of some texts."""

    options: tuple[str, ...]

    def accepts(self, value: Any) -> bool:
        """Whether a value is one of them."""
        return isinstance(value, str) and value in self.options

    def describe(self) -> list[str]:
        """Each of them."""
        return [repr(option) for option in self.options]


@dataclass(frozen=True)
class Range:
    """Numbers in an interval; an end that is not given is not reached."""

    kind: type
    low: float
    high: float | None
    closed: Literal["left", "both", "neither"]

    def accepts(self, value: Any) -> bool:
        """Whether a value is such a number; True and False are none, though Python counts with them."""
        if not isinstance(value, self.kind) or isinstance(value, bool | np.bool_):
            return False
        compared: Any = value
        high = np.inf if self.high is None else self.high
        above = compared > self.low if self.closed == "neither" else compared >= self.low
        below = compared <= high if self.closed == "both" else compared < high
        return bool(above and below)

    def describe(self) -> list[str]:
        """The interval in words."""
        if self.kind is Integral:
            return [f"a whole number {f'of at least {self.low}' if self.high is None else self._between()}"]
        if self.high is None:
            finite = "" if self.closed == "both" else "finite "
            return [f"a {finite}number {'above' if self.closed == 'neither' else 'of at least'} {self.low}"]
        return [f"a number {self._between()}"]

    def _between(self) -> str:
        is_open = self.closed == "neither"
        return f"above {self.low} and below {self.high}" if is_open else f"from {self.low} to {self.high}"


def words(*allowed: str) -> Words:
    """One of some texts."""
    return Words(allowed)


def whole(at_least: int, at_most: int | None = None) -> Range:
    """A whole number."""
    return Range(Integral, at_least, at_most, "left" if at_most is None else "both")


def number(low: float, high: float | None = None, closed: Literal["left", "both", "neither"] | None = None) -> Range:
    """A number in an interval, by default with both ends, but finite."""
    return Range(Real, low, high, closed or ("left" if high is None else "both"))


def check_parameters(allowed: Allowed, values: Mapping[str, Any], owner: str | None = None) -> None:
    """Raise a `ParameterError` about the first value that is not allowed."""
    for name, kinds in allowed.items():
        value = values[name]
        if any(_accepts(kind, value) for kind in kinds):
            continue
        *first, last = (word for kind in kinds for word in _describe(kind))
        what = f"{', '.join(first)} or {last}" if first else last
        hint = nearest(value, [w.strip("'") for w in (*first, last)]) if isinstance(value, str) else ""
        raise ParameterError(name, value, f"must be {what}, got {value!r}" + hint * ("did you mean" in hint), owner)


def _accepts(kind: Any, value: Any) -> bool:
    if isinstance(kind, Words | Range):
        return kind.accepts(value)
    if kind == "boolean":
        return isinstance(value, bool | np.bool_)
    if kind == "verbose":
        return callable(value) or isinstance(value, bool | np.bool_) or whole(0).accepts(value)
    return value is None if kind is None else isinstance(value, kind)


def _describe(kind: Any) -> list[str]:
    """The values of a kind in words, one way after the other."""
    if isinstance(kind, Words | Range):
        return kind.describe()
    if kind == "boolean":
        return ["True", "False"]
    if kind == "verbose":
        return ["True", "False", "a callable"]
    return ["None"] if kind is None else [f"an instance of {kind.__name__!r}"]


def check_jobs(n_jobs: Any) -> int:
    """The number of threads or processes; `None` is 1 (unless a joblib context says otherwise), -1 all cores."""
    from joblib import effective_n_jobs

    if n_jobs is not None and (not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0):
        raise ParameterError.expected("n_jobs", n_jobs, "a whole number other than 0, or None")
    return min(int(effective_n_jobs(n_jobs)), MOST_JOBS)


class Parametrised(BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """Base of heuristics and lifts: equal if of the same class with equal parameters."""

    allowed: ClassVar[Allowed] = {}
    """The allowed values of the parameters."""

    def check(self) -> None:
        """Raise a `ParameterError` if a parameter is out of range."""
        check_parameters(self.allowed, self.get_params(deep=False), type(self).__name__)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Parametrised) and type(self) is type(other) and self.get_params() == other.get_params()

    def __hash__(self) -> int:
        return hash((type(self), *map(repr, self.get_params().items())))

    def __repr__(self, **_: Any) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self.get_params(deep=False).items())
        return f"{type(self).__name__}({inside})"
