"""What a rule list says about labels: which go together, follow from, or exclude each other.

A rule says something about two labels if both are in its head, or if one is in its body and the other in its head. Each
statement can be checked on data, and is set beside the same statistic on the label matrix alone: a rule says
something about labels that they do not say themselves where the two differ.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby
from typing import Any, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from plurule.data.table import Table
from plurule.inspection.data import Labels, match
from plurule.inspection.label_graph import Edge, LabelGraph
from plurule.model import Assignment, Condition, LabelCondition, RuleList
from plurule.model.condition import join
from plurule.model.frame import Backend, to_frame, to_records
from plurule.model.naming import excerpt
from plurule.prediction.decide import Columns

Kind: TypeAlias = Literal["co-occurrence", "implication", "exclusion", "alternative", "joint absence"]

KINDS: dict[Kind, str] = {
    "co-occurrence": "both are present: A, B ←",
    "implication": "one brings the other: B ← A",
    "exclusion": "one rules the other out: ¬B ← A, or A, ¬B ←",
    "alternative": "one is there where the other is not: B ← ¬A",
    "joint absence": "both are absent: ¬A, ¬B ←, or ¬B ← ¬A",
}
"""The kinds of statements and what they say."""
HEAD_KINDS: tuple[Kind, ...] = ("joint absence", "exclusion", "co-occurrence")
"""By how many of two labels of a head are present."""
BODY_KINDS: dict[tuple[bool, bool], Kind] = {
    (True, True): "implication",
    (True, False): "exclusion",
    (False, True): "alternative",
    (False, False): "joint absence",
}
"""By whether a label of the body is present, and whether that of the head is."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """How often a statement was to the test, and how often it was right."""

    matching: int
    """Instances that it speaks about: where its premises and its context hold."""
    support: int
    """Those of them where what it says is true."""

    @property
    def confidence(self) -> float:
        """Share of the instances that it speaks about where it is true (0 if there are none)."""
        return self.support / self.matching if self.matching else 0.0


@dataclass(frozen=True, slots=True)
class Dependency:
    """One statement about labels.

    `premises → conclusions` where the context holds. What a head says about two of its labels has no premises and two
    conclusions; what a rule says about a label in its head and labels in its body has one conclusion.

    Examples
    --------
    >>> from plurule import RuleList
    >>> rules = RuleList.from_text("red, white <- stripes > 2\\nwhite <- red", ["stripes"], ["red", "white"])
    >>> implication = rules.dependencies([[1.0], [3.0]], [[1, 0], [1, 1]])[1]
    >>> implication.kind, str(implication.premises[0]), str(implication.conclusions[0]), implication.rules
    ('implication', 'red', 'white', (2,))
    >>> implication.on_data.confidence
    0.5
    """

    kind: Kind
    """What is said of the labels."""
    premises: tuple[Assignment, ...]
    """Labels of the body."""
    conclusions: tuple[Assignment, ...]
    """Labels of the head."""
    context: tuple[Condition, ...]
    """The other conditions of the rule; the statement is global if there are none, else local."""
    rules: tuple[int, ...]
    """Numbers of the rules that say so, counted from 1."""
    on_data: Statistics | None = None
    """Counted on the given data, in the context; None without data."""
    on_labels: Statistics | None = None
    """The same counted on the label matrix alone, everywhere; None without data."""

    @property
    def is_global(self) -> bool:
        """Whether it is said of all instances."""
        return not self.context

    @property
    def added_value(self) -> float | None:
        """By how much its confidence exceeds that of the same statement on the label matrix alone."""
        if self.on_data is None or self.on_labels is None:
            return None
        return self.on_data.confidence - self.on_labels.confidence

    def __str__(self) -> str:
        head = ", ".join(map(str, self.conclusions))
        text = f"{head} ← {join(self.premises)}" if self.premises else head
        text += f" where {join(self.context)}" if self.context else ""
        here, anyway = self.on_data, self.on_labels
        if here is not None and anyway is not None:
            text += f" ({here.confidence:.0%} of {here.matching}, {anyway.confidence:.0%} anyway)"
        return f"{self.kind}: {text}"


def dependencies(rule_list: RuleList, X: Any = None, Y: Any = None, *, joint_absence: bool = False) -> Dependencies:
    """Everything that a rule list says about pairs of labels (and more, if a body tests several).

    Parameters
    ----------
    rule_list
        The rules.
    X, Y
        Data to check the statements on, or a data set as `X`; without, they come without statistics.
    joint_absence
        Whether to list labels that are absent together as well. A rule that predicts absence does so for many labels at
        once, and most pairs of rare labels are absent together.

    Examples
    --------
    >>> from plurule import RuleList
    >>> rules = RuleList.from_text("red, white <- stripes > 2\\n¬blue <- red", ["stripes"], ["red", "white", "blue"])
    >>> X, Y = np.array([[3.0], [4.0], [1.0], [0.0]]), np.array([[1, 1, 0], [1, 1, 1], [1, 0, 0], [0, 0, 1]])
    >>> print(dependencies(rules, X, Y))
    co-occurrence: red, white where stripes > 2 (100% of 2, 50% anyway)
    exclusion: ¬blue ← red (67% of 3, 67% anyway)
    """
    statements = _merge(_stated(rule_list, joint_absence))
    table, truth = (None, None) if X is None else match(rule_list, X, Y)[:2]
    if table is not None and truth is not None:
        statements = _counted(statements, table, truth)
    return Dependencies(rule_list.labels, tuple(statements))


@dataclass(frozen=True, repr=False, eq=False)
class Dependencies(Sequence[Dependency]):
    """Statements about labels, in the order of the rules that say them.

    Examples
    --------
    >>> from plurule import RuleList
    >>> rules = RuleList.from_text("red, white <- stripes > 2\\nwhite <- red", ["stripes"], ["red", "white"])
    >>> found = rules.dependencies()
    >>> print(found[1:])
    implication: white ← red
    >>> found.to_graph().connected
    ('red', 'white')
    """

    labels: tuple[str, ...]
    """Names of all labels."""
    statements: tuple[Dependency, ...]
    """What is said."""

    @overload
    def __getitem__(self, index: int) -> Dependency: ...
    @overload
    def __getitem__(self, index: slice) -> Dependencies: ...
    def __getitem__(self, index: int | slice) -> Dependency | Dependencies:
        if isinstance(index, slice):
            return Dependencies(self.labels, self.statements[index])
        return self.statements[index]

    def __len__(self) -> int:
        return len(self.statements)

    def __str__(self) -> str:
        return "\n".join(map(str, self.statements)) or "(the rules say nothing about how labels depend on each other)"

    def __repr__(self) -> str:
        title = f"Dependencies: {len(self)} statements about {len(self.labels)} labels"
        return excerpt(title, map(str, self), len(self), "statements")

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """One row per statement; statistics are NaN without data."""
        return to_frame(self._columns(), backend)

    def to_records(self) -> list[dict[str, Any]]:
        """The rows of `to_frame` as dictionaries."""
        return to_records(self._columns())

    def _columns(self) -> dict[str, list[Any]]:
        rows = self.statements

        def statistic(which: str, name: str) -> list[float]:
            found = [getattr(s, which) for s in rows]
            return [float("nan") if f is None else float(getattr(f, name)) for f in found]

        return {
            "kind": [s.kind for s in rows],
            "premises": [join(s.premises) for s in rows],
            "conclusions": [", ".join(map(str, s.conclusions)) for s in rows],
            "context": [join(s.context) for s in rows],
            "scope": ["global" if s.is_global else "local" for s in rows],
            "rules": [", ".join(map(str, s.rules)) for s in rows],
            "matching": statistic("on_data", "matching"),
            "support": statistic("on_data", "support"),
            "confidence": statistic("on_data", "confidence"),
            "raw_support": statistic("on_labels", "support"),
            "raw_confidence": statistic("on_labels", "confidence"),
            "added_value": [float("nan") if s.added_value is None else s.added_value for s in rows],
        }

    def to_graph(self) -> LabelGraph:
        """Labels as nodes, statements between two labels as edges; those of one kind are drawn as one."""
        said: dict[tuple[str, str, Kind], list[Dependency]] = defaultdict(list)
        for statement in self.statements:
            for source, target in _ends(statement):
                said[source, target, statement.kind].append(statement)
        return LabelGraph(self.labels, tuple(_edge(*key, statements) for key, statements in said.items()))


def _edge(source: str, target: str, kind: Kind, statements: list[Dependency]) -> Edge:
    is_directed = any(statement.premises for statement in statements)
    support = sum(statement.on_data.support for statement in statements if statement.on_data)
    rules = sorted({number for statement in statements for number in statement.rules})
    return Edge(source, target, kind, is_directed, len(statements), support, tuple(rules))


def _ends(statement: Dependency) -> Iterator[tuple[str, str]]:
    if statement.premises:
        for premise in statement.premises:
            yield premise.name, statement.conclusions[0].name
        return
    first, second = statement.conclusions
    # An exclusion leads from the label that is present to the one that is not.
    yield (second.name, first.name) if second.present and not first.present else (first.name, second.name)


def _stated(rule_list: RuleList, joint_absence: bool) -> Iterator[Dependency]:
    for number, rule in enumerate(rule_list, start=1):
        for first, second in combinations(rule.head.stated, 2):
            if joint_absence or first.present or second.present:
                kind = HEAD_KINDS[first.present + second.present]
                yield Dependency(kind, (), (first, second), rule.body, (number,))
        tested = tuple(Assignment(c.name, c.index, c.present) for c in rule.label_conditions)
        if tested:
            context = tuple(c for c in rule.body if not isinstance(c, LabelCondition))
            for assignment in rule.head.stated:
                kind = BODY_KINDS[any(premise.present for premise in tested), assignment.present]
                if joint_absence or kind != "joint absence":
                    yield Dependency(kind, tested, (assignment,), context, (number,))


def _merge(statements: Iterator[Dependency]) -> list[Dependency]:
    """The same statement said by several rules is one statement."""
    merged: dict[tuple[Any, ...], Dependency] = {}
    for statement in statements:
        key = (frozenset(statement.premises), statement.conclusions, frozenset(statement.context))
        before = merged.get(key)
        merged[key] = statement if before is None else replace(before, rules=before.rules + statement.rules)
    return list(merged.values())


def _counted(statements: list[Dependency], table: Table, truth: Labels) -> list[Dependency]:
    # Labels are tested on the truth: a statement is about labels, not about predictions of them.
    columns, labels = Columns(table), np.asfortranarray(truth.view(np.int8))
    counted: list[Dependency] = []
    for context, group in groupby(statements, key=lambda statement: statement.context):
        here = columns.passing(context, labels)[-1]
        for statement in group:
            tested = _true(statement.premises, labels)
            right = tested & _true(statement.conclusions, labels)
            on_labels, on_data = (
                Statistics(int(np.sum(tested & rows)), int(np.sum(right & rows))) for rows in (True, here)
            )
            counted.append(replace(statement, on_data=on_data, on_labels=on_labels))
    return counted


def _true(assignments: Sequence[Assignment], labels: NDArray[np.int8]) -> NDArray[np.bool_]:
    """The instances of which all assignments are true."""
    found = np.ones(len(labels), dtype=bool)
    for assignment in assignments:
        found &= labels[:, assignment.index] == assignment.present
    return found
