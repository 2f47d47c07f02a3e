"""From what people type (a file, a folder, the name of a data set) to the files that are meant."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from plurule.data.readers.text import COMPRESSIONS, suffix_of
from plurule.errors import DataError

FORMATS = (".arff", ".csv", ".tsv", ".parquet", ".pq")


@dataclass(frozen=True, slots=True)
class Found:
    """The file or files of a data set: one whole, or a training and a test part."""

    name: str
    whole: Path | None = None
    train: Path | None = None
    test: Path | None = None


def find(path: Path) -> Found:
    """The files that a path means.

    A file is meant as it is. A folder `flags` means the data set in it that is called like it (or the only one
    in it). A base name `folder/flags` means `flags.arff`, or the pair `flags-train.arff` and `flags-test.arff`
    (of any known format, compressed or not, whatever the case of the letters). A bare name is also looked for in
    the folders where data sets are kept.
    """
    if path.is_file():
        return Found(base_name(path), whole=path)
    places = [path]
    if len(path.parts) == 1:
        places += [folder / path for folder in data_folders()]
    found = next(filter(None, map(_at, places)), None)
    if found is not None:
        return found
    if path.is_dir():
        name = path.resolve().name
        raise DataError(f"{path}: the folder holds no data set that is called {name}, nor just one; name a file")
    raise DataError(
        f"{path}: there is no such file, and no data set of that name beside it "
        f"({path.name}, or {path.name}-train and {path.name}-test, ending in {', '.join(FORMATS)}, "
        "or in these and .gz or .bz2)"
    )


def _at(place: Path) -> Found | None:
    """The data set that is at a place: in a folder of that name, or of that base name."""
    if not place.is_dir():
        return find_named(place.parent, place.name)
    groups = _groups(place)
    return groups.get(place.resolve().name.lower()) or (next(iter(groups.values())) if len(groups) == 1 else None)


def data_folders() -> list[Path]:
    """Where data sets are kept: the folder that PLURULE_DATA names, and the cache of those fetched."""
    named = os.environ.get("PLURULE_DATA")
    return [Path(named), cache_folder()] if named else [cache_folder()]


def cache_folder() -> Path:
    """Where fetched data sets are kept: `plurule` in the cache folder of the user."""
    if os.environ.get("XDG_CACHE_HOME"):
        return Path(os.environ["XDG_CACHE_HOME"]) / "plurule"
    if sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"]) / "plurule"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "plurule"
    return Path.home() / ".cache" / "plurule"


def base_name(path: Path) -> str:
    """The name of a data file without its endings.

    >>> base_name(Path("data/flags-train.arff.gz"))
    'flags-train'
    """
    name = path.name
    for ending in (*COMPRESSIONS, *FORMATS):
        if name.lower().endswith(ending):
            name = name[: -len(ending)]
    return name


def label_file(path: Path) -> Path | None:
    """The Mulan XML file of an ARFF file: of the same name, or that without -train or -test."""
    base = base_name(path)
    names = [base, _part(base)[0]]
    for name in names:
        exact = path.with_name(f"{name}.xml")
        if exact.is_file():
            return exact
    others = {p.name.lower(): p for p in _files(path.parent) if p.suffix.lower() == ".xml"}
    return next((others[f"{n.lower()}.xml"] for n in names if f"{n.lower()}.xml" in others), None)


def _part(base: str) -> tuple[str, str]:
    """A base name without its `-train` or `-test`, and that."""
    for part in ("train", "test"):
        for joint in "-_":
            if base.lower().endswith(joint + part):
                return base[: -len(part) - 1], part
    return base, "whole"


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(p for p in folder.iterdir() if p.is_file())
    except OSError:
        return []


def _groups(folder: Path) -> dict[str, Found]:
    """The data sets of a folder by lower-case name."""
    parts: dict[str, dict[str, Path]] = {}
    names: dict[str, str] = {}
    for path in _files(folder):
        if suffix_of(path) in FORMATS:
            base, part = _part(base_name(path))
            names.setdefault(base.lower(), base)
            # Of two files that differ in format or compression only, the first in alphabetical order is as good.
            parts.setdefault(base.lower(), {}).setdefault(part, path)
    return {key: Found(names[key], **found) for key, found in parts.items()}


def find_named(folder: Path, name: str) -> Found | None:
    """The data set of a name in a folder, whatever the case of the letters."""
    return _groups(folder).get(name.lower())
