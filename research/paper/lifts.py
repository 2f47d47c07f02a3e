"""Lifts by the names that the tables of the paper use: `kln at 3: 1.08`, `peak 2: 1.04`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from plurule import PluruleError
from plurule.lifts import KLN, Lift, NoLift, Peak

NONE = "none"
"""No lift, which the paper calls normal pruning."""
KLN_GIVEN_AT = 3
"""Number of labels at which the paper gives the lift of KLN."""
_KINDS: dict[str, Callable[[int, float], Lift]] = {"kln": KLN.at, "peak": Peak}
_NAME = re.compile(r"(kln|peak)\s*(?:at\s+)?(\d+)\s*:\s*(\d+(?:\.\d*)?)")
_EXAMPLES = "'kln at 3: 1.08', 'peak 3: 1.04' or 'none'"


class LiftName(NamedTuple):
    """Kind of a lift, and its height at a number of labels."""

    kind: str
    labels: int = 0
    height: float = 1.0

    @classmethod
    def parse(cls, text: str) -> LiftName:
        """Read a name, however it is spaced."""
        written = text.strip().lower()
        if written == NONE:
            return cls(NONE)
        match = _NAME.fullmatch(written)
        if match is None:
            raise PluruleError(f"lift {text!r} is not understood; write {_EXAMPLES}")
        return cls(match[1], int(match[2]), float(match[3]))

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
        """Return the lift."""
        return NoLift() if self.kind == NONE else _KINDS[self.kind](self.labels, self.height)

    def fits(self, n_labels: int) -> bool:
        """Whether the lift can be used with so many labels: a peak must not lie beyond them."""
        return self.kind != "peak" or self.labels <= n_labels

    def height_for_ties(self, n_labels: int) -> float:
        """Return the height that breaks ties: that of a peak, of other lifts the one at three labels."""
        if self.kind == "peak":
            return self.height
        return self.lift().at_length(KLN_GIVEN_AT, max(n_labels, KLN_GIVEN_AT))


_FUNCTIONS = (("peak", 2), ("peak", 3), ("peak", 5), ("kln", KLN_GIVEN_AT))
_HEIGHTS = (1.02, 1.04, 1.08, 1.12, 1.16, 1.20, 1.24)
PAPER_LIFTS = tuple(str(LiftName(kind, labels, height)) for kind, labels in _FUNCTIONS for height in _HEIGHTS)
"""The paper's 28 candidates."""


def find_lift(name: str) -> Lift:
    """Return the lift of a name."""
    return LiftName.parse(name).lift()


def parse_lifts(text: str) -> tuple[str, ...]:
    """Read names separated by commas; `paper` stands for the paper's candidates."""
    names: list[str] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        if part.lower() == "paper":
            names += PAPER_LIFTS
            continue
        name = LiftName.parse(part)
        try:
            name.lift()
        except ValueError as error:
            raise PluruleError(f"lift {part!r}: {error}") from None
        names.append(str(name))
    if not names:
        raise PluruleError(f"no lift is given; write {_EXAMPLES}, or 'paper' for the paper's candidates")
    return tuple(dict.fromkeys(names))
