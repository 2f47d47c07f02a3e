"""Journal of finished results: a run that was stopped goes on where it was.

One line of JSON per record. The first says which arguments, data and code the results belong to; a journal of others is
refused. A line that was being written when the program ended is removed.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import plurule
from plurule import PluruleError

Result = dict[str, Any]
RECORDS = ({"task", "at", "result"}, {"session"}, {"contents"})
"""Fields of the lines behind the first."""


class JournalError(PluruleError):
    """A journal cannot be used."""


class Journal:
    """Results of one experiment by task.

    Parameters
    ----------
    path
        File of the journal.
    header
        What the results depend on, in a form that JSON knows.
    """

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        self.path = path
        self.results: dict[str, Result] = {}
        self.finished_at: dict[str, float] = {}
        """Seconds since 1970."""
        self.contents: dict[str, str] = {}
        """Fingerprint of the files of each data set that results are about."""
        self.sessions: list[Result] = []
        """One per start of the program: when, where, with which versions."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            content = path.read_bytes() if path.exists() else b""
            whole = content[: content.rfind(b"\n") + 1]
            self._read(whole, json.loads(json.dumps(header)))
            if len(whole) < len(content):
                path.write_bytes(whole)
            if not whole:
                self._write({"header": header})
        except OSError as error:
            raise JournalError(f"{path} cannot be written ({error.strerror}); choose another folder") from error

    def add(self, key: str, result: Result) -> None:
        """Record a finished result."""
        at = round(time.time(), 3)
        self._write({"task": key, "at": at, "result": result})
        self.results[key] = result
        self.finished_at[key] = at

    def claim(self, name: str, fingerprint: str) -> None:
        """Record the contents of a data set; refuse them if results in the journal are about others."""
        before = self.contents.get(name)
        if before == fingerprint:
            return
        if before is not None:
            difference = f"contents of {name} was {before}, now {fingerprint}"
            raise JournalError(f"{self.path} has results of another run: {difference}; choose another folder")
        self._write({"contents": {name: fingerprint}})
        self.contents[name] = fingerprint

    def begin_session(self, facts: Mapping[str, Any]) -> None:
        """Record that work begins."""
        session = {"at": round(time.time(), 3), **facts}
        self._write({"session": session})
        self.sessions.append(session)

    def _write(self, record: Mapping[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n")

    def _read(self, content: bytes, header: Mapping[str, Any]) -> None:
        for number, line in enumerate(content.splitlines(), start=1):
            record = self._parse(line, number)
            if number == 1:
                self._check(record.get("header"), header)
            elif "task" in record:
                self.results[record["task"]] = record["result"]
                self.finished_at[record["task"]] = record["at"]
            elif "contents" in record:
                self.contents |= record["contents"]
            else:
                self.sessions.append(record["session"])

    def _parse(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        if not isinstance(record, dict) or (number > 1 and not any(kind <= record.keys() for kind in RECORDS)):
            raise JournalError(f"{self.path}, line {number} is damaged; choose another folder")
        return record

    def _check(self, found: Mapping[str, Any] | None, expected: Mapping[str, Any]) -> None:
        """Refuse results of other arguments, data or code."""
        if found is None:
            raise JournalError(f"{self.path} is not a journal; choose another folder")
        for name in dict.fromkeys([*expected, *found]):
            before = found.get(name)
            now = expected.get(name)
            if before != now:
                difference = f"{name} was {_shown(before)}, now {_shown(now)}"
                raise JournalError(f"{self.path} has results of another run: {difference}; choose another folder")


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def code_fingerprint(*more: ModuleType) -> str:
    """Return a short text that differs if the installed plurule does, or one of more packages and modules."""
    folder = Path(plurule.__file__).parent
    paths = sorted([*folder.rglob("*.py"), *folder.glob("_core*")])
    for module in more:
        path = Path(str(module.__file__))
        paths += sorted(path.parent.rglob("*.py")) if path.name == "__init__.py" else [path]
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
