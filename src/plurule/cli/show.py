"""`plurule show`: print a model."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from plurule.cli import rendering
from plurule.cli.loading import ModelArgument
from plurule.cli.terminal import console, say
from plurule.titles import CHARACTERISTICS


def show(
    model: ModelArgument,
    rules: Annotated[int | None, typer.Option(help="Show only this many rules, from the top.", min=1)] = None,
    label: Annotated[str | None, typer.Option(help="Show only rules whose head has this label.")] = None,
    plain: Annotated[
        bool, typer.Option("--plain", help="One rule per line, thresholds in full, nothing else.")
    ] = False,
) -> None:
    """Print the rules of a model and what it consists of."""
    from plurule.cli.loading import load_model
    from plurule.errors import ModelError, nearest

    rule_list = load_model(model)
    if label is not None and label not in rule_list.labels:
        raise ModelError(f"{model}: has no label {label!r}{nearest(label, rule_list.labels)}")
    shown = [i for i, rule in enumerate(rule_list) if label is None or label in {a.name for a in rule.head}][:rules]
    if plain:
        for position in shown:
            say(rule_list[position])
        return
    out = console()
    of = "" if len(shown) == len(rule_list) else f" of {len(rule_list)}"
    out.print(Text(f"{len(shown)}{of} rules, in the order they are applied", style="bold"))
    out.print(rendering.rule_table(rule_list, shown))
    out.print()
    out.print(rendering.column_table(CHARACTERISTICS, {"": rule_list.characteristics()}, digits=2))
