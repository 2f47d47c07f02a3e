"""Rows of an ARFF file that list only what differs from the default, `{3 1, 17 red}`, a block at a time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from plurule.data.place import Place
from plurule.data.readers.arff_cells import Cells, is_sparse
from plurule.data.readers.arff_groups import numeral_groups
from plurule.data.readers.arff_header import Header
from plurule.data.readers.arff_text import parse_number
from plurule.data.readers.numerals import has_late_minus, is_canonical, parse_integers, with_decimals
from plurule.data.table import SparseColumns

# What is left of well-formed rows when the digits are taken out, and what well-formed rows of words look like.
_SEPARATORS = re.compile(rb"(?:\{(?: ,)*+ \}\n|\{\}\n)*+")
_WORD = rb"[0-9]{1,9} [^\s,{}'\"]++"
_WORDS = re.compile(rb"(?:\{(?:" + _WORD + rb"(?:," + _WORD + rb")*+)?\}\n)*+")

_AS_INTEGERS = bytes.maketrans(b" }?", b",,0")

_NUMERIC, _UNREADABLE = -1, -2


@dataclass(frozen=True, slots=True)
class _Entries:
    """Columns and values of the entries of some rows, and how many entries each row has."""

    columns: NDArray[np.int64]
    values: NDArray[np.float64]
    lengths: NDArray[np.int64]


class SparseReader:
    """Collects the entries of rows that list only some values."""

    def __init__(self, header: Header, cells: Cells, kept: list[int], place: Place) -> None:
        self._header = header
        self._cells = cells
        self._kept = kept
        self._place = place
        self._blocks: list[_Entries] = []
        self.n_rows = 0
        self.weights: dict[int, float] = {}
        width = len(header.names)
        self._groups = numeral_groups(header)
        self._group_of = np.full(width, _UNREADABLE, dtype=np.int64)
        self._group_of[header.columns_of("numeric")] = _NUMERIC
        # What the text "1" stands for in each column, NaN where for nothing: most sparse data hold only ones.
        self._one = np.where(self._group_of == _NUMERIC, 1.0, np.nan)
        for number, group in enumerate(self._groups):
            if group.usable:
                self._group_of[group.columns] = number
            self._one[group.columns] = group.domain.spellings.get("1", np.nan)
        for texts in cells.texts.values():
            # What a row does not mention is the first category, for a text the empty one.
            texts.setdefault("", 0)

    def add(self, block: bytes, n_rows: int) -> bool:
        """Read a block of rows, each ended by a newline, if it is regular enough; else leave it."""
        entries = self._ones(block)
        if entries is None:
            entries = self._numerals(block)
        if entries is None:
            entries = self._words(block)
        if entries is None or not self._in_order(entries):
            return False
        self._blocks.append(entries)
        self.n_rows += n_rows
        return True

    def add_slowly(self, block: bytes, lines: Sequence[int]) -> None:
        """Read a block cell by cell, or say what is wrong with it; `lines` are its lines in the file."""
        self._blocks.append(self._cell_by_cell(block, lines))
        self.n_rows += len(lines)

    def columns(self) -> SparseColumns:
        """The kept columns, all blocks together."""
        columns = np.concatenate([np.empty(0, np.int64)] + [b.columns for b in self._blocks])
        values = np.concatenate([np.empty(0)] + [b.values for b in self._blocks])
        lengths = np.concatenate([np.zeros(1, np.int64)] + [b.lengths for b in self._blocks])
        by_row = sp.csr_array(
            (values, columns.astype(np.int32), np.cumsum(lengths)), shape=(self.n_rows, len(self._header.names))
        )
        by_column = by_row.tocsc()
        by_column.eliminate_zeros()
        coded = np.zeros(len(self._header.names), dtype=np.bool_)
        coded[self._header.columns_of("nominal", "string")] = True
        return SparseColumns(by_column, coded, np.array(self._kept, dtype=np.intp))

    def _in_order(self, entries: _Entries) -> bool:
        """Whether the columns exist and ascend within each row."""
        columns = entries.columns
        if len(columns) == 0:
            return True
        if columns.max() >= len(self._header.names):
            return False
        falls = np.diff(columns) <= 0
        ends = np.cumsum(entries.lengths)
        ends = ends[(ends > 0) & (ends < len(columns))]
        falls[ends - 1] = False
        return not falls.any()

    def _ones(self, block: bytes) -> _Entries | None:
        """Every entry says `1`, as in most sparse data."""
        if b"." in block:
            return None
        separators = block.translate(None, b"0123456789")
        if _SEPARATORS.fullmatch(separators) is None:
            return None
        # A row of k entries leaves 2k + 1 separators, an empty one 2.
        lengths = (np.fromiter(map(len, separators.split(b"\n")), np.int64)[:-1] - 1) // 2
        count = int(lengths.sum())
        indices = block.replace(b" 1,", b",").replace(b" 1}\n", b",").replace(b"{}\n", b"").translate(None, b"{")
        if b" " in indices:
            return None
        columns = parse_integers(indices, count)
        if columns is None or (count and columns.max() >= len(self._one)):
            return None
        values = self._one[columns]
        return None if np.isnan(values).any() else _Entries(columns, values, lengths)

    def _numerals(self, block: bytes) -> _Entries | None:
        """All values are numbers, or categories that look like numbers, and nothing is spaced out."""
        characters = np.frombuffer(block, dtype=np.uint8)
        marks = np.flatnonzero(characters - np.uint8(ord("0")) > 9)
        kinds = characters[marks]
        for sign in b"-?":
            if sign in block:
                marks, kinds = marks[kinds != sign], kinds[kinds != sign]
        is_point = kinds == ord(".")
        others = np.flatnonzero(~is_point)
        separators, places = kinds[others], marks[others]
        if _SEPARATORS.fullmatch(separators.tobytes()) is None or has_late_minus(block):
            return None
        # A value stands between a space and the separator after it.
        is_space = separators == ord(" ")
        spaces = np.flatnonzero(is_space)
        starts, ends = places[spaces], places[spaces + 1]
        points = np.flatnonzero(is_point)
        # The marks before a point are the points before it, and the separators before it.
        before = points - np.arange(len(points))
        if not is_space[before - 1].all() or is_point[points + 1].any():
            # A point in an index, or a second one in a value.
            return None
        pointed = np.cumsum(is_space)[before] - 1
        lengths = (np.diff(np.flatnonzero(separators == ord("\n")), prepend=-1) - 2) // 2
        occupied = block if lengths.all() else block.replace(b"{}\n", b"")
        integers = parse_integers(occupied.translate(_AS_INTEGERS, b"{\n."), 2 * len(ends))
        if integers is None:
            return None
        decimals = ends[pointed] - marks[points] - 1
        values = with_decimals(integers[1::2], pointed, decimals, lambda i: block[starts[i] + 1 : ends[i]])
        if values is None:
            return None
        if b"?" in block:
            unknown = np.flatnonzero(characters == ord("?"))
            missing = np.searchsorted(ends, unknown)
            if (starts[missing] + 1 != unknown).any() or (ends[missing] - 1 != unknown).any():
                return None
            values[missing] = np.nan
        return self._with_codes(_Entries(integers[0::2], values, lengths), ends - starts - 1)

    def _with_codes(self, entries: _Entries, text_lengths: NDArray[np.int64]) -> _Entries | None:
        """The same entries with codes for the categories that were read as numbers."""
        columns, values = entries.columns, entries.values
        if len(columns) and (columns.min() < 0 or columns.max() >= len(self._one)):
            return None
        group_of = self._group_of[columns]
        for number in np.flatnonzero(np.bincount(group_of - _UNREADABLE)) + _UNREADABLE:
            if number == _UNREADABLE:
                return None
            if number != _NUMERIC:
                here = np.flatnonzero(group_of == number)
                found = values[here]
                codes = self._groups[number].codes(found, is_canonical(found, text_lengths[here]))
                if codes is None:
                    return None
                values[here] = codes
        return entries

    def _words(self, block: bytes) -> _Entries | None:
        """No value is quoted, nothing is spaced out."""
        if _WORDS.fullmatch(block) is None:
            return None
        lines = block.decode("utf-8").split("\n")[:-1]
        lengths = np.fromiter((line.count(" ") for line in lines), np.int64)
        tokens = " ".join([line[1:-1].replace(",", " ") for line in lines if line != "{}"]).split(" ")
        by_domain = [_READERS.get(d.kind, d.spellings) for d in self._header.domains]
        readers = [by_domain[i] for i in self._header.which]
        columns = [int(token) for token in tokens[0::2]]
        try:
            values = [readers[column][token] for column, token in zip(columns, tokens[1::2], strict=True)]
        except (KeyError, IndexError):
            return None
        return _Entries(np.array(columns, dtype=np.int64), np.array(values, dtype=np.float64), lengths)

    def _cell_by_cell(self, block: bytes, lines: Sequence[int]) -> _Entries:
        columns: list[int] = []
        values: list[float] = []
        lengths: list[int] = []
        for line, number in zip(block.decode("utf-8").split("\n"), lines, strict=False):
            here = self._place.at(number)
            if is_sparse(line):
                entries, weight = self._cells.sparse_row(line, here)
            else:
                row, weight = self._cells.dense_row(line, here)
                entries = [(column, value) for column, value in enumerate(row) if value != 0]
            if weight is not None:
                self.weights[self.n_rows + len(lengths)] = weight
            columns.extend(column for column, _ in entries)
            values.extend(value for _, value in entries)
            lengths.append(len(entries))
        return _Entries(np.array(columns, np.int64), np.array(values, np.float64), np.array(lengths, np.int64))


class _Numbers(dict[str, float]):
    """Reads any number, as a mapping from its text."""

    def __missing__(self, token: str) -> float:
        if token == "?":
            return np.nan
        number = parse_number(token)
        if number is None or not np.isfinite(number):
            raise KeyError(token)
        return number


_READERS: dict[str, dict[str, float]] = {"numeric": _Numbers(), "string": {}, "date": {}}
