"""Labels that no rule predicts, and why."""

from __future__ import annotations

import numpy as np

from plurule.errors import warn
from plurule.learning.problem import Options, Problem
from plurule.model import RuleList


def can_learn(problem: Problem, options: Options) -> bool:
    """Whether any rule can cover enough; says so if none can."""
    total = problem.total_weight
    if options.min_coverage > total:
        least = f"min_coverage={options.min_coverage:g}, but all instances together weigh {total:g}"
        warn(f"{least}: no rule can cover as much, and none is learned")
    return options.min_coverage <= total


def labels_without_rules(rule_list: RuleList, problem: Problem, options: Options, otherwise: str) -> dict[str, str]:
    """Why a label is in the head of no rule, for every label that is in none: too rare, or `otherwise`."""
    predicted = {a.index for rule in rule_list for a in rule.head if a.present or not a.implied}
    present = problem.label_weights
    least = options.min_precision.threshold * options.min_coverage
    reasons = {}
    for index in (i for i in range(problem.n_labels) if i not in predicted):
        found = otherwise
        if not options.predict_absence and present[index] == 0:
            found = "no training instance has it"
        elif not options.predict_absence and present[index] < least:
            needed = int(np.ceil(least))
            found = f"too rare: {present[index]:g} have it, a rule that covers min_coverage needs {needed}"
        reasons[problem.labels[index]] = found
    return reasons


def why_training_ended(rule_list: RuleList, problem: Problem, options: Options, length: int | None = None) -> str:
    """Why there are no more rules.

    Parameters
    ----------
    rule_list
        What was learned.
    problem, options
        What it was learned from.
    length
        The number of rules after which it was cut off, if any.
    """
    total = problem.total_weight
    # Rules that are marked stop take their instances out of training, each other ones.
    left = total - sum(rule.coverage for rule in rule_list if rule.stop)
    if length is not None and len(rule_list) >= length:
        return f"cut off: the list ends after {length} rules"
    if left / total <= options.remaining:
        return f"training ended before: at most {options.remaining:.0%} of the instances were left"
    return f"no rule for it reaches min_precision ({options.min_precision.threshold:g}) and covers enough"
