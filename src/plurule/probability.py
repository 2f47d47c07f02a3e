"""How sure a rule list is: the share of training pairs that a rule decided rightly, smoothed.

A pair of instance and label that a rule decided gets the precision which that rule had, for that label, on the
training pairs it decided; a pair that no rule decided gets the share of present labels among the training pairs that
no rule decided. One right and one wrong pair are added to every count, so that nothing is certain.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plurule.model import Rule, RuleList
from plurule.prediction import Decisions

SMALLEST = 1e-9
"""No probability is nearer than this to 0 or 1."""
MARGIN = 1e-6
"""No probability is nearer than this to one half, so that it always says what `predict` says."""


def smoothed(right: float, wrong: float) -> float:
    """Laplace's rule of succession.

    >>> smoothed(right=2, wrong=0)
    0.75
    """
    return (right + 1) / (right + wrong + 2)


def probabilities(rule_list: RuleList, decisions: Decisions) -> NDArray[np.float64]:
    """Per instance and label, the probability that the label is present."""
    result = np.empty(decisions.predicted.shape)
    for label in range(len(rule_list.labels)):
        # The last entry is the one that position -1, decided by no rule, picks.
        by_rule = [present_probability(rule, label) for rule in rule_list]
        absent, present = rule_list.undecided[label] if rule_list.undecided else (0.0, 0.0)
        table = np.array([*by_rule, smoothed(present, absent)])
        result[:, label] = table[decisions.decided_by[:, label]]
    is_present = decisions.labels() == 1
    result = np.where(is_present, np.maximum(result, 0.5 + MARGIN), np.minimum(result, 0.5 - MARGIN))
    return np.clip(result, SMALLEST, 1 - SMALLEST)


def present_probability(rule: Rule, label: int) -> float:
    """The probability that a label is present where this rule decided it (0 if it never does)."""
    for position, assignment in enumerate(rule.head):
        if assignment.index == label:
            # A rule written by hand knows no more than its counts as a whole.
            right, wrong = rule.decided[position] if rule.decided else (rule.tp, rule.fp)
            return smoothed(right, wrong) if assignment.present else smoothed(wrong, right)
    return 0.0
