"""Rules that can never do anything, found by reasoning about the list alone.

A rule list may hold such rules; they change no prediction.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, TypeAlias

from plurule.model import Condition, LabelCondition, Rule, RuleList
from plurule.model.condition import split_intervals
from plurule.model.naming import quoted

Problem: TypeAlias = Literal["contradictory", "unreachable", "pre-empted"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem of a rule that its author may not have meant.

    Examples
    --------
    >>> from plurule import RuleList
    >>> (finding,) = check(RuleList.from_text("red <- area > 2\\nred <- area > 3", ["area"], ["red"]))
    >>> finding.number, finding.problem, finding.reason
    (2, 'unreachable', 'rule 1 decides red first')
    """

    number: int
    """Number of the rule, counted from 1."""
    problem: Problem
    """The kind of problem, as `check` describes it."""
    rule: Rule
    """The rule."""
    reason: str
    """The reason, as text."""

    def __str__(self) -> str:
        return f"rule {self.number} ({self.rule.to_text()}) is {self.problem}: {self.reason}"


def check(rule_list: RuleList) -> tuple[Finding, ...]:
    """Find rules that can never do anything, without data.

    *Contradictory*: no instance satisfies the body. *Unreachable*: whatever satisfies the body, the rule decides
    nothing. *Pre-empted*: one of its labels is always decided by an earlier rule, and otherwise.

    Parameters
    ----------
    rule_list
        The rules.

    Examples
    --------
    >>> from plurule import RuleList
    >>> text = "red <- area > 2\\nred <- area > 3 and area <= 1\\n¬red, blue <- area > 5\\nred <- area > 4"
    >>> for finding in check(RuleList.from_text(text, ["area"], ["red", "blue"])):
    ...     print(finding)
    rule 2 (red ← area > 3 ∧ area <= 1) is contradictory: nothing satisfies area > 3 and area <= 1
    rule 3 (¬red, blue ← area > 5) is pre-empted: rule 1 decides red first, as present
    rule 4 (red ← area > 4) is unreachable: rule 1 decides red first
    """
    earlier = _Earlier()
    findings: list[Finding] = []
    for number, rule in enumerate(rule_list, start=1):
        findings.extend(_findings(number, rule, earlier))
        earlier.add(rule)
    return tuple(findings)


def _findings(number: int, rule: Rule, earlier: _Earlier) -> Iterator[Finding]:
    clash = _contradiction(rule.body)
    if clash is not None:
        yield Finding(number, "contradictory", rule, f"nothing satisfies {' and '.join(map(str, clash))}")
        return
    tested = {c.index for c in rule.label_conditions}
    deciders = {a: earlier.deciding(rule, a.index) for a in rule.head if a.index not in tested}
    unmet = next((c for c in rule.label_conditions if not earlier.can_meet(c)), None)
    stopping = earlier.stopping(rule)
    reason = None
    if unmet is not None:
        reason = f"no earlier rule predicts {quoted(unmet.name)} as {_state(unmet.present)}"
    elif stopping is not None:
        reason = f"rule {stopping} ends all instances that it would cover"
    elif not deciders:
        reason = "it tests the labels it predicts, so they are decided already"
    elif all(deciders.values()):
        reason = " and ".join(f"rule {d[0]} decides {quoted(a.name)} first" for a, d in deciders.items() if d)
    if reason is not None:
        yield Finding(number, "unreachable", rule, reason)
        return
    for assignment, decider in deciders.items():
        if decider is not None and decider[1] != assignment.present:
            reason = f"rule {decider[0]} decides {quoted(assignment.name)} first, as {_state(decider[1])}"
            yield Finding(number, "pre-empted", rule, reason)


def _state(present: bool) -> str:
    return "present" if present else "absent"


class _Earlier:
    """The rules before the one at hand."""

    def __init__(self) -> None:
        self.rules: list[Rule] = []
        self.tested: list[frozenset[tuple[bool, int]]] = []
        self.by_label: dict[int, list[int]] = {}
        self.always_stop: list[int] = []
        self.values: set[tuple[int, bool]] = set()

    def add(self, rule: Rule) -> None:
        position = len(self.rules)
        self.rules.append(rule)
        self.tested.append(_tested(rule.body))
        is_dead = _contradiction(rule.body) is not None or not all(map(self.can_meet, rule.label_conditions))
        if rule.stop and not is_dead and any(a.index not in self.by_label for a in rule.head):
            # It is the first to decide one of its labels, so it decides something wherever its body holds.
            self.always_stop.append(position)
        for assignment in rule.head:
            self.by_label.setdefault(assignment.index, []).append(position)
            if not is_dead:
                self.values.add((assignment.index, assignment.present))

    def can_meet(self, condition: LabelCondition) -> bool:
        return (condition.index, condition.present) in self.values

    def stopping(self, rule: Rule) -> int | None:
        """Return number of an earlier rule that ends every instance that the rule covers."""
        return next((position + 1 for position in self.always_stop if self._covers(position, rule)), None)

    def deciding(self, rule: Rule, label: int) -> tuple[int, bool] | None:
        """Return an earlier rule that decides the label wherever the rule's body holds, and the value it gives."""
        for position in self.by_label.get(label, ()):
            if self._covers(position, rule):
                return position + 1, next(a.present for a in self.rules[position].head if a.index == label)
        return None

    def _covers(self, position: int, rule: Rule) -> bool:
        """Return whether the earlier rule's body holds, at its turn, wherever the later rule's does at its own."""
        if not self.tested[position] <= _tested(rule.body):
            return False
        general = self.rules[position]
        if not all(_is_implied(condition, rule.body) for condition in general.body):
            return False
        # A label that the later rule finds decided may have been open at the earlier rule's turn.
        return not any(
            decider >= position for c in general.label_conditions for decider in self.by_label.get(c.index, ())
        )


def _tested(body: Sequence[Condition]) -> frozenset[tuple[bool, int]]:
    return frozenset((c.on_label, c.index) for c in body)


def _is_implied(condition: Condition, body: Sequence[Condition]) -> bool:
    """Return whether a body can hold only where the condition does."""
    same = [c for c in body if _tested((c,)) == _tested((condition,))]
    return all(condition.accepts(value) for value in _values((condition, *same)) if _all_accept(same, value))


def _contradiction(body: Sequence[Condition]) -> Sequence[Condition] | None:
    """Return conditions that no instance satisfies together: two, or else all on one attribute."""
    conditions = split_intervals(body)
    pairs = [pair for pair in combinations(conditions, 2) if _tested(pair[:1]) == _tested(pair[1:])]
    columns = dict.fromkeys(_tested((c,)) for c in conditions)
    same = [tuple(c for c in conditions if _tested((c,)) == column) for column in columns]
    return next((some for some in (*pairs, *same) if not any(_all_accept(some, v) for v in _values(some))), None)


def _values(conditions: Sequence[Condition]) -> set[Any]:
    """Return values of the tested attribute or label, one of each kind that the conditions tell apart.

    Infinity stands for a number above all bounds, and for a category that no condition names.
    """
    values: set[Any] = {None, math.inf, True, False}
    return values.union(*(condition.named_values() for condition in conditions))


def _all_accept(conditions: Sequence[Condition], value: Any) -> bool:
    return all(condition.accepts(value) for condition in conditions)
