"""Separate and conquer: learn a rule, take what it explains out of the way, learn the next.

This module with `refinement`, `head_search` and `counting` is the reference engine: the definition of the
learner in plain Python. Faster engines are tested against it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from plurule.learning.binning import rank
from plurule.learning.counting import Counting, State
from plurule.learning.head_search import NOT_IN_HEAD
from plurule.learning.initial_rules import apply_initial_rules
from plurule.learning.problem import Options, Problem
from plurule.learning.refinement import Candidate, best_rule
from plurule.model import Assignment, Head, Rule, RuleList
from plurule.prediction.apply import ColumnCache

Progress = Callable[[int, float], None]
"""Called after each rule with the number of rules so far and the share of pairs decided."""


def learn(problem: Problem, options: Options, progress: Progress | None = None) -> RuleList:
    """Learn a rule list."""
    begin = apply_initial_rules(problem)
    nothing, columns = np.zeros(problem.n_labels, dtype=bool), ColumnCache(problem.table)
    ranks = {
        i: rank(columns[i], options.max_bins, problem.weights)
        for i, attribute in enumerate(problem.table.attributes)
        if not attribute.is_nominal
    }
    state = State(problem, columns, begin.in_training, begin.predicted, begin.head_labels, nothing, ranks)
    return cover(state, begin.rules, options, progress)


def cover(data: Counting, given: Sequence[Rule], options: Options, progress: Progress | None = None) -> RuleList:
    """Learn rules that follow those given, until (almost) all instances are covered."""
    problem, rules = data.problem, list(given)
    while data.left() > options.remaining:
        if options.n_rules is not None and len(rules) >= options.n_rules:
            break
        found = best_rule(data, options)
        if found is None:
            break
        rules.append(conquer(data, found, options))
        data.note(rules[-1])
        if progress is not None:
            progress(len(rules), data.decided())
    return problem.rule_list(rules, data.undecided())


def conquer(data: Counting, found: Candidate, options: Options) -> Rule:
    """Write down what the rule predicts; take its instances out of training if it leaves (almost) none open."""
    problem = data.problem
    labels = np.flatnonzero(found.signs != NOT_IN_HEAD).tolist()
    stated = Head(tuple(Assignment(problem.labels[i], i, bool(found.signs[i])) for i in labels))
    head = stated.completed(problem.groups, problem.labels, problem.hierarchy)
    closed = data.close(found.covered, head.assignments, options.predict_absence)
    stop = closed.unfinished / closed.coverage <= options.stop_threshold
    # An instance must not end before it is known which label of every group is present.
    stop &= problem.constraints is None or problem.constraints.decides_exclusive(head)
    if stop:
        data.remove(found.covered)
    return Rule(
        head,
        found.body,
        tp=found.tp,
        fp=found.fp,
        coverage=closed.coverage,
        value=found.value,
        stop=stop,
        decided=closed.decided,
    )
