"""Interpretable multi-label classification rules, learned with relaxed pruning.

Names are imported when they are first used, so that `import plurule` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plurule import methods  # noqa: F401  # every rule list has its methods, whatever part of plurule is imported
from plurule._lazy import attach

if TYPE_CHECKING:
    from plurule import data, datasets, export, heuristics, inspection, lifts, metrics, model, report
    from plurule.bagged import BaggedRuleLists
    from plurule.classifier import RuleListClassifier
    from plurule.classifier_cv import RuleListClassifierCV
    from plurule.data.dataset import Dataset
    from plurule.data.readers.reading import read
    from plurule.distributed.scan import scan
    from plurule.errors import DataError, ModelError, ParameterError, PluruleError
    from plurule.inspection.patterns import discover
    from plurule.learning.constraints import Constraints
    from plurule.learning.fixed_head import FixedHead
    from plurule.learning.min_precision import MinPrecision
    from plurule.model import Rule, RuleList
    from plurule.model.file import load as load_model
    from plurule.model.file import save as save_model

__version__ = "0.1.0"

__all__ = [
    "BaggedRuleLists",
    "Constraints",
    "DataError",
    "Dataset",
    "FixedHead",
    "MinPrecision",
    "ModelError",
    "ParameterError",
    "PluruleError",
    "Rule",
    "RuleList",
    "RuleListClassifier",
    "RuleListClassifierCV",
    "__version__",
    "data",
    "datasets",
    "discover",
    "export",
    "heuristics",
    "inspection",
    "lifts",
    "load_model",
    "metrics",
    "model",
    "read",
    "report",
    "save_model",
    "scan",
]

__getattr__ = attach(
    __name__,
    {
        "Constraints": "plurule.learning.constraints",
        "FixedHead": "plurule.learning.fixed_head",
        "MinPrecision": "plurule.learning.min_precision",
        "Dataset": "plurule.data.dataset",
        "discover": "plurule.inspection.patterns",
        "BaggedRuleLists": "plurule.bagged",
        "RuleListClassifier": "plurule.classifier",
        "RuleListClassifierCV": "plurule.classifier_cv",
        "Rule": "plurule.model",
        "RuleList": "plurule.model",
        "PluruleError": "plurule.errors",
        "DataError": "plurule.errors",
        "ModelError": "plurule.errors",
        "ParameterError": "plurule.errors",
        "load_model": "plurule.model.file:load",
        "save_model": "plurule.model.file:save",
        "read": "plurule.data.readers.reading",
        "scan": "plurule.distributed.scan",
    },
    modules=("data", "datasets", "export", "heuristics", "inspection", "lifts", "metrics", "model", "report"),
)


def __dir__() -> list[str]:
    return sorted(__all__)
