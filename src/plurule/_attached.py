"""Empty classes that the parts below inherit from, and that `plurule.methods` fills with what stands above them.

A rule list can be explained, exported and reported, yet knows nothing of explanations, exports and reports. To type
checkers `_attached.pyi` says which functions these are.
"""


class RuleListMethods:
    """What can be done with a rule list."""

    __slots__ = ()


class ExplanationsMethods:
    """How explanations are shown."""

    __slots__ = ()


class LabelGraphMethods:
    """How a graph of labels is shown."""

    __slots__ = ()


class PatternsMethods:
    """How patterns of labels are shown."""

    __slots__ = ()
