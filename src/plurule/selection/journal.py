"""The journal: an append-only record of finished results, so that long work survives whatever ends it.

One line of JSON per record. The first says which arguments, which version and which code the results belong to;
results of others are refused, with the difference. A line that a killed program left half-written is cut off; nothing
else is ever changed.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Self

from plurule.errors import PluruleError
from plurule.files import in_bytes, lock
from plurule.selection import code as this

FORMAT = "plurule experiments"
VERSION = 1
_SYNC_SECONDS = 1.0
_NO_JOURNAL = "is not a journal of plurule; choose another place"
_NEVER_MIXED = "results are never mixed: choose another place, or remove that file"


class JournalError(PluruleError):
    """A journal cannot be used."""


class Journal:
    """Finished results of one search or experiment.

    Parameters
    ----------
    path
        The file; it is begun if it is not there.
    arguments
        What decides the numbers; a journal of other arguments is refused.
    version
        The version of the program that computes the results; of this one, unless given.
    code
        The fingerprint of its code: a version that is worked on has many states.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with Journal(Path(folder) / "journal.jsonl", {"sets": ["flags"]}) as journal:
    ...         journal.add("fold/flags/ha+/none/0", {"score": 0.75})
    ...     with Journal(Path(folder) / "journal.jsonl", {"sets": ["flags"]}) as journal:
    ...         journal.results
    {'fold/flags/ha+/none/0': {'score': 0.75}}
    """

    def __init__(
        self,
        path: str | Path,
        arguments: Mapping[str, Any] | None = None,
        version: str | None = None,
        code: str | None = None,
    ) -> None:
        self.path = Path(path)
        self.results: dict[str, Any] = {}
        """Results by task."""
        self.finished_at: dict[str, float] = {}
        """When each was finished, in seconds since 1970."""
        self.sessions: list[dict[str, Any]] = []
        """When, where and by what the work was done, one per start of the program."""
        self.facts: dict[str, Any] = {}
        """What must stay as it is from start to start, such as the contents of the data."""
        self._last_sync = time.monotonic()
        header = {
            "journal": FORMAT,
            "format": VERSION,
            "plurule": this.version() if version is None else version,
            "code": this.code_fingerprint() if code is None else code,
            "arguments": dict(arguments or {}),
        }
        self._file = open_locked(self.path)
        try:
            self._read(header)
        except BaseException:
            self._file.close()
            raise

    def add(self, key: str, result: Any) -> None:
        """Record a finished result; it is with the operating system when this returns."""
        at = round(time.time(), 3)
        self._write({"task": key, "at": at, "result": result})
        self.results[key] = result
        self.finished_at[key] = at

    def begin_session(self, facts: Mapping[str, Any]) -> None:
        """Record that work begins, where and when."""
        session = {"at": round(time.time(), 3), **facts}
        self._write({"session": session})
        self.sessions.append(session)

    def expect(self, name: str, value: Any) -> None:
        """Record a fact, or refuse to go on if it was another one before."""
        if name not in self.facts:
            self._write({"fact": name, "value": value})
            self.facts[name] = value
        elif self.facts[name] != value:
            change = f"({self.facts[name]} then, {value} now)"
            raise self._error(f"{name} have changed since it was begun {change}; {_NEVER_MIXED}")

    def close(self) -> None:
        """Write everything to the disk and let others use the file."""
        if not self._file.closed:
            os.fsync(self._file.fileno())
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _write(self, record: Mapping[str, Any]) -> None:
        line = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        content = in_bytes(line) + b"\n"
        # One call per record, unbuffered: whoever kills the program can cut a line short, but not lose a whole one.
        try:
            written = self._file.write(content)
        except OSError as error:
            raise self._error(f"cannot be written any more ({error.strerror or error})") from error
        if written < len(content):
            raise self._error("cannot be written any more; is the disk full?")
        # A crash of the machine, unlike one of the program, may lose the last second.
        if time.monotonic() - self._last_sync > _SYNC_SECONDS:
            os.fsync(self._file.fileno())
            self._last_sync = time.monotonic()

    def _read(self, header: Mapping[str, Any]) -> None:
        """Read what is there, cut off an unfinished line, and begin with the header if nothing is left."""
        self._file.seek(0)
        content = self._file.read()
        whole = content[: content.rfind(b"\n") + 1]
        start = json.dumps({"journal": FORMAT}, separators=(",", ":")).rstrip("}").encode()
        for number, line in enumerate(whole.splitlines(), start=1):
            try:
                record = json.loads(line)
            except ValueError:
                record = None
            if not isinstance(record, dict):
                raise self._error("is damaged; restore the file, or remove it and start anew", number)
            if number == 1:
                if record.get("journal") != FORMAT:
                    raise self._error(_NO_JOURNAL)
                if differences := _differences(record, header):
                    raise self._error(f"holds results of another run: {'; '.join(differences)}; {_NEVER_MIXED}")
            elif "task" in record:
                self.results[record["task"]] = record["result"]
                self.finished_at[record["task"]] = record["at"]
            elif "session" in record:
                self.sessions.append(record["session"])
            elif "fact" in record:
                self.facts[record["fact"]] = record["value"]
            else:
                raise self._error("is a record of no known kind", number)
        if not whole and not start.startswith(content[: len(start)]):
            raise self._error(_NO_JOURNAL)
        if len(whole) < len(content):
            self._file.truncate(len(whole))
        self._file.seek(0, os.SEEK_END)
        if not whole:
            self._write(header)

    def _error(self, problem: str, line: int | None = None) -> JournalError:
        return JournalError(f"{self.path}{'' if line is None else f', line {line}'}: {problem}")


def _differences(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """What differs, in words."""
    lines = [
        f"{name} was {_shown(found.get(key))}, now {_shown(wanted[key])}"
        for key, name in (("plurule", "the version of plurule"), ("format", "the format of the journal"))
        if found.get(key) != wanted[key]
    ]
    if not lines and found.get("code") != wanted["code"]:
        before = found.get("code", "not noted then")
        lines.append(f"the code of plurule {wanted['plurule']} was {before}, now {wanted['code']}")
    theirs, ours = found.get("arguments", {}), wanted["arguments"]
    return lines + [
        f"{key} was {_shown(theirs.get(key))}, now {_shown(ours.get(key))}"
        for key in dict.fromkeys([*ours, *theirs])
        if theirs.get(key) != ours.get(key)
    ]


def _shown(value: Any) -> str:
    if value is None:
        return "not given"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def open_locked(path: Path) -> IO[bytes]:
    """The file, opened for this program alone."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open(path, "a+b", buffering=0)  # noqa: SIM115  # stays open for as long as the journal does
    except OSError as error:
        raise JournalError(f"{path}: cannot be written ({error.strerror or error})") from error
    if not lock(file.fileno()):
        file.close()
        raise JournalError(f"{path}: another run is at work there; wait for it or choose another place")
    return file
