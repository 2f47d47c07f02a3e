"""Random training problems and options for comparing engines: every kind of column, every option."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.sparse import csc_array

from plurule._learning.problem import HEAD_SEARCHES, MinPrecision, Options, Problem, check_head_search, exact_weights
from plurule.constraints import Constraints
from plurule.data.dataset import Column, SparseColumn, SparseColumns, Table
from plurule.errors import ModelError
from plurule.heuristics import (
    AVERAGINGS,
    Counts,
    FMeasure,
    HammingAccuracy,
    Heuristic,
    Laplace,
    MEstimate,
    Precision,
    Recall,
    SubsetAccuracy,
    WeightedRelativeAccuracy,
    ratio,
)
from plurule.lifts import KLN, NoLift, Peak, as_table
from plurule.model import Attribute
from plurule.model.rule import ancestors

T = TypeVar("T")


class Lopsided(Heuristic):
    """Someone's own heuristic: neither decomposable nor anti-monotone, and not a ratio the core knows."""

    def evaluate(self, tp: Counts, fp: Counts, tn: Counts, fn: Counts) -> Counts:
        return ratio(tp + 0.3 * tn, tp + 2 * fp + tn + 1.5 * fn + 1)


class Difference(Heuristic):
    """Another: often negative."""

    def evaluate(self, tp: Counts, fp: Counts, tn: Counts, fn: Counts) -> Counts:
        return np.sqrt(tp) - 0.5 * fp - 0.1 * fn


HEURISTICS: tuple[Heuristic, ...] = (
    *(FMeasure(beta) for beta in (0, 0.3, 0.5, 0.5, 0.5, 1, 2, float("inf"))),
    *(HammingAccuracy(), HammingAccuracy(), Precision(), Recall(), Laplace()),
    *(MEstimate(), MEstimate(2), WeightedRelativeAccuracy(), SubsetAccuracy(), SubsetAccuracy()),
    *(Lopsided(), Difference()),
)


def pick(rng: Generator, choices: tuple[T, ...]) -> T:
    """One of some objects."""
    return choices[rng.integers(len(choices))]


# Columns ---------------------------------------------------------------------------------------------------


def continuous(rng: Generator, n_rows: int) -> NDArray[Any]:
    return rng.normal(size=n_rows).round(rng.integers(1, 16))


def tied(rng: Generator, n_rows: int) -> NDArray[Any]:
    return rng.integers(-1, 4, n_rows).astype(float)


def single_precision(rng: Generator, n_rows: int) -> NDArray[Any]:
    return rng.choice([0.1, 0.2, 0.3, 1e-40, 16777217.0], n_rows).astype(np.float32)


def constant(rng: Generator, n_rows: int) -> NDArray[Any]:
    return np.full(n_rows, rng.choice([0.0, 3.25]))


def extreme(rng: Generator, n_rows: int) -> NDArray[Any]:
    """Values whose middle overflows, vanishes or is one of them."""
    largest, smallest = np.finfo(float).max, np.finfo(float).smallest_subnormal
    values = [-largest, largest, -smallest, smallest, 0.0, -0.0, 1.0, np.nextafter(1.0, 2.0)]
    return rng.choice(values, n_rows)


def mostly_zero(rng: Generator, n_rows: int) -> NDArray[Any]:
    return np.where(rng.random(n_rows) < 0.7, 0.0, rng.integers(-2, 4, n_rows))


NUMERIC: tuple[Callable[[Generator, int], NDArray[Any]], ...] = (
    continuous,
    continuous,
    tied,
    tied,
    single_precision,
    constant,
    extreme,
    mostly_zero,
)


def random_attribute(rng: Generator, name: str, n_rows: int) -> tuple[Attribute, NDArray[Any]]:
    """A column with its gaps: seldom, sometimes in all rows."""
    missing = rng.random(n_rows) < pick(rng, (0, 0, 0, 0.2, 0.2, 1))
    if rng.random() < 0.3:
        categories = pick(
            rng, (("a",), ("a", "b"), ("a", "b", "c"), ("a", "b", "c", "d"), ("no", "yes"), ("Yes", "No"))
        )
        often = rng.dirichlet(np.full(len(categories), 0.7))  # some categories hold no row
        return Attribute(name, categories), np.where(missing, -1, rng.choice(len(categories), n_rows, p=often)).astype(
            np.int32
        )
    column = pick(rng, NUMERIC)(rng, n_rows)
    column[missing] = np.nan
    return Attribute(name), column


def sparse(rng: Generator, column: NDArray[Any]) -> SparseColumn:
    """The rows that are not zero, and a zero here and there."""
    stored = np.flatnonzero((column != 0) | (rng.random(len(column)) < 0.05)).astype(np.int32)
    return SparseColumn(stored, column[stored], len(column))


# Problems --------------------------------------------------------------------------------------------------


def random_problem(rng: Generator, most_rows: int = 24, most_columns: int = 4, most_labels: int = 5) -> Problem:
    """Instances with ties, gaps, constant columns, duplicates, weights, and labels that depend on one another."""
    n_rows, n_labels = int(rng.integers(1, most_rows + 1)), int(rng.integers(1, most_labels + 1))
    named = [random_attribute(rng, f"a{i}", n_rows) for i in range(rng.integers(0, most_columns + 1))]
    Y = random_labels(rng, [column for _, column in named], n_rows, n_labels)
    if rng.random() < 0.3:
        rows = rng.integers(0, n_rows, n_rows)
        named, Y = [(attribute, column[rows]) for attribute, column in named], Y[rows]
    columns: list[Column] = [sparse(rng, column) if rng.random() < 0.3 else column for _, column in named]
    table = Table([attribute for attribute, _ in named], columns, n_rows)
    return Problem(table, tuple(f"l{i}" for i in range(n_labels)), Y, random_weights(rng, n_rows, n_labels))


def random_sparse_problem(rng: Generator) -> Problem:
    """Counts and yes-or-no columns that are mostly zero, some of them always, kept as one matrix."""
    n_rows, n_columns, n_labels = int(rng.integers(5, 40)), int(rng.integers(1, 20)), int(rng.integers(1, 7))
    nominal = rng.random(n_columns) < rng.random()
    listed = rng.random((n_rows, n_columns)) < rng.choice([0, 0.05, 0.2], n_columns)
    X = rng.integers(-2, 5, (n_rows, n_columns)) * listed
    X[:, nominal] = X[:, nominal] > 0
    Y = random_labels(rng, list(X.T), n_rows, n_labels)
    columns = SparseColumns(csc_array(X.astype(float)), nominal, np.arange(n_columns))
    attributes = [Attribute(f"a{i}", ("no", "yes") if yes_or_no else None) for i, yes_or_no in enumerate(nominal)]
    return Problem(Table(attributes, columns), tuple(f"l{i}" for i in range(n_labels)), Y, np.ones(n_rows))


def random_labels(rng: Generator, columns: list[NDArray[Any]], n_rows: int, n_labels: int) -> NDArray[np.uint8]:
    """Labels at random, after a column, or after another label."""
    Y = (rng.random((n_rows, n_labels)) < rng.choice([0.05, 0.3, 0.5, 0.8], n_labels)).astype(np.uint8)
    for label in range(n_labels):
        kind = rng.integers(5)
        if kind == 0 and columns:
            column = columns[rng.integers(len(columns))]
            Y[:, label] = column > rng.choice(column)
        elif kind == 1:
            Y[:, label] = Y[:, rng.integers(n_labels)]
        noise = rng.random(n_rows) < pick(rng, (0, 0.02))
        Y[noise, label] = 1 - Y[noise, label]
    return Y


def random_weights(rng: Generator, n_rows: int, n_labels: int) -> NDArray[np.float64]:
    kind = rng.random()
    if kind < 0.6:
        return np.ones(n_rows)
    if kind < 0.8:
        return rng.integers(1, 4, n_rows).astype(float)
    weights = rng.random(n_rows) + 0.01 if kind < 0.9 else rng.choice([1e-6, 1.0, 1e6], n_rows)
    return exact_weights(weights, n_labels)


# Constraints -----------------------------------------------------------------------------------------------


def random_constraints(rng: Generator, problem: Problem) -> Constraints:
    """What an expert might ask for: any of its kinds, or nothing."""
    attributes = rng.permutation(problem.table.names).tolist()
    n_forbidden = int(rng.integers(0, 3)) if rng.random() < 0.5 else 0
    pairs = list(combinations(problem.labels, 2))
    share_apart = pick(rng, (0.0, 0.2, 0.5))
    apart = [pair for pair in pairs if rng.random() < share_apart]
    labels = rng.permutation(problem.labels).tolist()
    exclusive = [tuple(labels)[: int(rng.integers(2, 4))]] if len(labels) > 1 and rng.random() < 0.4 else []
    asked = Constraints(attributes[:n_forbidden], apart, exclusive, *random_directions(rng, problem))
    implied = [pair for pair in pairs if rng.random() < pick(rng, (0.0, 0.0, 0.3))]
    try:
        wishes = replace(asked, hierarchy=implied)
        wishes.resolve(problem.table.attributes, problem.labels)
    except ModelError:  # what goes together, or must not, need not be implied
        return asked
    return wishes


def random_directions(rng: Generator, problem: Problem) -> tuple[list[Any], list[Any]]:
    """Attributes that are increasing and decreasing: for all labels, or for some of them."""
    found: tuple[list[Any], list[Any]] = [], []
    share = pick(rng, (0.0, 0.0, 0.5, 1.0))
    for attribute in problem.table.attributes:
        if (attribute.is_nominal and not attribute.is_binary) or rng.random() >= share:
            continue
        if rng.random() < 0.3:
            found[rng.integers(2)].append(attribute.name)
            continue
        for label in problem.labels:
            if rng.random() < 0.5:
                found[rng.integers(2)].append((attribute.name, label))
    return found


def constrained(problem: Problem, constraints: Constraints) -> Problem:
    """The same problem under constraints; rows that have a label have those that it implies."""
    resolved, Y = constraints.resolve(problem.table.attributes, problem.labels), problem.Y.copy()
    for below, above in ancestors(resolved.hierarchy):
        Y[:, above] |= problem.Y[:, below]
    return replace(problem, constraints=resolved, Y=Y)


# Options ---------------------------------------------------------------------------------------------------


def random_options(rng: Generator, problem: Problem, **chosen: Any) -> Options:
    """Options of the learner, every one of them in play; some can be chosen beforehand."""
    n_labels = problem.n_labels
    while True:
        options: dict[str, Any] = {
            "heuristic": pick(rng, HEURISTICS),
            "averaging": pick(rng, AVERAGINGS),
            "head_search": pick(rng, (*HEAD_SEARCHES, "relaxed", "relaxed", "relaxed")),
            "min_precision": random_min_precision(rng),
            "predict_absence": rng.random() < 0.5,
            "label_conditions": rng.random() < 0.8,
            "fix_head": rng.random() < 0.7,
            "beam_width": pick(rng, (1, 1, 1, 2, 3)),
            "remaining": pick(rng, (0.0, 0.1, 0.3)),
            "stop_threshold": pick(rng, (0.0, 0.01, 0.2)),
            "n_rules": pick(rng, (None, None, None, None, 1, 3)),
            "max_conditions": pick(rng, (None, None, None, 0, 1, 2)),
            "min_coverage": pick(rng, (0.0, 0.0, 0.0, 2.0, 3.5)),
            "max_bins": pick(rng, (None, None, None, 2, 3, 5)),
        } | chosen
        if options["head_search"] == "exhaustive" and n_labels > 5:
            continue  # 3 ** n_labels heads for each of the candidates
        try:
            check_head_search(options["head_search"], options["heuristic"], options["averaging"], n_labels)
        except ValueError:
            continue
        lifted = options["head_search"] in ("relaxed", "exhaustive")
        return Options(lift=random_lift(rng, n_labels) if lifted else np.ones(n_labels), **options)


def random_min_precision(rng: Generator, thresholds: Sequence[float] = (0.5,)) -> MinPrecision:
    return MinPrecision(
        pick(rng, thresholds), of=pick(rng, ("head", "head", "label")), when=pick(rng, ("growing", "finished"))
    )


def random_lift(rng: Generator, n_labels: int) -> NDArray[np.float64]:
    if rng.random() < 0.2:
        steps = rng.choice([-0.3, -0.05, 0, 0, 0.05, 0.3], n_labels - 1)
        return np.maximum(0, np.concatenate(([1.0], 1 + np.cumsum(steps))))
    peak = Peak(labels=int(rng.integers(1, n_labels + 1)), lift=1.1)
    return as_table(pick(rng, (NoLift(), NoLift(), KLN(0.05), KLN(0.3), peak)), n_labels)
