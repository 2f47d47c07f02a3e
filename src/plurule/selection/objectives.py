"""Objectives: what rules are trained for, and the measure that the lift is chosen by.

An objective has a short name: the averaging, the heuristic, and `+` if rules predict presence only or `+-` if they also
predict absence. The paper's six are `micro-f+`, `micro-f+-`, `macro-f+`, `macro-f+-`, `ha+` and `ha+-`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plurule.errors import PluruleError, nearest
from plurule.heuristics import (
    Averaging,
    FMeasure,
    HammingAccuracy,
    Heuristic,
    Laplace,
    MEstimate,
    Precision,
    WeightedRelativeAccuracy,
)
from plurule.learning.problem import Options


@dataclass(frozen=True)
class Objective:
    """What rules are trained for."""

    name: str
    title: str
    heuristic: Heuristic
    averaging: Averaging
    predict_absence: bool
    measure: str
    """The measure of `plurule.metrics` that the lift is chosen by."""

    def options(self, lift: NDArray[np.float64]) -> Options:
        """The options of the learner, with the lift as a table of factors."""
        return Options(
            lift=lift, heuristic=self.heuristic, averaging=self.averaging, predict_absence=self.predict_absence
        )


_HEURISTICS: dict[str, tuple[str, Heuristic]] = {
    "f": ("F", FMeasure(beta=0.5)),
    "f1": ("F1", FMeasure(beta=1.0)),
    "precision": ("Prec", Precision()),
    "laplace": ("Laplace", Laplace()),
    "m-estimate": ("m-Est", MEstimate()),
    "wra": ("WRA", WeightedRelativeAccuracy()),
}
_AVERAGINGS: dict[Averaging, str] = {"micro": "Mic", "macro": "Mac"}
_SIGNS = {"+": False, "+-": True}


_ALL = [
    Objective(f"{kind}-{name}{sign}", f"{prefix} {title}{sign}", heuristic, kind, absence, f"{kind}_f1")
    for name, (title, heuristic) in _HEURISTICS.items()
    for kind, prefix in _AVERAGINGS.items()
    for sign, absence in _SIGNS.items()
]
_ALL += [
    Objective(f"ha{sign}", f"HA{sign}", HammingAccuracy(), "micro", absence, "hamming_accuracy")
    for sign, absence in _SIGNS.items()
]
OBJECTIVES = {objective.name: objective for objective in _ALL}
"""All that have a name."""
PAPER_OBJECTIVES = ("micro-f+", "micro-f+-", "macro-f+", "macro-f+-", "ha+", "ha+-")
"""Those of the paper, in the order of its table of model characteristics."""


def find_objective(name: str) -> Objective:
    """The objective of that name."""
    objective = OBJECTIVES.get(name.strip().lower())
    if objective is None:
        close = nearest(name, OBJECTIVES)
        known = ", ".join((*PAPER_OBJECTIVES, *(n for n in OBJECTIVES if n not in PAPER_OBJECTIVES)))
        hint = close if "did you mean" in close else ""
        raise PluruleError(f"unknown objective {name!r}{hint} (known are {known})")
    return objective
