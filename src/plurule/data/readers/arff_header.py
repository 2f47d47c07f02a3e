"""The header of an ARFF file, the relation and the declared attributes; and how ARFF spells names and values."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plurule.data.place import Place, shown
from plurule.errors import first_repeated

Kind: TypeAlias = Literal["numeric", "nominal", "string", "date"]

QUOTED = r"""'(?:[^'\\]++|\\.)*+'|"(?:[^"\\]++|\\.)*+\""""
"""Pattern of a quoted token; a newline never occurs inside, it is written `\\n`."""

_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|[0-7]{1,3}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")

# Words that every ARFF reader takes as they stand; all else is quoted.
_PLAIN = re.compile(r"[A-Za-z0-9_.+/:;<>=*&^$#~()\[\]|!-]+")
_WRITTEN = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}

# Possessive throughout: no input, however odd, makes these look at a character twice.
_DATA = re.compile(r"\n[ \t]*+@data([^\n]*+)\n?", re.IGNORECASE)
_NAME = re.compile(rf"[ \t]++(?:({QUOTED})[ \t]*+(?=\S)|([^\s{{'\"][^\s{{]*+)[ \t]*+(?={{)|([^\s'\"]\S*+)[ \t]++)")
_CATEGORY = re.compile(rf"[ \t]*+(?:({QUOTED})[ \t]*+(?=[,}}])|([^,}}]*+))([,}}])")
_DATE = re.compile(rf"date(?:[ \t]+({QUOTED}|\S+))?", re.IGNORECASE)
_ATTRIBUTE_WEIGHT = re.compile(r"[ \t]*\{[ \t]*[0-9.eE+-]+[ \t]*\}")
_ODD = frozenset("'\"{")
_WORDS: dict[str, Kind] = {"numeric": "numeric", "real": "numeric", "integer": "numeric", "string": "string"}
_DATE_PARTS = dict(
    re.findall(
        r"(\w+)=(\S+)",
        "yyyy=%Y yy=%y MM=%m MMM=%b MMMM=%B dd=%d HH=%H mm=%M ss=%S SSS=%f EEE=%a a=%p hh=%I Z=%z X=%z XXX=%z",
    )
)
"""Parts of a Java date pattern, as `datetime.strptime` wants them."""


@dataclass(frozen=True, slots=True)
class Domain:
    """What an attribute can hold. Attributes declared in the same words share one domain."""

    kind: Kind
    categories: tuple[str, ...] | None = None
    spellings: dict[str, int] = field(default_factory=dict)
    """Of a nominal attribute: the code of each category, by its text as it stands in the file."""
    codes: dict[str, int] = field(default_factory=dict)
    """The same by what the text stands for."""
    date_format: str = ""
    """Of a date, as `datetime.strptime` wants it."""

    def seconds(self, text: str) -> float:
        """A date as seconds since 1970; ValueError if the text is not one of this format."""
        moment = datetime.datetime.strptime(text, self.date_format)
        return (moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)).timestamp()


@dataclass(slots=True)
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
    notes: list[str]

    def columns_of(self, *kinds: Kind) -> NDArray[np.intp]:
        """The columns whose attributes are of the given kinds."""
        chosen = np.array([domain.kind in kinds for domain in self.domains], dtype=np.bool_)
        return np.flatnonzero(chosen[self.which])


def parse_header(content: str, place: Place) -> Header:
    """Read the declarations; every line before `@data` must be one, or a comment, or blank."""
    data = _DATA.search("\n" + content)
    if data is None:
        if not content.strip():
            raise place.error("the file is empty, expected an ARFF header")
        last = place.at(content.rstrip("\n").count("\n") + 1)
        raise last.error("the file ends without @data, expected it after the attributes")
    text = content[: data.start()].split("\n")
    if data[1].strip() and data[1].strip()[0] != "%":
        raise place.at(len(text)).error(
            f"found {shown(data[1].strip())} after @data, expected the rows on the next line"
        )
    relation, names, lines, which = None, list[str](), list[int](), list[int]()
    domains, known, notes = list[Domain](), dict[str, int](), list[str]()
    for number, line in enumerate(text, 1):
        # The usual line, of a type seen before, needs no parsing.
        parts = line.split(None, 2)
        if len(parts) == 3 and parts[2] in known and parts[0] == "@attribute" and _ODD.isdisjoint(parts[1]):
            names.append(parts[1])
            lines.append(number)
            which.append(known[parts[2]])
            continue
        line = line.strip()
        if not line or line[0] == "%":
            continue
        if line[:10].lower() == "@attribute":
            name, declared = _split_attribute(line, place.at(number))
        elif line[:9].lower() == "@relation":
            if relation is not None:
                raise place.at(number).error("a second @relation, expected one")
            relation = _parse_relation(line[9:].strip(), place.at(number))
            continue
        elif line[0] == "@":
            found = shown(line.split()[0])
            raise place.at(number).error(f"found {found}, expected @relation, @attribute or @data")
        else:
            raise place.at(number).error(f"found {shown(line)} before @data, expected a declaration")
        if declared not in known:
            domain, weight = _parse_domain(declared, name, place.at(number))
            known[declared] = len(domains)
            domains.append(domain)
            if weight:
                notes.append(f"{place.at(number)}: the weight {weight} of attribute {shown(name)} is ignored")
        names.append(name)
        lines.append(number)
        which.append(known[declared])
    if not names:
        raise place.at(len(text)).error("@data, but no attribute declared before it")
    twice = first_repeated(names)
    if twice is not None:
        first = names.index(twice)
        raise place.at(lines[names.index(twice, first + 1)]).error(
            f"attribute {shown(twice)} is declared again (first on line {lines[first]}), expected unique names"
        )
    return Header(relation or "", names, domains, np.array(which, dtype=np.intp), data.end() - 1, len(text), notes)


def _parse_relation(text: str, here: Place) -> str:
    if text[:1] not in ("'", '"'):
        return re.split(r"[ \t]%", text)[0].strip()
    match = re.match(QUOTED, text)
    if match is None:
        raise here.error(f"the quote of {shown(text)} is never closed")
    return unquote(match[0])


def _split_attribute(text: str, here: Place) -> tuple[str, str]:
    """Name and declared type of an `@attribute` line."""
    match = _NAME.match(text, 10)
    if match is None:
        rest = text[10:].strip()
        if rest[:1] in ("'", '"') and re.match(QUOTED, rest) is None:
            raise here.error(f"the quote of {shown(rest)} is never closed")
        raise here.error(f"found {shown(text)}, expected @attribute name type")
    return unquote(match[1] or match[2] or match[3]), text[match.end() :]


def _parse_domain(declared: str, name: str, here: Place) -> tuple[Domain, str]:
    """The domain that a type declares, and the weight after it, which is ignored."""
    word = re.split(r"[\s{%]", declared, maxsplit=1)[0].lower()
    if declared[0] == "{":
        domain, end = _parse_nominal(declared, name, here)
    elif word in _WORDS:
        domain, end = Domain(_WORDS[word]), len(word)
    elif word == "date" and (date := _DATE.match(declared)):
        domain, end = Domain("date", date_format=_date_format(date[1], name, here)), date.end()
    elif word == "relational":
        raise here.error(
            f"attribute {shown(name)} is relational; multi-instance data cannot be used, flatten them first"
        )
    else:
        raise here.error(
            f"attribute {shown(name)} has the type {shown(declared)}, "
            "expected numeric, real, integer, string, date or {…}"
        )
    weight = _ATTRIBUTE_WEIGHT.match(declared, end)
    rest = declared[weight.end() if weight else end :].strip()
    if rest and rest[0] != "%":
        raise here.error(f"found {shown(rest)} after the type of attribute {shown(name)}, expected the end of the line")
    return domain, weight[0].strip() if weight else ""


def _parse_nominal(declared: str, name: str, here: Place) -> tuple[Domain, int]:
    spellings, codes, position = {"?": -1}, dict[str, int](), 1
    if declared[1:].lstrip().startswith("}"):
        return Domain("nominal", (), spellings), declared.index("}") + 1
    while declared[position - 1] != "}":
        match = _CATEGORY.match(declared, position)
        if match is None:
            rest = declared[position:].strip()
            problem = "a quote is never closed" if rest[:1] in ("'", '"') else "the { of its categories is never closed"
            raise here.error(f"attribute {shown(name)}: {problem} ({shown(rest)})")
        spelled = match[1] or match[2].strip()
        if not spelled or (match[1] is None and spelled[0] in "'\""):
            what = "an empty category" if not spelled else f"the category {shown(spelled)} with an unclosed quote"
            raise here.error(f"attribute {shown(name)}: found {what}")
        category, position = unquote(spelled), match.end()
        if category in codes:
            raise here.error(f"attribute {shown(name)} declares the category {shown(category)} twice")
        spellings[spelled] = codes[category] = len(codes)
    return Domain("nominal", tuple(codes), spellings, codes), position


def _date_format(token: str | None, name: str, here: Place) -> str:
    """A Java date pattern as `datetime.strptime` wants it."""
    pattern = unquote(token) if token else "yyyy-MM-dd'T'HH:mm:ss"
    converted: list[str] = []
    for part in re.finditer(r"'([^']*)'|([A-Za-z])\2*|.", pattern, re.DOTALL):
        if part[2] is None:
            converted.append((part[0] if part[1] is None else part[1] or "'").replace("%", "%%"))
        elif part[0] in _DATE_PARTS:
            converted.append(_DATE_PARTS[part[0]])
        else:
            raise here.error(
                f"attribute {shown(name)}: the date format {shown(pattern)} has {part[0]!r}, "
                f"expected one of {', '.join(_DATE_PARTS)}"
            )
    return "".join(converted)


# Spelling ----------------------------------------------------------------------------------------------------------


def unquote(token: str) -> str:
    r"""What a token, quoted or not, stands for.

    >>> unquote(r"'Swainson\'s Thrush'"), unquote(r"m\'usica")
    ("Swainson's Thrush", "m\\'usica")
    """
    if len(token) < 2 or token[0] not in "'\"" or token[-1] != token[0]:
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


def quote(text: str) -> str:
    r"""A name or value as ARFF writes it.

    >>> quote("red"), quote("Swainson's Thrush"), quote(""), quote("?")
    ('red', "'Swainson\\'s Thrush'", "''", "'?'")
    """
    if _PLAIN.fullmatch(text):
        return text
    escaped = "".join(_WRITTEN.get(c) or (c if c >= " " else f"\\u{ord(c):04x}") for c in text)
    return f"'{escaped}'"


def parse_number(text: str) -> float | None:
    """The number a text spells, None if it spells none (`1_000` and `inf` do not).

    >>> parse_number("1e3"), parse_number("1_000")
    (1000.0, None)
    """
    return float(text) if _NUMBER.fullmatch(text) else None
