"""What an engine is given: the training problem with its weights, and the checked options of the learner."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from numbers import Integral
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plurule._learning.derived import CONDITION_KINDS, DerivedColumn, derive
from plurule._parameters import Allowed, number, whole
from plurule._prediction.apply import Pairs
from plurule.constraints import Constraints, ResolvedConstraints
from plurule.data.dataset import Table, check_row_weights
from plurule.errors import DataError, ParameterError, nearest
from plurule.heuristics import BUILT_IN, Averaging, Counts, FMeasure, Heuristic
from plurule.lifts import NoLift, as_table
from plurule.model import Attribute, Condition, OneOfCondition, RangeCondition, Rule, RuleList
from plurule.model.rule import Groups, Hierarchy

Weights = NDArray[np.float64]

HeadSearch: TypeAlias = Literal["single", "decomposable", "anti_monotone", "relaxed", "exhaustive"]

HEAD_SEARCHES: tuple[HeadSearch, ...] = ("single", "decomposable", "anti_monotone", "relaxed", "exhaustive")


@dataclass(frozen=True)
class Problem:
    """Instances with their labels and weights; weights add up exactly in any order (see `exact_weights`)."""

    table: Table
    labels: tuple[str, ...]
    # uint8[rows, labels], 0 and 1.
    Y: NDArray[np.uint8]
    # float64[rows]; a view of a single 1, which takes no memory, where no weights were given.
    weights: NDArray[np.float64]
    initial_rules: tuple[Rule, ...] = ()
    """Rules that come first and stay as they are; what they decide is not learned again."""
    constraints: ResolvedConstraints | None = None
    """Constraints on the rules that are learned."""
    derived: tuple[DerivedColumn, ...] = ()
    """Sources of the last columns of the table, if they are not of the data."""

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
            # Per column the attribute it is made of: a derived column may be tested where its attribute may.
            sources = [*range(len(self.table.attributes)), *(column.source for column in derived)]
            constraints = constraints.of_columns(np.array(sources, dtype=np.intp))
        return replace(self, table=table, constraints=constraints, derived=derived)

    def translate(self, condition: Condition) -> Condition:
        """The condition on the attributes of the data that a condition on a derived column stands for."""
        place = condition.index - len(self.attributes)
        if not isinstance(condition, RangeCondition | OneOfCondition) or place < 0:
            return condition
        return self.derived[place].translate(condition, self.attributes[self.derived[place].source])

    def take(self, rows: Any) -> Problem:
        """Return the problem with some of its rows."""
        return replace(self, table=self.table[rows], Y=self.Y[rows], weights=self.weights[rows])

    def listed(self, rules: Iterable[Rule], undecided: Pairs = ()) -> RuleList:
        """Return rules as a list about the attributes of the data."""
        if self.derived:
            rules = (replace(rule, body=tuple(map(self.translate, rule.body))) for rule in rules)
        return RuleList(
            tuple(rules), self.attributes, self.labels, undecided, groups=self.groups, hierarchy=self.hierarchy
        )

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
        return len(self.Y)

    @property
    def sample_weight(self) -> NDArray[np.float64] | None:
        """The weights of instances; None if they all weigh 1."""
        return None if np.all(self.weights == 1.0) else self.weights

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
    # At most 1, so that sums of huge weights stay finite.
    weights = weights / weights.max()
    return exact_weights(_in_common_units(weights, weights[weights > 0].mean()), n_labels)


def _in_common_units(weights: Weights, mean: float) -> Weights:
    # Euclid's algorithm, for one weight after the other: `unit` is the greatest common divisor so far. Remainders below
    # 1e-9 of the mean are rounding errors.
    unit = 0.0
    for weight in np.unique(weights[weights > 0]).tolist():
        while weight > 1e-9 * mean:
            unit, weight = weight, abs(math.remainder(unit, weight))
        if unit < SMALLEST_UNIT * mean:
            break
    else:
        # The loop came to its end: there is a unit. All weights must be multiples of it, to a millionth.
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
    # Let T be the weight of all pairs of row and label, and g = 2**(floor(log2 T) - 50) the grid. Then
    #
    #     every sum S is a multiple of g,  and  S <= T < 2**(floor(log2 T) + 1) = 2**51 · g
    #
    # but for the rounding of the weights, each by at most g / 2. A double holds all multiples of g up to 2**53 · g:
    # S has no rounding error, in whichever order it was added, and a factor of almost 4 is left.
    total = float(weights.sum()) * max(n_labels, 1)
    if total == 0:
        return weights
    # 2**50 leaves room for the factors (1 + beta²) and the like.
    grid = 2.0 ** (np.floor(np.log2(total)) - 50)
    return np.round(weights / grid) * grid


# Options -------------------------------------------------------------------------------------------------------------

Engine: TypeAlias = Literal["native", "reference"]

ENGINES: tuple[Engine, ...] = ("native", "reference")

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
        # Without a product, so without rounding: counts are exact.
        if self.threshold == 0.5:
            return tp >= fp
        needed = self.threshold * (tp + fp)
        # The product may be rounded up: 0.55 · 100 is 55.00000000000001.
        return tp >= needed - TOLERANCE * needed


UNBOUND = MinPrecision(threshold=0)
"""Minimum precision of rules that grow, where it is asked of finished ones only."""


@dataclass(frozen=True)
class Options:
    """The options of the learner; `RelaxedPruningClassifier` documents them."""

    # float64[labels]: lift[n - 1] is ρ(n).
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
    engine: Engine = "native"
    """Which of two equal programs learns: the compiled core, or its definition in plain numpy (only for tests)."""


LARGEST = 2**31 - 1
"""Larger whole numbers mean the same, and the core counts no further."""

MOST_LABELS_EXHAUSTIVE = 12
"""Labels of which the exhaustive search tries all sets."""
LIFTED_SEARCHES: tuple[HeadSearch, ...] = ("relaxed", "exhaustive")
"""The head searches that know lifts."""

HEURISTICS: dict[str, type[Heuristic]] = {
    re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower(): kind for kind in BUILT_IN
}
"""The built-in heuristics by name: `"f_measure"`, `"hamming_accuracy"`, …"""

COMMON: Allowed = {
    "max_conditions": [None, whole(0)],
    "min_coverage": [number(0)],
    "max_bins": [None, whole(2)],
    "verbose": ["verbose"],
}
"""The values that parameters of both learners may have; heuristics, lifts and the like check themselves."""


def check_options(parameters: Mapping[str, Any], n_labels: int) -> Options:
    """The options of the learner, from parameters whose values are allowed; checked together.

    `max_rules` is called `n_rules` in options. Options that no parameter is about have their defaults.
    """
    heuristic = check_heuristic(parameters["heuristic"])
    averaging = parameters.get("averaging", "micro")
    head_search = parameters.get("head_search", "relaxed")
    check_head_search(head_search, heuristic, averaging, n_labels)
    lift = as_table(parameters["lift"], n_labels)
    if head_search not in LIFTED_SEARCHES or heuristic.additive:
        lift = as_table(NoLift(), n_labels)
    checked = {"lift": lift, "heuristic": heuristic, "n_rules": _plain("int | None", parameters["max_rules"])}
    return plain_options(parameters, checked)


def plain_options(parameters: Mapping[str, Any], checked: Mapping[str, Any]) -> Options:
    """Return options from parameters of the same name whose values are allowed, and some that are known already."""
    known = {"conditions": check_conditions(parameters["conditions"]), **checked}
    others = (option for option in fields(Options) if option.name not in known and option.name in parameters)
    return Options(**known, **{option.name: _plain(option.type, parameters[option.name]) for option in others})


def _plain(kind: Any, value: Any) -> Any:
    """A value as a plain Python number or text, whatever library it comes from."""
    # Annotations are texts here: `from __future__ import annotations` leaves those of a dataclass unread.
    if kind == "bool":
        return bool(value)
    if kind == "float":
        return float(value)
    return min(int(value), LARGEST) if isinstance(value, Integral) else value


def check_conditions(conditions: Any) -> tuple[str, ...]:
    """The kinds of conditions that are asked for, from a list or a text.

    >>> check_conditions("all"), check_conditions("paper"), check_conditions("missing, sets")
    (('sets', 'negation', 'missing'), (), ('sets', 'missing'))
    """
    named = {"all": CONDITION_KINDS, "paper": ()}
    if isinstance(conditions, str):
        conditions = named.get(conditions, [kind.strip() for kind in conditions.split(",")])
    if not isinstance(conditions, list | tuple | set | frozenset) or not set(conditions) <= set(CONDITION_KINDS):
        kinds = ", ".join(map(repr, CONDITION_KINDS))
        raise ParameterError.expected("conditions", conditions, f"'all', 'paper', or some of {kinds}")
    return tuple(kind for kind in CONDITION_KINDS if kind in conditions)


def check_heuristic(heuristic: Any) -> Heuristic:
    """The heuristic, from an object or a name."""
    if isinstance(heuristic, str):
        if heuristic not in HEURISTICS:
            raise ParameterError("heuristic", heuristic, f"{heuristic!r} is unknown{nearest(heuristic, HEURISTICS)}")
        heuristic = HEURISTICS[heuristic]()
    if isinstance(heuristic, type) and issubclass(heuristic, Heuristic):
        what = f"must be an object, not a class: write {heuristic.__name__}()"
        raise ParameterError("heuristic", heuristic, what)
    if not isinstance(heuristic, Heuristic):
        raise ParameterError.expected(
            "heuristic",
            heuristic,
            f"an object such as FMeasure(beta=0.5), one of the names {', '.join(repr(n) for n in HEURISTICS)}, or an "
            "object of your own subclass of plurule.heuristics.Heuristic",
        )
    heuristic.check()
    _try_out(heuristic)
    return heuristic


def _try_out(heuristic: Heuristic) -> None:
    """Someone's own heuristic fails here, on four small matrices, instead of in the middle of training."""
    matrices = [np.array(counts, dtype=float) for counts in ([[3, 0], [1, 2]], [[1, 0], [0, 2]], [[2, 0], [1, 2]])]
    tp, fp, tn = matrices
    values = np.asarray(heuristic.evaluate(tp, fp, tn, fp))
    problem = None
    if values.shape != tp.shape:
        what = "evaluate must return one value per confusion matrix"
        problem = f"{heuristic!r}: {what}; arrays of shape {tp.shape} gave shape {values.shape}"
    elif np.isnan(values).any():
        problem = f"{heuristic!r}: evaluate returned NaN; plurule.heuristics.ratio divides with 0/0 = 0"
    if problem is not None:
        raise ParameterError("heuristic", heuristic, problem)


def check_head_search(head_search: HeadSearch, heuristic: Heuristic, averaging: Averaging, n_labels: int) -> None:
    """Raise an error if the head search cannot find the best head for the heuristic."""
    missing = {
        "relaxed": "" if not heuristic.example_based else "judges instances as a whole",
        "decomposable": "" if heuristic.is_decomposable(averaging) else "is not decomposable",
        "anti_monotone": "" if heuristic.is_anti_monotone(averaging) else "is not anti-monotone",
    }
    others = [
        s for s in HEAD_SEARCHES if not missing.get(s) and (s != "exhaustive" or n_labels <= MOST_LABELS_EXHAUSTIVE)
    ]
    use = f"use {' or '.join(repr(search) for search in others)}"
    if missing.get(head_search):
        averaged = "" if heuristic.example_based or heuristic.additive else f" with averaging={averaging!r}"
        helps = ", or averaging='macro'" if averaging == "micro" and heuristic.is_decomposable("macro") else ""
        reason = f"heuristic={heuristic!r}, which{averaged} {missing[head_search]}"
        raise ParameterError("head_search", head_search, f"{head_search!r} does not work with {reason}; {use}{helps}")
    if head_search not in others:
        what = (
            f"{head_search!r} looks at every set of labels, which is meant for at most {MOST_LABELS_EXHAUSTIVE} labels"
        )
        raise ParameterError("head_search", head_search, f"{what}, got {n_labels}; {use}")


def check_constraints(
    constraints: Any,
    attributes: Sequence[Attribute],
    labels: Sequence[str],
    groups: Groups,
    hierarchy: Hierarchy,
    initial_rules: Sequence[Rule] = (),
    Y: Any = None,
) -> ResolvedConstraints | None:
    """The constraints on the rules of some data, if there are any; its groups and hierarchy of labels are some.

    Labels that are at hand are checked, too.
    """
    if constraints is None and not groups and not hierarchy:
        return None
    if not isinstance(constraints, Constraints | None):
        raise ParameterError.expected("constraints", constraints, "None or a plurule.Constraints")
    resolved = (constraints or Constraints()).resolve(attributes, labels).with_exclusive(groups, labels)
    resolved = resolved.with_hierarchy(hierarchy, labels)
    if Y is not None:
        resolved.expect_kept_by(Y, labels)
    resolved.expect_directed(initial_rules)
    return resolved
