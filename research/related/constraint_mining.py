"""Implications and exclusions among labels, mined for `research.related.constraints`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from research.related.columns import Mask
from research.related.labels import Labels


@dataclass(frozen=True, eq=False)
class Constraints:
    """Constraints on labels, by their places."""

    implies: Mask
    """`implies[a, b]`: where a is present, b is. Closed under transitivity."""
    excludes: Mask
    """`excludes[a, b]`: a and b are not present together. Symmetric."""
    strength: NDArray[np.float64] | None = None
    """Number of training rows for which a constraint says something: those with the premise, or those that would have
    both labels of an exclusion if these were independent."""

    def pairs(self) -> list[tuple[str, int, int]]:
        """Return all constraints: `("implies", a, b)`, and `("excludes", a, b)` with a < b."""
        implied = [("implies", int(a), int(b)) for a, b in np.argwhere(self.implies)]
        return implied + [("excludes", int(a), int(b)) for a, b in np.argwhere(np.triu(self.excludes))]

    def by_strength(self) -> list[tuple[str, int, int]]:
        """Return all constraints, the strongest first."""
        if self.strength is None:
            return self.pairs()
        strength = self.strength
        return sorted(self.pairs(), key=lambda pair: -strength[pair[1], pair[2]])

    def violations(self, Y: Labels) -> int:
        """Count the violated constraints over all rows."""
        present = Y.astype(np.float64)
        together = present.T @ present
        without = present.T @ (1 - present)
        return int(without[self.implies].sum() + together[np.triu(self.excludes)].sum())


def mine_constraints(Y: Labels, min_support: float, min_confidence: float, min_expected: float) -> Constraints:
    """Find implications and exclusions in a label matrix.

    An implication a → b holds for at least `min_confidence` of at least `min_support` rows with a. An exclusion holds
    for as large a share of the rows with the rarer label, and at least `min_expected` rows would have both labels if
    they were independent.

    >>> found = mine_constraints(np.array([[1, 1, 0]] * 5 + [[0, 1, 0]] * 3 + [[0, 0, 1]] * 9), 5, 1.0, 2)
    >>> found.pairs()
    [('implies', 0, 1), ('excludes', 0, 2), ('excludes', 1, 2)]
    """
    present = Y.astype(np.float64)
    counts = present.sum(axis=0)
    together = present.T @ present
    others = ~np.eye(len(counts), dtype=bool)
    at_least = min_confidence * counts[:, None] - 1e-9
    # A label that all rows have is implied by all others, which says nothing about them.
    implies = others & (counts[:, None] >= max(min_support, 1)) & (together >= at_least) & (counts < len(Y))
    expected = np.outer(counts, counts) / max(len(Y), 1)
    rarer = np.minimum(counts[:, None], counts)
    excludes = others & (expected >= max(min_expected, 1e-9)) & (together <= (1 - min_confidence) * rarer + 1e-9)
    for middle in range(len(counts)):
        implies |= np.outer(implies[:, middle], implies[middle]) & others
    # A label that implies and excludes another one would be forbidden.
    strength = np.where(implies, np.broadcast_to(counts[:, None], implies.shape), expected)
    return Constraints(implies, excludes & ~(implies | implies.T), strength)
