"""Interpretable multi-label classification rules, learned with relaxed pruning.

Names are imported when they are first used, so that `import plurule` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plurule._lazy import attach

if TYPE_CHECKING:
    from plurule import datasets, export, heuristics, inspection, lifts, metrics, model
    from plurule._rows.scan import scan
    from plurule.classifier import RuleListClassifier
    from plurule.constraints import Constraints
    from plurule.data.dataset import Dataset
    from plurule.data.reading import read
    from plurule.errors import DataError, ModelError, ParameterError, PluruleError
    from plurule.inspection.discover import discover
    from plurule.model import Rule, RuleList
    from plurule.relaxed_pruning import RelaxedPruningClassifier, RelaxedPruningClassifierCV

__version__ = "0.1.0"

__all__ = [
    "Constraints",
    "DataError",
    "Dataset",
    "ModelError",
    "ParameterError",
    "PluruleError",
    "RelaxedPruningClassifier",
    "RelaxedPruningClassifierCV",
    "Rule",
    "RuleList",
    "RuleListClassifier",
    "__version__",
    "datasets",
    "discover",
    "export",
    "heuristics",
    "inspection",
    "lifts",
    "metrics",
    "model",
    "read",
    "scan",
]

__getattr__ = attach(
    __name__,
    {
        "plurule.classifier": ["RuleListClassifier"],
        "plurule.constraints": ["Constraints"],
        "plurule.data.dataset": ["Dataset"],
        "plurule.data.reading": ["read"],
        "plurule._rows.scan": ["scan"],
        "plurule.errors": ["DataError", "ModelError", "ParameterError", "PluruleError"],
        "plurule.inspection.discover": ["discover"],
        "plurule.model": ["Rule", "RuleList"],
        "plurule.relaxed_pruning": ["RelaxedPruningClassifier", "RelaxedPruningClassifierCV"],
    },
    modules=("data", "datasets", "export", "heuristics", "inspection", "lifts", "metrics", "model", "report"),
)


def __dir__() -> list[str]:
    return sorted(__all__)
