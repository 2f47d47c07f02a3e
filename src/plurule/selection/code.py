"""Which state of plurule computes: a version number stays the same while its code is worked on."""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

ENGINE = "plurule._core"


def version() -> str:
    """The version of the package."""
    return str(sys.modules["plurule"].__version__)


@cache
def code_fingerprint() -> str:
    """A short text that differs if any module of the installed package or its engine does."""
    engine = find_spec(ENGINE)
    if engine is None or engine.origin is None:
        raise ImportError(f"{ENGINE} is not installed")
    return fingerprint_of(Path(__file__).parents[1], Path(engine.origin))


def fingerprint_of(folder: Path, binary: Path) -> str:
    """A short text that differs if the Python files of a folder or a binary file do."""
    digest = hashlib.sha256()
    modules = sorted((path.relative_to(folder).as_posix(), path) for path in folder.rglob("*.py"))
    for name, path in [*modules, ("engine", binary)]:
        content = path.read_bytes()
        digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:12]
