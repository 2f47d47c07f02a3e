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
    weights: NDArray[np.float64] | None
    begin: tuple[NDArray[np.uint8], NDArray[np.bool_]] | None = None
    """Where initial rules decided something: what was predicted and in training before any rule was learned."""
    applied: int = 0
    """How many learned rules the state has seen; -1 while it changes."""

    @classmethod
    def make(
        cls,
        columns: list[NDArray[Any]],
        n_values: list[int],
        Y: NDArray[np.uint8],
        weights: NDArray[np.float64] | None,
        start: Start | None = None,
    ) -> Block:
        """A block of coded columns and labels, after the initial rules if there are any."""
        n_rows, n_labels = Y.shape
        states = np.zeros((n_rows, -(-n_labels // 8) * 8), np.uint8)
        states[:, :n_labels] = Y * np.uint8(PRESENT)
        predicted = np.full((n_labels, n_rows), UNDECIDED, np.uint8)
        begin = None
        if start is not None:
            predicted = np.where(start.predicted == OPEN, UNDECIDED, start.predicted).T.astype(np.uint8, order="C")
            begin = predicted.copy(), start.in_training
        block = cls(columns, n_values, states, predicted, np.ones(n_rows, np.bool_), weights, begin)
        block.reset()
        return block

    def reset(self) -> None:
        """Forget all rules that were learned."""
        self.predicted[:] = UNDECIDED if self.begin is None else self.begin[0]
        self.in_training[:] = True if self.begin is None else self.begin[1]
        pairs = self.states[:, : len(self.predicted)]
        pairs &= PRESENT
        pairs |= np.where(self.predicted.T == UNDECIDED, np.where(pairs, OPEN_PRESENT, OPEN_ABSENT), 0).astype(np.uint8)
        self.applied = 0

    # What can be asked -------------------------------------------------------------------------------------------

    def size(self) -> tuple[float, int, int]:
        """The weight of the rows, the number of pairs, and of those that initial rules decided."""
        decided = 0 if self.begin is None else int((self.begin[0] != UNDECIDED).sum())
        return len(self.states) if self.weights is None else float(self.weights.sum()), self.predicted.size, decided

    def count(
        self, rules: Sequence[CodedRule], body: Body, labels: Sequence[int] | None, whole: bool
    ) -> tuple[Any, ...]:
        """What the rows of a body contribute, slot by slot, for some labels or all of them."""
        self.catch_up(rules)
        return (self._sums(self.covered(body), labels, whole),)

    def close(
        self, rules: Sequence[CodedRule], body: Body, head: HeadLabels, predict_absence: bool
    ) -> tuple[NDArray[np.float64], ...]:
        """What a rule would decide rightly and wrongly, the weight it covers, and what of that it would not finish."""
        self.catch_up(rules)
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

    def settle(self, rules: Sequence[CodedRule]) -> tuple[Any, ...]:
        """Apply the last rule: the counts that it takes away, those of the labels it decides, how many pairs it closes.

        What a rule takes away is the open pairs of its head; a rule that ends its rows takes them away altogether.
        """
        self.catch_up(rules[:-1])
        rule, rows = rules[-1], self.covered(rules[-1].body)
        labels = [label for label, _ in rule.head]
        gone = self._sums(rows, None if rule.stop else labels, whole=False)
        closed = int((self.states[rows][:, labels] & (OPEN_PRESENT | OPEN_ABSENT) > 0).sum())
        self._apply(rule, rows)
        fresh = self._sums(self.covered(()), None, whole=False, columns=[len(self.columns) + label for label in labels])
        return gone, fresh, closed

    def undecided(self, rules: Sequence[CodedRule]) -> tuple[NDArray[np.float64], ...]:
        """Per label: the weight of the absent and of the present pairs that no rule decided."""
        self.catch_up(rules)
        pairs = self.states[:, : len(self.predicted)]
        weights = np.ones(len(pairs)) if self.weights is None else self.weights
        return (np.stack([weights @ (pairs & bit > 0) for bit in (OPEN_ABSENT, OPEN_PRESENT)], axis=1),)

    # How it is counted -------------------------------------------------------------------------------------------

    def catch_up(self, rules: Sequence[CodedRule]) -> None:
        """Bring the state to where these rules leave it."""
        if not 0 <= self.applied <= len(rules):
            self.reset()
        for rule in rules[self.applied :]:
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
        columns: Sequence[int] | None = None,
    ) -> NDArray[np.float64]:
        """Slots of the columns (all, unless given) and one slot for all rows, by lanes of the labels."""
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
        return sums
