"""Choosing the engine that learns a rule list; all engines give the same one."""

from __future__ import annotations

from typing import Literal, TypeAlias

from plurule import covering
from plurule.covering import Progress
from plurule.model import RuleList
from plurule.problem import Options, Problem

Engine: TypeAlias = Literal["reference"]

ENGINES: tuple[Engine, ...] = ("reference",)


def learn(
    problem: Problem,
    options: Options,
    engine: Engine = "reference",
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> RuleList:
    """Learn a rule list with the given engine."""
    return covering.learn(problem, options, progress)
