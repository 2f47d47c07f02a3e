"""Names that are imported when they are first used."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from plurule._lazy import attach


def test_a_name_comes_from_its_home_once_and_under_the_name_it_has_there(monkeypatch: pytest.MonkeyPatch) -> None:
    package = ModuleType("a_package")
    monkeypatch.setitem(sys.modules, "a_package", package)
    get = attach("a_package", {"sqrt": "math", "root": "math:sqrt"})
    assert not hasattr(package, "sqrt")
    assert get("sqrt") is get("root")
    assert package.root is package.sqrt, "the next time they are there"
    with pytest.raises(AttributeError, match="module 'a_package' has no attribute 'sine'"):
        get("sine")


def test_public_modules_are_imported_as_such() -> None:
    get = attach("concurrent", {}, modules=("futures",))
    assert get("futures") is sys.modules["concurrent.futures"]
