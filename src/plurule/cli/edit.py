"""`plurule edit`: change the rules of a model by hand; `plurule simplify`: let plurule do it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plurule.cli.commands import SETTINGS, argument, arguments_of, with_arguments
from plurule.cli.loading import DataArgument, DataOption, ModelArgument, Split, SplitOption, load_model_and_data
from plurule.cli.terminal import say
from plurule.cli.writing import check_writable, save_model, takes_output

if TYPE_CHECKING:
    from plurule.model import RuleList

edit_app = typer.Typer(
    help="Change the rules of a model by hand. Rules are numbered from 1, as `plurule show` does.\n\n"
    "Each command shows what changes; with --data also in predictions and scores. Without -o nothing is written.",
    no_args_is_help=True,
    **SETTINGS,
)

RuleArgument = Annotated[
    str, typer.Argument(metavar="RULE", help="Such as 'red, ¬blue <- stripes > 2 and continent = Asia'.")
]
NumberArgument = Annotated[int, typer.Argument(metavar="NUMBER", help="Number of the rule.")]
NumbersArgument = Annotated[list[int], typer.Argument(metavar="NUMBERS", help="Numbers of the rules.")]
SaveOption = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Model file to write; may be the same as MODEL.")
]


FIRST = [argument("model", ModelArgument)]
ON_DATA = [argument("data", DataOption, None), argument("split", SplitOption, "all")]
LAST = [argument("output", SaveOption, None)]
"""What all edits take; those that change predictions can be counted on data."""


def _command(counts: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A command from what it does to an `Edit`; whether the change can be counted on data."""

    def make(change: Callable[..., Any]) -> Callable[..., Any]:
        def run(model: Path, output: Path | None, data: str | None = None, split: Split = "all", **given: Any) -> None:
            check_writable(output)
            rule_list, instances = load_model_and_data(model, data, split)
            edited = change(rule_list.edit(instances), **given)
            say(edited, stderr=takes_output(output))
            _save(edited.rule_list, output)

        run.__name__, run.__doc__ = change.__name__, change.__doc__
        shared = [*ON_DATA, *LAST] if counts else LAST
        edit_app.command()(with_arguments(run, [*FIRST, *arguments_of(change)[1:], *shared]))
        return change

    return make


@_command(counts=True)
def add(
    edit: Any,
    rule: RuleArgument,
    at: Annotated[int | None, typer.Option(help="Number the rule gets; at the end if not given.")] = None,
) -> Any:
    """Put in a rule."""
    return edit.add(rule, at)


@_command(counts=True)
def remove(edit: Any, numbers: NumbersArgument) -> Any:
    """Take out rules."""
    return edit.remove(*numbers)


@_command(counts=True)
def replace(edit: Any, number: NumberArgument, rule: RuleArgument) -> Any:
    """Put a rule in the place of another."""
    return edit.replace(number, rule)


@_command(counts=True)
def move(
    edit: Any,
    number: NumberArgument,
    to: Annotated[int, typer.Argument(metavar="TO", help="Number that the rule gets.")],
) -> Any:
    """Move a rule to another place."""
    return edit.move(number, to)


@_command(counts=True)
def reorder(edit: Any, numbers: NumbersArgument) -> Any:
    """Put all rules in the given order."""
    return edit.reorder(numbers)


@_command(counts=False)
def lock(edit: Any, numbers: NumbersArgument) -> Any:
    """Keep rules as they are.

    They cannot be changed, simplified away or moved until they are unlocked.
    """
    return edit.lock(*numbers)


@_command(counts=False)
def unlock(edit: Any, numbers: NumbersArgument) -> Any:
    """Allow to change rules again."""
    return edit.unlock(*numbers)


def simplify(
    model: ModelArgument,
    data: DataArgument,
    split: SplitOption = "all",
    tolerance: Annotated[float, typer.Option(help="How much the score may fall in all.", min=0)] = 0.0,
    measure: Annotated[str, typer.Option(help="The score that may fall.")] = "hamming_accuracy",
    output: SaveOption = None,
) -> None:
    """Drop rules and conditions that make no difference on data.

    They change no prediction, or cost no more than a tolerance.
    """
    check_writable(output)
    rule_list, instances = load_model_and_data(model, data, split)
    simplified = rule_list.simplify(instances, tolerance=tolerance, measure=measure)
    say(simplified, stderr=takes_output(output))
    _save(simplified.rule_list, output)


def _save(rule_list: RuleList, output: Path | None) -> None:
    if output is None:
        say("Nothing was written; give -o FILE to keep this.")
        return
    save_model(rule_list, output)
    if not takes_output(output):
        say(f"Written to {output}: {len(rule_list)} rules")
