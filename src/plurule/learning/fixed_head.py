"""How a body grows under the head that its first condition found."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from plurule.errors import ParameterError
from plurule.parameters import Allowed, Parametrised, words

RefineAgainst: TypeAlias = Literal["lifted", "plain"]
FixedHeadCounts: TypeAlias = Literal["instances", "pairs"]


class FixedHead(Parametrised):
    """The head of a rule stays as its first condition found it; what the conditions that follow are judged by.

    Parameters
    ----------
    refine_against
        With a fixed head, the value that a refined rule must beat: `"lifted"` (as published: a head of several labels
        is refined only if that gains more than its lift) or `"plain"`.
    counts
        With a fixed head, what a covered instance with an open head label counts with: all head labels
        (`"instances"`, as published) or the open ones (`"pairs"`).

    Examples
    --------
    >>> from plurule import RuleListClassifier
    >>> RuleListClassifier(fix_head=FixedHead(counts="pairs")).get_params()["fix_head__counts"]
    'pairs'
    """

    allowed: ClassVar[Allowed] = {
        "refine_against": [words(*get_args(RefineAgainst))],
        "counts": [words(*get_args(FixedHeadCounts))],
    }

    def __init__(self, refine_against: RefineAgainst = "lifted", counts: FixedHeadCounts = "instances"):
        self.refine_against = refine_against
        self.counts = counts


def as_fixed_head(value: Any) -> FixedHead | None:
    """How a head is fixed; None if it is not.

    >>> as_fixed_head(True)
    FixedHead(counts='instances', refine_against='lifted')
    """
    if isinstance(value, FixedHead):
        value.check()
        return value
    if isinstance(value, bool | np.bool_):
        return FixedHead() if value else None
    raise ParameterError.expected("fix_head", value, "True, False, or a FixedHead such as FixedHead(counts='pairs')")
