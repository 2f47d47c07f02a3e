"""The national flags of the world: what they show, and the colours they have."""

from __future__ import annotations

import csv
from typing import Any, Literal, overload

import numpy as np

from plurule.data.dataset import Dataset
from plurule.data.table import Table
from plurule.datasets.embedded import column, handed_out, read_text
from plurule.model import Attribute

_YES_NO = ("no", "yes")

_ATTRIBUTES = (
    Attribute("continent", ("Africa", "Asia", "Europe", "North America", "Oceania", "South America")),
    Attribute("hemisphere", ("northern", "southern")),
    Attribute("coast", ("landlocked", "coastal", "island")),
    Attribute("commonwealth", _YES_NO),
    Attribute("arab_league", _YES_NO),
    Attribute("un_since"),
    Attribute("horizontal_stripes"),
    Attribute("vertical_bars"),
    Attribute("diagonal", _YES_NO),
    Attribute("hoist_triangle", _YES_NO),
    Attribute("canton", _YES_NO),
    Attribute("union_jack", _YES_NO),
    Attribute("cross", _YES_NO),
    Attribute("saltire", _YES_NO),
    Attribute("stars"),
    Attribute("sun", _YES_NO),
    Attribute("crescent", _YES_NO),
    Attribute("circle", _YES_NO),
    Attribute("emblem", ("none", "figure", "arms")),
    Attribute("animal", _YES_NO),
    Attribute("plant", _YES_NO),
    Attribute("writing", _YES_NO),
)

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
    rows = list(csv.DictReader(read_text("world_flags.csv").splitlines()))
    data = Dataset(
        Table(_ATTRIBUTES, [column([row[each.name] for row in rows], each) for each in _ATTRIBUTES], len(rows)),
        np.array([[int(row[colour]) for colour in _COLOURS] for row in rows], dtype=np.int8),
        _COLOURS,
        name="world-flags",
        row_names=tuple(row["country"] for row in rows),
        description=read_text("README.md"),
    )
    return handed_out(data, return_X_y, as_frame)
