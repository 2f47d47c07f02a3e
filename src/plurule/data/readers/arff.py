"""ARFF files: dense and sparse, every kind of attribute but the relational."""

from __future__ import annotations

import contextlib
import gc
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from plurule.data.dataset import Dataset
from plurule.data.place import Place, Source, shown
from plurule.data.readers.arff_cells import Cells
from plurule.data.readers.arff_header import Header, Kind, parse_header
from plurule.data.readers.arff_rows import DenseRows, MixedRowsError, Rows, SparseRows
from plurule.data.readers.text import read_text
from plurule.data.table import Declared, Table

# Rows are read in blocks of about this many bytes: large enough for numpy, small enough that one odd row, which
# makes its block be read cell by cell, costs little.
_BLOCK = 1 << 18

_FIRST_ROW = re.compile(rb"(?:[ \t]*+(?:%[^\n]*+)?\n)*+[ \t]*+([^\n])")


def read_arff(path: Path, *, text: Literal["drop", "keep"] = "drop") -> tuple[Dataset, Source]:
    """Read all columns of an ARFF file.

    Parameters
    ----------
    path
        The file; unpacked if it ends in .gz or .bz2.
    text
        What to do with string and date attributes: drop them, with a note, or keep strings as nominal
        attributes of the texts that occur and dates as numbers, seconds since 1970.
    """
    with _collection_paused():
        return _read(path, text)


@contextlib.contextmanager
def _collection_paused() -> Iterator[None]:
    """No garbage collection meanwhile.

    A wide file makes several small objects per attribute, none of them part of a cycle, and looking for cycles
    again and again among them would take as long as making them.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _read(path: Path, text: Literal["drop", "keep"]) -> tuple[Dataset, Source]:
    place = Place(path.name)
    content = read_text(path)
    header = parse_header(content, place)
    kinds: tuple[Kind, ...] = ("numeric", "nominal", "string", "date")
    kept = header.columns_of(*(kinds if text == "keep" else kinds[:2])).tolist()
    first_row = _FIRST_ROW.match(content, header.data_offset)
    if first_row is None or first_row[1] != b"{":
        try:
            return _read_rows(content, header, DenseRows, kept, place)
        except MixedRowsError:
            pass
    return _read_rows(content, header, SparseRows, kept, place)


def _read_rows(
    content: bytes, header: Header, kind: type[Rows], kept: list[int], place: Place
) -> tuple[Dataset, Source]:
    cells = Cells(header)
    rows = kind(header, cells, kept, place)
    start, line = header.data_offset, header.data_line + 1
    while start < len(content):
        end = content.find(b"\n", start + _BLOCK) + 1 or len(content)
        block = content[start:end]
        rows.add(block if block.endswith(b"\n") else block + b"\n", line)
        start, line = end, line + block.count(b"\n")
    weights = None
    if rows.weights:
        weights = np.ones(rows.n_rows)
        weights[list(rows.weights)] = list(rows.weights.values())
    table = Table(_attributes(header, cells, kept), rows.columns(), rows.n_rows)
    notes = header.notes + _text_notes(header, kept, place)
    data = Dataset.unlabelled(table, weights=weights, relation=header.relation)
    return data, Source(place, rows.lines, notes=notes)


def _attributes(header: Header, cells: Cells, kept: list[int]) -> Declared:
    by_domain = [domain.categories for domain in header.domains]
    categories = [by_domain[k] for k in header.which[kept].tolist()]
    names = header.names if len(kept) == len(header.names) else [header.names[i] for i in kept]
    if cells.texts:
        position = {column: i for i, column in enumerate(kept)}
        for column in cells.texts.keys() & position.keys():
            categories[position[column]] = tuple(cells.texts[column])
    return Declared(names, categories)


def _text_notes(header: Header, kept: Sequence[int], place: Place) -> tuple[str, ...]:
    """A sentence for each kind of attribute that was dropped or changed."""
    notes: list[str] = []
    changes: tuple[tuple[Kind, str], ...] = (("string", "nominal attributes"), ("date", "seconds since 1970"))
    for kind, change in changes:
        columns = header.columns_of(kind).tolist()
        if columns:
            some = ", ".join(shown(header.names[i]) for i in columns[:3]) + (" …" if len(columns) > 3 else "")
            fate = f"read as {change}" if columns[0] in kept else "dropped (text='keep' keeps them)"
            notes.append(f"{place}: {len(columns)} {kind} attribute{'s' * (len(columns) > 1)} {fate}: {some}")
    return tuple(notes)
