"""Folds of the paper's cross-validation.

The paper's experiments were run with Mulan, whose cross-validation shuffles the instances with Java's random generator,
seed 1, and splits them into blocks. The same folds make choices by cross-validation comparable.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from plurule import PluruleError

Rows = NDArray[np.intp]
MULAN = "mulan"
_FACTOR = 0x5DEECE66D
_ADDEND = 0xB
_MASK = (1 << 48) - 1


class JavaRandom:
    """The generator of `java.util.Random`: a linear congruential generator of 48 bits."""

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ _FACTOR) & _MASK

    def next_int(self, below: int) -> int:
        """Draw a whole number from 0 up to, but not including, `below`."""
        if below & -below == below:
            return (below * self._bits()) >> 31
        while True:
            bits = self._bits()
            value = bits % below
            # The topmost, incomplete stretch would prefer small numbers; it is drawn again.
            if bits - value + below - 1 < 1 << 31:
                return value

    def _bits(self) -> int:
        self._state = (self._state * _FACTOR + _ADDEND) & _MASK
        return self._state >> 17


def mulan_order(n_rows: int, seed: int = 1) -> Rows:
    """Shuffle rows as Mulan does.

    >>> mulan_order(6).tolist()
    [4, 0, 2, 3, 5, 1]
    """
    order = np.arange(n_rows)
    random = JavaRandom(seed)
    for last in range(n_rows - 1, 0, -1):
        other = random.next_int(last + 1)
        order[[last, other]] = order[[other, last]]
    return order


def check_folds(folds: str) -> str:
    """Return what `--folds` says, or raise an error."""
    if folds != MULAN and not (folds.isdecimal() and int(folds) >= 2):
        raise PluruleError(f"--folds {folds}, expected a number from 2 on, or {MULAN} for the paper's")
    return folds


def make_folds(folds: str, n_rows: int, seed: int = 0) -> list[tuple[Rows, Rows]]:
    """Return training and held-out rows per fold: the paper's five, or a number of folds shuffled with the seed."""
    if folds != MULAN:
        return list(KFold(int(folds), shuffle=True, random_state=seed).split(np.zeros(n_rows)))
    order = mulan_order(n_rows)
    splits = KFold(5).split(order)
    return [(np.sort(order[train]), np.sort(order[test])) for train, test in splits]
