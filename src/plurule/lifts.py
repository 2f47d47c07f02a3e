"""Relaxation lifts: how much a longer head is preferred.

A lift ρ maps the number of labels in a head to a factor, with ρ(1) = 1. The value of a rule is multiplied by it
while heads are searched, so that a head with more labels may win although its plain value is a little lower.

Any function of the number of labels is a lift too:

>>> as_table(lambda labels: labels**0.1, 3).round(3)
array([1.   , 1.072, 1.116])
"""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurule.errors import ParameterError, PluruleError
from plurule.parameters import Allowed, Parametrised, number

__all__ = ["KLN", "Lift", "NoLift", "Peak", "Root", "find_lift", "paper_lifts"]


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


class Root(Lift):
    """ρ(x) = x^(1/k).

    Parameters
    ----------
    k
        At least 1; the larger, the flatter.

    Examples
    --------
    >>> Root(k=2).at_length(4, n_labels=7), Root.at(labels=3, lift=1.5).at_length(3, n_labels=7)
    (2.0, 1.5)
    """

    allowed: ClassVar[Allowed] = {"k": [number(1)]}

    def __init__(self, k: float = 10.0):
        self.k = k

    @classmethod
    def at(cls, labels: int, lift: float) -> Root:
        """The function that has the given lift at the given number of labels."""
        if labels < 2:
            raise ValueError(f"Root.at: labels must be at least 2 (one label is never lifted), got {labels}")
        if not lift > 1:
            raise ValueError(f"Root.at: lift must be above 1, got {lift}")
        return cls(k=math.log(labels) / math.log(lift))

    def at_length(self, length: float, n_labels: int) -> float:
        return float(length ** (1 / self.k))


def as_table(lift: Lift | Callable[[int], float] | str | None, n_labels: int) -> NDArray[np.float64]:
    """ρ(1), …, ρ(n) as an array, checked; a text is the name of a lift, `None` is no lift."""
    if lift is None or isinstance(lift, str):
        lift = find_lift(lift or NONE)
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


# Lifts by name ------------------------------------------------------------------------------------------------------

NONE = "none"
"""The name of ρ ≡ 1, which the paper calls normal pruning."""
KINDS: dict[str, Callable[[int, float], Lift]] = {"kln": KLN.at, "peak": Peak, "root": Root.at}
"""What makes a lift of a number of labels and the height there, by the name of its function."""
_NAME = re.compile(r"(kln|root|peak)(?:\s*(?:at\s+)?(\d+)\s*:\s*(\d+(?:\.\d*)?))?")
_EXAMPLES = "'kln at 3: 1.08', 'peak 3: 1.04', 'root at 3: 1.1', 'kln' (1.08 at 3 labels) or 'none'"


class LiftName(NamedTuple):
    """A lift as the paper's tables write it: its kind, and how high it is at a number of labels."""

    kind: str
    """`kln`, `peak`, `root` or `none`."""
    labels: int = 0
    height: float = 1.0

    @classmethod
    def parse(cls, text: str) -> LiftName:
        """The name that a text stands for, however it is written."""
        written = text.strip().lower()
        match = _NAME.fullmatch(written)
        if match is None and written != NONE:
            raise PluruleError(f"lift {text!r} is not understood; write {_EXAMPLES}")
        return cls(NONE) if match is None else cls(match[1], int(match[2] or 3), float(match[3] or 1.08))

    @property
    def function(self) -> str:
        """The name without the height."""
        if self.kind == NONE:
            return NONE
        return f"{self.kind} {self.labels}" if self.kind == "peak" else f"{self.kind} at {self.labels}"

    def __str__(self) -> str:
        if self.kind == NONE:
            return NONE
        short = f"{self.height:.2f}"
        return f"{self.function}: {short if float(short) == self.height else repr(self.height)}"

    def lift(self) -> Lift:
        """The lift that is called so."""
        try:
            return KINDS[self.kind](self.labels, self.height) if self.kind in KINDS else NoLift()
        except ValueError as error:
            raise PluruleError(f"lift {str(self)!r}: {error}") from None


def find_lift(name: str) -> Lift:
    """The lift of that name.

    Parameters
    ----------
    name
        As the command line writes lifts: the function, at which number of labels, and how high there.

    Examples
    --------
    >>> find_lift("peak 3: 1.04") == Peak(labels=3, lift=1.04, curvature=2.0)
    True
    >>> find_lift("none"), find_lift("kln") == find_lift("kln at 3: 1.08")
    (NoLift(), True)
    """
    return LiftName.parse(name).lift()


def parse_lifts(text: str) -> tuple[str, ...]:
    """Names of several lifts, separated by commas, each written in one way; `paper` stands for the paper's 28."""
    names: list[str] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        if part.lower() == "paper":
            names += PAPER_LIFTS
        else:
            name = LiftName.parse(part)
            name.lift()
            names.append(str(name))
    if not names:
        raise PluruleError(f"no lift is given; write {_EXAMPLES}, or 'paper' for the 28 of the paper")
    return tuple(dict.fromkeys(names))


KLN_GIVEN_AT = 3
_FUNCTIONS = (("peak", 2), ("peak", 3), ("peak", 5), ("kln", KLN_GIVEN_AT))
_HEIGHTS = (1.02, 1.04, 1.08, 1.12, 1.16, 1.20, 1.24)
PAPER_LIFTS = tuple(str(LiftName(*function, height)) for function in _FUNCTIONS for height in _HEIGHTS)
"""The paper's 28 candidates by name."""


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
    return [lift for lift in map(find_lift, PAPER_LIFTS) if peaks_within(lift, n_labels)]


def peaks_within(lift: Lift | Callable[[int], float] | str | None, n_labels: int) -> bool:
    """Whether a lift fits the number of labels."""
    return not isinstance(lift, Peak) or lift.labels <= n_labels
