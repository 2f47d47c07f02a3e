"""What a task of the protocol runs: a trial of the learner that it asks for, or the times of two learners."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from plurule.learning import native
from plurule.learning.problem import Options, Problem
from plurule.lifts import NONE, as_table, find_lift
from plurule.paper.materials import Material
from plurule.paper.protocol import Task
from plurule.selection.objectives import find_objective
from plurule.selection.trials import Evaluation, Result, Trial

_SHORTEST_TIMING = 0.05
"""Seconds of CPU that a measured time adds up to at least; shorter trainings are repeated."""


def work_of(task: Task, material: Material) -> Trial | Timing:
    """What is to be run for a task on a data set."""
    options = options_of(task, material.n_labels)
    if task.kind == "timing":
        plain = options_of(replace(task, lift=NONE), material.n_labels)
        return Timing(plain, options, backwards=bool(task.part % 2))
    parts = {"fold": task.part, "sensitivity": material.on_training_rows}
    return Trial(options, parts.get(task.kind, material.on_test_part), keep_model=task.kind == "final")


def options_of(task: Task, n_labels: int) -> Options:
    """The options of the learner that a task asks for."""
    options = find_objective(task.objective).options(as_table(find_lift(task.lift), n_labels))
    if task.variant == "free head":
        return replace(options, fix_head=False)
    if task.variant == "exhaustive":
        return replace(options, head_search="exhaustive")
    return options


@dataclass(frozen=True)
class Timing:
    """CPU time of training with no lift, with a lift, and with no lift again, which shows the noise."""

    plain: Options
    lifted: Options
    backwards: bool

    def __call__(self, evaluation: Evaluation) -> Result:
        order = {"normal": self.plain, "relaxed": self.lifted, "normal again": self.plain}
        if self.backwards:
            order = dict(reversed(order.items()))
        problem = evaluation.folds.problem
        return {"seconds": {name: _training_time(problem, options) for name, options in order.items()}}


def _training_time(problem: Problem, options: Options) -> float:
    """CPU seconds of one training, everything included, averaged over as many as it takes to measure it well."""
    count, start = 0, time.thread_time()
    while count == 0 or time.thread_time() - start < _SHORTEST_TIMING:
        native.learn(problem, options)
        count += 1
    return round((time.thread_time() - start) / count, 6)
