"""What the paper states about its experiments, each statement checked against the results: does it hold here?"""

from __future__ import annotations

from dataclasses import dataclass

from plurule.paper import checks
from plurule.paper.analysis import Analysis
from plurule.paper.published import table


@dataclass(frozen=True)
class Statement:
    """A statement of the paper, judged."""

    section: str
    statement: str
    holds: bool | None
    """Whether it holds here; None if these experiments cannot tell."""
    numbers: str
    criterion: str
    """What is looked at, and when the statement counts as true."""

    @property
    def verdict(self) -> str:
        """The verdict in words."""
        return {True: "holds", False: "does not hold", None: "not judged"}[self.holds]


def check_statements(analysis: Analysis) -> list[Statement]:
    """Every statement, with its verdict."""
    return [_judge(analysis, **row) for row in table("statements")]


def _judge(analysis: Analysis, section: str, statement: str, criterion: str, check: str) -> Statement:
    try:
        holds, numbers = getattr(checks, check)(analysis)
    except checks.CannotTellError as reason:
        return Statement(section, statement, None, str(reason), criterion)
    return Statement(section, statement, bool(holds), numbers, criterion)
