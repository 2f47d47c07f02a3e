"""Heads: what a rule predicts for the instances it covers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import permutations
from typing import TypeAlias

from plurule.errors import ModelError
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
    """Of the label."""
    index: int
    """Its place among the labels, from 0."""
    present: bool
    """Whether the label is there; if not, it is absent."""
    implied: bool = field(default=False, compare=False)
    """Whether the rest of the head implies it (one of its group, or below it, is present): it need not be said."""

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
    """What is predicted; each label once."""

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
        """What is not implied by the rest."""
        return tuple(a for a in self.assignments if not a.implied)

    def completed(self, groups: Groups, labels: Sequence[str], hierarchy: Hierarchy = ()) -> Head:
        """The head with all that it implies.

        Where a label is present, the others of its group are absent and those above it are present; where one is
        absent, those below it are.

        >>> head = Head((Assignment("setosa", 0, True),)).completed(((0, 1),), ["setosa", "virginica"])
        >>> str(head), [str(assignment) for assignment in head]
        ('setosa', ['setosa', '¬virginica'])
        >>> [str(a) for a in Head((Assignment("jazz", 0, True),)).completed((), ["jazz", "music"], ((0, 1),))]
        ['jazz', 'music']
        """
        implied = implications(groups, hierarchy)
        if not implied:
            return self
        said = {a.index: a for a in self.assignments}
        waiting = list(self.assignments)
        for one in waiting:
            for index, present in implied.get((one.index, one.present), ()):
                other = said.get(index)
                if other is not None and other.present != present:
                    raise self._contradiction(one, other)
                if other is None or not present:
                    said[index] = Assignment(labels[index], index, present, implied=True)
                if other is None:
                    waiting.append(said[index])
        return Head(tuple(said.values()))

    def _contradiction(self, one: Assignment, other: Assignment) -> ModelError:
        first, second = sorted((one, other), key=lambda a: (not a.present, a.index))
        if second.present:
            return ModelError(f"{self} predicts {first.name} and {second.name}, of which only one can be present")
        return ModelError(f"{self} predicts {first.name} without {second.name}, which it implies")

    def __str__(self) -> str:
        return ", ".join(str(a) for a in self.stated)


@lru_cache(maxsize=64)
def implications(groups: Groups, hierarchy: Hierarchy) -> dict[tuple[int, bool], list[tuple[int, bool]]]:
    """What a label that is present, or absent, says about others at once."""
    found: dict[tuple[int, bool], list[tuple[int, bool]]] = defaultdict(list)
    for one, other in (pair for group in groups for pair in permutations(group, 2)):
        found[one, True].append((other, False))
    for below, above in hierarchy:
        found[below, True].append((above, True))
        found[above, False].append((below, False))
    return dict(found)


@lru_cache(maxsize=64)
def ancestors(hierarchy: Hierarchy) -> Hierarchy:
    """All pairs of a label and one that it implies, directly or by others in between.

    >>> ancestors(((0, 1), (1, 2)))
    ((0, 1), (0, 2), (1, 2))
    """
    implied = implications((), hierarchy)
    found: dict[tuple[int, int], None] = {}
    for label in sorted({below for below, _ in hierarchy}):
        waiting = [label]
        for one in waiting:
            fresh = [other for other, _ in implied.get((one, True), ()) if (label, other) not in found]
            found |= {(label, other): None for other in fresh}
            waiting += fresh
    return tuple(found)
