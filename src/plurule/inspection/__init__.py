"""Looking at rule lists: explanations, label dependencies, edits, differences and simplification."""

from plurule.inspection.checks import Finding, check
from plurule.inspection.dependencies import Dependencies, Dependency, dependencies
from plurule.inspection.diff import ModelDiff, diff
from plurule.inspection.edit import Edit
from plurule.inspection.evidence import Evidence, evidence, stability, to_frame
from plurule.inspection.explain import Explanation, Explanations, LabelDecision, Reason, explain
from plurule.inspection.label_graph import LabelGraph
from plurule.inspection.patterns import Pattern, Patterns, discover
from plurule.inspection.simplify import Simplified, prune, simplify
from plurule.model.text import parse, parse_rules

__all__ = [
    "Dependencies",
    "Dependency",
    "Edit",
    "Evidence",
    "Explanation",
    "Explanations",
    "Finding",
    "LabelDecision",
    "LabelGraph",
    "ModelDiff",
    "Pattern",
    "Patterns",
    "Reason",
    "Simplified",
    "check",
    "dependencies",
    "diff",
    "discover",
    "evidence",
    "explain",
    "parse",
    "parse_rules",
    "prune",
    "simplify",
    "stability",
    "to_frame",
]
