"""Which label dependencies a model states, and which of the planted ones these are.

A model states that two labels are *together* if a rule has both in its head, or one in its head and the other, as
present, in its body; that they are *apart* if a rule has one as present and the other as absent, in head or body.
Mined implications and exclusions of labels are such statements too. Labels that are both absent state nothing. A chain
of three labels is found if both of its links are stated; that its ends are together is no error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule.model import Rule
from research.dependencies.data import KINDS, Dependency, DependentLabels

SHARED = 0.6
"""A statement is about a region if at least this share of the instances it is about is in it.

A region holds half of the instances, so that a statement which ignores it has a share of about 0.5.
"""


@dataclass(frozen=True, eq=False)
class Statement:
    """Two labels that are said to be together or apart, for some instances."""

    labels: frozenset[int]
    together: bool
    rows: NDArray[np.bool_]

    def is_about(self, dependency: Dependency, X: NDArray[np.float64]) -> bool:
        """Return whether the labels and their relation are those of a dependency, and the instances in its region."""
        is_positive = dependency.kind != "exclusion"
        if self.labels not in dependency.pairs or self.together != is_positive:
            return False
        if dependency.region is None:
            return True
        return bool(self.rows.any() and dependency.rows(X)[self.rows].mean() >= SHARED)


@dataclass(frozen=True)
class Found:
    """How many planted dependencies were found, and how many pairs of labels were related."""

    planted: int
    stated: int
    """Planted dependencies that the model states; of a chain, both links."""
    by_kind: dict[str, list[int]]
    """For each kind, how many of them are stated, and how many were planted."""
    pairs: int
    """Pairs of labels that the model says are together, or apart."""
    right: int
    """Those that a planted dependency relates in the same way, in the same region."""


def stated_pairs(rule: Rule) -> Iterator[tuple[frozenset[int], bool]]:
    """Return the pairs of labels that a rule relates, and whether they are together; one of each is in its head."""
    head = [(label.index, label.present) for label in rule.head.stated]
    tested = [(condition.index, condition.present) for condition in rule.label_conditions]
    pairs = [*combinations(head, 2), *((one, other) for one in head for other in tested)]
    for (one, is_present), (other, other_is) in pairs:
        if is_present or other_is:
            yield frozenset((one, other)), is_present and other_is


def statements_of_rules(rules: Iterable[Rule], X: NDArray[np.float64]) -> Iterator[Statement]:
    """Return what the rules say about pairs of labels, for the instances that satisfy their attribute conditions."""
    for rule in rules:
        pairs = list(stated_pairs(rule))
        if not pairs:
            continue
        rows = np.ones(len(X), dtype=bool)
        for condition in rule.attribute_conditions:
            rows &= condition.mask(X[:, condition.index])
        for labels, together in pairs:
            yield Statement(labels, together, rows)


def statements_of_constraints(pairs: Iterable[tuple[str, int, int]], n_rows: int) -> Iterator[Statement]:
    """Return implications and exclusions as statements about all instances."""
    everywhere = np.ones(n_rows, dtype=bool)
    for kind, first, second in pairs:
        yield Statement(frozenset((first, second)), kind == "implies", everywhere)


def statements(model: Any, X: NDArray[np.float64]) -> list[Statement]:
    """Return what a fitted learner, or a list of patterns, states.

    Of a learner that wraps another one, the constraints or label rules are counted that it mines, not the rules of the
    other one.
    """
    if hasattr(model, "constraints_"):
        return list(statements_of_constraints(model.constraints_.pairs(), len(X)))
    if hasattr(model, "label_rules_"):
        pairs = [("implies", premise, rule.conclusion) for rule in model.label_rules_ for premise in rule.premise]
        return list(statements_of_constraints(pairs, len(X)))
    rules = model.rule_list_ if hasattr(model, "rule_list_") else model
    return list(statements_of_rules(rules, X))


def count_found(stated: list[Statement], data: DependentLabels) -> Found:
    """Return how many planted dependencies are stated, and how many stated pairs were planted."""
    right: set[tuple[frozenset[int], bool]] = set()
    by_kind: dict[str, list[int]] = {kind: [0, 0] for kind in KINDS}
    for dependency in data.dependencies:
        matching = [statement for statement in stated if statement.is_about(dependency, data.X)]
        by_kind[dependency.kind][0] += set(dependency.links) <= {statement.labels for statement in matching}
        by_kind[dependency.kind][1] += 1
        right |= {(statement.labels, statement.together) for statement in matching}
    pairs = {(statement.labels, statement.together) for statement in stated}
    n_stated = sum(count for count, _ in by_kind.values())
    return Found(len(data.dependencies), n_stated, by_kind, len(pairs), len(right))
