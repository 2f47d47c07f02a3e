"""Errors: what was wrong, as data too."""

from __future__ import annotations

import pickle

import pytest

from plurule.errors import ParameterError, PluruleError


@pytest.mark.parametrize("owner", [None, "FMeasure"])
def test_an_error_about_a_parameter_carries_its_name_and_value_also_between_processes(owner: str | None) -> None:
    error = ParameterError.expected("beta", -1, "at least 0", owner)
    for same in (error, pickle.loads(pickle.dumps(error))):
        assert isinstance(same, PluruleError)
        assert (same.parameter, same.value, same.owner) == ("beta", -1, owner)
        assert str(same) == ("FMeasure: " if owner else "") + "beta must be at least 0, got -1"
        assert str(same).endswith(f"beta {same.problem}")
