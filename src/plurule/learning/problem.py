"""What an engine is given: the training problem and the options of the learner."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plurule.constraints import ResolvedConstraints
from plurule.data.table import Table
from plurule.heuristics import Averaging, FMeasure, Heuristic
from plurule.learning.derived import DerivedColumn, derive
from plurule.learning.min_precision import MinPrecision
from plurule.model import Attribute, Condition, OneOfCondition, RangeCondition, Rule, RuleList
from plurule.model.head import Groups, Hierarchy
from plurule.prediction.apply import Pairs

HeadSearch: TypeAlias = Literal["single", "decomposable", "anti_monotone", "relaxed", "exhaustive"]

RefineAgainst: TypeAlias = Literal["lifted", "plain"]
FixedHeadCounts: TypeAlias = Literal["instances", "pairs"]

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
    """What the rules that are learned must and must not use."""
    derived: tuple[DerivedColumn, ...] = ()
    """What the last columns of the table were made of, if they are not of the data."""
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

    def said(self, condition: Condition) -> Condition:
        """A condition as it is said of the attributes of the data."""
        place = condition.index - len(self.attributes)
        if not isinstance(condition, RangeCondition | OneOfCondition) or place < 0:
            return condition
        return self.derived[place].said(condition, self.attributes[self.derived[place].source])

    def rule_list(self, rules: Iterable[Rule], undecided: Pairs) -> RuleList:
        """What was learned, about the attributes of the data."""
        if self.derived:
            rules = (replace(rule, body=tuple(map(self.said, rule.body))) for rule in rules)
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
        return np.array([self.weights @ column for column in self.Y.T])  # one by one: as floats they take much memory

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return self.Y.shape[1]


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
    refine_against: RefineAgainst = "lifted"
    """With a fixed head, the value that a refined rule must beat: a multi-label head is refined only if that gains more
    than its lift (as published), or the plain value."""
    fixed_head_counts: FixedHeadCounts = "instances"
    """With a fixed head, whether a covered instance with an open head label counts with all head labels (as published)
    or with the open pairs."""
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
