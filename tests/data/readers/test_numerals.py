"""Blocks of decimals are the doubles that `float` gives, and what is no plain decimal is marked as such."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from plurule.data.readers.numerals import parse_decimals, parse_integers

PLAIN = re.compile(r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)")

numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(allow_nan=False, allow_infinity=False, places=3).map(str),
    st.integers(-(10**25), 10**25).map(str),
    st.integers(-20, 20).map(str),
)
anything = st.text(st.sampled_from("0123456789.-?e x'é"), max_size=6)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(numbers, anything), min_size=1, max_size=12), st.sampled_from([1, 100]))
def test_plain_decimals_are_found_and_are_the_doubles_that_float_gives(texts: list[str], times: int) -> None:
    tokens = parse_decimals("".join(text + "," for text in texts * times).encode())
    expected = [bool(PLAIN.fullmatch(text)) or text == "?" for text in texts] * times
    assert tokens.plain.tolist() == expected
    assert tokens.split()[:-1] == texts * times
    assert [tokens[i] for i in range(len(texts))] == texts
    values = [
        float(t) if is_plain and t != "?" else np.nan for t, is_plain in zip(texts * times, expected, strict=True)
    ]
    np.testing.assert_array_equal(tokens.values, values)


def test_a_number_that_no_double_holds_is_not_plain() -> None:
    tokens = parse_decimals(b"1," + b"9" * 400 + b",2\n")
    assert tokens.plain.tolist() == [True, False, True]


@given(st.lists(st.one_of(st.integers(0, 10**6).map(str), anything), max_size=6))
def test_integers_are_read_if_all_are_and_made_of_digits(texts: list[str]) -> None:
    found = parse_integers("".join(text + "," for text in texts).encode(), len(texts))
    if all(text.isascii() and text.isdigit() for text in texts):
        assert found is not None
        assert found.tolist() == [int(text) for text in texts]
    else:
        assert found is None
