"""The table of options: what stands in it is an option of a command, and every option of a command stands in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from plurule.cli import app
from plurule.cli.options import ARGUMENTS, OPTIONS, described

FUNCTIONS = {"list": "list_known", "info": "show_info", "fetch": "fetch_sets", "describe": "describe_file"}


def parameters() -> Iterator[tuple[str, Any]]:
    """The name of every command's function, and each of its parameters."""
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        below = {} if name in ("fit", "discover") else getattr(command, "commands", {name: command})
        for inner, one in below.items():
            for parameter in one.params:
                yield name if name == "edit" else FUNCTIONS.get(inner, inner), parameter


def test_every_argument_and_option_has_a_help() -> None:
    for command, parameter in parameters():
        assert parameter.help, f"{command}: {parameter.name}"
        assert described(command, parameter.name, parameter.required), f"{command}: {parameter.name}"


def test_nothing_stands_in_the_table_that_is_no_option(run: Any) -> None:
    given = {(command, parameter.name) for command, parameter in parameters()}
    shown = run("fit", "--help").out + run("discover", "--help").out
    names = {name for _, name in given}
    for key in [*ARGUMENTS, *OPTIONS]:
        command, _, name = key.rpartition(".")
        of_fit = f"--{name.replace('_', '-')}" in shown
        known = (command, name) in given if command not in ("", "fit") else name in names or of_fit
        assert known, key
