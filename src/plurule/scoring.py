"""What to choose by: a measure of `plurule.metrics`, or any scorer of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from plurule.errors import nearest
from plurule.metrics import METRICS

Scorer = Callable[..., float]
"""As scikit-learn has them: a function of a fitted classifier, X and Y."""


@dataclass(frozen=True)
class Scoring:
    """The measure to choose by."""

    name: str
    scorer: Scorer | None = None
    """What computes it, unless it is a measure of `plurule.metrics`."""


def check_scoring(scoring: Any) -> Scoring:
    """The measure, from its name or a scorer.

    >>> check_scoring("micro_f1")
    Scoring(name='micro_f1', scorer=None)
    """
    if not isinstance(scoring, str):
        if not callable(scoring):
            raise ValueError(f"scoring must be the name of a measure or a scorer, got {scoring!r}")
        return Scoring("score", scoring)
    if scoring in METRICS:
        return Scoring(scoring)
    from sklearn.metrics import get_scorer, get_scorer_names

    if scoring not in get_scorer_names():
        names = ", ".join(repr(name) for name in METRICS)
        raise ValueError(
            f"unknown scoring {scoring!r}{nearest(scoring, [*METRICS, *get_scorer_names()])} "
            f"(our own: {names}; all that scikit-learn knows work too)"
        )
    return Scoring(scoring, get_scorer(scoring))
