"""`plurule edit`: change the rules of a model by hand; `plurule simplify`: let plurule do it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from plurule.cli.commands import SETTINGS, argument, with_arguments
from plurule.cli.loading import (
    DataArgument,
    DataOption,
    DecimalOption,
    ModelArgument,
    Split,
    SplitOption,
    load_model_and_data,
)
from plurule.cli.terminal import say
from plurule.cli.writing import check_writable, save_model, takes_output

edit_app = typer.Typer(
    help="Change the rules of a model by hand. Rules are numbered from 1, as `plurule show` does.\n\n"
    "Each command shows what changes; with --data also in predictions and scores. Without -o nothing is written.",
    no_args_is_help=True,
    **SETTINGS,
)

RuleArgument = Annotated[
    str, typer.Argument(metavar="RULE", help="Such as 'red, ¬blue <- stripes > 2 and continent = Asia'.")
]
AtOption = Annotated[int | None, typer.Option(help="Number the rule gets; at the end if not given.")]
ToArgument = Annotated[int, typer.Argument(metavar="TO", help="Number that the rule gets.")]
SaveOption = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Model file to write; may be the same as MODEL.")
]
MODEL = argument("model", ModelArgument)
RULE, AT, TO = argument("rule", RuleArgument), argument("at", AtOption, None), argument("to", ToArgument)
NUMBER = argument("number", Annotated[int, typer.Argument(metavar="NUMBER", help="Number of the rule.")])
NUMBERS = argument("numbers", Annotated[list[int], typer.Argument(metavar="NUMBERS", help="Numbers of the rules.")])
ON_DATA = [
    argument("data", DataOption, None),
    argument("split", SplitOption, "all"),
    argument("decimal", DecimalOption, "."),
]
OUTPUT = argument("output", SaveOption, None)

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


for _name, (_help, _arguments) in EDITS.items():
    edit_app.command(_name, help=_help)(with_arguments(partial(_edit, _name), [MODEL, *_arguments, OUTPUT]))


def simplify(
    model: ModelArgument,
    data: DataArgument,
    split: SplitOption = "all",
    decimal: DecimalOption = ".",
    tolerance: Annotated[float, typer.Option(help="How much the score may fall in all.", min=0)] = 0.0,
    measure: Annotated[str, typer.Option(help="The score that may fall.")] = "hamming_accuracy",
    output: SaveOption = None,
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
