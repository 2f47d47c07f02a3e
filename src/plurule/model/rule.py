"""Rules: a head, the body that must hold, and what training counted."""

from __future__ import annotations

from dataclasses import dataclass, field

from plurule.model.condition import Condition, LabelCondition, format_count, join
from plurule.model.head import Head


@dataclass(frozen=True, slots=True)
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
    >>> from plurule.model import Assignment, Head, NumericCondition
    >>> head = Head((Assignment("red", 0, True), Assignment("white", 4, True)))
    >>> print(Rule(head, (NumericCondition("colours", 8, ">", 4.5),), tp=166, fp=38))
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
    def precision(self) -> float:
        """Share of its training predictions that were right (0 if it made none)."""
        total = self.tp + self.fp
        return self.tp / total if total else 0.0

    @property
    def marks(self) -> tuple[str, ...]:
        """What the rule is besides: `stop`, `locked`."""
        return ("stop",) * self.stop + ("locked",) * self.locked

    def to_text(self) -> str:
        """`head ← body`, without counts."""
        return f"{self.head} ← {join(self.body)}".rstrip()

    def __str__(self) -> str:
        counts = ", ".join((f"TP {format_count(self.tp)}", f"FP {format_count(self.fp)}", *self.marks))
        return f"{self.to_text()}   ({counts})"
