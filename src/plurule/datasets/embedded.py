"""What the loaders of embedded data share."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule.data.dataset import Dataset
from plurule.model import Attribute


def read_text(name: str) -> str:
    """A file of this package; unpacked if its name ends in .gz."""
    content = resources.files(__package__).joinpath(name).read_bytes()
    return (gzip.decompress(content) if name.endswith(".gz") else content).decode()


def column(values: Sequence[str], attribute: Attribute) -> NDArray[Any]:
    """Written values as a column of a table; what is empty is missing."""
    if attribute.categories is None:
        return np.array([value or "nan" for value in values], dtype=np.float64)
    codes = {"": -1} | {category: code for code, category in enumerate(attribute.categories)}
    return np.array([codes[value] for value in values], dtype=np.int32)


def handed_out(data: Dataset, return_X_y: bool, as_frame: bool) -> Any:
    """A data set as it was asked for."""
    if as_frame:
        return data.to_pandas()
    return (data.X, data.Y) if return_X_y else data
