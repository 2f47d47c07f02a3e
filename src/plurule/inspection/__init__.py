"""Looking at rule lists: explanations, label dependencies, evidence, edits, differences and simplification.

Most of it is called by the methods of `RuleList`.
"""

from plurule.inspection.check import Finding
from plurule.inspection.dependencies import Dependencies, LabelGraph
from plurule.inspection.diff import ModelDiff
from plurule.inspection.discover import Patterns, discover
from plurule.inspection.edit import Edit
from plurule.inspection.evidence import Evidence
from plurule.inspection.explain import Explanation, Explanations
from plurule.inspection.simplify import Simplified

__all__ = [
    "Dependencies",
    "Edit",
    "Evidence",
    "Explanation",
    "Explanations",
    "Finding",
    "LabelGraph",
    "ModelDiff",
    "Patterns",
    "Simplified",
    "discover",
]
