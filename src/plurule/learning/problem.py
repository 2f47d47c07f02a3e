"""Input of an engine: the training problem with its weights, and the options of the learner."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plurule.constraints import ResolvedConstraints
from plurule.data.dataset import check_row_weights
from plurule.data.table import Table
from plurule.errors import DataError
from plurule.heuristics import Averaging, Counts, FMeasure, Heuristic
from plurule.learning.derived import DerivedColumn, derive
from plurule.model import Attribute, Condition, OneOfCondition, RangeCondition, Rule, RuleList
from plurule.model.head import Groups, Hierarchy
from plurule.prediction.apply import Pairs

Weights = NDArray[np.float64]

HeadSearch: TypeAlias = Literal["single", "decomposable", "anti_monotone", "relaxed", "exhaustive"]

HEAD_SEARCHES: tuple[HeadSearch, ...] = ("single", "decomposable", "anti_monotone", "relaxed", "exhaustive")


@dataclass(frozen=True)
class Problem:
    """Instances with their labels and weights; weights add up exactly in any order (see `exact_weights`)."""

    table: Table
    labels: tuple[str, ...]
    Y: NDArray[np.uint8]
    weights: NDArray[np.float64]
    initial_rules: tuple[Rule, ...] = ()
    """Rules that come first and stay as they are; what they decide is not learned again."""
    constraints: ResolvedConstraints | None = None
    """Constraints on the rules that are learned."""
    derived: tuple[DerivedColumn, ...] = ()
    """Sources of the last columns of the table, if they are not of the data."""
    n_rows: int | None = None
    """How many rows there are, where they are elsewhere; known of them are the label sets, and what each weighs."""

    @property
    def attributes(self) -> Sequence[Attribute]:
        """Those of the data."""
        return self.table.attributes[: len(self.table.attributes) - len(self.derived)]

    def with_conditions(self, kinds: Sequence[str]) -> Problem:
        """The same with columns from which more kinds of conditions are learned."""
        table, derived = derive(self.table, self.Y, self.weights, kinds) if kinds else (self.table, ())
        if not derived:
            return self
        constraints = self.constraints
        if constraints is not None:
            sources = [*range(len(self.table.attributes)), *(column.source for column in derived)]
            constraints = constraints.of_columns(np.array(sources, dtype=np.intp))
        return replace(self, table=table, constraints=constraints, derived=derived)

    def translate(self, condition: Condition) -> Condition:
        """The condition on the attributes of the data that a condition on a derived column stands for."""
        place = condition.index - len(self.attributes)
        if not isinstance(condition, RangeCondition | OneOfCondition) or place < 0:
            return condition
        return self.derived[place].translate(condition, self.attributes[self.derived[place].source])

    def rule_list(self, rules: Iterable[Rule], undecided: Pairs) -> RuleList:
        """Return learned rules as a list about the attributes of the data."""
        if self.derived:
            rules = (replace(rule, body=tuple(map(self.translate, rule.body))) for rule in rules)
        return replace(self.listed(rules), attributes=self.attributes, undecided=undecided)

    def listed(self, rules: Iterable[Rule]) -> RuleList:
        """Rules about the columns of the table as a list."""
        names = self.table.attributes, self.labels
        return RuleList(tuple(rules), *names, groups=self.groups, hierarchy=self.hierarchy)

    @property
    def groups(self) -> Groups:
        """Labels of which exactly one is present."""
        return () if self.constraints is None else self.constraints.exclusive

    @property
    def hierarchy(self) -> Hierarchy:
        """Labels with those above them, which they imply."""
        return () if self.constraints is None else self.constraints.hierarchy

    @property
    def n_instances(self) -> int:
        """Number of instances."""
        return len(self.Y) if self.n_rows is None else self.n_rows

    @property
    def sample_weight(self) -> NDArray[np.float64] | None:
        """The weights of instances; None if they all weigh 1."""
        return None if np.all(self.weights == 1.0) else self.weights

    @property
    def total_weight(self) -> float:
        """The weight of all instances."""
        return float(self.weights.sum())

    @property
    def label_weights(self) -> NDArray[np.float64]:
        """Per label, the weight of the instances that have it."""
        if self.sample_weight is None:
            return np.count_nonzero(self.Y, axis=0).astype(np.float64)
        return np.array([self.weights @ column for column in self.Y.T])  # one by one: as floats they take much memory

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return self.Y.shape[1]


# Weights: only their ratios matter, and every sum of them is exact ---------------------------------------------------

SMALLEST_UNIT = 1e-3
"""Smallest common divisor of weights, as a share of their mean; a smaller one is taken for chance."""
FINEST = 2.0**-30
"""Grid of weights in units of their mean, so that a common factor makes no difference."""


def check_weights(sample_weight: Any, n_rows: int, n_labels: int) -> Weights:
    """One non-negative weight per row, in units of their own; `None` weighs every row 1.

    The unit is the greatest number of which all weights are whole multiples: weights 1, 2 and 3 are as if rows were
    there once, twice and three times, and 0.1, 0.2 and 0.3 are the same. Where there is no such number (or it is less
    than a thousandth of the mean weight), the unit is the mean weight.

    >>> check_weights([0.7, 2.1, 0.7], n_rows=3, n_labels=1)
    array([1., 3., 1.])
    """
    if sample_weight is None:
        return np.broadcast_to(1.0, n_rows)  # which takes no memory
    weights = check_row_weights(sample_weight, n_rows, "sample_weight")
    if not weights.any():
        raise DataError("sample_weight is zero for every row; there is nothing to learn from")
    weights = weights / weights.max()
    return exact_weights(_in_common_units(weights, weights[weights > 0].mean()), n_labels)


def _in_common_units(weights: Weights, mean: float) -> Weights:
    unit = 0.0
    for weight in np.unique(weights[weights > 0]).tolist():
        while weight > 1e-9 * mean:
            unit, weight = weight, abs(math.remainder(unit, weight))
        if unit < SMALLEST_UNIT * mean:
            break
    else:
        multiples = np.round(weights / unit)
        if np.abs(weights / unit - multiples).max() < 1e-6:
            return multiples
    return np.round(weights / mean / FINEST) * FINEST


def exact_weights(weights: Weights, n_labels: int) -> Weights:
    """Weights rounded to a grid on which every sum over instances and labels is exact in floating point.

    Whole numbers stay as they are. Counts then do not depend on the order in which they were added up, which
    is what makes a model the same for every engine and any number of threads.

    >>> exact_weights(np.array([1.0, 2.0]), n_labels=3)
    array([1., 2.])
    """
    total = float(weights.sum()) * max(n_labels, 1)
    if total == 0:
        return weights
    # 2**50 leaves room for the factors (1 + beta²) and the like.
    grid = 2.0 ** (np.floor(np.log2(total)) - 50)
    return np.round(weights / grid) * grid


# Options -------------------------------------------------------------------------------------------------------------

TOLERANCE = 1e-12
"""Values that differ by less than this share count as equal."""


@dataclass(frozen=True)
class MinPrecision:
    """The least share of a rule's predictions that must be right: TP ≥ threshold · (TP + FP).

    >>> MinPrecision(threshold=0.3).reached(np.array([3.0, 2.0]), np.array([7.0, 8.0]))
    array([ True, False])
    """

    threshold: float = 0.5
    """One half, as published, forbids rules that are wrong more often than right."""
    of: Literal["label", "head"] = "label"
    """Its object: every label of a head, inside the search (so that rare labels still get rules), or the head
    as a whole, after the search (as published: a body whose best head does not reach it is not refined)."""
    when: Literal["finished", "growing"] = "finished"
    """Whether only the finished rule must reach it, or every candidate on the way to it (as published)."""

    def reached(self, tp: Counts, fp: Counts) -> NDArray[np.bool_]:
        """Whether counts reach the threshold; what is equal to it in exact arithmetic does."""
        if self.threshold == 0.5:
            return tp >= fp
        needed = self.threshold * (tp + fp)
        return tp >= needed - TOLERANCE * needed


UNBOUND = MinPrecision(threshold=0)
"""Minimum precision of rules that grow, where it is asked of finished ones only."""


@dataclass(frozen=True)
class Options:
    """The options of the learner; `RuleListClassifier` documents them."""

    lift: NDArray[np.float64]
    """ρ(1), …, ρ(n); all 1 for the head searches that know no lift."""
    heuristic: Heuristic = field(default_factory=FMeasure)
    averaging: Averaging = "micro"
    head_search: HeadSearch = "relaxed"
    min_precision: MinPrecision = field(default_factory=lambda: MinPrecision(of="head", when="growing"))
    predict_absence: bool = False
    label_conditions: bool = True
    fix_head: bool = True
    beam_width: int = 1
    remaining: float = 0.1
    stop_threshold: float = 0.01
    n_rules: int | None = None
    """At most that many."""
    max_conditions: int | None = None
    min_coverage: float = 0
    max_bins: int | None = None
    conditions: tuple[str, ...] = ()
    """The kinds of conditions that are learned besides thresholds and single categories."""

    def up_to(self, n_rules: int | None) -> Options:
        """The same options for a list of at most that many rules."""
        if n_rules is None or (self.n_rules is not None and self.n_rules <= n_rules):
            return self
        return replace(self, n_rules=n_rules)
