"""Files of the data sets: where they are, and whether they are the expected ones. Needs nothing but Python.

A data set is a folder `flags` with the files `flags-train.arff` and `flags-test.arff` (or one file `flags.arff`, which
is split) and `flags.xml`, which names the labels. It is searched in the folders that the environment variable
PLURULE_DATA names (separated as in PATH), then in the cache.
"""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EMBEDDED = "world-flags"
"""Name of the data set that comes with plurule."""
CATALOGUE: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("data.toml").read_text("utf-8"))
"""Known data sets: topic, sizes, and files with their checksums, and addresses where they are offered."""
HOW_TO_GET_THEM = (
    "python -m research.data NAME … fetches flags, emotions, birds, scene, yeast, enron and bibtex; others are at "
    "https://mulan.sourceforge.net/datasets-mlc.html. Put them into the folder that PLURULE_DATA names"
)


@dataclass(frozen=True)
class DataSet:
    """Where a data set is: a training and a test file, one file to split, or neither for the embedded data."""

    name: str
    train: Path | None = None
    test: Path | None = None


def data_folders() -> list[Path]:
    """Return the folders of data sets: those that PLURULE_DATA names, and the cache."""
    named = os.environ.get("PLURULE_DATA", "").split(os.pathsep)
    return [*(Path(folder) for folder in named if folder), cache_folder()]


def cache_folder() -> Path:
    """Return the folder of fetched and built data sets."""
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "plurule"


def find_data_set(source: str, folder: Path | None = None) -> DataSet | None:
    """Find a data set by its name in a folder (or the usual ones), or by the path of its folder or file."""
    if source == EMBEDDED:
        return DataSet(EMBEDDED)
    path = Path(source)
    if path.is_file():
        return DataSet(path.name.partition(".")[0], path)
    places = [path] if len(path.parts) > 1 else []
    places += [place / source for place in (data_folders() if folder is None else [folder])]
    for place in filter(Path.is_dir, places):
        data_set = _find_in(place)
        if data_set is not None:
            return data_set
    return None


def _find_in(folder: Path) -> DataSet | None:
    files = sorted(path for path in folder.iterdir() if re.search(r"\.(arff|csv|parquet)(\.gz|\.bz2)?$", path.name))
    parts: dict[str, Path] = {}
    for path in files:
        part = path.name.partition(".")[0].lower().rpartition("-")[2]
        parts.setdefault(part if part in ("train", "test") else "all", path)
    if {"train", "test"} <= parts.keys():
        return DataSet(folder.name, parts["train"], parts["test"])
    return DataSet(folder.name, parts["all"]) if "all" in parts else None


def find_or_source(name: str, folder: Path | None = None) -> DataSet | None:
    """Find a data set in a folder (or the usual ones) or built in the cache, or the one that it is built from."""
    data_set = find_data_set(name, folder)
    source = CATALOGUE.get(name, {}).get("made_from")
    if data_set is None and source is not None:
        return find_data_set(name, cache_folder()) or find_data_set(source, folder)
    return data_set


def problems(names: Iterable[str], folder: Path | None = None) -> list[str]:
    """Return what keeps data sets from being used: those that are missing, and files that are not the expected ones."""
    if folder is not None and not folder.is_dir():
        return [f"{folder} is not a folder"]
    found = {name: find_or_source(name, folder) for name in names}
    missing = [
        f"{name} (built from {CATALOGUE[name]['made_from']})" if "made_from" in CATALOGUE.get(name, {}) else name
        for name, data_set in found.items()
        if data_set is None
    ]
    where = ", ".join(map(str, data_folders() if folder is None else [folder]))
    sentences = [f"data sets are missing in {where}: {', '.join(missing)}. {HOW_TO_GET_THEM}."] if missing else []
    return sentences + [
        sentence for data_set in found.values() if data_set is not None for sentence in changed_files(data_set)
    ]


def changed_files(data_set: DataSet) -> list[str]:
    """Return a sentence for every file of a known data set whose SHA-256 is not the expected one."""
    expected = {file["name"]: file["sha256"] for file in CATALOGUE.get(data_set.name, {}).get("files", [])}
    sentences = []
    for path in (data_set.train, data_set.test):
        if path is not None and expected:
            wanted = expected.get(path.name)
            if wanted is None:
                sentences.append(f"{path} is not one of the files of {data_set.name}: {', '.join(expected)}.")
            elif sha256(path.read_bytes()) != wanted:
                sentences.append(
                    f"{path} has been changed (its SHA-256 is not {wanted[:12]}…); remove it and get it again."
                )
    return sentences


def sha256(content: bytes) -> str:
    """Return the SHA-256 of some bytes as text."""
    return hashlib.sha256(content).hexdigest()
