"""Rules: a head (the labels it predicts), the body that must hold, and the counts of training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple, TypeAlias

from plurule.errors import ModelError
from plurule.model.condition import Condition, LabelCondition, format_count, join
from plurule.model.naming import quoted

Groups: TypeAlias = tuple[tuple[int, ...], ...]
"""Places of labels of which exactly one is present."""
Hierarchy: TypeAlias = tuple[tuple[int, int], ...]
"""Pairs of the place of a label and of the one above it, which it implies."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """One label predicted as present or absent.

    >>> str(Assignment("green", 1, False))
    '¬green'
    """

    name: str
    """Name of the label."""
    index: int
    """Its place among the labels, from 0."""
    present: bool
    """Whether the label is there; if not, it is absent."""
    implied: bool = field(default=False, compare=False)
    """Whether the rest of the head implies it (one of its group, or below it, is present); it is not shown then."""

    def __str__(self) -> str:
        return quoted(self.name) if self.present else f"¬{quoted(self.name)}"


@dataclass(frozen=True, slots=True)
class Head:
    """One or more label assignments, in label order.

    >>> head = Head((Assignment("red", 0, True), Assignment("green", 1, False)))
    >>> str(head), len(head)
    ('red, ¬green', 2)
    """

    assignments: tuple[Assignment, ...]
    """The predictions; each label once."""

    def __post_init__(self) -> None:
        indices = [a.index for a in self.assignments]
        if not indices:
            raise ValueError("a head needs at least one label")
        if len(set(indices)) < len(indices):
            raise ValueError(f"a head assigns each label once, got {self}")
        if indices != sorted(indices):
            object.__setattr__(self, "assignments", tuple(sorted(self.assignments, key=lambda a: a.index)))

    def __iter__(self) -> Iterator[Assignment]:
        return iter(self.assignments)

    def __len__(self) -> int:
        return len(self.assignments)

    @property
    def stated(self) -> tuple[Assignment, ...]:
        """The assignments that the others do not imply."""
        return tuple(a for a in self.assignments if not a.implied)

    def completed(self, groups: Groups, labels: Sequence[str], hierarchy: Hierarchy = ()) -> Head:
        """Return the head with all that it implies.

        Where a label is present, the others of its group are absent and those above it are present; where one is
        absent, those below it are.

        >>> head = Head((Assignment("setosa", 0, True),)).completed(((0, 1),), ["setosa", "virginica"])
        >>> str(head), [str(assignment) for assignment in head]
        ('setosa', ['setosa', '¬virginica'])
        >>> [str(a) for a in Head((Assignment("jazz", 0, True),)).completed((), ["jazz", "music"], ((0, 1),))]
        ['jazz', 'music']
        """
        if not groups and not hierarchy:
            return self
        relations = relate(groups, hierarchy)
        completed = {assignment.index: assignment for assignment in self.assignments}
        # Without a hierarchy, absence implies nothing.
        waiting = [a for a in self.assignments if a.present or hierarchy]
        for assignment in waiting:
            for index, present in relations.implied(assignment.index, assignment.present):
                other = completed.get(index)
                if other is not None and other.present != present:
                    raise self._contradiction(assignment, other)
                if other is None or not (present or other.implied):
                    completed[index] = _implied(labels[index], index, present)
                if other is None and hierarchy:
                    waiting.append(completed[index])
        return Head(tuple(completed.values()))

    def _contradiction(self, one: Assignment, other: Assignment) -> ModelError:
        first, second = sorted((one, other), key=lambda a: (not a.present, a.index))
        if second.present:
            return ModelError(f"{self} predicts {first.name} and {second.name}, of which only one can be present")
        return ModelError(f"{self} predicts {first.name} without {second.name}, which it implies")

    def __str__(self) -> str:
        return ", ".join(str(a) for a in self.stated)


@lru_cache(maxsize=1 << 16)
def _implied(name: str, index: int, present: bool) -> Assignment:
    return Assignment(name, index, present, implied=True)


class Relations(NamedTuple):
    """Labels that exclude or imply each other, by the position of a label."""

    groups: dict[int, list[tuple[int, ...]]]
    """Groups that it is in."""
    above: dict[int, list[int]]
    """Labels that it implies directly."""
    below: dict[int, list[int]]
    """Labels that imply it directly."""

    def implied(self, label: int, present: bool) -> Iterator[tuple[int, bool]]:
        """Yield the labels whose value follows directly from the value of a label, and that value."""
        if not present:
            yield from ((other, False) for other in self.below.get(label, ()))
            return
        for group in self.groups.get(label, ()):
            yield from ((other, False) for other in group if other != label)
        yield from ((other, True) for other in self.above.get(label, ()))


@lru_cache(maxsize=64)
def relate(groups: Groups, hierarchy: Hierarchy) -> Relations:
    """Return groups and hierarchy by label."""
    relations = Relations({}, {}, {})
    for group in groups:
        for label in group:
            relations.groups.setdefault(label, []).append(group)
    for below, above in hierarchy:
        relations.above.setdefault(below, []).append(above)
        relations.below.setdefault(above, []).append(below)
    return relations


@lru_cache(maxsize=64)
def bottom_up(hierarchy: Hierarchy) -> Hierarchy:
    """Return the pairs of a hierarchy in an order in which all labels below a label come before those above it.

    >>> bottom_up(((1, 2), (0, 1)))
    ((0, 1), (1, 2))
    """
    above = relate((), hierarchy).above
    try:
        from_top = list(TopologicalSorter(above).static_order())
    except CycleError as error:
        raise ModelError(f"hierarchy: labels imply each other (numbers {error.args[1]}); leave out a pair") from None
    return tuple((label, other) for label in reversed(from_top) for other in above.get(label, ()))


@lru_cache(maxsize=64)
def ancestors(hierarchy: Hierarchy) -> Hierarchy:
    """Return all pairs of a label and one that it implies, directly or by others in between.

    >>> ancestors(((0, 1), (1, 2)))
    ((0, 1), (0, 2), (1, 2))
    """
    above = relate((), hierarchy).above
    pairs: list[tuple[int, int]] = []
    for label in sorted(above):
        implied = dict.fromkeys(above[label])
        waiting = list(implied)
        for other in waiting:
            fresh = [each for each in above.get(other, ()) if each not in implied]
            implied |= dict.fromkeys(fresh)
            waiting += fresh
        pairs += [(label, other) for other in implied]
    return tuple(pairs)


@dataclass(frozen=True, slots=True, repr=False)
class Rule:
    """`head ← body`, with the counts of the training instances that were left when it was learned.

    Parameters
    ----------
    head
        The labels it predicts.
    body
        The conditions that must all hold, in the order they were added; empty covers everything.
    tp, fp
        Right and wrong predictions, as counted when the rule was chosen.
    coverage
        Weight (number, unless weighted) of the training instances it covered.
    value
        The heuristic value it was chosen by; 0 if it was not learned, or edits changed what it does.
    stop
        Whether an instance is finished once this rule has predicted something for it.
    decided
        Per head label, in head order: right and wrong among the training pairs that this rule decided.
    locked
        Whether an expert wants the rule kept as it is: edits refuse to change it, and learning keeps it first.
    stability
        The share of lists learned from resampled rows that hold the same rule; None where that is not known. Rules are
        equal whatever it is.

    Examples
    --------
    >>> from plurule.model import Assignment, Head, RangeCondition
    >>> head = Head((Assignment("red", 0, True), Assignment("white", 4, True)))
    >>> Rule(head, (RangeCondition("colours", 8, above=4.5),), tp=166, fp=38)
    red, white ← colours > 4.5   (TP 166, FP 38)
    """

    head: Head
    body: tuple[Condition, ...] = ()
    tp: float = 0
    fp: float = 0
    coverage: float = 0
    value: float = 0.0
    stop: bool = False
    decided: tuple[tuple[float, float], ...] = ()
    locked: bool = False
    stability: float | None = field(default=None, compare=False)

    @property
    def label_conditions(self) -> tuple[LabelCondition, ...]:
        """The conditions of the body that test labels."""
        return tuple(c for c in self.body if isinstance(c, LabelCondition))

    @property
    def attribute_conditions(self) -> tuple[Condition, ...]:
        """The conditions of the body that test attributes."""
        return tuple(c for c in self.body if not c.on_label)

    @property
    def precision(self) -> float:
        """Share of its training predictions that were right (0 if it made none)."""
        total = self.tp + self.fp
        return self.tp / total if total else 0.0

    @property
    def marks(self) -> tuple[str, ...]:
        """Properties that are shown with the rule: `stop`, `locked`."""
        return ("stop",) * self.stop + ("locked",) * self.locked

    def to_text(self) -> str:
        """Return `head ← body`, without counts."""
        return f"{self.head} ← {join(self.body)}".rstrip()

    def counts_by_label(self) -> str:
        """Return `label right/wrong` for each label that a multi-label head states, by the pairs that the rule decided.

        Empty for a single label, and where nothing was counted.
        """
        counted = [
            f"{assignment} {format_count(right)}/{format_count(wrong)}"
            for assignment, (right, wrong) in zip(self.head, self.decided, strict=False)
            if not assignment.implied
        ]
        return ", ".join(counted) if len(counted) > 1 else ""

    def __str__(self) -> str:
        counts = ", ".join((f"TP {format_count(self.tp)}", f"FP {format_count(self.fp)}", *self.marks))
        by_label = self.counts_by_label()
        return f"{self.to_text()}   ({counts}; {by_label})" if by_label else f"{self.to_text()}   ({counts})"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from plurule.report import rule_in_notebook

        return rule_in_notebook(self)
