"""What the loaders of embedded data share."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule.data.dataset import Dataset
from plurule.data.readers.csv import numbers_of
from plurule.data.table import Table
from plurule.model import Attribute

Rows = list[dict[str, str]]


def read_text(name: str) -> str:
    """A file of this package; unpacked if its name ends in .gz."""
    content = resources.files(__package__).joinpath(name).read_bytes()
    return (gzip.decompress(content) if name.endswith(".gz") else content).decode()


def read_rows(name: str) -> Rows:
    """The rows of a CSV file of this package."""
    return list(csv.DictReader(read_text(name).splitlines()))


def as_table(rows: Rows, without: Sequence[str], in_order: Mapping[str, tuple[str, ...]] | None = None) -> Table:
    """The columns but for some; categories in alphabetical order, unless given; what is empty is missing."""
    names = [name for name in rows[0] if name not in without]
    pairs = [_column(name, [row[name] for row in rows], (in_order or {}).get(name)) for name in names]
    return Table([attribute for attribute, _ in pairs], [values for _, values in pairs])


def _column(name: str, texts: list[str], categories: tuple[str, ...] | None) -> tuple[Attribute, NDArray[Any]]:
    numbers = numbers_of(texts)
    if numbers is not None:
        return Attribute(name), numbers
    categories = categories or tuple(sorted({*texts} - {""}))
    codes = {"": -1} | {category: code for code, category in enumerate(categories)}
    return Attribute(name, categories), np.array([codes[text] for text in texts], dtype=np.int32)


def handed_out(data: Dataset, return_X_y: bool, as_frame: bool) -> Any:
    """A data set as it was asked for."""
    if as_frame:
        return data.to_pandas()
    return (data.X, data.Y) if return_X_y else data
