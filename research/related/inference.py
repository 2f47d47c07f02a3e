"""Label inference (LI-MLC): labels that others imply are left out of training, and inferred from these afterwards.

Reference: F. Charte, A. J. Rivera, M. J. del Jesus and F. Herrera, *LI-MLC: a label inference methodology for
addressing high dimensionality in the label space for multilabel classification*, IEEE TNNLS 25, 2014.

Differs from it: premises have at most `max_premise` labels and are counted directly instead of with FP-growth; a label
is left out only if the kept labels infer at least `min_recall` of its occurrences, since the others are lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from plurule import RuleListClassifier
from research.related.base import COUNT, NUMBER, SHARE, MultiLabelClassifier, as_target, predicted_matrix
from research.related.columns import Mask
from research.related.labels import Labels


@dataclass(frozen=True)
class LabelRule:
    """Labels that imply another label."""

    premise: tuple[int, ...]
    conclusion: int
    confidence: float
    support: int
    """Training rows with the premise and the conclusion."""


def mine_label_rules(Y: Labels, min_support: float, min_confidence: float, max_premise: int) -> list[LabelRule]:
    """Return implications among labels with least premises, by confidence, support and length of the premise.

    >>> [(rule.premise, rule.conclusion) for rule in mine_label_rules(np.array([[1, 1], [1, 1], [0, 1]]), 2, 0.9, 1)]
    [((0,), 1)]
    """
    present = Y.astype(bool)
    rules: list[LabelRule] = []
    for premise in _premises(present, min_support, max_premise):
        # A rule whose premise holds that of another one infers nothing more. Shorter premises come first.
        shorter = {rule.conclusion for rule in rules if set(rule.premise) < set(premise)}
        found = _conclusions(present, premise, min_support, min_confidence)
        rules += [rule for rule in found if rule.conclusion not in shorter]
    return sorted(rules, key=lambda rule: (-rule.confidence, -rule.support, len(rule.premise)))


def _premises(present: Mask, min_support: float, max_premise: int) -> Iterator[tuple[int, ...]]:
    frequent = np.flatnonzero(present.sum(axis=0) >= min_support).tolist()
    for size in range(1, max_premise + 1):
        yield from combinations(frequent, size)


def _conclusions(
    present: Mask, premise: tuple[int, ...], min_support: float, min_confidence: float
) -> Iterator[LabelRule]:
    rows = present[:, premise].all(axis=1)
    coverage = int(rows.sum())
    if coverage < min_support:
        return
    counts = present[rows].sum(axis=0)
    enough = (counts >= min_support) & (counts >= min_confidence * coverage - 1e-9)
    for label in np.flatnonzero(enough).tolist():
        if label not in premise:
            yield LabelRule(premise, label, counts[label] / coverage, int(counts[label]))


def choose_inferred(rules: list[LabelRule], Y: Labels, min_recall: float) -> list[LabelRule]:
    """Return the rules of the labels to leave out; no premise holds one of these."""
    present = Y.astype(bool)
    needed: set[int] = set()
    inferred: list[LabelRule] = []
    for label in dict.fromkeys(rule.conclusion for rule in rules):
        left_out = {rule.conclusion for rule in inferred}
        usable = [rule for rule in rules if rule.conclusion == label and not left_out & set(rule.premise)]
        if label in needed or not usable:
            continue
        found = np.any([present[:, rule.premise].all(axis=1) for rule in usable], axis=0)
        if (found & present[:, label]).sum() >= min_recall * present[:, label].sum():
            inferred += usable
            needed |= {premise for rule in usable for premise in rule.premise}
    return inferred


class LabelInference(MultiLabelClassifier):
    """Train a classifier without labels that others imply, and infer these.

    Parameters
    ----------
    estimator
        Any classifier of label matrices; `None` for `RuleListClassifier()`.
    min_support
        Least number of training rows with premise and conclusion.
    min_confidence
        Least share of the rows with the premise that have the conclusion.
    max_premise
        Most labels of a premise.
    min_recall
        Least share of the training rows with a label that the others must infer for the label to be left out.

    Attributes
    ----------
    estimator_ : object
        The classifier of the labels that are not inferred.
    label_rules_ : list of LabelRule
        The implications that infer the others.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **dict.fromkeys(("min_confidence", "min_recall"), SHARE),
        "min_support": NUMBER,
        "max_premise": COUNT,
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        min_support: float = 5,
        min_confidence: float = 0.8,
        max_premise: int = 2,
        min_recall: float = 0.5,
    ) -> None:
        self.estimator = estimator
        self.min_support = min_support
        self.min_confidence = min_confidence
        self.max_premise = max_premise
        self.min_recall = min_recall

    def _learn(self, X: Any, Y: Labels) -> None:
        rules = mine_label_rules(Y, self.min_support, self.min_confidence, self.max_premise)
        self.label_rules_ = choose_inferred(rules, Y, self.min_recall)
        inferred = {rule.conclusion for rule in self.label_rules_}
        self.trained_ = np.array([label for label in range(Y.shape[1]) if label not in inferred])
        estimator = RuleListClassifier() if self.estimator is None else clone(self.estimator)
        self.estimator_ = estimator.fit(X, as_target(Y[:, self.trained_]))

    def _predict(self, X: Any) -> Labels:
        labels = np.zeros((X.shape[0], len(self.label_names_)), dtype=np.int8)
        labels[:, self.trained_] = predicted_matrix(self.estimator_.predict(X), X.shape[0])
        for rule in self.label_rules_:
            labels[labels[:, rule.premise].all(axis=1), rule.conclusion] = 1
        return labels
