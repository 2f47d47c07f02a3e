"""Making a rule list shorter without changing what it predicts, or at a stated cost.

Rules and conditions are dropped one at a time. Dropping something changes the prediction of few instances: those that
the rule decided something for, or that a shorter body covers in addition. Only these are decided anew, from that rule
on, to see what dropping would cost.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from plurule.data.table import Table
from plurule.errors import ModelError
from plurule.inspection.data import Labels, match, match_weights
from plurule.inspection.diff import SCORES, ModelDiff, diff
from plurule.metrics import get_metric
from plurule.model import Condition, LabelCondition, Rule, RuleList
from plurule.model.condition import join_intervals, split_intervals
from plurule.prediction.counts import recount
from plurule.prediction.decide import NO_RULE, OPEN, Columns, Decisions, Mask, decide

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


@dataclass(frozen=True, repr=False)
class Simplified:
    """A shorter rule list, and what was dropped to get it."""

    rule_list: RuleList
    dropped: tuple[Dropped, ...]
    diff: ModelDiff

    def __str__(self) -> str:
        rules = sum(d.what == "rule" for d in self.dropped)
        conditions = len(self.dropped) - rules
        lines = [f"dropped {rules} rules and {conditions} conditions", *(f"  {d}" for d in self.dropped)]
        lines += [str(self.diff.predictions)]
        for name, (before, after) in (self.diff.scores or {}).items():
            lines.append(f"{SCORES[name]}: {before:.4f} → {after:.4f}")
        return "\n".join(lines)

    __repr__ = __str__


def simplify(
    rule_list: RuleList,
    X: Any,
    Y: Any = None,
    *,
    tolerance: float = 0.0,
    measure: str | Callable[..., float] = "hamming_accuracy",
    sample_weight: Any = None,
) -> Simplified:
    """Drop the rules and conditions that change no prediction on the data, or cost next to nothing.

    Parameters
    ----------
    rule_list
        The rules; locked ones stay as they are.
    X
        The instances, or a data set.
    Y
        Their true labels; needed to allow a cost, and to count the rules anew.
    tolerance
        How much the score may fall in all. With 0 no prediction changes.
    measure
        The score: the name of a measure of `plurule.metrics`, or a function of true and predicted labels (and of
        `sample_weight`, where instances have weights).
    sample_weight
        Weight of each instance in scores and counts; that of the data set, unless given.

    Examples
    --------
    >>> from plurule.model import Attribute
    >>> from plurule.model.text import parse_rules
    >>> names = (Attribute("area"), Attribute("bars")), ("red",)
    >>> rules = RuleList(parse_rules("red <- area > 2 and bars > 0\\nred <- area > 4", *names), *names)
    >>> print(simplify(rules, [[1.0, 1.0], [3.0, 1.0], [5.0, 1.0]]))
    dropped 1 rules and 1 conditions
      rule 2: red ← area > 4
      rule 1 without bars > 0
    the same labels for all 3 instances
    """
    if tolerance < 0:
        raise ModelError(f"tolerance must be at least 0, got {tolerance}")
    table, truth = match(rule_list, X, Y)
    if tolerance > 0 and truth is None:
        raise ModelError("to allow a cost the true labels are needed; give Y, or a data set instead of X")
    weights = match_weights(X, sample_weight, len(table), len(rule_list.labels))
    score = get_metric(measure) if isinstance(measure, str) else measure
    if weights is not None:
        score = partial(score, sample_weight=weights)
    search = _Search(rule_list, table)
    search.drop_what_changes_nothing()
    if tolerance > 0 and truth is not None:
        search.drop_what_costs_little(truth, score, tolerance)
        search.drop_what_changes_nothing()
    shorter = replace(rule_list, rules=search.left(rule_list), length_choice=None)
    if truth is not None:
        shorter = recount(shorter, table, truth, weights)
    return Simplified(shorter, tuple(search.dropped), diff(rule_list, shorter, table, truth, weights))


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
