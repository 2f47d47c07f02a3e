"""Rows with what the bodies of pools cover there: what selecting from a pool, and scoring what is selected, counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurule.data.dataset import Dataset
from plurule.distributed.pieces import Blocks
from plurule.distributed.preparing import Kept, rows_of
from plurule.learning.constraints import ResolvedConstraints
from plurule.learning.initial_rules import start
from plurule.learning.problem import Problem
from plurule.model import Attribute, Rule
from plurule.prediction.decide import OPEN
from plurule.prediction.staged import Summed, Tally
from plurule.selection.gain_cover import (
    Body,
    Choice,
    Gains,
    Price,
    covered_sums,
    exact_type,
    of_labels,
    satisfied,
    staged_selection,
    told,
)
from plurule.selection.training_data import Selection

Numbers = NDArray[Any]


class Pools(NamedTuple):
    """What is asked of the rows of a part of the data."""

    attributes: tuple[Attribute, ...]
    labels: tuple[str, ...]
    given: tuple[Rule, ...]
    bodies: Sequence[Sequence[Body]]
    """A pool for each of the parts of a cross-validation, or one for all rows."""


class Taking(NamedTuple):
    """A choice from the pool of a part, after others."""

    part: int
    before: tuple[Choice, ...]
    choice: Choice


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

    def arrays(self) -> dict[str, Numbers]:
        """What the block is made of, by name."""
        return {name: value for name, value in vars(self).items() if value is not None}

    @classmethod
    def of_arrays(cls, arrays: dict[str, Any]) -> PooledBlock:
        """The block that is made of these."""
        return cls(**arrays)

    def __len__(self) -> int:
        return len(self.Y)

    def counts(self) -> list[Numbers]:
        """Per pool: what its bodies cover of open pairs, those with the label and all; and the pairs with the label."""
        found = []
        for part in range(len(self.sizes)):
            rows = self._rows(part, 0)
            weight = self._weight(rows)
            present = weight * (self.Y[rows] == 1)
            found.append(covered_sums(self._held(part, rows), np.hstack([present, weight])))
            found.append(present.sum(axis=0, dtype=np.float64))
        return found

    def taken(self, asked: Sequence[Taking]) -> list[Numbers]:
        """What choices take from each body of their pools: open pairs that have the labels, beside all."""
        found = []
        for part, before, choice in asked:
            rows, head = self._rows(part, 0), choice.head
            rows = rows[self._holds(part, choice.body, rows)]
            weight = self._weight(rows)[:, head]
            for earlier in before:
                again = np.isin(head, earlier.head)
                if again.any() and not earlier.last:
                    weight[np.ix_(self._holds(part, earlier.body, rows), again)] = 0
            open_ = weight.any(axis=1)
            rows, weight = rows[open_], weight[open_]
            present = weight * (self.Y[rows][:, head] == 1)
            found.append(covered_sums(self._held(part, rows), np.hstack([present, weight])))
        return found

    def scored(self, asked: Sequence[tuple[int, int, Sequence[Choice]]], kept: Numbers, measure: str) -> list[Summed]:
        """What selections get right and wrong on groups of held-out rows: of each part, group and selection."""
        found = []
        for part, group, chosen in asked:
            rows = self._rows(part, group + 1)
            holds = self._held(part, rows).T.astype(np.bool_)
            tally = Tally(self.Y[rows][:, kept], None if self.weights is None else self.weights[rows])
            found.append(Summed.of(staged_selection(holds, of_labels(chosen, kept), tally), measure))
        return found

    def _rows(self, part: int, role: int) -> NDArray[np.intp]:
        if self.roles is None:
            return np.arange(len(self.Y))
        return np.flatnonzero(self.roles[part] == role)

    def _weight(self, rows: NDArray[np.intp]) -> Numbers:
        """Rows × labels: the weight of each pair, where it is open."""
        weights = np.ones(len(rows)) if self.weights is None else self.weights[rows]
        left = np.ones((len(rows), self.Y.shape[1]), np.bool_) if self.left is None else self.left[rows]
        return left * weights[:, None].astype(exact_type(weights))

    def _begin(self, part: int) -> int:
        return int(sum(-(-size // 8) for size in self.sizes[:part].tolist()))

    def _held(self, part: int, rows: NDArray[np.intp]) -> NDArray[np.uint8]:
        """Rows × bodies of a pool: whether a body holds."""
        begin, size = self._begin(part), int(self.sizes[part])
        return np.unpackbits(self.held[rows, begin : begin + -(-size // 8)], axis=1, count=size)

    def _holds(self, part: int, body: int, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        column, bit = self._begin(part) + body // 8, 0x80 >> body % 8
        return self.held[rows, column] & bit > 0


def select(
    blocks: Blocks,
    pools: Sequence[Sequence[Body]],
    prices: Sequence[Price],
    n_rules: int,
    constraints: ResolvedConstraints | None,
) -> list[list[Any]]:
    """Per pool and price, what is selected; all of them go step by step together, with one round of counts for each."""
    counts = blocks.total(PooledBlock.counts)
    chosen: list[list[list[Choice]]] = []
    growing: dict[tuple[int, int], Any] = {}
    asked: dict[tuple[int, int], Choice] = {}
    for part, bodies in enumerate(pools):
        right, all_ = np.hsplit(counts[2 * part], 2)
        gains = Gains(bodies, right, all_, counts[2 * part + 1], constraints)
        chosen.append([gains.last(price) for price in prices])
        for number, price in enumerate(prices):
            growing[part, number] = gains.selecting(price, n_rules - len(chosen[part][number]))
            choice = next(growing[part, number], None)
            if choice is not None:
                asked[part, number] = choice
    while asked:
        requests: dict[tuple[int, int], Taking] = {}
        for (part, n), choice in asked.items():
            if len(chosen[part][n]) + 1 < n_rules:
                requests[part, n] = Taking(part, tuple(chosen[part][n]), choice)
            chosen[part][n].append(choice)
        # Prices often choose alike, at first.
        distinct = {_key(request): request for request in requests.values()}
        sums = blocks.total(PooledBlock.taken, list(distinct.values())) if distinct else ()
        taken = dict(zip(distinct, sums, strict=True))
        following = {place: told(growing[place], taken[_key(request)]) for place, request in requests.items()}
        asked = {place: choice for place, choice in following.items() if choice is not None}
    return chosen


def _key(request: Taking) -> Any:
    listed = [(one.body, tuple(one.head.tolist()), one.last) for one in (*request.before, request.choice)]
    return request.part, tuple(listed)


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
