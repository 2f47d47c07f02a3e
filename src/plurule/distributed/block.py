"""A block of rows: binned columns, the state of its pairs, and what can be counted there.

The state is a function of the block and of the rules so far. A block knows how many rules it has seen; one that comes
back without its state, or with an older one, catches up.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurule import _core
from plurule.learning.initial_rules import InitialState
from plurule.prediction.apply import OPEN

OPEN_PRESENT, OPEN_ABSENT, PRESENT = 1, 2, 4
"""Bits of the state of a pair, as the core has them."""
UNDECIDED = 2
"""The code of a label that no rule has decided; 0 is absent, 1 present."""
SPARSE = 1 / 16
"""A column that has its usual code in all but such a share of the rows is sparse."""
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


class LearningState(NamedTuple):
    """State of learning: the number of the list, and its rules so far."""

    rules: tuple[CodedRule, ...] = ()
    run: int = 0
    """A number of the list, so that rules of another one are not taken for its own."""


def code_type(n_values: int) -> np.dtype[Any]:
    """The smallest type for codes of so many values and a missing one."""
    return next(kind for kind, most in LARGEST_CODES.items() if n_values <= most)


@dataclass(kw_only=True)
class Block:
    """Rows of the training data; `make` gives one that no rule has seen."""

    columns: list[NDArray[Any] | None]
    """Codes of each attribute; behind the last one, that of a missing value. None for a sparse column."""
    n_values: NDArray[np.int64]
    """Per attribute, the number of codes without that of a missing value."""
    usual: NDArray[np.int32]
    """Per attribute, the code that a sparse column has where nothing is listed; -1 for one that is not sparse."""
    listed: NDArray[np.uint32]
    """Row by row, the slots of the codes of sparse columns that are not the usual ones."""
    row_starts: NDArray[np.int64]
    """First slot of each row, and the end of the last."""
    weights: NDArray[np.float64] | None = None
    given: NDArray[np.uint8] | None = None
    """Predictions of initial rules, if there are any."""
    given_training: NDArray[np.bool_] | None = None
    """… and what was in training."""
    tested: set[int] = field(default_factory=set)
    """The labels that some rule decides, so that conditions may test them."""
    states: NDArray[np.uint8]
    """Rows × labels, padded to a multiple of 8: the bits of each pair."""
    predicted: NDArray[np.uint8]
    """Labels × rows: what the rules so far predict, or `UNDECIDED`."""
    in_training: NDArray[np.bool_]
    seen: NDArray[np.int64] = field(default_factory=lambda: np.array([-1, -1]))
    """How many learned rules the state has seen, -1 while it changes; and which list they are of."""

    @classmethod
    def make(
        cls,
        columns: Iterable[NDArray[Any]],
        n_values: Sequence[int],
        Y: NDArray[np.uint8],
        weights: NDArray[np.float64] | None,
        start: InitialState | None = None,
    ) -> Block:
        """A block of coded columns and labels, after the initial rules if there are any."""
        n_rows, n_labels = Y.shape
        states = np.zeros((n_rows, -(-n_labels // 8) * 8), np.uint8)
        states[:, :n_labels] = Y * np.uint8(PRESENT)
        given = None if start is None else np.where(start.predicted == OPEN, UNDECIDED, start.predicted).T
        slots = np.cumsum([0, *n_values]) + np.arange(len(n_values) + 1)
        kept, usual = list[NDArray[Any] | None](), np.full(len(n_values), -1, np.int32)
        places, listed = [np.zeros(0, np.intp)], [np.zeros(0, np.uint32)]
        for i, codes in enumerate(columns):
            counts = np.bincount(codes, minlength=1)
            others = np.flatnonzero(codes != counts.argmax()) if counts.max() > (1 - SPARSE) * n_rows else None
            kept.append(codes if others is None else None)
            if others is not None:
                usual[i] = counts.argmax()
                places.append(others)
                listed.append((slots[i] + codes[others]).astype(np.uint32))
        rows = np.concatenate(places)
        return cls(
            columns=kept,
            n_values=np.array(n_values, np.int64),
            usual=usual,
            states=states,
            predicted=np.full((n_labels, n_rows), UNDECIDED, np.uint8),
            in_training=np.ones(n_rows, np.bool_),
            listed=np.concatenate(listed)[np.argsort(rows, kind="stable")],
            row_starts=np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_rows))]).astype(np.int64),
            weights=weights,
            given=None if given is None else given.astype(np.uint8, order="C"),
            given_training=None if start is None else start.in_training,
        )

    def reset(self) -> None:
        """Forget all rules that were learned."""
        self.predicted[:] = UNDECIDED if self.given is None else self.given
        self.in_training[:] = True if self.given_training is None else self.given_training
        pairs = self.states[:, : len(self.predicted)]
        pairs &= PRESENT
        is_open = self.predicted.T == UNDECIDED
        pairs |= np.where(is_open, np.where(pairs, OPEN_PRESENT, OPEN_ABSENT), 0).astype(np.uint8)
        self.seen[0] = 0

    def __len__(self) -> int:
        return len(self.states)

    # What can be asked -------------------------------------------------------------------------------------------

    def begin(self, state: LearningState) -> list[Any]:
        """Return the counts that learning begins with, or resumes from.

        The weight of the rows, the number of pairs, and of those that are decided; per label, the weight of the present
        and of the absent pairs that are open; and what all rows contribute, slot by slot, for all labels.
        """
        self.catch_up(state)
        decided = int((self.predicted != UNDECIDED).sum())
        weight = len(self) if self.weights is None else float(self.weights.sum())
        left = self._sums(np.arange(len(self), dtype=np.uint32), None, False, by_slot=False)
        open_ = left[0, : 2 * len(self.predicted)].reshape(2, -1).T
        everything = self._sums(self.covered(()), None, False)
        return [weight, self.predicted.size, decided, open_, everything]

    def count(self, state: LearningState, body: Body, labels: Sequence[int] | None, whole: bool) -> list[Any]:
        """Return the counts of the rows of a body, slot by slot, for some labels or all of them.

        Where rows count as a whole, what the open pairs of several labels alone come to is beside it. What it would
        mean if a rule with this body decided these labels comes last: the weight of the rows that have something else
        to decide, and something that is present; per label, the counts of the rows for which it is decided then; and
        how many pairs that closes.
        """
        self.catch_up(state)
        rows = self.covered(body)
        found = [self._sums(rows, labels, whole)]
        if labels is None:
            return found
        if whole and len(labels) > 1:
            found.append(self._sums(rows, labels, False)[:, : 2 * len(labels)])
        return [*found, *self._if_decided(rows, labels)]

    def _if_decided(self, rows: NDArray[np.uint32], labels: Sequence[int]) -> list[Any]:
        others = np.full(self.states.shape[1], OPEN_PRESENT | OPEN_ABSENT, np.uint8)
        others[[*labels]] = 0
        unfinished = []
        for bits in (others, others & OPEN_PRESENT):
            # Eight pairs of a row at a time.
            words = zip(self.states.view(np.uint64).T, bits.view(np.uint64), strict=True)
            left = functools.reduce(np.bitwise_or, (pairs[rows] & mask for pairs, mask in words)) > 0
            unfinished.append(left.sum() if self.weights is None else self.weights[rows[left]].sum())
        newly = [rows[self.predicted[label, rows] == UNDECIDED] for label in labels]
        moved = np.concatenate([self._sums(one, None, False, by_slot=False) for one in newly])
        moved[:, [*labels, *(len(self.predicted) + label for label in labels)]] = 0
        return [np.array(unfinished, np.float64), moved, sum(map(len, newly))]

    # How it is counted -------------------------------------------------------------------------------------------

    def catch_up(self, state: LearningState) -> None:
        """Bring the state to where these rules leave it."""
        if state.run != self.seen[1] or not 0 <= self.seen[0] <= len(state.rules):
            self.seen[:] = -1, state.run
            self.reset()
        for rule in state.rules[int(self.seen[0]) :]:
            self._apply(rule, self.covered(rule.body))
        heads = (label for rule in state.rules for label, _ in rule.head)
        self.tested = set(heads) if self.given is None else set(range(len(self.predicted)))

    def covered(self, body: Body) -> NDArray[np.uint32]:
        """The rows in training that satisfy a body."""
        rows = np.flatnonzero(self.in_training).astype(np.uint32)
        for column, low, high in body:
            codes = self._column(column)[rows]
            rows = rows[(codes >= low) & (codes <= high)]
        return rows

    def _apply(self, rule: CodedRule, rows: NDArray[np.uint32]) -> None:
        before, self.seen[0] = int(self.seen[0]), -1
        for label, sign in rule.head:
            newly = rows[self.predicted[label, rows] == UNDECIDED]
            self.predicted[label, newly] = sign
            self.states[newly, label] &= PRESENT
        if rule.stop:
            self.in_training[rows] = False
        self.seen[0] = before + 1

    def _column(self, index: int) -> NDArray[Any]:
        """The codes of an attribute or, behind those, of a label."""
        if index >= len(self.columns):
            return self.predicted[index - len(self.columns)]
        if (codes := self.columns[index]) is not None:
            return codes
        start, slots = int(self.n_values[:index].sum()) + index, int(self.n_values[index]) + 1
        places = np.flatnonzero((self.listed >= start) & (self.listed < start + slots))
        codes = np.full(len(self), self.usual[index], code_type(slots - 1))
        codes[np.searchsorted(self.row_starts, places, side="right") - 1] = self.listed[places] - start
        return codes

    def _sums(
        self,
        rows: NDArray[np.uint32],
        labels: Sequence[int] | None,
        whole: bool,
        by_slot: bool = True,
    ) -> NDArray[np.float64]:
        """Slots of all columns, if these are wanted, and one for all rows; by lanes of labels."""
        columns, slots = list[NDArray[Any]](), [1]
        if by_slot:
            nothing = np.zeros(0, np.uint8)
            columns = [nothing if codes is None else codes for codes in self.columns]
            columns += [codes if label in self.tested else nothing for label, codes in enumerate(self.predicted)]
            slots = [*(self.n_values + 1).tolist(), *[UNDECIDED + 1] * len(self.predicted), 1]
        lanes = np.arange(len(self.predicted)) if labels is None else np.array(labels)
        sums = np.zeros((sum(slots), 3 * len(lanes) + 1))
        sparse = np.flatnonzero(self.usual >= 0) if by_slot else np.zeros(0, np.intp)
        _core.count_block(
            columns=[*columns, np.zeros(len(self), np.uint8)],
            slots=slots,
            rows=rows,
            states=self.states,
            labels=lanes.astype(np.int32),
            whole=whole,
            weights=self.weights,
            listed=self.listed if len(sparse) else None,
            row_starts=self.row_starts if len(sparse) else None,
            sums=sums,
        )
        if by_slot:
            starts = np.cumsum([0, *slots[:-1]])
            open_labels = [label for label in range(len(self.predicted)) if label not in self.tested]
            sums[starts[len(self.columns) :][open_labels] + UNDECIDED] = sums[-1]
            if len(sparse):
                sums[starts[sparse] + self.usual[sparse]] = sums[-1] - np.add.reduceat(sums, starts)[sparse]
        return sums
