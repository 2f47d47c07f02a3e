"""Completion of a learned list: default rules for classes, and the reasons why labels have no rules."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plurule.errors import warn
from plurule.learning.problem import Options, Problem
from plurule.model import Assignment, Head, Rule, RuleList
from plurule.model.naming import amount


def with_default_rules(rule_list: RuleList) -> RuleList:
    """The list that decides every group of exclusive labels: by the class that is most frequent where no rule does."""
    for group in rule_list.groups:
        decided = any(not r.body and any(a.present and a.index in group for a in r.head) for r in rule_list)
        if not decided:
            rule_list = _with_default(rule_list, group)
    return rule_list


def _with_default(rule_list: RuleList, group: tuple[int, ...]) -> RuleList:
    undecided = list(rule_list.undecided or ((0.0, 0.0),) * len(rule_list.labels))
    everywhere = [present for _, present in undecided]
    for rule in rule_list:
        for assignment, (right, wrong) in zip(rule.head, rule.decided, strict=False):
            everywhere[assignment.index] += right if assignment.present else wrong
    usual = max(group, key=lambda label: (undecided[label][1], everywhere[label], -label))
    absent, present = undecided[usual]
    stated = Head((Assignment(rule_list.labels[usual], usual, True),))
    head = stated.completed(rule_list.groups, rule_list.labels, rule_list.hierarchy)
    # What is undecided is (absent, present); what is decided is (right, wrong).
    counts = tuple(undecided[a.index][::-1] if a.present else undecided[a.index] for a in head)
    rule = Rule(head, tp=present, fp=absent, coverage=present + absent, decided=counts)
    for assignment in head:
        undecided[assignment.index] = 0.0, 0.0
    return replace(rule_list, rules=(*rule_list.rules, rule), undecided=tuple(undecided))


# Labels that no rule predicts ----------------------------------------------------------------------------------------


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
        return f"cut off: the list ends after {amount(length, 'rule')}"
    if left / total <= options.remaining:
        return f"training ended before: at most {options.remaining:.0%} of the instances were left"
    return f"no rule for it reaches min_precision ({options.min_precision.threshold:g}) and covers enough"
