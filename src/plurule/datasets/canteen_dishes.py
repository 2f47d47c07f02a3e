"""Dishes of canteens, which are made up: what goes into them, and what must be declared."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np

from plurule.data.dataset import Dataset
from plurule.datasets.embedded import as_table, handed_out, read_rows, read_text

_LABELS = (
    *("gluten", "crustaceans", "egg", "fish", "peanuts", "soya", "milk", "nuts", "celery", "mustard", "sesame"),
    *("sulphites", "lupin", "molluscs", "vegetarian", "vegan", "pork", "alcohol", "spicy"),
)


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
    rows = read_rows("canteen_dishes.csv.gz")
    data = Dataset(
        as_table(rows, ("menu_line", "labels")),
        np.array([[label in row["labels"].split() for label in _LABELS] for row in rows], dtype=np.int8),
        _LABELS,
        name="canteen-dishes",
        row_names=tuple(row["menu_line"] for row in rows),
        description=read_text("canteen_dishes.md"),
    )
    return handed_out(data, return_X_y, as_frame)
