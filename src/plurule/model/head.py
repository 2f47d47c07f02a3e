"""Heads: what a rule predicts for the instances it covers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from plurule.model.naming import quoted


@dataclass(frozen=True, slots=True)
class Assignment:
    """One label predicted as present or absent.

    >>> str(Assignment("green", 1, False))
    '¬green'
    """

    name: str
    index: int
    present: bool

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

    def __str__(self) -> str:
        return ", ".join(str(a) for a in self.assignments)
