"""One door for everything that can be read."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, Literal, TypeAlias

from plurule.errors import DataError
from plurule.io.arff import read_arff
from plurule.io.dataset import Dataset, DataWarning, concatenate
from plurule.io.finding import base_name, find, label_file
from plurule.io.labels import Labels, split_labels

Text: TypeAlias = Literal["drop", "keep"]
Split: TypeAlias = Literal["train", "test", "all"]


def read(source: Any, labels: Labels | None = None, *, split: Split = "all", text: Text = "drop") -> Dataset:
    path = Path(source)
    found = find(path)
    if found.whole is not None:
        if split != "all":
            raise DataError(f"{path}: is one whole file, split={split!r} needs a -train and a -test file")
        return _read_file(found.whole, labels, text)
    parts = {"train": found.train, "test": found.test}
    wanted = list(parts) if split == "all" else [split]
    missing = [part for part in wanted if parts[part] is None]
    if missing:
        raise DataError(f"{path}: there is no file {found.name}-{missing[0]}")
    read_parts = [_read_file(p, labels, text) for part in wanted if (p := parts[part]) is not None]
    return read_parts[0] if len(read_parts) == 1 else concatenate(read_parts, found.name)


def _read_file(path: Path, labels: Labels | None, text: Text) -> Dataset:
    raw = read_arff(path, text=text)
    for note in raw.notes:
        warnings.warn(note, DataWarning, stacklevel=3)
    return split_labels(raw, labels, base_name(path), label_file(path))
