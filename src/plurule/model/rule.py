"""Rules: a head, the body that must hold, and the counts of training."""

from __future__ import annotations

from dataclasses import dataclass, field

from plurule.model.condition import Condition, LabelCondition, format_count, join
from plurule.model.head import Head


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
