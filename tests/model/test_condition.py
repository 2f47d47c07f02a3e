"""Attributes, and conditions as text."""

from __future__ import annotations

import pickle

import pytest

from plurule.model.condition import Attribute, NumberedAttributes, NumericCondition, as_attributes, format_number


@pytest.mark.parametrize(
    ("number", "text"), [(4.0, "4"), (4.5, "4.5"), (0.1, "0.1"), (1e300, "1e+300"), (-0.5, "-0.5"), (5e-324, "5e-324")]
)
def test_numbers_are_written_as_short_as_they_read_back(number, text):
    assert format_number(number) == text
    assert float(text) == number


def test_a_bound_at_zero_has_no_sign():
    assert str(NumericCondition("a", 0, ">", -5e-324)) == "a >= 0"


def test_an_attribute_with_categories_is_nominal():
    assert Attribute("landmass", ("Asia", "Europe")).is_nominal
    assert Attribute("landmass", ()).is_nominal
    assert not Attribute("colours").is_nominal


def test_numbered_attributes_are_as_a_tuple_of_them():
    numbered, made = NumberedAttributes(range(12)), tuple(Attribute(f"x{i}") for i in range(12))
    assert numbered == made
    assert made == numbered
    assert numbered == NumberedAttributes(range(12))
    assert numbered != made[:-1]
    assert numbered != NumberedAttributes(range(11))
    assert (hash(numbered), repr(numbered), tuple(numbered)) == (hash(made), repr(made), made)
    assert (numbered[3], numbered[-1], numbered[2:7:2]) == (made[3], made[-1], made[2:7:2])
    assert pickle.loads(pickle.dumps(numbered)) == made
    with pytest.raises(IndexError):
        numbered[12]


@pytest.mark.parametrize(
    "name", ["", "x", "y3", "x12", "x03", "x-1", "x 3", "x3 ", "x1.0", "X3", "x\N{SUPERSCRIPT TWO}"]
)
def test_numbered_attributes_know_what_none_of_them_is_called(name):
    assert not NumberedAttributes(range(12)).has(name)


def test_numbered_attributes_know_their_names():
    numbered = NumberedAttributes(range(2, 12))
    assert [i for i in range(20) if numbered.has(f"x{i}")] == list(range(2, 12))


def test_numbered_attributes_are_kept_unmade():
    numbered = NumberedAttributes(range(3))
    assert as_attributes(numbered) is numbered
    assert as_attributes([Attribute("x0")]) == (Attribute("x0"),)
