"""The national flags of the world: what they show, and the colours they have."""

from __future__ import annotations

import csv
from importlib import resources
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from plurule.data.table import Table
from plurule.model import Attribute

_FILE = "world_flags.csv"

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
def load_world_flags(*, return_X_y: Literal[False] = False, as_frame: bool = False) -> Bunch: ...


@overload
def load_world_flags(*, return_X_y: Literal[True], as_frame: bool = False) -> tuple[Any, Any]: ...


def load_world_flags(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load the flags of the 193 member states of the United Nations, as of 2025.

    One row per state: 22 attributes say where it lies and what its flag shows, seven labels say which main
    colours the flag has. ``DESCR`` explains each column and how things were counted.

    Parameters
    ----------
    return_X_y
        Return only ``(data, target)``.
    as_frame
        Return pandas frames (nominal attributes as categorical columns, the states as the index) instead of
        a `Table` and an array. Needs pandas.

    Returns
    -------
    Bunch or tuple
        A dictionary with attribute access:

        data : Table or DataFrame of 193 rows and 22 columns
            The attributes.
        target : int8 array or DataFrame of 193 rows and 7 columns
            The labels, 1 where the flag has the colour.
        feature_names, target_names, countries : list of str
            Names of the attributes, of the labels and of the rows.
        frame : DataFrame or None
            Attributes and labels side by side, with ``as_frame=True``.
        DESCR : str
            The description of the data set.
        filename, data_module : str
            The file the data come from, and the package that holds it.

    Examples
    --------
    >>> flags = load_world_flags()
    >>> flags.data
    Table(193 rows, 4 numeric and 18 nominal columns)
    >>> japan = flags.target[flags.countries.index("Japan")]
    >>> [colour for colour, there in zip(flags.target_names, japan) if there]
    ['red', 'white']
    """
    rows = _read_rows()
    countries = [row["country"] for row in rows]
    table = Table(_ATTRIBUTES, [_column(rows, attribute) for attribute in _ATTRIBUTES], len(rows))
    labels = np.array([[int(row[colour]) for colour in _COLOURS] for row in rows], dtype=np.int8)

    data: Any = table
    target: Any = labels
    frame = None
    if as_frame:
        data, target, frame = _as_frames(table, labels, countries)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        frame=frame,
        feature_names=list(table.names),
        target_names=list(_COLOURS),
        countries=countries,
        DESCR=_read_text("README.md"),
        filename=_FILE,
        data_module=__package__,
    )


def _read_text(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _read_rows() -> list[dict[str, str]]:
    return list(csv.DictReader(_read_text(_FILE).splitlines()))


def _column(rows: list[dict[str, str]], attribute: Attribute) -> NDArray[Any]:
    values = [row[attribute.name] for row in rows]
    if attribute.categories is None:
        return np.array(values, dtype=np.float64)
    return np.array([attribute.categories.index(value) for value in values], dtype=np.int32)


def _as_frames(table: Table, labels: NDArray[np.int8], countries: list[str]) -> tuple[Any, Any, Any]:
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            "load_world_flags(as_frame=True) needs pandas; install it with: pip install 'plurule[pandas]'"
        ) from error
    index = pd.Index(countries, name="country")
    columns = {}
    for position, attribute in enumerate(table.attributes):
        values = table.column(position)
        if attribute.categories is None:
            columns[attribute.name] = pd.Series(values.astype(np.int64), index=index)
        else:
            categorical = pd.Categorical.from_codes(values, categories=list(attribute.categories))
            columns[attribute.name] = pd.Series(categorical, index=index)
    data = pd.DataFrame(columns, index=index)
    target = pd.DataFrame(labels, index=index, columns=list(_COLOURS))
    return data, target, pd.concat([data, target], axis=1)
