"""Heads: what a rule predicts for the instances it covers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from plurule.errors import ModelError
from plurule.model.naming import quoted


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
    """Whether the label is absent because another of its group is present, and need not be said."""

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
        object.__setattr__(self, "assignments", tuple(sorted(self.assignments, key=lambda a: a.index)))

    def __iter__(self) -> Iterator[Assignment]:
        return iter(self.assignments)

    def __len__(self) -> int:
        return len(self.assignments)

    @property
    def stated(self) -> tuple[Assignment, ...]:
        """What is not implied by the rest."""
        return tuple(a for a in self.assignments if not a.implied)

    def completed(self, groups: Sequence[Sequence[int]], labels: Sequence[str]) -> Head:
        """The head that also says that a label is absent where another of its group is present.

        >>> head = Head((Assignment("setosa", 0, True),)).completed([(0, 1)], ["setosa", "virginica"])
        >>> str(head), [str(assignment) for assignment in head]
        ('setosa', ['setosa', '¬virginica'])
        """
        said = {a.index: a for a in self.assignments}
        for group in groups:
            present = [labels[i] for i in group if i in said and said[i].present]
            if len(present) > 1:
                raise ModelError(f"{self} predicts {' and '.join(present)}, of which only one can be present")
            absent = [i for i in group if i not in said or not said[i].present] if present else []
            said |= {i: Assignment(labels[i], i, False, implied=True) for i in absent}
        return Head(tuple(said.values()))

    def __str__(self) -> str:
        return ", ".join(str(a) for a in self.stated)
