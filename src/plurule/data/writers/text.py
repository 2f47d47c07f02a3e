"""Text files: ARFF, for Mulan with an XML file of the labels beside it, or for MEKA; CSV and TSV."""

from __future__ import annotations

import bz2
import gzip
import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from plurule.data.dataset import Dataset
from plurule.data.finding import base_name
from plurule.data.place import shown
from plurule.data.readers.arff_text import quote
from plurule.data.readers.csv import MISSING, numbers_of
from plurule.data.readers.text import suffix_of
from plurule.data.table import SparseColumn
from plurule.errors import DataError
from plurule.files import replacing
from plurule.label_matrix import dense
from plurule.model import Attribute
from plurule.model.head import Hierarchy

# What XML 1.0 cannot hold, not even escaped.
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_BINARY = ("0", "1")
_EMPTY = '""'
_SMALL, _LARGE = 1e-12, 1e15


def write_packed(path: Path, text: str) -> None:
    """Write a text file as UTF-8, whole or not at all, compressed if its name ends in .gz or .bz2."""
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:
        odd = error.object[error.start]
        raise DataError(f"{path.name}: the character {odd!r} of a name or value cannot be written as UTF-8") from error
    if content.startswith(b"\xef\xbb\xbf"):
        # Readers take this for a byte order mark; a second one protects the first name that begins so.
        content = b"\xef\xbb\xbf" + content
    if path.suffix.lower() == ".gz":
        # Without a time stamp the same data give the same file.
        content = gzip.compress(content, 6, mtime=0)
    elif path.suffix.lower() == ".bz2":
        content = bz2.compress(content)
    try:
        with replacing(path) as temporary:
            temporary.write_bytes(content)
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror or error})") from error


def number_text(value: float) -> str:
    """The shortest text that reads back as the same number.

    Numbers of a usual size are written without an exponent, which is faster to read.

    >>> number_text(4.0), number_text(0.1), number_text(0.00001), number_text(1e-300)
    ('4', '0.1', '0.00001', '1e-300')
    """
    text = repr(value)
    if "e" in text and _SMALL < abs(value) < _LARGE:
        return str(np.format_float_positional(value, trim="-"))
    return text.removesuffix(".0")


def unused_name(wanted: str, names: Sequence[str]) -> str:
    """A name that no other column has.

    >>> unused_name("weight", ["weight", "area"])
    'weight_'
    """
    while wanted in names:
        wanted += "_"
    return wanted


# ARFF --------------------------------------------------------------------------------------------------------------


def write_arff(data: Dataset, path: Path, *, meka: bool = False) -> list[str]:
    """Write a data set; nothing is lost. Returns notes on what else was written.

    If the columns are sparse, so are the rows of the file. Mulan gets an XML file of the same name; for MEKA the labels
    come first, and their number stands in the name of the relation.
    """
    notes: list[str] = []
    relation = data.relation or data.name or base_name(path)
    if meka:
        relation = f"{relation.split(': -')[0]}: -C {len(data.label_names)}"
    else:
        for name in data.label_names:
            if _NOT_XML.search(name):
                raise DataError(
                    f"{path.name}: the label {shown(name)} has a character that XML cannot hold; "
                    "rename it or write for MEKA"
                )
    labels = [Attribute(name, _BINARY) for name in data.label_names]
    attributes = [*labels, *data.attributes] if meka else [*data.attributes, *labels]
    header = [f"@relation {quote(relation)}", ""]
    header += [f"@attribute {quote(a.name)} {_domain(a)}" for a in attributes]
    header += ["", "@data"]
    sparse = len(data.attributes) > 0 and all(isinstance(c, SparseColumn) for c in data.X.columns)
    rows = _sparse_rows(data, meka) if sparse else _dense_rows(data, meka)
    if data.weights is not None:
        rows = [f"{row},{{{number_text(weight)}}}" for row, weight in zip(rows, data.weights.tolist(), strict=True)]
    write_packed(path, "\n".join([*header, *rows]) + "\n")
    if not meka:
        xml = path.with_name(f"{base_name(path)}.xml")
        write_packed(xml, labels_xml(data.label_names, data.hierarchy))
        notes.append(f"{path.name}: the labels are named in {xml.name}")
    return notes


def _domain(attribute: Attribute) -> str:
    if attribute.categories is None:
        return "numeric"
    return "{" + ",".join(map(quote, attribute.categories)) + "}"


def _spelled(attribute: Attribute, values: NDArray[Any], quote: Callable[[str], str], missing: str) -> list[str]:
    """Values as the file spells them."""
    if attribute.categories is None:
        return [missing if math.isnan(value) else number_text(value) for value in values.tolist()]
    spelled = [*map(quote, attribute.categories), missing]
    return [spelled[code] for code in values.tolist()]


def _dense_rows(data: Dataset, labels_first: bool) -> list[str]:
    matrix = dense(data.Y)
    columns = [_spelled(a, data.X.column(i), quote, "?") for i, a in enumerate(data.attributes)]
    labels: list[Sequence[str]] = [list(map(str, matrix[:, k].tolist())) for k in range(matrix.shape[1])]
    ordered: Iterable[Sequence[str]] = [*labels, *columns] if labels_first else [*columns, *labels]
    return [",".join(row) for row in zip(*ordered, strict=True)]


def _sparse_rows(data: Dataset, labels_first: bool) -> list[str]:
    entries: list[list[str]] = [[] for _ in range(len(data))]
    n_labels, n_attributes = len(data.label_names), len(data.attributes)

    def add_labels(shift: int) -> None:
        for row, label in zip(*(indices.tolist() for indices in data.Y.nonzero()), strict=True):
            entries[row].append(f"{label + shift} 1")

    if labels_first:
        add_labels(0)
    for i, (attribute, column) in enumerate(zip(data.attributes, data.X.columns, strict=True)):
        assert isinstance(column, SparseColumn)
        position = i + n_labels * labels_first
        for row, text in zip(column.rows.tolist(), _spelled(attribute, column.values, quote, "?"), strict=True):
            entries[row].append(f"{position} {text}")
    if not labels_first:
        add_labels(n_attributes)
    return ["{" + ",".join(row) + "}" for row in entries]


def labels_xml(names: Sequence[str], hierarchy: Hierarchy = ()) -> str:
    """The text of a Mulan label file; a label stands inside the one above it, the first, if there are several.

    >>> print(labels_xml(["red", "R&B"]), end="")
    <?xml version="1.0" encoding="utf-8"?>
    <labels xmlns="http://mulan.sourceforge.net/labels">
    <label name="red"></label>
    <label name="R&amp;B"></label>
    </labels>
    >>> print(labels_xml(["jazz", "music"], ((0, 1),)).splitlines()[2])
    <label name="music"><label name="jazz"></label></label>
    """
    above = dict(reversed(hierarchy))
    inside = {place: [below for below, parent in sorted(above.items()) if parent == place] for place in above.values()}

    def element(place: int) -> str:
        return f"<label name={quoteattr(names[place])}>{''.join(map(element, inside.get(place, ())))}</label>"

    head = ['<?xml version="1.0" encoding="utf-8"?>', '<labels xmlns="http://mulan.sourceforge.net/labels">']
    labels = [element(place) for place in range(len(names)) if place not in above]
    return "\n".join([*head, *labels, "</labels>", ""])


# CSV ---------------------------------------------------------------------------------------------------------------


def write_csv(data: Dataset, path: Path) -> list[str]:
    """Write a data set, the labels as the last columns. Returns notes on what CSV cannot hold."""
    delimiter = "\t" if suffix_of(path) == ".tsv" else ","
    names = [*data.attribute_names, *data.label_names]
    quoted = partial(_quote, delimiter=delimiter)
    columns: list[Sequence[str]] = [_spelled(a, data.X.column(i), quoted, "") for i, a in enumerate(data.attributes)]
    columns += [list(map(str, column)) for column in dense(data.Y).T.tolist()]
    if data.weights is not None:
        names.insert(0, unused_name("weight", names))
        columns.insert(0, list(map(number_text, data.weights.tolist())))
    lines = [delimiter.join(map(quoted, names))]
    lines += [delimiter.join(row) for row in zip(*columns, strict=True)]
    # A line that is empty would be no row.
    write_packed(path, "".join(f"{line or _EMPTY}\n" for line in lines))
    return _losses(data, path, names[0])


def _quote(text: str, delimiter: str) -> str:
    """A field as CSV writes it: in quotes if it holds anything that has a meaning (the csv module forgets `\\r`)."""
    if any(character in text for character in (delimiter, '"', "\r", "\n")):
        return '"' + text.replace('"', '""') + '"'
    return text


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
