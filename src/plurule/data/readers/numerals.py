"""Whole blocks of decimal numbers as text, parsed by numpy in a few passes.

A number such as `-12.345` is the integer `-12345` divided by 10³. Both are exact doubles as long as the integer
stays below 2⁵³ and the power below 10²³, and then the division rounds correctly: the result is the double
that `float` gives. Integers are many times cheaper to parse than floats, so plain decimals are read this way;
anything else (exponents, names) is left to the caller, token by token.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LARGEST_EXACT = 2**53
_MOST_DECIMALS = 22
_SURELY_EXACT = 15
"""Shorter numbers are exact: fewer digits than 2⁵³ has, fewer decimals than the largest exact power of ten."""
_POWERS = 10.0 ** np.arange(_MOST_DECIMALS + 1)
_AS_INTEGERS = bytes.maketrans(b"\n", b",")


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a text, and their values where they are plain decimals."""

    text: bytes
    values: NDArray[np.float64]
    """NaN where missing (`?`) or not plain."""
    plain: NDArray[np.bool_]
    """Whether a token is a plain decimal or `?`."""
    lengths: NDArray[np.intp]
    ends: NDArray[np.intp]

    def split(self) -> list[str]:
        """The tokens as texts."""
        return self.text.decode("utf-8").replace("\n", ",").split(",")

    def __getitem__(self, token: int) -> str:
        end = self.ends[token]
        return self.text[end - self.lengths[token] : end].decode("utf-8")


def parse_decimals(text: bytes) -> Tokens:
    r"""The numbers of a text of tokens, each of them followed by a comma or newline.

    >>> numbers = parse_decimals(b"1.5,?\n-3,x\n")
    >>> numbers.values, numbers.plain
    (array([ 1.5,  nan, -3. ,  nan]), array([ True,  True,  True, False]))
    """
    characters = np.frombuffer(text, dtype=np.uint8)
    marks = np.flatnonzero(characters - np.uint8(ord("0")) > 9)
    kinds = characters[marks]
    is_end = (kinds == ord(",")) | (kinds == ord("\n"))
    ends = marks[is_end]
    lengths = np.diff(ends, prepend=-1) - 1
    odd = np.flatnonzero(~is_end)
    # The marks before a mark are the ends of the tokens before its own, and marks within tokens.
    inside, places, kinds = odd - np.arange(len(odd)), marks[odd], kinds[odd]
    bad = _irregular(places, kinds, inside, ends, lengths)
    plain = np.ones(len(ends), dtype=np.bool_)
    plain[bad] = False
    is_point = kinds == ord(".")
    points, pointed = places[is_point], inside[is_point]
    if len(bad):
        integers = np.zeros(len(ends), dtype=np.int64)
        integers[plain] = _integers(characters[np.repeat(plain, lengths + 1)].tobytes())
        kept = plain[pointed]
        points, pointed = points[kept], pointed[kept]
    else:
        integers = _integers(text)
    values = integers.astype(np.float64)
    decimals = ends[pointed] - points - 1
    values[pointed] /= _POWERS[np.minimum(decimals, _MOST_DECIMALS)]
    if lengths.max(initial=0) >= _SURELY_EXACT:
        # An integer that does not fit stops at the largest that does, so it is beyond the exact ones too.
        beyond = np.flatnonzero((integers >= _LARGEST_EXACT) | (integers <= -_LARGEST_EXACT))
        for token in (*beyond.tolist(), *pointed[decimals > _MOST_DECIMALS].tolist()):
            values[token] = float(text[ends[token] - lengths[token] : ends[token]])
        plain &= np.isfinite(values)
    if len(bad):
        values[~plain] = np.nan
        if b"?" in text:
            plain |= (lengths == 1) & (characters[ends - 1] == ord("?"))
    return Tokens(text, values, plain, lengths, ends)


def _irregular(
    marks: NDArray[Any], kinds: NDArray[Any], inside: NDArray[Any], ends: NDArray[Any], lengths: NDArray[Any]
) -> NDArray[np.intp]:
    """Which tokens are not digits with at most one point among and one minus before them.

    `marks` are the places of what is no digit, `inside` says in which token.
    """
    empty = np.flatnonzero(lengths == 0) if len(lengths) and lengths.min() == 0 else lengths[:0]
    n_digits = lengths[inside] - 1
    again = np.flatnonzero(inside[1:] == inside[:-1])
    n_digits[again] -= 1
    n_digits[again + 1] -= 1
    wrong = n_digits <= 0
    is_point = kinds == ord(".")
    if not is_point.all():
        is_minus = kinds == ord("-")
        wrong |= ~(is_point | is_minus)
        wrong |= is_minus & (marks != ends[inside] - lengths[inside])
    # Of two marks the first must be a minus, which is then where it may be.
    twice = again[is_point[again]]
    return np.concatenate([inside[wrong], inside[twice], empty])


def _integers(text: bytes) -> NDArray[np.int64]:
    """The whole numbers that are left when the points are taken out of plain decimals."""
    return _from_string(text.translate(_AS_INTEGERS, b".") if b"." in text or b"\n" in text else text)


def parse_integers(text: bytes, count: int) -> NDArray[np.int64] | None:
    """The integers of a text `1,2,3,`; None unless there are exactly `count`, made of digits only.

    >>> parse_integers(b"3,14,", 2)
    array([ 3, 14])
    >>> parse_integers(b"3,x,", 2) is None
    True
    """
    # Signs and spaces are all that numpy would accept beside digits; at anything else it stops.
    if any(mark in text for mark in (b"-", b"+", b" ", b"\t")):
        return None
    try:
        integers = _from_string(text)
    except ValueError:
        return None
    return integers if len(integers) == count else None


def _from_string(text: bytes) -> NDArray[np.int64]:
    with warnings.catch_warnings():
        # Some versions of numpy warn about a text that is not numbers to its end, others raise.
        warnings.simplefilter("ignore", DeprecationWarning)
        return np.fromstring(text, dtype=np.int64, sep=",")
