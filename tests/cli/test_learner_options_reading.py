"""Options made from a signature and a docstring."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import pytest

from plurule.cli.learner_options import as_options, parameters_of, read_values, told_in_options
from plurule.errors import ParameterError


class Estimator:
    """Learns.

    Parameters
    ----------
    size, depth
        Most of them: `"all"`, or see
        `kind="fast"`; `None` for any.

        More about it.
    kind : str
        How.

    Examples
    --------
    size
        Not this one.
    """

    def __init__(
        self,
        size: int | Literal["all"] | None = None,
        depth: int = 3,
        kind: Literal["fast", "slow"] = "fast",
        share: float | None = 0.5,
        flag: bool = True,
        measure: str | Callable[..., float] = "f1",
        cv: Any = 5,
    ) -> None: ...


def test_parameters_have_the_types_of_the_signature_and_the_words_of_the_docstring() -> None:
    found = parameters_of(Estimator)
    assert {name: parameter.placeholder for name, parameter in found.items()} == {
        "size": "N|all|none",
        "depth": "N",
        "kind": "fast|slow",
        "share": "X|none",
        "flag": "VALUE",
        "measure": "NAME",
        "cv": "VALUE",
    }
    assert found["size"].text == found["depth"].text
    assert found["size"].text == 'Most of them: `"all"`, or see `kind="fast"`; `None` for any. More about it.'
    assert (found["kind"].text, found["cv"].text) == ("How.", "")
    assert found["flag"].spelling == "--flag/--no-flag"
    assert found["flag"].option == "--flag"


def test_words_about_parameters_become_words_about_options() -> None:
    found = parameters_of(Estimator)
    said = as_options(found["size"].text, found)
    assert said == "Most of them: all, or see --kind fast; none for any. More about it."


def test_text_is_read_as_what_the_signature_allows() -> None:
    given = {"size": "none", "depth": "none", "share": "1", "kind": "2", "flag": False, "cv": "3", "measure": None}
    found = read_values(given, parameters_of(Estimator))
    assert found == {"size": None, "depth": "none", "share": 1.0, "kind": "2", "flag": False, "cv": 3}
    assert isinstance(found["share"], float)
    assert read_values({"cv": "0.5", "size": "x"}, parameters_of(Estimator)) == {"cv": 0.5, "size": "x"}


def test_an_error_about_a_parameter_becomes_one_about_the_option() -> None:
    found = parameters_of(Estimator)
    with pytest.raises(ParameterError) as caught, told_in_options(found):
        raise ParameterError.expected("depth", None, "a number, 'all' or None", owner="Tree")
    assert str(caught.value) == "--depth must be a number, all or none, got none"
    with pytest.raises(ParameterError, match=r"^other must be 1, got 2$"), told_in_options(found):
        raise ParameterError.expected("other", 2, "1")
