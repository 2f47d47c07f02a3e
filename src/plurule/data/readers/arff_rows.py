"""Rows of an ARFF file, a block at a time: the regular ones all at once, every other one by the complete reader.

A row is regular if each of its cells is a number, `?`, or a category just as the header spells it, with nothing between
them that need not be there. There is nothing to argue about in such rows; all others are left to `Cells`, which
understands them or says what is wrong with them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from plurule.data.place import Place
from plurule.data.readers.arff_cells import Cells, is_sparse
from plurule.data.readers.arff_header import Domain, Header
from plurule.data.readers.arff_text import parse_number
from plurule.data.readers.numerals import Tokens, parse_decimals, parse_integers
from plurule.data.table import Column, SparseColumns

# A sparse row, and what is left of sparse rows when all but braces, spaces, commas and newlines is taken out.
_ENTRY = rb"[^\s,{}]++ [^\s,{}]++"
_ROW = re.compile(rb"\{(?:" + _ENTRY + rb"(?:," + _ENTRY + rb")*+)?\}")
_SEPARATORS = re.compile(rb"(?:\{(?: ,)*+ \}\n|\{\}\n)*+")
_NUMERALS = b"0123456789.-?"
_ALL_ELSE = bytes(set(range(256)) - set(b"{} ,\n"))
_AS_TOKENS = bytes.maketrans(b" }", b",,")
_SMALLEST = np.array([0, 0, *(10**digits for digits in range(1, 10))], dtype=np.float64)
"""The smallest whole number of so many digits."""
_MANY = 10
_MISSING = 10
"""Where the table of digits has what `?` stands for."""


class MixedRowsError(Exception):
    """A row `{…}` in a file whose first row lists every value."""


class Rows:
    """What is read of the rows of a file; subclasses know how rows are written."""

    def __init__(self, header: Header, cells: Cells, kept: Sequence[int], place: Place) -> None:
        self._header = header
        self._cells = cells
        self._kept = kept
        self._place = place
        self._width = len(header.names)
        self._no_numbers = np.array([domain.kind != "numeric" for domain in header.domains], dtype=np.bool_)
        self._digits = np.array([_digits(domain) for domain in header.domains])
        self._lookups = [_lookup(domain) for domain in header.domains]
        self._lines: list[Sequence[int]] = []
        self.n_rows = 0
        self.weights: dict[int, float] = {}

    @property
    def lines(self) -> Sequence[int]:
        """The line of each row."""
        return self._lines[0] if len(self._lines) == 1 else list(chain.from_iterable(self._lines))

    def columns(self) -> Sequence[Column]:
        """The kept columns of all rows."""
        raise NotImplementedError

    def add(self, block: bytes, first_line: int) -> None:
        """Read some lines, each ended by a newline."""
        raise NotImplementedError

    def _encode(self, tokens: Tokens, cells: NDArray[np.intp], domains: NDArray[np.intp]) -> None:
        """Put codes in place of the numbers that those of some tokens look like which are none."""
        coded = self._no_numbers[domains]
        cells, domains = cells[coded], domains[coded]
        short = tokens.plain[cells] & (tokens.lengths[cells] == 1)
        digits = np.nan_to_num(tokens.values[cells[short]], nan=_MISSING).astype(np.intp)
        tokens.plain[cells] = False
        codes = self._digits[domains[short], digits]
        tokens.values[cells[short]] = codes
        tokens.plain[cells[short]] = ~np.isnan(codes)

    def _look_up(self, tokens: Tokens, cells: NDArray[np.intp], domains: NDArray[np.intp]) -> None:
        """Read tokens that are not plain decimals: categories as they are spelled, numbers with exponents."""
        if not len(cells):
            return
        # Single tokens are cut out where few are wanted, all at once where many are.
        text: Any = tokens if _MANY * len(cells) < len(tokens.values) else tokens.split()
        lookups = self._lookups
        found = [lookups[d](text[i]) for i, d in zip(cells.tolist(), domains.tolist(), strict=True)]
        tokens.values[cells] = np.array(found, dtype=np.float64)
        tokens.plain[cells] = ~np.isnan(tokens.values[cells])

    def _note(self, order: Sequence[int], first_line: int, weights: dict[int, float]) -> None:
        """Note which lines of a block are rows, and their weights by line."""
        for row, i in enumerate(order if weights else ()):
            if i in weights:
                self.weights[self.n_rows + row] = weights[i]
        regular = isinstance(order, range)
        self._lines.append(range(first_line, first_line + len(order)) if regular else [first_line + i for i in order])
        self.n_rows += len(order)


class DenseRows(Rows):
    """Rows that list every value: `1,2.5,red`."""

    def __init__(self, header: Header, cells: Cells, kept: Sequence[int], place: Place) -> None:
        super().__init__(header, cells, kept, place)
        self._blocks: list[NDArray[np.float64]] = []
        self._coded = np.flatnonzero(self._no_numbers[header.which])
        worded = np.array([any(len(s) > 1 or not s.isdigit() for s in d.spellings if s != "?") for d in header.domains])
        self._worded = np.flatnonzero(worded[header.which])
        self._others = np.flatnonzero(~worded[header.which])
        texts = header.columns_of("string", "date")
        # A text that is dropped may hold what elsewhere splits or ends a row; one that is kept is read with care.
        self._irregular = re.compile(rb"\{" if not len(texts) else rb".*[{'\"%]" if texts[0] not in kept else rb"")

    def add(self, block: bytes, first_line: int) -> None:
        lines = block.split(b"\n")[:-1]
        commas, irregular = self._width - 1, self._irregular.match
        at = np.flatnonzero([line.count(b",") == commas and not irregular(line) for line in lines])
        text = block if len(at) == len(lines) else b"".join([lines[i] + b"\n" for i in at.tolist()])
        matrix, good = self._read(text, len(at))
        if len(at) == len(lines) and good.all():
            self._blocks.append(matrix)
            self._note(range(len(lines)), first_line, {})
            return
        rows: dict[int, Any] = dict(zip(at[good].tolist(), matrix[good], strict=True))
        weights: dict[int, float] = {}
        for i in np.setdiff1d(np.arange(len(lines)), at[good]).tolist():
            line = lines[i].decode("utf-8").strip()
            if line and line[0] != "%":
                if is_sparse(line):
                    raise MixedRowsError
                rows[i], weight = self._cells.dense_row(line, self._place.at(first_line + i))
                if weight is not None:
                    weights[i] = weight
        order = sorted(rows)
        self._blocks.append(np.array([rows[i] for i in order], dtype=np.float64).reshape(len(order), self._width))
        self._note(order, first_line, weights)

    def columns(self) -> Sequence[Column]:
        matrix = (
            self._blocks[0] if len(self._blocks) == 1 else np.concatenate([np.empty((0, self._width)), *self._blocks])
        )
        by_column = np.ascontiguousarray(matrix.T)
        is_coded = np.zeros(self._width, dtype=np.bool_)
        is_coded[self._header.columns_of("nominal", "string")] = True
        return [by_column[c].astype(np.int32) if is_coded[c] else by_column[c] for c in self._kept]

    def _read(self, text: bytes, n_rows: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The values of rows with the right number of commas, and which rows are regular."""
        if n_rows == 0:
            return np.empty((0, self._width)), np.ones(0, dtype=np.bool_)
        if len(self._worded) * _MANY > self._width:
            return self._read_words(text.decode("utf-8")[:-1].replace("\n", ",").split(","), n_rows)
        tokens, width, which = parse_decimals(text), self._width, self._header.which
        if len(self._coded):
            cells = (np.arange(n_rows)[:, None] * width + self._coded).ravel()
            self._encode(tokens, cells, np.tile(which[self._coded], n_rows))
        left = np.flatnonzero(~tokens.plain)
        self._look_up(tokens, left, which[left % width])
        good = tokens.plain.reshape(n_rows, width)
        return tokens.values.reshape(n_rows, width), np.logical_and.reduce(good[:, self._kept], axis=1)

    def _read_words(self, words: list[str], n_rows: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The same for cells of which many are words: these are looked up column by column, then the others read."""
        matrix, good = np.empty((n_rows, self._width)), np.ones((n_rows, self._width), dtype=np.bool_)
        for column in self._worded.tolist():
            lookup = self._lookups[self._header.which[column]]
            matrix[:, column] = np.array(list(map(lookup, words[column :: self._width])), dtype=np.float64)
        good[:, self._worded] = ~np.isnan(matrix[:, self._worded])
        others = self._others.tolist()
        tokens = parse_decimals("".join([f"{','.join(words[c :: self._width])}," for c in others]).encode())
        domains = np.repeat(self._header.which[self._others], n_rows)
        self._encode(tokens, np.arange(len(domains)), domains)
        left = np.flatnonzero(~tokens.plain)
        self._look_up(tokens, left, domains[left])
        matrix[:, self._others] = tokens.values.reshape(-1, n_rows).T
        good[:, self._others] = tokens.plain.reshape(-1, n_rows).T
        return matrix, np.logical_and.reduce(good[:, self._kept], axis=1)


class SparseRows(Rows):
    """Rows that list only what differs from the default, `{3 1,17 red}`; dense ones among them are understood."""

    def __init__(self, header: Header, cells: Cells, kept: Sequence[int], place: Place) -> None:
        super().__init__(header, cells, kept, place)
        # Columns and values of the entries of a block, and how many entries each of its rows has.
        self._blocks: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]] = []
        self._one = self._digits[header.which, 1]
        for texts in cells.texts.values():
            # What a row does not mention is the first category, for a text the empty one.
            texts.setdefault("", 0)

    def add(self, block: bytes, first_line: int) -> None:
        lines: list[bytes] = []
        text, separators = block, block.translate(None, _NUMERALS)
        n_lines = separators.count(b"\n")
        at = np.arange(n_lines)
        # Numerals outside of the braces would not be missed by the separators.
        closed = block[:1] == b"{" and block[-2:] == b"}\n" and block.count(b"}\n{") == n_lines - 1
        if not closed or _SEPARATORS.fullmatch(separators) is None:
            lines = block.split(b"\n")[:-1]
            at = np.array([i for i, line in enumerate(lines) if _ROW.fullmatch(line)], dtype=np.intp)
            text = b"".join([lines[i] + b"\n" for i in at.tolist()])
            separators = text.translate(None, _ALL_ELSE)
        # A row of k entries leaves 2k + 1 separators, an empty one 2.
        lengths = (np.fromiter(map(len, separators.split(b"\n")), np.int64)[:-1] - 1) // 2
        columns, values, good = self._read(text, lengths)
        if len(at) == n_lines and good.all():
            self._blocks.append((columns, values, lengths))
            self._note(range(n_lines), first_line, {})
            return
        lines = lines or block.split(b"\n")[:-1]
        ends = np.cumsum(lengths)
        rows = {int(at[i]): (columns[e - n : e], values[e - n : e]) for i, e, n in zip(
            np.flatnonzero(good), ends[good].tolist(), lengths[good].tolist(), strict=True)}  # fmt: skip
        weights: dict[int, float] = {}
        for i in np.setdiff1d(np.arange(n_lines), at[good]).tolist():
            line = lines[i].decode("utf-8").strip()
            if line and line[0] != "%":
                rows[i], weight = self._entries(line, self._place.at(first_line + i))
                if weight is not None:
                    weights[i] = weight
        order = sorted(rows)
        entries = [np.concatenate([np.empty(0), *(rows[i][part] for i in order)]) for part in (0, 1)]
        counts = np.array([len(rows[i][0]) for i in order], dtype=np.int64)
        self._blocks.append((entries[0].astype(np.int64), entries[1], counts))
        self._note(order, first_line, weights)

    def columns(self) -> Sequence[Column]:
        blocks = [(np.empty(0, np.int64), np.empty(0), np.zeros(1, np.int64)), *self._blocks]
        columns, values, lengths = (np.concatenate([block[part] for block in blocks]) for part in range(3))
        shape = self.n_rows, self._width
        matrix = sp.csr_array((values, columns.astype(np.int32), np.cumsum(lengths)), shape=shape).tocsc()
        matrix.eliminate_zeros()
        coded = np.zeros(self._width, dtype=np.bool_)
        coded[self._header.columns_of("nominal", "string")] = True
        return SparseColumns(matrix, coded, np.array(self._kept, dtype=np.intp))

    def _read(self, text: bytes, lengths: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
        """Columns and values of the entries of well-formed rows, and which rows are regular."""
        if not lengths.all():
            text = text.replace(b"{}\n", b"")
        count = int(lengths.sum())
        # Most sparse data hold only ones, which need not be parsed.
        columns = None
        if b"." not in text:
            ones = text.replace(b" 1,", b",").replace(b" 1}\n", b",").translate(_AS_TOKENS, b"{\n")
            columns = parse_integers(ones, count)
        if columns is not None and columns.max(initial=0) < self._width:
            values = self._one[columns]
            good = ~np.isnan(values)
        else:
            columns, values, good = self._pairs(parse_decimals(text.translate(_AS_TOKENS, b"{\n")))
        falls = columns[1:] <= columns[:-1]
        ends = np.cumsum(lengths)
        falls[ends[(ends > 0) & (ends < count)] - 1] = False
        good[1:] &= ~falls
        regular = np.ones(len(lengths), dtype=np.bool_)
        if not good.all():
            regular[np.repeat(np.arange(len(lengths)), lengths)[~good]] = False
        return columns, values, regular

    def _pairs(self, tokens: Tokens) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
        """Columns and values of entries whose tokens take turns, and which entries are regular."""
        indices = tokens.values[::2]
        # The shortest text of a whole number is meant: `1.` and `01` are longer than a number so small needs.
        good = (indices >= _SMALLEST[np.minimum(tokens.lengths[::2], 10)]) & (indices < self._width)
        columns = np.where(good, indices, 0).astype(np.int64)
        domains = self._header.which[columns]
        cells = np.arange(1, 2 * len(columns), 2)
        self._encode(tokens, cells, domains)
        left = np.flatnonzero(~tokens.plain[1::2])
        self._look_up(tokens, cells[left], domains[left])
        return columns, tokens.values[1::2], good & tokens.plain[1::2]

    def _entries(self, line: str, here: Place) -> tuple[tuple[NDArray[Any], NDArray[Any]], float | None]:
        """Columns and values of a row of any kind, and its weight."""
        if is_sparse(line):
            entries, weight = self._cells.sparse_row(line, here)
        else:
            row, weight = self._cells.dense_row(line, here)
            entries = [(column, value) for column, value in enumerate(row) if value != 0]
        found = np.array(entries, dtype=np.float64).reshape(-1, 2)
        return (found[:, 0], found[:, 1]), weight


def _digits(domain: Domain) -> list[float]:
    """What each digit alone stands for, and what `?` does; NaN where that is nothing."""
    if domain.kind == "numeric":
        return [*range(10), np.nan]
    return [domain.spellings.get(token, np.nan) for token in (*map(str, range(10)), "?")]


def _lookup(domain: Domain) -> Callable[[str], float | None]:
    """Reads a token of a regular row; None if the row is none."""
    return domain.spellings.get if domain.kind != "numeric" else _number


def _number(token: str) -> float | None:
    number = parse_number(token)
    return number if number is not None and np.isfinite(number) else None
