"""Figure 1 and table 1 of the paper, computed: the search for the best head of one body, and lifted values.

Also what its text says about Hamming accuracy, on counts that are small enough to check by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from plurule.lifts import KLN

COVERED = ((0, 1, 1, 0), (1, 1, 0, 0), (1, 0, 0, 0))
UNCOVERED = ((0, 1, 1, 0), (1, 1, 1, 1), (0, 0, 1, 0))
"""Label vectors of figure 1."""
K = 0.14
"""Factor of the KLN lift of the example."""
PRINTED_LIFTS = {1: "1", 2: "1.1", 3: "1.15", 4: "1.19"}
"""Lifts of the example as the paper rounds them."""
TABLE = ((1, "0.70", "1.00"), (2, "0.67", "1.07"), (3, "0.63", "1.12"))
"""Head length, heuristic value and lift in table 1."""
TABLE_K = 0.106
"""Factor of a KLN lift that gives the lifts of table 1 when rounded."""

Head = tuple[int, ...]


@dataclass(frozen=True)
class Node:
    """A head of figure 1."""

    head: Head
    value: Fraction
    lifted: float
    printed: Fraction
    """Lifted value with the lift as the paper rounds it."""
    step: int | None = None
    """Place in the search of relaxed pruning; None if it is not looked at there."""
    bound: float | None = None
    """Highest lifted value that longer heads of the search can have."""


def precision(head: Head) -> Fraction:
    """Return the precision of a head, micro- and macro-averaged, which is the same for precision of one body."""
    right = sum(row[label] for row in COVERED for label in head)
    return Fraction(right, len(COVERED) * len(head))


def lift(length: int) -> float:
    """Return the lift of a head length."""
    return KLN(k=K).at_length(length, len(COVERED[0]))


def search() -> list[Head]:
    """Return the heads that relaxed pruning looks at, in order; the search ends where no longer head can be better."""
    n_labels = len(COVERED[0])
    order = sorted(range(n_labels), key=lambda label: (-precision((label,)), label))
    heads: list[Head] = []
    best = 0.0
    for length in range(1, n_labels + 1):
        head = tuple(sorted(order[:length]))
        heads.append(head)
        best = max(best, float(precision(head)) * lift(length))
        if bound(head) < best:
            break
    return heads


def bound(head: Head) -> float:
    """Return the highest lifted value that longer heads of the search can have."""
    later = range(len(head) + 1, len(COVERED[0]) + 1)
    return float(precision(head)) * max((lift(length) for length in later), default=0.0)


def nodes() -> list[Node]:
    """Return all heads of figure 1, by length."""
    n_labels = len(COVERED[0])
    visited = search()
    made = []
    for length in range(1, n_labels + 1):
        for head in combinations(range(n_labels), length):
            value = precision(head)
            step = visited.index(head) + 1 if head in visited else None
            printed = value * Fraction(PRINTED_LIFTS[length])
            made.append(
                Node(head, value, float(value) * lift(length), printed, step, bound(head) if step is not None else None)
            )
    return made


def best_head() -> Head:
    """Return the head that relaxed pruning chooses; of equal ones the longer."""
    return max(search(), key=lambda head: (float(precision(head)) * lift(len(head)), len(head)))


def decomposable_head() -> Head:
    """Return the head of Rapp et al. 2018: all single-label heads that reach the best value."""
    single = [precision((label,)) for label in range(len(COVERED[0]))]
    return tuple(label for label, value in enumerate(single) if value == max(single))


def lifted_table() -> list[dict[str, float | int | str]]:
    """Return table 1: lifted values as printed, and with a KLN lift whose rounded values are the printed ones."""
    function = KLN(k=TABLE_K)
    rows = []
    for length, value, printed in TABLE:
        exact = function.at_length(length, len(TABLE))
        rows.append(
            {"length": length, "value": value, "printed_lift": printed}
            | {"printed": f"{float(value) * float(printed):.4f}"}
            | {"lift": exact, "lifted": float(value) * exact}
        )
    return rows


# Hamming accuracy -----------------------------------------------------------------------------------------------------

HAMMING_COUNTS = ((3, 4), (1, 2))
"""Right and counted pairs of two labels; two covered pairs of the second are not open, and are not counted."""


def hamming_averages() -> tuple[Fraction, Fraction]:
    """Return micro- and macro-averaged Hamming accuracy of the counts."""
    micro = Fraction(sum(right for right, _ in HAMMING_COUNTS), sum(total for _, total in HAMMING_COUNTS))
    macro = sum((Fraction(right, total) for right, total in HAMMING_COUNTS), Fraction()) / len(HAMMING_COUNTS)
    return micro, macro
