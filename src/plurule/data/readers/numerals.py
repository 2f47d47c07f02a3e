"""Whole blocks of decimal numbers as text, parsed by numpy in a few passes.

A number such as `-12.345` is the integer `-12345` divided by 10³. Up to 15 digits both are exact doubles, and then the
division rounds correctly: the result is the double that `float` gives. Integers are many times cheaper to parse than
floats, so plain decimals are read this way; anything else (exponents, names) is left to the caller, token by token.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_MOST_DIGITS = 15
_POWERS = 10.0 ** np.arange(_MOST_DIGITS + 1)


def parse_decimals(text: bytes) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.intp]]:
    r"""The numbers of a text of tokens with a comma after each, where the tokens end, and how long they are.

    A number is NaN for `?` and infinite for a token that is not a plain decimal.

    >>> parse_decimals(b"1.5,?,-3,x,")[0]
    array([ 1.5,  nan, -3. ,  inf])
    """
    characters = np.frombuffer(text, dtype=np.uint8)
    if not text.translate(None, b"0123456789,"):
        # Whole numbers alone, as in most sparse files.
        ends = np.flatnonzero(characters == ord(","))
        lengths = np.diff(ends, prepend=-1) - 1
        if lengths.min(initial=1) > 0 and lengths.max(initial=1) <= _MOST_DIGITS:
            return np.fromstring(text, dtype=np.int64, sep=",").astype(np.float64), ends, lengths
    # What is no digit: the ends of tokens, and marks within them.
    marks = np.flatnonzero(characters - np.uint8(ord("0")) > 9)
    kinds = characters[marks]
    is_end = kinds == ord(",")
    ends = marks[is_end]
    lengths = np.diff(ends, prepend=-1) - 1
    # The marks before a mark within a token are the ends of the tokens before its own, and marks within tokens.
    within = np.flatnonzero(~is_end)
    token_of, is_point = within - np.arange(len(within)), kinds[within] == ord(".")
    points, pointed = marks[within[is_point]], token_of[is_point]
    n_marks, n_points = (np.bincount(tokens, minlength=len(ends)) for tokens in (token_of, pointed))
    has_minus = characters[ends - lengths] == ord("-")
    n_digits = lengths - n_marks
    plain = (n_marks == n_points + has_minus) & (n_points <= 1) & (n_digits > 0) & (n_digits <= _MOST_DIGITS)
    decimals = np.zeros(len(ends), dtype=np.intp)
    decimals[pointed] = ends[pointed] - points - 1
    kept = text if plain.all() else characters[np.repeat(plain, lengths + 1)].tobytes()
    integers = np.fromstring(kept.translate(None, b"."), dtype=np.int64, sep=",")
    values = np.full(len(ends), np.inf)
    values[plain] = integers / _POWERS[decimals[plain]]
    values[(lengths == 1) & (characters[ends - 1] == ord("?"))] = np.nan
    return values, ends, lengths
