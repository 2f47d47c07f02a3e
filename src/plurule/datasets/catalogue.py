"""Known multi-label data sets by name: what is known about them, and how to get them.

A data set is looked for in the folder that PLURULE_DATA names, laid out as Mulan does (a folder or base name per data
set), then in the cache; what is in neither is fetched into the cache once. Files are checked against their SHA-256
and a download that broke off is taken up where it ended.
"""

from __future__ import annotations

import hashlib
import os
import tomllib
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TypeAlias

from plurule.data.finding import cache_folder, data_folders, find_named, label_file
from plurule.errors import DataError, nearest
from plurule.files import lock

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with the name of a file, the bytes that are there and the bytes that it has."""

_TIMEOUT = 30.0
_PIECE = 1 << 16


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file to fetch: the name it gets, where it is, and what it must be."""

    name: str
    url: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class KnownSet:
    """A data set that has a name in the literature; numbers as published, None where not known before it is fetched."""

    name: str
    topic: str
    rows: int | None = None
    attributes: int | None = None
    labels: int | None = None
    cardinality: float | None = None
    files: tuple[RemoteFile, ...] = ()
    """What to fetch. The labels are the last columns."""
    openml: int | None = None
    """Number of the data set on OpenML, if that is where to fetch it."""

    @property
    def source(self) -> str:
        """Where it can be fetched from, in a few words."""
        if self.files:
            return self.files[0].url.split("/")[2]
        return f"openml.org/d/{self.openml}" if self.openml else ""


def _known() -> Iterator[KnownSet]:
    text = resources.files(__package__).joinpath("catalogue.toml").read_text("utf-8")
    for name, facts in tomllib.loads(text).items():
        yield KnownSet(name, **facts | {"files": tuple(RemoteFile(**file) for file in facts.get("files", ()))})


KNOWN: dict[str, KnownSet] = {known.name: known for known in _known()}
"""The known data sets by name."""


def known_names() -> list[str]:
    """Names of all data sets that can be named: the known ones, and those in the folders where data are kept."""
    found = {name.lower(): name for name in KNOWN}
    for path in (path for folder in data_folders() for path in _folders(folder)):
        if find_named(path, path.name) is not None:
            found.setdefault(path.name.lower(), path.name)
    return list(found.values())


def info(name: str) -> KnownSet:
    """What is known about a data set.

    >>> info("emotions").labels
    6
    """
    known = next((known for known in KNOWN.values() if known.name.lower() == name.lower()), None)
    if known is None and where(name) is None:
        raise DataError(f"no data set is called {name!r}{nearest(name, known_names())}")
    return known or KnownSet(name, "in a local folder")


def where(name: str) -> Path | None:
    """The folder that holds a data set, None if it has to be fetched."""
    for folder in data_folders():
        matches = [path for path in _folders(folder) if path.name.lower() == name.lower()]
        for path in [*matches, folder]:
            if find_named(path, name) is not None:
                return path
    return None


def _folders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


def fetch(name: str | KnownSet, *, force: bool = False, progress: Progress | None = None) -> Path:
    """Make a data set available and return the folder that holds it; with `force`, fetch it anew though it is there."""
    known = name if isinstance(name, KnownSet) else info(name)
    folder = cache_folder() / known.name
    there = where(known.name)
    # A fetch that broke off may have left a part of the files.
    whole = there != folder or all((folder / file.name).is_file() for file in known.files)
    if there is not None and whole and not force:
        return there
    if not known.files and known.openml is None:
        raise DataError(
            f"{known.name} is not offered for download in a form that can be checked; put its files into a folder "
            f"{known.name} in the folder that the environment variable PLURULE_DATA names (Mulan offers them at "
            "https://mulan.sourceforge.net/datasets-mlc.html)"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if known.files:
            for file in known.files:
                _fetch_file(known, file, folder / file.name, force, progress)
            _write_labels(known, folder)
        else:
            _fetch_openml(known, folder)
    except OSError as error:
        raise DataError(f"{error.filename or folder}: cannot be written ({error.strerror or error})") from error
    return folder


def _fetch_file(known: KnownSet, file: RemoteFile, target: Path, force: bool, progress: Progress | None) -> None:
    url, partial = file.url, target.with_name(f"{target.name}.part")
    if os.environ.get("PLURULE_MIRROR"):
        url = f"{os.environ['PLURULE_MIRROR'].rstrip('/')}/{known.name}/{file.name}"
    if not url.startswith(("https://", "http://")):
        raise DataError(f"{url}: cannot be fetched from, expected an address that begins with https:// or http://")
    # Another process may fetch it meanwhile.
    with open(partial, "ab") as held:
        lock(held.fileno(), wait=True)
        try:
            if not force and target.is_file() and _sha256(target) == file.sha256:
                return
            _download(url, partial, file, progress)
            found = _sha256(partial)
            if found != file.sha256:
                partial.unlink()
                raise DataError(
                    f"{url}: is not the file that was expected (SHA-256 {found[:12]}…, expected {file.sha256[:12]}…); "
                    "it was damaged on the way or has changed there. Nothing was kept; try again"
                )
            os.replace(partial, target)
        finally:
            if partial.is_file() and partial.stat().st_size == 0:
                partial.unlink()


def _download(url: str, partial: Path, file: RemoteFile, progress: Progress | None) -> None:
    """Fetch into a partial file, from where an earlier attempt ended."""
    there = partial.stat().st_size if partial.is_file() else 0
    if there >= file.size:
        there = 0
    request = urllib.request.Request(url, headers={"User-Agent": "plurule"})
    if there:
        request.add_header("Range", f"bytes={there}-")
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT) as response:
            # A server that knows no ranges sends the whole file again.
            resumed = there and response.status == 206
            there = there if resumed else 0
            with open(partial, "ab" if resumed else "wb") as out:
                while piece := response.read(_PIECE):
                    there += len(piece)
                    if there > file.size:
                        raise DataError(f"{url}: is larger than the {file.size} bytes that were expected; not fetched")
                    out.write(piece)
                    if progress is not None:
                        progress(file.name, there, file.size)
    except urllib.error.HTTPError as error:
        raise DataError(f"{url}: the server answered {error.code} {error.reason}; {_OTHER_WAYS}") from error
    except OSError as error:
        if not isinstance(error, urllib.error.URLError) and error.filename is not None:
            raise
        reason = getattr(error, "reason", error)
        raise DataError(f"{url}: cannot be reached ({reason}). Are you offline? {_OTHER_WAYS}") from error
    if there < file.size:
        raise DataError(
            f"{url}: the connection ended after {there} of {file.size} bytes; try again, what is there is kept"
        )


_OTHER_WAYS = (
    "Try again later (what was fetched is kept), or put the files into a folder and name that in the environment "
    "variable PLURULE_DATA"
)


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_labels(known: KnownSet, folder: Path) -> None:
    """The Mulan label file of a data set whose labels are the last columns."""
    from plurule.data.readers.arff import read_arff
    from plurule.data.writing import labels_xml, write_packed

    assert known.labels is not None
    first = folder / known.files[0].name
    if label_file(first) is None:
        names = read_arff(first)[0].attribute_names[-known.labels :]
        write_packed(folder / f"{known.name}.xml", labels_xml(names))


def _fetch_openml(known: KnownSet, folder: Path) -> None:
    """Through scikit-learn, which checks what OpenML sends against OpenML's own checksum."""
    from sklearn.datasets import fetch_openml

    from plurule.data import read, write

    try:
        bunch = fetch_openml(data_id=known.openml, as_frame=True, data_home=str(folder / "openml"))
    except ImportError as error:
        raise DataError(f"{known.name} comes from OpenML, which needs pandas: pip install 'plurule[pandas]'") from error
    except (OSError, ValueError) as error:
        raise DataError(f"{known.source}: cannot be fetched ({error}). Are you offline? {_OTHER_WAYS}") from error
    write(read(bunch.frame, labels=list(bunch.target_names)), folder / f"{known.name}.arff")
