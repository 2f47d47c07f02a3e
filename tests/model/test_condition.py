"""Attributes, and conditions as text."""

from __future__ import annotations

import numpy as np
import pytest

from plurule.model.condition import Attribute, OneOfCondition, RangeCondition, format_number


@pytest.mark.parametrize(
    ("number", "text"), [(4.0, "4"), (4.5, "4.5"), (0.1, "0.1"), (1e300, "1e+300"), (-0.5, "-0.5"), (5e-324, "5e-324")]
)
def test_numbers_are_written_as_short_as_they_read_back(number, text):
    assert format_number(number) == text
    assert float(text) == number


def test_a_bound_at_zero_has_no_sign():
    assert str(RangeCondition("a", 0, above=-5e-324)) == "a >= 0"


def test_an_attribute_with_categories_is_nominal():
    assert Attribute("landmass", ("Asia", "Europe")).is_nominal
    assert Attribute("landmass", ()).is_nominal
    assert not Attribute("colours").is_nominal


def test_a_set_of_many_categories_is_tested_in_linear_time() -> None:
    compared = 0

    class Category(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

    categories = tuple(Category(f"c{i}") for i in range(500))
    others = tuple(Category(f"c{i}") for i in range(500))
    condition = OneOfCondition("a", 0, categories[:250])
    compared = 0
    assert condition.mask(np.arange(500), others).sum() == 250
    assert len(condition.accepted(others)) == 250
    assert compared <= 4 * 500
