"""What an engine is given: the training problem and the options of the learner."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plurule.data.table import Table
from plurule.heuristics import Averaging, FMeasure, Heuristic
from plurule.learning.constraints import ResolvedConstraints
from plurule.learning.fixed_head import FixedHeadCounts, RefineAgainst
from plurule.learning.min_precision import MinPrecision
from plurule.model import Rule

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
    """What the rules that are learned must and must not use."""

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Labels of which exactly one is present."""
        return () if self.constraints is None else self.constraints.exclusive

    @property
    def n_instances(self) -> int:
        """Number of instances."""
        return self.Y.shape[0]

    @property
    def total_weight(self) -> float:
        """The weight of all instances."""
        return float(self.weights.sum())

    @property
    def label_weights(self) -> NDArray[np.float64]:
        """Per label, the weight of the instances that have it."""
        return self.weights @ self.Y

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
    fixed_head_counts: FixedHeadCounts = "instances"
    beam_width: int = 1
    remaining: float = 0.1
    stop_threshold: float = 0.01
    n_rules: int | None = None
    """At most that many."""
    max_conditions: int | None = None
    min_coverage: float = 0
    max_bins: int | None = None

    def up_to(self, n_rules: int | None) -> Options:
        """The same options for a list of at most that many rules."""
        if n_rules is None or (self.n_rules is not None and self.n_rules <= n_rules):
            return self
        return replace(self, n_rules=n_rules)
