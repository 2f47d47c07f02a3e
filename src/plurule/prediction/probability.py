"""How sure a rule list is: the share of training pairs that a rule decided rightly, smoothed.

A pair of instance and label that a rule decided gets the precision which that rule had, for that label, on the
training pairs it decided; a pair that no rule decided gets the share of present labels among the training pairs that
no rule decided. One right and one wrong pair are added to every count, so that nothing is certain.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from plurule.model import Rule, RuleList
from plurule.model.head import Hierarchy, ancestors
from plurule.prediction.decide import Decisions

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
    """Per instance and label, the probability that the label is present; on the same side of one half as `predict`."""
    sided = on_its_side(precisions(rule_list, decisions), decisions.labels() == 1)
    return raised(sided, rule_list.hierarchy)


def on_its_side(shares: NDArray[np.float64], is_present: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Shares of present labels as probabilities, each on the side of one half that `predict` says."""
    sided = np.where(is_present, np.maximum(shares, 0.5 + MARGIN), np.minimum(shares, 0.5 - MARGIN))
    return np.clip(sided, SMALLEST, 1 - SMALLEST)


def precisions(rule_list: RuleList, decisions: Decisions) -> NDArray[np.float64]:
    """Per instance and label, the share of present labels among the training pairs that the same rule decided."""
    return np.asarray(by_rule(rule_list)[decisions.decided_by, np.arange(len(rule_list.labels))])


def raised(shares: NDArray[np.float64], hierarchy: Hierarchy) -> NDArray[np.float64]:
    """Shares of which that of a label is at least that of any label which implies it.

    >>> raised(np.array([[0.8, 0.3, 0.6]]), ((0, 1),))
    array([[0.8, 0.8, 0.6]])
    """
    found = shares.copy() if hierarchy else shares
    for below, above in ancestors(hierarchy):
        found[:, above] = np.maximum(found[:, above], shares[:, below])
    return found


def by_rule(rule_list: RuleList) -> NDArray[np.float64]:
    """Per rule and label of its head, that share; in a last row, which position -1 picks, for pairs no rule decides."""
    shares = np.zeros((len(rule_list) + 1, len(rule_list.labels)))
    for position, rule in enumerate(rule_list):
        for (right, wrong), assignment in zip(right_and_wrong(rule), rule.head, strict=True):
            present = smoothed(right, wrong) if assignment.present else smoothed(wrong, right)
            shares[position, assignment.index] = present
    undecided = rule_list.undecided or ((0.0, 0.0),) * len(rule_list.labels)
    shares[-1] = [smoothed(present, absent) for absent, present in undecided]
    return shares


def is_counted(rule: Rule) -> bool:
    """Whether the rule was ever counted on data; one that was written by hand was not."""
    return bool(rule.decided or rule.tp or rule.fp)


def right_and_wrong(rule: Rule) -> Sequence[tuple[float, float]]:
    """Per head label, the training pairs that the rule decided rightly and wrongly."""
    # A rule written by hand knows no more than its counts as a whole.
    return rule.decided or ((rule.tp, rule.fp),) * len(rule.head)
