"""ARFF files: dense and sparse, every kind of attribute but the relational."""

from __future__ import annotations

import contextlib
import gc
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal

import numpy as np

from plurule.data.place import Place, shown
from plurule.data.readers.arff_cells import Cells
from plurule.data.readers.arff_dense import DenseReader, MixedRowsError
from plurule.data.readers.arff_header import Header, Kind, parse_header
from plurule.data.readers.arff_sparse import SparseReader
from plurule.data.readers.raw import RawTable
from plurule.data.readers.source import read_text
from plurule.data.table import Declared, Table

# Rows are read in blocks of about this many bytes: large enough for numpy, small enough that one odd row, which
# makes its block be read cell by cell, costs little.
_BLOCK = 1 << 18

_FIRST_ROW = re.compile(rb"(?:[ \t]*+(?:%[^\n]*+)?\n)*+[ \t]*+([^\n])")
_SPACES = re.compile(rb"[ \t]*+([,{}])[ \t]*+")


def read_arff(path: Path, *, text: Literal["drop", "keep"] = "drop") -> RawTable:
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


def _read(path: Path, text: Literal["drop", "keep"]) -> RawTable:
    place = Place(path.name)
    content = read_text(path)
    header = parse_header(content, place)
    kinds: tuple[Kind, ...] = ("numeric", "nominal", "string", "date")
    kept = header.columns_of(*(kinds if text == "keep" else kinds[:2])).tolist()
    first_row = _FIRST_ROW.match(content, header.data_offset)
    if first_row is None or first_row[1] != b"{":
        try:
            return _read_rows(content, header, DenseReader, kept, place)
        except MixedRowsError:
            pass
    return _read_rows(content, header, SparseReader, kept, place)


def _read_rows(
    content: bytes,
    header: Header,
    reader_type: type[DenseReader] | type[SparseReader],
    kept: list[int],
    place: Place,
) -> RawTable:
    cells = Cells(header)
    reader = reader_type(header, cells, kept, place)
    numbers: list[Sequence[int]] = []
    for block, block_lines in _blocks(content, header):
        lines: Sequence[int] = block_lines
        if not reader.add(block, len(lines)):
            block, lines = _tidy(block, lines)
            if lines and not reader.add(block, len(lines)):
                reader.add_slowly(block, lines)
        numbers.append(lines)
    attributes = _attributes(header, cells, kept)
    weights = None
    if reader.weights:
        weights = np.ones(reader.n_rows)
        weights[list(reader.weights)] = list(reader.weights.values())
    return RawTable(
        Table(attributes, reader.columns(), reader.n_rows),
        place,
        header.relation,
        numbers[0] if len(numbers) == 1 else list(chain.from_iterable(numbers)),
        weights,
        notes=header.notes + _text_notes(header, kept, place),
    )


def _attributes(header: Header, cells: Cells, kept: list[int]) -> Declared:
    by_domain = [domain.categories for domain in header.domains]
    categories = [by_domain[k] for k in header.which[kept].tolist()]
    names = header.names if len(kept) == len(header.names) else [header.names[i] for i in kept]
    if cells.texts:
        position = {column: i for i, column in enumerate(kept)}
        for column in cells.texts.keys() & position.keys():
            categories[position[column]] = tuple(cells.texts[column])
    return Declared(names, categories)


def _blocks(content: bytes, header: Header) -> Iterator[tuple[bytes, range]]:
    """The lines after the header in blocks, each line ended by a newline, with their numbers."""
    start, line = header.data_offset, header.data_line + 1
    while start < len(content):
        end = content.find(b"\n", start + _BLOCK) + 1 or len(content)
        block = content[start:end]
        if not block.endswith(b"\n"):
            block += b"\n"
        count = block.count(b"\n")
        yield block, range(line, line + count)
        start, line = end, line + count


def _tidy(block: bytes, lines: Sequence[int]) -> tuple[bytes, Sequence[int]]:
    """A block without blank lines, comments and, if nothing is quoted, spaces that mean nothing."""
    stripped = [row.strip() for row in block.split(b"\n")]
    kept = [(row, line) for row, line in zip(stripped, lines, strict=False) if row and row[:1] != b"%"]
    block = b"".join([row + b"\n" for row, _ in kept])
    if not any(mark in block for mark in (b"'", b'"', b"%")):
        block = _SPACES.sub(rb"\1", block)
    return block, [line for _, line in kept]


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
