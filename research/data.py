"""Data sets of the experiments: where they are kept, how they are read, how they are fetched.

    python -m research.data               list the known data sets
    python -m research.data flags birds   fetch data sets into the cache

A data set is a folder `flags` with the files `flags-train.arff` and `flags-test.arff` (or one file `flags.arff`, which
is split) and `flags.xml`, which names the labels. It is searched in the folders that the environment variable
PLURULE_DATA names (separated as in PATH), then in the cache.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import sys
import tomllib
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from plurule import DataError, Dataset, read
from plurule.data import iterative_train_test_split
from plurule.datasets import load_world_flags

EMBEDDED = "world-flags"
"""Name of the data set that comes with plurule."""
TEST_SHARE = 1 / 3
"""Share of the rows that are held out where a data set has no test part of its own."""
CATALOGUE: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
"""Known data sets: topic, sizes, and files to fetch where they are offered."""
HOW_TO_GET_THEM = (
    "python -m research.data NAME … fetches flags, emotions, birds, scene, yeast, enron and bibtex; others are at "
    "https://mulan.sourceforge.net/datasets-mlc.html. Put them into the folder that PLURULE_DATA names"
)
_TIMEOUT = 30.0


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
    """Return the folder of fetched data sets."""
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


def require_data_set(source: str, folder: Path | None = None) -> DataSet:
    """Find a data set, or raise an error that says how to get it."""
    data_set = find_data_set(source, folder)
    if data_set is None:
        searched = data_folders() if folder is None else [folder]
        places = ", ".join(map(str, searched))
        raise DataError(f"data set {source!r} is not in {places}. {HOW_TO_GET_THEM}")
    return data_set


def parse_labels(text: str | None) -> Sequence[str] | int | None:
    """Read what `--labels` says: names separated by commas, or `last:2`, `first:2`."""
    if text is None:
        return None
    place, _, number = text.partition(":")
    if place in ("first", "last") and number.isdecimal():
        return int(number) if place == "first" else -int(number)
    return [name.strip() for name in text.split(",")]


def read_parts(data_set: DataSet, seed: int = 0, labels: Sequence[str] | int | None = None) -> tuple[Dataset, Dataset]:
    """Read the training and the test part; a data set of one file is split, stratified by its labels.

    ARFF files name their labels, others need `labels`: names, or the number of the first (or, negative, last) columns.
    """
    if data_set.train is not None and data_set.test is not None:
        return _read_file(data_set.train, labels), _read_file(data_set.test, labels)
    data = load_world_flags() if data_set.train is None else _read_file(data_set.train, labels)
    train, test = iterative_train_test_split(data, test_size=TEST_SHARE, random_state=seed)
    return train, test


def read_for_folds(data_set: DataSet, seed: int = 0, labels: Sequence[str] | int | None = None) -> Dataset:
    """Read what folds are made of: all of a data set of one file, else the training part."""
    if data_set.train is not None and data_set.test is None:
        return _read_file(data_set.train, labels)
    return read_parts(data_set, seed, labels)[0]


def _read_file(path: Path, labels: Sequence[str] | int | None) -> Dataset:
    """Read a file; the labels of ARFF are in the file."""
    return read(path, None if ".arff" in path.name.lower() else labels)


# Fetching -------------------------------------------------------------------------------------------------------------


def fetch(name: str) -> Path:
    """Fetch a data set into the cache, unless it is there, and return its folder."""
    if name not in CATALOGUE:
        raise DataError(f"no data set is called {name!r}; known are {', '.join(CATALOGUE)}")
    files = CATALOGUE[name].get("files", [])
    if not files:
        raise DataError(f"{name} is not offered for download. {HOW_TO_GET_THEM}")
    folder = cache_folder() / name
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        target = folder / file["name"]
        if not target.is_file():
            _download(file["url"], file["sha256"], file["size"], target)
    _write_label_file(folder / files[0]["name"], folder / f"{name}.xml", CATALOGUE[name]["labels"])
    return folder


def _download(url: str, sha256: str, size: int, target: Path) -> None:
    """Download a file and keep it if it is the expected one."""
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT) as response:
            content = response.read(size + 1)
    except OSError as error:
        raise DataError(f"{url} cannot be fetched ({error}); try again later. {HOW_TO_GET_THEM}") from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise DataError(f"{url} is not the expected file: {len(content)} of {size} bytes, or other contents; try again")
    partial = target.with_name(f"{target.name}.part")
    partial.write_bytes(content)
    partial.replace(target)


def _write_label_file(arff: Path, target: Path, n_labels: int) -> None:
    """Write the Mulan label file of a data set whose labels are the last columns."""
    text = arff.read_text(encoding="utf-8")
    header = re.split(r"^@data", text, maxsplit=1, flags=re.MULTILINE | re.IGNORECASE)[0]
    pattern = re.compile(r"^@attribute\s+('(?:[^'\\]|\\.)*'|\"[^\"]*\"|\S+)", re.MULTILINE | re.IGNORECASE)
    names = [re.sub(r"\\(.)", r"\1", name.strip("'\"")) for name in pattern.findall(header)]
    lines = [f"<label name={quoteattr(name)}></label>" for name in names[-n_labels:]]
    opening = '<?xml version="1.0" encoding="utf-8"?>\n<labels xmlns="http://mulan.sourceforge.net/labels">'
    target.write_text("\n".join([opening, *lines, "</labels>\n"]), encoding="utf-8")


def main() -> None:
    """List the known data sets, or fetch some."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="data sets to fetch")
    names = parser.parse_args().names
    try:
        for name in names:
            print(f"{name}: {fetch(name)}")
    except DataError as error:
        sys.exit(str(error))
    for name, facts in CATALOGUE.items() if not names else ():
        data_set = find_data_set(name)
        missing = "can be fetched" if "files" in facts else "missing"
        place = missing if data_set is None or data_set.train is None else data_set.train.parent
        sizes = f"{facts['rows']:>6} rows {facts['attributes']:>6} attributes {facts['labels']:>4} labels"
        print(f"{name:12} {sizes}  {place}")


if __name__ == "__main__":
    main()
