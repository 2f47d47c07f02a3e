"""What is learned: attributes, conditions, heads, rules and rule lists. Knows nothing of learning."""

from plurule.model.attribute import Attribute
from plurule.model.condition import Condition, LabelCondition, NominalCondition, NumericCondition
from plurule.model.head import Assignment, Head
from plurule.model.length_choice import LengthChoice
from plurule.model.rule import Rule
from plurule.model.rule_list import RuleList

__all__ = [
    "Assignment",
    "Attribute",
    "Condition",
    "Head",
    "LabelCondition",
    "LengthChoice",
    "NominalCondition",
    "NumericCondition",
    "Rule",
    "RuleList",
]
