"""Rows of an ARFF file that list only what differs from the default, `{3 1, 17 red}`, a block at a time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from plurule.io.arff_cells import Cells, is_sparse
from plurule.io.arff_groups import numeral_groups
from plurule.io.arff_header import Header
from plurule.io.arff_text import parse_number
from plurule.io.numerals import parse_decimals, parse_integers
from plurule.io.place import Place
from plurule.table import Column, SparseColumn

# What is left of well-formed rows when the digits are taken out, and what well-formed rows of words look like.
_SEPARATORS = re.compile(rb"(?:\{(?: ,)*+ \}\n|\{\}\n)*+")
_WORD = rb"[0-9]{1,9} [^\s,{}'\"]++"
_WORDS = re.compile(rb"(?:\{(?:" + _WORD + rb"(?:," + _WORD + rb")*+)?\}\n)*+")

_NUMERIC, _UNREADABLE = -1, -2


@dataclass(frozen=True, slots=True)
class _Entries:
    """Columns and values of the entries of some rows, and how many entries each row has."""

    columns: NDArray[np.int64]
    values: NDArray[np.float64]
    lengths: NDArray[np.int64]


class SparseReader:
    """Collects the entries of rows that list only some values."""

    def __init__(self, header: Header, cells: Cells, kept: Sequence[int], place: Place) -> None:
        self._header = header
        self._cells = cells
        self._kept = list(kept)
        self._place = place
        self._blocks: list[_Entries] = []
        self.n_rows = 0
        self.weights: dict[int, float] = {}
        width = len(header.names)
        self._groups = numeral_groups(header)
        self._group_of = np.full(width, _UNREADABLE, dtype=np.int64)
        self._group_of[[i for i, d in enumerate(header.domains) if d.kind == "numeric"]] = _NUMERIC
        # What the text "1" stands for in each column, NaN where it stands for nothing: most sparse data hold only ones.
        self._one = np.where(self._group_of == _NUMERIC, 1.0, np.nan)
        for number, group in enumerate(self._groups):
            if group.usable:
                self._group_of[group.columns] = number
            code = header.domains[group.columns[0]].spellings.get("1")
            self._one[group.columns] = np.nan if code is None else code
        for column, domain in enumerate(header.domains):
            if domain.kind == "string":
                # What a row does not mention is the first category, for a text the empty one.
                cells.texts.setdefault(column, {"": 0})

    def add(self, block: bytes, lines: Sequence[int]) -> None:
        """Read the rows of a block; `lines` are their numbers in the file."""
        entries = self._numerals(block)
        if entries is None:
            entries = self._words(block)
        if entries is None or not self._in_order(entries):
            entries = self._cell_by_cell(block, lines)
        self._blocks.append(entries)
        self.n_rows += len(lines)

    def columns(self) -> list[Column]:
        """The kept columns, all blocks together."""
        columns = np.concatenate([np.empty(0, np.int64)] + [b.columns for b in self._blocks])
        values = np.concatenate([np.empty(0)] + [b.values for b in self._blocks])
        lengths = np.concatenate([np.zeros(1, np.int64)] + [b.lengths for b in self._blocks])
        by_row = sp.csr_array(
            (values, columns.astype(np.int32), np.cumsum(lengths)), shape=(self.n_rows, len(self._header.names))
        )
        by_column = by_row.tocsc()
        by_column.eliminate_zeros()
        rows = by_column.indices.astype(np.int32, copy=False)
        numbers = by_column.data
        with np.errstate(invalid="ignore"):
            codes = numbers.astype(np.int32)
        bounds = by_column.indptr.tolist()
        domains = self._header.domains
        found: list[Column] = []
        for column in self._kept:
            start, end = bounds[column], bounds[column + 1]
            kind = domains[column].kind
            part = codes[start:end] if kind == "nominal" or kind == "string" else numbers[start:end]
            found.append(SparseColumn(rows[start:end], part, self.n_rows))
        return found

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

    def _numerals(self, block: bytes) -> _Entries | None:
        """All values are numbers, or categories that look like numbers, and nothing is spaced out."""
        separators = block.translate(None, b"0123456789.-?")
        if _SEPARATORS.fullmatch(separators) is None:
            return None
        # A row of k entries leaves 2k + 1 separators, an empty one 2.
        lengths = np.fromiter(map(len, separators.split(b"\n")), np.int64)[:-1]
        lengths = (lengths - 1) // 2
        count = int(lengths.sum())
        packed = block.replace(b"{}\n", b"").replace(b"}\n", b",").translate(None, b"{")
        if packed.count(b" 1,") == count:
            columns = parse_integers(packed.replace(b" 1,", b","), count)
            if columns is None or (count and (columns.min() < 0 or columns.max() >= len(self._one))):
                return None
            values = self._one[columns]
            return None if np.isnan(values).any() else _Entries(columns, values, lengths)
        numbers = parse_decimals(packed.replace(b" ", b","), 2 * count)
        if numbers is None:
            return None
        indices, values = numbers.values[0::2], numbers.values[1::2].copy()
        if not (numbers.canonical[0::2].all() and indices.min() >= 0 and indices.max() < len(self._one)):
            return None
        columns = indices.astype(np.int64)
        canonical = numbers.canonical[1::2]
        group_of = self._group_of[columns]
        for number in np.unique(group_of):
            if number == _UNREADABLE:
                return None
            if number != _NUMERIC:
                here = group_of == number
                codes = self._groups[number].codes(values[here], canonical[here])
                if codes is None:
                    return None
                values[here] = codes
        return _Entries(columns, values, lengths)

    def _words(self, block: bytes) -> _Entries | None:
        """No value is quoted, nothing is spaced out."""
        if _WORDS.fullmatch(block) is None:
            return None
        lines = block.decode("utf-8").split("\n")[:-1]
        lengths = np.fromiter((line.count(" ") for line in lines), np.int64)
        tokens = " ".join([line[1:-1].replace(",", " ") for line in lines if line != "{}"]).split(" ")
        readers = [d.spellings if d.kind == "nominal" else _NUMBERS for d in self._header.domains]
        for column, domain in enumerate(self._header.domains):
            if domain.kind in ("string", "date"):
                readers[column] = _NOTHING
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


_NUMBERS = _Numbers()
_NOTHING: dict[str, float] = {}
