"""Pruning a rule list on data that it was not learned from."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from plurule.heuristics import FMeasure, Heuristic
from plurule.inspection.data import match_both, match_weights
from plurule.learning import pruning
from plurule.model import RuleList

BETA = 0.6
"""As the learner weighs recall by default."""


def prune(
    rule_list: RuleList,
    X: Any,
    Y: Any = None,
    *,
    heuristic: Heuristic | None = None,
    sample_weight: ArrayLike | None = None,
) -> RuleList:
    """Drop the conditions and rules that held-out data do not support.

    Parameters
    ----------
    rule_list
        The rules; locked ones stay as they are.
    X
        Instances that the rules were not learned from, or a data set.
    Y
        Their true labels.
    heuristic
        How good a rule is; the F-measure with β = 0.6, unless given.
    sample_weight
        Weight of each instance; that of the data set, unless given.

    Returns
    -------
    RuleList
        What is left, with its counts on this data.

    Examples
    --------
    >>> from plurule.model import Attribute, RuleList
    >>> from plurule.inspection import parse_rules
    >>> names = (Attribute("area"), Attribute("bars")), ("red",)
    >>> rules = RuleList(parse_rules("red <- area > 2 and bars > 7\\nred <- area <= 1", *names), *names)
    >>> print(prune(rules, [[1.0, 1.0], [3.0, 5.0], [5.0, 8.0]], [[0], [1], [1]]))
    red ← area > 2   (TP 2, FP 0)
    """
    table, truth = match_both(rule_list, X, Y)
    weights = match_weights(X, sample_weight, *truth.shape)
    return pruning.prune(rule_list, table, truth, heuristic or FMeasure(beta=BETA), weights)
