"""Learned models: attributes, conditions, heads, rules and rule lists. Knows nothing of learning."""

from plurule.model.condition import (
    Attribute,
    Condition,
    LabelCondition,
    MissingCondition,
    OneOfCondition,
    RangeCondition,
)
from plurule.model.rule import Assignment, Head, Rule
from plurule.model.rule_list import LengthChoice, RuleList

__all__ = [
    "Assignment",
    "Attribute",
    "Condition",
    "Head",
    "LabelCondition",
    "LengthChoice",
    "MissingCondition",
    "OneOfCondition",
    "RangeCondition",
    "Rule",
    "RuleList",
]
