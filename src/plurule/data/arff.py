"""ARFF files, dense and sparse, with numeric, nominal, string and date attributes."""

from __future__ import annotations

import contextlib
import math
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from plurule.data.dataset import Column, Dataset, SparseColumns, Table
from plurule.data.labels import matching
from plurule.data.reading import Place, Source, read_text, shown
from plurule.errors import nearest
from plurule.model import Attribute
from plurule.model.condition import are_dates, parse_date

Kind: TypeAlias = Literal["numeric", "nominal", "string", "date"]

_KINDS: dict[str, Kind] = {
    "numeric": "numeric",
    "real": "numeric",
    "integer": "numeric",
    "string": "string",
    "date": "date",
}

# Possessive throughout: no input, however odd, makes these look at a character twice.
_QUOTED = r"""(?:'(?:[^'\\]++|\\.)*+'|"(?:[^"\\]++|\\.)*+")"""
_QUOTED_TOKEN = re.compile(rf"(?<![^\s,{{]){_QUOTED}")
_DATA = re.compile(r"\n[ \t]*+@data([^\n]*+)\n?", re.IGNORECASE)
_ATTRIBUTE = re.compile(rf"@attribute[ \t]++({_QUOTED}|[^\s{{'\"][^\s{{]*+)[ \t]*+(\S.*+)", re.IGNORECASE)
_TYPE = re.compile(r"(?:\{([^}]*+)\}|([a-z]++))[ \t]*+([^%]*+)(?:%.*+)?", re.IGNORECASE)
_SPECIAL = ("'", '"', "%", "\\")
_COMMENT = re.compile(r"(?:^|(?<=[ \t\0]))%.*+")
_OPEN_QUOTE = re.compile(r"""(?:^|[,{])[ \t]*+(?:[0-9]++[ \t]++)?(["'].*+)""")
_ROW_WEIGHT = re.compile(r"(?<=.)[ \t]*+(?:,[ \t]*+)?\{([^{}]*+)\}$")
_SPARSE_ROW = re.compile(r"\n[ \t]*+\{")
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|[0-7]{1,3}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_QUOTES = ("'", '"')


def read_arff(path: Path, *, nominal: Sequence[str] = (), content: bytes | None = None) -> tuple[Dataset, Source]:
    """Read all columns of an ARFF file.

    Parameters
    ----------
    path
        The file.
    nominal
        Names or patterns of string attributes to keep, as nominal attributes of the texts that occur; others are
        dropped, with a note.
    content
        Read instead of the whole file: the header and some rows.
    """
    text = read_text(path, content)
    place = Place(path.name)
    if "\0" in text:
        raise place.at(text.count("\n", 0, text.index("\0")) + 1).error("found a NUL byte, expected text")
    header = _read_header(text, place)
    columns, weights = _read_rows(text, header, place)
    kept_texts = matching(header.names, nominal, place)
    kept = [i for i, d in enumerate(header.domains) if d.kind in ("numeric", "nominal") or d.holds_dates()]
    kept = sorted([*kept, *(i for i in kept_texts if header.domains[i].kind == "string")])
    domains = [header.domains[i] for i in kept]
    attributes = [
        Attribute(header.names[i], domain.names(), is_date=domain.kind == "date")
        for i, domain in zip(kept, domains, strict=True)
    ]
    if isinstance(columns, SparseColumns):
        columns = columns.select(kept)
    else:
        columns = [
            domain.seconds(np.asarray(columns[i])) if domain.kind == "date" else columns[i]
            for i, domain in zip(kept, domains, strict=True)
        ]
    data = Dataset.unlabelled(Table(attributes, columns), weights=weights, relation=header.relation)
    dropped = sorted(set(range(len(header.names))) - set(kept))
    notes = tuple(_notes(header, dropped, place))
    return data, Source(place, partial(_line_of_row, text, header), notes)


def _notes(header: _Header, dropped: Sequence[int], place: Place) -> Iterator[str]:
    """A sentence for each kind of attribute that was dropped."""
    for kind, advice in (("string", " (nominal=… keeps them)"), ("date", " (not in ISO format)")):
        names = [header.names[i] for i in dropped if header.domains[i].kind == kind]
        if names:
            some = ", ".join(map(shown, names[:3])) + (" …" if len(names) > 3 else "")
            yield f"{place}: {len(names)} {kind} attribute{'s' * (len(names) > 1)} dropped{advice}: {some}"


# Header ------------------------------------------------------------------------------------------------------------


class _Texts(dict[str, float]):
    """Codes of texts by tokens, in the order in which texts occur."""

    def __init__(self) -> None:
        super().__init__({"?": -1.0})
        self.texts: dict[str, int] = {}

    def __missing__(self, token: str) -> float:
        if token[:1] in _QUOTES and not re.fullmatch(_QUOTED, token):
            raise ValueError(token)
        self[token] = code = float(self.texts.setdefault(_unquote(token.strip()), len(self.texts)))
        return code


@dataclass(frozen=True, slots=True)
class _Domain:
    """Values of an attribute; attributes that are declared in the same words share one, unless of texts."""

    kind: Kind
    values: dict[str, float] = field(default_factory=dict)
    """The code of the category or text that each token spells; -1 for a missing value."""
    categories: tuple[str, ...] = ()
    """The declared categories."""

    def names(self) -> tuple[str, ...] | None:
        """The categories of an attribute that is not numeric."""
        if self.kind == "string":
            return self.texts()
        return self.categories if self.kind == "nominal" else None

    def texts(self) -> tuple[str, ...]:
        """The texts that occur, in the order of their codes."""
        return tuple(self.values.texts) if isinstance(self.values, _Texts) else ()

    def holds_dates(self) -> bool:
        """Whether these are dates that can be read: those in ISO format, as in any other source."""
        return self.kind == "date" and are_dates(self.texts())

    def seconds(self, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        """The whole seconds since 1970-01-01 of texts; NaN where missing."""
        seconds = np.array([*map(parse_date, self.texts()), np.nan], dtype=np.float64)
        return np.floor(seconds)[codes]


@dataclass(slots=True)
class _Header:
    """The declarations of an ARFF file, and where its data begin."""

    data_offset: int
    data_line: int
    relation: str = ""
    names: list[str] = field(default_factory=list)
    domains: list[_Domain] = field(default_factory=list)


def _read_header(content: str, place: Place) -> _Header:
    """Read the declarations; every line before `@data` must be one, or a comment, or blank."""
    data = _DATA.search("\n" + content)
    if data is None:
        if not content.strip():
            raise place.error("the file is empty, expected an ARFF header")
        last_line = content.rstrip("\n").count("\n") + 1
        raise place.at(last_line).error("the file ends without @data, expected it after the attributes")
    lines = content[: data.start()].split("\n")
    if data[1].strip() and data[1].strip()[0] != "%":
        problem = f"found {shown(data[1].strip())} after @data, expected the rows on the next line"
        raise place.at(len(lines)).error(problem)
    header = _Header(data.end() - 1, len(lines))
    known: dict[str, _Domain] = {}
    line_of: dict[str, int] = {}
    for number, text in enumerate(lines, 1):
        line = text.strip()
        here = place.at(number)
        if line[:10].lower() == "@attribute":
            name, declared = _split_attribute(line, here)
            if name in line_of:
                problem = f"attribute {shown(name)} is declared again (first on line {line_of[name]})"
                raise here.error(f"{problem}, expected unique names")
            if declared not in known:
                known[declared] = _read_domain(declared, name, here)
            domain = known[declared]
            header.domains.append(_Domain(domain.kind, _Texts()) if isinstance(domain.values, _Texts) else domain)
            header.names.append(name)
            line_of[name] = number
        elif line[:9].lower() == "@relation":
            if header.relation:
                raise here.error("a second @relation, expected one")
            header.relation = _read_relation(line[9:].strip(), here)
        elif line[:1] == "@":
            raise here.error(f"found {shown(line.split()[0])}, expected @relation, @attribute or @data")
        elif line and line[0] != "%":
            raise here.error(f"found {shown(line)} before @data, expected a declaration")
    if not header.names:
        raise place.at(len(lines)).error("@data, but no attribute declared before it")
    return header


def _read_relation(text: str, here: Place) -> str:
    if text[:1] not in _QUOTES:
        return re.split(r"[ \t]%", text)[0].strip()
    match = re.match(_QUOTED, text)
    if match is None:
        raise here.error(f"the quote of {shown(text)} is never closed")
    return _unquote(match[0])


def _split_attribute(text: str, here: Place) -> tuple[str, str]:
    """Name and declared type of an `@attribute` line."""
    match = _ATTRIBUTE.fullmatch(text)
    if match is None:
        rest = text[10:].strip()
        if rest[:1] in _QUOTES and re.match(_QUOTED, rest) is None:
            raise here.error(f"the quote of {shown(rest)} is never closed")
        raise here.error(f"found {shown(text)}, expected @attribute name type")
    return _unquote(match[1]), match[2]


def _read_domain(declared: str, name: str, here: Place) -> _Domain:
    """The domain that a type declares."""
    hidden, quoted = _hide_quoted(declared)
    match = _TYPE.fullmatch(hidden)
    if match is None and declared[0] == "{":
        raise here.error(f"attribute {shown(name)}: the {{ of its categories is never closed ({shown(declared)})")
    word = "" if match is None or match[2] is None else match[2].lower()
    if match is None or (word not in _KINDS and match[1] is None):
        if word == "relational":
            raise here.error(f"attribute {shown(name)} is relational; multi-instance data must be flattened")
        expected = "expected numeric, real, integer, string, date or {…}"
        raise here.error(f"attribute {shown(name)} has the type {shown(declared)}, {expected}")
    if match[3] and word != "date":
        rest = shown(_show_quoted(match[3].strip(), quoted))
        raise here.error(f"found {rest} after the type of attribute {shown(name)}, expected the end of the line")
    if match[1] is None:
        return _Domain(_KINDS[word], {} if _KINDS[word] == "numeric" else _Texts())
    return _read_categories([_show_quoted(token.strip(), quoted) for token in match[1].split(",")], name, here)


def _read_categories(tokens: list[str], name: str, here: Place) -> _Domain:
    """The domain of a nominal attribute, of which the categories are given as they are spelled."""
    codes: dict[str, float] = {}
    spelled = {"?": -1.0}
    for token in tokens if tokens != [""] else ():
        category = _unquote(token)
        if not token or (token[0] in _QUOTES and category == token):
            what = "an empty category" if not token else f"the category {shown(token)} with an unclosed quote"
            raise here.error(f"attribute {shown(name)}: found {what}")
        if category in codes:
            raise here.error(f"attribute {shown(name)} declares the category {shown(category)} twice")
        spelled[token] = codes[category] = float(len(codes))
    return _Domain("nominal", {**codes, **spelled}, tuple(codes))


# Rows --------------------------------------------------------------------------------------------------------------


def _numbered_rows(content: str, header: _Header) -> Iterator[tuple[int, str]]:
    """The rows, without spaces around them, and their lines."""
    for line, text in enumerate(content[header.data_offset :].split("\n"), header.data_line + 1):
        row = text.strip()
        if row and row[0] != "%":
            yield line, row


def _line_of_row(content: str, header: _Header, row: int) -> int:
    lines = (line for line, _ in _numbered_rows(content, header))
    return next(islice(lines, row, None))


def _read_rows(content: str, header: _Header, place: Place) -> tuple[Sequence[Column], NDArray[np.float64] | None]:
    """The columns of all rows, and the weights of the rows if any states one.

    If any row is sparse, what it does not mention is 0, the first category or an empty text.
    """
    width = len(header.names)
    readers = [float if domain.kind == "numeric" else domain.values.__getitem__ for domain in header.domains]
    is_sparse = _SPARSE_ROW.search(content, header.data_offset - 1) is not None
    for domain in header.domains:
        if is_sparse and isinstance(domain.values, _Texts):
            domain.values.texts.setdefault("", 0)
    values = array("d")
    columns = array("q")
    lengths = array("q")
    weights: dict[int, float] = {}
    for line, row in _numbered_rows(content, header):
        here = place.at(line)
        indices, tokens, weight = _split_row(row, width, here)
        if weight is not None:
            weights[len(lengths)] = weight
        pairs = list(zip(indices, tokens, strict=True))
        try:
            numbers = [readers[i](token) for i, token in pairs]
        except (LookupError, ValueError):
            numbers = [math.nan]
        # `float` also reads `nan`, `1_000` and the digits of every script.
        if not math.isfinite(sum(numbers)) or "_" in row or not row.isascii():
            numbers = [_value(header.names[i], header.domains[i], token.strip(), here) for i, token in pairs]
        values.extend(numbers)
        columns.extend(indices)
        lengths.append(len(tokens))
    stated = None
    if weights:
        stated = np.ones(len(lengths))
        stated[list(weights)] = list(weights.values())
    is_coded = np.array([domain.kind != "numeric" for domain in header.domains], dtype=np.bool_)
    if is_sparse:
        rows = np.repeat(np.arange(len(lengths)), lengths)
        matrix = sp.csc_array((np.array(values), (rows, np.array(columns))), shape=(len(lengths), width))
        matrix.eliminate_zeros()
        return SparseColumns(matrix, is_coded, np.arange(width)), stated
    by_column = np.ascontiguousarray(np.array(values).reshape(-1, width).T)
    return [by_column[i].astype(np.int32) if is_coded[i] else by_column[i] for i in range(width)], stated


def _split_row(row: str, width: int, here: Place) -> tuple[Sequence[int], list[str], float | None]:
    """The places of the attributes that a row mentions, the tokens of their values, and the weight of the row."""
    quoted: Iterator[str] = iter(())
    weight = None
    if "{" in row[1:] or any(mark in row for mark in _SPECIAL):
        row, quoted = _hide_quoted(row)
        row = _COMMENT.sub("", row).rstrip()
        if unclosed := _OPEN_QUOTE.search(row):
            raise here.error(f"the quote of {shown(_show_quoted(unclosed[1], quoted))} is never closed")
        if stated := _ROW_WEIGHT.search(row):
            weight = _read_weight(stated[1].strip(), here)
            row = row[: stated.start()]
    indices: Sequence[int] = range(width)
    if row[:1] == "{":
        indices, tokens = _split_sparse(row, width, here)
    else:
        tokens = row.split(",")
        if len(tokens) == 1 < width:
            tokens = row.split()
        if len(tokens) != width:
            raise here.error(f"{len(tokens)} values, {width} attributes declared")
    if "\0" in row:
        tokens = [_show_quoted(token, quoted) for token in tokens]
    return indices, tokens, weight


def _split_sparse(row: str, width: int, here: Place) -> tuple[list[int], list[str]]:
    body, closed, rest = row[1:].partition("}")
    if not closed:
        raise here.error(f"found {shown(row)}, but its {{ is never closed")
    if rest.strip():
        raise here.error(f"found {shown(rest.strip())} after the row, expected the end of the line or {{weight}}")
    entries = [entry.split(None, 1) for entry in body.split(",")] if body.strip() else []
    for entry in entries:
        if len(entry) < 2 or len(entry[0]) > 18 or not (entry[0].isascii() and entry[0].isdigit()):
            raise here.error(f"found {shown(' '.join(entry))}, expected an index and a value")
    indices = [int(index) for index, _ in entries]
    if indices and max(indices) >= width:
        raise here.error(f"index {max(indices)}, expected 0 to {width - 1} ({width} attributes declared)")
    if len(set(indices)) < len(indices):
        twice = next(index for index in indices if indices.count(index) > 1)
        raise here.error(f"index {twice} twice in a row, expected each attribute once")
    return indices, [token for _, token in entries]


def _read_weight(text: str, here: Place) -> float:
    try:
        weight = _read_number(text)
    except ValueError:
        weight = -1.0
    if weight < 0:
        raise here.error(f"the weight {shown(text)}, expected a number of at least 0")
    return weight


def _read_number(token: str) -> float:
    number = float(token)
    if not math.isfinite(number) or "_" in token or not token.isascii():
        raise ValueError(token)
    return number


def _value(name: str, domain: _Domain, token: str, here: Place) -> float:
    """The number, or the code of the category (-1 if missing), that a token spells."""
    if token[:1] in _QUOTES and (closed := re.match(_QUOTED, token)) and closed.end() < len(token):
        raise here.error(f"found {shown(token[closed.end() :])} after {shown(closed[0])}, expected a comma")
    if domain.kind == "numeric" and (token == "?" or token.lower().strip("+-") == "nan"):
        return math.nan
    text = _unquote(token)
    for spelled in (token, text):
        with contextlib.suppress(LookupError, ValueError):
            return _read_number(spelled) if domain.kind == "numeric" else domain.values[spelled]
    expected = "a finite number, or ? for missing"
    if domain.kind == "nominal":
        expected = f"one of its {len(domain.categories)} categories" + nearest(text, domain.categories)
    found = f"the value {shown(text)}" if token else "an empty value"
    raise here.error(f"{found} for attribute {shown(name)}, expected {expected}")


# Quotes ------------------------------------------------------------------------------------------------------------


def _hide_quoted(text: str) -> tuple[str, Iterator[str]]:
    """The text with a NUL for each quoted token, so that it can be split; and these tokens."""
    return _QUOTED_TOKEN.sub("\0", text), iter(_QUOTED_TOKEN.findall(text))


def _show_quoted(text: str, quoted: Iterator[str]) -> str:
    """A piece of text in which quoted tokens were hidden, with the next of these tokens."""
    return re.sub("\0", lambda _: next(quoted), text)


def _unquote(token: str) -> str:
    r"""Return the text that a token, quoted or not, stands for.

    >>> _unquote(r"'Swainson\'s Thrush'"), _unquote(r"m\'usica")
    ("Swainson's Thrush", "m\\'usica")
    """
    if len(token) < 2 or token[0] not in _QUOTES or token[-1] != token[0]:
        return token
    inner = token[1:-1]
    return _ESCAPE.sub(_unescape, inner) if "\\" in inner else inner


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] == "u" and len(code) > 1:
        # Half of a surrogate pair is no character; its escape stays as it is.
        return match[0] if 0xD800 <= int(code[1:], 16) <= 0xDFFF else chr(int(code[1:], 16))
    if code[0] in "01234567":
        return chr(int(code, 8))
    return _ESCAPED.get(code, code)
