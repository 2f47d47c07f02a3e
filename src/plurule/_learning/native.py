"""The native engine: the same rules as the reference engine, at the speed of the machine."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule import _core
from plurule._learning import covering
from plurule._learning.covering import Progress
from plurule._learning.finish import with_short_thresholds
from plurule._learning.initial_rules import apply_initial_rules
from plurule._learning.problem import Options, Problem
from plurule.constraints import ResolvedConstraints, forbidden_directions
from plurule.data.dataset import SparseColumn, SparseColumns
from plurule.heuristics import (
    FMeasure,
    Gain,
    HammingAccuracy,
    Heuristic,
    Laplace,
    MEstimate,
    Precision,
    Recall,
    WeightedRelativeAccuracy,
)
from plurule.model import (
    Assignment,
    Attribute,
    Condition,
    Head,
    LabelCondition,
    OneOfCondition,
    RangeCondition,
    Rule,
    RuleList,
)
from plurule.model.condition import YES
from plurule.model.rule import ancestors

# The core's part of the contract, by name; `_core.pyi` has all of it.
#
#     Columns            the columns as ranks and codes, in memory of its own; runs share them, and once a run has begun
#                        none can be added
#     Options            what `_core_options` sets
#     Run                truth uint8[rows, labels], weights float64[rows] (None: all 1), and the state after initial
#                        rules: predicted int8[rows, labels], in_training uint8[rows], head_labels uint8[labels]
#     Run.learn          learns; progress(rules, share of pairs decided) is called after each rule
#     Run.rules          LearnedRule: labels, present, body of Condition(operator, index, value), counts, value, stop
#     Run.undecided      per label, the weight of the (absent, present) pairs that no rule decided
#
# Of the rest, `_selection/pool` uses PoolSelection and CoverUpdate, `_rows/rows` PoolRows, `_prediction/apply` decide.

# Larger batches keep more threads busy, and take more memory.
RANKED_AT_ONCE = 1 << 24
"""Bytes of columns in files that are in memory at once, per thread. Not measured."""


def prepare(problem: Problem, options: Options, n_jobs: int = 1) -> _core.Columns | None:
    """Rank the columns of a problem; any number of lists with the same bins and conditions can share the result.

    None if the reference engine learns such lists.
    """
    if not runs_natively(options):
        return None
    # What the core reads, and copies as ranks while the call lasts: nothing keeps these arrays.
    #
    #     numeric     float32 or float64, NaN is missing; number of categories -1
    #     nominal     int32 codes 0, 1, …, -1 is missing; number of categories 0 or more
    #     sparse      the rows that differ from 0 (int32, ascending) and their values, columns one after the other
    #
    # Weights matter only for bins, which hold about equal weights: without bins, ranks do not depend on them.
    table, max_bins = problem.table, options.max_bins
    weights = None if max_bins is None else problem.sample_weight
    columns = _core.Columns(len(table), max_bins or 0, weights if max_bins else None, n_jobs)
    if isinstance(table.columns, SparseColumns):
        # One matrix in compressed columns: indptr, indices and data as they are. `picked` names its columns.
        matrix, picked = table.columns.matrix, table.columns.picked
        counts = np.full(len(picked), -1, dtype=np.int32)
        for place in np.flatnonzero(table.columns.nominal[picked]).tolist():
            counts[place] = len(table.attributes[place].categories or ())
        _add_sparse(columns, matrix.indptr, matrix.indices, matrix.data, picked, counts)
        return columns
    # Dense columns that stand side by side are ranked together, by several threads; those in files, some at a time.
    at_once = RANKED_AT_ONCE * n_jobs if not isinstance(table.columns, tuple) else sys.maxsize
    dense: list[NDArray[Any]] = []
    counts_of_dense: list[int] = []
    for place, (column, attribute) in enumerate(zip(table.columns, table.attributes, strict=True), start=1):
        count = -1 if attribute.categories is None else len(attribute.categories)
        is_sparse = isinstance(column, SparseColumn)
        if not is_sparse:
            dense.append(column if count < 0 else np.ascontiguousarray(column, dtype=np.int32))
            counts_of_dense.append(count)
        # Columns must be added in the order of the attributes, so a sparse one ends a batch.
        if dense and (is_sparse or place == len(table.attributes) or len(dense) * dense[-1].nbytes > at_once):
            columns.add_dense(dense, np.array(counts_of_dense, dtype=np.int32))
            dense, counts_of_dense = [], []
        if is_sparse:
            # A matrix of a single column, whose codes are floats as those of a whole matrix are.
            values = column.values if count < 0 else column.values.astype(np.float64)
            _add_sparse(columns, np.array([0, len(column.rows)]), column.rows, values, np.array([0]), np.array([count]))
    return columns


def _add_sparse(
    columns: _core.Columns,
    ends: NDArray[Any],
    rows: NDArray[Any],
    values: NDArray[Any],
    picked: NDArray[Any],
    categories: NDArray[Any],
) -> None:
    listed = rows.astype(np.int32, copy=False)
    columns.add_sparse(ends.astype(np.int64), listed, values, picked.astype(np.int64), categories.astype(np.int32))


def runs_natively(options: Options) -> bool:
    """Whether the core learns such rules; what only small data can use is left to the reference engine."""
    is_known = hasattr(_core.HeadSearch, options.head_search) and not options.heuristic.example_based
    return is_known and options.engine == "native"


def learn_list(problem: Problem, options: Options, n_jobs: int = 1, progress: Progress | None = None) -> RuleList:
    """Learn a rule list with all kinds of conditions that are asked for.

    Thresholds are halfway between two values, written as the shortest number there: 2.8962535, not 2.8962535000000003.
    """
    problem = problem.with_conditions(options.conditions)
    learned = learn(problem, options, n_jobs, progress)
    return with_short_thresholds(learned, problem.table, len(problem.initial_rules))


def learn(
    problem: Problem,
    options: Options,
    n_jobs: int = 1,
    progress: Progress | None = None,
    columns: _core.Columns | None = None,
) -> RuleList:
    """Learn a rule list.

    What the core does not learn (see `runs_natively`) is learned by the reference engine.

    Parameters
    ----------
    problem, options
        What is learned, and how.
    n_jobs
        Number of threads; the list does not depend on it.
    progress
        Called after each rule.
    columns
        Those of `prepare`, if there already.
    """
    if not runs_natively(options):
        return covering.learn(problem, options, progress)
    weights = problem.sample_weight
    begin = apply_initial_rules(problem) if problem.initial_rules else None
    initial = begin.rules if begin else ()
    if columns is None:
        columns = prepare(problem, options, n_jobs)
        assert columns is not None
    # None stands for the usual start: no pair decided, all rows in training, no label in a head.
    run = _core.Run(
        columns=columns,
        truth=np.ascontiguousarray(problem.Y, dtype=np.uint8),
        weights=None if weights is None else np.ascontiguousarray(weights),
        options=_core_options(options, problem),
        n_threads=n_jobs,
        predicted=begin.predicted if begin else None,
        in_training=begin.in_training.astype(np.uint8) if begin else None,
        head_labels=begin.head_labels.astype(np.uint8) if begin else None,
    )
    most = None if options.n_rules is None else max(0, options.n_rules - len(initial))
    run.learn(most, progress, len(initial))
    rules = (*initial, *(_rule(problem, rule) for rule in run.rules()))
    return problem.listed(rules, tuple(run.undecided()))


def _core_options(options: Options, problem: Problem) -> _core.Options:
    """The options as the core has them."""
    core = _core.Options()
    _set_heuristic(core, options.heuristic)
    core.averages_labels = options.heuristic.averages_labels(options.averaging)
    core.head_search = getattr(_core.HeadSearch, options.head_search)
    core.lift = np.asarray(options.lift, dtype=float).tolist()
    asked = options.min_precision
    core.set_min_precision(asked.threshold, asked.of == "label", asked.when == "finished")
    core.predict_absence = options.predict_absence
    core.label_conditions = options.label_conditions
    core.fix_head = options.fix_head
    core.beam_width = options.beam_width
    core.remaining = options.remaining
    core.stop_threshold = options.stop_threshold
    if options.max_conditions is not None:
        core.max_conditions = options.max_conditions
    core.min_coverage = options.min_coverage
    if problem.constraints is not None:
        _constrain(core, problem.constraints, problem.table.attributes)
    return core


def _constrain(core: _core.Options, constraints: ResolvedConstraints, attributes: Sequence[Attribute]) -> None:
    """Set what is constrained and leave the rest: a search without constraints is faster."""
    if not constraints.allowed_attributes.all():
        core.allowed_attributes = constraints.allowed_attributes.astype(int).tolist()
    if constraints.must_differ.any():
        core.set_labels_apart(np.ascontiguousarray(constraints.must_differ, dtype=np.uint8))
    if constraints.directed:
        # To the core the second of two categories is the higher one.
        turned = np.array([bool(a.categories and YES.get(a.categories[0].lower())) for a in attributes])
        # Attributes × (up to a value, from one on) × labels × (absent, present): sides of turned ones are exchanged.
        forbidden = np.where(
            turned[:, None, None, None], forbidden_directions(constraints)[:, ::-1], forbidden_directions(constraints)
        )
        nominal = np.array([a.is_nominal for a in attributes], dtype=np.uint8)
        # Whether labels differ in what is forbidden; if not, the core can leave out a side for all heads at once.
        asked = forbidden if core.predict_absence else forbidden[..., 1:]
        by_label = bool((asked != asked[:, :, :1, -1:]).any())
        core.set_directions(forbidden.astype(np.uint8).reshape(2 * len(turned), -1), nominal, by_label)
    if constraints.hierarchy:
        # Labels × labels: 1 where the first implies the second, directly or by others.
        above = np.zeros(constraints.must_differ.shape, dtype=np.uint8)
        above[tuple(np.array(ancestors(constraints.hierarchy)).T)] = 1
        core.set_hierarchy(above)
    if constraints.exclusive:
        # Per label the number of its group, -1 for none.
        numbers = np.full(len(constraints.must_differ), -1, dtype=np.int32)
        for number, members in enumerate(constraints.exclusive):
            numbers[list(members)] = number
        core.set_exclusive_labels(numbers)


FORMULAS = {
    HammingAccuracy: _core.Formula.accuracy,
    Precision: _core.Formula.precision,
    Recall: _core.Formula.recall,
    Laplace: _core.Formula.laplace,
    WeightedRelativeAccuracy: _core.Formula.relative_accuracy,
}


def _set_heuristic(core: _core.Options, heuristic: Heuristic) -> None:
    """How the core computes a heuristic; by exact class, since a subclass may compute something else."""
    kind = type(heuristic)
    if kind is FMeasure:
        # β² may overflow to infinity, where F is recall.
        square = float(heuristic.beta) * float(heuristic.beta)
        if np.isinf(square):
            core.set_heuristic(_core.Formula.recall)
        else:
            core.set_heuristic(_core.Formula.f_measure, square)
    elif kind is MEstimate:
        core.set_heuristic(_core.Formula.m_estimate, float(heuristic.m))
    elif kind is Gain:
        core.set_heuristic(_core.Formula.gain, float(heuristic.lam))
    elif kind in FORMULAS:
        core.set_heuristic(FORMULAS[kind])
    else:
        core.set_custom_heuristic(_checked(heuristic))


def _checked(heuristic: Heuristic) -> Any:
    """The function of a heuristic written in Python, with its result as the core needs it."""

    def evaluate(*counts: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.ascontiguousarray(heuristic.evaluate(*counts), dtype=np.float64)

    return evaluate


def _rule(problem: Problem, learned: _core.LearnedRule) -> Rule:
    # The core gives the labels that the search found; what groups and the hierarchy imply is added here.
    head = zip(learned.labels, learned.present, strict=True)
    stated = Head(tuple(Assignment(problem.labels[label], label, present) for label, present in head))
    return Rule(
        stated.completed(problem.groups, problem.labels, problem.hierarchy),
        tuple(_condition(problem, condition) for condition in learned.body),
        tp=learned.tp,
        fp=learned.fp,
        coverage=learned.coverage,
        value=learned.value,
        stop=learned.stop,
        decided=learned.decided,
    )


def _condition(problem: Problem, learned: _core.Condition) -> Condition:
    index, value = learned.index, learned.value
    if learned.operator == "label":
        return LabelCondition(problem.labels[index], index, bool(value))
    attribute = problem.table.attributes[index]
    if attribute.categories is not None:
        return OneOfCondition(attribute.name, index, (attribute.categories[int(value)],), is_binary=attribute.is_binary)
    above, at_most = (None, value) if learned.operator == "<=" else (value, None)
    return RangeCondition(attribute.name, index, above, at_most, is_date=attribute.is_date)
