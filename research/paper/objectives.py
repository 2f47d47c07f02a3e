"""Objectives: the heuristic that rules are trained with, and the measure that the lift is chosen by.

An objective has a short name: the averaging, the heuristic, and `+` if rules predict presence only or `+-` if they also
predict absence. The paper's six are `micro-f+`, `micro-f+-`, `macro-f+`, `macro-f+-`, `ha+` and `ha+-`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plurule import PluruleError, RelaxedPruningClassifier
from plurule.heuristics import (
    FMeasure,
    HammingAccuracy,
    Heuristic,
    Laplace,
    MEstimate,
    Precision,
    WeightedRelativeAccuracy,
)
from research.paper.lifts import find_lift


@dataclass(frozen=True)
class Objective:
    """Heuristic, averaging and kind of heads, and the measure that the lift is chosen by."""

    name: str
    title: str
    heuristic: Heuristic
    averaging: str
    predict_absence: bool
    measure: str

    def learner(self, lift: str, **parameters: Any) -> Any:
        """Return the paper's learner for this objective with the lift of a name."""
        return RelaxedPruningClassifier(
            heuristic=self.heuristic,
            averaging=self.averaging,
            predict_absence=self.predict_absence,
            lift=find_lift(lift),
            n_jobs=1,
            **parameters,
        )


_HEURISTICS: dict[str, tuple[str, Heuristic]] = {
    "f": ("F", FMeasure(beta=0.5)),
    "f1": ("F1", FMeasure(beta=1.0)),
    "precision": ("Prec", Precision()),
    "laplace": ("Laplace", Laplace()),
    "m-estimate": ("m-Est", MEstimate()),
    "wra": ("WRA", WeightedRelativeAccuracy()),
}
_SIGNS = {"+": False, "+-": True}
_ALL = [
    Objective(f"{kind}-{name}{sign}", f"{prefix} {title}{sign}", heuristic, kind, absence, f"{kind}_f1")
    for name, (title, heuristic) in _HEURISTICS.items()
    for kind, prefix in (("micro", "Mic"), ("macro", "Mac"))
    for sign, absence in _SIGNS.items()
]
_ALL += [
    Objective(f"ha{sign}", f"HA{sign}", HammingAccuracy(), "micro", absence, "hamming_accuracy")
    for sign, absence in _SIGNS.items()
]
OBJECTIVES = {objective.name: objective for objective in _ALL}
PAPER_OBJECTIVES = ("micro-f+", "micro-f+-", "macro-f+", "macro-f+-", "ha+", "ha+-")
"""Those of the paper, in the order of its table of model characteristics."""


def find_objective(name: str) -> Objective:
    """Return the objective of a name."""
    objective = OBJECTIVES.get(name.strip().lower())
    if objective is None:
        others = ", ".join(known for known in OBJECTIVES if known not in PAPER_OBJECTIVES)
        raise PluruleError(f"unknown objective {name!r}; known are {', '.join(PAPER_OBJECTIVES)}, {others}")
    return objective
