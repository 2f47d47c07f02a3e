"""Rows of an ARFF file that list every value, read a block at a time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule.data.place import Place
from plurule.data.readers.arff_cells import Cells, is_sparse
from plurule.data.readers.arff_groups import NumeralGroup, numeral_groups
from plurule.data.readers.arff_header import Header
from plurule.data.readers.arff_text import parse_number
from plurule.data.readers.numerals import parse_decimals

_DTYPES: dict[str, Any] = {"numeric": np.float64, "date": np.float64, "nominal": np.int32, "string": np.int32}


_SMALL = 1 << 13


class MixedRowsError(Exception):
    """A row `{…}` in a file whose first row lists every value."""


class DenseReader:
    """Collects the columns of rows that list every value."""

    def __init__(self, header: Header, cells: Cells, kept: list[int], place: Place) -> None:
        self._header = header
        self._cells = cells
        self._kept = kept
        self._place = place
        self._blocks: list[list[NDArray[Any]]] = []
        self.n_rows = 0
        self.weights: dict[int, float] = {}

    @cached_property
    def _groups(self) -> list[NumeralGroup] | None:
        """The nominal columns if all columns can be read as numbers, else None."""
        if any(domain.kind in ("string", "date") for domain in self._header.domains):
            return None
        groups = numeral_groups(self._header)
        return groups if all(group.usable for group in groups) else None

    def add(self, block: bytes, n_rows: int) -> bool:
        """Read a block of rows, each ended by a newline, if it is regular enough; else leave it."""
        # The passes over a block of numbers pay off only if it is not small.
        columns = self._numerals(block, n_rows) if len(block) > _SMALL else None
        if columns is None:
            columns = self._tokens(block)
        if columns is None:
            return False
        self._blocks.append(columns)
        self.n_rows += n_rows
        return True

    def add_slowly(self, block: bytes, lines: Sequence[int]) -> None:
        """Read a block cell by cell, or say what is wrong with it; `lines` are its lines in the file."""
        columns = self._cell_by_cell(block, lines)
        self._blocks.append(columns)
        self.n_rows += len(lines)

    def columns(self) -> list[NDArray[Any]]:
        """The kept columns, all blocks together."""
        if len(self._blocks) == 1:
            return self._blocks[0]
        dtypes = [_DTYPES[self._header.domain(c).kind] for c in self._kept]
        return [
            np.concatenate([np.empty(0, dtype)] + [block[i] for block in self._blocks]).astype(dtype, copy=False)
            for i, dtype in enumerate(dtypes)
        ]

    def _numerals(self, block: bytes, n_rows: int) -> list[NDArray[Any]] | None:
        """All values are numbers, or categories that look like numbers."""
        width = len(self._header.names)
        if self._groups is None:
            return None
        if any(line.count(b",") != width - 1 for line in block.split(b"\n")[:-1]):
            return None
        numbers = parse_decimals(block, n_rows * width)
        if numbers is None:
            return None
        by_column = np.ascontiguousarray(numbers.values.reshape(n_rows, width).T)
        found: dict[int, NDArray[Any]] = {}
        for group in self._groups:
            positions = (np.arange(n_rows)[:, None] * width + group.columns).ravel()
            codes = group.codes(numbers.values[positions], numbers.canonical(positions))
            if codes is None:
                return None
            codes = codes.reshape(n_rows, len(group.columns))
            found.update(zip(group.columns.tolist(), np.ascontiguousarray(codes.T), strict=True))
        return [found[c] if c in found else by_column[c] for c in self._kept]

    def _tokens(self, block: bytes) -> list[NDArray[Any]] | None:
        """No value holds a comma, and every category is spelled as in the header."""
        width = len(self._header.names)
        if block.startswith(b"{") or b"\n{" in block:
            return None
        text = block.decode("utf-8")
        if any(line.count(",") != width - 1 for line in text.split("\n")[:-1]):
            return None
        tokens = text[:-1].replace("\n", ",").split(",")
        plain = "_" not in text and text.isascii()
        quoted = "'" in text or '"' in text
        columns: list[NDArray[Any]] = []
        for column in self._kept:
            domain = self._header.domain(column)
            part = tokens[column::width]
            try:
                if domain.kind == "nominal":
                    columns.append(np.array(list(map(domain.spellings.__getitem__, part)), dtype=np.int32))
                elif domain.kind == "numeric":
                    columns.append(_floats(part, plain))
                elif domain.kind == "string" and not quoted and "" not in part:
                    cells = [self._cells.value(column, token.strip(), self._place) for token in part]
                    columns.append(np.array(cells, dtype=np.int32))
                else:
                    return None
            except (KeyError, ValueError):
                return None
        return columns

    def _cell_by_cell(self, block: bytes, lines: Sequence[int]) -> list[NDArray[Any]]:
        rows: list[list[float]] = []
        for line, number in zip(block.decode("utf-8").split("\n"), lines, strict=False):
            if is_sparse(line):
                raise MixedRowsError
            values, weight = self._cells.dense_row(line, self._place.at(number))
            if weight is not None:
                self.weights[self.n_rows + len(rows)] = weight
            rows.append(values)
        matrix = np.array(rows, dtype=np.float64).reshape(len(rows), len(self._header.names))
        return [np.ascontiguousarray(matrix[:, c], dtype=_DTYPES[self._header.domain(c).kind]) for c in self._kept]


def _floats(tokens: list[str], plain: bool) -> NDArray[np.float64]:
    """Tokens as numbers; ValueError if one is not."""
    if not plain:
        numbers = [np.nan if t == "?" else parse_number(t.strip()) for t in tokens]
        if None in numbers:
            raise ValueError
        values = np.array(numbers, dtype=np.float64)
    else:
        try:
            values = np.array(list(map(float, tokens)))
        except ValueError:
            values = np.array([np.nan if t == "?" else float(t) for t in tokens])
    # `float` also reads "inf" and "nan", which only the reader of single cells judges.
    if not np.isfinite(values).all() and sum(t == "?" for t in tokens) != np.count_nonzero(~np.isfinite(values)):
        raise ValueError
    return values
