"""What attributes and labels mean: units and descriptions, as people write them in a data dictionary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from plurule.model.naming import visible


class Meaning(NamedTuple):
    """What there is to say about an attribute or a label.

    >>> str(Meaning("km²", "land, without lakes"))
    'km²: land, without lakes'
    """

    unit: str = ""
    """In which its values are measured; empty if in none."""
    description: str = ""

    def __str__(self) -> str:
        return ": ".join(filter(None, self))


Dictionary: TypeAlias = Mapping[str, Meaning]
"""By the name of an attribute or a label."""


def unit_of(dictionary: Dictionary, name: str) -> str:
    """The unit of an attribute with a space before it, to stand after a number; empty if it has none.

    >>> unit_of({"area": Meaning("km²")}, "area"), unit_of({}, "area")
    (' km²', '')
    """
    unit = dictionary.get(name, Meaning()).unit
    return f" {visible(unit)}" if unit else ""


def meanings(dictionary: Dictionary, names: Iterable[str]) -> list[str]:
    """A line for each of the names that is described.

    >>> meanings({"area": Meaning("km²", "land"), "red": Meaning(description="a colour")}, ["area", "x", "red"])
    ['area (km²): land', 'red: a colour']
    """
    lines = []
    for name in names:
        unit, description = map(visible, dictionary.get(name, Meaning()))
        if unit or description:
            lines.append(f"{visible(name)}{f' ({unit})' if unit else ''}{f': {description}' if description else ''}")
    return lines
