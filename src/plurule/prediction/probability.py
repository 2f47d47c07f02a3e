"""Probabilities of labels: the share of training pairs that a rule decided rightly, smoothed.

A pair of instance and label that a rule decided gets the precision which that rule had, for that label, on the
training pairs it decided; a pair that no rule decided gets the share of present labels among the training pairs that
no rule decided. One right and one wrong pair are added to every count, so that nothing is certain. A rule may predict
a label that is right in less than half of its pairs, if that pays for the measure: `predict` is no threshold.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from plurule.model import Rule, RuleList
from plurule.model.head import Hierarchy, bottom_up
from plurule.prediction.apply import Decisions


def smoothed(right: float, wrong: float) -> float:
    """Laplace's rule of succession.

    >>> smoothed(right=2, wrong=0)
    0.75
    """
    return (right + 1) / (right + wrong + 2)


def probabilities(rule_list: RuleList, decisions: Decisions) -> NDArray[np.float64]:
    """Return the probability of each label per instance."""
    shares = probability_by_rule(rule_list)[decisions.decided_by, np.arange(len(rule_list.labels))]
    return enforce_hierarchy(shares, rule_list.hierarchy)


def enforce_hierarchy(shares: NDArray[np.float64], hierarchy: Hierarchy) -> NDArray[np.float64]:
    """Return shares of which that of a label is at least that of any label which implies it.

    >>> enforce_hierarchy(np.array([[0.8, 0.3, 0.6]]), ((0, 1),))
    array([[0.8, 0.8, 0.6]])
    """
    shares = shares.copy() if hierarchy else shares
    for below, above in bottom_up(hierarchy):
        shares[:, above] = np.maximum(shares[:, above], shares[:, below])
    return shares


def probability_by_rule(rule_list: RuleList) -> NDArray[np.float64]:
    """Return that share per rule and label; the last row, which position -1 picks, is for pairs no rule decides."""
    shares = np.zeros((len(rule_list) + 1, len(rule_list.labels)))
    for position, rule in enumerate(rule_list):
        for (right, wrong), assignment in zip(right_and_wrong(rule), rule.head, strict=True):
            present = smoothed(right, wrong) if assignment.present else smoothed(wrong, right)
            shares[position, assignment.index] = present
    undecided = rule_list.undecided or ((0.0, 0.0),) * len(rule_list.labels)
    shares[-1] = [smoothed(present, absent) for absent, present in undecided]
    return shares


def is_counted(rule: Rule) -> bool:
    """Return whether the rule was ever counted on data; one that was written by hand was not."""
    return bool(rule.decided or rule.tp or rule.fp)


def right_and_wrong(rule: Rule) -> Sequence[tuple[float, float]]:
    """Return, per head label, the training pairs that the rule decided rightly and wrongly."""
    # A rule written by hand knows no more than its counts as a whole.
    return rule.decided or ((rule.tp, rule.fp),) * len(rule.head)
