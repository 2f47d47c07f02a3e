"""Looking at rule lists: explanations, label dependencies, edits, differences and simplification."""

from plurule.inspect.checks import Finding, check
from plurule.inspect.counts import recount
from plurule.inspect.dependencies import Dependencies, Dependency, dependencies
from plurule.inspect.diff import ModelDiff, diff
from plurule.inspect.edit import Edit
from plurule.inspect.explain import Explanation, Explanations, LabelDecision, Reason, explain
from plurule.inspect.label_graph import LabelGraph
from plurule.inspect.prune import prune
from plurule.inspect.simplify import Simplified, simplify
from plurule.rule_text import parse, parse_rules

__all__ = [
    "Dependencies",
    "Dependency",
    "Edit",
    "Explanation",
    "Explanations",
    "Finding",
    "LabelDecision",
    "LabelGraph",
    "ModelDiff",
    "Reason",
    "Simplified",
    "check",
    "dependencies",
    "diff",
    "explain",
    "parse",
    "parse_rules",
    "prune",
    "recount",
    "simplify",
]
