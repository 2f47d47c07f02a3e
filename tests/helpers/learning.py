"""Learning a list with either engine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from plurule._learning import native
from plurule._learning.problem import ENGINES, Engine, Options, Problem
from plurule.model import RuleList

__all__ = ["ENGINES", "Engine", "learn"]


def learn(problem: Problem, options: Options, engine: Engine = "native", **more: Any) -> RuleList:
    """Learn a list with short thresholds."""
    return native.learn_list(problem, replace(options, engine=engine), **more)
