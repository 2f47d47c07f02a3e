"""Lifts by name, as the paper and its tables write them: `kln at 3: 1.08`, `peak 3: 1.04`, `none`."""

from __future__ import annotations

import re

from plurule.errors import PluruleError
from plurule.lifts import KLN, Lift, NoLift, Peak, Root
from plurule.selection.lift_search import paper_lifts

NONE = "none"
"""The name of ρ ≡ 1, which the paper calls normal pruning."""

_PATTERN = re.compile(r"(kln|root|peak)\s*(?:at\s+)?(\d+)\s*:\s*(\d+(?:\.\d*)?)")
_EXAMPLES = "'kln at 3: 1.08', 'peak 3: 1.04', 'root at 3: 1.1' or 'none'"


def find_lift(name: str) -> Lift:
    """The lift of that name.

    >>> find_lift("peak 3: 1.04") == Peak(labels=3, lift=1.04, curvature=2.0)
    True
    >>> find_lift("none")
    NoLift()
    """
    text = name.strip().lower()
    if text == NONE:
        return NoLift()
    match = _PATTERN.fullmatch(text)
    if match is None:
        raise PluruleError(f"lift {name!r} is not understood; write {_EXAMPLES}")
    kind, labels, lift = match[1], int(match[2]), float(match[3])
    try:
        if kind == "peak":
            return Peak(labels=labels, lift=lift, curvature=2.0)
        return KLN.at(labels, lift) if kind == "kln" else Root.at(labels, lift)
    except ValueError as error:
        raise PluruleError(f"lift {name!r}: {error}") from None


def lift_name(kind: str, labels: int, lift: float) -> str:
    """The name of a lift.

    >>> lift_name("kln", 3, 1.2), lift_name("peak", 2, 1.08)
    ('kln at 3: 1.20', 'peak 2: 1.08')
    """
    return f"peak {labels}: {lift:.2f}" if kind == "peak" else f"{kind} at {labels}: {lift:.2f}"


def kind_of(name: str) -> str:
    """The kind of a lift: `kln`, `peak`, `root` or `none`.

    >>> kind_of("kln at 3: 1.20")
    'kln'
    """
    return name.split()[0]


def labels_of(name: str) -> int | None:
    """The number of labels at which a lift is given.

    >>> labels_of("peak 5: 1.24"), labels_of("none")
    (5, None)
    """
    match = _PATTERN.fullmatch(name)
    return None if match is None else int(match[2])


def height_of(name: str) -> float:
    """How high a lift is: what is given after the colon.

    >>> height_of("kln at 3: 1.20"), height_of("none")
    (1.2, 1.0)
    """
    match = _PATTERN.fullmatch(name)
    return 1.0 if match is None else float(match[3])


def parse_lifts(text: str) -> tuple[str, ...]:
    """Names of several lifts, separated by commas, each written in one way; `paper` stands for the paper's 28.

    >>> parse_lifts("peak 3:1.1, KLN at 3: 1.08")
    ('peak 3: 1.10', 'kln at 3: 1.08')
    >>> len(parse_lifts("paper"))
    28
    """
    names: list[str] = []
    for part in filter(None, (p.strip().lower() for p in text.split(","))):
        if part == "paper":
            names += PAPER_LIFTS
            continue
        find_lift(part)
        match = _PATTERN.fullmatch(part)
        names.append(NONE if match is None else _exact_name(match[1], int(match[2]), float(match[3])))
    if not names:
        raise PluruleError(f"no lift is given; write {_EXAMPLES}, or 'paper' for the 28 of the paper")
    return tuple(dict.fromkeys(names))


def _exact_name(kind: str, labels: int, lift: float) -> str:
    name = lift_name(kind, labels, lift)
    return name if height_of(name) == lift else f"{name.partition(':')[0]}: {lift!r}"


def _paper_names() -> tuple[str, ...]:
    """The paper's candidates by name; five labels are enough for all of them."""
    names = []
    for lift in paper_lifts(n_labels=5):
        if isinstance(lift, Peak):
            names.append(lift_name("peak", lift.labels, lift.lift))
        else:
            names.append(lift_name("kln", 3, lift.at_length(3, 5)))
    return tuple(names)


PAPER_LIFTS = _paper_names()
"""The paper's 28 candidates."""
