"""The command line: one small module per command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from plurule.cli.commands import SETTINGS, as_command, on_demand
from plurule.cli.data import convert, data_app, discover, discover_parameters
from plurule.cli.demo import demo
from plurule.cli.evaluate import evaluate
from plurule.cli.fit import fit
from plurule.cli.learner_options import fit_options, options_of
from plurule.cli.models import dependencies, diff, edit_app, explain, export, predict, report, show, simplify
from plurule.cli.reproduce import reproduce
from plurule.cli.terminal import run
from plurule.cli.tune import tune

app = typer.Typer(
    name="plurule", help="Interpretable multi-label classification rules.", no_args_is_help=True, **SETTINGS
)
COMMANDS: tuple[Callable[..., None], ...] = (
    *(demo, fit, predict, evaluate, show),
    *(report, explain, dependencies, discover, diff, simplify, export),
    *(convert, tune, reproduce),
)
FROM_SIGNATURES = {fit: fit_options, discover: lambda: options_of(discover_parameters())}
"""Commands with options that are parameters of the library."""
for command in COMMANDS:
    if command in FROM_SIGNATURES:
        made = on_demand(command, FROM_SIGNATURES[command])
        app.command(command.__name__, help=command.__doc__, cls=made)(lambda: None)
    else:
        app.command()(as_command(command))
app.add_typer(edit_app, name="edit")
app.add_typer(data_app, name="data")


def _print_version(wanted: bool) -> None:
    if wanted:
        from plurule import __version__

        print(f"plurule {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and end.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Interpretable multi-label classification rules.

    Add --debug to any command to see where an error comes from.
    """


def main() -> None:
    run(app)
