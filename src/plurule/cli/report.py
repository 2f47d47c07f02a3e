"""`plurule report`: a model as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plurule.cli.loading import DataOption, ModelArgument, SplitOption
from plurule.cli.terminal import say
from plurule.cli.writing import check_writable, put, takes_output


def report(
    model: ModelArgument,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="HTML file to write.")],
    data: DataOption = None,
    split: SplitOption = "all",
    title: Annotated[str | None, typer.Option(help="What stands at the top of the page.")] = None,
    examples: Annotated[int, typer.Option(help="Instances of the data to put into the page.", min=0)] = 200,
) -> None:
    """Write a report as one HTML page that works offline.

    It shows rules, curves and label dependencies, and with --data instances to try.
    """
    from plurule.cli.loading import load_model_and_data
    from plurule.report import to_html

    check_writable(output)
    rule_list, instances = load_model_and_data(model, data, split)
    page = to_html(rule_list, instances, title=title or model.stem, examples=examples)
    put(page, output)
    if not takes_output(output):
        say(f"{output}: {len(rule_list)} rules, {len(page) // 1024} kB")
