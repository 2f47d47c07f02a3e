"""From data sets to files: ARFF, for Mulan with an XML file of the labels beside it, or for MEKA; CSV, TSV; Parquet."""

from __future__ import annotations

import bz2
import gzip
import json
import math
import os
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from plurule.data.dataset import Dataset, DataWarning
from plurule.data.finding import FORMATS, base_name
from plurule.data.labels import Labels
from plurule.data.place import shown
from plurule.data.readers.arff_header import quote
from plurule.data.readers.csv import MISSING, numbers_of
from plurule.data.readers.parquet import KEY, pyarrow_for
from plurule.data.readers.reading import Text, read
from plurule.data.readers.text import COMPRESSIONS, suffix_of
from plurule.data.table import SparseColumn, SparseColumns
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
_CELLS_AT_ONCE = 1 << 22


def write(data: Dataset, path: str | os.PathLike[str], *, meka: bool = False) -> list[str]:
    """Write a data set to a file, in the format that its name ends in; the file appears whole or not at all.

    Parameters
    ----------
    data
        What to write.
    path
        A file that ends in .arff (a Mulan XML file of the labels is written beside it), .csv, .tsv, .parquet or
        .pq; the text formats also with .gz or .bz2.
    meka
        ARFF: write for MEKA, which finds the number of labels in the name of the relation and needs no XML file.

    Returns
    -------
    Sentences about where the labels are and what the format cannot hold.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from plurule.datasets import load_world_flags
    >>> with TemporaryDirectory() as folder:
    ...     print(write(load_world_flags(), f"{folder}/flags.csv")[0])
    flags.csv: the labels are the last 7 columns, read it with labels=-7
    """
    target = Path(path)
    suffix = suffix_of(target)
    if not target.parent.is_dir():
        raise DataError(f"{target}: there is no folder {target.parent} to write it to")
    if meka and suffix != ".arff":
        raise DataError(f"{target}: only ARFF files can be written for MEKA, expected a name that ends in .arff")
    if suffix == ".arff":
        return write_arff(data, target, meka=meka)
    if suffix in (".csv", ".tsv"):
        return write_csv(data, target)
    if suffix in (".parquet", ".pq") and target.suffix.lower() not in COMPRESSIONS:
        return write_parquet(data, target)
    raise DataError(f"{target}: of no known format, expected a name that ends in {', '.join(FORMATS)}")


def convert(
    source: Any,
    target: str | os.PathLike[str],
    labels: Labels | None = None,
    *,
    meka: bool = False,
    text: Text = "keep",
    **options: Any,
) -> list[str]:
    """Read a data set and write it in another format.

    Parameters
    ----------
    source, labels, **options
        What to read, as `read` takes it.
    target
        The file to write, as `write` takes it.
    meka
        ARFF: write for MEKA.
    text
        Whether string and date attributes of ARFF files are kept or dropped.

    Returns
    -------
    Sentences about where the labels are and what was lost on the way.

    Examples
    --------
    >>> import numpy as np
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     print(convert(np.array([[1.5, 0, 1], [2.5, 1, 1]]), f"{folder}/two.csv", labels=-2)[0])
    two.csv: the labels are the last 2 columns, read it with labels=-2
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        data = read(source, labels, text=text, **options)
    notes = [str(warning.message) for warning in caught if issubclass(warning.category, DataWarning)]
    return notes + write(data, target, meka=meka)


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
    odd = None if meka else next(filter(_NOT_XML.search, data.label_names), None)
    if odd is not None:
        problem = f"the label {shown(odd)} has a character that XML cannot hold; rename it or write for MEKA"
        raise DataError(f"{path.name}: {problem}")
    relation = data.relation or data.name or base_name(path)
    relation = f"{relation.split(': -')[0]}: -C {len(data.label_names)}" if meka else relation
    labels = [Attribute(name, _BINARY) for name in data.label_names]
    sparse = len(data.attributes) > 0 and all(isinstance(c, SparseColumn) for c in data.X.columns)
    Y = sp.csc_array(data.Y) if sparse else dense(data.Y).T
    of_labels = SparseColumns(Y, np.ones(len(labels), np.bool_), np.arange(len(labels))) if sparse else Y
    parts = list(zip(data.attributes, data.X.columns, strict=True)), list(zip(labels, of_labels, strict=True))
    columns = [column for part in (reversed(parts) if meka else parts) for column in part]
    header = [f"@relation {quote(relation)}", ""]
    for a, _ in columns:
        domain = "numeric" if a.categories is None else "{" + ",".join(map(quote, a.categories)) + "}"
        header.append(f"@attribute {quote(a.name)} {domain}")
    header += ["", "@data"]
    rows = _sparse_rows(columns, len(data)) if sparse else _dense_rows(columns)
    if data.weights is not None:
        rows = [f"{row},{{{number_text(weight)}}}" for row, weight in zip(rows, data.weights.tolist(), strict=True)]
    write_packed(path, "\n".join([*header, *rows]) + "\n")
    if meka:
        return []
    xml = path.with_name(f"{base_name(path)}.xml")
    write_packed(xml, labels_xml(data.label_names, data.hierarchy))
    return [f"{path.name}: the labels are named in {xml.name}"]


def _spelled(attribute: Attribute, values: NDArray[Any], quote: Callable[[str], str], missing: str) -> list[str]:
    """Values as the file spells them."""
    if attribute.categories is None:
        return [missing if math.isnan(value) else number_text(value) for value in values.tolist()]
    spelled = [*map(quote, attribute.categories), missing]
    return [spelled[code] for code in values.tolist()]


def _dense_rows(columns: Iterable[tuple[Attribute, Any]]) -> list[str]:
    values = ((a, c.to_dense() if isinstance(c, SparseColumn) else c) for a, c in columns)
    return [",".join(row) for row in zip(*(_spelled(a, v, quote, "?") for a, v in values), strict=True)]


def _sparse_rows(columns: Iterable[tuple[Attribute, Any]], n_rows: int) -> list[str]:
    entries: list[list[str]] = [[] for _ in range(n_rows)]
    for position, (attribute, column) in enumerate(columns):
        for row, text in zip(column.rows.tolist(), _spelled(attribute, column.values, quote, "?"), strict=True):
            entries[row].append(f"{position} {text}")
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


# Parquet -----------------------------------------------------------------------------------------------------------


def write_parquet(data: Dataset, path: Path) -> list[str]:
    """Write a data set; everything is kept. Returns notes on what was not."""
    pyarrow = pyarrow_for(path)
    names = [*data.attribute_names, *data.label_names]
    weights = None if data.weights is None else unused_name("weight", names)
    names += [] if weights is None else [weights]
    about = {
        "relation": data.relation or data.name,
        "labels": list(data.label_names),
        "weights": weights,
        "categories": {a.name: list(a.categories) for a in data.attributes if a.categories is not None},
        "sparse": [a.name for a, c in zip(data.attributes, data.X.columns, strict=True) if isinstance(c, SparseColumn)],
    }
    rows_at_once = max(1, _CELLS_AT_ONCE // max(1, len(names)))
    starts = range(0, max(1, len(data)), rows_at_once)
    parts = (pyarrow.table(_arrow_arrays(data[start : start + rows_at_once]), names) for start in starts)
    first = next(parts)
    schema = first.schema.with_metadata({KEY: json.dumps(about).encode()})
    with replacing(path) as temporary, pyarrow.parquet.ParquetWriter(temporary, schema) as writer:
        for part in chain([first], parts):
            writer.write_table(part)
    return []


def _arrow_arrays(data: Dataset) -> list[Any]:
    """Attributes, labels and weights."""
    import pyarrow

    arrays: list[Any] = []
    for i, attribute in enumerate(data.attributes):
        values = data.X.column(i)
        if attribute.categories is None:
            arrays.append(pyarrow.array(values, mask=np.isnan(values)))
        else:
            indices = pyarrow.array(values, mask=values < 0)
            dictionary = pyarrow.array(list(attribute.categories), pyarrow.string())
            arrays.append(pyarrow.DictionaryArray.from_arrays(indices, dictionary))
    arrays += [pyarrow.array(np.ascontiguousarray(labels)) for labels in dense(data.Y).T]
    return arrays if data.weights is None else [*arrays, pyarrow.array(data.weights)]
