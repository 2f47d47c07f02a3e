"""Looking at rule lists: explanations, label dependencies, edits, differences and simplification."""

from plurule.inspect.explain import Explanation, Explanations, LabelDecision, Reason, explain

__all__ = ["Explanation", "Explanations", "LabelDecision", "Reason", "explain"]
