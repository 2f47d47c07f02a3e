"""The native engine: the same rules as the reference engine, at the speed of the machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule import _core
from plurule.data.table import SparseColumn, Table
from plurule.heuristics import (
    FMeasure,
    HammingAccuracy,
    Heuristic,
    Laplace,
    MEstimate,
    Precision,
    Recall,
    ShrunkenFMeasure,
    SubsetAccuracy,
    WeightedRelativeAccuracy,
)
from plurule.learning.constraints import ResolvedConstraints
from plurule.learning.covering import Progress
from plurule.learning.initial_rules import start
from plurule.learning.problem import HEAD_SEARCHES, Options, Problem
from plurule.model import (
    Assignment,
    Condition,
    Head,
    LabelCondition,
    NominalCondition,
    NumericCondition,
    Rule,
    RuleList,
)

F_MEASURE, ACCURACY, PRECISION, RECALL, LAPLACE, M_ESTIMATE, RELATIVE_ACCURACY, CUSTOM = range(8)


def prepare(
    table: Table,
    max_bins: int | None = None,
    weights: NDArray[np.float64] | None = None,
    pack_from: int = 1 << 16,
) -> _core.Columns:
    """Rank the columns of a table; any number of fits on the same rows can share the result.

    From `pack_from` rows on, a column of few values is kept as one byte per row instead of as lists of rows.
    """
    columns = _core.Columns(len(table), max_bins or 0, weights if max_bins else None, pack_from)
    for attribute, column in zip(table.attributes, table.columns, strict=True):
        if isinstance(column, SparseColumn):
            if attribute.categories is None:
                columns.add_sparse_numeric(column.rows, column.values)
            else:
                columns.add_sparse_nominal(column.rows, column.values, len(attribute.categories))
        elif attribute.categories is None:
            columns.add_numeric(column)
        else:
            columns.add_nominal(np.ascontiguousarray(column, dtype=np.int32), len(attribute.categories))
    return columns


def learn(
    problem: Problem,
    options: Options,
    n_jobs: int = 1,
    progress: Progress | None = None,
    columns: _core.Columns | None = None,
) -> RuleList:
    """Learn a rule list; `columns` are those of `prepare`, if there already."""
    weighted = not np.all(problem.weights == 1.0)
    if columns is None:
        columns = prepare(problem.table, options.max_bins, problem.weights if weighted else None)
    formula, parameter, shrinkage = _formula(options.heuristic)
    begin = start(problem) if problem.initial_rules else None
    given = begin.rules if begin else ()
    rules, undecided = _core.learn(
        columns=columns,
        truth=np.ascontiguousarray(problem.Y, dtype=np.uint8),
        weights=np.ascontiguousarray(problem.weights) if weighted else None,
        formula=formula,
        parameter=parameter,
        shrinkage=shrinkage,
        custom=_checked(options.heuristic) if formula == CUSTOM else None,
        head_search=HEAD_SEARCHES.index(options.head_search),
        lift=np.ascontiguousarray(options.lift),
        flags={
            "averages_labels": options.heuristic.averages_labels(options.averaging),
            "example_based": options.heuristic.example_based,
            "label_constraint": options.min_precision.of == "label",
            "constrain_finished": options.min_precision.when == "finished",
            "predict_absence": options.predict_absence,
            "label_conditions": options.label_conditions,
            "fix_head": options.fix_head,
            "refine_against_lifted": options.refine_against == "lifted",
            "whole_instances": options.fixed_head_counts == "instances",
        },
        beam_width=options.beam_width,
        remaining=options.remaining,
        stop_threshold=options.stop_threshold,
        max_rules=None if options.n_rules is None else max(0, options.n_rules - len(given)),
        max_conditions=options.max_conditions,
        min_coverage=options.min_coverage,
        n_threads=n_jobs,
        progress=progress,
        predicted=begin.predicted if begin else None,
        in_training=begin.in_training.astype(np.uint8) if begin else None,
        head_labels=begin.head_labels.astype(np.uint8) if begin else None,
        rules_before=len(given),
        **_constraints(problem.constraints),
    )
    return RuleList(
        (*given, *(_rule(problem, *rule) for rule in rules)),
        problem.table.attributes,
        problem.labels,
        tuple(undecided),
    )


def _constraints(constraints: ResolvedConstraints | None) -> dict[str, NDArray[Any]]:
    """What is constrained; the rest is left out, since a search without constraints is faster."""
    given: dict[str, NDArray[Any]] = {}
    if constraints is None:
        return given
    if not constraints.allowed_attributes.all():
        given["allowed_attributes"] = constraints.allowed_attributes.astype(np.uint8)
    if constraints.requires_attribute:
        given["required_attributes"] = constraints.required_attributes.astype(np.uint8)
    if constraints.binds_labels:
        given["apart"] = np.ascontiguousarray(constraints.apart, dtype=np.uint8)
        given["groups"] = np.ascontiguousarray(constraints.group, dtype=np.int32)
    return given


def _formula(heuristic: Heuristic) -> tuple[int, float, float]:
    """How the core computes a heuristic; by exact class, since a subclass may compute something else."""
    kind = type(heuristic)
    if kind is FMeasure or kind is ShrunkenFMeasure:
        square = float(heuristic.beta) * float(heuristic.beta)
        shrinkage = float(heuristic.m) if kind is ShrunkenFMeasure else 0.0
        return (RECALL, 0.0, 0.0) if np.isinf(square) else (F_MEASURE, square, shrinkage)
    if kind is MEstimate:
        return M_ESTIMATE, float(heuristic.m), 0.0
    plain = {
        HammingAccuracy: ACCURACY,
        SubsetAccuracy: ACCURACY,
        Precision: PRECISION,
        Recall: RECALL,
        Laplace: LAPLACE,
        WeightedRelativeAccuracy: RELATIVE_ACCURACY,
    }
    return plain.get(kind, CUSTOM), 0.0, 0.0


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
    return Rule(
        Head(tuple(Assignment(problem.labels[label], label, present) for label, present in head)),
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
        return LabelCondition(problem.labels[index], index, value)
    attribute = problem.table.attributes[index]
    if attribute.categories is not None:
        return NominalCondition(attribute.name, index, attribute.categories[value])
    return NumericCondition(attribute.name, index, "<=" if operator == "<=" else ">", value)
