"""Whole blocks of decimal numbers as text, parsed by numpy in a few passes.

A number such as `-12.345` is the integer `-12345` divided by 10³. Both are exact doubles as long as the integer
stays below 2⁵³ and the power below 10²³, and then the division rounds correctly: the result is the double
that `float` gives. Integers are many times cheaper to parse than floats, so blocks of plain decimals are read
this way; anything else (exponents, more digits, names) is left to the caller.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_LARGEST_EXACT = 2**53
_MOST_DECIMALS = 22
_POWERS = 10.0 ** np.arange(_MOST_DECIMALS + 1)

_COMMA, _POINT, _MISSING = 1, 2, 3
_KINDS = bytes({ord(","): _COMMA, ord("."): _POINT, ord("?"): _MISSING}.get(i, 0) for i in range(256))


@dataclass(frozen=True, slots=True)
class Numbers:
    """Parsed tokens: their values (NaN for `?`), and whether each is the shortest text of a whole number."""

    values: NDArray[np.float64]
    canonical: NDArray[np.bool_]


def parse_integers(text: bytes, count: int) -> NDArray[np.int64] | None:
    """The integers of a text `1,2,3,`; None unless there are exactly `count` and nothing else.

    >>> parse_integers(b"3,14,", 2)
    array([ 3, 14])
    >>> parse_integers(b"3,x,", 2) is None
    True
    """
    with warnings.catch_warnings():
        # Some versions of numpy warn about a text that is not numbers to its end, others raise.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            integers = np.fromstring(text, dtype=np.int64, sep=",")
        except ValueError:
            return None
    return integers if len(integers) == count else None


def parse_decimals(text: bytes, count: int) -> Numbers | None:
    """The numbers of a text `1.5,?,-3,`; None if a token is not a plain decimal or `?`.

    Parameters
    ----------
    text
        Tokens without spaces, each followed by a comma.
    count
        How many there must be.

    Examples
    --------
    >>> numbers = parse_decimals(b"1.5,?,-3,07,", 4)
    >>> numbers.values, numbers.canonical
    (array([ 1.5,  nan, -3. ,  7. ]), array([False, False,  True, False]))
    >>> parse_decimals(b"1e5,", 1) is None
    True
    """
    if text.translate(None, b"0123456789.,-?") or b".-" in text:
        return None
    kinds = np.frombuffer(text.translate(_KINDS), dtype=np.uint8)
    marks = np.flatnonzero(kinds != 0)
    kind = kinds[marks]
    ends = marks[kind == _COMMA]
    if len(ends) != count:
        return None
    lengths = np.diff(ends, prepend=-1) - 1
    missing = np.zeros(count, dtype=np.bool_)
    if b"?" in text:
        missing[np.searchsorted(ends, marks[kind == _MISSING])] = True
        if (lengths[missing] != 1).any():
            return None
        text = text.replace(b"?", b"0")
    decimals = np.zeros(count, dtype=np.int64)
    points = np.flatnonzero(kind == _POINT)
    if len(points):
        if (kind[points + 1] != _COMMA).any():
            return None
        # The tokens before a mark are the commas before it.
        token = np.cumsum(kind == _COMMA)[points]
        decimals[token] = marks[points + 1] - marks[points] - 1
        text = text.replace(b".", b"")
        if decimals.max() > _MOST_DECIMALS:
            return None
    integers = parse_integers(text, count)
    if integers is None or (np.abs(integers) >= _LARGEST_EXACT).any():
        return None
    values = integers / _POWERS[decimals] if len(points) else integers.astype(np.float64)
    values[missing] = np.nan
    canonical = (decimals == 0) & (lengths == _canonical_lengths(integers)) & ~missing
    return Numbers(values, canonical)


def _canonical_lengths(integers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Characters of the shortest decimal text of each integer."""
    size = np.abs(integers)
    lengths = np.ones(len(integers), dtype=np.int64)
    if len(size):
        for digits in range(1, len(str(int(size.max())))):
            lengths += size >= 10**digits
    return lengths + (integers < 0)
