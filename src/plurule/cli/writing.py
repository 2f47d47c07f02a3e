"""Where the output of commands goes."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plurule.cli.terminal import visible, wrapped
from plurule.errors import ModelError
from plurule.files import in_bytes, write_text

if TYPE_CHECKING:
    from plurule.model import RuleList

STANDARD_OUTPUT = Path("-")

OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="File to write; standard output if not given."),
]
ModelOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Model file to write (JSON); - is standard output. Without it the model is only shown.",
    ),
]

JsonOption = Annotated[bool, typer.Option("--json", help="Print as JSON.")]


def takes_output(output: Path | None) -> bool:
    """Whether a file that is asked for is standard output, so that what people read must go elsewhere."""
    return output == STANDARD_OUTPUT


def check_writable(*paths: Path | None) -> None:
    """Raise an error now if a file could not be written after a long training."""
    for path in paths:
        if path is None or takes_output(path):
            continue
        if path.is_dir():
            raise ModelError(f"{path}: is a folder; give the name of a file to write")
        if not path.parent.is_dir():
            raise ModelError(f"{path}: there is no folder {path.parent}; create it first")


def put(text: str, output: Path | None, wrap: bool = False) -> None:
    """Write text, with a line end, to a file or to standard output; what is wrapped has whole words in a terminal."""
    text = text if text.endswith("\n") else text + "\n"
    if output is not None and not takes_output(output):
        write_text(output, text)
    elif sys.stdout.isatty():
        shown = visible(text)
        sys.stdout.write(wrapped(shown, shutil.get_terminal_size().columns) if wrap else shown)
    else:
        # Another program gets what a file would hold.
        sys.stdout.flush()
        sys.stdout.buffer.write(in_bytes(text))
        sys.stdout.buffer.flush()


def save_model(rule_list: RuleList, output: Path) -> None:
    from plurule.model import file as model_file

    if takes_output(output):
        put(model_file.dumps(rule_list), output)
    else:
        model_file.save(rule_list, output)
