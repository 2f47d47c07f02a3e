"""ARFF files: dense and sparse, every kind of attribute but the relational."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal

import numpy as np

from plurule.io.arff_cells import Cells
from plurule.io.arff_dense import DenseReader, MixedRowsError
from plurule.io.arff_header import Header, parse_header
from plurule.io.arff_sparse import SparseReader
from plurule.io.place import Place, shown
from plurule.io.raw import RawTable
from plurule.io.source import read_text
from plurule.model import Attribute
from plurule.table import Table

# Rows are read in blocks of about this many bytes: large enough for numpy, small enough that one odd row, which
# makes its block be read cell by cell, costs little.
_BLOCK = 1 << 20


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
    place = Place(path.name)
    content = read_text(path)
    header = parse_header(content, place)
    kept = [i for i, d in enumerate(header.domains) if text == "keep" or d.kind in ("numeric", "nominal")]
    blocks = list(_blocks(content, header))
    sparse = next((block.lstrip().startswith(b"{") for block, _ in blocks if block), False)
    if not sparse:
        try:
            return _read_blocks(blocks, header, DenseReader, kept, place)
        except MixedRowsError:
            pass
    return _read_blocks(blocks, header, SparseReader, kept, place)


def _read_blocks(
    blocks: Sequence[tuple[bytes, Sequence[int]]],
    header: Header,
    reader_type: type[DenseReader] | type[SparseReader],
    kept: Sequence[int],
    place: Place,
) -> RawTable:
    cells = Cells(header)
    reader = reader_type(header, cells, kept, place)
    for block, lines in blocks:
        reader.add(block, lines)
    attributes = [_attribute(header, cells, column) for column in kept]
    weights = None
    if reader.weights:
        weights = np.ones(reader.n_rows)
        weights[list(reader.weights)] = list(reader.weights.values())
    numbers = [lines for _, lines in blocks]
    return RawTable(
        Table(attributes, reader.columns(), reader.n_rows),
        place,
        header.relation,
        numbers[0] if len(numbers) == 1 else list(chain.from_iterable(numbers)),
        weights,
        header.notes + _text_notes(header, kept, place),
    )


def _attribute(header: Header, cells: Cells, column: int) -> Attribute:
    domain = header.domains[column]
    if domain.kind == "string":
        return Attribute(header.names[column], tuple(cells.texts.get(column, {})))
    return Attribute(header.names[column], domain.categories)


def _blocks(content: bytes, header: Header) -> Iterator[tuple[bytes, Sequence[int]]]:
    """The rows in blocks, each row ended by a newline, with the line numbers of the rows."""
    start, line = header.data_offset, header.data_line + 1
    while start < len(content):
        end = content.find(b"\n", start + _BLOCK) + 1 or len(content)
        block = content[start:end]
        if not block.endswith(b"\n"):
            block += b"\n"
        count = block.count(b"\n")
        numbers: Sequence[int] = range(line, line + count)
        if block.startswith(b"\n") or any(mark in block for mark in (b"\n\n", b"%", b" \n", b"\t\n")):
            block, numbers = _without_blank_lines(block, line)
        if numbers:
            yield block, numbers
        start, line = end, line + count


def _without_blank_lines(block: bytes, line: int) -> tuple[bytes, list[int]]:
    rows: list[bytes] = []
    numbers: list[int] = []
    for number, row in enumerate(block.split(b"\n")[:-1], line):
        stripped = row.strip()
        if stripped and not stripped.startswith(b"%"):
            rows.append(stripped)
            numbers.append(number)
    return b"".join(row + b"\n" for row in rows), numbers


def _text_notes(header: Header, kept: Sequence[int], place: Place) -> tuple[str, ...]:
    """A sentence for each kind of attribute that was dropped or changed."""
    notes: list[str] = []
    remaining = set(kept)
    for kind, change in (("string", "nominal attributes"), ("date", "seconds since 1970")):
        names = [header.names[i] for i, d in enumerate(header.domains) if d.kind == kind]
        if not names:
            continue
        some = ", ".join(shown(name) for name in names[:3]) + (" …" if len(names) > 3 else "")
        dropped = not any(d.kind == kind and i in remaining for i, d in enumerate(header.domains))
        fate = "dropped (text='keep' keeps them)" if dropped else f"read as {change}"
        notes.append(f"{place}: {len(names)} {kind} attribute{'s' if len(names) > 1 else ''} {fate}: {some}")
    return tuple(notes)
