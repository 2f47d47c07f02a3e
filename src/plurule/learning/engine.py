"""Choosing the engine that learns a rule list; all engines give the same one."""

from __future__ import annotations

from typing import Literal, TypeAlias

from plurule.learning import covering, native
from plurule.learning.covering import Progress
from plurule.learning.problem import Options, Problem
from plurule.model import RuleList

Engine: TypeAlias = Literal["native", "reference"]

ENGINES: tuple[Engine, ...] = ("native", "reference")


def native_knows(options: Options) -> bool:
    """Whether the native engine can learn with these options; where it cannot, the reference engine does."""
    return options.min_precision.threshold == 0.5 and not options.heuristic.additive


def learn(
    problem: Problem,
    options: Options,
    engine: Engine = "native",
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> RuleList:
    """Learn a rule list with the given engine; the reference engine uses one thread."""
    if engine == "reference" or not native_knows(options):
        return covering.learn(problem, options, progress)
    return native.learn(problem, options, n_jobs, progress)
