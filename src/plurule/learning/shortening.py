"""Dropping rules and conditions of a rule list that change no prediction, or cost next to nothing.

They are dropped one at a time. Dropping something changes the prediction of few instances: those that the rule decided
something for, or that a shorter body covers in addition. Only these are decided anew, from that rule on, to see what
dropping would cost.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from plurule.data.table import Table
from plurule.errors import ParameterError
from plurule.learning.problem import Problem
from plurule.metrics import get_metric
from plurule.model import Condition, LabelCondition, Rule, RuleList
from plurule.model.condition import join_intervals, split_intervals
from plurule.prediction.counts import Labels, recount
from plurule.prediction.decide import NO_RULE, OPEN, Columns, Decisions, Mask, decide
from plurule.prediction.scoring import Scoring

Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A rule, or a condition of a rule, that was left out."""

    what: Literal["rule", "condition"]
    number: int
    """Of the rule in the list as it was, counted from 1."""
    text: str
    pairs: int
    """How many predictions (pairs of instance and label) dropping it changed."""

    def __str__(self) -> str:
        what = f"rule {self.number}: {self.text}" if self.what == "rule" else f"rule {self.number} without {self.text}"
        return what + (f" (changes {self.pairs} predictions)" if self.pairs else "")


def shorten(
    rule_list: RuleList,
    table: Table,
    truth: Labels | None,
    score: Callable[..., float],
    tolerance: float,
    weights: NDArray[np.float64] | None = None,
) -> tuple[RuleList, tuple[Dropped, ...]]:
    """The list without what may be dropped, counted anew where the true labels are known, and what was dropped.

    With a tolerance of 0 no prediction on the table changes; otherwise the score may fall by it in all.
    """
    search = _Search(rule_list, table)
    search.drop_what_changes_nothing()
    if tolerance > 0 and truth is not None:
        weighted = score if weights is None else partial(score, sample_weight=weights)
        search.drop_what_costs_little(truth, weighted, tolerance)
        search.drop_what_changes_nothing()
    shorter = replace(rule_list, rules=search.left(rule_list), length_choice=None)
    if truth is not None:
        shorter = recount(shorter, table, truth, weights)
    return shorter, tuple(search.dropped)


def simplified(rule_list: RuleList, problem: Problem, scoring: Scoring, tolerance: float) -> RuleList:
    """A learned list without what may be dropped on the rows it was learned from; rules that were given are locked."""
    if problem.constraints is not None and problem.constraints.asks:
        raise ValueError("simplify drops conditions and rules that constraints may ask for; use one or the other")
    if scoring.scorer is not None:
        raise ParameterError("simplify", tolerance, "needs scoring by the name of a measure of plurule.metrics")
    return shorten(rule_list, problem.table, problem.Y, get_metric(scoring.name), tolerance, problem.sample_weight)[0]


_Trial = namedtuple("_Trial", "position condition rest rows decisions")
"""What would happen if a condition of a rule, or (None) the rule, was dropped: what is left of the rule, the instances
that it might matter to, and what would be decided for them."""


class _Search:
    """The rules that are left (None where dropped, so that places stay the same) and what they predict."""

    def __init__(self, rule_list: RuleList, table: Table):
        self.rules: list[Rule | None] = [replace(rule, body=split_intervals(rule.body)) for rule in rule_list]
        self.dropped: list[Dropped] = []
        self.columns = Columns(table)
        self.decisions = decide(rule_list, table)
        self.stops = np.array([*(rule.stop for rule in rule_list), False])
        self.holds = np.zeros((len(table), len(rule_list)), dtype=bool)
        """Per instance and rule: whether the conditions on attributes hold; False for a rule that was dropped."""
        for position, rule in enumerate(rule_list):
            self.holds[:, position] = self.attributes_hold(rule)

    def left(self, rule_list: RuleList) -> tuple[Rule, ...]:
        """The rules that are left; bounds that were an interval are one again, if both are left."""
        pairs = zip(self.rules, rule_list, strict=True)
        return tuple(
            replace(rule, body=rule.body if split_intervals(was.body) == was.body else join_intervals(rule.body))
            for rule, was in pairs
            if rule is not None
        )

    def attributes_hold(self, rule: Rule) -> Mask:
        """Which instances satisfy the conditions of a rule that are not on labels."""
        conditions = [c for c in rule.body if not isinstance(c, LabelCondition)]
        return self.columns.passing(conditions, self.decisions.predicted)[-1]

    def candidates(self) -> Iterator[tuple[int, Condition | None]]:
        """What may be dropped: rules, the last first, then conditions, the last of each rule first."""
        free = [position for position, rule in enumerate(self.rules) if rule is not None and not rule.locked]
        for position in reversed(free):
            yield position, None
        for position in free:
            rule = self.rules[position]
            for condition in reversed(rule.body if rule is not None else ()):
                yield position, condition

    def attempt(self, position: int, condition: Condition | None, may_change: bool = True) -> _Trial | None:
        """Decide anew what dropping would affect; None if it is not there any more, or changes what it may not."""
        rule = self.rules[position]
        if rule is None or (condition is not None and condition not in rule.body):
            return None
        decided_by = self.decisions.decided_by
        if condition is None:
            rest, rows = None, np.flatnonzero((decided_by == position).any(axis=1))
        else:
            # No longer the rule that was chosen by its value.
            rest = replace(rule, body=tuple(c for c in rule.body if c != condition), value=0.0, stability=None)
            affected = self.attributes_hold(rest)
            if not isinstance(condition, LabelCondition):
                affected &= ~self.holds[:, position]
            rows = np.flatnonzero(affected)
            last = decided_by[rows].max(axis=1, initial=NO_RULE)
            rows = rows[~(self.stops[last] & (last < position))]
        decisions = self.decide(rows, position, rest, may_change)
        return None if decisions is None else _Trial(position, condition, rest, rows, decisions)

    def decide(self, rows: Rows, start: int, instead: Rule | None, may_change: bool) -> Decisions | None:
        """What is decided for instances that come as far as a rule if there was another in its place, or none.

        Given up (None) as soon as a prediction changes, unless it may.
        """
        before = self.decisions.decided_by[rows] < start
        decisions = Decisions(
            np.where(before, self.decisions.predicted[rows], np.int8(OPEN)),
            np.where(before, self.decisions.decided_by[rows], np.int32(NO_RULE)),
            np.ones(len(rows), dtype=bool),
        )
        expected = np.maximum(self.decisions.predicted[rows], 0)
        holds = self.holds[rows, start:]
        # The instances are those that satisfy the conditions on attributes of what stands in the rule's place.
        holds[:, 0] = instead is not None
        # Few rules cover any of a few instances; the others need no look.
        for position in (start + np.flatnonzero(holds.any(axis=0))).tolist():
            rule = instead if position == start else self.rules[position]
            assert rule is not None
            covered = decisions.going_on & holds[:, position - start]
            for condition in rule.label_conditions:
                covered &= decisions.predicted[:, condition.index] == int(condition.present)
            decided = zip(rule.head, decisions.apply(rule, position, covered), strict=True)
            if not may_change and any((expected[newly, a.index] != a.present).any() for a, newly in decided):
                return None
        return decisions if may_change or (decisions.labels() == expected).all() else None

    def accept(self, trial: _Trial) -> None:
        """Drop it."""
        rule, rows = self.rules[trial.position], trial.rows
        assert rule is not None
        changes = int((trial.decisions.labels() != np.maximum(self.decisions.predicted[rows], 0)).sum())
        if trial.condition is None:
            self.dropped.append(Dropped("rule", trial.position + 1, rule.to_text(), changes))
        else:
            self.dropped.append(Dropped("condition", trial.position + 1, str(trial.condition), changes))
        self.rules[trial.position] = trial.rest
        self.holds[:, trial.position] = False if trial.rest is None else self.attributes_hold(trial.rest)
        self.decisions.predicted[rows] = trial.decisions.predicted
        self.decisions.decided_by[rows] = trial.decisions.decided_by

    def drop_what_changes_nothing(self) -> None:
        """Drop until nothing more can be dropped for free."""
        before = -1
        while before < len(self.dropped):
            before = len(self.dropped)
            for position, condition in self.candidates():
                trial = self.attempt(position, condition, may_change=False)
                if trial is not None:
                    self.accept(trial)

    def drop_what_costs_little(self, truth: Labels, score: Callable[..., float], tolerance: float) -> None:
        """Drop the cheapest first while the score stays within the tolerance of what it was."""

        def score_of(trial: _Trial | None) -> float:
            if trial is None:
                return -np.inf
            predicted = self.decisions.labels()
            predicted[trial.rows] = trial.decisions.labels()
            return score(truth, predicted)

        least = score(truth, self.decisions.labels()) - tolerance
        before = -1
        while before < len(self.dropped):
            before = len(self.dropped)
            # Stable, so that equal costs keep the order of the candidates.
            scored = sorted(((score_of(self.attempt(*c)), c) for c in self.candidates()), key=lambda pair: -pair[0])
            for alone, candidate in scored:
                if alone < least:
                    break
                trial = self.attempt(*candidate)
                if trial is not None and score_of(trial) >= least:
                    self.accept(trial)
