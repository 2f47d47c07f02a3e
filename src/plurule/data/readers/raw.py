"""What a reader returns before it is known which columns are labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plurule.data.place import Place
from plurule.data.table import Table


@dataclass(frozen=True, slots=True)
class RawTable:
    """All columns of a source, labels among them.

    Parameters
    ----------
    table
        The columns.
    place
        The file they come from (or a name for what is not a file).
    relation
        What the source calls itself.
    lines
        The line of each row in the file, if it has lines.
    weights
        Weight of each row, if the source states weights.
    labels
        Names of the labels, if the source states them.
    notes
        Sentences about what the source holds and the table does not.
    """

    table: Table
    place: Place
    relation: str = ""
    lines: Sequence[int] | None = None
    weights: NDArray[np.float64] | None = None
    labels: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()

    def at_row(self, row: int) -> Place:
        """Where a row stands in the source."""
        return self.place if self.lines is None else self.place.at(self.lines[row])
