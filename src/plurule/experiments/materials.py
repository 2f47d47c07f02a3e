"""Finding and reading the data sets of an experiment."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from plurule.errors import DataError, nearest
from plurule.experiments.folds import find_splitter, make_splits
from plurule.experiments.trials import Material, labels_of
from plurule.io import Dataset, read
from plurule.io.finding import Found, data_folders, find
from plurule.model_selection import iterative_train_test_split
from plurule.table import encode

EMBEDDED = "world-flags"
"""The name of the data that come with the package."""
TEST_SHARE = 1 / 3
"""Share of the instances that are kept for testing where a data set has no test part of its own."""


def known_sets(folder: Path | None) -> list[str]:
    """Names of the data sets in a folder, or in the folders where data sets are kept."""
    folders = data_folders() if folder is None else [folder]
    names = {path.name for place in folders if place.is_dir() for path in place.iterdir() if path.is_dir()}
    return sorted((name for name in names if _found(name, folder)), key=str.lower)


def check_sets(names: Iterable[str], folder: Path | None) -> None:
    """Raise an error if a data set is not known."""
    if folder is not None and not folder.is_dir():
        raise DataError(f"{folder}: there is no such folder")
    for name in names:
        if not _found(name, folder):
            known = known_sets(folder)
            place = "the folders for data sets" if folder is None else str(folder)
            listed = f"known there are {', '.join(known)}" if known else "there is none"
            close = nearest(name, known) if known else ""
            raise DataError(
                f"unknown data set {name!r}{close if 'did you mean' in close else ''} (looked in {place}: {listed})"
            )


def present(names: Iterable[str], folder: Path | None) -> list[str]:
    """Those of the named data sets that are there."""
    return [name for name in names if _found(name, folder)]


def load_material(name: str, folder: Path | None, folds: str, seed: int) -> Material:
    """Read a data set and make its folds."""
    train, test = _split(_embedded(), seed) if name == EMBEDDED else _load_parts(_place(name, folder), seed)
    if train.label_names != test.label_names:
        raise DataError(f"{name}: the training and the test part have different labels")
    if train.weights is not None:
        # A row of weight 0 counts as if it were not there.
        train = train[train.weights > 0]
    return Material(train, test, make_splits(find_splitter(folds, seed), labels_of(train)))


def _load_parts(place: str, seed: int) -> tuple[Dataset, Dataset]:
    found = find(Path(place))
    if found.train is not None and found.test is not None:
        return read(place, split="train"), read(place, split="test")
    return _split(read(place), seed)


def _split(data: Dataset, seed: int) -> tuple[Dataset, Dataset]:
    train, test = iterative_train_test_split(data, test_size=TEST_SHARE, random_state=seed)
    return train, test


def _embedded() -> Dataset:
    from plurule.datasets import load_world_flags

    flags = load_world_flags()
    return Dataset(encode(flags.data), flags.target, tuple(flags.target_names), name=EMBEDDED)


def _place(name: str, folder: Path | None) -> str:
    inside = None if folder is None else folder / name
    return str(inside) if inside is not None and not os.path.isabs(name) else name


def _found(name: str, folder: Path | None) -> Found | None:
    if name == EMBEDDED:
        return Found(EMBEDDED)
    try:
        return find(Path(_place(name, folder)))
    except DataError:
        return None
