"""Rules that can never do anything, found by reasoning about the list alone.

A rule list may hold such rules; they change no prediction. Whoever edits a list wants to know.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

from plurule.model import (
    Condition,
    IntervalCondition,
    LabelCondition,
    MissingCondition,
    NominalCondition,
    NumericCondition,
    Rule,
    RuleList,
    SetCondition,
)
from plurule.model.condition import CategoryCondition, split_intervals
from plurule.model.naming import quoted

Problem: TypeAlias = Literal["contradictory", "unreachable", "pre-empted"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about a rule that its author may not have meant.

    Examples
    --------
    >>> from plurule import RuleList
    >>> (finding,) = check(RuleList.from_text("red <- area > 2\\nred <- area > 3", ["area"], ["red"]))
    >>> finding.number, finding.problem, finding.reason
    (2, 'unreachable', 'rule 1 decides red first')
    """

    number: int
    """Of the rule, counted from 1."""
    problem: Problem
    """What is wrong; `check` says what the words mean."""
    rule: Rule
    """The rule."""
    reason: str
    """Why, in words."""

    def __str__(self) -> str:
        return f"rule {self.number} ({self.rule.to_text()}) is {self.problem}: {self.reason}"


def check(rule_list: RuleList) -> tuple[Finding, ...]:
    """What can be said against the rules of a list without data.

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
        yield Finding(number, "contradictory", rule, f"nothing satisfies {clash[0]} and {clash[1]}")
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
        """Number of an earlier rule that ends every instance that the rule covers."""
        return next((position + 1 for position in self.always_stop if self._covers(position, rule)), None)

    def deciding(self, rule: Rule, label: int) -> tuple[int, bool] | None:
        """Number of an earlier rule that decides the label wherever the rule's body holds, and the value it gives."""
        for position in self.by_label.get(label, ()):
            if self._covers(position, rule):
                return position + 1, next(a.present for a in self.rules[position].head if a.index == label)
        return None

    def _covers(self, position: int, rule: Rule) -> bool:
        """Whether the earlier rule's body holds, at its turn, wherever the later rule's does at its own."""
        if not self.tested[position] <= _tested(rule.body):
            return False
        general = self.rules[position]
        if not all(_implied(condition, rule.body) for condition in general.body):
            return False
        # A label that the later rule finds decided may have been open at the earlier rule's turn.
        return not any(
            decider >= position for c in general.label_conditions for decider in self.by_label.get(c.index, ())
        )


def _tested(body: Sequence[Condition]) -> frozenset[tuple[bool, int]]:
    return frozenset((isinstance(c, LabelCondition), c.index) for c in body)


def _implied(condition: Condition, body: Sequence[Condition]) -> bool:
    """Whether a body can hold only where the condition does."""
    if isinstance(condition, IntervalCondition):
        return all(_implied(bound, body) for bound in condition.bounds)
    if isinstance(condition, LabelCondition):
        return condition in body
    same = [c for c in body if not isinstance(c, LabelCondition) and c.index == condition.index]
    if isinstance(condition, MissingCondition):
        return any(_leaves_known(c) != condition.missing for c in same)
    if not isinstance(condition, NumericCondition):
        categories = [_listed(c) for c in same if isinstance(c, NominalCondition | SetCondition)]
        return any(_within(found, _listed(condition)) for found in categories)
    side = -1 if condition.operator == "<=" else 1
    return any(
        isinstance(c, NumericCondition)
        and (c.index, c.operator) == (condition.index, condition.operator)
        and side * c.threshold >= side * condition.threshold
        for c in split_intervals(body)
    )


def _contradiction(body: Sequence[Condition]) -> tuple[Condition, Condition] | None:
    """Two conditions that no instance satisfies together."""
    pairs = combinations(split_intervals(body), 2)
    return next((pair for pair in pairs if _tested(pair[:1]) == _tested(pair[1:]) and not _compatible(*pair)), None)


def _leaves_known(condition: Condition) -> bool:
    """Whether a condition on an attribute holds for known values only, and not for missing ones only."""
    return not (isinstance(condition, MissingCondition) and condition.missing)


def _listed(condition: CategoryCondition) -> tuple[frozenset[str], bool]:
    """The categories that a condition names, and whether it means all others."""
    if isinstance(condition, SetCondition):
        return frozenset(condition.categories), condition.negated
    return frozenset((condition.category,)), False


def _within(one: tuple[frozenset[str], bool], other: tuple[frozenset[str], bool]) -> bool:
    """Whether the first categories, or all others, are among the second, whichever others there are."""
    (inner, inner_negated), (outer, outer_negated) = one, other
    if inner_negated:
        return outer_negated and outer <= inner
    return inner.isdisjoint(outer) if outer_negated else inner <= outer


def _compatible(one: Condition, other: Condition) -> bool:
    if isinstance(one, NumericCondition) and isinstance(other, NumericCondition):
        limits = {condition.operator: condition.threshold for condition in (one, other)}
        return len(limits) < 2 or limits[">"] < limits["<="]
    if isinstance(one, MissingCondition) or isinstance(other, MissingCondition):
        return _leaves_known(one) == _leaves_known(other)
    if isinstance(one, NominalCondition | SetCondition) and isinstance(other, NominalCondition | SetCondition):
        named, negated = _listed(other)
        return not _within(_listed(one), (named, not negated))
    return one == other
