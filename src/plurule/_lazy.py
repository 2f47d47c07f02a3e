"""Names of a package that are imported when they are first used, so that importing it costs next to nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def attach(package: str, names: Mapping[str, Sequence[str]], modules: Sequence[str] = ()) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package: `names` are those of each module, `modules` are the public ones."""
    homes = {name: module for module, listed in names.items() for name in listed}

    def get(name: str) -> Any:
        if name in modules:
            return import_module(f"{package}.{name}")
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return get
