"""The national flags of the world: what they show, and the colours they have."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np

from plurule.data.dataset import Dataset
from plurule.datasets.embedded import as_table, handed_out, read_rows, read_text

_IN_ORDER = {"coast": ("landlocked", "coastal", "island"), "emblem": ("none", "figure", "arms")}
"""Categories that have another order than the alphabetical."""
_COLOURS = ("red", "green", "blue", "yellow", "white", "black", "orange")


@overload
def load_world_flags(*, return_X_y: Literal[False] = False, as_frame: Literal[False] = False) -> Dataset: ...


@overload
def load_world_flags(*, return_X_y: bool = False, as_frame: bool = False) -> Any: ...


def load_world_flags(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load the flags of the 193 member states of the United Nations, as of 2025.

    One row per state: 22 attributes say where it lies and what its flag shows, seven labels say which main
    colours the flag has. The description of the data set explains each column and how things were counted.

    Parameters
    ----------
    return_X_y
        Return only the attributes and the labels.
    as_frame
        Return them as pandas frames (nominal attributes as categorical columns, the states as the index). Needs
        pandas.

    Returns
    -------
    Dataset or tuple
        The data set (its `row_names` are the states), or attributes and labels: a `Table` and an int8 array, or two
        frames.

    Examples
    --------
    >>> flags = load_world_flags()
    >>> flags
    Dataset(world-flags: 193 instances, 4 numeric and 18 nominal attributes, 7 labels)
    >>> japan = flags.Y[flags.row_names.index("Japan")]
    >>> [colour for colour, there in zip(flags.label_names, japan) if there]
    ['red', 'white']
    """
    rows = read_rows("world_flags.csv")
    data = Dataset(
        as_table(rows, ("country", *_COLOURS), _IN_ORDER),
        np.array([[int(row[colour]) for colour in _COLOURS] for row in rows], dtype=np.int8),
        _COLOURS,
        name="world-flags",
        row_names=tuple(row["country"] for row in rows),
        description=read_text("README.md"),
    )
    return handed_out(data, return_X_y, as_frame)
