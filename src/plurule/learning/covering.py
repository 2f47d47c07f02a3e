"""Separate and conquer: learn a rule, take what it explains out of the way, learn the next.

This module with `refinement`, `head_search`, `label_sets` and `counting` is the reference engine: the definition of the
learner in plain Python. Faster engines are tested against it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from plurule.learning.binning import rank
from plurule.learning.counting import State
from plurule.learning.initial_rules import start
from plurule.learning.label_sets import NOT_IN_HEAD
from plurule.learning.problem import Options, Problem
from plurule.learning.refinement import Candidate, best_rule
from plurule.model import Assignment, Head, Rule, RuleList
from plurule.prediction.counts import count_undecided
from plurule.prediction.decide import OPEN, Columns

Progress = Callable[[int, float], None]
"""Called after each rule with the number of rules so far and the share of pairs decided."""


def learn(problem: Problem, options: Options, progress: Progress | None = None) -> RuleList:
    """Learn a rule list."""
    begin = start(problem)
    nothing = np.zeros(problem.n_labels, dtype=bool)
    state = State(problem, Columns(problem.table), begin.in_training, begin.predicted, begin.head_labels, nothing)
    ranks = {
        i: rank(state.columns[i], options.max_bins, problem.weights)
        for i, attribute in enumerate(problem.table.attributes)
        if not attribute.is_nominal
    }
    total = problem.weights.sum()
    rules = list(begin.rules)
    # Shares, not products: 29/100 is 0.29 in floating point too, 0.29 * 100 is not 29.
    while problem.weights[state.in_training].sum() / total > options.remaining:
        if options.n_rules is not None and len(rules) >= options.n_rules:
            break
        found = best_rule(state, ranks, options)
        if found is None:
            break
        rules.append(conquer(state, found, options))
        if progress is not None:
            progress(len(rules), float((state.predicted != OPEN).mean()))
    undecided = count_undecided(state.predicted, problem.Y, problem.weights)
    return RuleList(tuple(rules), problem.table.attributes, problem.labels, undecided)


def conquer(state: State, found: Candidate, options: Options) -> Rule:
    """Write down what the rule predicts; take its instances out of training if it leaves (almost) none open."""
    problem, covered = state.problem, found.covered
    assignments, decided = [], []
    for label in np.flatnonzero(found.signs != NOT_IN_HEAD):
        sign = found.signs[label]
        newly = covered & (state.predicted[:, label] == OPEN)
        state.predicted[newly, label] = sign
        state.head_labels[label] = True
        right = newly & (problem.Y[:, label] == sign)
        decided.append((float(problem.weights[right].sum()), float(problem.weights[newly & ~right].sum())))
        assignments.append(Assignment(problem.labels[label], int(label), bool(sign)))
    still_open = state.predicted == OPEN
    if not options.predict_absence:
        still_open &= problem.Y == 1
    coverage = float(problem.weights[covered].sum())
    unfinished = float(problem.weights[covered & still_open.any(axis=1)].sum())
    stop = unfinished / coverage <= options.stop_threshold
    if stop:
        state.in_training &= ~covered
    return Rule(
        Head(tuple(assignments)),
        found.body,
        tp=found.tp,
        fp=found.fp,
        coverage=coverage,
        value=found.value,
        stop=stop,
        decided=tuple(decided),
    )
