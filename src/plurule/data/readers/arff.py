"""ARFF files: dense and sparse, every kind of attribute but the relational.

Most rows are regular: each token is a number, `?`, or a category just as the header spells it, with nothing between
them that need not be there. The regular rows of a block are read all at once by numpy. All others are read token by
token, by functions that understand them or say what is wrong with them.
"""

from __future__ import annotations

import contextlib
import gc
import math
import re
from array import array
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from plurule.data.dataset import Dataset
from plurule.data.place import Place, Source, shown
from plurule.data.readers.arff_header import QUOTED, Header, Kind, parse_header, parse_number, unquote
from plurule.data.readers.text import read_text
from plurule.data.table import Column, SparseColumns, Table
from plurule.errors import nearest
from plurule.model import Attribute

# Rows are read in blocks of about this many bytes: large enough for numpy, small enough that one odd row, which
# makes its block be read cell by cell, costs little.
_BLOCK = 1 << 18

_SPARSE_ROW = re.compile(r"\n[ \t]*+\{")
# Possessive throughout: no input, however odd, makes these look at a character twice.
_FIELD = re.compile(rf"[ \t]*+(?:({QUOTED})[ \t]*+(?=[,%]|$)|([^,]*+))(,?)")
_ENTRY = re.compile(rf"[ \t]*+([^\s,}}]*+)[ \t]*+(?:({QUOTED})[ \t]*+(?=[,}}])|([^,}}]*+))([,}}])")
_COMMENT = re.compile(r"(?:^|[ \t])%")
_ALL_ELSE = bytes(set(range(256)) - set(b"{} ,\n"))
_AS_TOKENS = bytes.maketrans(b" }", b",,")
_SMALLEST = np.array([0, 0, *(10**digits for digits in range(1, 10))], dtype=np.float64)
"""The smallest whole number of so many digits."""
_UNKNOWN = -2
"""The code of a character that alone is no category."""
_MOST_DIGITS = 15
_POWERS = 10.0 ** np.arange(_MOST_DIGITS + 1)


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


@_collection_paused()
def read_arff(
    path: Path, *, text: Literal["drop", "keep"] = "drop", content: str | None = None
) -> tuple[Dataset, Source]:
    """Read all columns of an ARFF file; string and date attributes are dropped, with a note, or kept.

    Strings are then nominal attributes of the texts that occur, dates are numbers, seconds since 1970. `content` is
    what is read instead of the whole file: the header and some rows.
    """
    content = read_text(path) if content is None else content
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


class Rows:
    """What is read of the rows of a file: the kept columns.

    If any row is `sparse`, what it does not mention is 0, the first category or an empty text.
    """

    def __init__(self, header: Header, kept: Sequence[int], place: Place, sparse: bool) -> None:
        self._header, self._kept, self._place, self._sparse = header, kept, place, sparse
        self._width = len(header.names)
        self._is_kept = np.zeros(self._width, dtype=np.bool_)
        self._is_kept[kept] = True
        self._is_number = np.array([domain.kind == "numeric" for domain in header.domains], dtype=np.bool_)
        texts = header.columns_of("string", "date")
        # A text that is dropped may hold what elsewhere splits or ends a row; one that is kept is read with care.
        self._irregular = re.compile(b"(?!)" if not len(texts) else b"" if texts[0] in kept else b".*[{'\"%]").match
        # Per domain and character: the code of the category that is spelled so.
        self._characters = np.full((len(header.domains), 128), _UNKNOWN, dtype=np.int32)
        for domain, codes in zip(header.domains, self._characters, strict=True):
            for spelled in (s for s in domain.spellings if len(s) == 1 and s.isascii()):
                codes[ord(spelled)] = domain.spellings[spelled]
        self._spelled = [
            _number if d.kind == "numeric" else {text.encode(): code for text, code in d.spellings.items()}.get
            for d in header.domains
        ]
        # Lines of rows, how many entries each of them has, and columns and values of the entries.
        nothing = np.empty(0, np.int64)
        self._found: list[tuple[Any, Any, Any, Any]] = [(nothing, nothing, nothing, np.empty(0))]
        self._weights: dict[int, float] = {}
        self.texts = {c: {"": 0} if sparse else dict[str, int]() for c in header.columns_of("string").tolist()}
        """Per string attribute: the code of each text met so far."""

    def add(self, block: bytes, first_line: int) -> None:
        """Read some lines."""
        lines = block.split(b"\n")
        if self._sparse:
            # A row of k entries has 2k + 1 separators, an empty one 2.
            separators, usual = block.translate(None, _ALL_ELSE).split(b"\n"), b"{" + b" ," * self._width
            at = [
                i
                for i, (line, marks) in enumerate(zip(lines, separators, strict=True))
                if line == b"{}"
                or (line[:1] + line[-1:] == b"{}" and len(marks) % 2 and marks[:-1] == usual[: len(marks) - 1])
            ]
            lengths = np.array([(len(separators[i]) - 1) // 2 for i in at], dtype=np.int64)
            text = b"".join([lines[i] for i in at]).replace(b"{}", b"").translate(_AS_TOKENS, b"{")
        else:
            commas, irregular = self._width - 1, self._irregular
            at = [i for i, line in enumerate(lines) if line.count(b",") == commas and not irregular(line)]
            lengths = np.full(len(at), self._width)
            text = b"".join([lines[i] + b"," for i in at])
        left = np.ones(len(lines), dtype=np.bool_)
        left[self._read_regular(text, np.array(at, dtype=np.int64) + first_line, lengths) - first_line] = False
        for i in np.flatnonzero(left).tolist():
            line = lines[i].decode("utf-8").strip()
            if line and line[0] != "%":
                self._read_row(line, first_line + i)

    @cached_property
    def lines(self) -> NDArray[np.int64]:
        """The line of each row."""
        return np.sort(np.concatenate([part[0] for part in self._found]))

    def weights(self) -> NDArray[np.float64] | None:
        """The weight of each row, if any row states one."""
        weights = np.ones(len(self.lines))
        weights[np.searchsorted(self.lines, list(self._weights))] = list(self._weights.values())
        return weights if self._weights else None

    def columns(self) -> Sequence[Column]:
        """The kept columns of all rows."""
        lines, lengths, columns, values = (np.concatenate(parts) for parts in zip(*self._found, strict=True))
        rows, shape = np.searchsorted(self.lines, lines), (len(self.lines), self._width)
        coded = np.zeros(self._width, dtype=np.bool_)
        coded[self._header.columns_of("nominal", "string")] = True
        if self._sparse:
            matrix = sp.csc_array((values, (np.repeat(rows, lengths), columns)), shape=shape)
            matrix.eliminate_zeros()
            return SparseColumns(matrix, coded, np.array(self._kept, dtype=np.intp))
        by_column = np.empty(shape[::-1])
        by_column[:, rows] = values.reshape(shape).T
        return [by_column[c].astype(np.int32) if coded[c] else by_column[c] for c in self._kept]

    # Regular rows ----------------------------------------------------------------------------------------------------

    def _read_regular(self, text: bytes, lines: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        """Read rows that look regular, as tokens with a comma after each; which of them are."""
        values, ends, sizes = parse_decimals(text)
        row_of = np.repeat(np.arange(len(lengths)), lengths)
        if self._sparse:
            # The shortest text of a whole number is meant: `1.` and `01` are longer than a number so small needs.
            good = (values[::2] >= _SMALLEST[np.minimum(sizes[::2], 10)]) & (values[::2] < self._width)
            columns = np.where(good, values[::2], 0).astype(np.int64)
            good[1:] &= (columns[1:] > columns[:-1]) | (row_of[1:] != row_of[:-1])
            values, ends, sizes = values[1::2], ends[1::2], sizes[1::2]
        else:
            columns = np.tile(np.arange(self._width), len(lengths))
            good = np.ones(len(columns), dtype=np.bool_)
        domains = self._header.which[columns]
        coded = ~self._is_number[domains]
        values[coded] = np.inf
        short = np.flatnonzero(coded & (sizes == 1))
        codes = self._characters[domains[short], np.frombuffer(text, dtype=np.uint8)[ends[short] - 1]]
        values[short] = np.where(codes == _UNKNOWN, np.inf, codes)
        left = np.flatnonzero(np.isinf(values))
        places = zip(domains[left].tolist(), (ends - sizes)[left].tolist(), ends[left].tolist(), strict=True)
        values[left] = [self._spelled[domain](text[start:end], math.inf) for domain, start, end in places]
        good[left] &= ~np.isinf(values[left]) | ~self._is_kept[columns[left]]
        if not good.all():
            regular = np.ones(len(lengths), dtype=np.bool_)
            regular[row_of[~good]] = False
            lines, lengths = lines[regular], lengths[regular]
            columns, values = columns[regular[row_of]], values[regular[row_of]]
        self._found.append((lines, lengths, columns, values))
        return lines

    # Rows of any kind ------------------------------------------------------------------------------------------------

    def _read_row(self, line: str, number: int) -> None:
        """Read a row token by token."""
        here = self._place.at(number)
        columns: Sequence[int] = range(self._width)
        if line[0] == "{":
            entries, line = self._entries(line, here)
            columns = sorted(entries)
        if line.endswith("}") and "{" in line:
            # A row that ends with a brace does not end with a quote, so the brace stands outside of any quotes.
            line, _, text = line[:-1].rpartition("{")
            line, weight = line.rstrip().removesuffix(","), parse_number(text.strip())
            if weight is None or not 0 <= weight < math.inf:
                raise here.error(f"the weight {shown(text.strip())}, expected a number of at least 0")
            self._weights[number] = weight
        if isinstance(columns, list):
            tokens = [entries[column] for column in columns]
            if line.strip() and line.strip()[0] != "%":
                end = "the end of the line or {weight}"
                raise here.error(f"found {shown(line.strip())} after the row, expected {end}")
        else:
            tokens = _split_fields(line, here)
            if len(tokens) == 1 and self._width > 1 and tokens[0][:1] not in ("'", '"'):
                tokens = tokens[0].split()
            if len(tokens) != self._width:
                raise here.error(f"{len(tokens)} values, {self._width} attributes declared")
        values = [
            self._value(c, token, here) if self._is_kept[c] else 0.0 for c, token in zip(columns, tokens, strict=True)
        ]
        self._found.append((np.array([number]), np.array([len(values)]), np.array(columns, np.int64), np.array(values)))

    def _entries(self, line: str, here: Place) -> tuple[dict[int, str], str]:
        """The tokens of a sparse row by column, and what follows it."""
        entries: dict[int, str] = {}
        if line[1:].lstrip().startswith("}"):
            return entries, line[line.index("}") + 1 :]
        position = 1
        while line[position - 1] != "}":
            match = _ENTRY.match(line, position)
            if match is None:
                problem = "its { is never closed" if "}" not in line[position:] else "a quote is never closed"
                raise here.error(f"found {shown(line[position:].strip())}, but {problem}")
            index, token = match[1], match[2] or match[3].strip()
            if match[2] is None and token[:1] in ("'", '"'):
                raise here.error(_quote_problem(line[match.start(3) :].strip()))
            if not (index.isascii() and index.isdigit() and len(index) < 19):
                raise here.error(f"found {shown(match[0].strip())}, expected an index and a value")
            if int(index) >= self._width:
                raise here.error(f"index {index}, expected 0 to {self._width - 1} ({self._width} attributes declared)")
            if int(index) in entries:
                raise here.error(f"index {index} twice in a row, expected each attribute once")
            entries[int(index)], position = token, match.end()
        return entries, line[position:]

    def _value(self, column: int, token: str, here: Place) -> float:
        """The number, or the code of the category (-1 if missing), that a token spells."""
        domain, name = self._header.domains[self._header.which[column]], shown(self._header.names[column])
        text = unquote(token)
        if domain.kind == "nominal":
            if token in domain.spellings or text in domain.codes:
                return domain.spellings.get(token, domain.codes.get(text, -1))
            expected = f"one of its {len(domain.codes)} categories" + nearest(text, domain.codes)
            found = f"the value {shown(text)}" if token else "an empty value"
        elif domain.kind == "numeric":
            missing = token == "?" or token.lower().strip("+-") == "nan"
            number = math.nan if missing else parse_number(text)
            if number is not None and not math.isinf(number):
                return number
            expected = "a number or ? for missing" if not token else "a number"
            expected += " that a double can hold" if number is not None else ""
            found = f"the value {shown(token)}" if token else "an empty value"
        elif token == "?":
            return -1 if domain.kind == "string" else math.nan
        elif domain.kind == "string":
            return self.texts[column].setdefault(text, len(self.texts[column]))
        else:
            try:
                return domain.seconds(text)
            except (ValueError, OverflowError):
                found, expected = f"the value {shown(text)}", f"a date in the form {domain.date_format}"
        raise here.error(f"{found} for attribute {name}, expected {expected}")


def _number(token: bytes, default: float) -> float:
    number = parse_number(token.decode("utf-8"))
    return default if number is None else number


def _split_fields(line: str, here: Place) -> list[str]:
    """The tokens of a dense row, quotes still on."""
    tokens: list[str] = []
    position, comma = 0, ","
    while comma:
        match = _FIELD.match(line, position)
        assert match is not None
        quoted, bare, comma = match.groups()
        if quoted is None:
            comment = _COMMENT.search(bare)
            if comment:
                bare, comma = bare[: comment.start()], ""
            quoted = bare.strip()
            if quoted[:1] in ("'", '"'):
                raise here.error(_quote_problem(line[match.start() :].strip()))
        tokens.append(quoted)
        position = match.end()
    return tokens


def _quote_problem(rest: str) -> str:
    closed = re.match(QUOTED, rest)
    if closed is None:
        return f"the quote of {shown(rest)} is never closed"
    return f"found {shown(rest[closed.end() :])} after {shown(closed[0])}, expected a comma"


def parse_decimals(text: bytes) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.intp]]:
    r"""The numbers of a text of tokens with a comma after each, where the tokens end, and how long they are.

    A number is NaN for `?` and infinite for a token that is not a plain decimal (an exponent, a name). One such as
    `-12.345` is the integer `-12345` divided by 10³. Up to 15 digits both are exact doubles, and then the division
    rounds correctly: the result is the double that `float` gives. Integers are many times cheaper to parse than floats.

    >>> parse_decimals(b"1.5,?,-3,x,")[0]
    array([ 1.5,  nan, -3. ,  inf])
    """
    characters = np.frombuffer(text, dtype=np.uint8)
    if not text.translate(None, b"0123456789,"):
        # Whole numbers alone, as in most sparse files.
        ends = np.flatnonzero(characters == ord(","))
        lengths = np.diff(ends, prepend=-1) - 1
        if lengths.min(initial=1) > 0 and lengths.max(initial=1) <= _MOST_DIGITS:
            return np.fromstring(text, dtype=np.int64, sep=",").astype(np.float64), ends, lengths
    # What is no digit: the ends of tokens, and marks within them.
    marks = np.flatnonzero(characters - np.uint8(ord("0")) > 9)
    kinds = characters[marks]
    is_end = kinds == ord(",")
    ends = marks[is_end]
    lengths = np.diff(ends, prepend=-1) - 1
    # The marks before a mark within a token are the ends of the tokens before its own, and marks within tokens.
    within = np.flatnonzero(~is_end)
    token_of, is_point = within - np.arange(len(within)), kinds[within] == ord(".")
    points, pointed = marks[within[is_point]], token_of[is_point]
    n_marks, n_points = (np.bincount(tokens, minlength=len(ends)) for tokens in (token_of, pointed))
    has_minus = characters[ends - lengths] == ord("-")
    n_digits = lengths - n_marks
    plain = (n_marks == n_points + has_minus) & (n_points <= 1) & (n_digits > 0) & (n_digits <= _MOST_DIGITS)
    decimals = np.zeros(len(ends), dtype=np.intp)
    decimals[pointed] = ends[pointed] - points - 1
    kept = text if plain.all() else characters[np.repeat(plain, lengths + 1)].tobytes()
    integers = np.fromstring(kept.translate(None, b"."), dtype=np.int64, sep=",")
    values = np.full(len(ends), np.inf)
    values[plain] = integers / _POWERS[decimals[plain]]
    values[(lengths == 1) & (characters[ends - 1] == ord("?"))] = np.nan
    return values, ends, lengths
