"""`_core.PoolRows` in plain Python, row by row, and random questions to ask both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule import _core

Bools = NDArray[np.bool_]


def pack(marks: Bools) -> NDArray[np.uint8]:
    """Return the bits of marks, of which the last axis is that of rows."""
    return np.ascontiguousarray(np.packbits(marks, axis=-1, bitorder="little"))


def unpack(bits: NDArray[np.uint8], n_rows: int) -> Bools:
    return np.unpackbits(bits, axis=-1, count=n_rows, bitorder="little").astype(np.bool_)


@dataclass
class Rows:
    """Rows that count, and the arguments of `_core.PoolRows` as marks: bodies × rows and labels × rows."""

    rows: Bools
    holds: Bools
    present: Bools
    open: Bools | None
    predicted: Bools | None
    weights: NDArray[np.float64] | None

    def core(self) -> _core.PoolRows:
        """Return the same rows of the core."""
        of_labels = [None if marks is None else pack(marks) for marks in (self.open, self.predicted)]
        n_rows = len(self.rows)
        return _core.PoolRows(n_rows, pack(self.rows), pack(self.holds), pack(self.present), *of_labels, self.weights)

    def __post_init__(self) -> None:
        shape = self.present.shape
        self.n_labels, self.n_rows = shape
        self.weight = np.ones(self.n_rows) if self.weights is None else self.weights
        self.left = self.rows & (np.ones(shape, np.bool_) if self.open is None else self.open)
        self.given = self.rows & (np.zeros(shape, np.bool_) if self.predicted is None else self.predicted)

    def cover_updates(self, updates: Sequence[_core.CoverUpdate]) -> NDArray[np.float64]:
        sums = np.zeros((len(updates), 2, len(self.holds)))
        for sum_of, update in zip(sums, updates, strict=True):
            rows = self.left[update.label] & self.holds[update.body]
            for body in update.before:
                rows &= ~self.holds[body]
            sum_of[0] = self.holds @ (self.weight * (rows & self.present[update.label]))
            sum_of[1] = self.holds @ (self.weight * rows)
        return sums

    def decide(self, choices: Sequence[_core.Choice]) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
        """Return, per label and row, 1 (present), 0 (absent) or -1 (undecided), and the choice that decides, or -1.

        A pair that is not open is decided by none; it is absent if it is not predicted as present.
        """
        decisions = np.where(self.given, 1, np.where(self.left, -1, 0)).astype(np.int8)
        decided_by = np.full(decisions.shape, -1)
        order = sorted(range(len(choices)), key=lambda i: choices[i].is_default)
        for row in np.flatnonzero(self.rows):
            for i in order:
                choice = choices[i]
                if not self.holds[choice.body, row]:
                    continue
                says = dict(zip(choice.head, choice.present, strict=True))
                for label in choice.decided:
                    if decisions[label, row] == -1:
                        decisions[label, row] = says.get(label, False)
                        decided_by[label, row] = i
        return decisions, decided_by

    def prefix_counts(self, choices: Sequence[_core.Choice], labels: Sequence[int]) -> dict[str, Any]:
        kept = list(labels)
        tp, fp, tables = [], [], []
        for length in range(len(choices) + 1):
            predicted = (self.decide(choices[:length])[0] == 1)[kept]
            right = predicted & self.present[kept]
            tp.append(right @ self.weight)
            fp.append((predicted & ~right) @ self.weight)
            table: dict[tuple[int, ...], float] = {}
            for row in np.flatnonzero(self.rows):
                key = (right[:, row].sum(), predicted[:, row].sum(), self.present[kept, row].sum())
                table[key] = table.get(key, 0.0) + self.weight[row]
            tables.append([(*key, weight) for key, weight in sorted(table.items()) if weight > 0])
        return {
            "tp": np.array(tp),
            "fp": np.array(fp),
            "positives": (self.present[kept] & self.rows) @ self.weight,
            "weight": float(self.weight[self.rows].sum()),
            "rows": tables,
        }

    def rule_counts(self, choices: Sequence[_core.Choice]) -> _core.RuleCounts:
        decisions, decided_by = self.decide(choices)
        decided = []
        for i, choice in enumerate(choices):
            of_choice = []
            for label in choice.decided:
                rows = decided_by[label] == i
                right = rows & (decisions[label] == self.present[label])
                of_choice.append((self.weight[right].sum(), self.weight[rows & ~right].sum()))
            decided.append(of_choice)
        nothing = decisions == -1
        undecided = [
            (self.weight[rows & ~present].sum(), self.weight[rows & present].sum())
            for rows, present in zip(nothing & self.rows, self.present, strict=True)
        ]
        return _core.RuleCounts(decided, undecided)


def random_rows(rng: np.random.Generator, n_rows: int, n_bodies: int = 7, n_labels: int = 5) -> Rows:
    """Return random rows, some with weights, some with initial decisions."""
    rows = rng.random(n_rows) < rng.choice([0.3, 0.9, 1.0])
    holds = rng.random((n_bodies, n_rows)) < rng.choice([0.1, 0.5, 0.9], (n_bodies, 1))
    holds[0] = True
    present = rng.random((n_labels, n_rows)) < rng.choice([0.1, 0.6], (n_labels, 1))
    is_open = predicted = None
    if rng.random() < 0.5:
        is_open = rng.random(present.shape) < 0.7
        is_open[0] = is_open[1]
        predicted = ~is_open & (rng.random(present.shape) < 0.5)
    weights = [None, rng.integers(0, 4, n_rows), rng.integers(1, 99, n_rows) / 8, np.arange(1, n_rows + 1) / 4]
    chosen = weights[rng.integers(4)]
    return Rows(rows, holds, present, is_open, predicted, None if chosen is None else chosen.astype(np.float64))


def random_updates(rng: np.random.Generator, rows: Rows, n: int = 12) -> list[_core.CoverUpdate]:
    n_bodies = len(rows.holds)
    updates = []
    for _ in range(n):
        before = np.flatnonzero(rng.random(n_bodies) < 0.2).tolist()
        body, label = int(rng.integers(n_bodies)), int(rng.integers(rows.n_labels))
        updates += [_core.CoverUpdate(body, other, before) for other in (label, (label + 1) % rows.n_labels)]
    return updates


def random_choices(rng: np.random.Generator, rows: Rows, n: int = 6) -> list[_core.Choice]:
    """Return choices as a selection gives them: labels 0 and 1 are an exclusive group, a default rule may be first."""
    n_labels, choices = rows.n_labels, []
    default = np.flatnonzero(rng.random(n_labels) < 0.5).tolist() if rng.random() < 0.6 else []
    default = [label for label in default if label != 1 or 0 not in default]

    def decided(head: list[int]) -> list[int]:
        return sorted({*head, *((0, 1) if {0, 1} & {*head} else ())})

    if default:
        choices.append(_core.Choice(0, default, [True] * len(default), decided(default), True))
    for _ in range(n):
        head = np.flatnonzero(rng.random(n_labels) < 0.4).tolist()
        head = [label for label in head if label != 1 or 0 not in head] or [n_labels - 1]
        present = [label not in default or label < 2 for label in head]
        choices.append(_core.Choice(int(rng.integers(len(rows.holds))), head, present, decided(head), False))
    return choices
