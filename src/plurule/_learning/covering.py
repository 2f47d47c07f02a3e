"""Separate and conquer: learn a rule, take what it explains out of the way, learn the next.

    while there are rows in training
        rule ← the best one: grown one condition at a time (`refinement`), its head found by relaxed pruning
               (`head_search`), from counts of what candidates cover (`counting`)
        the open pairs of row and label that the rule covers are decided
        rows that it leaves (almost) nothing to predict leave training, and the rule is marked as a stop rule

This module with these three is the reference engine: the definition of the learner in plain numpy. The native engine is
tested against it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from plurule._learning.counting import State, rank
from plurule._learning.head_search import NOT_IN_HEAD
from plurule._learning.initial_rules import apply_initial_rules
from plurule._learning.problem import Options, Problem
from plurule._learning.refinement import Candidate, best_rule
from plurule._prediction.apply import ColumnCache
from plurule.model import Assignment, Head, Rule, RuleList

Progress = Callable[[int, float], None]
"""Called after each rule with the number of rules so far and the share of pairs decided."""


def learn(problem: Problem, options: Options, progress: Progress | None = None) -> RuleList:
    """Learn rules that follow the initial ones, until (almost) all instances are covered."""
    state = initial_state(problem, options)
    rules = list(apply_initial_rules(problem).rules)
    while state.left() > options.remaining:
        # Initial rules count, too.
        if options.n_rules is not None and len(rules) >= options.n_rules:
            break
        candidate = best_rule(state, options)
        if candidate is None:
            break
        rules.append(conquer(state, candidate, options))
        if progress is not None:
            progress(len(rules), state.decided())
    return problem.listed(rules, state.undecided())


def initial_state(problem: Problem, options: Options) -> State:
    """Return the state that learning begins with, after the initial rules."""
    begin = apply_initial_rules(problem)
    columns = ColumnCache(problem.table)
    # Once for all rules: rows leave training, ranks stay, and a rule looks at those of the rows that it covers.
    ranks = {
        i: rank(columns[i], options.max_bins, problem.weights)
        for i, attribute in enumerate(problem.table.attributes)
        if not attribute.is_nominal
    }
    set_aside = np.zeros(problem.n_labels, dtype=bool)
    return State(problem, columns, begin.in_training, begin.predicted, begin.head_labels, set_aside, ranks)


def conquer(state: State, candidate: Candidate, options: Options) -> Rule:
    """Write down what a rule predicts; take its instances out of training if it leaves (almost) none open."""
    problem = state.problem
    # int8 signs, one per label: 1 present, 0 absent, -1 not in the head.
    labels = np.flatnonzero(candidate.signs != NOT_IN_HEAD).tolist()
    stated = Head(tuple(Assignment(problem.labels[i], i, bool(candidate.signs[i])) for i in labels))
    head = stated.completed(problem.groups, problem.labels, problem.hierarchy)
    decided, coverage, unfinished = state.close(candidate.covered, head.assignments, options.predict_absence)
    # Weights of covered rows; a rule covers some, since it has a true positive.
    stop = unfinished / coverage <= options.stop_threshold
    # An instance must not end before it is known which label of every group is present.
    stop &= problem.constraints is None or problem.constraints.decides_exclusive(head)
    if stop:
        state.remove(candidate.covered)
    return Rule(
        head,
        candidate.body,
        tp=candidate.tp,
        fp=candidate.fp,
        coverage=coverage,
        value=candidate.value,
        stop=stop,
        decided=decided,
    )
