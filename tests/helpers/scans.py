"""Models of data that are read in parts, as text to compare."""

from __future__ import annotations

from typing import Any

from plurule import RelaxedPruningClassifier, RuleListClassifier
from plurule.model.file import dumps

ONE_LIST: dict[str, Any] = {"max_rules": 12, "max_bins": 32, "min_coverage": 3, "max_conditions": 5}
LABELS = ["one", "two", "three"]


def learner(**given: Any) -> Any:
    """The learner that has the parameters: the one that selects, if folds are among them."""
    return RuleListClassifier(**given) if "cv" in given else RelaxedPruningClassifier(**(ONE_LIST | given))


def model(data: Any, **given: Any) -> str:
    return dumps(learner(**given).fit(data).rule_list_)
