"""The command line: `app` and its commands."""

from __future__ import annotations

from typing import Annotated

import typer

from plurule.cli.evaluate import evaluate
from plurule.cli.learning import demo, discover, fit
from plurule.cli.models import diff, edit, explain, export, predict, report, show
from plurule.cli.terminal import SETTINGS, Command, Program, run

app = typer.Typer(name="plurule", no_args_is_help=True, cls=Program, **SETTINGS)
for command in (demo, fit, predict, evaluate, show, explain, report, export, diff, edit, discover):
    app.command(cls=Command)(command)


def _print_version(is_given: bool) -> None:
    if is_given:
        from plurule import __version__

        print(f"plurule {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Readable rules for multi-label classification.

    Start with: plurule demo

    Add --debug to a command to get the traceback of an error.
    """


def main() -> None:
    """Run the command line as the whole program."""
    run(app)
