"""The API reference lists every public name, and no other."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest

import plurule

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## `([\w.]+)`\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE))


def listed(module: str) -> set[str]:
    return set(re.findall(r"^\| `(\w+)` \|", SECTIONS[module], re.MULTILINE))


def test_every_public_module_has_a_section() -> None:
    modules = [name for name in plurule.__all__ if inspect.ismodule(getattr(plurule, name))]
    assert set(SECTIONS) == {"plurule", *(f"plurule.{name}" for name in modules), "plurule.selection", "plurule.paper"}


@pytest.mark.parametrize("module", SECTIONS)
def test_every_public_name_is_listed_and_no_other(module: str) -> None:
    public = importlib.import_module(module)
    names = {name for name in public.__all__ if not inspect.ismodule(getattr(public, name))}
    assert listed(module) - names == set(), f"docs/api.md lists names that {module} does not have"
    assert names - listed(module) == set(), f"docs/api.md lacks names of {module}"


@pytest.mark.parametrize("module", SECTIONS)
def test_every_public_name_is_there_and_says_what_it_is(module: str) -> None:
    public = importlib.import_module(module)
    for name in public.__all__:
        value = getattr(public, name)
        assert name in dir(public)
        assert inspect.getdoc(value) or not (inspect.isclass(value) or callable(value)), f"{module}.{name}"
    assert list(public.__all__) == sorted(public.__all__, key=_constants_first)


def _constants_first(name: str) -> tuple[int, str]:
    kind = 0 if name.isupper() else 1 if name[0].isupper() else 2
    return kind, name


def test_methods_that_are_listed_exist() -> None:
    named = re.search(r"^## What objects can do\n(.*?)^## ", PAGE, re.DOTALL | re.MULTILINE)
    assert named is not None
    for owner, first, others in re.findall(r"^\| `(\w+)\.(\w+)`((?:, `?\w+`?)*)", named[1], re.MULTILINE):
        kind = getattr(plurule, owner)
        for name in [first, *re.findall(r"`(\w+)`", others)]:
            described = name.endswith("_") and f"{name} " in (inspect.getdoc(kind) or "")
            assert described or hasattr(kind, name), f"{owner} has no {name}"


def test_a_name_that_is_not_there_is_said() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = plurule.nothing
