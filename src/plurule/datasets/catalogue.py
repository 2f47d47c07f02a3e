"""Known multi-label data sets by name: what is known about them, and how to get them.

A data set is looked for in the folder that PLURULE_DATA names, laid out as Mulan does (a folder or base name per data
set), then in the cache; what is in neither is fetched into the cache once. Files are checked against their SHA-256
and a download that broke off is taken up where it ended.
"""

from __future__ import annotations

import hashlib
import os
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from plurule.data.finding import cache_folder, data_folders, find_named, label_file
from plurule.errors import DataError, nearest
from plurule.files import locked

__all__ = ["KNOWN", "KnownSet", "RemoteFile", "fetch", "info", "known_names", "load", "where"]

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with the name of a file, the bytes that are there and the bytes that it has."""

_TIMEOUT = 30.0
_PIECE = 1 << 16
_LFS = "https://media.githubusercontent.com/media/mrapp-ke/Boomer-Datasets"


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file to fetch: the name it gets, where it is, and what it must be."""

    name: str
    url: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class KnownSet:
    """A data set that has a name in the literature.

    Parameters
    ----------
    name
        What it is called.
    topic
        What it is about.
    rows, attributes, labels, cardinality
        As published; None where not known before it is fetched.
    files
        What to fetch. The labels are the last columns.
    openml
        Number of the data set on OpenML, if that is where to fetch it.
    """

    name: str
    topic: str
    rows: int | None = None
    attributes: int | None = None
    labels: int | None = None
    cardinality: float | None = None
    files: tuple[RemoteFile, ...] = ()
    openml: int | None = None

    @property
    def source(self) -> str:
        """Where it can be fetched from, in a few words."""
        if self.files:
            return self.files[0].url.split("/")[2]
        return f"openml.org/d/{self.openml}" if self.openml else ""


def _pair(
    name: str, train: tuple[str, str, str, int], test: tuple[str, str, str, int]
) -> tuple[RemoteFile, RemoteFile]:
    """The files of a data set: commit, path, checksum and size of the training and of the test part."""
    parts = {"train": train, "test": test}
    first, second = (
        RemoteFile(f"{name}-{part}.arff", f"{_LFS}/{commit}/{path}", sha256, size)
        for part, (commit, path, sha256, size) in parts.items()
    )
    return first, second


_LATER = "7e587cb68234bf7628aef6ed0a5c2df8a4eb519e"
_FLAGS = "3fbea72b3d39a7d1279cce111f9e80628e0f04fa"
_EMOTIONS = "082dba2665d701ce74a1291ad3809da789fa5c96"
_BIRDS = "26b2b9064ffe1f59672cde9ad16ad813173a9f00"
_SCENE = "e9738dbfd6631fb2e3a1c51807b598c04eb38133"
_YEAST = "73db96cbcc8cc8891830fc86827617e4a8e7f033"
_ENRON = "91950e2fd9fb199df84f0c045fde589fa5ec46c5"
_BIBTEX = "e925d705fe09f4ce593cf162e953862d8a0cee76"

_ALL = (
    KnownSet("flags", "colours of national flags", 194, 19, 7, 3.392, _pair(
        "flags",
        (_FLAGS, "flags-train.arff", "1861cdab7f8baf1aef6fb6198f304465ddfd99b7f9a435337c604119522df3c5", 7707),
        (_FLAGS, "flags-test.arff", "09f6136fae47dcc2f0f491efd6401a11072cbfb0bfbb2666c63b35bb06aeeb16", 4218),
    )),
    KnownSet("emotions", "emotions that music arouses", 593, 72, 6, 1.868, _pair(
        "emotions",
        (_LATER, "emotions_training.arff", "bbe704106c79bb8fb99c1d1d2e9bde081d6a2daeb01f100862f11fd91a3c1f98", 252080),
        (_EMOTIONS, "emotions-test.arff", "f13d4b746b7b5c8eb484bd751d6ac463d4560dff998a93516a5c1fe35daf6c8f", 132007),
    )),
    KnownSet("birds", "bird species in sound recordings", 645, 260, 19, 1.014, _pair(
        "birds",
        (_LATER, "birds_training.arff", "8f215db6ee163149901e753977f631ba8bea0e0e8e1abc42b234414822f8ae36", 539367),
        (_BIRDS, "birds-test.arff", "51ba6326d65ccdd7c755b6461280eb6d2769c7f59d8e12fd4250f91e6ca28326", 540883),
    )),
    KnownSet("scene", "kinds of scenes in photographs", 2407, 294, 6, 1.074, _pair(
        "scene",
        (_LATER, "scene_training.arff", "b53ba93bdf412de922e3960389bcee24744fa3e872ce610511fc1d750888b64d", 3127968),
        (_SCENE, "scene-test.arff", "ea38d20296b3ff7e220f477a3b802a9bcb2d768881fe6ee163efbc97ea527a42", 3090742),
    )),
    KnownSet("yeast", "functions of yeast genes", 2417, 103, 14, 4.237, _pair(
        "yeast",
        (_YEAST, "yeast-train.arff", "e759dc991ff54694a4ff9c4314f3be0d6fd2b1994a4b563f57e416394c6aebbd", 1501117),
        (_LATER, "yeast_test.arff", "4aaac102bff9669a765bf0b378602e5cc8c3b181048282e2f003117b496d552a", 918515),
    )),
    KnownSet("enron", "topics of e-mails", 1702, 1001, 53, 3.378, _pair(
        "enron",
        (_ENRON, "enron-train.arff", "2988cefc1cdf7a8004a20ef84615cc8fa1b5d7434c16687283b41454e2d9d194", 607799),
        (_LATER, "enron_test.arff", "2f3aad54a8f54caaab4ab01246fe9dd385ba944a2633028f52747b57eac5474e", 324140),
    )),
    KnownSet("bibtex", "tags of BibTeX entries", 7395, 1836, 159, 2.402, _pair(
        "bibtex",
        (_BIBTEX, "bibtex-train.arff", "8dcc9de6e0b2cebaec8c1f4fac78431adeeb73cfd3ab879b530a66d366e59174", 2292961),
        (_BIBTEX, "bibtex-test.arff", "9b03329cde64d3f994bdf7fbbac3f3b10fe185c311cb9ae725475f59c7f3f922", 1215637),
    )),
    KnownSet("CAL500", "tags of songs", 502, 68, 174, 26.044),
    KnownSet("medical", "diagnoses in radiology reports", 978, 1449, 45, 1.245),
    KnownSet("corel5k", "what images show", 5000, 499, 374, 3.522),
    KnownSet("delicious", "tags of web pages", 16105, 500, 983, 19.020),
    KnownSet("tmc2007-500", "problems in aviation safety reports", 28596, 500, 22, 2.158),
    KnownSet("rcv1sub1", "topics of news", 6000, 47236, 101, 2.880),
    KnownSet("genbase", "functions of proteins", openml=40591),
    KnownSet("image", "kinds of natural scenes", openml=40592),
    KnownSet("langlog", "topics of a weblog on language", openml=40593),
    KnownSet("reuters", "topics of news", openml=40594),
    KnownSet("slashdot", "topics of technology news", openml=40596),
)  # fmt: skip

KNOWN: dict[str, KnownSet] = {known.name: known for known in _ALL}
"""The known data sets by name."""


def known_names() -> list[str]:
    """Names of all data sets that can be named: the known ones, and those in the folders where data are kept."""
    found = {name.lower(): name for name in KNOWN}
    for folder in data_folders():
        if folder.is_dir():
            for path in sorted(folder.iterdir()):
                if path.is_dir() and find_named(path, path.name) is not None:
                    found.setdefault(path.name.lower(), path.name)
    return list(found.values())


def info(name: str) -> KnownSet:
    """What is known about a data set.

    >>> info("emotions").labels
    6
    """
    known = {key.lower(): value for key, value in KNOWN.items()}.get(name.lower())
    if known is not None:
        return known
    if where(name) is not None:
        return KnownSet(name, "in a local folder")
    raise DataError(f"no data set is called {name!r}{nearest(name, known_names())}")


def where(name: str) -> Path | None:
    """The folder that holds a data set, None if it has to be fetched."""
    for folder in data_folders():
        if not folder.is_dir():
            continue
        matches = [path for path in folder.iterdir() if path.is_dir() and path.name.lower() == name.lower()]
        for path in [*matches, folder]:
            found = find_named(path, name)
            if found is not None:
                return path
    return None


def load(name: str, split: Any = "all") -> Any:
    """A known data set, fetched if need be.

    Parameters
    ----------
    name
        One of `KNOWN`, or of a data set in the folder PLURULE_DATA.
    split
        `"train"`, `"test"` or `"all"`, as in `plurule.data.read`.

    Returns
    -------
    The `plurule.data.Dataset`.
    """
    from plurule.data import read

    return read(fetch(name) / name, split=split)


def fetch(name: str | KnownSet, *, force: bool = False, progress: Progress | None = None) -> Path:
    """Make a data set available and return the folder that holds it.

    Parameters
    ----------
    name
        The data set.
    force
        Fetch it anew though it is there.
    progress
        Called as the download goes on.
    """
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
    if target.is_file() and not force and _sha256(target) == file.sha256:
        return
    url = file.url
    if os.environ.get("PLURULE_MIRROR"):
        url = f"{os.environ['PLURULE_MIRROR'].rstrip('/')}/{known.name}/{file.name}"
    if not url.startswith(("https://", "http://")):
        raise DataError(f"{url}: cannot be fetched from, expected an address that begins with https:// or http://")
    partial = target.with_name(f"{target.name}.part")
    with locked(partial):
        try:
            # Another process may have fetched it meanwhile.
            if force or not target.is_file() or _sha256(target) != file.sha256:
                _fetch_new(url, partial, target, file, progress)
        finally:
            if partial.is_file() and partial.stat().st_size == 0:
                partial.unlink()


def _fetch_new(url: str, partial: Path, target: Path, file: RemoteFile, progress: Progress | None) -> None:
    _download(url, partial, file, progress)
    found = _sha256(partial)
    if found != file.sha256:
        partial.unlink()
        raise DataError(
            f"{url}: is not the file that was expected (SHA-256 {found[:12]}…, expected {file.sha256[:12]}…); it was "
            "damaged on the way or has changed there. Nothing was kept; try again"
        )
    os.replace(partial, target)


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
    except (urllib.error.URLError, OSError) as error:
        if isinstance(error, OSError) and not isinstance(error, urllib.error.URLError) and error.filename is not None:
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
    from plurule.data.writers.arff import labels_xml
    from plurule.data.writers.text import write_packed

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
