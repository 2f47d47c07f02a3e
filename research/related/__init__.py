"""Learners that the paper builds on or cites, as classifiers of scikit-learn; see README.md.

Names are imported when they are first used: pymoo is needed for `EvolvedRules` only.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

HOMES = {
    "AssociationRules": "association",
    "BinaryRelevanceRules": "binary_relevance",
    "Boomer": "peers",
    "DecisionSets": "decision_sets",
    "EvolvedRules": "evolution",
    "LabelConstraints": "constraints",
    "LabelInference": "inference",
    "SeCo": "peers",
    "StackedRules": "stacking",
}

__all__ = list(HOMES)


def __getattr__(name: str) -> Any:
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{HOMES[name]}"), name)
