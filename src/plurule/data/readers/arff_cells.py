"""Rows of an ARFF file, read one cell at a time: slow, complete, and the author of every complaint.

The fast readers give up on whatever they are not sure of, and these functions then either understand it or say
what is wrong with it and where.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from plurule.data.place import Place, hint, shown
from plurule.data.readers.arff_header import Header
from plurule.data.readers.arff_text import QUOTED, parse_number, unquote

# Possessive throughout: no input, however odd, makes these look at a character twice.
_FIELD = re.compile(rf"[ \t]*+(?:({QUOTED})[ \t]*+(?=[,%]|$)|([^,]*+))(,?)")
_ENTRY = re.compile(rf"[ \t]*+([^\s,}}]*+)[ \t]*+(?:({QUOTED})[ \t]*+(?=[,}}])|([^,}}]*+))([,}}])")
_COMMENT = re.compile(r"(?:^|[ \t])%")
_MISSING = frozenset({"?", "nan", "NaN", "NAN"})


@dataclass(frozen=True, slots=True)
class Cells:
    """Reads cells of the attributes of a header.

    `texts` holds, per string attribute, the code of each text met so far.
    """

    header: Header
    texts: dict[int, dict[str, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.texts.update({column: {} for column in self.header.columns_of("string").tolist()})

    def value(self, column: int, token: str, here: Place) -> float:
        """The number, or the code of the category (-1 if missing), that a token spells."""
        domain = self.header.domain(column)
        if domain.kind == "nominal":
            code = domain.spellings.get(token)
            if code is None:
                code = domain.codes.get(unquote(token))
            if code is None:
                found = "an empty value" if not token else f"the value {shown(unquote(token))}"
                raise here.error(
                    f"{found} for attribute {shown(self.header.names[column])}, "
                    f"expected one of its {len(domain.codes)} categories" + hint(unquote(token), domain.codes)
                )
            return code
        if domain.kind == "numeric":
            return self._number(column, token, here)
        if token == "?":
            return -1 if domain.kind == "string" else math.nan
        if domain.kind == "string":
            known = self.texts[column]
            return known.setdefault(unquote(token), len(known))
        try:
            return domain.seconds(unquote(token))
        except (ValueError, OverflowError) as error:
            raise here.error(
                f"the value {shown(unquote(token))} for attribute {shown(self.header.names[column])}, "
                f"expected a date in the form {domain.date_format}"
            ) from error

    def _number(self, column: int, token: str, here: Place) -> float:
        if token in _MISSING:
            return math.nan
        number = parse_number(unquote(token))
        if number is not None and math.isfinite(number):
            return number
        name = shown(self.header.names[column])
        if not token:
            raise here.error(f"an empty value for attribute {name}, expected a number or ? for missing")
        expected = "a number" if number is None else "a number that a double can hold"
        raise here.error(f"the value {shown(token)} for attribute {name}, expected {expected}")

    def dense_row(self, line: str, here: Place) -> tuple[list[float], float | None]:
        """The values of a row `1,2,red`, and its weight if it states one."""
        line, weight = _split_weight(line, here)
        tokens = _split_fields(line, here)
        width = len(self.header.names)
        if len(tokens) == 1 and width > 1 and tokens[0][:1] not in ("'", '"'):
            tokens = tokens[0].split()
        if len(tokens) != width:
            raise here.error(f"{len(tokens)} values, {width} attributes declared")
        return [self.value(column, token, here) for column, token in enumerate(tokens)], weight

    def sparse_row(self, line: str, here: Place) -> tuple[list[tuple[int, float]], float | None]:
        """The entries of a row `{3 1, 17 red}` by ascending column, and its weight if it states one."""
        width = len(self.header.names)
        entries: dict[int, float] = {}
        position = line.index("{") + 1
        if line[position:].lstrip().startswith("}"):
            position = line.index("}") + 1
            ended = True
        else:
            ended = False
        while not ended:
            match = _ENTRY.match(line, position)
            if match is None:
                problem = "its { is never closed" if "}" not in line[position:] else "a quote is never closed"
                raise here.error(f"found {shown(line[position:].strip())}, but {problem}")
            index, token = match[1], match[2] if match[2] is not None else match[3].strip()
            if match[2] is None and token[:1] in ("'", '"'):
                raise here.error(_quote_problem(line[match.start(3) :].strip()))
            column = int(index) if index.isascii() and index.isdigit() and len(index) < 19 else -1
            if column < 0:
                raise here.error(f"found {shown(match[0].strip())}, expected an index and a value")
            if column >= width:
                raise here.error(f"index {index}, expected 0 to {width - 1} ({width} attributes declared)")
            if column in entries:
                raise here.error(f"index {index} twice in a row, expected each attribute once")
            entries[column] = self.value(column, token, here)
            position = match.end()
            ended = match[4] == "}"
        rest, weight = _split_weight(line[position:], here)
        if rest.strip() and rest.strip()[0] != "%":
            raise here.error(f"found {shown(rest.strip())} after the row, expected the end of the line or {{weight}}")
        return sorted(entries.items()), weight


def is_sparse(line: str) -> bool:
    """Whether a row is written as `{…}`."""
    return line.lstrip().startswith("{")


def _split_fields(line: str, here: Place) -> list[str]:
    """The tokens of a dense row, quotes still on."""
    tokens: list[str] = []
    position = 0
    while True:
        match = _FIELD.match(line, position)
        assert match is not None
        quoted, bare, comma = match.groups()
        if quoted is not None:
            tokens.append(quoted)
        else:
            comment = _COMMENT.search(bare)
            if comment:
                bare, comma = bare[: comment.start()], ""
            token = bare.strip()
            if token[:1] in ("'", '"'):
                raise here.error(_quote_problem(line[match.start() :].strip()))
            tokens.append(token)
        position = match.end()
        if not comma:
            return tokens


def _quote_problem(rest: str) -> str:
    closed = re.match(QUOTED, rest)
    if closed is None:
        return f"the quote of {shown(rest)} is never closed"
    return f"found {shown(rest[closed.end() :])} after {shown(closed[0])}, expected a comma"


def _split_weight(line: str, here: Place) -> tuple[str, float | None]:
    """A row without the weight `{5}` it ends with, and that weight."""
    stripped = line.rstrip()
    if not stripped.endswith("}") or "{" not in stripped:
        return line, None
    # A row that ends with a brace does not end with a quote, so the brace stands outside of any quotes.
    start = stripped.rindex("{")
    text = stripped[start + 1 : -1].strip()
    weight = parse_number(text)
    if weight is None or not math.isfinite(weight) or weight < 0:
        raise here.error(f"the weight {shown(text)}, expected a number of at least 0")
    return stripped[:start].rstrip().removesuffix(","), weight
