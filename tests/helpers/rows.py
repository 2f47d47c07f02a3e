"""Random rows with bodies and choices, and what is counted about them in plain numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurule import _core
from plurule._learning.problem import Problem
from plurule._prediction.apply import OPEN, ColumnCache, decide
from plurule._rows.rows import Body, Roles
from plurule.data.dataset import Table
from plurule.model import Assignment, Attribute, Head, OneOfCondition, RangeCondition, Rule

LABELS = ("a", "b", "c", "d")
COLOURS = ("blue", "green", "red")
ATTRIBUTES = (Attribute("x0"), Attribute("x1"), Attribute("colour", COLOURS))
INITIAL = (
    Rule(Head((Assignment("b", 1, True),)), (RangeCondition("x0", 0, at_most=1.5),)),
    Rule(Head((Assignment("d", 3, False),)), (RangeCondition("x1", 1, above=3.5),), stop=True),
)


def random_rows(
    rng: np.random.Generator, n_rows: int = 150, weighted: bool = False, initial_rules: Sequence[Rule] = ()
) -> Problem:
    """Return rows of two numbers and a colour, with gaps, of which labels depend."""
    numbers = rng.integers(0, 6, (2, n_rows)).astype(float)
    numbers[rng.random(numbers.shape) < 0.05] = np.nan
    colour = rng.integers(-1, 3, n_rows).astype(np.int32)
    Y = (rng.random((n_rows, len(LABELS))) < [0.1, 0.1, 0.1, 0.4]).astype(np.uint8)
    Y[:, 0] |= numbers[1] <= 1
    Y[:, 1] |= (numbers[0] > 2) & (colour != 0)
    Y[:, 2] |= colour == 2
    weights = rng.integers(1, 4, n_rows).astype(float) if weighted else np.ones(n_rows)
    return Problem(Table(ATTRIBUTES, [*numbers, colour], n_rows), LABELS, Y, weights, tuple(initial_rules))


def random_bodies(rng: np.random.Generator, n_bodies: int) -> list[Body]:
    """Return different bodies of up to three conditions, the empty one first."""
    bodies: dict[Body, None] = {(): None}
    while len(bodies) < n_bodies:
        conditions: list[Any] = []
        for index in rng.permutation(3)[: rng.integers(1, 4)].tolist():
            if index == 2:
                conditions.append(OneOfCondition("colour", 2, (str(rng.choice(COLOURS)),)))
                continue
            bound = {("at_most", "above")[rng.integers(2)]: float(rng.integers(0, 5)) + 0.5}
            conditions.append(RangeCondition(f"x{index}", index, **bound))
        bodies[tuple(conditions)] = None
    return list(bodies)


def random_roles(rng: np.random.Generator, n_rows: int, n_folds: int = 2, n_groups: int = 2) -> Roles:
    """Return roles of which each row has a random one; -1 is one of them."""
    of_rows = rng.integers(-1, n_groups + 1, (n_folds, n_rows)).astype(np.int8)
    jackknife = rng.integers(0, 5, n_rows).astype(np.uint8)
    return Roles(of_rows, (n_groups,) * n_folds, jackknife, 5)


DEFAULT = _core.Choice(0, [2], [True], [2], True)
CHOICES = [
    _core.Choice(3, [0, 1], [True, False], [0, 1], False),
    _core.Choice(5, [0], [True], [0], False),
    _core.Choice(7, [2, 3], [False, True], [2, 3], False),
    _core.Choice(2, [1], [True], [1], False),
]
"""Choices from a pool of at least 8 bodies for four labels."""


class Expected(NamedTuple):
    """What bodies and initial rules do with all rows of a problem, by plain numpy."""

    problem: Problem
    holds: NDArray[np.bool_]
    """Bodies × rows."""
    predicted: NDArray[np.int8]
    """Rows × labels after the initial rules."""
    is_open: NDArray[np.bool_]
    """Rows × labels that initial rules leave open."""
    decided_by: NDArray[np.int32]
    """Rows × labels: the number of the initial rule that decides."""

    @classmethod
    def of(cls, problem: Problem, bodies: Sequence[Body], with_initial: bool = True) -> Expected:
        """Return what is expected of a pool."""
        columns = ColumnCache(problem.table)
        nothing = np.zeros((problem.n_instances, 0), np.int8)
        holds = np.array([columns.passing(body, nothing)[-1] for body in bodies])
        initial = problem.listed(problem.initial_rules if with_initial else ())
        decisions = decide(initial, problem.table)
        is_open = (decisions.predicted == OPEN) & decisions.active[:, None]
        return cls(problem, holds, decisions.predicted, is_open, decisions.decided_by)

    def covered(self, body: int, rows: NDArray[np.bool_], label: int, before: Sequence[int] = ()) -> NDArray[Any]:
        """Return the weight of the open pairs that a body covers first, shared with all bodies: 2 × bodies."""
        first = self.holds[body] & rows & self.is_open[:, label] & ~self.holds[list(before)].any(axis=0)
        weight = self.problem.weights * first
        return np.array([self.holds @ (weight * self.problem.Y[:, label]), self.holds @ weight])

    def after(self, choices: Sequence[_core.Choice]) -> tuple[NDArray[np.int8], NDArray[np.int32]]:
        """Return predictions after choices, and what decides each pair; the default rule comes last."""
        predicted, is_open, decided_by = self.predicted.copy(), self.is_open.copy(), self.decided_by.copy()
        n_initial = len(self.problem.initial_rules)
        for number, choice in enumerate(sorted(choices, key=lambda one: one.is_default), start=n_initial):
            for label in choice.decided:
                newly = self.holds[choice.body] & is_open[:, label]
                present = choice.present[choice.head.index(label)] if label in choice.head else False
                predicted[newly, label] = present
                decided_by[newly, label] = number
                is_open[newly, label] = False
        return np.maximum(predicted, 0), decided_by
