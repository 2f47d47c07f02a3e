"""Models of data that are read in parts, as text to compare."""

from __future__ import annotations

from typing import Any

from plurule import RuleListClassifier
from plurule.model.file import dumps

ONE_LIST: dict[str, Any] = {"heuristic": "f_measure", "n_rules": 12}
LABELS = ["one", "two", "three"]


def model(data: Any, **given: Any) -> str:
    return dumps(RuleListClassifier(**(ONE_LIST | given)).fit(data).rule_list_)
