"""What parameters may be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from plurule._parameters import check_parameters, number, whole, words
from plurule.errors import ParameterError


@pytest.mark.parametrize(
    ("kinds", "good", "bad", "said"),
    [
        ([whole(1)], [1, np.int64(5)], [0, 1.0, True, "1", None], "a whole number of at least 1"),
        ([whole(1, 9)], [1, 9], [0, 10, 10**400], "a whole number from 1 to 9"),
        ([None, whole(0)], [None, 0], [-1, "none"], "None or a whole number of at least 0"),
        ([number(0, 1)], [0, 1, 0.5, np.float32(0.5)], [-0.1, 1.1, float("nan"), "0"], "from 0 to 1"),
        ([number(0)], [0, 1e300], [float("inf"), -1], "a finite number of at least 0"),
        ([number(0, closed="both")], [0, float("inf")], [-1, float("nan")], "a number of at least 0"),
        ([number(0, 1, closed="neither")], [0.5], [0, 1], "a number above 0 and below 1"),
        (["boolean"], [True, np.bool_(False)], ["yes", None], "True or False"),
        ([words("relaxed", "single")], ["single"], ["singel", 3], "'relaxed' or 'single'"),
    ],
)
def test_a_value_that_is_not_allowed_is_refused_in_words(
    kinds: list[Any], good: list[Any], bad: list[Any], said: str
) -> None:
    for value in good:
        check_parameters({"it": kinds}, {"it": value})
    for value in bad:
        with pytest.raises(ParameterError, match=f"it must be .*{said}, got ") as error:
            check_parameters({"it": kinds}, {"it": value})
        assert (error.value.parameter, error.value.value) == ("it", value) or value != value


def test_a_mistyped_word_is_answered_with_the_nearest() -> None:
    with pytest.raises(ParameterError, match=r"Peak: it must be .*; did you mean 'relaxed'"):
        check_parameters({"it": [words("relaxed", "single")]}, {"it": "relax"}, owner="Peak")
