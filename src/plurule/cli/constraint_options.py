"""The options that constrain rules: parameters of `Constraints`, one name or pair at a time."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plurule.cli.commands import argument
from plurule.cli.estimator_options import parameters_of

if TYPE_CHECKING:
    from plurule import Constraints

PANEL = "What experts know"

PARAMETERS = {
    "forbid_attribute": "forbidden_attributes",
    "require_attribute": "required_attributes",
    "forbid_pair": "forbidden_label_pairs",
    "require_pair": "required_label_pairs",
}
"""The options, and what they are called in Python."""


def constraint_options() -> list[Any]:
    """The options of a command."""
    from plurule import Constraints

    known = parameters_of(Constraints)
    made = []
    for name, parameter in PARAMETERS.items():
        option = typer.Option(
            help=f"{known[parameter].text} Can be given several times.",
            metavar="A,B" if name.endswith("pair") else "NAME",
            rich_help_panel=PANEL,
        )
        made.append(argument(name, Annotated[list[str] | None, option], None))
    return made


def make_constraints(given: Mapping[str, list[str] | None]) -> Constraints | None:
    """What rules must and must not use; None if nothing is asked of them."""
    from plurule import Constraints

    asked: dict[str, Any] = {name: given.get(name) for name in PARAMETERS if given.get(name)}
    for name in asked:
        if name.endswith("pair"):
            asked[name] = read_pairs(asked[name], f"--{name.replace('_', '-')}")
    return Constraints(**{PARAMETERS[name]: value for name, value in asked.items()}) if asked else None


def read_pairs(texts: Iterable[str], option: str) -> list[list[str]]:
    """Each two names separated by a comma; one that holds a comma is put in double quotes, as in a CSV file.

    >>> read_pairs(['"red, dark",blue'], "--forbid-pair")
    [['red, dark', 'blue']]
    """
    pairs = []
    for text in texts:
        names = [name for line in csv.reader([text], skipinitialspace=True) for name in line]
        if len(names) != 2 or names[0] == names[1] or not all(names):
            what = "give two different labels separated by a comma (a name that holds one in double quotes)"
            raise ValueError(f"{option} {text}: {what}")
        pairs.append(names)
    return pairs
