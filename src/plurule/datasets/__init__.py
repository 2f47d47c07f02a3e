"""The data that come with the package: the national flags of the world, and dishes of canteens, which are made up."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np

from plurule.data.dataset import Dataset, Table
from plurule.data.inputs import encode
from plurule.data.tabular import read_csv

__all__ = ["load_canteen_dishes", "load_world_flags"]

_IN_ORDER = {"coast": ("landlocked", "coastal", "island"), "emblem": ("none", "figure", "arms")}
"""Categories that have another order than the alphabetical."""
_COLOURS = ("red", "green", "blue", "yellow", "white", "black", "orange")
_LABELS = (
    *("gluten", "crustaceans", "egg", "fish", "peanuts", "soya", "milk", "nuts", "celery", "mustard", "sesame"),
    *("sulphites", "lupin", "molluscs", "vegetarian", "vegan", "pork", "alcohol", "spicy"),
)


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
    read = _columns("world_flags.csv")
    Y = np.column_stack([read.column(read.names.index(colour)) for colour in _COLOURS])
    table = _without(read, ("country", *_COLOURS), _IN_ORDER)
    rows = tuple(_texts(read, "country"))
    data = Dataset(table, Y, _COLOURS, name="world-flags", row_names=rows, description=_text("README.md"))
    return _handed_out(data, return_X_y, as_frame)


@overload
def load_canteen_dishes(*, return_X_y: Literal[False] = False, as_frame: Literal[False] = False) -> Dataset: ...


@overload
def load_canteen_dishes(*, return_X_y: bool = False, as_frame: bool = False) -> Any: ...


def load_canteen_dishes(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load 4,000 dishes of six canteens, made up from what such dishes are made of.

    One row per dish: 13 attributes say what is in it, how it is cooked, where and what for; 19 labels say which
    allergens it has, for whom it is, and whether it has pork, alcohol or hot spices. The dishes are made by a program
    that is part of the project; the description of the data set says how, and which regularities it put in.

    Parameters
    ----------
    return_X_y
        Return only the attributes and the labels.
    as_frame
        Return them as pandas frames (nominal attributes as categorical columns, the lines of the menu as the index).
        Needs pandas.

    Returns
    -------
    Dataset or tuple
        The data set (its `row_names` are the lines of the menu), or attributes and labels: a `Table` and an int8 array,
        or two frames.

    Examples
    --------
    >>> dishes = load_canteen_dishes()
    >>> dishes
    Dataset(canteen-dishes: 4000 instances, 3 numeric and 10 nominal attributes, 19 labels)
    >>> dishes.row_names[0]
    'Tofu satay skewers with peanut sauce and rice'
    """
    read = _columns("canteen_dishes.csv.gz")
    Y = np.array([[label in texts.split() for label in _LABELS] for texts in _texts(read, "labels")], dtype=np.int8)
    table, rows = _without(read, ("menu_line", "labels")), tuple(_texts(read, "menu_line"))
    about = _text("canteen_dishes.md")
    data = Dataset(table, Y, _LABELS, name="canteen-dishes", row_names=rows, description=about)
    return _handed_out(data, return_X_y, as_frame)


def _bytes(name: str) -> bytes:
    """A file of this package; unpacked if its name ends in .gz."""
    content = resources.files(__package__).joinpath(name).read_bytes()
    return gzip.decompress(content) if name.endswith(".gz") else content


def _text(name: str) -> str:
    return _bytes(name).decode()


def _columns(name: str) -> Table:
    """All columns of a CSV file of this package."""
    return read_csv(Path(name), content=_bytes(name))[0].X


def _texts(table: Table, column: str) -> list[str]:
    """The values of a nominal column, empty where they are missing."""
    index = table.names.index(column)
    return np.array([*(table.attributes[index].categories or ()), ""], dtype=object)[table.column(index)].tolist()


def _without(table: Table, columns: Sequence[str], in_order: Mapping[str, tuple[str, ...]] | None = None) -> Table:
    """The other columns; categories in alphabetical order, unless given."""
    orders = in_order or {}
    kept = [replace(a, categories=orders.get(a.name, a.categories)) for a in table.attributes if a.name not in columns]
    return encode(table, kept)


def _handed_out(data: Dataset, return_X_y: bool, as_frame: bool) -> Any:
    """A data set as it was asked for."""
    if as_frame:
        return data.to_pandas()
    return (data.X, data.Y) if return_X_y else data
