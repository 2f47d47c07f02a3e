"""Every public name says what it needs to be used."""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import re
import textwrap
from dataclasses import dataclass
from typing import Any

import pytest

import plurule

MODULES = ["plurule", "plurule.dask"] + [
    f"plurule.{name}" for name in plurule.__all__ if inspect.ismodule(getattr(plurule, name))
]


def test_the_package_has_at_most_22_public_names() -> None:
    assert len(plurule.__all__) <= 22


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_there_and_says_what_it_is(module: str) -> None:
    public = importlib.import_module(module)
    for name in public.__all__:
        value = getattr(public, name)
        assert name in dir(public)
        assert inspect.getdoc(value) or not (inspect.isclass(value) or callable(value)), f"{module}.{name}"
    assert list(public.__all__) == sorted(public.__all__, key=_constants_first)


def described(kind: Any) -> set[str]:
    """Parameters and attributes that a docstring lists, or that have a string of their own below them."""
    text = inspect.getdoc(kind) or ""
    listed = re.findall(
        r"^(?:Other )?(?:Parameters|Attributes)\n-+\n(.*?)(?=\n\n\S|\Z)", text, re.DOTALL | re.MULTILINE
    )
    names = {name for part in listed for line in re.findall(r"^\S.*", part, re.MULTILINE) for name in line.split(", ")}
    if inspect.isclass(kind):
        (body,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
        assert isinstance(body, ast.ClassDef)
        for field, string in itertools.pairwise(body.body):
            if isinstance(field, ast.AnnAssign) and isinstance(string, ast.Expr):
                names.add(ast.unparse(field.target))
    return {name.lstrip("*") for name in names}


def lacks(value: Any) -> list[str]:
    """What is missing for a class or function to be used without its source."""
    ours = [kind for kind in getattr(value, "__mro__", (value,)) if kind.__module__.startswith(("plurule", __name__))]
    known = set[str]().union(*map(described, ours))
    signature = inspect.signature(value)
    parameters = signature.parameters.values()
    missing = [f"the type of {p.name}" for p in parameters if p.annotation is p.empty]
    if inspect.isfunction(value) and signature.return_annotation is signature.empty:
        missing.append("the type of what it gives")
    missing += [f"a description of {p.name}" for p in parameters if p.name not in known]
    return missing if ">>> " in (inspect.getdoc(value) or "") else [*missing, "an example"]


def public() -> dict[str, Any]:
    """Classes and functions by their first name; exceptions say what they mean in a line."""
    found: dict[int, tuple[str, Any]] = {}
    for module in MODULES:
        for name in importlib.import_module(module).__all__:
            value = getattr(importlib.import_module(module), name)
            is_error = inspect.isclass(value) and issubclass(value, BaseException)
            if (inspect.isclass(value) or inspect.isfunction(value)) and not is_error:
                found.setdefault(id(value), (f"{module}.{name}", value))
    return dict(found.values())


@pytest.mark.parametrize(("name", "value"), public().items())
def test_every_public_name_has_types_described_parameters_and_an_example(name: str, value: Any) -> None:
    assert lacks(value) == [], name


def test_what_a_name_lacks_is_noticed() -> None:
    @dataclass
    class Pair:
        """Two numbers."""

        one: int
        """The first."""
        two: int

    def add(pair, third: int):  # type: ignore[no-untyped-def]
        """Add a number.

        Parameters
        ----------
        pair
            Two numbers.

        >>> 1 + 2
        3
        """

    assert lacks(Pair) == ["a description of two", "an example"]
    assert lacks(add) == ["the type of pair", "the type of what it gives", "a description of third"]


def _constants_first(name: str) -> tuple[int, str]:
    kind = 0 if name.isupper() else 1 if name[0].isupper() else 2
    return kind, name


def test_a_name_that_is_not_there_is_said() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = plurule.nothing
