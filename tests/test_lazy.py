"""Names that are imported when they are first used."""

from __future__ import annotations

import math
import sys
from types import ModuleType

import pytest

from plurule._lazy import attach


def test_attach_imports_a_name_from_its_home_once(monkeypatch: pytest.MonkeyPatch) -> None:
    package = ModuleType("a_package")
    monkeypatch.setitem(sys.modules, "a_package", package)
    get = attach("a_package", {"math": ["sqrt"]})
    assert not hasattr(package, "sqrt")
    assert get("sqrt") is math.sqrt
    assert package.sqrt is math.sqrt, "the next time it is there"
    with pytest.raises(AttributeError, match="module 'a_package' has no attribute 'sine'"):
        get("sine")


def test_public_modules_are_imported_as_such() -> None:
    get = attach("concurrent", {}, modules=("futures",))
    assert get("futures") is sys.modules["concurrent.futures"]
