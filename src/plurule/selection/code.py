"""Which state of plurule computes: a version number stays the same while its code is worked on."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import plurule
from plurule import _core


@cache
def code_fingerprint() -> str:
    """A short text that differs if any module of the installed package or its engine does."""
    folder = Path(plurule.__file__).parent
    return fingerprint_of(folder, Path(_core.__file__))


def fingerprint_of(folder: Path, binary: Path) -> str:
    """A short text that differs if the Python files of a folder or a binary file do."""
    digest = hashlib.sha256()
    modules = sorted((path.relative_to(folder).as_posix(), path) for path in folder.rglob("*.py"))
    for name, path in [*modules, ("engine", binary)]:
        content = path.read_bytes()
        digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:12]
