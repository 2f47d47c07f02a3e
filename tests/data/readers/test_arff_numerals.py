"""Blocks of decimals are the doubles that `float` gives, and what is no plain decimal is marked as such."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from plurule.data.readers.arff import parse_decimals

PLAIN = re.compile(r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)")

numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(allow_nan=False, allow_infinity=False, places=3).map(str),
    st.integers(-(10**25), 10**25).map(str),
    st.integers(-20, 20).map(str),
)
anything = st.text(st.sampled_from("0123456789.-?e x'é"), max_size=6)


def expected(text: str) -> float:
    if text == "?":
        return np.nan
    is_plain = PLAIN.fullmatch(text) and sum(c.isdigit() for c in text) <= 15
    return float(text) if is_plain else np.inf


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(numbers, anything), min_size=1, max_size=12), st.sampled_from([1, 100]))
def test_plain_decimals_are_found_and_are_the_doubles_that_float_gives(texts: list[str], times: int) -> None:
    content = "".join(text + "," for text in texts * times).encode()
    values, ends, lengths = parse_decimals(content)
    np.testing.assert_array_equal(values, [expected(text) for text in texts] * times)
    found = [content[end - length : end].decode() for end, length in zip(ends, lengths, strict=True)]
    assert found == texts * times


def test_a_number_that_no_double_holds_is_not_plain() -> None:
    assert parse_decimals(b"1," + b"9" * 400 + b",2,")[0].tolist() == [1, np.inf, 2]


def test_an_empty_text_has_no_tokens() -> None:
    assert [len(part) for part in parse_decimals(b"")] == [0, 0, 0]
