"""Which columns are labels, and what their values say."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from plurule.data.dataset import Dataset
from plurule.data.label_values import label_matrix
from plurule.data.place import Place, hint, shown
from plurule.data.readers.mulan import read_label_names
from plurule.data.readers.raw import RawTable
from plurule.errors import DataError

Labels: TypeAlias = int | str | Path | re.Pattern[str] | Sequence[str]
"""Which columns are labels: the first k (k > 0) or last |k| (k < 0), a name or a pattern such as `label_*`, a
compiled regular expression, a Mulan XML file, or a sequence of names and patterns (empty: no column is a label)."""

_MEKA = re.compile(r"-C\s+(-?[0-9]+)")
_WILDCARDS = re.compile(r"[*?\[]")


class UnknownLabels(DataError):
    """A source does not say which of its columns are labels, and nobody else does."""


def split_labels(raw: RawTable, labels: Labels | None, name: str = "", xml: Path | None = None) -> Dataset:
    """Take the labels out of the columns of a source.

    Where `labels` does not say which they are, `xml` does, or else the `-C` of MEKA in the name of the relation.
    """
    positions = _find(raw, labels, xml)
    table = raw.table
    X = table.select(np.delete(np.arange(len(table.names)), positions).tolist())
    Y = label_matrix(raw, positions)
    label_names = tuple(table.names[i] for i in positions)
    return Dataset(X, Y, label_names, raw.weights, name, raw.relation)


def parse_labels(text: str) -> Labels:
    """Labels as written on a command line.

    >>> parse_labels("last:3"), parse_labels("first:2"), parse_labels("red,green"), parse_labels("flags.xml")
    (-3, 2, ['red', 'green'], PosixPath('flags.xml'))
    """
    counted = re.fullmatch(r"(first|last):([0-9]{1,9})", text.strip())
    if counted:
        return int(counted[2]) if counted[1] == "first" else -int(counted[2])
    if re.fullmatch(r"[+-]?[0-9]{1,9}", text.strip()):
        return int(text)
    if text.lower().endswith(".xml"):
        return Path(text)
    return text.split(",") if "," in text else text


def meka_labels(relation: str) -> int | None:
    """How many labels MEKA's options in the name of a relation state: `-C 6` the first, `-C -6` the last six.

    >>> meka_labels("Music: -C 6"), meka_labels("music")
    (6, None)
    """
    match = _MEKA.search(relation)
    return int(match[1]) if match else None


def _find(raw: RawTable, labels: Labels | None, xml: Path | None) -> list[int]:
    """Positions of the label columns, in the order of the labels."""
    if labels is None:
        if xml is not None:
            return _from_xml(raw, xml)
        if raw.labels is not None:
            return [raw.table.names.index(name) for name in raw.labels]
        count = meka_labels(raw.relation)
        if count is None:
            raise UnknownLabels(
                f"{raw.place}: which columns are labels is not known: expected --labels, in Python labels=… (names, a "
                "pattern, or how many of the first or last columns), a Mulan XML file beside it, or -C n in the "
                "relation (MEKA)"
            )
        return _from_count(raw, count, f"-C {count} in the relation")
    named_file = isinstance(labels, str) and labels.lower().endswith(".xml") and labels not in raw.table.names
    if isinstance(labels, Path) or named_file:
        return _from_xml(raw, Path(str(labels)))
    if isinstance(labels, bool):
        raise DataError(f"labels={labels!r}, expected names, a pattern or a number of columns")
    if isinstance(labels, int | np.integer):
        return _from_count(raw, int(labels), f"labels={labels}")
    return matching(raw.table.names, [labels] if isinstance(labels, str | re.Pattern) else list(labels), raw.place)


def _from_count(raw: RawTable, count: int, what: str) -> list[int]:
    width = len(raw.table.names)
    if not 0 < abs(count) <= width:
        raise raw.place.error(f"{what}, expected 1 to {width} for the first or -1 to -{width} for the last columns")
    return list(range(count)) if count > 0 else list(range(width + count, width))


def _from_xml(raw: RawTable, xml: Path) -> list[int]:
    position = dict(zip(raw.table.names, range(len(raw.table.names)), strict=True))
    named = read_label_names(xml)
    for name, line in named.items():
        if name not in position:
            raise Place(xml.name, line).error(
                f"label {shown(name)} is no attribute of {raw.place}" + hint(name, position)
            )
    return [position[name] for name in named]


def matching(names: Sequence[str], wanted: Sequence[Any], place: Place) -> list[int]:
    """Positions of the names that are wanted, by name or by pattern, in the order in which they are wanted.

    >>> matching(["area", "label_a", "label_b"], ["label_*"], Place("flags.csv"))
    [1, 2]
    """
    position = {name: i for i, name in enumerate(names)}
    found: dict[int, None] = {}
    for item in wanted:
        if isinstance(item, str) and item in position:
            matches = [position[item]]
        elif isinstance(item, re.Pattern):
            matches = [i for name, i in position.items() if item.search(name)]
        elif isinstance(item, str) and _WILDCARDS.search(item):
            matches = [i for name, i in position.items() if fnmatch.fnmatchcase(name, item)]
        elif isinstance(item, str):
            matches = []
        else:
            raise DataError(f"{item!r} names no column, expected a name or a pattern")
        if not matches:
            text = item.pattern if isinstance(item, re.Pattern) else item
            raise place.error(f"there is no column {shown(text)}" + hint(text, position))
        found.update(dict.fromkeys(matches))
    return list(found)
