"""The native engine: the same rules as the reference engine, at the speed of the machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule import _core
from plurule.constraints import ResolvedConstraints, forbidden_directions
from plurule.data.table import SparseColumn, SparseColumns, Table
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
from plurule.learning import covering
from plurule.learning.covering import Progress
from plurule.learning.initial_rules import apply_initial_rules
from plurule.learning.problem import Options, Problem
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
from plurule.model.head import ancestors


def prepare(
    table: Table,
    max_bins: int | None = None,
    weights: NDArray[np.float64] | None = None,
    n_jobs: int = 1,
) -> _core.Columns:
    """Rank the columns of a table; any number of fits on the same rows can share the result."""
    columns = _core.Columns(len(table), max_bins or 0, weights if max_bins else None, n_jobs)
    if isinstance(table.columns, SparseColumns):
        matrix, picked = table.columns.matrix, table.columns.picked
        counts = np.full(len(picked), -1, dtype=np.int32)
        for place in np.flatnonzero(table.columns.nominal[picked]).tolist():
            counts[place] = len(table.attributes[place].categories or ())
        _add_sparse(columns, matrix.indptr, matrix.indices, matrix.data, picked, counts)
        return columns
    dense: list[tuple[NDArray[Any], int]] = []  # those that stand side by side are ranked together

    def add_dense() -> None:
        columns.add_dense([column for column, _ in dense], np.array([count for _, count in dense], dtype=np.int32))
        dense.clear()

    for column, attribute in zip(table.columns, table.attributes, strict=True):
        count = -1 if attribute.categories is None else len(attribute.categories)
        if not isinstance(column, SparseColumn):
            dense.append((column if count < 0 else np.ascontiguousarray(column, dtype=np.int32), count))
            continue
        add_dense()
        values = column.values if count < 0 else column.values.astype(np.float64)
        _add_sparse(columns, np.array([0, len(column.rows)]), column.rows, values, np.array([0]), np.array([count]))
    add_dense()
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
    return hasattr(_core.HeadSearch, options.head_search) and not options.heuristic.example_based


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
        columns = prepare(problem.table, options.max_bins, weights, n_jobs=n_jobs)
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
    rules = (*initial, *(_rule(problem, *rule) for rule in run.rules()))
    return problem.rule_list(rules, tuple(run.undecided()))


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
    if constraints.apart.any():
        core.set_labels_apart(np.ascontiguousarray(constraints.apart, dtype=np.uint8))
    if constraints.directed:
        # To the core the second of two categories is the higher one.
        turned = np.array([bool(a.categories and YES.get(a.categories[0].lower())) for a in attributes])
        forbidden = np.where(
            turned[:, None, None, None], forbidden_directions(constraints)[:, ::-1], forbidden_directions(constraints)
        )
        nominal = np.array([a.is_nominal for a in attributes], dtype=np.uint8)
        asked = forbidden if core.predict_absence else forbidden[..., 1:]
        by_label = bool((asked != asked[:, :, :1, -1:]).any())
        core.set_directions(forbidden.astype(np.uint8).reshape(2 * len(turned), -1), nominal, by_label)
    if constraints.hierarchy:
        above = np.zeros(constraints.apart.shape, dtype=np.uint8)
        above[tuple(np.array(ancestors(constraints.hierarchy)).T)] = 1
        core.set_hierarchy(above)
    if constraints.exclusive:
        numbers = np.full(len(constraints.apart), -1, dtype=np.int32)
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


def _rule(
    problem: Problem,
    head: list[tuple[int, bool]],
    body: list[tuple[str, int, Any]],
    tp: float,
    fp: float,
    coverage: float,
    value: float,
    stop: bool,
    decided: list[tuple[float, float]],
) -> Rule:
    stated = Head(tuple(Assignment(problem.labels[label], label, present) for label, present in head))
    return Rule(
        stated.completed(problem.groups, problem.labels, problem.hierarchy),
        tuple(_condition(problem, *condition) for condition in body),
        tp=tp,
        fp=fp,
        coverage=coverage,
        value=value,
        stop=stop,
        decided=tuple(decided),
    )


def _condition(problem: Problem, operator: str, index: int, value: Any) -> Condition:
    if operator == "label":
        return LabelCondition(problem.labels[index], index, bool(value))
    attribute = problem.table.attributes[index]
    if attribute.categories is not None:
        return OneOfCondition(attribute.name, index, (attribute.categories[value],), is_binary=attribute.is_binary)
    above, at_most = (None, value) if operator == "<=" else (value, None)
    return RangeCondition(attribute.name, index, above, at_most, is_date=attribute.is_date)
