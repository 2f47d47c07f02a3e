"""Errors: what was wrong, as data too."""

from __future__ import annotations

import pickle

import pytest

from plurule.errors import ParameterError, PluruleError, first_repeated, nearest


@pytest.mark.parametrize("owner", [None, "FMeasure"])
def test_an_error_about_a_parameter_carries_its_name_and_value_also_between_processes(owner: str | None) -> None:
    error = ParameterError.expected("beta", -1, "at least 0", owner)
    for same in (error, pickle.loads(pickle.dumps(error))):
        assert isinstance(same, PluruleError)
        assert (same.parameter, same.value, same.owner) == ("beta", -1, owner)
        assert str(same) == ("FMeasure: " if owner else "") + "beta must be at least 0, got -1"
        assert str(same).endswith(f"beta {same.problem}")


def test_a_mistyped_name_is_answered_with_the_nearest_ones_or_with_all() -> None:
    assert nearest("colour", ["colours", "area", "zone"]) == "; did you mean 'colours'?"
    assert nearest("x", [str(i) for i in range(3)]) == "; known are '0', '1', '2'"
    assert nearest("x", [str(i) for i in range(12)]).endswith("'9' and 2 more")
    assert nearest("x", []) == ""


def test_long_texts_are_not_compared() -> None:
    assert nearest("x" * 61, ["x"]) == ""
    assert nearest("aera", ["x" * 1000, "area"]) == "; did you mean 'area'?"
    assert nearest("y", ["x" * 1000, "area"]) == "; known are 'area' and 1 more"


def test_the_first_name_that_was_there_before_is_found() -> None:
    assert first_repeated(["area", "zone", "area"]) == "area"
    assert first_repeated(["area", "zone"]) is None
