"""Interpretable multi-label classification rules, learned with relaxed pruning.

Names are imported when they are first used, so that `import plurule` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plurule import (
        constraints,
        datasets,
        export,
        heuristics,
        inspect,
        io,
        lifts,
        metrics,
        model,
        model_selection,
        report,
    )
    from plurule.classifier import RuleListClassifier
    from plurule.classifier_cv import RuleListClassifierCV
    from plurule.errors import DataError, ModelError, PluruleError
    from plurule.model import Rule, RuleList

__version__ = "0.1.0"

_MODULES = (
    "constraints",
    "datasets",
    "export",
    "heuristics",
    "inspect",
    "io",
    "lifts",
    "metrics",
    "model",
    "model_selection",
    "report",
)
_HOMES = {
    "RuleListClassifier": "plurule.classifier",
    "RuleListClassifierCV": "plurule.classifier_cv",
    "Rule": "plurule.model",
    "RuleList": "plurule.model",
    "PluruleError": "plurule.errors",
    "DataError": "plurule.errors",
    "ModelError": "plurule.errors",
}

__all__ = [
    "DataError",
    "ModelError",
    "PluruleError",
    "Rule",
    "RuleList",
    "RuleListClassifier",
    "RuleListClassifierCV",
    "__version__",
    "constraints",
    "datasets",
    "export",
    "heuristics",
    "inspect",
    "io",
    "lifts",
    "metrics",
    "model",
    "model_selection",
    "report",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"plurule.{name}")
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'plurule' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
