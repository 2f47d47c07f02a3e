"""Statements of a rule list about labels: which go together, follow from, or exclude each other.

A rule says something about two labels if both are in its head, or if one is in its body and the other in its head. Each
statement can be checked on data, and is set beside the same statistic on the label matrix alone: a rule says
something about labels that they do not say themselves where the two differ.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby
from typing import Any, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from plurule._prediction.apply import ColumnCache, Labels
from plurule.data.dataset import Table
from plurule.inspection.data import Records, match
from plurule.model import Assignment, Condition, RuleList
from plurule.model.condition import join
from plurule.model.naming import excerpt

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
MOST_FREELY_PLACED = 12
"""More labels are drawn on a circle."""


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
    """The kind of statement."""
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
        """Whether it holds for all instances."""
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
        in_context, overall = self.on_data, self.on_labels
        if in_context is not None and overall is not None:
            text += f" ({in_context.confidence:.0%} of {in_context.matching}, {overall.confidence:.0%} anyway)"
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
class Dependencies(Records, Sequence[Dependency]):
    """Statements about labels, in the order of the rules that say them.

    Examples
    --------
    >>> from plurule import RuleList
    >>> rules = RuleList.from_text("red, white <- stripes > 2\\nwhite <- red", ["stripes"], ["red", "white"])
    >>> statements = rules.dependencies()
    >>> print(statements[1:])
    implication: white ← red
    >>> statements.to_graph().connected
    ('red', 'white')
    """

    labels: tuple[str, ...]
    """Names of all labels."""
    statements: tuple[Dependency, ...]
    """The statements."""

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

    def to_records(self) -> list[dict[str, Any]]:
        """Return one row per statement, as dictionaries; statistics are NaN without data."""
        return [_record(statement) for statement in self.statements]

    def to_graph(self) -> LabelGraph:
        """Return labels as nodes, statements between two labels as edges; those of one kind are drawn as one."""
        by_edge: dict[tuple[str, str, Kind], list[Dependency]] = defaultdict(list)
        for statement in self.statements:
            for source, target in _ends(statement):
                by_edge[source, target, statement.kind].append(statement)
        return LabelGraph(self.labels, tuple(_edge(*key, statements) for key, statements in by_edge.items()))


def _record(statement: Dependency) -> dict[str, Any]:
    in_context, overall, nan = statement.on_data, statement.on_labels, float("nan")
    return {
        "kind": statement.kind,
        "premises": join(statement.premises),
        "conclusions": ", ".join(map(str, statement.conclusions)),
        "context": join(statement.context),
        "scope": "global" if statement.is_global else "local",
        "rules": ", ".join(map(str, statement.rules)),
        "matching": nan if in_context is None else float(in_context.matching),
        "support": nan if in_context is None else float(in_context.support),
        "confidence": nan if in_context is None else in_context.confidence,
        "raw_support": nan if overall is None else float(overall.support),
        "raw_confidence": nan if overall is None else overall.confidence,
        "added_value": nan if statement.added_value is None else statement.added_value,
    }


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
            context = rule.attribute_conditions
            for assignment in rule.head.stated:
                kind = BODY_KINDS[any(premise.present for premise in tested), assignment.present]
                if joint_absence or kind != "joint absence":
                    yield Dependency(kind, tested, (assignment,), context, (number,))


def _merge(statements: Iterator[Dependency]) -> list[Dependency]:
    """Merge equal statements of several rules into one."""
    merged: dict[tuple[Any, ...], Dependency] = {}
    for statement in statements:
        key = (frozenset(statement.premises), statement.conclusions, frozenset(statement.context))
        before = merged.get(key)
        merged[key] = statement if before is None else replace(before, rules=before.rules + statement.rules)
    return list(merged.values())


def _counted(statements: list[Dependency], table: Table, truth: Labels) -> list[Dependency]:
    # Labels are tested on the truth: a statement is about labels, not about predictions of them.
    columns = ColumnCache(table)
    labels = np.asfortranarray(truth.view(np.int8))
    counted: list[Dependency] = []
    for context, group in groupby(statements, key=lambda statement: statement.context):
        in_context = columns.passing(context, labels)[-1]
        for statement in group:
            tested = _true(statement.premises, labels)
            right = tested & _true(statement.conclusions, labels)
            on_labels, on_data = (
                Statistics(int(np.sum(tested & rows)), int(np.sum(right & rows))) for rows in (True, in_context)
            )
            counted.append(replace(statement, on_data=on_data, on_labels=on_labels))
    return counted


def _true(assignments: Sequence[Assignment], labels: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Return the instances of which all assignments are true."""
    mask = np.ones(len(labels), dtype=bool)
    for assignment in assignments:
        mask &= labels[:, assignment.index] == assignment.present
    return mask


# Graph of the labels ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Edge:
    """Statements of one kind about two labels."""

    source: str
    target: str
    kind: str
    is_directed: bool
    """Whether one label is a condition of the other, rather than both being in one head."""
    statements: int
    """How many statements say so."""
    support: int
    """How many instances bear the statements out, summed over them (0 without data)."""
    rules: tuple[int, ...]
    """Numbers of the rules that say so."""

    @property
    def ends(self) -> tuple[str, str]:
        """The two labels."""
        return self.source, self.target


@dataclass(frozen=True, slots=True)
class LabelGraph:
    """Labels and the statements that connect them.

    Examples
    --------
    >>> from plurule import RuleList
    >>> rules = RuleList.from_text("red, white <- stripes > 2\\nwhite <- red", ["stripes"], ["red", "white", "blue"])
    >>> graph = rules.dependencies().to_graph()
    >>> graph.connected, [(edge.kind, edge.ends) for edge in graph.edges]
    (('red', 'white'), [('co-occurrence', ('red', 'white')), ('implication', ('red', 'white'))])
    """

    labels: tuple[str, ...]
    """The nodes, by name."""
    edges: tuple[Edge, ...]
    """Statements about two labels: source, target, kind, rules, support."""

    @property
    def connected(self) -> tuple[str, ...]:
        """The labels that some statement is about, in label order."""
        named = {name for edge in self.edges for name in edge.ends}
        return tuple(label for label in self.labels if label in named)

    def largest(self, labels: int, edges: int) -> LabelGraph:
        """Return the part that fits in a drawing: the labels with most statements, and the edges with most rules."""
        n_statements = Counter(name for edge in self.edges for name in edge.ends for _ in edge.rules)
        kept = set(sorted(self.connected, key=lambda label: -n_statements[label])[:labels])
        inside = [edge for edge in self.edges if kept.issuperset(edge.ends)]
        strongest = sorted(inside, key=lambda edge: (-len(edge.rules), -edge.support))[:edges]
        return LabelGraph(tuple(label for label in self.labels if label in kept), tuple(strongest))

    @property
    def is_round(self) -> bool:
        """Whether the labels are laid out on a circle: many labels would hide each other's names otherwise."""
        return len(self.labels) > MOST_FREELY_PLACED

    def layout(self) -> dict[str, tuple[float, float]]:
        """Return places of the labels in a square from 0 to 1, neighbours near each other; the same every time."""
        count = len(self.labels)
        if count < 3:
            return {label: ((i + 1) / (count + 1), 0.5) for i, label in enumerate(self.labels)}
        index = {label: i for i, label in enumerate(self.labels)}
        pull = np.zeros((count, count))
        for edge in self.edges:
            a, b = map(index.__getitem__, edge.ends)
            pull[a, b] = pull[b, a] = max(pull[a, b], 1.0 + np.log(len(edge.rules)))
        placed = _circle(pull) if self.is_round else _spring(pull / max(pull.max(), 1.0))
        low, high = placed.min(axis=0), placed.max(axis=0)
        placed = (placed - low) / np.where(high > low, high - low, 1.0)
        return {label: (float(placed[i, 0]), float(placed[i, 1])) for label, i in index.items()}

    def _repr_html_(self) -> str:
        from plurule.report import graph_in_notebook

        return graph_in_notebook(self)


def _circle(pull: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return places on a circle, each label followed by the one that is most connected to those placed last."""
    count = len(pull)
    order = [int(pull.sum(axis=1).argmax())]
    while len(order) < count:
        recent = pull[order[-3:]].sum(axis=0) + 1e-3 * pull[order].sum(axis=0)
        recent[order] = -1.0
        order.append(int(recent.argmax()))
    angles = np.empty(count)
    angles[order] = 2 * np.pi * np.arange(count) / count - np.pi / 2
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _spring(pull: NDArray[np.float64], steps: int = 300) -> NDArray[np.float64]:
    """Forces between nodes: all push each other away, edges pull; steps get smaller (Fruchterman and Reingold)."""
    count = len(pull)
    angles = 2 * np.pi * np.arange(count) / count
    places = 0.5 + 0.4 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    distance_wanted = np.sqrt(1.0 / count)
    for step in range(steps):
        apart = places[:, None, :] - places[None, :, :]
        distance = np.maximum(np.linalg.norm(apart, axis=2), 1e-3)
        push = distance_wanted**2 / distance**2
        force = (apart * (push - pull * distance / distance_wanted)[:, :, None]).sum(axis=1)
        # A weak pull to the middle keeps parts that no edge connects in sight.
        force -= 0.5 * (places - 0.5)
        length = np.maximum(np.linalg.norm(force, axis=1, keepdims=True), 1e-9)
        places = places + force / length * np.minimum(length, 0.1 * (1 - step / steps))
    return places
