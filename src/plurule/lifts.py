"""Relaxation lifts: how much a longer head is preferred.

A lift ρ maps the number of labels in a head to a factor, with ρ(1) = 1. The value of a rule is multiplied by it
while heads are searched, so that a head with more labels may win although its plain value is a little lower.

Any function of the number of labels is a lift too:

>>> as_table(lambda labels: labels**0.1, 3).round(3)
array([1.   , 1.072, 1.116])
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plurule._parameters import Allowed, Parametrised, number
from plurule.errors import ParameterError

__all__ = ["KLN", "Lift", "NoLift", "Peak", "paper_lifts"]


class Lift(Parametrised):
    """Base class of the lifts that come with the library, and of one's own that grid searches should see into.

    Examples
    --------
    Pairs of labels, and nothing longer:

    >>> class Pairs(Lift):
    ...     def __init__(self, lift=1.1):
    ...         self.lift = lift
    ...
    ...     def at_length(self, length, n_labels):
    ...         return self.lift if length == 2 else 1.0
    >>> Pairs().at_length(2, n_labels=7), Pairs(lift=1.2).get_params()
    (1.1, {'lift': 1.2})
    """

    @abstractmethod
    def at_length(self, length: float, n_labels: int) -> float:
        """The factor for a head of this length, where there are `n_labels` labels in all."""

    # Of a default that is an object, scikit-learn asks that it can be called.
    def __call__(self, length: float, n_labels: int) -> float:
        """The same as `at_length`."""
        return self.at_length(length, n_labels)

    def check_for(self, n_labels: int) -> None:
        """Raise a `ParameterError` if a parameter is out of range for so many labels."""
        self.check()

    def plot(self, n_labels: int = 10, ax: Any = None) -> Any:
        """Draw the function for 1 to `n_labels` labels; gives the matplotlib axes."""
        ax = axes_for(ax)
        fine = np.linspace(1, n_labels, 40 * n_labels)
        (line,) = ax.plot(fine, [self.at_length(x, n_labels) for x in fine], label=repr(self))
        ax.plot(np.arange(1, n_labels + 1), as_table(self, n_labels), "o", color=line.get_color())
        ax.set(xlabel="labels in the head", ylabel="lift ρ")
        ax.legend()
        return ax


def axes_for(ax: Any) -> Any:
    """The matplotlib axes to draw in: those given, or new ones."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plotting needs matplotlib: pip install 'plurule[plot]'") from error
    return plt.subplots()[1] if ax is None else ax


AnyLift: TypeAlias = Lift | Callable[[int], float] | None


class NoLift(Lift):
    """ρ ≡ 1: a longer head wins only where it is as good. The paper calls this normal pruning.

    Examples
    --------
    >>> NoLift().at_length(3, n_labels=7)
    1.0
    """

    def at_length(self, length: float, n_labels: int) -> float:
        return 1.0


class KLN(Lift):
    """ρ(x) = 1 + k·ln x: steep at first, flatter with every label.

    Parameters
    ----------
    k
        How steep, at least 0. `KLN.at(labels=3, lift=1.08)` finds it from a lift.

    Examples
    --------
    >>> KLN.at(labels=3, lift=1.08).at_length(3, n_labels=7)
    1.08
    """

    allowed: ClassVar[Allowed] = {"k": [number(0)]}

    def __init__(self, k: float = 0.1):
        self.k = k

    @classmethod
    def at(cls, labels: int, lift: float) -> KLN:
        """The function that has the given lift at the given number of labels."""
        if labels < 2:
            raise ValueError(f"KLN.at: labels must be at least 2 (one label is never lifted), got {labels}")
        return cls(k=(lift - 1) / math.log(labels))

    def at_length(self, length: float, n_labels: int) -> float:
        return 1 + self.k * math.log(length)


class Peak(Lift):
    """Rises to `lift` at the given number of labels, then falls back to 1 at all labels.

    Parameters
    ----------
    labels
        The length of head that is lifted most.
    lift
        What the heuristic of such a head is multiplied by, at least 1.
    curvature
        1: straight sides; above 1 they bend outwards, below 1 inwards.

    Examples
    --------
    >>> as_table(Peak(labels=2, lift=1.1, curvature=1), n_labels=4).round(2)
    array([1.  , 1.1 , 1.05, 1.  ])
    """

    allowed: ClassVar[Allowed] = {
        "labels": [number(1)],
        "lift": [number(1)],
        "curvature": [number(0, closed="neither")],
    }

    def __init__(self, labels: int = 3, lift: float = 1.08, curvature: float = 2.0):
        self.labels = labels
        self.lift = lift
        self.curvature = curvature

    def check_for(self, n_labels: int) -> None:
        super().check_for(n_labels)
        if self.labels > n_labels:
            most = f"at most the number of labels in the data, {n_labels}"
            raise ParameterError.expected("labels", self.labels, most, owner="Peak")

    def at_length(self, length: float, n_labels: int) -> float:
        # A peak at one label has no rising side: a single label is never lifted, and the fall starts at the top.
        start = 1 if length <= self.labels else n_labels
        if length == 1 or length == start:
            return 1.0
        height = (start - length) / (start - self.labels)
        return 1 + height ** (1 / self.curvature) * (self.lift - 1)


def as_table(lift: Lift | Callable[[int], float] | str | None, n_labels: int) -> NDArray[np.float64]:
    """ρ(1), …, ρ(n) as an array, checked; a text is the name of a lift, `None` is no lift."""
    if lift is None or isinstance(lift, str):
        lift = find_lift(lift or "none")
    if isinstance(lift, Lift):
        lift.check_for(n_labels)
        factors = [lift.at_length(length, n_labels) for length in range(1, n_labels + 1)]
    elif isinstance(lift, type) or not callable(lift):
        written = f"a class: write {lift.__name__}()" if isinstance(lift, type) else repr(lift)
        what = "a lift such as KLN(k=0.1), a function of the number of labels or None"
        raise ParameterError("lift", lift, f"must be {what}, got {written}")
    else:
        factors = [float(lift(length)) for length in range(1, n_labels + 1)]
    table = np.array(factors, dtype=np.float64)
    if not np.all(np.isfinite(table)) or not np.all(table > 0):
        odd = int(np.argmax(~(np.isfinite(table) & (table > 0))))
        raise ValueError(f"lift {lift!r} must be a positive number at every length, got {table[odd]} at {odd + 1}")
    if not math.isclose(table[0], 1.0, rel_tol=1e-9):
        raise ValueError(f"lift {lift!r} must be 1 for a single label, got {table[0]}")
    table[0] = 1.0
    return table


# Lifts by name, and those of the paper -------------------------------------------------------------------------------

NAMES: dict[str, Lift] = {"none": NoLift(), "kln": KLN.at(3, 1.08), "peak": Peak(3, 1.08)}
"""Lifts by name; all are 1.08 at three labels."""


def find_lift(name: str) -> Lift:
    """The lift of that name, which is 1.08 at three labels.

    Parameters
    ----------
    name
        `"kln"`, `"peak"` or `"none"`.

    Examples
    --------
    >>> find_lift("none"), find_lift("peak")
    (NoLift(), Peak(curvature=2.0, labels=3, lift=1.08))
    """
    if name not in NAMES:
        what = (
            f"{name!r} is unknown: give {', '.join(map(repr, NAMES))}, or an object such as KLN.at(labels=3, lift=1.08)"
        )
        raise ParameterError("lift", name, what)
    return NAMES[name]


KLN_GIVEN_AT = 3
_HEIGHTS = (1.02, 1.04, 1.08, 1.12, 1.16, 1.20, 1.24)


def paper_lifts(n_labels: int) -> list[Lift]:
    """The paper's candidates: Peak at 2, 3 and 5 labels and KLN given at 3, each with seven lifts.

    Peaks beyond the number of labels are left out.

    Parameters
    ----------
    n_labels
        Labels in the data.

    Examples
    --------
    >>> len(paper_lifts(n_labels=7)), len(paper_lifts(n_labels=4))
    (28, 21)
    """
    peaks: list[Lift] = [Peak(labels, height) for labels in (2, 3, 5) for height in _HEIGHTS if labels <= n_labels]
    return [*peaks, *(KLN.at(KLN_GIVEN_AT, height) for height in _HEIGHTS)]


def peaks_within(lift: Lift | Callable[[int], float] | str | None, n_labels: int) -> bool:
    """Whether a lift fits the number of labels."""
    return not isinstance(lift, Peak) or lift.labels <= n_labels
