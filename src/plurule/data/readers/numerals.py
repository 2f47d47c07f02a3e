"""Whole blocks of decimal numbers as text, parsed by numpy in a few passes.

A number such as `-12.345` is the integer `-12345` divided by 10³. Both are exact doubles as long as the integer
stays below 2⁵³ and the power below 10²³, and then the division rounds correctly: the result is the double
that `float` gives. Integers are many times cheaper to parse than floats, so blocks of plain decimals are read
this way; a block with anything else (exponents, names) is left to the caller.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LARGEST_EXACT = 2**53
_MOST_DECIMALS = 22
_POWERS = 10.0 ** np.arange(_MOST_DECIMALS + 1)
_AS_INTEGERS = bytes.maketrans(b"\n?", b",0")


@dataclass(frozen=True, slots=True)
class Numbers:
    """Parsed tokens: their values (NaN for `?`) and their lengths."""

    values: NDArray[np.float64]
    lengths: NDArray[np.int64]

    def canonical(self, positions: NDArray[Any] | slice) -> NDArray[np.bool_]:
        """Whether the tokens at the given positions are the shortest text of a whole number."""
        return is_canonical(self.values[positions], self.lengths[positions])


def is_canonical(values: NDArray[np.float64], lengths: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether numbers of the given lengths as text are whole and written in the shortest way.

    Without exponents every other spelling of a whole number is longer: `1.0`, `01`, `-0`.

    >>> is_canonical(np.array([7.0, 7.0, 0.5]), np.array([1, 2, 3]))
    array([ True, False, False])
    """
    size = np.abs(values)
    shortest = 1 + (values < 0)
    largest = np.nanmax(size, initial=0)
    for digits in range(1, len(f"{largest:.0f}")):
        shortest += size >= 10**digits
    return (values == np.floor(values)) & (lengths == shortest) & (size < _LARGEST_EXACT)


def parse_integers(text: bytes, count: int) -> NDArray[np.int64] | None:
    """The integers of a text `1,2,3,`; None unless there are exactly `count` and nothing else.

    >>> parse_integers(b"3,14,", 2)
    array([ 3, 14])
    >>> parse_integers(b"3,x,", 2) is None
    True
    """
    if b"-" in text and b"-," in text:
        # numpy takes a lone minus for 0.
        return None
    with warnings.catch_warnings():
        # Some versions of numpy warn about a text that is not numbers to its end, others raise.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            integers = np.fromstring(text, dtype=np.int64, sep=",")
        except ValueError:
            return None
    return integers if len(integers) == count else None


def with_decimals(
    integers: NDArray[np.int64],
    pointed: NDArray[np.intp],
    decimals: NDArray[np.intp],
    spelling: Callable[[int], bytes],
) -> NDArray[np.float64] | None:
    """The numbers that are left of integers when their decimal points are put back.

    Parameters
    ----------
    integers
        The numbers read as if they had no decimal point.
    pointed, decimals
        Which of them have one, and how many digits follow it.
    spelling
        The text of a number, for those with too many digits to be exact: they are left to `float`.

    Returns
    -------
    None if a number is too large for a double.
    """
    values = integers.astype(np.float64)
    values[pointed] /= _POWERS[np.minimum(decimals, _MOST_DECIMALS)]
    # An integer that does not fit stops at the largest that does, so it is beyond the exact ones too.
    beyond = np.flatnonzero((integers >= _LARGEST_EXACT) | (integers <= -_LARGEST_EXACT))
    for token in (*beyond.tolist(), *pointed[decimals > _MOST_DECIMALS].tolist()):
        values[token] = float(spelling(token))
    return None if np.isinf(values[beyond]).any() else values


def parse_decimals(text: bytes, count: int) -> Numbers | None:
    r"""The numbers of a text `1.5,?\n-3,4\n`; None if a token is not a plain decimal or `?`.

    Parameters
    ----------
    text
        Tokens without spaces, each followed by a comma or newline.
    count
        How many there must be.

    Examples
    --------
    >>> numbers = parse_decimals(b"1.5,?\n-3,07\n", 4)
    >>> numbers.values, numbers.canonical(slice(None))
    (array([ 1.5,  nan, -3. ,  7. ]), array([False, False,  True, False]))
    >>> parse_decimals(b"1e5,", 1) is None
    True
    """
    if text.translate(None, b"0123456789.,\n-?") or has_late_minus(text):
        return None
    characters = np.frombuffer(text, dtype=np.uint8)
    # Of the characters left only the digits and `?` sort after the point.
    marks = np.flatnonzero(characters < ord("0"))
    kinds = characters[marks]
    if b"-" in text:
        marks, kinds = marks[kinds != ord("-")], kinds[kinds != ord("-")]
    is_point = kinds == ord(".")
    ends = marks[np.flatnonzero(~is_point)]
    if len(ends) != count:
        return None
    lengths = np.diff(ends, prepend=-1) - 1
    points = np.flatnonzero(is_point)
    if len(points) and is_point[points + 1].any():
        return None
    integers = parse_integers(text.translate(_AS_INTEGERS, b"."), count)
    if integers is None:
        return None
    # The marks before a point are the points before it, and one for each token before it.
    pointed = points - np.arange(len(points))
    decimals = ends[pointed] - marks[points] - 1
    values = with_decimals(integers, pointed, decimals, lambda i: text[ends[i] - lengths[i] : ends[i]])
    if values is not None and b"?" in text:
        missing = np.searchsorted(ends, np.flatnonzero(characters == ord("?")))
        if (lengths[missing] != 1).any():
            return None
        values[missing] = np.nan
    return None if values is None else Numbers(values, lengths)


def has_late_minus(text: bytes) -> bool:
    """Whether a minus follows a decimal point, which taking out the point would hide."""
    return b"-" in text and b".-" in text
