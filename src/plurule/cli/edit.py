"""`plurule edit`: change the rules of a model by hand; `plurule simplify`: let plurule do it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import typer

from plurule.cli.commands import SETTINGS, described_argument, with_arguments
from plurule.cli.loading import Split, load_model_and_data
from plurule.cli.terminal import check_writable, save_model, say, takes_output

edit_app = typer.Typer(
    help="Change the rules of a model by hand. Rules are numbered from 1, as `plurule show` does.\n\n"
    "Each command shows what changes; with --data also in predictions and scores. Without -o nothing is written.",
    no_args_is_help=True,
    **SETTINGS,
)

argument = partial(described_argument, "edit")
RULE, AT, TO = argument("rule", str), argument("at", int | None, None), argument("to", int)
NUMBER, NUMBERS = argument("number", int), argument("numbers", list[int])
ON_DATA = [argument("data", str | None, None), argument("split", Split, "all"), argument("decimal", str, ".")]

EDITS = {
    "add": ("Put in a rule.", [RULE, AT, *ON_DATA]),
    "remove": ("Take out rules.", [NUMBERS, *ON_DATA]),
    "replace": ("Put a rule in the place of another.", [NUMBER, RULE, *ON_DATA]),
    "move": ("Move a rule to another place.", [NUMBER, TO, *ON_DATA]),
    "reorder": ("Put all rules in the given order.", [NUMBERS, *ON_DATA]),
    "lock": (
        "Keep rules as they are.\n\nThey cannot be changed, simplified away or moved until they are unlocked.",
        [NUMBERS],
    ),
    "unlock": ("Allow to change rules again.", [NUMBERS]),
}
"""Methods of `Edit`: what they do, and what they take; those that change predictions can be counted on data."""


def _edit(
    method: str,
    model: Path,
    output: Path | None,
    data: str | None = None,
    split: Split = "all",
    decimal: str = ".",
    **given: Any,
) -> None:
    check_writable(output)
    rule_list, instances = load_model_and_data(model, data, split, decimal)
    change, numbers = getattr(rule_list.edit(instances), method), given.pop("numbers", ())
    _keep(change(numbers) if method == "reorder" else change(*numbers, **given), output)


for _name, (_help, _taken) in EDITS.items():
    _arguments = [argument("model", Path), *_taken, argument("output", Path | None, None)]
    edit_app.command(_name, help=_help)(with_arguments(partial(_edit, _name), _arguments))


def simplify(
    model: Path,
    data: str,
    split: Split = "all",
    decimal: str = ".",
    tolerance: float = 0.0,
    measure: str = "hamming_accuracy",
    output: Path | None = None,
) -> None:
    """Drop rules and conditions that make no difference on data.

    They change no prediction, or cost no more than a tolerance.
    """
    check_writable(output)
    rule_list, instances = load_model_and_data(model, data, split, decimal)
    _keep(rule_list.simplify(instances, tolerance=tolerance, measure=measure), output)


def _keep(changed: Any, output: Path | None) -> None:
    """Show what was changed, and write the rule list where it is asked for."""
    say(changed, stderr=takes_output(output))
    if output is None:
        say("Nothing was written; give -o FILE to keep this.")
        return
    save_model(changed.rule_list, output)
    if not takes_output(output):
        say(f"Written to {output}: {len(changed.rule_list)} rules")
