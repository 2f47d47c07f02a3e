"""The bar that rules must reach: how many of their predictions must be right."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plurule.errors import ParameterError
from plurule.heuristics import Counts
from plurule.parameters import Allowed, Parametrised, number, words

Of: TypeAlias = Literal["label", "head"]
When: TypeAlias = Literal["finished", "growing"]

TOLERANCE = 1e-12
"""Values that differ by less than this share count as equal."""


class MinPrecision(Parametrised):
    """The least share of a rule's predictions that must be right: TP ≥ threshold · (TP + FP).

    Parameters
    ----------
    threshold
        0 to 1. One half, as published, forbids rules that are wrong more often than right, which is best for Hamming
        accuracy; F-measures also gain from rules below it, where good ones are rare.
    of
        What must reach it: every `"label"` of a head, inside the search (so that rare labels still get rules), or the
        `"head"` as a whole, after the search (as published: a body whose best head does not reach it is given up).
    when
        The `"finished"` rule only, so that a rule may start out covering much and get precise condition by condition,
        or every candidate on the way to it while it is `"growing"` (as published). A label whose best finished rule
        does not reach it is set aside for the others to get their rules.

    Examples
    --------
    >>> MinPrecision(threshold=0.3).reached(np.array([3.0, 2.0]), np.array([7.0, 8.0]))
    array([ True, False])
    """

    allowed: ClassVar[Allowed] = {
        "threshold": [number(0, 1)],
        "of": [words("label", "head")],
        "when": [words("finished", "growing")],
    }

    def __init__(self, threshold: float = 0.5, of: Of = "label", when: When = "finished"):
        self.threshold = threshold
        self.of = of
        self.when = when

    def reached(self, tp: Counts, fp: Counts) -> NDArray[np.bool_]:
        """Whether counts reach the threshold; what is equal to it in exact arithmetic does."""
        if self.threshold == 0.5:
            return tp >= fp
        needed = self.threshold * (tp + fp)
        return tp >= needed - TOLERANCE * needed


UNBOUND = MinPrecision(threshold=0)
"""What rules must reach while they grow, where only finished ones are asked."""


def as_min_precision(value: Any) -> MinPrecision:
    """A number is the least precision of every label of a finished rule; `"auto"` is one half.

    >>> as_min_precision(0.3)
    MinPrecision(of='label', threshold=0.3, when='finished')
    """
    if isinstance(value, MinPrecision):
        value.check()
        return value
    bar = MinPrecision(threshold=0.5 if isinstance(value, str) and value == "auto" else value)
    try:
        bar.check()
    except ParameterError as error:
        what = "a number from 0 to 1, or a MinPrecision such as MinPrecision(0.5, of='head')"
        raise ParameterError.expected("min_precision", value, what) from error
    return bar
