"""The header of an ARFF file: the relation and the declared attributes."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plurule.data.place import Place, shown
from plurule.data.readers.arff_text import QUOTED, unquote
from plurule.errors import DataError

Kind: TypeAlias = Literal["numeric", "nominal", "string", "date"]

# Possessive throughout: no input, however odd, makes these look at a character twice.
_NAME = re.compile(rf"[ \t]++(?:({QUOTED})[ \t]*+(?=\S)|([^\s{{'\"][^\s{{]*+)[ \t]*+(?={{)|([^\s'\"]\S*+)[ \t]++)")
_CATEGORY = re.compile(rf"[ \t]*+(?:({QUOTED})[ \t]*+(?=[,}}])|([^,}}]*+))([,}}])")
_DATE = re.compile(rf"date(?:[ \t]+({QUOTED}|\S+))?", re.IGNORECASE)
_ATTRIBUTE_WEIGHT = re.compile(r"[ \t]*\{[ \t]*[0-9.eE+-]+[ \t]*\}")
_NUMERIC = frozenset({"numeric", "real", "integer"})

_DATE_PARTS = {
    "yyyy": "%Y",
    "yy": "%y",
    "MM": "%m",
    "MMM": "%b",
    "MMMM": "%B",
    "dd": "%d",
    "HH": "%H",
    "mm": "%M",
    "ss": "%S",
    "SSS": "%f",
    "EEE": "%a",
    "a": "%p",
    "hh": "%I",
    "Z": "%z",
    "X": "%z",
    "XXX": "%z",
}


@dataclass(frozen=True, slots=True)
class Domain:
    """What an attribute can hold. Attributes declared in the same words share one domain.

    Parameters
    ----------
    kind
        Numeric, nominal, string or date.
    categories
        Of a nominal attribute, in the order declared.
    spellings
        Of a nominal attribute: the code of each category, by its text as it stands in the file.
    codes
        The same by what the text stands for.
    date_format
        Of a date, as `datetime.strptime` wants it.
    """

    kind: Kind
    categories: tuple[str, ...] | None = None
    spellings: dict[str, int] = field(default_factory=dict)
    codes: dict[str, int] = field(default_factory=dict)
    date_format: str = ""

    def seconds(self, text: str) -> float:
        """A date as seconds since 1970; ValueError if the text is not one of this format."""
        moment = datetime.datetime.strptime(text, self.date_format)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=datetime.UTC)
        return moment.timestamp()


@dataclass(frozen=True, slots=True)
class Header:
    """The declarations of an ARFF file, and where its data begin.

    `domains` are the different domains, `which` says for each attribute which of them it has.
    """

    relation: str
    names: list[str]
    domains: list[Domain]
    which: NDArray[np.intp]
    data_offset: int
    data_line: int
    notes: tuple[str, ...] = ()

    def domain(self, column: int) -> Domain:
        """What the attribute of a column can hold."""
        return self.domains[self.which[column]]

    def columns_of(self, *kinds: Kind) -> NDArray[np.intp]:
        """The columns whose attributes are of the given kinds."""
        chosen = np.array([domain.kind in kinds for domain in self.domains], dtype=np.bool_)
        return np.flatnonzero(chosen[self.which])


def parse_header(content: bytes, place: Place) -> Header:
    """Read the declarations; every line before `@data` must be one, or a comment, or blank."""
    offset, end = _find_data(content, place)
    text = content[:offset].decode("utf-8")
    found = _read_regular(text, place) or _read_line_by_line(text, place)
    which = np.array(found.which, dtype=np.intp)
    data_line = text.count("\n") + 1
    return Header(found.relation or "", found.names, found.domains, which, end, data_line, tuple(found.notes))


def _read_regular(text: str, place: Place) -> _Declarations | None:
    """Thousands of lines `@attribute name type` without quotes, spaces and comments, as a whole; None if not so."""
    start = text.find("\n@attribute ") + 1
    regular = text[start:]
    words = regular.split()
    names, types = words[1::3], words[2::3]
    if not start or len(names) != len(types) or set(words[0::3]) != {"@attribute"} or "'" in regular or '"' in regular:
        return None
    found = _Declarations(place)
    try:
        for number, line in enumerate(text[:start].split("\n"), 1):
            found.add(line, number)
        for declared in dict.fromkeys(types):
            found.declare(declared, "", place)
    except DataError:
        # Which line is wrong is told by whoever reads the lines.
        return None
    found.names += names
    found.which += map(found.known.__getitem__, types)
    return found if len(set(found.names)) == len(found.names) else None


def _read_line_by_line(text: str, place: Place) -> _Declarations:
    found = _Declarations(place)
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        # The usual line, of a type seen before, needs no parsing.
        parts = line.split(None, 2)
        if len(parts) == 3 and parts[2] in found.known and parts[0] == "@attribute" and parts[1][0] not in "'\"":
            found.names.append(parts[1])
            found.which.append(found.known[parts[2]])
            found.lines.append(number)
        else:
            found.add(line, number)
    if not found.names:
        raise place.at(len(lines)).error("@data, but no attribute declared before it")
    _reject_duplicates(found.names, found.lines, place)
    return found


class _Declarations:
    """What the lines of a header declare, so far."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.relation: str | None = None
        self.names: list[str] = []
        self.lines: list[int] = []
        self.which: list[int] = []
        self.domains: list[Domain] = []
        self.known: dict[str, int] = {}
        self.notes: list[str] = []

    def add(self, line: str, number: int) -> None:
        """Take in a line."""
        text = line.strip()
        if not text or text[0] == "%":
            return
        here = self.place.at(number)
        keyword = text[:10].lower()
        if keyword == "@attribute":
            name, declared = _split_attribute(text, here)
            self.which.append(self.declare(declared, name, here))
            self.names.append(name)
            self.lines.append(number)
        elif keyword[:9] == "@relation":
            if self.relation is not None:
                raise here.error("a second @relation, expected one")
            self.relation = _parse_relation(text[9:], here)
        elif text[0] == "@":
            raise here.error(f"found {shown(text.split()[0])}, expected @relation, @attribute or @data")
        else:
            raise here.error(f"found {shown(text)} before @data, expected a declaration")

    def declare(self, declared: str, name: str, here: Place) -> int:
        """Number of the domain that a type declares."""
        if declared not in self.known:
            domain, note = _parse_domain(declared, name, here)
            self.known[declared] = len(self.domains)
            self.domains.append(domain)
            if note:
                self.notes.append(f"{here}: {note}")
        return self.known[declared]


def _find_data(content: bytes, place: Place) -> tuple[int, int]:
    """Where the line `@data` begins and where the line after it begins."""
    start = _line_starting(content, b"@data")
    if start < 0:
        start = _line_starting(content.lower(), b"@data")
    if start < 0:
        if not content.strip():
            raise place.error("the file is empty, expected an ARFF header")
        line = content.rstrip(b"\n").count(b"\n") + 1
        raise place.at(line).error("the file ends without @data, expected it after the attributes")
    end = content.find(b"\n", start) + 1 or len(content)
    rest = content[start + 5 : end].decode("utf-8").strip()
    if rest and rest[0] != "%":
        line = content.count(b"\n", 0, start) + 1
        raise place.at(line).error(f"found {shown(rest)} after @data, expected the rows on the next line")
    return start, end


def _line_starting(content: bytes, word: bytes) -> int:
    """Position of the word where it is the first of a line, -1 if nowhere."""
    position = content.find(word)
    while position >= 0:
        start = content.rfind(b"\n", 0, position) + 1
        if not content[start:position].strip(b" \t"):
            return position
        position = content.find(word, position + 1)
    return -1


def _parse_relation(text: str, here: Place) -> str:
    text = text.strip()
    if text[:1] in ("'", '"'):
        match = re.match(QUOTED, text)
        if match is None:
            raise here.error(f"the quote of {shown(text)} is never closed")
        return unquote(match[0])
    return re.split(r"[ \t]%", text)[0].strip()


def _split_attribute(text: str, here: Place) -> tuple[str, str]:
    """Name and declared type of an `@attribute` line."""
    match = _NAME.match(text, 10)
    if match is None:
        rest = text[10:].strip()
        if rest[:1] in ("'", '"') and re.match(QUOTED, rest) is None:
            raise here.error(f"the quote of {shown(rest)} is never closed")
        raise here.error(f"found {shown(text)}, expected @attribute name type")
    token = match[1] or match[2] or match[3]
    declared = text[match.end() :].strip()
    if not declared:
        raise here.error(f"attribute {shown(unquote(token))} has no type, expected numeric, string, date or {{…}}")
    return unquote(token), declared


def _parse_domain(declared: str, name: str, here: Place) -> tuple[Domain, str]:
    """The domain that a type declares, and what of it is ignored."""
    if declared[0] == "{":
        domain, end = _parse_nominal(declared, name, here)
        rest = declared[end:]
    else:
        word = re.split(r"[\s{%]", declared, maxsplit=1)[0].lower()
        rest = declared[len(word) :]
        if word in _NUMERIC:
            domain = Domain("numeric")
        elif word == "string":
            domain = Domain("string")
        elif word == "date":
            match = _DATE.match(declared)
            assert match is not None
            domain = Domain("date", date_format=_date_format(match[1], name, here))
            rest = declared[match.end() :]
        elif word == "relational":
            raise here.error(
                f"attribute {shown(name)} is relational; multi-instance data cannot be used, flatten them first"
            )
        else:
            raise here.error(
                f"attribute {shown(name)} has the type {shown(declared)}, "
                "expected numeric, real, integer, string, date or {…}"
            )
    weight = _ATTRIBUTE_WEIGHT.match(rest)
    note = ""
    if weight:
        note = f"the weight {weight[0].strip()} of attribute {shown(name)} is ignored"
        rest = rest[weight.end() :]
    rest = rest.strip()
    if rest and rest[0] != "%":
        raise here.error(f"found {shown(rest)} after the type of attribute {shown(name)}, expected the end of the line")
    return domain, note


def _parse_nominal(declared: str, name: str, here: Place) -> tuple[Domain, int]:
    if "'" not in declared and '"' not in declared and "}" in declared:
        # Without quotes commas and the brace mean what they look like.
        end = declared.index("}")
        words = [word.strip() for word in declared[1:end].split(",")]
        numbered = {word: code for code, word in enumerate(words)}
        if len(numbered) == len(words) and "" not in numbered and "?" not in numbered:
            return Domain("nominal", tuple(words), {**numbered, "?": -1}, numbered), end + 1
    categories: list[str] = []
    spellings: dict[str, int] = {"?": -1}
    position = 1
    if declared[1:].lstrip().startswith("}"):
        return Domain("nominal", (), spellings), declared.index("}") + 1
    while True:
        match = _CATEGORY.match(declared, position)
        if match is None:
            rest = declared[position:].strip()
            problem = "a quote is never closed" if rest[:1] in ("'", '"') else "the { of its categories is never closed"
            raise here.error(f"attribute {shown(name)}: {problem} ({shown(rest)})")
        spelled = match[1] if match[1] is not None else match[2].strip()
        if not spelled or (match[1] is None and spelled[0] in "'\""):
            what = "an empty category" if not spelled else f"the category {shown(spelled)} with an unclosed quote"
            raise here.error(f"attribute {shown(name)}: found {what}")
        spellings[spelled] = len(categories)
        categories.append(unquote(spelled))
        position = match.end()
        if match[3] == "}":
            break
    codes = {category: code for code, category in enumerate(categories)}
    if len(codes) < len(categories):
        twice = next(c for i, c in enumerate(categories) if codes[c] != i)
        raise here.error(f"attribute {shown(name)} declares the category {shown(twice)} twice")
    return Domain("nominal", tuple(categories), spellings, codes), position


def _date_format(token: str | None, name: str, here: Place) -> str:
    """A Java date pattern as `datetime.strptime` wants it."""
    pattern = unquote(token) if token else "yyyy-MM-dd'T'HH:mm:ss"
    converted: list[str] = []
    for part in re.finditer(r"'([^']*)'|([A-Za-z])\2*|.", pattern, re.DOTALL):
        if part[1] is not None:
            converted.append((part[1] or "'").replace("%", "%%"))
        elif part[2] is None:
            converted.append(part[0].replace("%", "%%"))
        elif part[0] in _DATE_PARTS:
            converted.append(_DATE_PARTS[part[0]])
        else:
            raise here.error(
                f"attribute {shown(name)}: the date format {shown(pattern)} has {part[0]!r}, "
                f"expected one of {', '.join(_DATE_PARTS)}"
            )
    return "".join(converted)


def _reject_duplicates(names: Sequence[str], lines: Sequence[int], place: Place) -> None:
    if len(set(names)) == len(names):
        return
    first: dict[str, int] = {}
    for name, line in zip(names, lines, strict=True):
        if name in first:
            raise place.at(line).error(
                f"attribute {shown(name)} is declared again (first on line {first[name]}), expected unique names"
            )
        first[name] = line
