"""A block of rows: binned columns, the state of its pairs, and what can be counted there.

The state is a function of the block and of the rules so far. A block knows how many rules it has seen; one that comes
back without its state, or with an older one, catches up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurule import _core
from plurule.learning.initial_rules import Start
from plurule.prediction.decide import OPEN

OPEN_PRESENT, OPEN_ABSENT, PRESENT = 1, 2, 4
"""Bits of the state of a pair, as the core has them."""
UNDECIDED = 2
"""The code of a label that no rule has decided; 0 is absent, 1 present."""
SIZES = ((1, "bytes"), (2, "words"))
"""Codes by their size, and what columns of such codes are called together."""
LARGEST_CODES: dict[np.dtype[Any], int] = {np.dtype(np.uint8): 255, np.dtype(np.uint16): 65_535}
"""The most values of a column, besides the missing one, that codes of a type can tell apart."""

Test = tuple[int, int, int]
"""A column (attributes first, then labels), and the lowest and highest code that satisfy a condition."""
Body = tuple[Test, ...]
HeadLabels = tuple[tuple[int, int], ...]
"""Labels and their signs."""


class CodedRule(NamedTuple):
    """A rule as a block applies it."""

    body: Body
    head: HeadLabels
    stop: bool


class Standing(NamedTuple):
    """Where learning stands: which list is learned, from which sample of the rows, and its rules so far."""

    rules: tuple[CodedRule, ...] = ()
    sample: int = 0
    """0 is all rows; 1, 2, … are those that the parts of a cross-validation train on."""
    run: int = 0
    """The number of the list, so that rules of another one are not taken for its own."""


def code_type(n_values: int) -> np.dtype[Any]:
    """The smallest type for codes of so many values and a missing one."""
    return next(kind for kind, most in LARGEST_CODES.items() if n_values <= most)


@dataclass
class Block:
    """Rows of the training data; `make` gives one that no rule has seen."""

    columns: list[NDArray[Any]]
    """Codes of each attribute; behind the last one, that of a missing value."""
    n_values: list[int]
    """Per attribute, the number of codes without that of a missing value."""
    states: NDArray[np.uint8]
    """Rows × labels, padded to a multiple of 8: the bits of each pair."""
    predicted: NDArray[np.uint8]
    """Labels × rows: what the rules so far predict, or `UNDECIDED`."""
    in_training: NDArray[np.bool_]
    weights: NDArray[np.float64] | None = None
    roles: NDArray[np.int8] | None = None
    """Parts of a cross-validation × rows: 0 where a part trains on a row."""
    merged: NDArray[np.int32] | None = None
    """Samples × slots: where the slots of a sample begin among all slots; padded by -1. None if they are the same."""
    given: NDArray[np.uint8] | None = None
    """Where initial rules decided something, what was predicted before any rule was learned."""
    given_training: NDArray[np.bool_] | None = None
    """… and what was in training."""
    applied: int = -1
    """How many learned rules the state has seen; -1 while it changes."""
    run: int = -1
    """Which list these are rules of."""

    @classmethod
    def make(
        cls,
        columns: list[NDArray[Any]],
        n_values: list[int],
        Y: NDArray[np.uint8],
        weights: NDArray[np.float64] | None,
        start: Start | None = None,
        roles: NDArray[np.int8] | None = None,
        merged: NDArray[np.int32] | None = None,
    ) -> Block:
        """A block of coded columns and labels, after the initial rules if there are any."""
        n_rows, n_labels = Y.shape
        states = np.zeros((n_rows, -(-n_labels // 8) * 8), np.uint8)
        states[:, :n_labels] = Y * np.uint8(PRESENT)
        predicted = np.full((n_labels, n_rows), UNDECIDED, np.uint8)
        given = None
        if start is not None:
            given = np.where(start.predicted == OPEN, UNDECIDED, start.predicted).T.astype(np.uint8, order="C")
        in_training = np.ones(n_rows, np.bool_)
        training = None if start is None else start.in_training
        return cls(columns, n_values, states, predicted, in_training, weights, roles, merged, given, training)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What the block is made of, by name."""
        found: dict[str, NDArray[Any]] = {}
        for size, name in SIZES:
            columns = [column for column in self.columns if column.itemsize == size]
            if columns:
                found[name] = np.array(columns)
        found["n_values"] = np.array(self.n_values)
        others = ("states", "predicted", "in_training", "weights", "roles", "merged", "given", "given_training")
        return found | {name: value for name in others if (value := getattr(self, name)) is not None}

    @classmethod
    def of_arrays(cls, arrays: dict[str, Any]) -> Block:
        """The block that is made of these."""
        n_values = arrays.pop("n_values").tolist()
        of_size = {size: iter(arrays.pop(name, ())) for size, name in SIZES}
        return cls([next(of_size[code_type(n).itemsize]) for n in n_values], n_values, **arrays)

    def reset(self, sample: int = 0) -> None:
        """Forget all rules that were learned; rows outside of a sample have nothing left to decide."""
        rows = self.rows_of(sample)
        self.predicted[:] = UNDECIDED if self.given is None else self.given
        self.in_training[:] = rows if self.given_training is None else self.given_training & rows
        pairs = self.states[:, : len(self.predicted)]
        pairs &= PRESENT
        open_ = (self.predicted.T == UNDECIDED) & rows[:, None]
        pairs |= np.where(open_, np.where(pairs, OPEN_PRESENT, OPEN_ABSENT), 0).astype(np.uint8)
        self.applied = 0

    def rows_of(self, sample: int) -> NDArray[np.bool_]:
        """The rows of a sample."""
        if sample == 0 or self.roles is None:
            return np.ones(len(self.states), np.bool_)
        return self.roles[sample - 1] == 0

    def __len__(self) -> int:
        return len(self.states)

    # What can be asked -------------------------------------------------------------------------------------------

    def size(self, standing: Standing) -> tuple[float, int, int]:
        """The weight of the rows of a sample, the number of pairs, and of those that are decided."""
        self.catch_up(standing)
        rows = self.rows_of(standing.sample)
        decided = int((self.predicted[:, rows] != UNDECIDED).sum())
        weight = int(rows.sum()) if self.weights is None else float(self.weights[rows].sum())
        return weight, int(rows.sum()) * len(self.predicted), decided

    def count(self, standing: Standing, body: Body, labels: Sequence[int] | None, whole: bool) -> tuple[Any, ...]:
        """What the rows of a body contribute, slot by slot, for some labels or all of them."""
        self.catch_up(standing)
        return (self._sums(self.covered(body), labels, whole, standing.sample),)

    def close(
        self, standing: Standing, body: Body, head: HeadLabels, predict_absence: bool
    ) -> tuple[NDArray[np.float64], ...]:
        """What a rule would decide rightly and wrongly, the weight it covers, and what of that it would not finish."""
        self.catch_up(standing)
        rows = self.covered(body)
        states = self.states[rows, : len(self.predicted)]
        weights = np.ones(len(rows)) if self.weights is None else self.weights[rows]
        decided = []
        for label, sign in head:
            present, absent = (float(weights[states[:, label] & bit > 0].sum()) for bit in (OPEN_PRESENT, OPEN_ABSENT))
            decided.append((present, absent) if sign else (absent, present))
            states[:, label] = 0
        left = OPEN_PRESENT | OPEN_ABSENT if predict_absence else OPEN_PRESENT
        unfinished = weights[(states & left > 0).any(axis=1)].sum()
        return np.array(decided), weights.sum(), unfinished

    def settle(self, standing: Standing) -> tuple[Any, ...]:
        """Apply the last rule: the counts that it takes away, those of the labels it decides, how many pairs it closes.

        What a rule takes away is the open pairs of its head; a rule that ends its rows takes them away altogether.
        """
        self.catch_up(standing._replace(rules=standing.rules[:-1]))
        rule = standing.rules[-1]
        rows = self.covered(rule.body)
        labels = [label for label, _ in rule.head]
        gone = self._sums(rows, None if rule.stop else labels, False, standing.sample)
        closed = int((self.states[rows][:, labels] & (OPEN_PRESENT | OPEN_ABSENT) > 0).sum())
        self._apply(rule, rows)
        fresh = self._sums(self.covered(()), None, False, columns=[len(self.columns) + label for label in labels])
        return gone, fresh, closed

    def undecided(self, standing: Standing) -> tuple[NDArray[np.float64], ...]:
        """Per label: the weight of the absent and of the present pairs that no rule decided."""
        self.catch_up(standing)
        pairs = self.states[:, : len(self.predicted)]
        weights = np.ones(len(pairs)) if self.weights is None else self.weights
        return (np.stack([weights @ (pairs & bit > 0) for bit in (OPEN_ABSENT, OPEN_PRESENT)], axis=1),)

    # How it is counted -------------------------------------------------------------------------------------------

    def catch_up(self, standing: Standing) -> None:
        """Bring the state to where these rules leave it."""
        if standing.run != self.run or not 0 <= self.applied <= len(standing.rules):
            self.applied, self.run = -1, standing.run
            self.reset(standing.sample)
        for rule in standing.rules[self.applied :]:
            self._apply(rule, self.covered(rule.body))

    def covered(self, body: Body) -> NDArray[np.uint32]:
        """The rows in training that satisfy a body."""
        rows = np.flatnonzero(self.in_training).astype(np.uint32)
        for column, low, high in body:
            codes = self._column(column)[rows]
            rows = rows[(codes >= low) & (codes <= high)]
        return rows

    def _apply(self, rule: CodedRule, rows: NDArray[np.uint32]) -> None:
        before, self.applied = self.applied, -1
        for label, sign in rule.head:
            newly = rows[self.predicted[label, rows] == UNDECIDED]
            self.predicted[label, newly] = sign
            self.states[newly, label] &= PRESENT
        if rule.stop:
            self.in_training[rows] = False
        self.applied = before + 1

    def _column(self, index: int) -> NDArray[Any]:
        return self.columns[index] if index < len(self.columns) else self.predicted[index - len(self.columns)]

    def _sums(
        self,
        rows: NDArray[np.uint32],
        labels: Sequence[int] | None,
        whole: bool,
        sample: int = 0,
        columns: Sequence[int] | None = None,
    ) -> NDArray[np.float64]:
        """Slots of columns (all, as a sample has them, unless given) and one for all rows, by lanes of the labels."""
        some = range(len(self.columns) + len(self.predicted)) if columns is None else columns
        slots = [(self.n_values[i] if i < len(self.columns) else UNDECIDED) + 1 for i in some] + [1]
        lanes = np.arange(len(self.predicted)) if labels is None else np.array(labels)
        sums = np.zeros((sum(slots), 3 * len(lanes) + 1))
        _core.count_block(
            columns=[*(self._column(i) for i in some), np.broadcast_to(np.uint8(0), 1).repeat(len(self.states))],
            slots=slots,
            rows=rows,
            states=self.states,
            labels=lanes.astype(np.int32),
            whole=whole,
            weights=self.weights,
            sums=sums,
        )
        if columns is not None or self.merged is None:
            return sums
        starts = self.merged[sample]
        return np.add.reduceat(sums, starts[starts >= 0], axis=0)
