"""What to choose by: a measure of `plurule.metrics`, or any scorer of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any

from plurule.errors import nearest
from plurule.metrics import METRICS

Scorer = Callable[..., float]
"""As scikit-learn has them: a function of a fitted classifier, X and Y."""

LABELS_FIRST = ("y_true", "Y_true", "labels_true")
"""What the first parameter of a metric is called; that of a scorer is the classifier."""


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
            raise ValueError(f"scoring must be the name of a measure or a scorer, got {scoring!r}: {_allowed()}")
        _refuse_metric(scoring)
        return Scoring("score", scoring)
    if scoring in METRICS:
        return Scoring(scoring)
    from sklearn.metrics import get_scorer, get_scorer_names

    if scoring not in get_scorer_names():
        hint = nearest(scoring, [*METRICS, *get_scorer_names()])
        raise ValueError(
            f"unknown scoring {scoring!r}{f'{hint} ({_allowed()})' if 'did you mean' in hint else f': {_allowed()}'}"
        )
    return Scoring(scoring, get_scorer(scoring))


def _allowed() -> str:
    names = ", ".join(repr(name) for name in METRICS)
    return f"give {names}, or a scorer of scikit-learn for several labels, such as 'f1_macro' or 'roc_auc'"


def _refuse_metric(function: Callable[..., Any]) -> None:
    """A function of true and predicted labels is easily taken for a scorer."""
    own = next((name for name, metric in METRICS.items() if metric is function), None)
    if own is not None:
        raise ValueError(f"scoring: {own} is a function of labels, not a scorer; give its name, {own!r}")
    try:
        first = next(iter(signature(function).parameters), "")
    except (TypeError, ValueError):
        # Not every callable says what it takes.
        return
    if first in LABELS_FIRST:
        name = getattr(function, "__name__", repr(function))
        raise ValueError(
            f"scoring: {name} is a function of labels, not a scorer; give sklearn.metrics.make_scorer({name}, …), "
            "with average='micro' or the like where there are several labels"
        )
