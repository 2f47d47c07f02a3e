"""How names are written in text, so that nothing in a name can be taken for anything else.

Names come from data files and may hold anything: line breaks, quotes, marks that turn the direction of writing. Where
a rule is shown as text, such names are quoted; `plurule.model.text` reads the text back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

SEPARATORS = ',<>=≤≥≠←∧&¬"\\{}'
"""Characters that mean something between the names of a rule."""
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])")
MARKS = re.compile(
    r"\s\[(?:(?:stop|locked)(?:,\s*|(?=\])))+\]\s*$|\(TP [\d.e+-]+, FP [\d.e+-]+(?:, \w+)*\)\s*$", re.IGNORECASE
)
"""What may follow a rule: `[stop]`, `[stop, locked]`, or the counts that `str(rule)` adds."""

SAID_OF_NAMES = re.compile(r"\sis\s+(?:missing|known)$|\s(?:not\s+)?in$", re.IGNORECASE)
"""What a condition says after the name of an attribute: a name that ends so is put in quotes."""


MOST_LINES, LONGEST_LINE = 10, 118
"""Of an excerpt."""


def amount(number: int, noun: str) -> str:
    """A number of things.

    >>> amount(1, "rule"), amount(2, "rule")
    ('1 rule', '2 rules')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def visible(name: str) -> str:
    """The name with everything that does not print (line breaks, direction marks) written as an escape.

    >>> visible("two\\nlines"), visible("plain name")
    ('two\\\\nlines', 'plain name')
    """
    return name if name.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in name)


def quoted(name: str) -> str:
    """The name as it stands in a rule: in double quotes if it would not be recognised without.

    >>> quoted("Brown Creeper"), quoted("a > b"), quoted('5" wide')
    ('Brown Creeper', '"a > b"', '"5\\\\" wide"')
    """
    return name if _is_plain(name) else in_quotes(name)


def in_quotes(name: str) -> str:
    """The name in double quotes, with escapes where it needs them."""
    return '"' + visible(name.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def and_more(shown: list[str], total: int, what: str) -> list[str]:
    """Some lines of many, and how many are left out.

    >>> and_more(["red ←"], 3, "rules")
    ['red ←', '… and 2 more rules']
    """
    return [*shown, f"… and {total - len(shown)} more {what}"] if total > len(shown) else shown


def excerpt(title: str, lines: Iterable[str], total: int, what: str) -> str:
    """A title and the first of many lines, none of them long: what stands in a terminal for all of them."""
    first = and_more(list(islice(lines, MOST_LINES)), total, what)
    return "\n".join(l if len(l) <= LONGEST_LINE else l[: LONGEST_LINE - 1] + "…" for l in (title, *first))


def _is_plain(name: str) -> bool:
    return (
        bool(name)
        and name.isprintable()
        and name == name.strip()
        and name[0] != "!"
        and not any(c in SEPARATORS for c in name)
        and not MARKS.search(" " + name)
        and not SAID_OF_NAMES.search(name)
    )
