"""Parameters: objects that have some and scikit-learn can clone, set and search (`lift__k`), and what they may be.

What a parameter may be is stated and checked by means of scikit-learn's own validation. That is not part of its public
interface, so nothing else imports it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions, make_constraint

from plurule.errors import ParameterError, nearest

MOST_JOBS = 2**15 - 1

Allowed = Mapping[str, Sequence[Any]]
"""Per parameter, the kinds of values it may have: of `words`, `whole`, `number`, or a class, None, "boolean", …"""


def words(*allowed: str) -> Any:
    """One of some texts."""
    options = StrOptions(set(allowed))
    options.in_order = allowed
    return options


def whole(at_least: int, at_most: int | None = None) -> Any:
    """A whole number."""
    return Interval(Integral, at_least, at_most, closed="left" if at_most is None else "both")


def number(low: float, high: float | None = None, closed: Literal["left", "both", "neither"] | None = None) -> Any:
    """A number in an interval, by default with both ends, but finite."""
    return Interval(Real, low, high, closed=closed or ("left" if high is None else "both"))


def check_parameters(allowed: Allowed, values: Mapping[str, Any], owner: str | None = None) -> None:
    """Raise a `ParameterError` about the first value that is none of what it may be."""
    for name, kinds in allowed.items():
        value, constraints = values[name], [make_constraint(kind) for kind in kinds]
        if any(_satisfies(value, constraint) for constraint in constraints):
            continue
        *first, last = (word for constraint in constraints for word in _in_words(constraint))
        what = f"{', '.join(first)} or {last}" if first else last
        hint = nearest(value, [w.strip("'") for w in (*first, last)]) if isinstance(value, str) else ""
        raise ParameterError(name, value, f"must be {what}, got {value!r}" + hint * ("did you mean" in hint), owner)


def _satisfies(value: Any, constraint: Any) -> bool:
    # True and False are whole numbers to Python, and some whole numbers are beyond what a float can be.
    is_odd = isinstance(value, bool) or (isinstance(value, int) and abs(value) > 2**1000)
    return not (isinstance(constraint, Interval) and is_odd) and bool(constraint.is_satisfied_by(value))


def _in_words(constraint: Any) -> list[str]:
    """What satisfies a constraint, one way after the other."""
    if isinstance(constraint, StrOptions):
        return [repr(option) for option in constraint.in_order]
    if not isinstance(constraint, Interval):
        return ["True", "False"] if constraint.is_satisfied_by(True) else [str(constraint)]
    low, high, closed = constraint.left, constraint.right, constraint.closed
    if constraint.type is Integral:
        return [f"a whole number {f'of at least {low}' if high is None else f'from {low} to {high}'}"]
    if high is None:
        finite = "" if closed == "both" else "finite "
        return [f"a {finite}number {'above' if closed == 'neither' else 'of at least'} {low}"]
    return [f"a number from {low} to {high}" if closed == "both" else f"a number above {low} and below {high}"]


def check_jobs(n_jobs: Any) -> int:
    """The number of threads or processes; `None` is 1 (unless a joblib context says otherwise), -1 all cores."""
    from joblib import effective_n_jobs

    if n_jobs is not None and (not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0):
        raise ParameterError.expected("n_jobs", n_jobs, "a whole number other than 0, or None")
    return min(int(effective_n_jobs(n_jobs)), MOST_JOBS)


def told_to(verbose: Any, show: Callable[..., None]) -> Callable[..., None] | None:
    """What is told how far something is: a function that was given as `verbose`, `show` if that is true, or nothing."""
    return verbose if callable(verbose) else show if verbose else None


class Parametrised(BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """Base of heuristics and lifts: equal if of the same class with equal parameters."""

    allowed: ClassVar[Allowed] = {}
    """What the parameters may be."""

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
