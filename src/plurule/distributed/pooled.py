"""Rows with what the bodies of pools cover there: what selecting from a pool, and scoring what is selected, counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurule.data.dataset import Dataset
from plurule.distributed.pieces import Blocks
from plurule.distributed.preparing import Kept, rows_of
from plurule.learning.initial_rules import start
from plurule.learning.problem import Problem
from plurule.model import Attribute, Rule
from plurule.prediction.decide import OPEN
from plurule.prediction.staged import Summed
from plurule.selection.gain_cover import (
    Body,
    Choice,
    Pool,
    Taking,
    satisfied,
    staged_selection,
)
from plurule.selection.training_data import Selection

Numbers = NDArray[Any]


class Pools(NamedTuple):
    """What is asked of the rows of a part of the data."""

    attributes: Sequence[Attribute]
    labels: tuple[str, ...]
    given: tuple[Rule, ...]
    bodies: Sequence[Sequence[Body]]
    """A pool for each of the parts of a cross-validation, or one for all rows."""


@dataclass
class PooledBlock:
    """Some rows; nothing in it changes."""

    Y: NDArray[np.uint8]
    held: NDArray[np.uint8]
    """Rows × bodies of all pools, one after the other, as bits; each pool begins with a byte."""
    sizes: NDArray[np.int64]
    """The number of bodies of each pool."""
    weights: NDArray[np.float64] | None = None
    roles: NDArray[np.int8] | None = None
    left: NDArray[np.bool_] | None = None
    """Rows × labels: what initial rules leave to be decided; everything if there are none."""
    n_changing: ClassVar[int] = 0

    @classmethod
    def make(cls, part: Dataset, pools: Pools, kept: Kept) -> tuple[PooledBlock, None]:
        """The rows of a part, and what bodies cover there."""
        table, Y, ones = rows_of(part, pools.attributes, kept)
        sizes = [len(bodies) for bodies in pools.bodies]
        held = [np.packbits(satisfied(bodies, table).T, axis=1) for bodies in pools.bodies]
        left = None
        if pools.given:
            begin = start(Problem(table, pools.labels, Y, ones, pools.given))
            left = (begin.predicted == OPEN) & begin.in_training[:, None]
        weights = None if kept.weights is None else ones
        return cls(Y, np.hstack(held), np.array(sizes), weights, kept.roles, left), None

    def __len__(self) -> int:
        return len(self.Y)

    def counts(self) -> list[Numbers]:
        """What each pool counts."""
        return [self._pool(part).counts() for part in range(len(self.sizes))]

    def taken(self, asked: Sequence[tuple[int, Sequence[Taking]]]) -> list[Numbers]:
        """What takings take from each body of the pool of a part."""
        return [self._pool(part).taken(takings) for part, takings in asked]

    def scored(self, asked: Sequence[tuple[int, int, Sequence[Choice]]], kept: Numbers, measure: str) -> list[Summed]:
        """What selections get right and wrong on groups of held-out rows: of each part, group and selection."""
        found = []
        for part, group, chosen in asked:
            rows = self._rows(part, group + 1)
            holds = self._holds(part, rows)
            weights = None if self.weights is None else self.weights[rows]
            found.append(Summed.of(staged_selection(holds, chosen, self.Y[rows] == 1, weights, kept), measure))
        return found

    def _rows(self, part: int, role: int) -> NDArray[np.intp]:
        if self.roles is None:
            return np.arange(len(self.Y))
        return np.flatnonzero(self.roles[part] == role)

    def _pool(self, part: int) -> Pool:
        """The rows that a part trains on, and what its bodies cover there."""
        rows = self._rows(part, 0)
        left = np.ones((self.Y.shape[1], len(rows)), np.bool_) if self.left is None else self.left[rows].T
        weights = None if self.weights is None else self.weights[rows]
        return Pool(self._holds(part, rows), left, self.Y[rows].T == 1, weights)

    def _begin(self, part: int) -> int:
        return int(sum(-(-size // 8) for size in self.sizes[:part].tolist()))

    def _holds(self, part: int, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Bodies of a pool × some rows: whether they hold."""
        begin, size = self._begin(part), int(self.sizes[part])
        held = np.unpackbits(self.held[rows, begin : begin + -(-size // 8)], axis=1, count=size)
        return held.T.astype(np.bool_)


def scored(
    blocks: Blocks, chosen: Sequence[Sequence[list[Choice]]], n_groups: Sequence[int], kept: Numbers, measure: str
) -> list[list[Selection]]:
    """Per part and price, what was selected, with its scores in each group of held-out rows."""
    asked = [(p, g, one) for p, of_part in enumerate(chosen) for one in of_part for g in range(n_groups[p])]
    sums = iter(blocks.total(PooledBlock.scored, asked, kept, measure))
    return [
        [Selection(one, [next(sums).scores(measure).tolist() for _ in range(n_groups[p])]) for one in of_part]
        for p, of_part in enumerate(chosen)
    ]
