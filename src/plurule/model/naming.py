"""Names of attributes and labels: how they are written in text, and what they mean.

Names come from data files and may hold anything: line breaks, quotes, marks that turn the direction of writing. Where
a rule is shown as text, such names are quoted; `plurule.model.text` reads the text back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import NamedTuple, TypeAlias

SEPARATORS = ',<>=≤≥≠←∧&¬"\\{}'
"""Characters that mean something between the names of a rule."""
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])")
MARKS = re.compile(
    r"\s\[(?:(?:stop|locked)(?:,\s*|(?=\])))+\]\s*$"
    r"|\(TP [\d.e+-]+, FP [\d.e+-]+(?:, \w+)*(?:; .*)?\)\s*$",
    re.IGNORECASE,
)
"""Marks after a rule: `[stop]`, `[stop, locked]`, or the counts that `str(rule)` adds."""

SUFFIX = re.compile(r"\sis\s+(?:missing|known)$|\s(?:not\s+)?in$", re.IGNORECASE)
"""Text of a condition after the name of an attribute: a name that ends so is put in quotes."""
SIGN = re.compile(r"not?", re.IGNORECASE)
"""Word before the name of what is absent."""


MOST_LINES = 10
LONGEST_LINE = 118
"""Limits of an excerpt."""


def visible(name: str) -> str:
    """Return the name with everything that does not print (line breaks, direction marks) written as an escape.

    >>> visible("two\\nlines"), visible("plain name")
    ('two\\\\nlines', 'plain name')
    """
    return name if name.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in name)


def quoted(name: str) -> str:
    """Return the name as it stands in a rule: in double quotes if it would not be recognised without.

    >>> quoted("Brown Creeper"), quoted("a > b"), quoted('5" wide')
    ('Brown Creeper', '"a > b"', '"5\\\\" wide"')
    """
    return name if _is_plain(name) else in_quotes(name)


def in_quotes(name: str) -> str:
    """Return the name in double quotes, with escapes where it needs them."""
    return '"' + visible(name.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def and_more(shown: list[str], total: int, what: str) -> list[str]:
    """Return some lines of many, and a line with the number of the others.

    >>> and_more(["red ←"], 3, "rules")
    ['red ←', '… and 2 more rules']
    """
    return [*shown, f"… and {total - len(shown)} more {what}"] if total > len(shown) else shown


def excerpt(title: str, lines: Iterable[str], total: int, what: str) -> str:
    """Return a title and the first of many lines, all of them short enough for a terminal."""
    first = and_more(list(islice(lines, MOST_LINES)), total, what)
    return "\n".join(l if len(l) <= LONGEST_LINE else l[: LONGEST_LINE - 1] + "…" for l in (title, *first))


def _is_plain(name: str) -> bool:
    return (
        bool(name)
        and name.isprintable()
        and name == name.strip()
        and name[0] not in "!#"
        and not SIGN.fullmatch(name)
        and not any(c in SEPARATORS for c in name)
        and not MARKS.search(" " + name)
        and not SUFFIX.search(name)
    )


class Meaning(NamedTuple):
    """Unit and description of an attribute or a label, as a data dictionary gives them.

    >>> str(Meaning("km²", "land, without lakes"))
    'km²: land, without lakes'
    """

    unit: str = ""
    """Unit of its values; empty if they have none."""
    description: str = ""

    def __str__(self) -> str:
        return ": ".join(filter(None, self))


Dictionary: TypeAlias = Mapping[str, Meaning]
"""Meanings by the name of an attribute or a label."""


def unit_of(dictionary: Dictionary, name: str) -> str:
    """Return the unit of an attribute with a space before it, to stand after a number; empty if it has none.

    >>> unit_of({"area": Meaning("km²")}, "area"), unit_of({}, "area")
    (' km²', '')
    """
    unit = dictionary.get(name, Meaning()).unit
    return f" {visible(unit)}" if unit else ""


def meanings(dictionary: Dictionary, names: Iterable[str]) -> list[str]:
    """Return a line for each of the names that is described.

    >>> meanings({"area": Meaning("km²", "land"), "red": Meaning(description="a colour")}, ["area", "x", "red"])
    ['area (km²): land', 'red: a colour']
    """
    lines = []
    for name in names:
        unit, description = map(visible, dictionary.get(name, Meaning()))
        if unit or description:
            lines.append(f"{visible(name)}{f' ({unit})' if unit else ''}{f': {description}' if description else ''}")
    return lines
