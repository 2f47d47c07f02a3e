"""CSV and TSV files: a line of names, then a line per instance, the labels as the last columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule.data.dataset import Dataset
from plurule.data.place import shown
from plurule.data.readers.csv import MISSING, numbers_of
from plurule.data.readers.text import suffix_of
from plurule.data.writers.text import number_text, unused_name, write_packed
from plurule.label_matrix import dense
from plurule.model import Attribute

_EMPTY = '""'


def write_csv(data: Dataset, path: Path) -> list[str]:
    """Write a data set, the labels as the last columns. Returns notes on what CSV cannot hold."""
    delimiter = "\t" if suffix_of(path) == ".tsv" else ","
    names = [*data.attribute_names, *data.label_names]
    columns: list[Sequence[str]] = [_texts(a, data.X.column(i), delimiter) for i, a in enumerate(data.attributes)]
    columns += [list(map(str, column)) for column in dense(data.Y).T.tolist()]
    if data.weights is not None:
        names.insert(0, unused_name("weight", names))
        columns.insert(0, list(map(number_text, data.weights.tolist())))
    lines = [delimiter.join(_quote(name, delimiter) for name in names)]
    lines += [delimiter.join(row) for row in zip(*columns, strict=True)]
    # A line that is empty would be no row.
    write_packed(path, "".join(f"{line or _EMPTY}\n" for line in lines))
    return _losses(data, path, names[0])


def _quote(text: str, delimiter: str) -> str:
    """A field as CSV writes it: in quotes if it holds anything that has a meaning (the csv module forgets `\\r`)."""
    if any(character in text for character in (delimiter, '"', "\r", "\n")):
        return '"' + text.replace('"', '""') + '"'
    return text


def _texts(attribute: Attribute, column: NDArray[Any], delimiter: str) -> list[str]:
    if attribute.categories is None:
        return ["" if math.isnan(value) else number_text(value) for value in column.tolist()]
    spelled = [*(_quote(category, delimiter) for category in attribute.categories), ""]
    return [spelled[code] for code in column.tolist()]


def _losses(data: Dataset, path: Path, first: str) -> list[str]:
    """What does not come back when the file is read again."""
    count = len(data.label_names)
    notes = [f"{path.name}: the labels are the last {count} columns, read it with labels=-{count}"]
    if data.weights is not None:
        notes.append(f"{path.name}: the weights are the column {shown(first)}")
    lost = [a.name for i, a in enumerate(data.attributes) if a.categories is not None and _changes(a, data.X.column(i))]
    if lost:
        some = ", ".join(shown(name) for name in lost[:3]) + (" …" if len(lost) > 3 else "")
        notes.append(
            f"{path.name}: CSV does not say which categories there are; read again, {len(lost)} nominal "
            f"attribute{'s' * (len(lost) > 1)} will have other ones or be numeric: {some}"
        )
    formulas = [name for name in (*data.attribute_names, *data.label_names) if name.startswith(tuple("=+-@"))]
    if formulas:
        notes.append(
            f"{path.name}: spreadsheets may take names such as {shown(formulas[0])} for formulas; "
            "import the file as text there"
        )
    return notes


def _changes(attribute: Attribute, codes: NDArray[Any]) -> bool:
    """Whether the categories of an attribute would be read differently."""
    categories = attribute.categories or ()
    used = np.bincount(codes[codes >= 0], minlength=len(categories)) > 0
    return (
        not used.all()
        or list(categories) != sorted(categories)
        or not MISSING.isdisjoint(categories)
        or numbers_of(categories) is not None
    )
