"""Data sets of the experiments: how they are read, fetched and built; `research.files` says where they are.

python -m research.data               list the known data sets
python -m research.data flags birds   fetch data sets into the cache
python -m research.data sceneD        build a discretised data set of the paper's authors in the cache
"""

from __future__ import annotations

import argparse
import re
import sys
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

from plurule import DataError, Dataset, read
from plurule.data import iterative_train_test_split
from plurule.datasets import load_world_flags
from research.discretise import discretise, rearrange, to_bytes
from research.files import (
    CATALOGUE,
    HOW_TO_GET_THEM,
    DataSet,
    cache_folder,
    changed_files,
    data_folders,
    find_data_set,
    sha256,
)

TEST_SHARE = 1 / 3
"""Share of the rows that are held out where a data set has no test part of its own."""
_TIMEOUT = 30.0


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


def can_be_fetched(name: str) -> bool:
    """Return whether all files of a data set are offered for download."""
    files = CATALOGUE[name].get("files", [])
    return bool(files) and all("url" in file for file in files)


def fetch(name: str) -> Path:
    """Fetch or build a data set in the cache, unless it is there, and return its folder."""
    if name not in CATALOGUE:
        raise DataError(f"no data set is called {name!r}; known are {', '.join(CATALOGUE)}")
    files = CATALOGUE[name].get("files", [])
    if "made_from" in CATALOGUE[name]:
        return build(name)
    if not can_be_fetched(name):
        raise DataError(f"{name} is not offered for download. {HOW_TO_GET_THEM}")
    folder = cache_folder() / name
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        target = folder / file["name"]
        if not target.is_file():
            _download(file["url"], file["sha256"], file["size"], target)
    _write_label_file(folder / files[0]["name"], folder / f"{name}.xml", CATALOGUE[name]["labels"])
    return folder


def _download(url: str, expected: str, size: int, target: Path) -> None:
    """Download a file and keep it if it is the expected one."""
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT) as response:
            content = response.read(size + 1)
    except OSError as error:
        raise DataError(f"{url} cannot be fetched ({error}); try again later. {HOW_TO_GET_THEM}") from error
    if sha256(content) != expected:
        raise DataError(f"{url} is not the expected file: {len(content)} of {size} bytes, or other contents; try again")
    _write_whole(target, content)


def _write_whole(target: Path, content: bytes) -> None:
    """Write a file that is there completely or not at all."""
    partial = target.with_name(f"{target.name}.part")
    partial.write_bytes(content)
    partial.replace(target)


def build(name: str, folder: Path | None = None) -> Path:
    """Build a discretised data set in the cache from the numeric one (in a folder), and return its folder.

    Raises
    ------
    DataError
        If the numeric data set is missing or has been changed, or if the result is not the authors' file.
    """
    facts = CATALOGUE[name]
    source = require_data_set(facts["made_from"], folder)
    for sentence in changed_files(source):
        raise DataError(sentence)
    parts = {"train": source.train, "test": source.test}
    if None in parts.values():
        raise DataError(f"{source.train} has no test part beside it; {name} is built from both parts")
    texts = {part: path.read_text(encoding="utf-8") for part, path in parts.items() if path is not None}
    target = cache_folder() / name
    target.mkdir(parents=True, exist_ok=True)
    made = discretise(texts, facts.get("relation"))
    train, test = made["train"], made["test"]
    if facts.get("test_rows_first", False):
        train, test = rearrange(train, test)
    for file, part in zip(facts["files"], (train, test), strict=True):
        content = to_bytes(part, file["line_end"], file["last_line_end"])
        if sha256(content) != file["sha256"]:
            raise DataError(f"{file['name']}, built from {source.train}, is not the authors' file; nothing was kept")
        _write_whole(target / file["name"], content)
    _write_label_file(target / facts["files"][0]["name"], target / f"{name}.xml", facts["labels"])
    return target


def find_or_build(name: str, folder: Path | None = None) -> DataSet:
    """Find a data set, building it first if it is made from another one; its files are checked."""
    data_set = find_data_set(name, folder)
    if data_set is None and "made_from" in CATALOGUE.get(name, {}):
        data_set = find_data_set(name, cache_folder())
        if data_set is None or changed_files(data_set):
            data_set = find_data_set(name, build(name, folder).parent)
    data_set = data_set or require_data_set(name, folder)
    for sentence in changed_files(data_set):
        raise DataError(sentence)
    return data_set


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
    parser.add_argument("names", nargs="*", help="data sets to fetch or build")
    names = parser.parse_args().names
    try:
        for name in names:
            print(f"{name}: {fetch(name)}")
    except DataError as error:
        sys.exit(str(error))
    for name, facts in CATALOGUE.items() if not names else ():
        data_set = find_data_set(name)
        missing = "can be fetched" if can_be_fetched(name) else "missing"
        missing = f"built from {facts['made_from']}" if "made_from" in facts else missing
        place = missing if data_set is None or data_set.train is None else data_set.train.parent
        sizes = f"{facts['rows']:>6} rows {facts['attributes']:>6} attributes {facts['labels']:>4} labels"
        print(f"{name:12} {sizes}  {place}")


if __name__ == "__main__":
    main()
