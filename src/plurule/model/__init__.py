"""What is learned: attributes, conditions, heads, rules and rule lists. Knows nothing of learning."""

from plurule.model.condition import (
    Attribute,
    Condition,
    IntervalCondition,
    LabelCondition,
    MissingCondition,
    NominalCondition,
    NumericCondition,
    SetCondition,
)
from plurule.model.head import Assignment, Head
from plurule.model.rule import Rule
from plurule.model.rule_list import LengthChoice, RuleList

__all__ = [
    "Assignment",
    "Attribute",
    "Condition",
    "Head",
    "IntervalCondition",
    "LabelCondition",
    "LengthChoice",
    "MissingCondition",
    "NominalCondition",
    "NumericCondition",
    "Rule",
    "RuleList",
    "SetCondition",
]
