"""Files of data in parts: blocks while a list is learned, and checkpoints."""

from __future__ import annotations

import json
import mmap
import os
import pickle
import sys
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

from plurule.errors import PluruleError
from plurule.files import lock

ALIGNED = 64
"""Arrays begin at multiples of so many bytes."""


def version() -> str:
    """Return the version of the package."""
    return str(sys.modules["plurule"].__version__)


class Stored(NamedTuple):
    """A block in a file: its arrays are there, one after the other, and all else is here."""

    path: Path
    content: bytes
    """The pickled block without its arrays."""
    spans: tuple[tuple[int, int], ...]
    """Beginning and end of each array."""

    @classmethod
    def write(cls, block: Any, path: Path) -> Stored:
        """Write a block to a file."""
        buffers: list[pickle.PickleBuffer] = []
        content = pickle.dumps(block, 5, buffer_callback=buffers.append)
        spans = []
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(path, "wb") as file:
                for buffer in buffers:
                    file.write(bytes(-file.tell() % ALIGNED))
                    begin = file.tell()
                    file.write(buffer.raw())
                    spans.append((begin, file.tell()))
        except OSError as error:
            raise PluruleError(f"{path}: the binned columns could not be written ({error.strerror})") from error
        return cls(path, content, tuple(spans))

    def load(self) -> Any:
        """The block, mapped to memory."""
        with open(self.path, "r+b") as file:
            memory = memoryview(mmap.mmap(file.fileno(), 0))
        return pickle.loads(self.content, buffers=[memory[begin:end] for begin, end in self.spans])


# Checkpoints ---------------------------------------------------------------------------------------------------------


class CheckpointError(PluruleError):
    """A checkpoint cannot be used."""


class Checkpoint:
    """A file with a line of JSON, and its checksum, for every learned rule, so that learning can be continued.

    The first line says which fit the rules belong to; those of another one are refused. A line that a killed program
    left half-written is removed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for rule in ("first", "second"):
    ...         with Checkpoint(Path(folder) / "rules.jsonl") as checkpoint:
    ...             checkpoint.expect({"max_rules": 2})
    ...             checkpoint.add(0, rule)
    ...     checkpoint.rules[0]
    ['first', 'second']
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rules: dict[int, list[Any]] = {}
        """The rules of each list, by its number."""
        self._fit: dict[str, Any] | None = None
        self._file = open_locked(path)
        try:
            self._read()
        except BaseException:
            self._file.close()
            raise

    def expect(self, fit: Mapping[str, Any]) -> None:
        """Note which fit the rules belong to; raise an error if the file has those of another one."""
        expected = {"plurule": version(), **fit}
        if self._fit is None:
            self._fit = expected
            self._write({"fit": expected})
        changed = [name for name in expected if self._fit.get(name) != expected[name]]
        if changed:
            what = f"holds rules of another fit: {', '.join(changed)} changed since it was begun"
            raise CheckpointError(f"{self.path}: {what}; rules are never mixed: give another file, or remove this one")

    def add(self, number: int, rule: Any) -> None:
        """Keep a rule of a list; it is with the operating system when this returns."""
        self._write({"list": number, "rule": rule})
        self.rules.setdefault(number, []).append(rule)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        os.fsync(self._file.fileno())
        self._file.close()

    def _write(self, record: Mapping[str, Any]) -> None:
        text = json.dumps(record, allow_nan=False).encode()
        content = b"%s %08x\n" % (text, zlib.crc32(text))
        # One call per record, unbuffered: whoever kills the program can cut a line short, but not lose a whole one.
        try:
            written = self._file.write(content)
        except OSError as error:
            raise CheckpointError(f"{self.path}: cannot be written any more ({error.strerror or error})") from error
        if written < len(content):
            raise CheckpointError(f"{self.path}: cannot be written any more; is the disk full?")

    def _read(self) -> None:
        """Read what is there, and cut off an unfinished line."""
        self._file.seek(0)
        content = self._file.read()
        whole = content[: content.rfind(b"\n") + 1]
        for number, line in enumerate(whole.splitlines(), start=1):
            text, _, checksum = line.rpartition(b" ")
            try:
                if int(checksum, 16) != zlib.crc32(text):
                    raise ValueError(line)
                record = json.loads(text)
                if number == 1:
                    self._fit = dict(record["fit"])
                else:
                    self.rules.setdefault(int(record["list"]), []).append(record["rule"])
            except (ValueError, TypeError, KeyError):
                problem = f"{self.path}, line {number}: is no checkpoint of plurule, or is damaged"
                raise CheckpointError(f"{problem}; give another file, or remove this one") from None
        if content and not whole and not b'{"fit": '.startswith(content[:8]):
            raise CheckpointError(f"{self.path}: is no checkpoint of plurule; give another file")
        self._file.truncate(len(whole))
        self._file.seek(0, os.SEEK_END)


def open_locked(path: Path) -> IO[bytes]:
    """Open a file for this program alone."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open(path, "a+b", buffering=0)  # noqa: SIM115  # stays open for as long as it is used
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be written ({error.strerror or error})") from error
    if not lock(file.fileno()):
        file.close()
        raise CheckpointError(f"{path}: another run is at work there; wait for it or choose another place")
    return file
