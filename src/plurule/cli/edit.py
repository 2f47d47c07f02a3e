"""`plurule edit`: change the rules of a model by hand; `plurule simplify`: let plurule do it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plurule.cli.inspecting import DataOption
from plurule.cli.loading import DataArgument, ModelArgument, SplitOption

if TYPE_CHECKING:
    from plurule.inspection import Edit
    from plurule.model import RuleList

edit_app = typer.Typer(
    help="Change the rules of a model by hand. Rules are numbered from 1, as `plurule show` does.\n\n"
    "Each command shows what changes; with --data also in predictions and scores. Without -o nothing is written.",
    no_args_is_help=True,
)

RuleArgument = Annotated[
    str, typer.Argument(metavar="RULE", help="Such as 'red, ¬blue <- stripes > 2 and continent = Asia'.")
]
NumberArgument = Annotated[int, typer.Argument(metavar="NUMBER", help="Number of the rule.")]
NumbersArgument = Annotated[list[int], typer.Argument(metavar="NUMBERS", help="Numbers of the rules.")]
SaveOption = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Model file to write; may be the same as MODEL.")
]


@edit_app.command()
def add(
    model: ModelArgument,
    rule: RuleArgument,
    at: Annotated[int | None, typer.Option(help="Number the rule gets; at the end if not given.")] = None,
    data: DataOption = None,
    split: SplitOption = "all",
    output: SaveOption = None,
) -> None:
    """Put in a rule."""
    _edit(model, data, split, output, lambda edit: edit.add(rule, at))


@edit_app.command()
def remove(
    model: ModelArgument,
    numbers: NumbersArgument,
    data: DataOption = None,
    split: SplitOption = "all",
    output: SaveOption = None,
) -> None:
    """Take out rules."""
    _edit(model, data, split, output, lambda edit: edit.remove(*numbers))


@edit_app.command()
def replace(
    model: ModelArgument,
    number: NumberArgument,
    rule: RuleArgument,
    data: DataOption = None,
    split: SplitOption = "all",
    output: SaveOption = None,
) -> None:
    """Put a rule in the place of another."""
    _edit(model, data, split, output, lambda edit: edit.replace(number, rule))


@edit_app.command()
def move(
    model: ModelArgument,
    number: NumberArgument,
    to: Annotated[int, typer.Argument(metavar="TO", help="Number that the rule gets.")],
    data: DataOption = None,
    split: SplitOption = "all",
    output: SaveOption = None,
) -> None:
    """Move a rule to another place."""
    _edit(model, data, split, output, lambda edit: edit.move(number, to))


@edit_app.command()
def reorder(
    model: ModelArgument,
    numbers: NumbersArgument,
    data: DataOption = None,
    split: SplitOption = "all",
    output: SaveOption = None,
) -> None:
    """Put all rules in the given order."""
    _edit(model, data, split, output, lambda edit: edit.reorder(numbers))


@edit_app.command()
def lock(model: ModelArgument, numbers: NumbersArgument, output: SaveOption = None) -> None:
    """Keep rules as they are: they cannot be changed, simplified away or moved until they are unlocked."""
    _edit(model, None, "all", output, lambda edit: edit.lock(*numbers))


@edit_app.command()
def unlock(model: ModelArgument, numbers: NumbersArgument, output: SaveOption = None) -> None:
    """Allow to change rules again."""
    _edit(model, None, "all", output, lambda edit: edit.unlock(*numbers))


def simplify(
    model: ModelArgument,
    data: DataArgument,
    split: SplitOption = "all",
    tolerance: Annotated[float, typer.Option(help="How much the score may fall in all.", min=0)] = 0.0,
    measure: Annotated[str, typer.Option(help="The score that may fall.")] = "hamming_accuracy",
    output: SaveOption = None,
) -> None:
    """Drop rules and conditions that change no prediction on data, or cost no more than a tolerance."""
    from plurule.cli.inspecting import load_for
    from plurule.cli.loading import load_model

    rule_list = load_model(model)
    simplified = rule_list.simplify(load_for(rule_list, data, split), tolerance=tolerance, measure=measure)
    print(simplified)
    _save(simplified.rule_list, output)


def _edit(model: Path, data: str | None, split: Any, output: Path | None, change: Callable[[Edit], Edit]) -> None:
    from plurule.cli.inspecting import load_for
    from plurule.cli.loading import load_model

    rule_list = load_model(model)
    start = rule_list.edit(None if data is None else load_for(rule_list, data, split))
    edited = change(start)
    print(edited)
    _save(edited.rule_list, output)


def _save(rule_list: RuleList, output: Path | None) -> None:
    from plurule.cli.loading import save_model

    if output is None:
        print("Nothing was written; give -o FILE to keep this.")
    else:
        save_model(rule_list, output)
        print(f"Written to {output}: {len(rule_list)} rules")
