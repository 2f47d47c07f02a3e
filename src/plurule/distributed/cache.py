"""What was made of files, kept in a folder for the next program that asks the same of the same files."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pickle
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from plurule.data.fingerprint import digest
from plurule.distributed import preparing
from plurule.distributed.pieces import Blocks, Function, LocalPieces, listed
from plurule.errors import PluruleError
from plurule.files import replacing
from plurule.selection import code
from plurule.selection.journal import open_locked

HEADER, MADE, UNFINISHED = "plurule-cache.json", "made.pickle", ".part"


class CachedPieces(LocalPieces):
    """Parts of files; what was found out about them stays in a folder, and so do the blocks to learn from."""

    def __init__(self, *given: Any):
        *others, self.cache = given
        super().__init__(*others)

    def map(self, function: Function, *shared: Any, each: Sequence[Any] | None = None) -> list[Any]:
        return list(self._once(super().map, function, shared, each))

    def total(self, function: Function, *shared: Any, each: Sequence[Any] | None = None) -> Any:
        return self._once(super().total, function, shared, each)

    def make(self, function: Function, *shared: Any, each: Sequence[Any]) -> tuple[Blocks, list[Any]]:
        if function is not preparing.build:
            return super().make(function, *shared, each=each)
        place = self.cache / f"blocks-{digest(shared, each)}"
        kept = _read(place / MADE)
        if kept is None or not all(one.is_whole(path) for one, path in listed(kept[0], place)):
            unfinished = place.with_suffix(UNFINISHED)
            try:
                kept = self.stored(unfinished, function, shared, each)
                with _told(self.cache):
                    shutil.rmtree(place, ignore_errors=True)
                    _write(unfinished / MADE, kept)
                    unfinished.rename(place)
            except BaseException:
                shutil.rmtree(unfinished, ignore_errors=True)
                raise
        blocks, sides = kept
        return self.of_blocks(blocks, place), sides

    def _once(self, ask: Function, function: Function, shared: Sequence[Any], each: Sequence[Any] | None) -> Any:
        """What parts say, asked for once if it is about the data alone."""
        if function.__module__ != preparing.__name__:
            return ask(function, *shared, each=each)
        file = self.cache / f"{function.__name__}-{digest(shared, each)}.pickle"
        kept = _read(file)
        if kept is None:
            kept = ask(function, *shared, each=each), list(self.names)
            with _told(self.cache):
                _write(file, kept)
        told, self.names = kept
        return told


# A disk may have kept less than was written, or something else: what is damaged is made anew.


def _write(path: Path, value: Any) -> None:
    """Keep a value, whole or not at all, with what tells that it is whole."""
    content = pickle.dumps(value)
    with replacing(path) as temporary:
        temporary.write_bytes(hashlib.sha256(content).digest() + content)


def _read(path: Path) -> Any:
    """A value that was kept; None if it is not there as it was."""
    content = path.read_bytes() if path.is_file() else b""
    size = hashlib.sha256().digest_size
    return pickle.loads(content[size:]) if hashlib.sha256(content[size:]).digest() == content[:size] else None


@contextlib.contextmanager
def cache_folder(folder: str | os.PathLike[str], source: str) -> Iterator[Path]:
    """A folder for what is made of a source, by this program alone; what was made of another one is removed."""
    place = Path(folder)
    header = json.dumps({"plurule": code.version(), "code": code.code_fingerprint(), "source": source}).encode()
    with _told(place):
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        found, others = place.stat(), [path for path in place.iterdir() if path.name != HEADER]
        if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & 0o022):
            raise PluruleError(f"{place}: others may write to this folder, so it is no place for a cache (chmod go-w)")
        if others and not (place / HEADER).exists():
            raise PluruleError(f"{place}: holds other files; give a new folder, or one that was a cache before")
    with open_locked(place / HEADER) as file:
        with _told(place):
            file.seek(0)
            is_same = file.read() == header
            for path in others:
                if path.is_dir() and (not is_same or path.suffix == UNFINISHED):
                    shutil.rmtree(path)
                elif not is_same:
                    path.unlink()
            if not is_same:
                file.truncate(0)
                file.write(header)
        yield place


@contextlib.contextmanager
def _told(place: Path) -> Iterator[None]:
    """Say in a sentence why a folder cannot be read or written."""
    try:
        yield
    except OSError as error:
        raise PluruleError(f"{place}: cannot be used as a cache ({error.strerror or error})") from error
