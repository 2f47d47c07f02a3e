"""Initial rules: what learning starts with where experts gave rules of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from plurule._learning.problem import Problem
from plurule._prediction.apply import nothing_decided, replay, with_counts
from plurule.errors import ModelError
from plurule.model import Attribute, Rule, RuleList
from plurule.model.text import Names, RuleTextError, parse, parse_rules


@dataclass
class InitialState:
    """State of separate-and-conquer after the initial rules."""

    rules: tuple[Rule, ...]
    """The initial rules, with the counts of the training data."""
    # predicted and decided_by are rows × labels; in_training is bool[rows], head_labels bool[labels].
    predicted: NDArray[np.int8]
    """Their predictions for each pair of instance and label, or `OPEN`."""
    decided_by: NDArray[np.int32]
    """The number of the rule that decides each pair, or -1."""
    in_training: NDArray[np.bool_]
    """The instances that no stop rule among them has finished."""
    head_labels: NDArray[np.bool_]
    """The labels that occur in their heads."""


def apply_initial_rules(problem: Problem) -> InitialState:
    """Apply the initial rules of a problem, in order, as they will be applied at prediction time."""
    labels = np.zeros(problem.n_labels, dtype=bool)
    # `replay` changes one set of decisions in place, so that of the last step is that of all rules.
    decisions = nothing_decided(*problem.Y.shape)
    rules = []
    listed = problem.listed(problem.initial_rules)
    for rule, step in zip(listed, replay(listed, problem.table), strict=True):
        decisions = step.decisions
        labels[[a.index for a in rule.head]] = True
        rules.append(replace(with_counts(rule, step, problem.Y, problem.weights), locked=True))
    return InitialState(tuple(rules), decisions.predicted, decisions.decided_by, decisions.active, labels)


def as_initial_rules(
    rules: RuleList | str | Iterable[Rule | str], attributes: Sequence[Attribute], labels: Sequence[str]
) -> tuple[Rule, ...]:
    """Rules that learning starts with: they stay first, as they are, and what they decide is not learned again.

    Parameters
    ----------
    rules
        A rule list, rules or texts of rules, or one text with a rule per line.
    attributes, labels
        Of the training data. Rules are matched to them by name.

    Returns
    -------
    tuple of Rule
        The rules, locked.

    Examples
    --------
    >>> rules = as_initial_rules("red <- area > 2\\nblue <- red [stop]", [Attribute("area")], ["red", "blue"])
    >>> [str(rule) for rule in rules]
    ['red ← area > 2   (TP 0, FP 0, locked)', 'blue ← red   (TP 0, FP 0, stop, locked)']
    """
    if isinstance(rules, str):
        return tuple(replace(rule, locked=True) for rule in parse_rules(rules, attributes, labels))
    initial, names = [], Names(attributes, labels)
    for number, rule in enumerate(rules, start=1):
        try:
            # A rule of another list names attributes and labels; their positions may be others here.
            known = parse(rule, attributes, labels) if isinstance(rule, str) else names.adopt(rule)
        except RuleTextError as error:
            raise error.within(f"initial rule {number}") from None
        except ModelError as error:
            raise ModelError(f"initial rule {number}: {error}") from None
        initial.append(replace(known, locked=True))
    return tuple(initial)
