"""Choosing the engine that learns a rule list; all engines give the same one."""

from __future__ import annotations

from typing import Literal, TypeAlias

from plurule.learning import covering, native
from plurule.learning.binning import with_short_thresholds
from plurule.learning.covering import Progress
from plurule.learning.problem import Options, Problem
from plurule.model import RuleList

Engine: TypeAlias = Literal["native", "reference"]

ENGINES: tuple[Engine, ...] = ("native", "reference")


def learn(
    problem: Problem,
    options: Options,
    engine: Engine = "native",
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> RuleList:
    """Learn a rule list with the given engine; the reference engine uses one thread.

    Thresholds are halfway between two values, written as the shortest number there: 2.8962535, not 2.8962535000000003.
    """
    problem = problem.with_conditions(options.conditions)
    if engine == "reference":
        learned = covering.learn(problem, options, progress)
    else:
        learned = native.learn(problem, options, n_jobs, progress)
    return with_short_thresholds(learned, problem.table, len(problem.initial_rules))
