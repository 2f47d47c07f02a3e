"""The minimum precision of rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from plurule.heuristics import Counts

TOLERANCE = 1e-12
"""Values that differ by less than this share count as equal."""


@dataclass(frozen=True)
class MinPrecision:
    """The least share of a rule's predictions that must be right: TP ≥ threshold · (TP + FP).

    >>> MinPrecision(threshold=0.3).reached(np.array([3.0, 2.0]), np.array([7.0, 8.0]))
    array([ True, False])
    """

    threshold: float = 0.5
    """One half, as published, forbids rules that are wrong more often than right."""
    of: Literal["label", "head"] = "label"
    """What must reach it: every label of a head, inside the search (so that rare labels still get rules), or the head
    as a whole, after the search (as published: a body whose best head does not reach it is not refined)."""
    when: Literal["finished", "growing"] = "finished"
    """Whether only the finished rule must reach it, or every candidate on the way to it (as published)."""

    def reached(self, tp: Counts, fp: Counts) -> NDArray[np.bool_]:
        """Whether counts reach the threshold; what is equal to it in exact arithmetic does."""
        if self.threshold == 0.5:
            return tp >= fp
        needed = self.threshold * (tp + fp)
        return tp >= needed - TOLERANCE * needed


UNBOUND = MinPrecision(threshold=0)
"""What rules must reach while they grow, where only finished ones are asked."""
