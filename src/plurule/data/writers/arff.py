"""Writing ARFF: for Mulan with an XML file of the labels beside it, or for MEKA."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from numpy.typing import NDArray

from plurule.data.dataset import Dataset
from plurule.data.finding import base_name
from plurule.data.place import shown
from plurule.data.readers.arff_text import quote
from plurule.data.table import SparseColumn
from plurule.data.writers.text import number_text, write_packed
from plurule.errors import DataError
from plurule.label_matrix import dense
from plurule.model import Attribute

# What XML 1.0 cannot hold, not even escaped.
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_BINARY = ("0", "1")


def write_arff(data: Dataset, path: Path, *, meka: bool = False) -> list[str]:
    """Write a data set; nothing is lost. Returns notes on what else was written.

    Parameters
    ----------
    data
        The data set; if its columns are sparse, so are the rows of the file.
    path
        The ARFF file; the XML file for Mulan gets its name.
    meka
        Put the labels first and their number into the name of the relation, instead of writing an XML file.
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
        write_packed(xml, labels_xml(data.label_names))
        notes.append(f"{path.name}: the labels are named in {xml.name}")
    return notes


def _domain(attribute: Attribute) -> str:
    if attribute.categories is None:
        return "numeric"
    return "{" + ",".join(map(quote, attribute.categories)) + "}"


def _spelled(attribute: Attribute, values: NDArray[Any]) -> list[str]:
    """Values as the file spells them."""
    if attribute.categories is None:
        return ["?" if math.isnan(value) else number_text(value) for value in values.tolist()]
    spelled = [*map(quote, attribute.categories), "?"]
    return [spelled[code] for code in values.tolist()]


def _dense_rows(data: Dataset, labels_first: bool) -> list[str]:
    matrix = dense(data.Y)
    columns = [_spelled(a, data.X.column(i)) for i, a in enumerate(data.attributes)]
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
        for row, text in zip(column.rows.tolist(), _spelled(attribute, column.values), strict=True):
            entries[row].append(f"{position} {text}")
    if not labels_first:
        add_labels(n_attributes)
    return ["{" + ",".join(row) + "}" for row in entries]


def labels_xml(names: Sequence[str]) -> str:
    """The text of a Mulan label file.

    >>> print(labels_xml(["red", "R&B"]), end="")
    <?xml version="1.0" encoding="utf-8"?>
    <labels xmlns="http://mulan.sourceforge.net/labels">
    <label name="red"></label>
    <label name="R&amp;B"></label>
    </labels>
    """
    head = ['<?xml version="1.0" encoding="utf-8"?>', '<labels xmlns="http://mulan.sourceforge.net/labels">']
    labels = [f"<label name={quoteattr(name)}></label>" for name in names]
    return "\n".join([*head, *labels, "</labels>", ""])
