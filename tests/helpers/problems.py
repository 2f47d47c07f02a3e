"""Small training problems for tests: written by hand, or made at random with all that can go wrong."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from helpers.oracle import Check, Learned, Learner, Settings
from plurule._learning.counting import Ranks, State, rank
from plurule._learning.problem import MinPrecision, Options, Problem
from plurule._prediction.apply import OPEN, ColumnCache
from plurule.data.dataset import Table
from plurule.heuristics import FMeasure, Gain, HammingAccuracy, Heuristic, Laplace, Precision, Recall, SubsetAccuracy
from plurule.lifts import as_table
from plurule.model import Attribute, Condition, LabelCondition, OneOfCondition, RangeCondition, Rule

LETTERS = "ABCDEFGHIJ"
THRESHOLDS = [Fraction(share, 100) for share in (50, 50, 50, 0, 20, 30, 55, 70, 100)]
"""Least precisions; products such as 0.55 * 20 are rounded."""


def make_table(columns: Mapping[str, Sequence[Any]], n_rows: int | None = None) -> Table:
    """A table from lists: numbers make a numeric column, texts a nominal one; None is missing."""
    attributes, arrays = [], []
    for name, values in columns.items():
        texts = sorted({v for v in values if isinstance(v, str)})
        if texts:
            attributes.append(Attribute(name, tuple(texts)))
            arrays.append(np.array([-1 if v is None else texts.index(v) for v in values], dtype=np.int32))
        else:
            attributes.append(Attribute(name))
            arrays.append(np.array([np.nan if v is None else v for v in values], dtype=np.float64))
    return Table(attributes, arrays, n_rows)


def make_problem(
    columns: Mapping[str, Sequence[Any]], Y: Sequence[Sequence[int]], weights: Sequence[float] | None = None
) -> Problem:
    """A training problem whose labels are called A, B, C …"""
    truth = np.array(Y, dtype=np.uint8)
    return Problem(
        table=make_table(columns, len(truth)),
        labels=tuple(LETTERS[: truth.shape[1]]),
        Y=truth,
        weights=np.ones(len(truth)) if weights is None else np.array(weights, dtype=np.float64),
    )


def make_options(problem: Problem, lift: Any = None, **changes: Any) -> Options:
    """Options with the lift written out for the problem."""
    return Options(lift=as_table(lift, problem.n_labels), **changes)


def take_rows(problem: Problem, rows: Sequence[int]) -> Problem:
    """The given instances, in the given order, of weight 1 each."""
    return Problem(problem.table[list(rows)], problem.labels, problem.Y[list(rows)], np.ones(len(rows)))


# At random -------------------------------------------------------------------------------------------------


def random_problem(rng: random.Random, most_rows: int = 10, most_labels: int = 4, weighted: bool = True) -> Problem:
    """A few instances with ties, missing values, constant columns and duplicates."""
    n_rows = rng.randint(1, most_rows)
    n_labels = rng.randint(1, most_labels)
    columns = {f"a{i}": random_column(rng, n_rows) for i in range(rng.randint(0, 3))}
    rows = [[int(rng.random() < 0.55) for _ in range(n_labels)] for _ in range(n_rows)]
    if rng.random() < 0.2:
        for row in rows:
            row[0] = rows[0][0]
    weights = [rng.choice((1, 1, 2, 3, 0.5)) for _ in rows] if weighted and rng.random() < 0.4 else None
    return make_problem(columns, rows, weights)


def random_column(rng: random.Random, n_rows: int) -> list[float | str | None]:
    """Numbers or categories, seldom missing, sometimes all the same."""
    numbers: list[float | str] = [rng.choice((-2.5, -1, 0, 1, 2, 4, 7.25)) for _ in range(rng.randint(1, 5))]
    pool = ["x", "y", "z"][: rng.randint(1, 3)] if rng.random() < 0.3 else numbers
    gaps = rng.choice((0, 0, 0.3))
    return [None if rng.random() < gaps else rng.choice(pool) for _ in range(n_rows)]


def start_state(problem: Problem) -> State:
    """Everything in training, nothing predicted."""
    return State(
        problem,
        ColumnCache(problem.table),
        in_training=np.ones(problem.n_instances, dtype=bool),
        predicted=np.full(problem.Y.shape, OPEN, dtype=np.int8),
        head_labels=np.zeros(problem.n_labels, dtype=bool),
        set_aside=np.zeros(problem.n_labels, dtype=bool),
        ranks=ranks_of(problem),
    )


def random_state(rng: random.Random, **limits: int) -> State:
    """Somewhere in the middle of training: some pairs closed, rightly or not, some instances gone."""
    state = start_state(random_problem(rng, **limits))
    for i, l in np.ndindex(state.predicted.shape):
        state.predicted[i, l] = rng.choice((OPEN, OPEN, 0, 1))
    for i in range(len(state.in_training)):
        state.in_training[i] = rng.random() < 0.8
    state.head_labels = (state.predicted != OPEN).any(axis=0)
    return state


def ranks_of(problem: Problem) -> dict[int, Ranks]:
    """Ranks of the numeric columns, every value its own."""
    attributes = enumerate(problem.table.attributes)
    return {i: rank(problem.table.column(i)) for i, attribute in attributes if not attribute.is_nominal}


def random_settings(rng: random.Random, n_labels: int) -> Settings:
    """Settings of the learner, all of them in play."""
    measure = rng.choice(("f", "f", "hamming", "hamming", "precision", "recall", "laplace", "subset", "gain", "gain"))
    searches = ["single", "exhaustive"]
    if measure != "gain":
        searches += ["anti_monotone"]
    if measure != "subset":
        searches += ["relaxed", "relaxed", "relaxed"]
    if measure not in ("gain", "subset"):
        searches += ["decomposable"]
    head_search = rng.choice(searches)
    steps = [Fraction(rng.choice((0, 0, 2, 5, 10, 20, -5)), 100) for _ in range(n_labels - 1)]
    factors = [1 + sum(steps[:k], Fraction(0)) for k in range(n_labels)]
    is_lifted = head_search in ("relaxed", "exhaustive") and measure != "gain"
    return Settings(
        measure=measure,
        lam=rng.choice((Fraction(1, 2), Fraction(2, 5), Fraction(1, 10), Fraction(1, 3), Fraction(11, 20))),
        beta_squared=rng.choice((Fraction(1, 4), Fraction(1), Fraction(0), Fraction(4))),
        averaging=rng.choice(("micro", "macro")),
        head_search=head_search,
        min_precision=rng.choice(THRESHOLDS),
        each_label_right=rng.random() < 0.4,
        only_finished=rng.random() < 0.5,
        lift=tuple(factors) if is_lifted else (Fraction(1),) * n_labels,
        absence=rng.random() < 0.5,
        label_conditions=rng.random() < 0.8,
        fix_head=rng.random() < 0.7,
        beam_width=rng.choice((1, 1, 1, 2, 3)),
        remaining=rng.choice((Fraction(0), Fraction(1, 10), Fraction(29, 100))),
        stop_threshold=rng.choice((Fraction(0), Fraction(1, 100), Fraction(1, 2))),
        n_rules=rng.choice((None, None, None, 2)),
        max_conditions=rng.choice((None, None, None, 0, 1, 2)),
        min_coverage=rng.choice((Fraction(0), Fraction(0), Fraction(2))),
    )


def options_of(settings: Settings) -> Options:
    """The same settings for the library."""
    heuristics: dict[str, Heuristic] = {
        "f": FMeasure(beta=float(settings.beta_squared) ** 0.5),
        "hamming": HammingAccuracy(),
        "precision": Precision(),
        "recall": Recall(),
        "laplace": Laplace(),
        "subset": SubsetAccuracy(),
        "gain": Gain(lam=float(settings.lam)),
    }
    return Options(
        lift=np.array([float(factor) for factor in settings.lift]),
        heuristic=heuristics[settings.measure],
        averaging=settings.averaging,  # type: ignore[arg-type]
        head_search=settings.head_search,  # type: ignore[arg-type]
        min_precision=MinPrecision(
            float(settings.min_precision),
            of="label" if settings.each_label_right else "head",
            when="finished" if settings.only_finished else "growing",
        ),
        predict_absence=settings.absence,
        label_conditions=settings.label_conditions,
        fix_head=settings.fix_head,
        beam_width=settings.beam_width,
        remaining=float(settings.remaining),
        stop_threshold=float(settings.stop_threshold),
        n_rules=settings.n_rules,
        max_conditions=settings.max_conditions,
        min_coverage=float(settings.min_coverage),
    )


# In the words of the oracle --------------------------------------------------------------------------------


def oracle_of(problem: Problem, settings: Settings) -> Learner:
    """The oracle, set to learn from the problem."""
    columns = [problem.table.column(i).tolist() for i in range(problem.table.shape[1])]
    kinds = [attribute.categories for attribute in problem.table.attributes]

    def plain(value: float, names: tuple[str, ...] | None) -> Fraction | str | None:
        if names is not None:
            return names[int(value)] if value >= 0 else None
        return None if value != value else Fraction(value)

    rows = [[plain(c[i], names) for c, names in zip(columns, kinds, strict=True)] for i in range(len(problem.Y))]
    weights = [Fraction(w) for w in problem.weights.tolist()]
    return Learner(rows, kinds, problem.Y.tolist(), weights, settings)


def oracle_at(state: State, settings: Settings) -> Learner:
    """The oracle where training stands."""
    oracle = oracle_of(state.problem, settings)
    oracle.training = np.flatnonzero(state.in_training).tolist()
    oracle.predicted = [[None if value == OPEN else value for value in row] for row in state.predicted.tolist()]
    oracle.labels_used = set(np.flatnonzero(state.head_labels).tolist())
    return oracle


def as_learned(rule: Rule) -> Learned:
    """A rule of the library, in the words of the oracle."""
    return Learned(
        head=tuple((a.index, int(a.present)) for a in rule.head),
        body=tuple(as_check(condition) for condition in rule.body),
        tp=Fraction(rule.tp),
        fp=Fraction(rule.fp),
        coverage=Fraction(rule.coverage),
        stop=rule.stop,
    )


def as_check(condition: Condition) -> Check:
    """A condition of the library, in the words of the oracle."""
    match condition:
        case RangeCondition():
            operator = "<=" if condition.above is None else ">"
            return Check(operator, condition.index, Fraction(condition.threshold))
        case OneOfCondition():
            return Check("=", condition.index, condition.categories[0])
        case LabelCondition():
            return Check("label", condition.index, int(condition.present))
