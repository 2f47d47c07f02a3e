"""ARFF files: dense and sparse, every kind of attribute but the relational."""

from __future__ import annotations

import contextlib
import gc
import re
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from plurule.data.dataset import Dataset
from plurule.data.place import Place, Source, shown
from plurule.data.readers.arff_header import Header, Kind, parse_header
from plurule.data.readers.arff_rows import Rows
from plurule.data.readers.text import read_text
from plurule.data.table import Table
from plurule.model import Attribute

# Rows are read in blocks of about this many bytes: large enough for numpy, small enough that one odd row, which
# makes its block be read cell by cell, costs little.
_BLOCK = 1 << 18

_SPARSE_ROW = re.compile(r"\n[ \t]*+\{")


def read_arff(
    path: Path, *, text: Literal["drop", "keep"] = "drop", content: str | None = None
) -> tuple[Dataset, Source]:
    """Read all columns of an ARFF file; string and date attributes are dropped, with a note, or kept.

    Strings are then nominal attributes of the texts that occur, dates are numbers, seconds since 1970. `content` is
    what is read instead of the whole file: the header and some rows.
    """
    with _collection_paused():
        return _read(path, text, read_text(path) if content is None else content)


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


def _read(path: Path, text: Literal["drop", "keep"], content: str) -> tuple[Dataset, Source]:
    place = Place(path.name)
    header = parse_header(content, place)
    kinds: tuple[Kind, ...] = ("numeric", "nominal", "string", "date")
    kept = header.columns_of(*(kinds if text == "keep" else kinds[:2])).tolist()
    # Blocks are cut from bytes, which numpy reads.
    data, line = content[header.data_offset :].encode(), header.data_line + 1
    rows = Rows(header, kept, place, sparse=_SPARSE_ROW.search(content, header.data_offset - 1) is not None)
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + _BLOCK) + 1 or len(data)
        block = data[start:end]
        rows.add(block, line)
        start, line = end, line + block.count(b"\n")
    categories = [header.domains[which].categories for which in header.which.tolist()]
    for column, texts in rows.texts.items():
        categories[column] = tuple(texts)
    attributes = list(map(Attribute, *([values[column] for column in kept] for values in (header.names, categories))))
    found = Dataset.unlabelled(Table(attributes, rows.columns()), weights=rows.weights(), relation=header.relation)
    lines = array("q", rows.lines.tobytes())
    return found, Source(place, lines, notes=(*header.notes, *_text_notes(header, kept, place)))


def _text_notes(header: Header, kept: Sequence[int], place: Place) -> Iterator[str]:
    """A sentence for each kind of attribute that was dropped or changed."""
    changes: tuple[tuple[Kind, str], ...] = (("string", "nominal attributes"), ("date", "seconds since 1970"))
    for kind, change in changes:
        columns = header.columns_of(kind).tolist()
        if columns:
            some = ", ".join(shown(header.names[i]) for i in columns[:3]) + (" …" if len(columns) > 3 else "")
            fate = f"read as {change}" if columns[0] in kept else "dropped (text='keep' keeps them)"
            yield f"{place}: {len(columns)} {kind} attribute{'s' * (len(columns) > 1)} {fate}: {some}"
