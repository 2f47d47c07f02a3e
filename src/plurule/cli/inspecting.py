"""What the commands that look at a model share: its data, and where their output goes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plurule.cli.loading import EMBEDDED, Split

if TYPE_CHECKING:
    from plurule.data import Dataset
    from plurule.model import RuleList

DataOption = Annotated[
    str | None,
    typer.Option(
        "--data",
        "-d",
        metavar="DATA",
        help=f"Data to count on: a file, the base name of a -train/-test pair, or {EMBEDDED}.",
        show_default=False,
    ),
]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="File to write; standard output if not given."),
]


def load_for(rule_list: RuleList, source: str, split: Split) -> Dataset | Any:
    """A data set with the labels of a model, or only its attributes if it has no such labels."""
    from plurule.cli.loading import load_attributes, load_labelled
    from plurule.errors import DataError

    try:
        return load_labelled(source, rule_list.labels, split)
    except DataError as error:
        try:
            table = load_attributes(source, split)
        except DataError:
            raise error from None
        if set(rule_list.labels) & set(table.names):
            # It has some of the labels, so it is meant to have them all.
            raise
        print(f"Note: {source} has none of the labels of the model, so nothing is scored", file=sys.stderr)
        return table


def put(text: str, output: Path | None) -> None:
    """Write text to a file, or to standard output."""
    from plurule.files import write_text

    if output is None:
        print(text)
    else:
        write_text(output, text if text.endswith("\n") else text + "\n")
