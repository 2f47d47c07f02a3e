"""The folds of the paper, and any splitter of scikit-learn by name.

The paper's experiments were run with Mulan, whose cross-validation shuffles the instances with Java's generator of
random numbers, seed 1, and cuts them into blocks. `MulanKFold` makes the same folds, so that what is chosen by
cross-validation can be compared.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import model_selection
from sklearn.model_selection import BaseCrossValidator, KFold

from plurule.data import splitting
from plurule.errors import PluruleError, nearest


class JavaRandom:
    """The generator of `java.util.Random`: a linear congruential generator of 48 bits."""

    _FACTOR, _ADDEND, _MASK = 0x5DEECE66D, 0xB, (1 << 48) - 1

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ self._FACTOR) & self._MASK

    def next_int(self, below: int) -> int:
        """A whole number from 0 up to, but not including, `below`."""
        if below & -below == below:
            return (below * self._bits()) >> 31
        while True:
            bits = self._bits()
            value = bits % below
            # The topmost, incomplete stretch would prefer small numbers; it is drawn again.
            if bits - value + below - 1 < 1 << 31:
                return value

    def _bits(self) -> int:
        self._state = (self._state * self._FACTOR + self._ADDEND) & self._MASK
        return self._state >> 17


class MulanKFold(BaseCrossValidator):  # type: ignore[misc]  # scikit-learn ships no types
    """K folds as Mulan makes them: shuffled by Java's generator, then cut into blocks.

    Parameters
    ----------
    n_splits
        How many folds.
    seed
        Of Java's generator; Mulan's is 1.

    Examples
    --------
    >>> [test.tolist() for _, test in MulanKFold(n_splits=2).split(np.zeros(6))]
    [[0, 2, 4], [1, 3, 5]]
    """

    def __init__(self, n_splits: int = 5, *, seed: int = 1) -> None:
        self.n_splits = n_splits
        self.seed = seed

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of folds."""
        return self.n_splits

    def _iter_test_indices(self, X: Any = None, y: Any = None, groups: Any = None) -> Iterator[NDArray[np.intp]]:
        order = np.arange(X.shape[0] if hasattr(X, "shape") else len(X))
        random = JavaRandom(self.seed)
        for last in range(len(order) - 1, 0, -1):
            other = random.next_int(last + 1)
            order[[last, other]] = order[[other, last]]
        for _, test in KFold(self.n_splits).split(order):
            yield order[test]


def find_splitter(text: str, seed: int = 0) -> Any:
    """A splitter from what a user writes: a number of folds, or a class with its parameters.

    `5` is five folds shuffled with the seed, `mulan` those of the paper; a splitter of scikit-learn or of
    `plurule.data.splitting` may have a `random_state` of its own: `ShuffleSplit(n_splits=10, random_state=1)`.
    """
    text = text.strip()
    if text.isdecimal():
        if int(text) < 2:
            raise PluruleError(f"{text} folds, expected at least 2")
        return KFold(int(text), shuffle=True, random_state=seed)
    if text.lower() == "mulan":
        return MulanKFold()
    every: dict[str, Any] = vars(model_selection) | vars(splitting) | {"MulanKFold": MulanKFold}
    classes = {name: kind for name, kind in every.items() if isinstance(kind, type) and hasattr(kind, "split")}
    known = {name: kind for name, kind in classes.items() if not name.startswith(("_", "Base"))}
    try:
        call = ast.parse(text, mode="eval").body
    except SyntaxError:
        call = None
    if isinstance(call, ast.Name):
        call = ast.Call(call, [], [])
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
        raise PluruleError(f"folds {text!r} are not understood; write 5, mulan or ShuffleSplit(n_splits=10)")
    if call.func.id not in known:
        raise PluruleError(f"unknown splitter {call.func.id!r}{nearest(call.func.id, known)}")
    try:
        given = {str(k.arg): ast.literal_eval(k.value) for k in call.keywords}
        return known[call.func.id](**(_randomness(known[call.func.id], given, seed) | given))
    except (TypeError, ValueError) as error:
        raise PluruleError(f"folds {text!r}: {error}") from None


def _randomness(kind: Any, given: Mapping[str, Any], seed: int) -> dict[str, int]:
    """The `random_state` of a splitter that draws: without one, every call would make other folds."""
    parameters = inspect.signature(kind).parameters
    draws = given.get("shuffle", parameters["shuffle"].default if "shuffle" in parameters else True)
    return {"random_state": seed} if "random_state" in parameters and draws is not False else {}
