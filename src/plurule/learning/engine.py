"""Choosing the engine that learns a rule list; all engines give the same one."""

from __future__ import annotations

from typing import Literal, TypeAlias

from plurule.learning import covering, native
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
    """Learn a rule list with the given engine; the reference engine uses one thread."""
    if engine == "reference":
        return covering.learn(problem, options, progress)
    return native.learn(problem, options, n_jobs, progress)
